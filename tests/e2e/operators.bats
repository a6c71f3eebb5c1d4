#!/usr/bin/env bats
# park, replay, cancel and prune on the command line: what is asked, what is refused, what is said.

load common
setup() {
  common_setup
  cat > c.toml <<'TOML'
environment = "production"
[channels.sms]
driver = "exec"
command = ["/bin/sh", "-c", "exit 65"]
TOML
  chmod 600 c.toml
  config=c.toml
}

# Two messages that were refused for good.
refuse_two() {
  n enqueue --channel sms --to +821012345678 --key k1 --kind GRADE --body hello
  id=$out
  n enqueue --channel sms --to +821012345678 --key k2 --kind BILL --body hello
  n relay
  n work --drain
  expect 0
}

# Runs the program on a terminal and types the answer; prints what it showed.
on_terminal() {  # on_terminal ANSWER WORDS…
  python3 - "$@" <<'PY'
import os, pty, sys
answer, words = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execv(os.environ["NOTIFYCTL"], ["notifyctl", "--config", "c.toml", *words])
seen = b""
while b"[y/N]" not in seen:
    seen += os.read(fd, 1024)
os.write(fd, answer.encode() + b"\n")
try:
    while part := os.read(fd, 1024):
        seen += part
except OSError:
    pass
print(seen.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
}

@test "replay asks on a terminal and takes no for an answer" {
  refuse_two
  run on_terminal n replay --parked
  [ "$status" -eq 1 ]
  contains "$output" "replay 2 messages?"
  contains "$output" "nothing was replayed"
  run on_terminal y replay --parked
  [ "$status" -eq 0 ]
  contains "$output" "replayed 2 messages"
}

@test "replay without a terminal needs --yes and is silent then" {
  refuse_two
  n replay --parked < /dev/null
  expect 64
  contains "$err" "--yes"
  n replay --parked --yes
  expect 0
  [ -z "$out$err" ]
}

@test "replay needs to know which messages" {
  refuse_two
  for words in "replay" "replay --parked --failed" "replay k1 --parked" "replay k1 --channel sms" "replay --error --yes" \
    "replay k1 --yes --rate fast" "replay k1 --yes --expires never" "replay k1 --yes --expires 2020-01-01T00:00:00Z" \
    "replay k1 --yes --set body" "replay k1 --yes --set bdy=x" "replay k1 --yes --patch {"; do
    # shellcheck disable=SC2086
    n $words
    expect 64
  done
}

@test "a dry run shows the first ten, masked, and changes nothing" {
  refuse_two
  n replay --parked --kind GRADE --dry-run
  expect 0
  contains "$out" "would replay 1 of 1 message"
  contains "$out" "$id"
  lacks "$out" 12345678
  n replay --parked --dry-run --json
  [ "$(json "$out" '(j["dry_run"], j["selected"], j["replayed"], len(j["messages"]))')" = "(True, 2, 2, 2)" ]
  n replay k1 k2 nobody --dry-run --json
  [ "$(json "$out" '(j["selected"], j["replayed"], j["refused"])')" = "(3, 2, 1)" ]
  n status --json
  [ "$(json "$out" 'j["parked"]["total"]')" = 2 ]
}

@test "what is refused is named with its reason" {
  refuse_two
  n replay k1 nobody --yes
  expect 1
  contains "$err" "nobody: no message has this id or key"
  n replay k1 --yes --json
  expect 0
  [ "$(json "$out" '(j["replayed"], j["unchanged"], j["refused"])')" = "(0, 1, 0)" ]
}

@test "filters choose" {
  refuse_two
  n replay --failed --kind BILL --yes --json
  [ "$(json "$out" '(j["selected"], j["replayed"])')" = "(1, 1)" ]
  n replay --parked --key-prefix k --limit 5 --yes --json
  [ "$(json "$out" '(j["selected"], j["replayed"])')" = "(1, 1)" ]
  n replay --parked --yes --json
  [ "$(json "$out" 'j["selected"]')" = 0 ]
  expect 0
}

@test "park lists, shows, adds and drops" {
  refuse_two
  n park
  expect 0
  contains "$out" "$id"
  n park list --kind BILL --json
  [ "$(wc -l < out.txt)" -eq 1 ]
  n park show k1
  expect 0
  contains "$out" "failed: exit-65"
  n park drop k1 --reason "term is over"
  expect 0
  n park show k1
  expect 65
  n show k1
  contains "$out" "dropped: was parked (exit-65); term is over [park]"
  n enqueue --channel sms --to x --key k3 --body hello --now
  n park add k3 --reason wrong-text
  expect 0
  n park --reason wrong-text
  contains "$out" k3
  n park add k3
  expect 64
  n park add --reason x
  expect 64
  n park add k2 --reason x
  expect 1
}

@test "cancel stops what is waiting, and says what is too late" {
  refuse_two
  n enqueue --channel sms --to x --key c:1 --body hello
  n enqueue --channel sms --to x --key c:2 --body hello
  n cancel --key-prefix c: --dry-run
  contains "$out" "would cancel 2 of 2 messages"
  n cancel --key-prefix c: --why "wrong term"
  expect 0
  [ -z "$out$err" ]
  n show c:1
  contains "$out" "cancelled: wrong term [cancel]"
  n cancel k1
  expect 1
  contains "$err" "too late"
  n cancel
  expect 64
  n status
  contains "$out" "adds up"
}

@test "prune keeps the keys" {
  refuse_two
  n park drop k1 k2 --reason over
  sleep 2
  n prune --older-than 1s --dry-run
  contains "$out" "would remove 2 messages"
  n prune --older-than 1s
  expect 0
  [ -z "$out$err" ]
  n status
  contains "$out" "adds up: 0 enqueued"
  n enqueue --channel sms --to +821012345678 --key k1 --kind GRADE --body hello
  expect 0
  [ "$out" = "$id" ]
  n enqueue --channel sms --to +821012345678 --key k1 --kind GRADE --body other
  expect 4
  n prune
  expect 64
}

@test "prune --scrub-after empties content and keeps the rest" {
  refuse_two
  n park drop k1 k2 --reason over
  sleep 2
  n prune --scrub-after 1s --json
  [ "$(json "$out" 'j["scrubbed"]')" = 2 ]
  n show k1 --reveal
  lacks "$out" hello
  lacks "$out" 12345678
  n replay k1 --yes
  expect 1
  contains "$err" "scrubbed"
  n enqueue --channel sms --to +821012345678 --key k1 --kind GRADE --body hello
  expect 0
  [ "$out" = "$id" ]
}

@test "what park drop has closed stays closed" {
  refuse_two
  n enqueue --channel sms --to x --key k3 --body hello --now
  n park add k3 --reason wrong-text
  n park drop k1 k3 --reason "term is over"
  expect 0
  n replay --failed --yes --json
  expect 0
  [ "$(json "$out" '(j["selected"], j["replayed"])')" = "(1, 1)" ] # k2
  for selection in --skipped --parked --failed; do
    n replay $selection --yes --json
    expect 0
    [ "$(json "$out" 'j["selected"]')" = 0 ]
  done
  n replay k1 k3 --yes
  expect 1
  [ "$(grep -c "it was dropped, for good" err.txt)" = 2 ]
  contains "$err" "enqueue it again under another key"
  [ "$(sql "SELECT group_concat(status) FROM notification_inbox WHERE message_id IN (SELECT message_id FROM notification_event WHERE name = 'dropped')")" = "FAILED,SKIPPED" ]
  [ "$(sql "SELECT count(*) FROM notification_outbox WHERE status = 'PENDING'")" = 1 ]
  n park drop k1 k3 --reason again --json
  expect 0
  [ "$(json "$out" 'j["unchanged"]')" = 2 ]
  n cancel k2
  n replay k2 --yes # what was cancelled can be taken back
  expect 0
}

@test "with --json what was refused is an error object, too, and in text it comes with a hint" {
  refuse_two
  while read -r words; do
    # shellcheck disable=SC2086
    n --json $words
    expect 1
    [ "$(wc -l < err.txt)" -eq 1 ]
    [ "$(json "$err" '(j["error"]["code"], j["error"]["exit"])')" = "('partial', 1)" ]
    [ "$(json "$out" 'j["refused"]')" -ge 1 ]
    # shellcheck disable=SC2086
    n $words
    expect 1
    contains "$err" "hint: "
  done <<'WORDS'
replay nobody --yes
cancel nobody
cancel k1 nobody
park add nobody --reason x
park drop nobody --reason x
WORDS
  n --json cancel nobody1 nobody2
  [ "$(json "$err" 'j["error"]["message"]')" = "2 of 2 messages were refused" ]
  n --json cancel nobody
  [ "$(json "$err" 'j["error"]["message"]')" = "nobody: no message has this id or key" ]
}

@test "park add of what is being sent is busy in JSON, too" {
  sed -i 's/exit 65/sleep 5/' c.toml
  n enqueue --channel sms --to x --key k --body x --now
  "$NOTIFYCTL" --config c.toml work --drain 2> worker.txt &
  worker=$!
  for _ in $(seq 100); do
    [ "$(sql "SELECT count(*) FROM notification_inbox WHERE status = 'SENDING'")" = 0 ] || break
    sleep 0.05
  done
  n --json park add k --reason x
  expect 75
  [ "$(json "$err" '(j["error"]["code"], j["error"]["exit"])')" = "('busy', 75)" ]
  wait "$worker" || true
}

@test "which messages are meant is said once, and that there are none is no success" {
  n init
  n cancel k1 --key-prefix x
  expect 64
  contains "$err" "only one of them"
  n cancel
  expect 64
  contains "$err" "which messages?"
  for words in "replay - --yes" "cancel -" "park drop - --reason x"; do
    # shellcheck disable=SC2086
    n $words < /dev/null
    expect 65
    contains "$err" "standard input has no ids"
  done
}

@test "a look at what is ERROR needs no acceptance" {
  sed -i 's/exit 65/exit 1/' c.toml
  refuse_two
  n replay --error --yes
  expect 64
  n replay --error --dry-run
  expect 0
  contains "$out" "would replay 2 of 2 messages"
  contains "$err" "--accept-duplicates"
  n status --json
  [ "$(json "$out" 'j["inbox"]["ERROR"]')" = 2 ]
}

@test "an expiry that is over is told in the configured zone" {
  sed -i '1i timezone = "Asia/Seoul"' c.toml
  n enqueue --channel sms --to x --key k --body x --expires +1s
  sleep 1.1
  n relay
  n replay k --yes
  expect 1
  contains "$err" "it expired at "
  contains "$err" "+09:00"
}

@test "a broadcast that is stopped before it is fanned out says whom that spares" {
  printf 'a\nb\nc\n' > list
  n enqueue --channel sms --broadcast all --recipients list --body x
  n cancel --broadcast all --dry-run
  expect 0
  contains "$out" "3 recipients of 3 had none yet"
  n cancel --broadcast all --dry-run --json
  [ "$(json "$out" '(j["dry_run"], j["broadcast"]["stopped"], j["broadcast"]["status"])')" = "(True, 3, 'OPEN')" ]
  n cancel --broadcast all --json
  expect 0
  [ "$(json "$out" '(j["cancelled"], j["broadcast"]["key"], j["broadcast"]["stopped"], j["broadcast"]["status"])')" = \
    "(0, 'all', 3, 'CANCELLED')" ]
  n cancel --broadcast all --json
  [ "$(json "$out" 'j["broadcast"]["stopped"]')" = 0 ]
  n relay
  [ "$(sql "SELECT count(*) FROM notification_outbox")" = 0 ]
}

@test "a broadcast that is refused leaves no list behind" {
  printf 'a\nb\n' > list
  n enqueue --channel sms --broadcast all --recipients list --body x
  printf 'c\n' >> list
  n enqueue --channel sms --broadcast all --recipients list --body x
  expect 4
  [ "$(find notify.db-lists -type f | wc -l)" -eq 1 ]
  n relay
  n status --broadcast all --json
  [ "$(json "$out" '(j["status"], j["messages"])')" = "('DONE', 2)" ]
}
