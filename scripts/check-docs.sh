#!/usr/bin/env bash
# Checks the documentation, one check a call:
#
#   scripts/check-docs.sh man | links
#   scripts/check-docs.sh --list
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob globstar

case ${1:-} in
  --list) echo man links ;;
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
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac
