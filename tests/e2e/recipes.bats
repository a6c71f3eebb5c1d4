#!/usr/bin/env bats
# The driver http: each built-in recipe against a vendor that enforces its protocol, look-ups, receipts, recipes of one's own.

load common

setup_file() { start_vendors; }
teardown_file() { stop_vendors; }
setup() { vendors_setup; }

# The settings that the stub's account wants; $1 the recipe, $2 "wrong" for credentials that are not its.
settings() {
  local good=right
  [ "${2:-}" != wrong ] || good=wrong
  case $1 in
    slack-webhook) echo "url = \"$base/slack-webhook/services/T000/B000/$([ $good = right ] && echo SECRET || echo WRONG)\"" ;;
    discord-webhook) echo "url = \"$base/discord-webhook/api/webhooks/111/$([ $good = right ] && echo SECRET || echo WRONG)\"" ;;
    teams) echo "url = \"$base/teams/workflows/$([ $good = right ] && echo SECRET || echo WRONG)\"" ;;
    *) echo "url = \"$base/$1\"" ;;
  esac
  case $1 in
    slack) echo "token = \"xoxb-$good-token\"" ;;
    discord-bot) echo "token = \"$good-bot-token\"" ;;
    telegram) echo "token = \"123456:$good-token\"" ;;
    ntfy) echo "token = \"tk_$good-token\"" ;;
    twilio) printf '%s\n' 'account = "AC00000000000000000000000000000001"' "token = \"$good-token\"" 'from = "+15005550006"' ;;
    vonage) printf '%s\n' 'key = "abcd"' "secret = \"$good-secret\"" 'from = "Shop"' ;;
    sendgrid) printf '%s\n' "token = \"SG.$good-token\"" 'from = "shop@example.com"' ;;
    mailgun) printf '%s\n' 'domain = "mg.example.com"' "token = \"$good-key\"" 'from = "shop@mg.example.com"' \
      'signing_key = "signing-key"' ;;
    postmark) printf '%s\n' "token = \"$good-token\"" 'from = "shop@example.com"' ;;
    nhn-alimtalk) printf '%s\n' 'appkey = "appkey1"' "secret_key = \"$good-secret\"" 'sender_key = "SENDERKEY"' \
      'sms_from = "02-1234-5678"' ;;
    nhn-sms) printf '%s\n' 'appkey = "appkey1"' "secret_key = \"$good-secret\"" 'from = "02-1234-5678"' \
      'webhook_signature = "agreed"' ;;
    bizppurio) printf '%s\n' 'account = "acct"' "password = \"$good-password\"" 'from = "02-1234-5678"' 'sender_key = "SENDERKEY"' ;;
    solapi) printf '%s\n' 'key = "KEY"' "secret = \"$good-secret\"" 'from = "02-1234-5678"' ;;
    sens) printf '%s\n' 'service_id = "ncp:sms:kr:1:svc"' 'access_key = "ACCESS"' "secret_key = \"$good-secret\"" 'from = "02-1234-5678"' ;;
  esac
}

configure() {   # RECIPE [wrong] [more keys]
  { printf '%s\n' 'environment = "production"' '[channels.lane]' 'driver = "http"' "recipe = \"$1\"" 'retry = []'
    settings "$1" "${2:-}"
    printf '%s\n' "${3:-}"; } > "$config"
}

# Whom the vendor can write to, and what its messages need besides a text.
recipient() {
  case $1 in
    slack) echo C0123456789 ;;
    discord-bot) echo 123456789012345678 ;;
    telegram) echo 987654321 ;;
    sendgrid | mailgun | postmark) echo a@example.com ;;
    slack-webhook | discord-webhook | teams | ntfy) echo ops ;;
    *) echo '+82 10-1234-5678' ;;
  esac
}

enqueue_one() {   # RECIPE [option…]
  local recipe=$1
  shift
  local more=()
  [ "$recipe" != nhn-alimtalk ] || more=(--data '{"template_code":"ORDER1","parameters":{"name":"Kim"}}' --alt '주문 완료')
  n enqueue --channel lane --to "$(recipient "$recipe")" --subject Paid --body '주문 "42" & <paid>' "${more[@]}" "$@"
  expect 0
  id=$out
}

deliver() {
  n relay
  expect 0
  n work --drain
}

