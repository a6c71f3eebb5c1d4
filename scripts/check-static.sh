#!/usr/bin/env bash
# The shipped program is really static: it runs where nothing else is, and takes nothing from the host it runs on.
#
#   scripts/check-static.sh build/notifyctl
#
# Its symbols are read from PROGRAM.debug, which the build leaves beside it.
set -uo pipefail
program=${1:-build/notifyctl}
bad=0
fail() { echo "$program: $*"; bad=1; }

[ -x "$program" ] || { fail "is missing"; exit 1; }
headers=$(readelf --wide --program-headers "$program")
grep -qE '^ +(INTERP|DYNAMIC) ' <<< "$headers" && fail "has an interpreter or a dynamic section"
grep -qE '^ +GNU_STACK .* RW ' <<< "$headers" || fail "has an executable stack"
grep -qE '^ +GNU_RELRO ' <<< "$headers" || fail "has no read-only relocations"
grep -qE ' LOAD .* RWE ' <<< "$headers" && fail "has a segment that is writable and executable"
[ "$(stat -c %s "$program")" -lt $((15 << 20)) ] || fail "is larger than 15 MB"

# glibc's functions that load the host's modules. Its own character set loader (gconv) is in every static program that
# has stdio; nothing of ours reaches it (no iconv, no fopen(…, ",ccs="), no setlocale).
symbols=$(nm --defined-only "$program.debug" | awk '{ print $3 }')
[ -n "$symbols" ] || fail "has no symbols in $program.debug"
found=$(grep -xE '__nss_.*|_nss_.*|getpw(nam|uid|ent)(_r)?|getgr(nam|gid|ent)(_r)?|getaddrinfo|gethostby.*|getserv.*|iconv_open' \
  <<< "$symbols")
[ -z "$found" ] || fail "contains" $found

# Nothing of the machine it was built on.
found=$(strings -a "$program" | grep -F "$(cd "$(dirname "$0")/.." && pwd)/" | head -n 5)
[ -z "$found" ] || fail "names the directory it was built in:" "$found"

if [ "$(id -u)" = 0 ]; then
  empty=$(mktemp -d)
  trap 'rm -rf "$empty"' EXIT
  cp "$program" "$empty/notifyctl"
  chroot "$empty" /notifyctl --version > "$empty/out" 2>&1 < /dev/null || { cat "$empty/out"; fail "does not run alone"; }
fi
exit $bad
