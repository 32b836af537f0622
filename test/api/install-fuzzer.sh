#!/bin/sh
# Installs the fuzzer of fuzz.test.ts into node_modules/.fuzz. Without it that test is skipped.
set -eu
cd "$(dirname "$0")/../.."
[ -x node_modules/.fuzz/bin/schemathesis ] && exit 0
sh test/lab/install.sh python
python3 -m venv node_modules/.fuzz || { echo 'install-fuzzer.sh: python3-venv is missing' >&2; exit 1; }
node_modules/.fuzz/bin/pip install --quiet --disable-pip-version-check 'schemathesis>=4.32,<5'
