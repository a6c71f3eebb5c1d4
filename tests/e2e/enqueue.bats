#!/usr/bin/env bats
# enqueue: one message, a stream, everything that is refused.

load common
setup() { common_setup; }

count() { sql 'SELECT count(*) FROM notification_outbox'; }

@test "prints the message id and nothing else" {
  n enqueue --channel sms --to +821000000000 --key K1 --kind GRADE --body "Hello"
  expect 0
  [[ "$out" =~ ^notification-outbox-[0-9a-f]{8}-1$ ]]
  [ -z "$err" ]
}

@test "the same key and content is the same message, other content is exit 4" {
  n enqueue --channel sms --to +82100 --key K1 --body "Hello"
  id=$out
  n enqueue --channel sms --to +82100 --key K1 --body "Hello" --priority 9 --not-before +2h
  expect 0
  [ "$out" = "$id" ]
  n enqueue --channel sms --to +82100 --key K1 --body "Bye"
  expect 4
  [ -z "$out" ]
  contains "$err" "$id"
  [ "$(grep -oE '[0-9a-f]{12}…' err.txt | sort -u | wc -l)" -eq 2 ]
  [ "$(count)" = 1 ]
}

@test "without a key every call is a new message" {
  n enqueue --channel a --to b --body x
  first=$out
  n enqueue --channel a --to b --body x
  [ "$out" != "$first" ]
}

@test "an empty key is an error, not a missing one" {
  n enqueue --channel a --to b --body x --key ""
  expect 65
  contains "$err" "--key: "
  n enqueue --channel a --to b --body x --key=
  expect 65
}

@test "--json has the shape that is promised" {
  n enqueue --channel a --to b --body x --json
  [ "$(json "$out" 'list(j)')" = "['message_id', 'outbox_id', 'key', 'status', 'created']" ]
  [ "$(json "$out" '(j["outbox_id"], j["key"], j["status"], j["created"])')" = "(1, None, 'PENDING', True)" ]
  n enqueue --channel a --to b --body x --key K --json
  n enqueue --channel a --to b --body x --key K --json
  [ "$(json "$out" '(j["key"], j["created"])')" = "('K', False)" ]
}

@test "texts come from options, files and standard input" {
  printf 'line 1\nline 2\n' > body.txt
  n enqueue --channel a --to b --subject S --body-file body.txt --alt A --data '{"b":1,"a":[2]}'
  expect 0
  n show "$out" --reveal --json
  [ "$(json "$out" 'j["outbox"]["payload"]["body"]')" = $'line 1\nline 2' ] ||
    [ "$(json "$out" 'j["outbox"]["payload"]["body"]')" = $'line 1\nline 2\n' ]
  [ "$(json "$out" 'j["outbox"]["payload"]["data"]')" = "{'a': [2], 'b': 1}" ]
  status=0
  echo '<p>x</p>' | "$NOTIFYCTL" --config empty.toml enqueue --channel a --to b --body x --html-file - > out.txt || status=$?
  expect 0
  n show "$(cat out.txt)" --reveal
  contains "$out" "<p>x</p>"
}

@test "what is missing or contradictory is a usage error" {
  n enqueue --to b --body x
  expect 64
  n enqueue --channel a --body x
  expect 64
  n enqueue --channel a --to b --body x --body-file f
  expect 64
  n enqueue --channel a --to b --body x --rejects f
  expect 64
  n enqueue --rejects f
  expect 64
  contains "$err" "--rejects needs --jsonl"
  n enqueue --channel a --to b --body x --var name=Ann
  expect 64
  contains "$err" "hint: name the template that has the variable: --template NAME"
  n enqueue --channel a --to b --template t --var nothing
  expect 64
  n enqueue --jsonl - --channel a
  expect 64
}

