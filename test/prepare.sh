#!/bin/sh
# Makes a fresh clone ready to run, for demo and benchmark: npm packages, Debian packages, the built service.
#
#   prepare.sh <what for> [set of test/lab/install.sh that it can do without...]
set -eu
cd "$(dirname "$0")/.."
purpose=$1
shift

[ "$(uname -s)" = Linux ] || { echo "$purpose needs Linux: it works with network namespaces." >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "$purpose needs root, to make network namespaces; try it with sudo." >&2; exit 1; }
node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
  { echo "$purpose needs Node.js 20.19 or later; this is $(node --version)." >&2; exit 1; }

[ -d node_modules/typescript ] || { echo "Installing the npm packages ..."; npm ci --no-audit --no-fund --loglevel=error; }
sh test/lab/install.sh lab
for set in "$@"; do sh test/lab/install.sh "$set" || true; done
if [ ! -e dist/main.js ] || [ -n "$(find src nest-cli.json -newer dist/main.js | head -n 1)" ]; then
  echo "Building the service ..."
  npm run --silent build
fi
