#!/usr/bin/env bats
# The command line as such: help, errors, output that cannot be written, odd surroundings.

load common
setup() { common_setup; }

@test "without a command the overview goes to standard error, exit 64" {
  n
  expect 64
  [ -z "$out" ]
  contains "$err" "Usage: notifyctl"
}

@test "every command has a help screen of at most 80 columns with examples" {
  n help
  expect 0
  for command in enqueue relay work status list show init check completion help; do
    contains "$out" "  $command "
    "$NOTIFYCTL" help "$command" > help.txt
    "$NOTIFYCTL" "$command" --help | diff help.txt -
    grep -q '^Examples:' help.txt
    grep -q '^Exit status:' help.txt
    [ "$(widest help.txt)" -le 80 ]
  done
}

@test "help fits a real terminal" {
  command -v script > /dev/null || skip "needs script(1)"
  for columns in 50 80 200; do
    # Examples are meant to be copied and stay as they are.
    script -qec "stty cols $columns; $NOTIFYCTL help enqueue" /dev/null < /dev/null | sed '/^Examples:/,/^Exit/d' > screen.txt
    limit=$((columns < 80 ? columns : 80))
    echo "columns $columns, widest $(widest screen.txt)"
    [ "$(widest screen.txt)" -le "$limit" ]
    [ "$(widest screen.txt)" -ge $((limit - 10)) ]
  done
}

@test "usage errors: exit 64, one line, a hint with what was probably meant" {
  n enqeue --channel x
  expect 64
  [ "$err" = $'notifyctl: unknown command enqeue\nhint: did you mean "enqueue"?' ]
  n enqueue --chanel x
  expect 64
  contains "$err" 'did you mean "--channel"?'
  n list outbux
  expect 64
  contains "$err" "one of: outbox queue inbox parked alerts"
  n status surplus
  expect 64
  n enqueue --priority
  expect 64
  n status --watch=never
  expect 64
}

@test "with --json an error is one object on standard error" {
  for words in "--json nonsense" "--json enqueue" "show nothing --json" "--db /nonexistent/x.db --json status"; do
    # shellcheck disable=SC2086
    n $words
    [ "$status" -ne 0 ]
    [ -z "$out" ]
    [ "$(wc -l < err.txt)" -eq 1 ]
    [ "$(json "$err" 'j["error"]["exit"]')" = "$status" ]
    [ "$(json "$err" 'sorted(j["error"])[:1] + [type(j["error"]["message"]).__name__]')" = "['code', 'str']" ]
  done
}

@test "--version names commit, libraries, channels and transports" {
  n --version
  expect 0
  for word in notifyctl SQLite libcurl OpenSSL nghttp2 c-ares webhook smtp exec file embedded; do contains "$out" "$word"; done
  n --version --json
  [ "$(json "$out" 'j["channels"]')" = "['apns', 'exec', 'fcm', 'file', 'http', 'ses', 'smtp', 'webhook', 'webpush']" ]
}

@test "flag wins over environment, environment over configuration" {
  config=c.toml
  echo 'database = "from-config.db"' > c.toml
  unset NOTIFYCTL_DB
  n enqueue --channel a --to b --body x
  expect 0
  [ -e from-config.db ]
  NOTIFYCTL_DB=$PWD/from-env.db n enqueue --channel a --to b --body x
  [ -e from-env.db ]
  NOTIFYCTL_DB=$PWD/other.db n --db from-flag.db enqueue --channel a --to b --body x
  [ -e from-flag.db ]
  [ ! -e other.db ]
}

@test "a configuration that is named must exist" {
  NOTIFYCTL_CONFIG=$PWD/missing.toml run "$NOTIFYCTL" status
  [ "$status" -eq 78 ]
  contains "$output" "missing.toml"
}

@test "output that cannot be written is exit 74, and an accepted message is named" {
  [ -e /dev/full ] || skip "no /dev/full"
  status=0
  "$NOTIFYCTL" help > /dev/full 2> err.txt || status=$?
  [ "$status" -eq 74 ]
  status=0
  "$NOTIFYCTL" --config empty.toml enqueue --channel a --to b --body x > /dev/full 2> err.txt || status=$?
  [ "$status" -eq 74 ]
  grep -q "notification-outbox-.*-1 is accepted, but" err.txt
  [ "$(sql 'SELECT count(*) FROM notification_outbox')" = 1 ]
}