@test "a message that is not valid is exit 65 and names the option" {
  n enqueue --channel a --to b
  expect 65
  contains "$err" "says nothing"
  n enqueue --channel "A B" --to b --body x
  expect 65
  contains "$err" "--channel: "
  n enqueue --channel a --to b --body x --not-before tomorow
  expect 65
  contains "$err" "--not-before: "
  n enqueue --channel a --to b --body x --expires 2020-01-01T00:00:00Z
  expect 65
  n enqueue --channel a --to b --body x --priority 10
  expect 64
  contains "$err" "between 0 and 9"
  n enqueue --channel a --to b --data '{"a":' --json
  expect 65
  [ "$(json "$err" 'j["error"]["field"]')" = data ]
  n enqueue --channel a --to b --body-file missing.txt
  [ "$status" -ne 0 ]
  contains "$err" missing.txt
  [ ! -e notify.db ] || [ "$(count)" = 0 ]
}

@test "F46: line ends in a subject or an address are refused" {
  for evil in $'x\r\nBcc: e@evil.test' $'x\n' $'x\r' $'x\u0085' $'x\u2028'; do
    n enqueue --channel a --to b --subject "$evil" --body x
    expect 65
    n enqueue --channel a --to "$evil" --body x
    expect 65
  done
}

@test "F59: bytes that are not UTF-8 are refused with their position" {
  for bytes in '\xff' '\xc3' '\xed\xa0\x80' '\xf0\x9f\x98' '\xc0\xaf'; do
    n enqueue --channel a --to b --body "$(printf "ok$bytes")"
    expect 65
    contains "$err" "byte 3"
    n enqueue --channel a --to "$(printf "x$bytes")" --body x --json
    expect 65
    json "$err" 'j["error"]["code"]'
  done
}

@test "a time without a zone needs a configured one" {
  n enqueue --channel a --to b --body x --not-before "2030-01-01 08:00"
  expect 65
  config=zone.toml
  echo 'timezone = "Asia/Seoul"' > zone.toml
  n enqueue --channel a --to b --body x --not-before "2030-01-01 08:00"
  expect 0
  n show "$out" --json
  contains "$(json "$out" 'j["outbox"]["not_before"]')" "2030-01-01T08:00:00.000+09:00"
}

@test "F53: an unknown zone is refused when a message is accepted" {
  config=zone.toml
  for zone in Asia/Seuol KST GMT+9 asia/seoul ../../etc/passwd; do
    echo "timezone = \"$zone\"" > zone.toml
    n enqueue --channel a --to b --body x
    expect 78
    contains "$err" "timezone"
  done
}

@test "a template must render now" {
  mkdir t
  printf 'subject = "Hi {{name}}"\nbody = "Dear {{name}}"\n' > t/hello.toml
  config=t.toml
  printf '[templates]\ndirectory = "t"\n' > t.toml
  n enqueue --channel a --to b --template hello --var name=Ann
  expect 0
  n enqueue --channel a --to b --template hello
  expect 65
  contains "$err" name
  n enqueue --channel a --to b --template helo --var name=Ann
  expect 65
  contains "$err" helo
  contains "$err" "hint: "
  for broken in 'body = "Dear {{name"' 'boddy = "Dear {{name}}"' 'body = {{'; do
    echo "$broken" > t/bad.toml
    n enqueue --channel a --to b --template bad --var name=Ann
    expect 65
    contains "$err" "--template: "
    contains "$err" "t/bad.toml"
    contains "$err" "hint: "
    n enqueue --channel a --to b --template bad --var name=Ann --json
    [ "$(json "$err" '(j["error"]["code"], j["error"]["field"])')" = "('bad_input', 'template')" ]
  done
  n enqueue --channel a --to b --template hello --var name=Ann # one broken file stops nobody else
  expect 0
  config=empty.toml
  n enqueue --channel a --to b --template hello --var name=Ann
  expect 65
}

