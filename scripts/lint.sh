#!/usr/bin/env bash
# The checks that need no running program, one a call:
#
#   scripts/lint.sh format [--fix] | layers | includes | tidy | shell | static
#   scripts/lint.sh --list
set -euo pipefail
cd "$(dirname "$0")/.."

sources() { find src tests -name '*.cpp' -o -name '*.hpp' | sort; }

case ${1:-} in
  --list) echo layers includes format shell static tidy ;;
  format)
    if [ "${2:-}" = --fix ]; then
      sources | xargs clang-format -i
    else
      # One line a finding would be a page a file; the repair is "make format".
      findings=$(sources | xargs clang-format --dry-run --Werror 2>&1 | sed -n 's/^\([^ ]*:[0-9]*:[0-9]*: \).*/\1not formatted; run: make format/p' |
        awk -F: '!seen[$1]++' || true)
      [ -z "$findings" ] || { echo "$findings"; exit 1; }
    fi ;;
  layers) scripts/check-layers.sh ;;
  includes) scripts/check-includes.py ;;
  tidy) nice scripts/tidy.py build/release-static ;;
  shell)
    git ls-files --cached --others --exclude-standard 2> /dev/null | grep -E '(\.(sh|bash)|^\.ci/run)$' | grep -v '^completions/' |
      while read -r file; do [ ! -e "$file" ] || echo "$file"; done | xargs shellcheck --severity=warning ;;
  static) scripts/check-static.sh build/notifyctl ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac
