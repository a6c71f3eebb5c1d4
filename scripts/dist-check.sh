#!/usr/bin/env bash
# The committed tree, without git and without what lies around, builds, installs and runs.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/source"
git archive HEAD | tar -x -C "$work/source"
export NOTIFYCTL_DEPS_DIR=${NOTIFYCTL_DEPS_DIR:-$PWD/build/deps}
cmake -G Ninja -S "$work/source" -B "$work/source/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
  -DNOTIFYCTL_DEPS_DIR="$NOTIFYCTL_DEPS_DIR" > /dev/null
cmake --build "$work/source/build" --target notifyctl
make -C "$work/source" install DESTDIR="$work/root" PREFIX=/usr
"$work/source/scripts/check-static.sh" "$work/source/build/notifyctl"
"$work/root/usr/bin/notifyctl" --version
find "$work/root" -type f -printf '/%P\n'