@test "a channel that is not configured is a warning, not a refusal" {
  config=c.toml
  printf 'environment = "x"\n[channels.sms]\ndriver = "file"\npath = "out"\n' > c.toml
  n enqueue --channel smss --to b --body x
  expect 0
  contains "$err" 'no channel smss is configured'
  contains "$err" 'did you mean "sms"?'
  n -q enqueue --channel smss --to b --body x
  [ -z "$err" ]
  n enqueue --channel sms --to b --body x
  [ -z "$err" ]
}

@test "accepting needs no secret to be readable" {
  config=c.toml
  printf 'environment = "x"\n[channels.ops]\ndriver = "webhook"\nurl = { file = "/nonexistent/secret" }\n' > c.toml
  n enqueue --channel ops --to b --body x
  expect 0
}

# --- streams

lines() {  # lines N: N good lines with keys
  for ((i = 1; i <= $1; i++)); do echo "{\"channel\":\"sms\",\"to\":\"+82$i\",\"key\":\"k$i\",\"body\":\"text $i\"}"; done
}

@test "jsonl: a stream is taken silently, and a rerun adds nothing" {
  lines 2500 > in.jsonl
  n enqueue --jsonl in.jsonl
  expect 0
  [ -z "$out$err" ]
  [ "$(count)" = 2500 ]
  n enqueue --jsonl in.jsonl --json
  expect 0
  [ "$(json "$(tail -1 out.txt)" 'j["summary"]')" = "{'lines': 2500, 'created': 0, 'existing': 2500, 'conflict': 0, 'rejected': 0}" ]
  [ "$(wc -l < out.txt)" -eq 2501 ]
  [ "$(json "$(head -1 out.txt)" '(j["line"], j["key"], j["created"])')" = "(1, 'k1', False)" ]
}

@test "jsonl: bad lines are named and kept aside, the rest is taken" {
  {
    lines 3
    echo 'not json'
    echo '{"channel":"sms","to":"x","body":"y","colour":"red"}'
    echo '{"channel":"sms","body":"nobody"}'
    echo '{"channel":"sms","to":"+82","key":"last","body":"z"}'
  } > in.jsonl
  n enqueue --jsonl in.jsonl --rejects bad.jsonl
  expect 1
  grep -q '^in.jsonl:4: ' err.txt
  grep -q '^in.jsonl:5: colour: ' err.txt
  grep -q '^in.jsonl:6: to: ' err.txt
  [ "$(count)" = 4 ]
  sed -n 4,6p in.jsonl | diff bad.jsonl -
  n enqueue --jsonl bad.jsonl --rejects bad.jsonl
  expect 64
  [ "$(wc -l < bad.jsonl)" -eq 3 ]
}

@test "jsonl: other content under a key is a conflict of that line" {
  lines 2 > in.jsonl
  n enqueue --jsonl in.jsonl
  sed -i 's/text 2/other/' in.jsonl
  n enqueue --jsonl in.jsonl --json --rejects bad.jsonl
  expect 1
  [ "$(json "$(sed -n 2p out.txt)" 'j["error"]["code"]')" = conflict ]
  [ "$(json "$(tail -1 out.txt)" 'j["summary"]["conflict"]')" = 1 ]
  [ "$(wc -l < bad.jsonl)" -eq 1 ]
}

@test "jsonl: --atomic takes all or nothing" {
  { lines 50; echo '{"broken'; } > in.jsonl
  n enqueue --jsonl in.jsonl --atomic
  expect 1
  contains "$err" "in.jsonl:51: "
  [ "$(count)" = 0 ]
  head -50 in.jsonl > good.jsonl
  "$NOTIFYCTL" --config empty.toml enqueue --jsonl - --atomic < good.jsonl
  [ "$(count)" = 50 ]
  [ -z "$(find . -name 'notifyctl-*')" ]
}

