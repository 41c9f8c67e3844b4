#!/bin/sh
# Makes a build folder, unless it is there already. Meson's build folders know where their sources lie: one that
# came along with a copy of the tree would keep building the other tree, and is made again. A folder that is not a
# build folder of Facet's is left alone.
# Usage: configure.sh BUILD [options of meson setup]
set -u

build=$1
shift
if [ -e "$build/build.ninja" ]; then
    here=$(pwd -P)
    there=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["directories"]["source"])' \
        "$build/meson-info/meson-info.json" 2>/dev/null)
    [ "$there" != "$here" ] || exit 0
    if ! grep -qs '"descriptive_name": "facet"' "$build/meson-info/intro-projectinfo.json"; then
        echo "$build is a build folder of something else; expected one of Facet's, or none" >&2
        exit 2
    fi
    echo "$build was made for ${there:-another place}, not for $here: making it again"
    rm -rf "$build"
fi
exec meson setup "$build" "$@"
