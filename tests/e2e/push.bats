#!/usr/bin/env bats
# APNs and FCM against a vendor that enforces their protocols and misbehaves in between. Needs NOTIFYCTL, VENDOR_STUB, openssl, jq.
# PUSH_MESSAGES=5000 for the full figure.

setup() {
  NOTIFYCTL=${NOTIFYCTL:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/notifyctl}
  count=${PUSH_MESSAGES:-200}
  cd "$BATS_TEST_TMPDIR"
  export HOME=$PWD XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
  export NOTIFYCTL_DB=$PWD/push.db NOTIFYCTL_CONFIG=$PWD/config.toml
  umask 077
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out apns.p8 2> /dev/null
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out fcm.pem 2> /dev/null
}

teardown() {
  for pid in "${stubs[@]}"; do kill "$pid" 2> /dev/null || true; done
}

# stub NAME OPTION…: a vendor over TLS on a free port, its log in NAME.log.
stub() {
  local name=$1
  shift
  "$VENDOR_STUB" --tls --self-signed "$PWD/ca" --log "$name.log" --port-file "$name.port" "$@" > /dev/null 3>&- &
  stubs+=($!)
  for _ in $(seq 300); do [ -s "$name.port" ] && return; sleep 0.1; done
  return 1
}

# One channel for each vendor; what was enqueued is retried quickly.
configure() {
  cat > sa.json << JSON
{"type":"service_account","project_id":"shop","private_key_id":"k1","client_email":"push@shop.test",
 "private_key":$(jq -Rs . < fcm.pem),"token_uri":"https://127.0.0.1:$(cat fcm.port)/token"}
JSON
  cat > config.toml << TOML
environment = "production"
ca_bundle = "$PWD/ca/ca.pem"
[channels.ios]
driver = "apns"
key = { file = "$PWD/apns.p8" }
key_id = "ABC123DEFG"
team_id = "DEF123GHIJ"
topic = "com.example.shop"
url = "https://127.0.0.1:$(cat apns.port)"
concurrency = 64
timeout = "50s"
retry = ["1s", "1s", "1s", "1s", "1s", "1s"]
[channels.android]
driver = "fcm"
service_account = { command = ["cat", "$PWD/sa.json"] }
url = "https://127.0.0.1:$(cat fcm.port)"
concurrency = 64
timeout = "50s"
retry = ["1s", "1s", "1s", "1s", "1s", "1s"]
TOML
}

# Every 50th device is dead: 410 and 404.
messages() {
  awk -v n="$count" 'BEGIN { for (i = 1; i <= n; i++) {
    dead = i % 50 == 0 ? "dead" : "0aaa"
    printf "{\"channel\":\"ios\",\"to\":\"%s%060x\",\"key\":\"i%d\",\"subject\":\"Paid\",\"body\":\"order %d\"}\n", dead, i, i, i
    printf "{\"channel\":\"android\",\"to\":\"%s:%d\",\"key\":\"a%d\",\"subject\":\"Paid\",\"body\":\"order %d\",\"data\":{\"n\":%d}}\n", dead, i, i, i, i
  } }'
}

drain() {
  local i
  "$NOTIFYCTL" relay --max-run 60s
  for i in $(seq 60); do
    "$NOTIFYCTL" work --drain --max-run 60s || true
    [ "$("$NOTIFYCTL" status --json | jq '.queue.ready + .queue.delayed + .queue.leased + .inbox.SENDING')" -eq 0 ] && return
    sleep 1
  done
  "$NOTIFYCTL" status
  return 1
}

sql() { sqlite3 push.db "$1"; }

# taken_twice NAME: how many devices got more than one request that was answered with success.
taken_twice() { jq -r 'select(.outcome == "taken" and .path != "/token") | .to' "$1.log" | sort | uniq -d | wc -l; }

# tokens NAME: how many different credentials the vendor was shown.
tokens() { jq -r 'select(.path != "/token") | .headers.authorization' "$1.log" | sort -u | wc -l; }

