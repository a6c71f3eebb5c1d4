#!/usr/bin/env bats
# status, list and show: what they print, and that they only read.

load common
setup() { common_setup; }

fill() {
  n enqueue --channel sms --to +821012345678 --key first --kind GRADE --subject "Top secret" --body "one-time code 482913"
  id=$out
  n enqueue --channel mail --to ann@example.com --key second --not-before +1h --body later
}

@test "status fits one screen and adds up" {
  fill
  n status
  expect 0
  [ "$(wc -l < out.txt)" -le 24 ]
  contains "$out" "PENDING 2"
  contains "$out" "adds up: 2 enqueued = outbox 2 + queue 0 + parked 0 + inbox 0"
  [ "$(widest out.txt)" -le 80 ]
}

@test "status --json has the members that are promised" {
  fill
  n status --json
  expect 0
  [ "$(wc -l < out.txt)" -eq 1 ]
  [ "$(json "$out" 'list(j["outbox"])')" = "['PENDING', 'PUBLISHING', 'PUBLISHED', 'SKIPPED', 'EXPIRED', 'FAILED']" ]
  [ "$(json "$out" 'list(j["queue"])')" = "['ready', 'delayed', 'leased']" ]
  [ "$(json "$out" 'list(j["inbox"])')" = "['SENDING', 'SENT', 'FAILED', 'ERROR', 'SKIPPED']" ]
  [ "$(json "$out" 'list(j["parked"])')" = "['total', 'reasons']" ]
  [ "$(json "$out" 'list(j["last_run"])[:3]')" = "['relay', 'work', 'reconcile']" ]
  [ "$(json "$out" '(j["outbox"]["PENDING"], j["unaccounted"], j["alerts_open"], j["identity"]["holds"])')" = "(2, 0, 0, True)" ]
  [ "$(json "$out" 'type(j["oldest_unsent_seconds"]).__name__')" = int ]
  for member in channels database; do json "$out" "j['$member']"; done
}

@test "status --check answers 0, 1 or 2" {
  n status --check
  expect 2
  contains "$out" "CRITICAL"
  n init
  n status --check
  expect 0
  contains "$out" "OK: "
  fill
  sleep 1.1
  n status --check --max-age 1s
  expect 2
  contains "$out" "oldest unsent"
  n status --check --max-age 1h
  expect 0
}

@test "status --prometheus is the text format, and --output is written whole" {
  fill
  n status --prometheus
  expect 0
  contains "$out" 'notifyctl_outbox_messages{state="PENDING"} 2'
  [ "$(grep -c '^# TYPE' out.txt)" -eq "$(grep -c '^# HELP' out.txt)" ]
  ! grep -vE '^(#|notifyctl_[a-z_]+(\{[a-z]+="[^"]*"\})? -?[0-9]+$)' out.txt
  n status --prometheus --output metrics.prom
  [ -z "$out" ]
  grep -q notifyctl_outbox_messages metrics.prom
  n status --prometheus --output /nonexistent/x.prom
  expect 73
  contains "$err" "hint: "
  n status --check --max-parked -1
  expect 64
  contains "$err" "hint: "
  n status --output x
  expect 64
}

@test "status --watch shows it again and again" {
  fill
  timeout -s INT 2 "$NOTIFYCTL" --config empty.toml status --watch=200ms --json > out.txt || [ $? -eq 124 ] || [ $? -eq 130 ]
  [ "$(wc -l < out.txt)" -ge 2 ]
}

@test "reading makes no database and leaves nothing behind" {
  n status
  expect 65
  contains "$err" "notify.db"
  [ ! -e notify.db ]
  fill
  before=$(sha256sum notify.db)
  n status
  n list outbox
  n show first
  [ "$(sha256sum notify.db)" = "$before" ]
}

@test "list: a table for people, an object a line for programs" {
  fill
  n list outbox
  expect 0
  contains "$(head -1 out.txt)" MESSAGE
  contains "$out" "$id"
  n list outbox --json
  [ "$(wc -l < out.txt)" -eq 2 ]
  for line in "$(sed -n 1p out.txt)" "$(sed -n 2p out.txt)"; do
    [ "$(json "$line" 'all(m in j for m in "message_id key channel to kind status reason attempts created_at updated_at".split())')" = True ]
  done
  n list outbox --json --channel sms
  [ "$(json "$out" 'j["key"]')" = first ]
  n list outbox --json --key-prefix sec
  [ "$(json "$out" 'j["key"]')" = second ]
  n list outbox --json --oldest-first --limit 1
  [ "$(json "$out" 'j["key"]')" = first ]
  n list outbox --json --since +1h
  [ -z "$out" ]
  for subject in queue inbox parked alerts; do
    n list "$subject"
    expect 0
    [ -z "$out" ]
  done
}

@test "list: a state that does not exist is an error, not an empty list" {
  fill
  n list outbox --state PENDNG
  expect 64
  contains "$err" 'did you mean "PENDING"?'
  n list outbox --state pending --json
  [ "$(wc -l < out.txt)" -eq 2 ]
  n list queue --state SENT
  expect 64
}