state() { sql "SELECT coalesce((SELECT status FROM notification_inbox WHERE message_id = '$1'), 'none')"; }

accepted() { grep -c '"accepted": true' "$log" || true; }

recipes() { "$NOTIFYCTL" channel recipes --json | python3 -c 'import json,sys
for line in sys.stdin: print(json.loads(line)["recipe"])'; }

@test "a message goes out through each recipe once" {
  for recipe in $(recipes); do
    : > "$log"
    export NOTIFYCTL_DB=$PWD/$recipe.db
    configure "$recipe"
    enqueue_one "$recipe"
    deliver
    echo "$recipe: $status $out $err $(cat "$log")"
    expect 0
    [ "$(state "$id")" = SENT ]
    [ "$(accepted)" -eq 1 ]
    n work --drain
    [ "$(accepted)" -eq 1 ]
  done
}

@test "wrong credentials halt the lane, cost no message, and are told without them" {
  for recipe in $(recipes); do
    : > "$log"
    export NOTIFYCTL_DB=$PWD/$recipe.db
    configure "$recipe" wrong
    enqueue_one "$recipe"
    deliver
    echo "$recipe: $status $out $err $(cat "$log")"
    [ "$(accepted)" -eq 0 ]
    [ "$(wc -l < "$log")" -ge 1 ]
    case $recipe in
      # The URL is the credential: one that leads nowhere is refused for good.
      slack-webhook | discord-webhook | teams) [ "$(state "$id")" = FAILED ] ;;
      *) [ "$(state "$id")" = none ] ;;
    esac
    n channel show lane
    contains "$out" "state: halted"
    n show "$id"
    lacks "$out" wrong-
  done
}

@test "the vendors of this test refuse what their documentation forbids" {
  python3 "$root/tests/support/vendors/selftest.py" "$base"
}

@test "what the vendor would refuse is parked, and no call is made" {
  configure bizppurio
  n enqueue --channel lane --to +821012345678 --body "$(printf '가%.0s' $(seq 1001))"
  id=$out
  deliver
  [ "$(state "$id")" = none ]
  [ ! -s "$log" ]
  n park show "$id"
  contains "$out" "2002 bytes of CP949; the vendor takes 2000"
}

@test "a list of addresses, and advertising without its label, are parked, and no call is made" {
  for recipe in mailgun postmark sendgrid; do
    export NOTIFYCTL_DB=$PWD/$recipe.db
    configure "$recipe"
    n enqueue --channel lane --to 'a@example.com,b@example.com' --subject Paid --body hello
    id=$out
    deliver
    [ "$(state "$id")" = none ]
    n park show "$id"
    contains "$out" "is not one bare mail address"
  done
  for recipe in nhn-sms sens solapi bizppurio; do
    export NOTIFYCTL_DB=$PWD/$recipe.db
    configure "$recipe"
    n enqueue --channel lane --to +821012345678 --category advertising --body '[광고] 할인'
    id=$out
    deliver
    [ "$(state "$id")" = none ]
    n park show "$id"
    contains "$out" "does not begin with (광고)"
  done
  [ ! -s "$log" ]
  n replay "$id" --yes --set $'body=(광고) 할인\n무료수신거부 080-000-0000'
  deliver
  [ "$(state "$id")" = SENT ]
}

@test "a token is fetched once for all messages" {
  configure bizppurio "" 'concurrency = 4'
  for i in 1 2 3 4 5; do n enqueue --channel lane --to +821012345678 --body "message $i"; done
  deliver
  expect 0
  [ "$(accepted)" -eq 5 ]
  [ "$(grep -c /v1/token "$log")" -eq 1 ]
}

@test "a text over 90 bytes goes as LMS, AlimTalk with a fallback" {
  configure bizppurio
  n enqueue --channel lane --to +821012345678 --body "$(printf '가%.0s' $(seq 46))"
  n enqueue --channel lane --to +821012345678 --body 'Kim, your order is paid' --alt 'paid' --data '{"templatecode":"T1"}'
  deliver
  expect 0
  [ "$(accepted)" -eq 2 ]
}

