#!/bin/sh
# Installs and builds what is missing, then shows the service at work: npm run demo [-- --keep]
set -eu
cd "$(dirname "$0")/../.."
case ${1:-} in
  ''|--keep) ;;
  *) echo "usage: npm run demo [-- --keep]" >&2; exit 2 ;;
esac
# Where no Docker engine runs the demo goes on with bare namespaces, and says so.
sh test/prepare.sh 'The demo' docker build
exec node --import ./test/load-typescript.mjs test/demo/main.ts "$@"