@test "a reader that went away is no error" {
  for i in 1 2 3; do n enqueue --channel a --to b --body "$i"; done
  set -o pipefail
  "$NOTIFYCTL" --config empty.toml list outbox --json | head -1 > first.txt
  "$NOTIFYCTL" --config empty.toml help | true
  [ "$(wc -l < first.txt)" -eq 1 ]
}

@test "closed standard streams harm neither the run nor the database" {
  # Accepted each time, though the id cannot be printed.
  status=0
  "$NOTIFYCTL" --config empty.toml enqueue --channel a --to b --body x <&- >&- 2>&- || status=$?
  [ "$status" -eq 74 ]
  "$NOTIFYCTL" --config empty.toml enqueue --channel a --to b --body x >&- 2>&- || [ $? -eq 74 ]
  "$NOTIFYCTL" --config empty.toml status <&- >&- 2>&- || [ $? -eq 74 ]
  "$NOTIFYCTL" --config empty.toml relay <&- >&- 2>&- # prints nothing, so nothing is lost
  [ "$(sql 'SELECT count(*) FROM notification_outbox')" = 2 ]
  [ "$(sql 'PRAGMA integrity_check')" = ok ]
}

@test "runs with an empty environment, whatever the locale" {
  env -i "$NOTIFYCTL" --config "$PWD/empty.toml" --db "$PWD/a.db" enqueue --channel a --to b --body 한글 > id.txt
  [ -s id.txt ]
  LC_ALL=tr_TR.UTF-8 LANG=xx "$NOTIFYCTL" --config empty.toml --db a.db show "$(cat id.txt)" --reveal > show.txt
  grep -q 한글 show.txt
}

@test "without a home it says what is missing" {
  [ "$(id -u)" -ne 0 ] || skip "root has a database without a home"
  run env -i "$NOTIFYCTL" status
  [ "$status" -eq 78 ]
  contains "$output" "HOME"
}

@test "colours only when they are asked for or a terminal shows them" {
  n enqueue --channel a --to b --body x
  n status --color always
  lacks "$out" $'\e[31m'
  sql "UPDATE notification_counter SET value = value" 2> /dev/null || true
  n --color never status
  lacks "$out" $'\e'
  n status
  lacks "$out" $'\e'
}

@test "without a command, --json answers in JSON" {
  n --json
  expect 64
  [ "$(json "$err" 'j["error"]["code"]')" = usage ]
  for words in "help nope" "help enqueue nope" "help --man nope" "nope"; do
    # shellcheck disable=SC2086
    n --json $words
    [ "$status" -ne 0 ]
    json "$err" 'j["error"]["hint"]'
  done
}

@test "options that contradict each other are refused, with what to do" {
  n relay --watch --max-run 5s
  expect 64
  for words in list show completion "status surplus" "work --concurrency 0" "list outbox --limit x" "init --source BAD" \
    "relay --batch" "help enqueue nope" "enqueue --frob" "work --channel nope" "init --config=$PWD/no/where/c.toml"; do
    # shellcheck disable=SC2086
    n $words
    [ "$status" -ne 0 ]
    contains "$err" "hint: "
  done
  [ ! -e no ]
  n init
  config=missing.toml n status
  expect 78
  contains "$err" "hint: "
}

@test "what was asked for and cannot be printed is 74, in every command" {
  n enqueue --channel a --to b --body x
  for command in status "status --json" "list outbox" check version help "help enqueue" "completion bash" "--json help" \
    "enqueue --channel a --to b --body y" "--help"; do
    [ "$command" != version ] || command=--version
    # shellcheck disable=SC2086 # several words
    for to in /dev/full closed; do
      status=0
      if [ "$to" = closed ]; then
        "$NOTIFYCTL" --config empty.toml $command >&- 2> err.txt || status=$?
      else
        "$NOTIFYCTL" --config empty.toml $command > "$to" 2> err.txt || status=$?
      fi
      err=$(cat err.txt)
      out=$command
      expect 74
    done
  done
}

@test "help and completion print the same with --json" {
  for command in "help enqueue" help "completion fish"; do
    # shellcheck disable=SC2086 # several words
    diff <("$NOTIFYCTL" $command) <("$NOTIFYCTL" --json $command)
  done
  n --json help nonesuch
  expect 64
  [ "$(json "$err" 'j["error"]["code"]')" = usage ]
}

@test "each exit status is explained once" {
  for command in replay enqueue work check reconcile; do
    n help "$command"
    [ "$(sed -n '/^Exit status:/,$p' <<< "$out" | grep -cE '^ +64 ')" = 1 ]
  done
}