@test "reconcile asks the vendor about a message without an answer" {
  for recipe in solapi mailgun slack nhn-sms nhn-alimtalk; do
    : > "$log"
    export NOTIFYCTL_DB=$PWD/$recipe.db
    configure "$recipe"
    n enqueue --channel lane --to "$(recipient "$recipe")" --subject Paid --body NO-ANSWER \
      --data '{"template_code":"ORDER1","parameters":{"name":"NO-ANSWER"}}'
    id=$out
    deliver
    echo "$recipe: $(state "$id") $(cat "$log")"
    [ "$(state "$id")" = ERROR ]
    n work --drain
    [ "$(accepted)" -eq 1 ]
    n reconcile
    expect 0
    [ "$(state "$id")" = SENT ]
    [ "$(accepted)" -eq 1 ]
  done
}

@test "a key that the vendor has seen before settles nothing: the look-up does" {
  configure nhn-alimtalk "" 'semantics = "at-least-once"'
  sed -i 's/^retry = .*/retry = ["1s"]/' "$config"
  n enqueue --channel lane --to +821012345678 --data '{"template_code":"ORDER1","parameters":{"name":"NO-ANSWER"}}'
  id=$out
  deliver
  [ "$(accepted)" -eq 1 ]
  [ "$(grep -c '"why": "duplicate key"' "$log")" -eq 1 ]
  [ "$(state "$id")" = ERROR ]
  n reconcile
  [ "$(state "$id")" = SENT ]
  [ "$(accepted)" -eq 1 ]
}

@test "receipts: a vendor's push settles and is taken once, also through the CGI script" {
  configure bizppurio
  enqueue_one bizppurio
  deliver
  key=$(grep -o '"id": "mk[0-9]*"' "$log" | tail -1 | cut -d'"' -f4)
  printf '{"DEVICE":"SMS","CMSGID":"%s","RESULT":"4410","REFKEY":"%s"}' "$key" "${id#*-outbox-}" > push.json
  n reconcile --receipts - --format bizppurio --json < push.json
  expect 0
  [ "$(json "$out" 'j["receipts"]')" = 1 ]
  n show "$id"
  contains "$out" undelivered
  run env REQUEST_METHOD=POST PATH_INFO=/bizppurio CONTENT_LENGTH="$(wc -c < push.json)" HTTP_HOST=x REQUEST_URI=/y \
    NOTIFYCTL="$NOTIFYCTL" NOTIFYCTL_CONFIG="$PWD/config.toml" "$root/examples/receipts/receipts.cgi" < push.json
  contains "$output" "200 OK"
  n reconcile --receipts push.json --format bizppurio --json
  [ "$(json "$out" 'j["known"]')" = 1 ]
}

@test "receipts: the results that BizPpurio keeps are fetched, taken and confirmed" {
  configure bizppurio
  for i in 1 2; do n enqueue --channel lane --to +821012345678 --body "REFUSED-LATER $i"; done
  deliver
  expect 0
  printf 'right-password' > password
  poll() {
    NOTIFYCTL=$NOTIFYCTL NOTIFYCTL_CONFIG=$PWD/config.toml "$root/examples/receipts/bizppurio-poll.sh" acct password "$base/bizppurio"
  }
  poll
  [ "$(sql "SELECT count(*) FROM notification_event WHERE name = 'undelivered'")" = 2 ]
  : > "$log"
  poll
  [ "$(grep -c /v1/result/request "$log")" = 1 ]   # there is nothing left
  ! grep -q /v1/result/confirm "$log"
}

@test "receipts: what is not signed as agreed is refused as a whole" {
  configure nhn-sms
  enqueue_one nhn-sms
  deliver
  printf '{"hooks":[{"requestId":"x","recipientSeq":1,"resultCode":"1000","recipientGroupingKey":"%s"}]}' "$id" > push.json
  n reconcile --receipts push.json --format nhn-sms
  expect 77
  contains "$err" "carries no signature"
  export HTTP_X_TOAST_WEBHOOK_SIGNATURE=guessed
  n reconcile --receipts push.json --format nhn-sms
  expect 77
  lacks "$err" agreed
  export HTTP_X_TOAST_WEBHOOK_SIGNATURE=agreed
  n reconcile --receipts push.json --format nhn-sms
  expect 0
  n reconcile --receipts push.json --format nhn-smz
  expect 64
  contains "$err" "did you mean"
}

