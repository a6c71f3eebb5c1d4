#!/usr/bin/env bats
# channel: list, show, pause, resume and test.

load common
setup() {
  common_setup
  config=channel.toml
  printf 'Bearer very-secret-token\n' > token
  chmod 600 token
  cat > "$config" << EOF
environment = "production"
[channels.log]
driver = "file"
path = "$PWD/sent.jsonl"
rate = "50/s"
per_recipient = { limit = 3, per = "1d", category = "advertising" }
max_text_bytes = { encoding = "EUC-KR", limit = 90 }
[channels.hook]
driver = "webhook"
url = "http://127.0.0.1:1/path/secret-part"
headers = { Authorization = { file = "$PWD/token" } }
EOF
}

@test "list and show tell what is configured, without a database, and no secret" {
  n channel list
  expect 0
  contains "$out" "log"
  contains "$out" "webhook"
  n channel
  contains "$out" "webhook"
  n channel show log --json
  expect 0
  [ "$(json "$out" '(j["driver"], j["state"], j["rate"], j["per_recipient"]["limit"], j["max_text_bytes"])')" = \
    "('file', 'open', '50/s', 3, {'encoding': 'EUC-KR', 'limit': 90})" ]
  n channel show hook
  lacks "$out" secret
  lacks "$out" 127.0.0.1
}

@test "pause holds the messages of one channel, resume lets them go" {
  n enqueue --channel log --to a --body 1
  id=$out
  n channel pause log --reason "vendor's maintenance"
  expect 0
  [ -z "$out$err" ]
  n relay
  n work --drain
  expect 0
  [ ! -e sent.jsonl ]
  n channel list --json
  contains "$out" '"channel":"log","state":"paused","reason":"vendor'
  contains "$out" '"queued":1'
  n status
  contains "$out" "maintenance"
  n show "$id"
  contains "$out" "the channel is paused: vendor's maintenance"
  n show "$id" --json
  [ "$(json "$out" 'j["closed_channel"]["state"]')" = paused ]
  n channel resume log
  expect 0
  n show "$id"
  lacks "$out" maintenance
  n work --drain
  [ "$(wc -l < sent.jsonl)" -eq 1 ]
}

@test "a pause that is over already, one without a reason or of an unknown channel is refused" {
  n channel pause log --reason x --until 2020-01-01T00:00:00Z
  expect 64
  n channel pause log
  expect 64
  n init
  n channel pause lgo --reason x
  expect 65
  contains "$err" "did you mean"
  n channel pause log --reason x --until +2h
  expect 0
  n channel show log
  contains "$out" "until: "
}

@test "test sends one message past outbox and inbox and says what became of it" {
  n init
  n channel pause log --reason x
  n channel test log --to someone --body "just a test"
  expect 0
  contains "$out" "accepted"
  contains "$(cat sent.jsonl)" "just a test"
  [ "$(sql "SELECT (SELECT count(*) FROM notification_outbox) + (SELECT count(*) FROM notification_inbox)")" = 0 ]
  [ "$(sql "SELECT rate_next_us > 0 FROM notification_lane WHERE channel = 'log'")" = 1 ]
  n channel test hook --to someone --json
  expect 69
  [ "$(json "$out" 'j["outcome"]')" = not-sent ]
  n channel test log
  expect 64
}

@test "test --dry-run shows the request without its secrets and sends nothing" {
  n init
  n channel test hook --to someone --dry-run
  expect 0
  contains "$out" "POST http://127.0.0.1:1/"
  contains "$out" "Authorization: ***"
  contains "$out" '"to":"someone"'
  lacks "$out" very-secret-token
  lacks "$out" secret-part
  n channel test log --to someone --dry-run
  expect 0
  [ ! -e sent.jsonl ]
}

@test "outside production the guard holds for tests too" {
  sed -i 's/"production"/"staging"/' "$config"
  n init
  n channel test log --to someone
  expect 1
  contains "$err" "guard"
  [ ! -e sent.jsonl ]
}

@test "a test that comes to nothing says what to do" {
  n init
  n channel test hook --to someone
  expect 69
  contains "$out" "not sent: cannot be reached"
  contains "$err" "channel hook cannot be reached"
  contains "$err" "hint: "
  n channel test hook --to someone --json
  expect 69
  [ "$(json "$err" '(j["error"]["code"], j["error"]["exit"])')" = "('unavailable', 69)" ]
  n enqueue --channel nochannel --to b --body x
  expect 0
  contains "$err" "hint: "
}
