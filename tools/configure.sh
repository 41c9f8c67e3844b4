#!/bin/sh
# Makes a build folder, unless it is there already. Meson's build folders know where their sources lie: one that
# came along with a copy of the tree would go on building the other tree, and is made anew.
# Usage: configure.sh BUILD [options of meson setup]
set -u

build=$1
shift
if [ -e "$build/build.ninja" ]; then
    here=$(pwd -P)
    there=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["directories"]["source"])' \
        "$build/meson-info/meson-info.json" 2>/dev/null)
    [ "$there" != "$here" ] || exit 0
    echo "$build was made for ${there:-another place}, not for $here: making it anew"
    rm -rf "$build"
fi
exec meson setup "$build" "$@"
