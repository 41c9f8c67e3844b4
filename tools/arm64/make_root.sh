#!/bin/sh
# Fills a folder with what programs for arm64 Linux are linked with and run over: Debian's C library and the
# libraries of packages.txt, of the release that this system's apt knows. The packages are only unpacked: this
# system's own are not touched, and root is not needed. Does nothing, and needs no network, when
# the folder has them already.
# Usage: make_root.sh packages.txt FOLDER
set -eu

list=$1
root=$2
# The libraries that Facet links, and the tests' independent arithmetic.
names="$(sed -e '1,/^# Libraries that Facet links/d' -e '/^#/,$d' "$list" | tr '\n' ' ')libmpfr-dev libgmp-dev"

# The cross file names the folder, which may have moved.
say_where()
{
    printf "[constants]\nroot = '%s'\n" "$(cd "$root" && pwd -P)" >"$root/root.cross"
}

if [ "$(cat "$root/packages" 2>/dev/null)" = "$names" ]; then
    say_where
    exit 0
fi
for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "make_root.sh: needs $tool: the arm64 libraries come from Debian" >&2
        exit 2
    }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT # or the folder stays
trap 'exit 143' HUP TERM
mkdir -p "$work/lists/partial" "$work/archives/partial"
: >"$work/status"
arm64_apt()
{
    if ! apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$work" \
        -o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status" -o Dir::Cache="$work" \
        -o Dir::Cache::archives="$work/archives" -o Debug::NoLocking=1 "$@" >"$work/log" 2>&1; then
        tail -n 5 "$work/log" >&2
        echo "make_root.sh: apt-get $1 failed; needed for arm64: $names" >&2
        exit 2
    fi
}
arm64_apt update
# shellcheck disable=SC2086 # the list is meant to be split
arm64_apt install -y --no-install-recommends --download-only $names

rm -rf "$root"
mkdir -p "$root"
for package in "$work"/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
done
# Links that start at / mean this folder, not the system that it lies in.
find "$root" -type l -lname '/*' | while read -r link; do
    ln -sfr "$root$(readlink "$link")" "$link"
done
say_where
# Written last: a folder without it is made again.
printf '%s\n' "$names" >"$root/packages"
