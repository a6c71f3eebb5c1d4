#!/usr/bin/env bats
# The manual and the completions are made by the program itself: what is checked in must be what it makes.

load common
setup() { common_setup; }

@test "man/ is what the program makes" {
  mkdir new
  "$NOTIFYCTL" help --man-all new
  diff -r new "$root/man"
}

@test "completions/ is what the program makes" {
  "$NOTIFYCTL" completion bash | diff - "$root/completions/notifyctl.bash"
  "$NOTIFYCTL" completion zsh | diff - "$root/completions/_notifyctl"
  "$NOTIFYCTL" completion fish | diff - "$root/completions/notifyctl.fish"
}

@test "mandoc finds nothing to complain about" {
  command -v mandoc > /dev/null || skip "needs mandoc"
  mkdir -p tree/man1 tree/man5
  cp "$root"/man/*.1 tree/man1
  cp "$root"/man/*.5 tree/man5
  cd tree
  run mandoc -T lint -W style man1/*.1 man5/*.5
  # References are looked up among the installed pages, where ours need not be.
  complaints=$(grep -v 'referenced manual not found: Xr notifyctl' <<< "$output" || true)
  echo "$complaints"
  [ -z "$complaints" ]
}

@test "every reference leads to a page that exists" {
  sed -n 's/^\.Xr \([^ ]*\) \([0-9]\).*/\1.\2/p' "$root"/man/* | sort -u | while read -r page; do
    [ -e "$root/man/$page" ] || { echo "no $page"; exit 1; }
  done
}

@test "every command has its page, and every page its command" {
  "$NOTIFYCTL" help | sed -n 's/^  \([a-z]\+\)  *[a-z].*/\1/p' | sort > commands
  ls "$root"/man/notifyctl-*.1 | sed 's/.*notifyctl-//; s/\.1$//' | sort | diff commands -
}

@test "a page renders" {
  command -v mandoc > /dev/null || skip "needs mandoc"
  mandoc -T utf8 "$root/man/notifyctl-enqueue.1" | col -b > page.txt
  grep -q -- '--channel NAME' page.txt
  grep -q 'notifyctl enqueue --channel sms' page.txt
  mandoc -T utf8 "$root/man/notifyctl.toml.5" | col -b > page.txt
  grep -q 'confirm_timeout' page.txt
}

@test "the completion of bash knows commands, options, values and files" {
  cat > try.bash <<'SH'
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
_notifyctl
printf '%s\n' "${COMPREPLY[@]}"
SH
  complete() { bash try.bash "$root/completions/notifyctl.bash" "$@" 2>&1; }
  contains "$(complete notifyctl en)" enqueue
  contains "$(complete notifyctl --db x.db st)" status
  contains "$(complete notifyctl enqueue --chan)" --channel
  contains "$(complete notifyctl enqueue --category '')" advertising
  contains "$(complete notifyctl list '')" parked
  contains "$(complete notifyctl completion '')" fish
  contains "$(complete notifyctl --color '')" never
  contains "$(complete notifyctl --config emp)" empty.toml
  [ -z "$(complete notifyctl enqueue --to '')" ]
}

@test "the completions are sound scripts" {
  bash -n "$root/completions/notifyctl.bash"
  ! command -v shellcheck > /dev/null || shellcheck -s bash -e SC2207 "$root/completions/notifyctl.bash"
  ! command -v zsh > /dev/null || zsh -n "$root/completions/_notifyctl"
  ! command -v fish > /dev/null || fish -n "$root/completions/notifyctl.fish"
}

@test "the completion of fish knows commands, options and values" {
  command -v fish > /dev/null || skip "needs fish"
  try() { fish --no-config -c "source $root/completions/notifyctl.fish; complete -C '$1'"; }
  contains "$(try 'notifyctl enq')" enqueue
  contains "$(try 'notifyctl enqueue --chan')" --channel
  contains "$(try 'notifyctl enqueue --category ')" advertising
  contains "$(try 'notifyctl list ')" parked
  contains "$(try 'notifyctl status --db ')" empty.toml
}

@test "every example in the help is understood" {
  for command in enqueue relay work park replay cancel prune status list show init check; do
    "$NOTIFYCTL" help "$command" | sed -n '/^Examples:/,/^Exit status:/s/^    //p' |
      sed -e ':a' -e '/\\$/N; s/\\\n *//; ta' | grep -o 'notifyctl [^|>]*' |
      while read -r line; do
        # Only parsed: --help keeps it from running, and comes last so that every option before it is seen.
        eval "set -- ${line#notifyctl }"
        "$NOTIFYCTL" "$@" --help > /dev/null || { echo "not understood: $line"; exit 1; }
        for word in "$@"; do
          case $word in --*) "$NOTIFYCTL" help "$command" | grep -q -- "${word%%=*}" || { echo "$line: $word"; exit 1; } ;; esac
        done
      done
  done
}

@test "every JSON member that docs/json.md promises for status and list is there" {
  n enqueue --channel a --to b --body x
  n status --json
  for member in $(sed -n '/^## status/,/^## list/p' "$root/docs/json.md" | sed -n 's/^    [{ ]"\([a-z_]*\)":.*/\1/p'); do
    json "$out" "j['$member']"
  done
  n list outbox --json
  for member in $(sed -n '/^## list/,/^For alerts/p' "$root/docs/json.md" | grep -oE '"[a-z_]+":' | tr -d '":'); do
    contains "$out" "\"$member\""
  done
}