# A body as SendGrid posts it, signed, through the CGI script; $1 the body, $2 what is signed instead.
post_events() {
  stamp=1795958769
  printf '%s%s' "$stamp" "${2:-$1}" > signed.txt
  run env REQUEST_METHOD=POST PATH_INFO=/sendgrid CONTENT_LENGTH="${#1}" HTTP_HOST=x REQUEST_URI=/y \
    HTTP_X_TWILIO_EMAIL_EVENT_WEBHOOK_SIGNATURE="$(openssl dgst -sha256 -sign key.pem signed.txt | base64 -w0)" \
    HTTP_X_TWILIO_EMAIL_EVENT_WEBHOOK_TIMESTAMP=$stamp \
    NOTIFYCTL="$NOTIFYCTL" NOTIFYCTL_CONFIG="$PWD/config.toml" "$root/examples/receipts/receipts.cgi" <<< "$1"
}

@test "receipts: a bounce disables the address that its message went to, once; a forged one does nothing" {
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem 2> /dev/null
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out forged.pem 2> /dev/null
  configure sendgrid "" "verification_key = \"$(openssl pkey -in key.pem -pubout -outform DER | base64 -w0)\""
  n recipient set 42 --endpoint lane=a@example.com
  enqueue_one sendgrid
  by_address=$id
  n enqueue --channel lane --to @42 --subject Paid --body hello
  id=$out
  deliver
  [ "$(state "$id")" = SENT ]
  bounce="[{\"event\":\"bounce\",\"type\":\"bounce\",\"reason\":\"550 5.1.1 <a@example.com>\",\"message_id\":\"$id\"}]"

  cp key.pem right.pem
  cp forged.pem key.pem
  post_events "$bounce"
  contains "$output" "403 Forbidden"
  cp right.pem key.pem
  post_events "$bounce" "${bounce/$id/$by_address}"
  contains "$output" "403 Forbidden"
  n recipient show 42
  lacks "$out" disabled
  [ "$(sql "SELECT count(*) FROM notification_receipt")" = 0 ]

  post_events "$bounce"
  contains "$output" "200 OK"
  [ "$(state "$id")" = SENT ]
  n recipient show 42
  contains "$out" "disabled since"
  contains "$out" "550 5.1.1"
  lacks "$out" a@example.com
  n show "$id"
  contains "$out" endpoint-disabled

  n enqueue --channel lane --to @42 --subject Paid --body again
  by_id=$out
  n enqueue --channel lane --to A@Example.com --subject Paid --body again
  by_address=$out
  before=$(accepted)
  deliver
  for next in "$by_id" "$by_address"; do
    [ "$(state "$next")" = SKIPPED ]
    n show "$next"
    contains "$out" endpoint-disabled
  done
  [ "$(accepted)" -eq "$before" ]

  # An operator knows better; the same receipt again does not.
  n recipient set 42 --endpoint lane=a@example.com
  post_events "$bounce"
  contains "$output" "200 OK"
  n recipient show 42
  lacks "$out" disabled
  [ "$(sql "SELECT count(*) FROM notification_receipt")" = 1 ]
}

@test "receipts: a bounce leaves the endpoint alone that leads elsewhere by now" {
  configure postmark
  n recipient set 42 --endpoint lane=a@example.com
  n enqueue --channel lane --to @42 --subject Paid --body hello
  id=$out
  deliver
  n recipient set 42 --endpoint lane=new@example.com
  printf '{"RecordType":"Bounce","Inactive":true,"Description":"gone","Metadata":{"message_id":"%s"}}' "$id" > push.json
  n reconcile --receipts push.json --format postmark
  expect 0
  n recipient show 42
  lacks "$out" disabled
  [ "$(sql "SELECT match_address FROM notification_dead_address")" = a@example.com ]
}

