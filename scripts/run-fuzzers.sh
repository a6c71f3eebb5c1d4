#!/usr/bin/env bash
# Runs every fuzzer of a built tree for some seconds, with the seeds in tests/fuzz/corpus/NAME; new inputs and crashes
# are kept below BUILD_DIR/corpus.
#
#   scripts/run-fuzzers.sh BUILD_DIR SECONDS
#   scripts/run-fuzzers.sh BUILD_DIR runs=N     N inputs each, the same ones every time, from the seeds alone
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$1 passed=0 failed=0
bound=("-max_total_time=$2")
[[ $2 != runs=* ]] || bound=("-$2" -seed=1)
for program in "$build"/fuzz/fuzz_*; do
  [ -x "$program" ] || continue
  name=${program##*/fuzz_}
  found=$build/corpus/$name
  [[ $2 != runs=* ]] || rm -rf "$found"
  mkdir -p "$found"
  seeds=(); [ ! -d "tests/fuzz/corpus/$name" ] || seeds=("tests/fuzz/corpus/$name")
  dictionary=(); [ ! -e "tests/fuzz/$name.dict" ] || dictionary=("-dict=tests/fuzz/$name.dict")
  if "$program" "${bound[@]}" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 "${dictionary[@]}" \
    -artifact_prefix="$found/crash-" "$found" "${seeds[@]}" > "$found.log" 2>&1 < /dev/null; then
    passed=$((passed + 1))
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$found.log") inputs"
  else
    failed=$((failed + 1))
    tail -n 60 "$found.log"
    echo "$name: FAILED, input kept in $build/corpus/"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
