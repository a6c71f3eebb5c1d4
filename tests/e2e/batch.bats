#!/usr/bin/env bats
# Several messages in one request: results of their own, and what becomes of all of them when the answer is lost or refused.

load common

setup_file() { start_vendors; }
teardown_file() { stop_vendors; }
setup() { vendors_setup; }

configure() {   # RECIPE BATCH [more keys]
  { printf '%s\n' 'environment = "production"' '[work]' 'concurrency = 256' '[channels.lane]' 'driver = "http"' \
      "recipe = \"$1\"" "url = \"$base/$1\"" "batch = $2" 'concurrency = 256'
    case $1 in
      solapi) printf '%s\n' 'key = "KEY"' 'secret = "right-secret"' 'from = "02-1234-5678"' ;;
      postmark) printf '%s\n' 'token = "right-token"' 'from = "shop@example.com"' ;;
      nhn-sms) printf '%s\n' 'appkey = "appkey1"' 'secret_key = "right-secret"' 'from = "02-1234-5678"' ;;
      nhn-alimtalk) printf '%s\n' 'appkey = "appkey1"' 'secret_key = "right-secret"' 'sender_key = "SENDERKEY"' ;;
    esac
    printf '%s\n' "${3:-}"; } > "$config"
}

# Messages from lines of JSON; $out is empty when all went in.
enqueue_lines() {
  n enqueue --jsonl - < lines.jsonl
  expect 0
}

deliver() {
  n relay
  expect 0
  n work --drain
}

# How many messages are in each state: "SENT=3 ERROR=1".
states() {
  sql "SELECT status || '=' || count(*) FROM notification_inbox GROUP BY status ORDER BY status" | paste -sd ' '
}

# What the vendor took: how many messages, how many different ones, in how many requests that were answered.
taken() {
  python3 - "$log" << 'PY'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
ids = [i for line in lines for i in line["taken"]]
print(len(ids), len(set(ids)), len([l for l in lines if l["taken"]]))
PY
}

@test "two hundred messages go in a few requests, each once, and each has its own outcome" {
  configure solapi 100
  python3 - > lines.jsonl << 'PY'
import json
for i in range(200):
    to = f"+82 10-0000-{i:04d}" if i % 20 else "+82 2-12-345"     # ten that the vendor refuses
    print(json.dumps({"channel": "lane", "to": to, "body": f"order {i}"}))
PY
  enqueue_lines
  deliver
  echo "$(states) $(taken)"
  [ "$(states)" = "FAILED=10 SENT=190" ]
  read -r messages different requests <<< "$(taken)"
  [ "$messages" -eq 190 ]
  [ "$different" -eq 190 ]
  [ "$requests" -le 20 ]
  [ "$(sql "SELECT count(DISTINCT reference) FROM notification_inbox WHERE status = 'SENT'")" -eq 190 ]
  n work --drain
  [ "$(taken)" = "$messages $different $requests" ]
}

@test "a connection lost in the middle of a request leaves exactly its messages in ERROR, and no second call" {
  configure nhn-sms 50
  {
    for i in $(seq 10); do printf '{"channel":"lane","to":"+82 10-1111-00%02d","body":"hello all"}\n' "$i"; done
    for i in $(seq 10); do printf '{"channel":"lane","to":"+82 10-2222-00%02d","body":"NO-ANSWER"}\n' "$i"; done
  } > lines.jsonl
  enqueue_lines
  deliver
  echo "$(states) $(taken)"
  [ "$(states)" = "ERROR=10 SENT=10" ]
  [ "$(sql "SELECT count(*) FROM notification_inbox i JOIN notification_outbox o ON o.id = i.outbox_id
            WHERE i.status = 'ERROR' AND o.recipient LIKE '%2222%'")" -eq 10 ]
  [ "$(taken | cut -d' ' -f1,2)" = "20 20" ]
  calls=$(wc -l < "$log")
  n work --drain
  [ "$(wc -l < "$log")" -eq "$calls" ]
}