@test "list: times that look back" {
  fill
  for since in 2h -2h now; do
    n list outbox --since "$since" --json
    expect 0
  done
  n list outbox --since=-2h --json
  [ "$(wc -l < out.txt)" -eq 2 ]
  n list outbox --until 2h --json
  [ -z "$out" ]
  n list outbox --since soon
  expect 64
  contains "$err" "2h (two hours ago)"
  lacks "$err" "+2h"
  printf 'timezone = "UTC"\n' > utc.toml
  config=utc.toml n list outbox --since "yesterday 08:00" --json
  expect 0
  [ "$(wc -l < out.txt)" -eq 2 ]
}

@test "a message that was refused is counted once, and show tells when it was published" {
  config=refusing.toml
  cat > "$config" << 'EOF'
environment = "production"
[channels.bad]
driver = "exec"
command = ["/bin/sh", "-c", "cat > /dev/null; exit 65"]
EOF
  n enqueue --channel bad --to a --body x --key k
  n enqueue --channel nowhere --to a --body x
  n relay
  n work --drain
  n status
  contains "$out" "Parked      2 (1 of them counted in the inbox above)"
  contains "$out" "adds up: 2 enqueued = outbox 0 + queue 0 + parked 1 + inbox 1"
  n show k
  [ "$(grep -c published out.txt)" -ge 1 ]
}

@test "list: without a limit a long table says that there is more" {
  for i in $(seq 130); do echo "{\"channel\":\"a\",\"to\":\"x$i\",\"body\":\"x\"}"; done > in.jsonl
  n enqueue --jsonl in.jsonl
  n list outbox
  [ "$(wc -l < out.txt)" -eq 101 ]
  contains "$err" "--limit 0"
  n list outbox --limit 0
  [ "$(wc -l < out.txt)" -eq 131 ]
  n list outbox --limit 5
  [ "$(wc -l < out.txt)" -eq 6 ]
  [ -z "$err" ]
}

@test "F57: addresses and contents are masked unless they are asked for" {
  fill
  for words in "list outbox" "list outbox --json" "show first" "show first --json" "status" "status --json" "-v show $id"; do
    # shellcheck disable=SC2086
    n $words
    lacks "$out$err" 482913
    lacks "$out$err" +821012345678
    lacks "$out$err" ann@example.com
    lacks "$out$err" "Top secret"
  done
  n show first --reveal
  contains "$out" 482913
  contains "$out" +821012345678
  n list outbox --reveal
  contains "$out" ann@example.com
}

@test "show tells by key and by id, or that there is no such message" {
  fill
  n show first
  expect 0
  contains "$out" "$id"
  contains "$out" enqueued
  n show "$id" --json
  [ "$(json "$out" 'list(j)')" = "['message_id', 'outbox', 'queue', 'inbox', 'parked', 'closed_channel', 'attempts', 'events']" ]
  [ "$(json "$out" '(j["outbox"]["key"], j["queue"], j["inbox"], j["parked"], j["attempts"])')" = "('first', None, None, None, [])" ]
  n show nothing
  expect 65
  contains "$err" nothing
  n show nothing --json
  [ "$(json "$err" 'j["error"]["code"]')" = not_found ]
}

@test "F59: a key with odd bytes, inserted by SQL, neither breaks JSON nor moves the cursor" {
  n init
  sql "INSERT INTO notification_outbox (dedup_key, channel, recipient, payload)
       VALUES ('k' || char(27) || '[2J' || CAST(x'FF' AS TEXT), 'a', 'x', '{\"body\":\"x\"}')"
  n list outbox
  expect 0
  lacks "$out" $'\e'
  n list outbox --json
  contains "$(json "$out" 'j["key"]')" '[2J'
  id=$(json "$out" 'j["message_id"]')
  n show "$id" --reveal
  expect 0
  lacks "$out" $'\e'
  n show "$id" --json
  json "$out" 'j["outbox"]["key"]'
}

@test "show tells of the call whose worker died, and of the life before a replay" {
  cat > c.toml <<TOML
environment = "production"
[channels.once]
driver = "exec"
command = ["$PWD/program"]
[channels.again]
driver = "exec"
command = ["$PWD/program"]
semantics = "at-least-once"
TOML
  chmod 600 c.toml
  config=c.toml
  printf '#!/bin/sh\ntouch called.$NOTIFYCTL_MESSAGE_ID; sleep 60\n' > program
  chmod +x program
  n enqueue --channel once --to a --body x --key k1
  n enqueue --channel again --to a --body x --key k2
  n relay
  "$NOTIFYCTL" --config c.toml work > /dev/null 2>&1 &
  worker=$!
  for _ in $(seq 100); do
    [ "$(find . -name 'called.*' | wc -l)" -lt 2 ] || break
    sleep 0.05
  done
  kill -KILL "$worker"
  wait "$worker" || true
  printf '#!/bin/sh\nexit 0\n' > program
  n work --drain
  n replay --error --accept-duplicates --yes
  expect 0
  n relay
  n work --drain
  for key in k1 k2; do
    n show "$key"
    contains "$out" "SENT"
    contains "$out" "call 1 unknown: worker-died"
    n show "$key" --json
    [ "$(json "$out" '[(a["number"], a["outcome"], a["reason"]) for a in j["attempts"]][0]')" = "(1, 'unknown', 'worker-died')" ]
  done
  n show k1
  [ "$(grep -c 'Z  published$' <<< "$out")" = 2 ]
  n show k2
  contains "$out" "claimed by a worker, call 1"
  contains "$out" "claimed by a worker, call 2"
}

