#!/bin/sh
# Prints, as a tar archive, what stands in for Debian's image of Node: that of test/packaging, with npm and what npm has fetched
# on this machine before, since no registry can be reached from the lab.
set -eu
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
sh "$(dirname "$0")/../packaging/node-image.sh" | tar --extract --directory "$root"
npm=$(readlink -f "$(npm root --global)/npm")
mkdir -p "$root$npm" "$root/usr/local/bin" "$root/root/.npm"
cp -R "$npm/." "$root$npm"
ln -s "$npm/bin/npm-cli.js" "$root/usr/local/bin/npm"
cp -R "$(npm config get cache)/_cacache" "$root/root/.npm/_cacache"
echo 'offline=true' >"$root/root/.npmrc"
tar --create --directory "$root" --owner=0 --group=0 .
