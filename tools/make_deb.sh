#!/bin/sh
# Builds the Debian packages into a folder, in a copy of the tree: no file comes or goes elsewhere. Needs neither root
# nor a network. The version is that of meson.build, the date that of the last commit or, without git, of meson.build.
# Usage: make_deb.sh FOLDER
set -eu

out=$1
version=$(sed -n "s/^  version: '\([0-9.]*\)',\$/\1/p" meson.build)
date=$(git log -1 --format=%cD 2>/dev/null) || date=$(date -R -r meson.build)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT HUP TERM
tree=$work/facet-$version

mkdir -p "$out" "$tree"
out=$(cd "$out" && pwd)
for package in facet libfacet1 libfacet-dev facet-doc python3-facet; do
    rm -f "$out/${package}_"*.deb
done
tar -cf "$work/tree.tar" --exclude-vcs --exclude='./build*' --exclude=./out --exclude=./guest/out \
    --exclude=__pycache__ .
tar -xf "$work/tree.tar" -C "$tree"
cat >"$tree/debian/changelog" <<EOF
facet ($version) unstable; urgency=medium

  * Version $version.

 -- The Facet authors <maintainers@facet.invalid>  $date
EOF
# No packages with debug information, so the compiler need not make it.
if ! (cd "$tree" && DEB_BUILD_OPTIONS="nocheck noautodbgsym ${DEB_BUILD_OPTIONS:-}" DEB_CFLAGS_STRIP=-g \
    dpkg-buildpackage -b -us -uc) >"$out/build.log" 2>&1; then
    tail -n 30 "$out/build.log" >&2
    echo "make deb: dpkg-buildpackage failed; all it said is in $out/build.log" >&2
    exit 1
fi
mv "$work"/*.deb "$out"
ls "$out"/*.deb
