#!/usr/bin/env bats
# Web push and Amazon SES against vendors that enforce their protocols: signatures, keys, shapes. Needs VENDOR_STUB, openssl.

load common

setup() {
  common_setup
  config=config.toml
  umask 077
}

teardown() { [ -z "${stub:-}" ] || kill "$stub" 2> /dev/null || true; }

# start VENDOR [option…]: the stub over TLS; its log in log.
start() {
  "$VENDOR_STUB" --tls --self-signed "$PWD/ca" --log log --port-file port --vendor "$@" > /dev/null 3>&- &
  stub=$!
  for _ in $(seq 300); do [ -s port ] && return; sleep 0.1; done
  return 1
}

configure() {   # KEYS: of the channel "lane"
  printf '%s\n' 'environment = "production"' "ca_bundle = \"$PWD/ca/ca.pem\"" '[channels.lane]' 'retry = []' "$1" > "$config"
}

state() { sql "SELECT coalesce((SELECT status FROM notification_inbox WHERE message_id = '$1'), 'none')"; }

outcomes() { python3 -c 'import json; print(" ".join(json.loads(line)["outcome"] for line in open("log")))'; }

ses() {   # [more keys]
  configure "$(printf '%s\n' 'driver = "ses"' "url = \"https://127.0.0.1:$(cat port)\"" 'region = "ap-northeast-2"' \
    'access_key_id = "AKIAEXAMPLE"' "secret_access_key = \"${secret:-right-secret}\"" "from = \"${from:-shop@example.com}\"" "${1:-}")"
}

ses_stub() { start "ses key-id=AKIAEXAMPLE secret=right-secret region=ap-northeast-2 from=shop@example.com" "$@"; }

mail() { n enqueue --channel lane --to "${1:-kim@example.com}" --subject '주문 "42"' --body '가'; id=$out; expect 0; }

@test "SES takes what is signed, once" {
  ses_stub
  ses
  mail
  n relay
  n work --drain
  expect 0
  [ "$(state "$id")" = SENT ]
  [ "$(outcomes)" = taken ]
  n show "$id"
  contains "$out" 0100-
}

@test "SES: a wrong key and a sender that is not verified halt the lane, a bad address is parked" {
  ses_stub
  secret=wrong-secret ses
  mail
  n relay
  n work --drain
  expect 69
  [ "$(outcomes)" = refused ]
  [ "$(state "$id")" = none ]
  n channel show lane
  contains "$out" halted
  n show "$id"
  lacks "$out" wrong-secret

  ses
  n channel resume lane
  mail 'nobody at all'
  bad=$id
  n relay
  n work --drain
  n park show "$bad"
  contains "$out" "mail address"
  [ "$(outcomes)" = "refused taken" ]  # the first one, now

  from=other@example.com ses
  mail
  n relay
  n work --drain
  expect 69
  [ "$(outcomes)" = "refused taken refused" ]
  [ "$(state "$id")" = FAILED ]
  n channel show lane
  contains "$out" halted
  n show "$id"
  contains "$out" "not verified"
}

# A browser's subscription at the stub, named $1.
subscription() {
  python3 - "$PWD/browser.pem" "https://127.0.0.1:$(cat port)/push/$1" << 'PY'
import base64, json, subprocess, sys
point = subprocess.run(["openssl", "ec", "-in", sys.argv[1], "-pubout", "-outform", "DER"], capture_output=True).stdout[-65:]
b64 = lambda raw: base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
print(json.dumps({"endpoint": sys.argv[2], "keys": {"p256dh": b64(point), "auth": b64(b"0123456789abcdef")}}))
PY
}

webpush() {
  for name in browser vapid; do
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out $name.pem 2> /dev/null
  done
  start "webpush key=$PWD/browser.pem auth=MDEyMzQ1Njc4OWFiY2RlZg" "$@"
  configure "$(printf '%s\n' 'driver = "webpush"' "key = { file = \"$PWD/vapid.pem\" }" 'subject = "mailto:push@example.com"' \
    'allow_private = true')"
}