@test "F61: BOM, CRLF, blank lines, no last line end" {
  printf '\xef\xbb\xbf{"channel":"a","to":"1","body":"x"}\r\n\r\n   \n{"channel":"a","to":"2","body":"x"}' > in.jsonl
  n enqueue --jsonl in.jsonl
  expect 0
  [ "$(count)" = 2 ]
  printf '{"channel":"a","to":"3","body":"x"}\n{"to":"a' > half.jsonl
  n enqueue --jsonl half.jsonl
  expect 1
  contains "$err" "half.jsonl:2: "
  [ "$(count)" = 3 ]
  : > nothing.jsonl
  n enqueue --jsonl nothing.jsonl
  expect 0
}

@test "F61: UTF-16 is named as such" {
  lines 1 | iconv -f UTF-8 -t UTF-16LE > in.jsonl
  n enqueue --jsonl in.jsonl
  expect 65
  contains "$err" "UTF-16"
}

@test "F61: while the input pauses, lines are taken and nothing is locked" {
  mkfifo pipe
  "$NOTIFYCTL" --config empty.toml enqueue --jsonl - < pipe > /dev/null 2> err.txt &
  pid=$!
  exec 7> pipe
  lines 3 >&7
  for _ in $(seq 100); do
    [ -e notify.db ] && [ "$(count 2> /dev/null)" = 3 ] && break
    sleep 0.05
  done
  [ "$(count)" = 3 ]
  # Somebody else can write while that process waits for more.
  sqlite3 -cmd '.timeout 0' notify.db "BEGIN IMMEDIATE; COMMIT"
  n enqueue --channel a --to b --body x
  expect 0
  printf '{"channel":"a","to":"end","body":"x"}' >&7
  exec 7>&-
  wait "$pid"
  [ "$(count)" = 5 ]
}

@test "jsonl: missing input and a wrong place for refused lines are told before anything is taken" {
  n enqueue --jsonl missing.jsonl
  [ "$status" -ne 0 ]
  contains "$err" missing.jsonl
  lines 1 > in.jsonl
  n enqueue --jsonl in.jsonl --rejects /nonexistent/bad.jsonl
  expect 73
  [ ! -e notify.db ] || [ "$(count)" = 0 ]
}

@test "F23: a full disk is said, and nothing that is not durable is acknowledged" {
  [ "$(id -u)" -eq 0 ] || skip "mounting needs root"
  mkdir full
  mount -t tmpfs -o size=400k none full 2> /dev/null || skip "cannot mount a tmpfs here"
  status=0
  export NOTIFYCTL_DB=$PWD/full/notify.db
  n init
  if [ "$status" -eq 0 ]; then
    for i in $(seq 200); do
      n enqueue --channel a --to b --key "k$i" --body "$(head -c 5000 /dev/zero | tr '\0' x)"
      [ "$status" -eq 0 ] || break
      accepted=$i
    done
    expect 74
    contains "$err" "notifyctl: "
    [ -z "$out" ]
    rows=$(count)
    [ "$rows" = "$accepted" ]
  fi
  umount full
}

# A configuration with one channel that works and one that refuses for good.
two_channels() {
  config=two.toml
  cat > "$config" << EOF
environment = "production"
[channels.good]
driver = "file"
path = "$PWD/sent.jsonl"
[channels.bad]
driver = "exec"
command = ["/bin/sh", "-c", "cat > /dev/null; exit 65"]
EOF
  n init
  "$NOTIFYCTL" --config "$config" work 2> worker.txt &
  worker=$!
}

teardown() {
  if [ -n "${worker:-}" ]; then
    kill "$worker" 2> /dev/null || true
    wait "$worker" || true
  fi
}

