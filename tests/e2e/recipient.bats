#!/usr/bin/env bats
# recipient: import, set, show, opt-out and opt-in, disable-endpoint; and relay's surge guard.

load common
setup() {
  common_setup
  config=recipient.toml
  cat > "$config" << EOF
environment = "production"
[channels.log]
driver = "file"
path = "$PWD/sent.jsonl"
EOF
}

deliver() {
  n relay
  n work --drain
}

@test "import takes good lines, reports bad ones with file, line and field" {
  cat > list.jsonl << 'EOF'
{"id":"1","locale":"ko","endpoints":{"log":"one"},"groups":["staff"]}
{"id":"2","endpoints":{"log":["two","second"]}}
{"id":"3","endpoint":{"log":"x"}}
not json
{"endpoints":{"log":"x"}}
EOF
  n recipient import list.jsonl
  expect 1
  [ -z "$out" ]
  contains "$err" "list.jsonl:3: endpoint: "
  contains "$err" "list.jsonl:4: "
  contains "$err" "list.jsonl:5: id: "
  [ "$(sql "SELECT group_concat(id) FROM notification_recipient")" = "1,2" ]
  head -2 list.jsonl > good.jsonl
  n recipient import good.jsonl
  expect 0
  [ -z "$out$err" ]
  n --json recipient import - < list.jsonl
  expect 1
  contains "$out" '"line":3'
  contains "$out" '{"summary":{"lines":5,"imported":2,"rejected":3}}'
}

@test "a long list is taken in bounded transactions" {
  python3 -c 'for i in range(3000): print("{\"id\":\"r%d\",\"endpoints\":{\"log\":\"a%d\"}}" % (i, i))' > list.jsonl
  n recipient import list.jsonl
  expect 0
  [ "$(sql "SELECT count(*) FROM notification_endpoint")" = 3000 ]
}

@test "a message to @ID goes to the first endpoint that is enabled" {
  n recipient set 42 --endpoint log=first --endpoint log=second
  expect 0
  [ -z "$out$err" ]
  n enqueue --channel log --to @42 --body 1
  n recipient disable-endpoint first --channel log --reason "returned"
  expect 0
  deliver
  contains "$(cat sent.jsonl)" '"to":"second"'
  n recipient show 42
  contains "$out" "disabled since"
  contains "$out" "returned"
}

@test "show masks addresses, --reveal does not" {
  n recipient set @42 --endpoint log=+821012345678 --locale ko --group staff
  n recipient show 42
  expect 0
  lacks "$out" 12345678
  n recipient show 42 --reveal --json
  [ "$(json "$out" '(j["id"], j["locale"], j["groups"], j["endpoints"][0]["address"], j["endpoints"][0]["enabled"])')" = \
    "('42', 'ko', ['staff'], '+821012345678', True)" ]
  n recipient show 43
  expect 65
}

@test "the recipient's locale chooses the wording" {
  mkdir templates
  cat > templates/hello.toml << 'EOF'
body = "Hello {{name}}"
[[variant]]
locale = "ko"
body = "{{name}} 님 안녕하세요"
EOF
  printf '[templates]\ndirectory = "%s"\n' "$PWD/templates" >> "$config"
  n recipient set 42 --endpoint log=first --locale ko-KR
  n recipient set 43 --endpoint log=other
  n enqueue --channel log --to @42 --template hello --var name=Ann
  expect 0
  n enqueue --channel log --to @43 --template hello --var name=Bob
  deliver
  contains "$(cat sent.jsonl)" "Ann 님 안녕하세요"
  contains "$(cat sent.jsonl)" "Hello Bob"
}

@test "an opt-out of an id covers its address, and opting in ends it" {
  n recipient set 42 --endpoint log=+821012345678
  n recipient opt-out 42 --category advertising
  expect 0
  [ -z "$out$err" ]
  n enqueue --channel log --to "+82 10 1234 5678" --category advertising --body 1
  n enqueue --channel log --to @42 --category advertising --body 2
  n enqueue --channel log --to @42 --body 3
  deliver
  [ "$(wc -l < sent.jsonl)" -eq 1 ]
  [ "$(sql "SELECT count(*) FROM notification_outbox WHERE status = 'SKIPPED' AND reason = 'opted-out'")" = 2 ]
  n recipient show 42
  contains "$out" "category advertising"
  n recipient opt-in 42
  n enqueue --channel log --to @42 --category advertising --body 4
  deliver
  [ "$(wc -l < sent.jsonl)" -eq 2 ]
}

@test "what does not belong together is a usage error" {
  n recipient opt-out 42 --reason x
  expect 64
  n recipient set 42 --category advertising
  expect 64
  n recipient set 42 --endpoint log
  expect 64
  n recipient set "4 2"
  expect 65
  n recipient set 42 --endpoint log=@43
  expect 65
  n recipient disable-endpoint 42 --channel log
  expect 64
  n enqueue --channel log --to "@" --body x
  expect 65
}

@test "a surge is held with an alert until it is allowed" {
  printf '[surge]\nper_run_max = 5\n' >> "$config"
  for i in 1 2 3 4 5 6 7 8; do n enqueue --channel log --to "a$i" --body "$i"; done
  n relay
  expect 0
  contains "$err" "--allow-surge"
  [ "$(sql "SELECT count(*) FROM notification_outbox WHERE status = 'PENDING'")" = 3 ]
  [ "$(sql "SELECT kind FROM notification_alert WHERE closed_at IS NULL")" = surge ]
  n relay  # cron's next run lets none of them go
  contains "$err" "--allow-surge"
  n relay --allow-surge
  expect 0
  [ -z "$err" ]
  [ "$(sql "SELECT count(*) FROM notification_outbox WHERE status = 'PENDING'")" = 0 ]
  [ "$(sql "SELECT count(*) FROM notification_alert WHERE closed_at IS NULL")" = 0 ]
}

@test "show tells of an opt-out that is nobody's" {
  n init
  n recipient show +821012345678
  expect 65
  contains "$err" "hint: "
  n recipient opt-out "+82 10-1234-5678" --category advertising
  n recipient show "+82-10-1234-5678"
  expect 0
  contains "$out" "category advertising"
  lacks "$out" 12345678
  n recipient show +821012345678 --reveal --json
  [ "$(json "$out" '(j["id"], [o["subject"] for o in j["opt_outs"]], j["created_at"])')" = "(None, ['+821012345678'], None)" ]
  n recipient opt-out @7
  n recipient show @7
  expect 0
  contains "$out" "opted out: @7 since"
  n recipient show @8
  expect 65
}

@test "import: lines that were refused are one error object at the end" {
  echo 'not json' > list.jsonl
  n --json recipient import list.jsonl
  expect 1
  [ "$(json "$err" '(j["error"]["code"], j["error"]["message"])')" = "('partial', '1 of 1 lines were refused')" ]
}