@test "a request that is refused as a whole costs one message its delivery, not its neighbours" {
  configure nhn-sms 50
  {
    for i in $(seq 9); do printf '{"channel":"lane","to":"+82 10-1111-00%02d","body":"hello all"}\n' "$i"; done
    echo '{"channel":"lane","to":"+82 2-12-345","body":"hello all"}'
  } > lines.jsonl
  enqueue_lines
  deliver
  echo "$(states) $(taken)"
  [ "$(states)" = "FAILED=1 SENT=9" ]
  [ "$(taken)" = "9 9 9" ]
  grep -q '"why": "recipientNo"' "$log"
}

@test "429 for the whole request is waited for, and then each goes once" {
  configure nhn-alimtalk 50
  for i in $(seq 20); do
    printf '{"channel":"lane","to":"+82 10-1111-00%02d","data":{"template_code":"T1","parameters":{"x":"TOO-MANY-a"}}}\n' "$i"
  done > lines.jsonl
  enqueue_lines
  deliver
  until [ "$(states)" = "SENT=20" ]; do
    [ "$((tries = ${tries:-0} + 1))" -le 50 ]
    sleep 0.2
    n work --drain
  done
  grep -q '"status": 429' "$log"
  [ "$(taken | cut -d' ' -f1,2)" = "20 20" ]
}

@test "a message without a result of its own, or with two, is an ERROR; its neighbours are what theirs say" {
  configure solapi 50
  for text in one NO-RESULT two TWO-RESULTS three; do
    printf '{"channel":"lane","to":"+82 10-1111-0001","body":"%s"}\n' "$text"
  done > lines.jsonl
  enqueue_lines
  deliver
  echo "$(states) $(cat "$log")"
  [ "$(states)" = "ERROR=2 SENT=3" ]
  [ "$(sql "SELECT group_concat(vendor_code, ' ') FROM (SELECT DISTINCT reason AS vendor_code FROM notification_inbox
            WHERE status = 'ERROR')")" = "no-result" ]
  n reconcile
  expect 0
  [ "$(states)" = "SENT=5" ]
}

@test "results in the order of the messages are believed when they are as many" {
  configure postmark 50
  for to in a@example.com inactive@example.com c@example.com; do
    printf '{"channel":"lane","to":"%s","subject":"s","body":"x"}\n' "$to"
  done > lines.jsonl
  enqueue_lines
  deliver
  echo "$(states) $(cat "$log")"
  [ "$(states)" = "FAILED=1 SENT=2" ]
  [ "$(taken)" = "2 2 1" ]
  for text in p q NO-RESULT; do
    printf '{"channel":"lane","to":"d@example.com","subject":"s","body":"%s"}\n' "$text"
  done > lines.jsonl
  enqueue_lines
  deliver
  [ "$(states)" = "ERROR=3 FAILED=1 SENT=2" ]
}

@test "what does not agree goes in requests of its own, and one alone as ever" {
  configure nhn-alimtalk 50
  for code in T1 T1 T2 T2 T3; do
    printf '{"channel":"lane","to":"+82 10-1111-0001","data":{"template_code":"%s"}}\n' "$code"
  done > lines.jsonl
  enqueue_lines
  deliver
  echo "$(states) $(taken)"
  [ "$(states)" = "SENT=5" ]
  [ "$(taken)" = "5 5 3" ]
}

@test "batch is refused where a vendor, the lane or the semantics do not allow it" {
  configure solapi 1001
  n channel list
  expect 78
  contains "$err" "1000"
  configure solapi 200 'semantics = "at-least-once"'
  n channel list
  expect 78
  contains "$err" "carries the key of none of them"
  configure solapi 200
  sed -i 's/^concurrency = 256/concurrency = 100/' "$config"
  n channel list
  expect 78
  contains "$err" "is more than concurrency (100)"
  printf '%s\n' 'environment = "production"' '[channels.lane]' 'driver = "http"' 'recipe = "telegram"' 'token = "1:x"' 'batch = 2' > "$config"
  n channel list
  expect 78
  contains "$err" "one message a request"
}
