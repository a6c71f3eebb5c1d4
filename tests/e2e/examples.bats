#!/usr/bin/env bats
# Everything in examples/ runs. Needs NOTIFYCTL; Node's test skips where Node has no SQLite.

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  examples=$root/examples
  export NOTIFYCTL=${NOTIFYCTL:-$root/build/notifyctl}
  cd "$BATS_TEST_TMPDIR"
  export HOME=$PWD XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
  unset NOTIFYCTL_DB NOTIFYCTL_CONFIG
}

sql() { sqlite3 "$1" "$2"; }

# --- quickstart

@test "quickstart: a thousand messages arrive, each once, and nothing is left" {
  mkdir tmp
  TMPDIR=$PWD/tmp run "$examples/quickstart/run.sh" "$NOTIFYCTL"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ "$output" == *'"requests": 1000, "distinct_ids": 1000, "repeated": 0'* ]]
  [[ "$output" == *"1000 messages, each exactly once"* ]]
  [ -z "$(ls -A tmp)" ]
  run pgrep -f "receiver.py $PWD/tmp"
  [ -z "$output" ]
}

@test "quickstart: it notices what does not arrive" {
  cat > broken <<'SH'
#!/bin/sh
case $1 in work) exit 0 ;; *) exec "$REAL" "$@" ;; esac
SH
  chmod +x broken
  REAL=$NOTIFYCTL QUICKSTART_MESSAGES=3 run "$examples/quickstart/run.sh" ./broken
  [ "$status" -eq 1 ]
  [[ "$output" == *"0 requests for 3 messages"* ]]
}

@test "quickstart: the data is always the same" {
  run bash -c "'$examples/quickstart/messages.sh' | sha256sum"
  first=$output
  run bash -c "'$examples/quickstart/messages.sh' | sha256sum"
  [ "$output" = "$first" ]
  [ "$("$examples/quickstart/messages.sh" | wc -l)" -eq 1000 ]
}

# --- producers

@test "shell producer: run twice, sent once; a bad line is named and the rest taken" {
  export NOTIFYCTL_DB=$PWD/jobs.db
  printf '%s\n' 1,+821000000001 2,+821000000002 3,+821000000003 > customers.csv
  "$examples/shell/producer.sh" customers.csv
  "$examples/shell/producer.sh" customers.csv
  [ "$(sql jobs.db "SELECT count(*) FROM notification_outbox WHERE channel = 'sms'")" -eq 3 ]
  [ "$(sql jobs.db "SELECT count(*) FROM notification_outbox WHERE channel = 'ops'")" -eq 1 ]

  printf '%s\n' 4,+821000000004 '5,' 6,+821000000006 > customers.csv
  run "$examples/shell/producer.sh" customers.csv
  [ "$status" -eq 1 ]
  [[ "$output" == *":2: to:"* ]]
  [ "$(wc -l < rejects.jsonl)" -eq 1 ]
  [ "$(sql jobs.db "SELECT count(*) FROM notification_outbox WHERE channel = 'sms'")" -eq 5 ]
}

# The application's order and its notification are there together, or neither is.
produces_in_its_own_transaction() {
  sqlite3 shop.db 'PRAGMA journal_mode = WAL; CREATE TABLE customers (id INTEGER PRIMARY KEY)' > /dev/null
  "$NOTIFYCTL" --db shop.db init > /dev/null
  "$@" shop.db 42 a@example.com
  "$@" shop.db 42 a@example.com
  run "$@" shop.db 43 b@example.com --fail
  [ "$status" -ne 0 ]
  [[ "$output" == *"the payment was refused"* ]]
  "$@" shop.db 44 "o'brien@example.com"
  [ "$(sql shop.db 'SELECT group_concat(id) FROM orders')" = 42,44 ]
  [ "$(sql shop.db 'SELECT group_concat(dedup_key) FROM notification_outbox')" = order-paid:42,order-paid:44 ]

  cat > config.toml <<TOML
environment = "production"
[channels.orders]
driver = "file"
path = "$PWD/sent.jsonl"
TOML
  "$NOTIFYCTL" --config config.toml --db shop.db relay
  "$NOTIFYCTL" --config config.toml --db shop.db work --drain
  [ "$(wc -l < sent.jsonl)" -eq 2 ]
  grep -q '"to":"a@example.com","kind":"order-paid",.*"data":{"order":42}' sent.jsonl
  grep -q "\"to\":\"o'brien@example.com\"" sent.jsonl
}

@test "python producer: in the application's own transaction and database" {
  produces_in_its_own_transaction python3 "$examples/python/producer.py"
}

@test "node producer: in the application's own transaction and database" {
  node=${NODE:-node}
  "$node" -e "try { require('node:sqlite') } catch { require('better-sqlite3') }" 2> /dev/null ||
    skip "this Node has neither node:sqlite nor better-sqlite3"
  produces_in_its_own_transaction "$node" "$examples/node/producer.js"
}