@test "pushes with dead devices, 429 and used-up access tokens: each device once" {
  stub apns --vendor "apns key=$PWD/apns.p8 key-id=ABC123DEFG team=DEF123GHIJ topic=com.example.shop" \
    --rule "to=*7 code:429 retry-after=1 times=3 body={\"reason\":\"TooManyRequests\"}"
  stub fcm --vendor "fcm key=$PWD/fcm.pem email=push@shop.test project=shop uses=$((count / 3 + 10))" \
    --rule "to=*7 code:429 retry-after=1 times=2"
  configure
  "$NOTIFYCTL" init > /dev/null
  messages | "$NOTIFYCTL" enqueue --jsonl - > /dev/null
  drain

  run "$NOTIFYCTL" status --json
  echo "$output"
  dead=$((count / 50))
  [ "$(jq .unaccounted <<< "$output")" -eq 0 ]
  [ "$(jq .inbox.SENT <<< "$output")" -eq $((2 * count - 2 * dead)) ]
  [ "$(jq .inbox.FAILED <<< "$output")" -eq $((2 * dead)) ]
  [ "$(jq .inbox.ERROR <<< "$output")" -eq 0 ]
  [ "$(taken_twice apns)" -eq 0 ]
  [ "$(taken_twice fcm)" -eq 0 ]
  # Dead devices are disabled, all of them and nobody else.
  [ "$(sql "SELECT count(*) FROM notification_dead_address WHERE channel = 'ios'")" -eq "$dead" ]
  [ "$(sql "SELECT count(*) FROM notification_dead_address WHERE channel = 'android'")" -eq "$dead" ]
  [ "$(sql "SELECT count(*) FROM notification_dead_address WHERE match_address NOT LIKE 'dead%'")" -eq 0 ]
  # One provider token; access tokens that are used up are replaced, each by one fetch.
  [ "$(tokens apns)" -eq 1 ]
  fetched=$(jq -r 'select(.path == "/token") | .path' fcm.log | wc -l)
  [ "$(tokens fcm)" -eq "$fetched" ]
  [ "$fetched" -ge 3 ]
  [ "$(sql "SELECT count(*) FROM notification_credential WHERE value IS NOT NULL")" -eq 2 ]
}

# asked_twice NAME: how many devices got another request after one that was not refused, answered or not.
asked_twice() { jq -r 'select(.outcome != "refused" and .path != "/token") | .to' "$1.log" | sort | uniq -d | wc -l; }

# in_flight_at_goaway: how many requests were out when a vendor closed at once, all such moments together.
in_flight_at_goaway() { jq -s 'map(select(.mode | test("h2-goaway:1:")) | .in_flight) | add' apns.log fcm.log; }