@test "enqueue --wait --json tells the end, not the beginning" {
  two_channels
  n enqueue --channel good --to a --body x --key k1 --wait --json
  expect 0
  [ "$(wc -l < out.txt)" -eq 1 ]
  [ "$(json "$out" '(j["status"], j["key"], j["created"])')" = "('SENT', 'k1', True)" ]
  [ -z "$err" ]
  n enqueue --channel bad --to a --body x --wait --json
  expect 1
  [ "$(json "$out" 'j["status"]')" = FAILED ]
  contains "$(json "$out" 'j["reason"]')" "65"
  [ "$(json "$err" '(j["error"]["code"], j["error"]["exit"])')" = "('partial', 1)" ]
  contains "$(json "$err" 'j["error"]["message"]')" FAILED
  n enqueue --channel bad --to a --body x --wait
  expect 1
  contains "$out" notification-outbox-
  contains "$err" "not sent: FAILED"
  n enqueue --channel good --to a --body x --not-before +1h --wait=100ms --json
  expect 75
  [ "$(json "$out" 'j["status"]')" = PENDING ]
  [ "$(json "$err" 'j["error"]["code"]')" = timeout ]
}

@test "a closed standard input is an error, not an empty one" {
  for words in "--jsonl -" "--jsonl - --atomic" "--channel a --to b --body-file -"; do
    status=0
    # shellcheck disable=SC2086
    "$NOTIFYCTL" --config empty.toml enqueue $words <&- > out.txt 2> err.txt || status=$?
    err=$(cat err.txt)
    expect 74
    contains "$err" "closed"
    contains "$err" "hint: "
  done
}

@test "what is wrong comes with what to do" {
  printf '{"channel":"a","to":"b","body":"x"} z\n' > rubbish.jsonl
  n enqueue --jsonl rubbish.jsonl
  expect 1
  contains "$err" "byte 37"
  contains "$err" "something follows"
  for words in "--subject" "--channel a --to b --body x --body-file y" "--channel a --to b --var x" "--jsonl nope" \
    "--channel a --to b --data {" "--channel a --to b --body x --expires 2020-01-01T00:00:00Z" \
    "--channel a --to b --body x --not-before 9999-01-01T00:00:00Z" "--channel a --to b --body x --priority 10" \
    "--channel a --to b --body x --not-before +2h --expires +1h" "--body x surplus" "--rejects x" "--atomic"; do
    # shellcheck disable=SC2086
    n enqueue $words
    [ "$status" -ne 0 ]
    contains "$err" "hint: "
  done
  n enqueue --channel a --to $'b\x01' --body x
  contains "$err" "hint: "
  n enqueue --channel a --to b --body x --key "$(printf 'k%.0s' $(seq 600))"
  contains "$err" "hint: "
}

@test "another content under a key names both fingerprints: short for people, whole for programs" {
  n enqueue --channel a --to b --body one --key k
  n enqueue --channel a --to b --body two --key k
  expect 4
  [ "$(grep -oE '[0-9a-f]{12}…' err.txt | sort -u | wc -l)" -eq 2 ]
  n enqueue --channel a --to b --body two --key k --json
  expect 4
  [ "$(json "$err" '(len(j["error"]["existing_fingerprint"]), len(j["error"]["given_fingerprint"]))')" = "(64, 64)" ]
}

@test "a line in conflict names both fingerprints to programs, and a pruned message is called pruned" {
  printf 'environment = "production"\n[channels.f]\ndriver = "file"\npath = "%s/out"\n' "$PWD" > c.toml
  chmod 600 c.toml
  config=c.toml
  n enqueue --channel f --to a --body x --key k
  id=$out
  echo '{"channel":"f","to":"a","body":"y","key":"k"}' > lines
  n --json enqueue --jsonl lines
  expect 1
  line=$(head -n 1 out.txt)
  [ "$(json "$line" 'len(j["error"]["existing_fingerprint"]), len(j["error"]["given_fingerprint"]), j["error"]["message_id"]')" = "(64, 64, '$id')" ]
  n show nonesuch
  lacks "$err" pruned

  n relay
  n work --drain
  sleep 2
  n prune --older-than 1s
  expect 0
  for name in k "$id"; do
    n show "$name"
    expect 65
    contains "$err" "has been pruned"
  done
  n enqueue --channel f --to a --body y --key k
  expect 4
  contains "$err" "pruned"
  lacks "$err" "notifyctl show"
}