# What SNS posts about message $1, which SES knows as $2, from topic $3, signed with the key in $4: to the CGI script.
sns_posts() {
  python3 - "$@" > post.json << 'END'
import base64, json, subprocess, sys
message_id, reference, topic, key = sys.argv[1:]
event = {"eventType": "Bounce", "bounce": {"bounceType": "Permanent", "bounceSubType": "NoEmail"},
         "mail": {"messageId": reference, "tags": {"notifyctl-message-id": [message_id]}}}
post = {"Message": json.dumps(event), "MessageId": "m", "Timestamp": "2026-11-29T13:26:09.000Z", "TopicArn": topic, "Type": "Notification"}
text = "".join(f"{name}\n{value}\n" for name, value in post.items())
made = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=text.encode(), capture_output=True, check=True)
print(json.dumps({**post, "SignatureVersion": "2", "Signature": base64.b64encode(made.stdout).decode()}))
END
  run env REQUEST_METHOD=POST PATH_INFO=/ses CONTENT_LENGTH="$(wc -c < post.json)" HTTP_HOST=x REQUEST_URI=/y \
    NOTIFYCTL="$NOTIFYCTL" NOTIFYCTL_CONFIG="$PWD/config.toml" "$root/examples/receipts/receipts.cgi" < post.json
}

@test "SES: a bounce of our topic, signed, disables the address; a forged one and one of another topic do nothing" {
  ses_stub
  for who in sns forger; do
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$who" -keyout "$who.key" -out "$who.pem" 2> /dev/null
  done
  ses "$(printf '%s\n' 'sns_topic = "arn:aws:sns:ap-northeast-2:1:mail"' 'sns_certificate = "sns.pem"')"
  n recipient set 42 --endpoint lane=kim@example.com
  mail @42
  n relay
  n work --drain
  [ "$(state "$id")" = SENT ]
  reference=$(sql "SELECT reference FROM notification_inbox WHERE message_id = '$id'")
  topic=arn:aws:sns:ap-northeast-2:1:mail
  sns_posts "$id" "$reference" $topic forger.key
  contains "$output" "403 Forbidden"
  sns_posts "$id" "$reference" arn:aws:sns:ap-northeast-2:6:mail sns.key
  contains "$output" "403 Forbidden"
  sns_posts "$id" of-another-call $topic sns.key
  contains "$output" "200 OK"
  n recipient show 42
  lacks "$out" disabled
  sns_posts "$id" "$reference" $topic sns.key
  contains "$output" "200 OK"
  n recipient show 42
  contains "$out" "disabled since"
  contains "$out" NoEmail
  [ "$(state "$id")" = SENT ]
}

@test "a browser reads what was pushed to it, once; one that is gone is disabled" {
  webpush
  n enqueue --channel lane --to "$(subscription kim)" --subject '결제' --body '주문 "42"' --data '{"n":1}'
  id=$out
  n enqueue --channel lane --to "$(subscription gone-lee)" --body x
  gone=$out
  n relay
  n work --drain
  [ "$(state "$id")" = SENT ]
  [ "$(state "$gone")" = FAILED ]
  [ "$(python3 -c 'import json; print(*sorted((json.loads(line)["to"], json.loads(line)["outcome"]) for line in open("log")))')" = \
    "('gone-lee', 'refused') ('kim', 'taken')" ]
  # The browser has decrypted it: the log knows the message by its content.
  grep -q "\"id\":\"$id\"" log
  [ "$(sql "SELECT count(*) FROM notification_dead_address")" -eq 1 ]
  n show "$id"
  contains "$out" /message/
}

@test "what was encrypted for another browser is refused" {
  webpush
  local target
  target=$(subscription kim)
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out browser.pem 2> /dev/null
  n enqueue --channel lane --to "$(subscription kim)" --body x
  id=$out
  other=$id
  n enqueue --channel lane --to "$target" --body x
  n relay
  n work --drain
  [ "$(state "$other")" = FAILED ]
  [ "$(outcomes | tr ' ' '\n' | sort | xargs)" = "refused taken" ]
}

@test "the vendors of this test refuse what their documentation forbids" {
  wrong="$root/tests/support/vendor_stub/wrong_requests.py"
  webpush
  python3 "$wrong" webpush "$(cat port)" ca/ca.pem vapid.pem
  kill "$stub"
  rm -f port
  ses_stub
  python3 "$wrong" ses "$(cat port)" ca/ca.pem
}
