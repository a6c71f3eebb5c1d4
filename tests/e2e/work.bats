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
  expect 65
  contains "$err" "--template: $PWD/templates/bad.toml:1:"
  contains "$err" "hint: "

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

@test "who stops a service gets 0, whatever is the matter with its channels" {
  chmod 600 hook.secret
  for i in 1 2 3 4 5 6; do n enqueue --channel hook --to b --body "$i"; done
  n relay
  "$NOTIFYCTL" --config work.toml work 2> err.txt &
  worker=$!
  for _ in $(seq 100); do # five connects are refused in a row
    [ "$(sql "SELECT count(*) FROM notification_lane WHERE halted = 1")" = 0 ] || break
    sleep 0.1
  done
  kill -TERM "$worker"
  status=0
  wait "$worker" || status=$?
  out='' err=$(cat err.txt)
  expect 0
  n work --drain
  expect 69
}

@test "a correlation id is in every line of the log about its message" {
  printf 'environment = "production"\n[channels.log]\ndriver = "file"\npath = "%s"\n[channels.no]\ndriver = "exec"\ncommand = ["/bin/sh", "-c", "exit 65"]\n' \
    "$PWD/sent.jsonl" > "$config"
  n enqueue --channel log --to a --body 1 --correlation order-42
  n enqueue --channel no --to a --body 2 --correlation order-43
  n enqueue --channel log --to a --body 3
  n -vv relay
  contains "$err" "relay.published channel=log message_id="
  contains "$err" "correlation=order-42"
  [ "$(grep -c correlation= err.txt)" = 2 ]
  n -vv --log-format json work --drain
  [ "$(grep -c '"event":"work.sent".*"correlation":"order-42"' err.txt)" = 1 ]
  [ "$(grep -c '"event":"work.failed".*"correlation":"order-43"' err.txt)" = 1 ]
  [ "$(grep -c '"correlation"' err.txt)" = 2 ]
}
