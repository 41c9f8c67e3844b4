#!/bin/sh
# Installs the Debian packages that a list names and that are missing; does nothing, and needs no
# network, when all are there. Fails only when Facet cannot be built without the missing ones: test
# helpers that cannot be installed make their tests be skipped.
# Usage: install_packages.sh packages.txt
set -u

list=$1

can_build()
{
    for tool in meson ninja pkg-config python3; do
        command -v "$tool" >/dev/null 2>&1 || return 1
    done
    { command -v gcc || command -v clang; } >/dev/null 2>&1 &&
        pkg-config --exists jansson libpng libjpeg zlib
}

missing()
{
    sed -e 's/#.*//' "$list" | tr -s ' \t' '\n' | while read -r name; do
        [ -n "$name" ] || continue
        state=$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)
        [ "$state" = installed ] || printf '%s ' "$name"
    done
}

give_up()
{
    echo "packages: $1" >&2
    echo "packages: still missing: $need" >&2
    if can_build; then
        echo "packages: continuing without them; tests that need them will be skipped" >&2
        exit 0
    fi
    echo "packages: install them and run make again" >&2
    exit 1
}

if ! command -v dpkg-query >/dev/null 2>&1; then
    need=$(sed -e 's/#.*//' "$list" | tr -s ' \n' '  ')
    can_build && exit 0
    give_up "this is not a Debian system; the names below are Debian's"
fi

need=$(missing)
[ -n "$need" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    # Ask for a password only where it can be typed.
    if [ -t 0 ]; then as_root=sudo; else as_root='sudo -n'; fi
else
    give_up "not root, and sudo is not installed"
fi

echo "packages: installing $need"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run()
{
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$log" 2>&1 </dev/null
}
# An outdated index is not a reason to stop: the packages may be available anyway.
run update || true
# shellcheck disable=SC2086 # the list is meant to be split
if ! run install -y --no-install-recommends $need; then
    tail -n 5 "$log" >&2
    need=$(missing)
    give_up "apt-get could not install them (no network, or no rights?)"
fi
