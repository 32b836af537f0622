#!/bin/sh
# Installs and builds what is missing, then shows the service at work: npm run demo [-- --keep]
set -eu
cd "$(dirname "$0")/../.."

case ${1:-} in
  ''|--keep) ;;
  *) echo "usage: npm run demo [-- --keep]" >&2; exit 2 ;;
esac
[ "$(uname -s)" = Linux ] || { echo "The demo needs Linux: it works with network namespaces." >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "The demo needs root, to make network namespaces: sudo npm run demo" >&2; exit 1; }
node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
  { echo "The demo needs Node.js 20.19 or later; this is $(node --version)." >&2; exit 1; }

[ -d node_modules/typescript ] || { echo "Installing the npm packages ..."; npm ci --no-audit --no-fund --loglevel=error; }
sh test/lab/install.sh lab
# Without an engine the demo goes on with bare namespaces, and says so.
sh test/lab/install.sh docker build || true
if [ ! -e dist/main.js ] || [ -n "$(find src nest-cli.json -newer dist/main.js | head -n 1)" ]; then
  echo "Building the service ..."
  npm run --silent build
fi
exec node --import ./test/load-typescript.mjs test/demo/main.ts "$@"
