#!/usr/bin/env bats
# work: what becomes of the other channels when one of them cannot be served.

load common
setup() {
  common_setup
  config=work.toml
  cat > "$config" << EOF
environment = "production"
[channels.log]
driver = "file"
path = "$PWD/sent.jsonl"
[channels.hook]
driver = "webhook"
url = "http://127.0.0.1:1/"
secret = { file = "$PWD/hook.secret" }
EOF
  printf 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz\n' > hook.secret
  chmod 644 hook.secret # readable by others: refused
}

@test "a channel whose secret is refused is closed alone" {
  n enqueue --channel log --to a --body 1
  n enqueue --channel hook --to b --body 2
  n relay
  n work --drain
  expect 69
  contains "$err" "hook"
  contains "$err" "hook.secret"
  contains "$err" "hint: "
  [ "$(wc -l < sent.jsonl)" -eq 1 ]
  [ "$(sql "SELECT count(*) FROM notification_queue WHERE channel = 'hook'")" = 1 ]
  [ "$(sql "SELECT count(*) FROM notification_parked")" = 0 ]
  [ "$(sql "SELECT kind, subject, count FROM notification_alert WHERE closed_at IS NULL")" = "lane-halted|hook|1" ]
  n status --json
  [ "$(json "$out" 'j["channels"]["hook"]["state"]')" = halted ]
  contains "$(json "$out" 'j["channels"]["hook"]["reason"]')" "hook.secret"

  chmod 600 hook.secret
  n work --drain # nobody listens there, but the channel is served
  [ "$(sql "SELECT count(*) FROM notification_alert WHERE closed_at IS NULL")" = 0 ]
}

@test "when no channel can be served, the run says why and sends nothing" {
  n init
  n work --drain --channel hook
  expect 77
  contains "$err" "hook.secret"
  [ "$(sql "SELECT subject FROM notification_alert WHERE closed_at IS NULL")" = hook ]
  [ "$(sql "SELECT count(*) FROM notification_run WHERE ended_at IS NULL")" = 0 ]
  rm hook.secret
  n work --drain --channel hook
  expect 78
}

@test "a broken template stops the messages that name it, and nothing else" {
  mkdir templates
  printf 'environment = "production"\n[templates]\ndirectory = "%s"\n[channels.log]\ndriver = "file"\npath = "%s"\n' \
    "$PWD/templates" "$PWD/sent.jsonl" > "$config"
  echo 'body = "Hello {{name}}"' > templates/good.toml
  echo 'body = "Bye {{name}}"' > templates/bad.toml
  n enqueue --channel log --to a --template good --var name=A
  n enqueue --channel log --to b --template bad --var name=B
  echo 'body = {{' > templates/bad.toml
  n relay
  n work --drain
  expect 0
  contains "$(cat sent.jsonl)" "Hello A"
  [ "$(sql "SELECT reason FROM notification_parked")" = bad-template ]
  contains "$(sql "SELECT detail FROM notification_parked")" "bad.toml:1:"
  n check
  expect 78
  contains "$out" "template bad: $PWD/templates/bad.toml:1:"
  n enqueue --channel log --to c --template bad --var name=C
  expect 78

  echo 'body = "Bye {{name}}"' > templates/bad.toml
  n replay --parked --yes
  n relay
  n work --drain
  contains "$(cat sent.jsonl)" "Bye B"
}

@test "a service tries a channel again whose secret could not be read" {
  n enqueue --channel log --to a --body 1
  n enqueue --channel hook --to b --body 2
  n relay
  "$NOTIFYCTL" --config work.toml work 2> err.txt &
  worker=$!
  for _ in $(seq 100); do
    [ "$(sql "SELECT count(*) FROM notification_alert WHERE closed_at IS NULL")" = 0 ] || break
    sleep 0.1
  done
  chmod 600 hook.secret
  for _ in $(seq 450); do # tried every 30 seconds
    [ "$(sql "SELECT count(*) FROM notification_alert WHERE kind = 'lane-halted' AND closed_at IS NULL")" != 0 ] || break
    sleep 0.1
  done
  for _ in $(seq 50); do
    [ "$(sql "SELECT count(*) FROM notification_attempt WHERE reason = 'connect-failed'")" = 0 ] || break
    sleep 0.1
  done
  kill -TERM "$worker"
  wait "$worker" || true
  [ "$(sql "SELECT count(*) FROM notification_attempt WHERE reason = 'connect-failed'")" != 0 ]
}