# Everything at once, and on both vendors: dead devices, 429, tokens that expire, connections that are given up gracefully, and a
# server that closes at once in the middle, its last request taken and not answered. `make push` runs it with 5,000 devices each.
@test "every fault at once on both vendors: each device once, the dead disabled, nothing unaccounted" {
  local third=$((count / 3)) middle=$((count / 2)) often=$((count < 2000 ? 30 : count / 50)) name="body='{\"name\":\"projects/shop/messages/%{seq}\"}'"
  faults() {   # GOAWAYs are not for the dead: the stub answers them as a success
    printf '%s\n' --rule "skip=$middle times=1 to=0aaa* mode=h2-goaway:1:equal" \
      --rule "skip=20 every=$often code:429 retry-after=1" \
      --rule "skip=$third times=1 to=0aaa* mode=h2-goaway:1:below" --rule "to=0aaa* mode=h2-goaway:60:above answer=yes $1"
  }
  mapfile -t apns_faults < <(faults '')
  mapfile -t fcm_faults < <(faults "$name")
  stub apns --vendor "apns key=$PWD/apns.p8 key-id=ABC123DEFG team=DEF123GHIJ topic=com.example.shop uses=$((count / 4))" \
    --latency 10ms+-5ms "${apns_faults[@]}"
  stub fcm --vendor "fcm key=$PWD/fcm.pem email=push@shop.test project=shop uses=$((count / 6))" --latency 10ms+-5ms "${fcm_faults[@]}"
  configure
  "$NOTIFYCTL" init > /dev/null
  "$NOTIFYCTL" enqueue --channel ios --to 0aaaff --key first --body x > /dev/null
  drain
  # Apple takes no new token before 20 minutes, so none is made earlier.
  sql "UPDATE notification_credential SET made_at = made_at - 30 * 60 * 1000 WHERE name LIKE 'apns%'"
  messages | "$NOTIFYCTL" enqueue --jsonl - > /dev/null
  drain

  run "$NOTIFYCTL" status --json
  echo "$output"
  error=$(jq .inbox.ERROR <<< "$output")
  bound=$(in_flight_at_goaway)
  echo "# $((2 * count)) pushes: $(jq .inbox.SENT <<< "$output") SENT, $(jq .inbox.FAILED <<< "$output") FAILED," \
    "$error ERROR of $bound in flight at a sudden GOAWAY; refused: $(cat apns.log fcm.log | jq -r 'select(.outcome == "refused") | .mode' | wc -l)" >&3
  [ "$(jq .unaccounted <<< "$output")" -eq 0 ]
  [ "$(jq '.inbox.SENT + .inbox.FAILED + .inbox.ERROR' <<< "$output")" -eq $((2 * count + 1)) ]
  [ "$error" -le "$bound" ]
  # Each device once.
  [ "$(asked_twice apns)" -eq 0 ]
  [ "$(asked_twice fcm)" -eq 0 ]
  [ "$(jq -r 'select(.outcome == "taken" and .path != "/token") | .to' apns.log fcm.log | wc -l)" -ge "$(jq .inbox.SENT <<< "$output")" ]
  # The dead are disabled, but one whose answer a GOAWAY cut off.
  [ "$(sql "SELECT count(*) FROM notification_dead_address WHERE match_address LIKE 'dead%'")" -eq "$(jq .inbox.FAILED <<< "$output")" ]
  [ "$(sql "SELECT count(*) FROM notification_dead_address WHERE match_address NOT LIKE 'dead%'")" -eq 0 ]
  [ "$(sql "SELECT count(*) FROM notification_outbox AS o JOIN notification_inbox AS i ON i.outbox_id = o.id
             WHERE o.recipient LIKE 'dead%' AND i.status NOT IN ('FAILED', 'ERROR')")" -eq 0 ]
  # Every fault has come about, on both.
  for vendor in apns fcm; do
    [ "$(jq -r 'select(.mode | test("code:429")) | .to' $vendor.log | wc -l)" -ge 4 ]
    for goaway in equal below above; do
      [ "$(jq -r "select(.mode | test(\"h2-goaway:[0-9]*:$goaway\")) | .to" $vendor.log | wc -l)" -ge 1 ]
    done
    [ "$(jq -r .conn $vendor.log | sort -u | wc -l)" -gt 3 ]
  done
  [ "$(tokens apns)" -eq 2 ]
  [ "$(tokens fcm)" -ge 3 ]
  # One fetch for each; the last one may have come when nothing was left to send.
  [ "$(jq -r 'select(.path == "/token") | .path' fcm.log | wc -l)" -le $(($(tokens fcm) + 1)) ]
}

# Every connection is given up in the middle: gracefully; and at once, with the last request answered or disowned. What is in
# flight when a server closes at once may be uncertain, and is never sent again.
@test "GOAWAY in the middle: each device once" {
  for rule in "above answer=yes" "equal answer=yes" "below"; do
    rm -f push.db* apns.log apns.port
    stub apns --vendor "apns key=$PWD/apns.p8 key-id=ABC123DEFG team=DEF123GHIJ topic=com.example.shop" \
      --rule "h2-goaway:60:$rule"
    cp apns.port fcm.port
    configure
    "$NOTIFYCTL" init > /dev/null
    messages | grep '"ios"' | "$NOTIFYCTL" enqueue --jsonl - > /dev/null
    drain
    run "$NOTIFYCTL" status --json
    echo "$rule: $output"
    [ "$(jq .unaccounted <<< "$output")" -eq 0 ]
    [ "$(jq '.inbox.SENT + .inbox.FAILED + .inbox.ERROR' <<< "$output")" -eq "$count" ]
    [[ $rule != above* ]] || [ "$(jq .inbox.ERROR <<< "$output")" -eq 0 ]
    [ "$(taken_twice apns)" -eq 0 ]
    [ "$(jq -r .conn apns.log | sort -u | wc -l)" -gt 1 ]
  done
}

@test "an expired provider token is replaced, and costs no message" {
  stub apns --vendor "apns key=$PWD/apns.p8 key-id=ABC123DEFG team=DEF123GHIJ topic=com.example.shop life=2"
  cp apns.port fcm.port
  configure
  "$NOTIFYCTL" init > /dev/null
  "$NOTIFYCTL" enqueue --channel ios --to 0aaa01 --key a --body x > /dev/null
  drain
  sleep 4
  # Apple takes no new token before 20 minutes, so none is made earlier.
  sql "UPDATE notification_credential SET made_at = made_at - 30 * 60 * 1000000"
  "$NOTIFYCTL" enqueue --channel ios --to 0aaa01 --key b --body x > /dev/null
  drain
  [ "$("$NOTIFYCTL" status --json | jq .inbox.SENT)" -eq 2 ]
  [ "$(jq -r .outcome apns.log | xargs)" = "taken refused taken" ]
  [ "$(tokens apns)" -eq 2 ]
}

@test "a device that was registered since Apple saw it dead keeps its endpoint" {
  stub apns --vendor "apns key=$PWD/apns.p8 key-id=ABC123DEFG team=DEF123GHIJ topic=com.example.shop"
  cp apns.port fcm.port
  configure
  "$NOTIFYCTL" init > /dev/null
  for id in 1 2; do
    "$NOTIFYCTL" recipient set $id --endpoint "ios=01d$(printf %061x $id)"
    "$NOTIFYCTL" enqueue --channel ios --to @$id --key $id --body x > /dev/null
  done
  sql "UPDATE notification_endpoint SET registered_at = registered_at - 2 * 86400000 WHERE recipient_id = '2'"
  drain
  [ "$("$NOTIFYCTL" status --json | jq .inbox.FAILED)" -eq 2 ]
  [ "$(sql "SELECT match_address FROM notification_dead_address")" = "01d$(printf %061x 2)" ]
}

@test "several workers fetch one token" {
  stub apns --vendor "apns key=$PWD/apns.p8 key-id=ABC123DEFG team=DEF123GHIJ topic=com.example.shop"
  stub fcm --vendor "fcm key=$PWD/fcm.pem email=push@shop.test project=shop"
  configure
  count=40
  "$NOTIFYCTL" init > /dev/null
  messages | "$NOTIFYCTL" enqueue --jsonl - > /dev/null
  "$NOTIFYCTL" relay
  workers=()
  for _ in 1 2 3 4; do
    "$NOTIFYCTL" work --drain 3>&- &
    workers+=($!)
  done
  wait "${workers[@]}"
  [ "$("$NOTIFYCTL" status --json | jq .inbox.SENT)" -eq 80 ]
  [ "$(jq -r 'select(.path == "/token") | .path' fcm.log | wc -l)" -eq 1 ]
  [ "$(tokens apns)" -eq 1 ]
  [ "$(tokens fcm)" -eq 1 ]
}

@test "a wrong key halts the lane and costs no message a try" {
  stub apns --vendor "apns key=$PWD/apns.p8 key-id=ABC123DEFG team=DEF123GHIJ topic=com.example.shop"
  stub fcm --vendor "fcm key=$PWD/fcm.pem email=push@shop.test project=shop"
  configure
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out apns.p8 2> /dev/null
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out fcm.pem 2> /dev/null
  configure
  count=2
  "$NOTIFYCTL" init > /dev/null
  messages | "$NOTIFYCTL" enqueue --jsonl - > /dev/null
  "$NOTIFYCTL" relay
  run "$NOTIFYCTL" work --drain
  [ "$status" -eq 69 ]
  [ "$("$NOTIFYCTL" status --json | jq '.queue.ready + .queue.delayed')" -eq 4 ]
  [ "$(sql "SELECT count(*) FROM notification_lane WHERE halted = 1")" -eq 2 ]
  [ "$(sql "SELECT max(tries) FROM notification_queue")" -eq 0 ]
}

@test "the vendors of this test refuse what Apple and Google forbid" {
  stub apns --vendor "apns key=$PWD/apns.p8 key-id=ABC123DEFG team=DEF123GHIJ topic=com.example.shop"
  stub fcm --vendor "fcm key=$PWD/fcm.pem email=push@shop.test project=shop"
  wrong="$BATS_TEST_DIRNAME/../support/vendor_stub/wrong_requests.py"
  python3 "$wrong" apns "$(cat apns.port)" ca/ca.pem apns.p8
  python3 "$wrong" fcm "$(cat fcm.port)" ca/ca.pem fcm.pem
}

@test "no secret is in any output" {
  stub apns --vendor "apns key=$PWD/apns.p8 key-id=ABC123DEFG team=DEF123GHIJ topic=com.example.shop"
  stub fcm --vendor "fcm key=$PWD/fcm.pem email=push@shop.test project=shop uses=1"
  configure
  count=5
  "$NOTIFYCTL" init > /dev/null
  messages | "$NOTIFYCTL" enqueue --jsonl - > /dev/null
  "$NOTIFYCTL" relay
  "$NOTIFYCTL" -vv work --drain > seen 2>&1 || true
  { "$NOTIFYCTL" status; "$NOTIFYCTL" list inbox; "$NOTIFYCTL" show i1; "$NOTIFYCTL" show a1; } >> seen
  "$NOTIFYCTL" channel test ios --to 0aaa01 --body x --dry-run >> seen
  "$NOTIFYCTL" channel test android --to tok --body x --dry-run >> seen
  run grep -E 'ya29|eyJ|BEGIN PRIVATE' seen
  [ "$status" -eq 1 ]
}