# --- cron and systemd

# A configuration with one channel and two messages waiting.
prepare_service() {
  cat > config.toml <<TOML
database = "$PWD/notify.db"
environment = "production"
[channels.orders]
driver = "file"
path = "$PWD/sent.jsonl"
TOML
  export NOTIFYCTL_CONFIG=$PWD/config.toml
  for n in 1 2; do "$NOTIFYCTL" enqueue --channel orders --to "a$n" --body hello > /dev/null; done
}

@test "crontab: its lines deliver, and print nothing" {
  prepare_service
  grep -v '^#' "$examples/cron/crontab" | grep notifyctl | grep -v '=' |
    sed -E 's/^([^ ]+ +){5}//; s#/usr/local/bin/notifyctl#"$NOTIFYCTL"#g' > lines
  [ "$(wc -l < lines)" -eq 4 ]
  while IFS= read -r line; do
    run /bin/sh -c "$line"
    echo "$line: $output"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
  done < lines
  [ "$(wc -l < sent.jsonl)" -eq 2 ]
}

# The command lines of a unit, with the program under test.
commands_of() { sed -n "s#^ExecStart=/usr/local/bin/notifyctl#\"$NOTIFYCTL\"#p" "$1"; }

@test "systemd: the units are valid" {
  command -v systemd-analyze > /dev/null || skip "no systemd-analyze"
  cp "$examples"/systemd/* .
  sed -i "s#/usr/local/bin/notifyctl#$NOTIFYCTL#; s/^User=.*/User=root/; /^Documentation=/d" ./*.service
  for unit in *.service *.timer; do
    run systemd-analyze verify "./$unit"
    echo "$unit: $output"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
  done
}

@test "systemd: the oneshot unit's commands deliver" {
  prepare_service
  commands_of "$examples/systemd/notifyctl-run.service" > lines
  [ "$(wc -l < lines)" -eq 2 ]
  sh -e lines
  [ "$(wc -l < sent.jsonl)" -eq 2 ]
}

@test "systemd: the services deliver and stop cleanly on SIGTERM" {
  prepare_service
  pids=()
  for unit in relay work; do
    sh -c "exec $(commands_of "$examples/systemd/notifyctl-$unit.service")" 2> "$unit.log" 3>&- &
    pids+=($!)
  done
  for _ in $(seq 200); do
    [ "$(wc -l < sent.jsonl 2> /dev/null || echo 0)" -lt 2 ] || break
    sleep 0.05
  done
  kill -TERM "${pids[@]}"
  for pid in "${pids[@]}"; do wait "$pid"; done
  cat relay.log work.log
  [ "$(wc -l < sent.jsonl)" -eq 2 ]
}

@test "experiments: what is promised holds with a vendor that misbehaves" {
  run "$examples/experiments/run.sh" --devices 400 plain overload dead killed
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(grep -c ' ok ' <<< "$output")" -eq 4 ]
}

# --- configurations

@test "configurations: each is accepted, once the secrets it names are there" {
  for file in "$examples"/config/*.toml "$examples/quickstart/config.toml"; do
    # Only the paths of this machine differ; the keys are as they stand.
    sed "s#\"/etc/notifyctl/#\"$PWD/etc/#; s#\"/tmp/notifyctl-dev/#\"$PWD/dev/#" "$file" > config.toml
    mkdir -p etc dev
    grep -o 'file *= *"[^"]*"' config.toml | sed 's/.*"\(.*\)"/\1/' | while IFS= read -r secret; do
      case $secret in
        *-url.secret) (umask 077; echo https://127.0.0.1:1/hook > "$secret") ;;
        *.p8 | */vapid.key) (umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$secret" 2> /dev/null) ;;
        *-firebase.json)
          (umask 077; openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 2> /dev/null | python3 -c '
import json, sys
json.dump({"type": "service_account", "project_id": "shop", "private_key_id": "k", "private_key": sys.stdin.read(),
           "client_email": "push@shop.example", "token_uri": "https://127.0.0.1:1/token"}, sys.stdout)' > "$secret") ;;
        *) (umask 077; echo secret > "$secret") ;;
      esac
    done
    "$NOTIFYCTL" --db "$PWD/x.db" init > /dev/null
    run env QUICKSTART_URL=http://127.0.0.1:1/ "$NOTIFYCTL" --config config.toml --db "$PWD/x.db" work --drain
    echo "$file: $output"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
  done
}

@test "every file in examples/ is named in its README" {
  cd "$examples"
  for entry in */*; do
    grep -q "\`${entry%%/*}/" README.md || { echo "$entry is not in README.md"; false; }
  done
}
