#!/usr/bin/env bash
# Measures notifyctl against its references, side by side in one run, and says which targets are met.
#
#   make bench                      everything, at most 15 minutes
#   make bench QUICK=1              small numbers, at most 3 minutes: for trying, not for quoting
#   make bench ONLY="4 5"           only these targets (docs/performance.md)
#   NOTIFYCTL=build/notifyctl scripts/bench.sh DIRECTORY_OF_THE_BENCH_PROGRAMS
#
# The raw numbers go to build/bench/TIME.json. A target that is missed is no failure of the run; a message that is not
# delivered exactly once is.
set -euo pipefail
cd "$(dirname "$0")/.."

programs=${1:-build/release-static/bench}
notifyctl=${NOTIFYCTL:-build/notifyctl}
for program in "$notifyctl" "$programs"/{bare_claim_loop,bare_curl,bare_send_loop,latency_probe,time_processes}; do
  [ -x "$program" ] || { echo "bench: $program is missing: run make bench" >&2; exit 1; }
done
stub=$(find "$(dirname "$programs")" -name vendor_stub -type f -perm -u+x | head -n 1)
[ -n "$stub" ] || { echo "bench: vendor_stub is missing: run make bench" >&2; exit 1; }

export PYTHONDONTWRITEBYTECODE=1
exec python3 scripts/bench/main.py --programs "$programs" --notifyctl "$notifyctl" --stub "$stub" ${QUICK:+--quick} \
  ${ONLY:+--only "$ONLY"} --results build/bench