@test "receipts: trouble of the sender halts the channel with one alert, and not for what was sent long ago" {
  configure bizppurio
  result() {   # ID CODE
    printf '{"CMSGID":"%s","RESULT":"%s","REFKEY":"%s"}' "$(sql "SELECT reference FROM notification_inbox WHERE message_id = '$1'")" \
      "$2" "${1#*-outbox-}" > push.json
    n reconcile --receipts push.json --format bizppurio
    expect 0
  }
  for text in old one two late; do
    n enqueue --channel lane --to +821012345678 --body "$text"
    eval "$text=\$out"
  done
  deliver
  sql "UPDATE notification_inbox SET claimed_at = claimed_at - 3700000 WHERE message_id = '$old'"
  result "$old" 4432
  n channel show lane
  contains "$out" "state: open"
  result "$one" 4432
  result "$two" 7103
  n channel show lane
  contains "$out" "state: halted"
  contains "$out" 4432
  [ "$(sql "SELECT count(*), sum(count) FROM notification_alert WHERE kind = 'lane-halted'")" = "1|1" ]
  n enqueue --channel lane --to +821012345678 --body three
  before=$(accepted)
  deliver
  [ "$(accepted)" -eq "$before" ]
  n channel resume lane
  deliver
  [ "$(accepted)" -eq $((before + 1)) ]
  result "$late" 7104   # sent before the channel was opened
  n channel show lane
  contains "$out" "state: open"
}

@test "a vendor that nobody has configured before is added with a file alone" {
  cat > mine.toml << 'TOML'
summary = "My own gateway"
[settings.url]
text = "Where it is"
required = true
[settings.token]
text = "Its token"
required = true
secret = true
[auth]
kind = "bearer"
token = "{{settings.token}}"
[request]
url = "{{settings.url}}/api/chat.postMessage"
json = { channel = "{{to}}", text = "{{body}}" }
[evidence]
reference = "/ts"
[[answer]]
status = 200
json = { "/ok" = true }
outcome = "sent"
[[answer]]
json = { "/error" = "channel_not_found" }
outcome = "permanent"
disable_endpoint = true
TOML
  printf '%s\n' 'environment = "production"' '[channels.lane]' 'driver = "http"' 'recipe = "./mine.toml"' \
    "url = \"$base/slack\"" 'token = "xoxb-right-token"' > "$config"
  n init
  n channel recipes ./mine.toml
  expect 0
  contains "$out" "My own gateway"
  n channel test lane --to C1 --body hi --dry-run
  expect 0
  contains "$out" 'Authorization: Bearer ***'
  contains "$out" '{"channel":"C1","text":"hi"}'
  [ ! -s "$log" ]
  n channel test lane --to C1 --body hi
  expect 0
  contains "$out" "accepted"
  n channel test lane --to nowhere --body hi
  expect 1
  contains "$out" "refused for good"
}

@test "what is wrong in a recipe or its settings is told with its place" {
  printf '%s\n' 'summary = "x"' '[request]' 'url = "https://x.test/{{too}}"' '[[answer]]' 'status = 200' 'outcome = "sent"' \
    '[[answer]]' 'status = 200' 'json = { "/x" = 1 }' 'outcome = "unknown"' > bad.toml
  n channel recipes ./bad.toml
  expect 78
  contains "$err" "bad.toml:3:"
  contains "$err" 'did you mean "to"?'
  sed -i 's/too/to/' bad.toml
  n channel recipes ./bad.toml
  expect 78
  contains "$err" "bad.toml:7:"
  contains "$err" "never reached"
  configure twilio
  sed -i 's/^account/acount/' "$config"
  n channel list
  expect 78
  contains "$err" 'channels.lane.account: is missing'
  sed -i 's/"twilio"/"twillio"/' "$config"
  n channel list
  contains "$err" 'did you mean "twilio"?'
}

@test "at-least-once only where the vendor honours a key" {
  configure telegram "" 'semantics = "at-least-once"'
  n channel list
  expect 78
  contains "$err" "honours no idempotency key"
  configure discord-bot "" 'semantics = "at-least-once"'
  n channel list
  expect 0
}

@test "every recipe has its page, its example, its table, and its settings are explained" {
  for recipe in $(recipes); do
    echo "$recipe"
    [ -e "$root/docs/channels/$recipe.md" ]
    [ -e "$root/examples/config/$recipe.toml" ]
    [ -e "$root/tests/recipes/$recipe.json" ]
    for setting in $("$NOTIFYCTL" channel recipes "$recipe" --json | python3 -c 'import json,sys
for setting in json.load(sys.stdin)["settings"]: print(setting["name"])'); do
      grep -q "^| \`$setting\`" "$root/docs/channels/$recipe.md"
    done
  done
}
