#!/usr/bin/env bash
# Installs the distribution packages that building, testing or measuring notifyctl needs.
#
#   scripts/install-packages.sh [build|test|bench|coverage|all]...        (default: build test)
#
# Asks dpkg first, so that a rerun is instant, needs no network and no root. Starts no service.
set -euo pipefail

# What the compiler and the linker need.
build=(
  build-essential binutils cmake ninja-build ccache pkg-config git ca-certificates dpkg-dev xz-utils
  libcli11-dev nlohmann-json3-dev libspdlog-dev libfmt-dev libtomlplusplus-dev libexpected-dev libabsl-dev
  libsqlite3-dev libssl-dev libnghttp2-dev libc-ares-dev zlib1g-dev libre2-dev
  python3   # the receiver of examples/quickstart
)
# What the tests, the linters and the fake vendors need. Node is not here: its one test skips visibly without it.
test=(
  libgtest-dev libgmock-dev libbenchmark-dev bats jq clang libclang-rt-dev clang-format clang-tidy
  sqlite3 nginx-light nghttp2-server
  mandoc strace curl openssl tzdata procps util-linux shellcheck
  postfix sasl2-bin libsasl2-modules python3-aiosmtpd   # mail servers, started by the tests alone
)
bench=(hyperfine wrk nginx-light libbenchmark-dev sqlite3)
coverage=(gcovr)

die() { echo "install-packages: $*" >&2; exit 1; }

groups=("${@:-}")
[ -n "${groups[0]}" ] || groups=(build test)
wanted=()
for group in "${groups[@]}"; do
  case $group in
    build | test | bench | coverage) declare -n list=$group; wanted+=("${list[@]}"); unset -n list ;;
    all) wanted+=("${build[@]}" "${test[@]}" "${bench[@]}" "${coverage[@]}") ;;
    *) die "unknown group '$group': build, test, bench, coverage or all" ;;
  esac
done

command -v dpkg-query > /dev/null && command -v apt-get > /dev/null ||
  die "this needs a Debian-like system with apt-get; elsewhere install: ${wanted[*]}"

missing_packages() {
  local have
  have=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2> /dev/null || true)
  printf '%s\n' "${wanted[@]}" | sort -u | grep -vxF -f <(sed -n 's/^installed //p' <<< "$have") || true
}

missing=$(missing_packages)
[ -n "$missing" ] || exit 0
[ "$(id -u)" = 0 ] || die "not root; run as root: apt-get install" $missing

# One at a time: two apt-get runs fail on each other's locks.
exec 9> /run/notifyctl-install-packages.lock
flock 9
missing=$(missing_packages)
[ -n "$missing" ] || exit 0

# Packages must not start their services here; a policy that is already there says so itself.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' > "$policy"
  chmod 755 "$policy"
fi

echo "installing:" $missing
log=$(mktemp)
apt() {
  # Somebody else (unattended upgrades, a second build) may hold apt's locks: wait for them, twice as a last resort.
  local try
  for try in 1 2 3; do
    DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 "$@" \
      < /dev/null > "$log" 2>&1 && return
    grep -qi 'could not get lock\|unable to lock\|temporary failure\|failed to fetch' "$log" || break
    sleep $((try * 5))
  done
  tail -n 30 "$log" >&2
  die "apt-get $1 failed (log: $log)"
}
apt update
apt install --yes --no-install-recommends $missing
rm -f "$log"
