#!/usr/bin/env bash
# Checks the documentation, one check a call:
#
#   scripts/check-docs.sh man | links | proofs
#   scripts/check-docs.sh --list
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob globstar

case ${1:-} in
  --list) echo man links proofs ;;
  man)
    pages=(man/*.[1-8])
    [ ${#pages[@]} = 0 ] || mandoc -T lint -W warning "${pages[@]}" ;;
  links)   # relative links in Markdown lead to files that exist, "#part" to a heading there
    bad=0
    slugs() { sed -n 's/^##* *//p' "$1" | tr 'A-Z ' 'a-z-' | sed 's/[^a-z0-9_-]//g'; }
    for page in *.md docs/**/*.md src/**/*.md tests/**/*.md examples/**/*.md; do
      while IFS=: read -r line link; do
        target=${link#*](}; target=${target%)}; target=${target%% *}
        case $target in *://* | mailto:*) continue ;; esac
        file=${target%%#*}; part=${target#"$file"}; part=${part#\#}
        path=$page; [ -z "$file" ] || path=$(dirname "$page")/$file
        if [ ! -e "$path" ]; then
          echo "$page:$line: no such file: $target"; bad=1
        elif [ -n "$part" ] && [[ $path == *.md ]] && ! slugs "$path" | grep -qxF -- "$part"; then
          echo "$page:$line: no such heading: $target"; bad=1
        fi
      done < <(awk '/^ *```/ { code = !code } !code' "$page" | sed 's/`[^`]*`//g' | grep -noE '\]\([^)]+\)')
    done
    exit $bad ;;
  proofs)   # crash points, rows of the failure table and numbers of faults have the tests that are claimed for them
    bad=0
    miss() { echo "$*"; bad=1; }
    tested() { grep -rqE --include='*.cpp' --include='*.bats' --include='*.hpp' -- "$1" tests; }
    while read -r id point; do
      tested "\"$point\"|CrashPoint::$id\b" || miss "src/core/crash_points.def: $point: no test dies there"
    done < <(sed -nE 's/^NOTIFY_CRASH_POINT\((\w+), "([^"]+)".*/\1 \2/p' src/core/crash_points.def)
    for row in $(grep -oE '\bRow[0-9]+b?\b' docs/guarantees.md | sort -u); do
      tested "${row}_" || miss "docs/guarantees.md: $row: there is no such test"
    done
    for fault in $(grep -oE '^\| F[0-9]+' docs/testing.md | tr -d '| '); do
      tested "$fault(_|:)" || miss "docs/testing.md: $fault: no test carries it"
    done
    for fault in $(grep -rohE --include='*.cpp' --include='*.bats' '\bF[0-9]{2}(_|:)|_F[0-9]{2}_' tests | tr -d '_:' | sort -u); do
      grep -q "^| $fault " docs/testing.md || miss "docs/testing.md: $fault is not in the table"
    done
    exit $bad ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac
