#!/usr/bin/env bash
# Runs test suites that are already built and sums them up.
#
#   scripts/run-tests.sh [--build DIR] SUITE...
#
#   unit contract sim e2e   GoogleTest programs of DIR (default build/release-static) and tests/SUITE/*.bats
#   lint docs               the checks of scripts/lint.sh and scripts/check-docs.sh, one test each
#
# Prints one line a job, the whole output of what failed, and as the last line "N passed, N failed". Exits 1 if anything
# failed or nothing ran. NOTIFYCTL_TEST_JOBS jobs (default: one a core) run at once; reads nothing from stdin.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
build=build/release-static
[ "${1:-}" != --build ] || { build=$2; shift 2; }
[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 64; }
jobs=${NOTIFYCTL_TEST_JOBS:-$(nproc)}

# The programs under test, for every suite; the caller may name others.
while IFS='=' read -r name value; do
  [ -n "${!name:-}" ] || export "$name=$value"
done < <(cat "$build/test.env" 2> /dev/null)
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export GTEST_COLOR=no TERM=dumb

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
trap 'trap - TERM; kill -TERM 0; exit 130' INT TERM

# --- one job: a kind that knows how to count, a name, a command -------------------------------------------------------

count() { grep -c -- "$1" "$2"; }

run_job() {   # KIND NAME COMMAND…; writes $results/NAME.{out,sum}
  local kind=$1 name=$2 out=$results/${2//\//-} code start=$EPOCHREALTIME passed=0 failed=0 skipped=0
  shift 2
  { "$@" > "$out.out" 2>&1 < /dev/null; } 2> /dev/null   # the second: no "Segmentation fault" from the shell itself
  code=$?
  case $kind in
    gtest)
      passed=$(count '\[       OK \] ' "$out.out")
      failed=$(count '\[  FAILED  \] .* ([0-9]* ms)$' "$out.out")
      skipped=$(count '\[  SKIPPED \] .* ([0-9]* ms)$' "$out.out") ;;
    bats)
      skipped=$(count '^ok .* # skip' "$out.out")
      passed=$(($(count '^ok ' "$out.out") - skipped))
      failed=$(count '^not ok ' "$out.out") ;;
    check) [ $code != 0 ] || passed=1 ;;
  esac
  # Died before it could say so: counts as one failure.
  [ $code = 0 ] || { [ "$failed" != 0 ] && [ $code -lt 128 ]; } || failed=$((failed + 1))
  echo "$passed $failed $skipped" > "$out.sum"

  local seconds=$(((${EPOCHREALTIME/./} - ${start/./}) / 100000))
  {
    printf '%-28s %5d passed %3d failed' "$name" "$passed" "$failed"
    [ "$skipped" = 0 ] || printf ' %3d skipped' "$skipped"
    printf '  %d.%d s\n' $((seconds / 10)) $((seconds % 10))
    [ "$failed" = 0 ] || report "$kind" "$code" "$out.out"
    case $kind in
      gtest) grep -B 3 '\[  SKIPPED \] .* ([0-9]* ms)$' "$out.out" | grep -v '^\[ \|^--\|^$' ;;
      bats) grep '^ok .* # skip' "$out.out" ;;
    esac | sed 's/^/    skipped: /'
  } > "$out.report"
  flock "$results/.terminal" cat "$out.report"
}

report() {   # KIND CODE OUTPUT: what failed, without what passed
  case $1 in
    gtest) awk '/\[ RUN      \]/ { text = "" } { text = text $0 "\n" }
                /\[  FAILED  \] .* \([0-9]+ ms\)$/ { printf "%s", text } /\[       OK \]/ { text = "" }
                END { if (text ~ /\[ RUN      \]/ && text !~ /\[  (FAILED|SKIPPED) /) printf "%s", text }' "$3" ;;
    bats) awk '/^(not )?ok / { show = /^not/ } show || !/^(ok|not|#|1\.\.)/' "$3" ;;
    check) tail -n 200 "$3" ;;
  esac | sed 's/^/    /'
  [ "$2" -lt 128 ] || echo "    died of signal $(kill -l "$2")"
}

# --- the jobs of the suites -------------------------------------------------------------------------------------------

start() {     # runs a job in the background, at most $jobs at once
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  run_job "$@" &
}

gtest() {     # SUITE PROGRAM: in as many shards as there are jobs
  local shard
  for ((shard = 0; shard < jobs; shard++)); do
    start gtest "$1 $((shard + 1))/$jobs" env GTEST_TOTAL_SHARDS="$jobs" GTEST_SHARD_INDEX="$shard" "$2"
  done
}

: > "$results/.terminal"
for suite; do
  case $suite in
    lint) checks=scripts/lint.sh ;;
    docs) checks=scripts/check-docs.sh ;;
    *) checks= ;;
  esac
  if [ -n "$checks" ]; then
    for check in $("$checks" --list); do start check "$suite $check" "$checks" "$check"; done
    continue
  fi
  program=$(find "$build" -name "${suite}_tests" -type f -perm -u+x | head -n 1)
  [ -z "$program" ] || gtest "$suite" "$program"
  for file in tests/"$suite"/*.bats; do
    [ ! -e "$file" ] || start bats "${file#tests/}" bats --tap "$file"
  done
done
wait

# --- the sum ----------------------------------------------------------------------------------------------------------

cat "$results"/*.sum 2> /dev/null | awk '
  { passed += $1; failed += $2; skipped += $3 }
  END {
    if (skipped) print skipped " skipped (see above)"
    if (passed + failed == 0) failed = 1
    print passed + 0 " passed, " failed + 0 " failed"
    exit failed != 0
  }'
