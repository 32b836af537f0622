#!/bin/sh
# Installs and builds what is missing, then measures: npm run bench [-- --runs <number>] [-- --tasks <number>] [-- --json <file>]
set -eu
cd "$(dirname "$0")/../.."
sh test/prepare.sh 'The benchmark' docker build cni
exec node --import ./test/load-typescript.mjs test/bench/main.ts "$@"