@test "enqueue --wait calls an unknown outcome unknown, and warns of a second message" {
  printf 'environment = "production"\n[channels.lost]\ndriver = "exec"\ncommand = ["/bin/sh", "-c", "exit 1"]\n' > c.toml
  chmod 600 c.toml
  config=c.toml
  n init
  "$NOTIFYCTL" --config c.toml work 2> worker.txt &
  worker=$!
  n enqueue --channel lost --to a --body x --wait
  expect 1
  contains "$err" "the outcome is unknown: it may have been sent"
  lacks "$err" "was not sent"
  contains "$err" "hint: do not send it again by hand"
  contains "$err" "notifyctl show $out"
  n enqueue --channel lost --to a --body x --wait --json
  expect 1
  [ "$(json "$out" 'j["status"]')" = ERROR ]
  contains "$(json "$err" 'j["error"]["message"]')" "it may have been sent"
}

@test "enqueue --now --json tells where the message is then" {
  printf 'environment = "production"\n[channels.f]\ndriver = "file"\npath = "out"\n' > c.toml
  config=c.toml
  n enqueue --channel f --to a --body x --now --json
  expect 0
  [ "$(wc -l < out.txt)" -eq 1 ]
  [ "$(json "$out" '(j["status"], j["created"])')" = "('PUBLISHED', True)" ]
  n enqueue --channel f --to a --body x --not-before +1h --now --json
  [ "$(json "$out" 'j["status"]')" = PENDING ]
}

@test "what a text is not is said" {
  n enqueue --channel a --to b --body -
  expect 0
  contains "$err" 'warning: the text is "-"'
  contains "$err" "hint: --body-file -"
  mkdir directory
  n enqueue --channel a --to b --body-file directory
  expect 65
  contains "$err" "it is a directory"
  contains "$err" "hint: "
  head -c 1100000 /dev/zero | tr '\0' x > large
  n enqueue --channel a --to b --body-file large
  expect 65
  contains "$err" "hint: "
  n enqueue --channel a --to @ --body x
  expect 65
  contains "$err" "hint: "
  n enqueue --channel a --to b --data '{"a":1,"a":2}'
  expect 65
  contains "$err" 'the member "a" appears twice'
  contains "$err" "hint: leave one of them out"
}

@test "jsonl: lines that were refused are one error object at the end" {
  printf '{"channel":"a","to":"b","body":"x"}\n{"channel":"a"}\n' > in.jsonl
  n enqueue --jsonl in.jsonl --json
  expect 1
  [ "$(wc -l < err.txt)" -eq 1 ]
  [ "$(json "$err" '(j["error"]["code"], j["error"]["exit"], j["error"]["message"])')" = "('partial', 1, '1 of 2 lines were refused')" ]
  n enqueue --jsonl in.jsonl
  contains "$err" "hint: mend them"
  n enqueue --jsonl in.jsonl --atomic --json
  expect 1
  contains "$(json "$err" 'j["error"]["message"]')" "nothing was taken"
  n enqueue --jsonl in.jsonl --atomic
  contains "$err" "with --atomic nothing was taken"
  n enqueue --jsonl in.jsonl --rejects /nonexistent/bad.jsonl
  expect 73
  contains "$err" "hint: "
}

@test "jsonl: the member is named that is too deep or holds what is no UTF-8" {
  python3 - > in.jsonl <<'PY'
import sys
out = sys.stdout.buffer
out.write(b'{"channel":"a","to":"b","data":' + b'[' * 70 + b']' * 70 + b'}\n')
out.write(b'{"channel":"a","to":"b","body":"caf\xe9"}\n')
out.write(b'{"channel":"a","to":"b\x00","body":"x"}\n')
PY
  n enqueue --jsonl in.jsonl
  expect 1
  grep -q '^in.jsonl:1: data: nested deeper than 64 levels' err.txt
  grep -q '^in.jsonl:2: body: not valid UTF-8 at byte 36' err.txt
  grep -q '^in.jsonl:3: to: NUL byte at byte 23' err.txt
}