@test "rates count each message once, as it stands now, and ERROR on its own" {
  cat > c.toml <<TOML
environment = "production"
[channels.p]
driver = "exec"
command = ["/bin/sh", "-c", "exit \$(cat $PWD/code)"]
TOML
  chmod 600 c.toml
  config=c.toml
  rates() {
    n status --json
    json "$out" '[j["rates"]["hour"][k] for k in ("sent", "failed", "error")]'
  }
  n enqueue --channel p --to a --body x --key k1
  n enqueue --channel p --to a --body x --key k2
  n relay
  echo 1 > code
  n work --drain
  [ "$(rates)" = "[0, 0, 2]" ]
  n replay k1 --accept-duplicates --yes
  [ "$(rates)" = "[0, 0, 1]" ]
  echo 65 > code
  n relay
  n work --drain
  [ "$(rates)" = "[0, 1, 1]" ]
  n replay k1 --yes
  n replay k2 --accept-duplicates --yes
  echo 0 > code
  n relay
  n work --drain
  [ "$(rates)" = "[2, 0, 0]" ]
}

@test "show: what happened at the same moment is in the order of cause and effect" {
  cat > c.toml <<TOML
environment = "production"
[channels.p]
driver = "exec"
command = ["/bin/sh", "-c", "exit \$(cat $PWD/code)"]
retry = []
TOML
  chmod 600 c.toml
  config=c.toml
  echo 75 > code
  n enqueue --channel p --to a --body x --key k1 --now
  echo 0 > code
  n enqueue --channel p --to a --body x --key k2 --now
  order() { sed -n '/^$/,$p' out.txt | cut -d' ' -f3- | sed 's/ [([].*//; s/:.*//' | grep . | tr '\n' ','; }
  echo 75 > code
  n work --drain
  n show k1
  [ "$(order)" = "enqueued,published,call 1 not-sent,parked," ]
  n show k2
  [ "$(order)" = "enqueued,published,call 1 not-sent,parked," ]
}

@test "show tells the whole life of a success at the first try, in JSON, too" {
  cat > c.toml <<TOML
environment = "production"
[channels.f]
driver = "file"
path = "$PWD/sent.jsonl"
TOML
  chmod 600 c.toml
  config=c.toml
  n enqueue --channel f --to a --body x --key k
  n show k --json
  [ "$(json "$out" '([e["name"] for e in j["events"]], j["attempts"])')" = "(['enqueued'], [])" ]
  n relay
  n work --drain
  n show k --json
  [ "$(json "$out" '[e["name"] for e in j["events"]]')" = "['enqueued', 'published']" ]
  [ "$(json "$out" '[(a["number"], a["outcome"], a["at"] == j["inbox"]["settled_at"]) for a in j["attempts"]]')" = "[(1, 'sent', True)]" ]
  n show k
  [ "$(grep -c 'Z  published$' out.txt)" = 1 ]
  contains "$out" "call 1 sent"
}

@test "programs find every configured channel, whether or not something waits for it" {
  cat > c.toml <<TOML
environment = "production"
[channels.busy]
driver = "file"
path = "$PWD/sent.jsonl"
[channels.idle]
driver = "file"
path = "$PWD/sent.jsonl"
TOML
  chmod 600 c.toml
  config=c.toml
  n enqueue --channel busy --to a --body x
  n enqueue --channel elsewhere --to a --body x
  n enqueue --channel busy --to a --body x --not-before +1h --now # a run that nobody has to watch
  n status --json
  [ "$(json "$out" 'list(j["channels"])')" = "['busy', 'elsewhere', 'idle']" ]
  [ "$(json "$out" '(j["channels"]["idle"]["state"], j["channels"]["idle"]["pending"])')" = "('open', 0)" ]
  n status --prometheus
  contains "$out" 'notifyctl_channel_open{channel="idle"} 1'
  contains "$out" 'notifyctl_channel_waiting_messages{channel="idle"} 0'
  [ "$(grep -c '^notifyctl_last_success_timestamp_seconds{' out.txt)" = 3 ]
  n status
  lacks "$out" idle
}

@test "an alert names its channel, and its reason once" {
  cat > c.toml <<TOML
environment = "production"
[channels.p]
driver = "exec"
command = ["/bin/sh", "-c", "sleep 5"]
timeout = "200ms"
TOML
  chmod 600 c.toml
  config=c.toml
  n enqueue --channel p --to a --body x --now
  n work --drain
  n list alerts --json
  [ "$(json "$out" '(j["kind"], j["channel"], j["key"])')" = "('error', 'p', 'p: timeout')" ]
  n list alerts --channel p
  contains "$out" "p: timeout"
  n status
  contains "$out" "error p: timeout"
  lacks "$out" "timeout: timeout"
}
