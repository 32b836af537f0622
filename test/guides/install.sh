#!/bin/sh
# Gets what running the guides needs, once: docker compose, where Docker has none, and a linter of IAM policies. Both go to
# $XDG_CACHE_HOME/task-eni-tests; exit 1 when something is missing afterwards.
set -u
cache=${XDG_CACHE_HOME:-$HOME/.cache}/task-eni-tests
mkdir -p "$cache/bin"

# Debian 12 has the first version only. The next release's is a program that needs nothing but libc; apt checks its signature
# by an archive of its own, and the system's packages stay as they are.
fetch_compose() {
  work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && mkdir -p "$work/lists/partial" "$work/archives/partial" || return 1
  echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main' >"$work/sources.list"
  set -- -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
    -o Dir::Cache="$work" -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false -o APT::Sandbox::User=root
  (cd "$work" && apt-get "$@" update && apt-get "$@" download docker-compose && dpkg-deb --extract docker-compose_*.deb .) &&
    cp "$work/usr/libexec/docker/cli-plugins/docker-compose" "$cache/bin/"
}

if ! docker compose version >/dev/null 2>&1 && [ ! -x "$cache/bin/docker-compose" ]; then
  fetch_compose || echo 'install.sh: docker compose cannot be had' >&2
fi
policies=$cache/policies
if [ ! -x "$policies/bin/parliament" ]; then
  python3 -m venv "$policies" && "$policies/bin/pip" install --quiet --disable-pip-version-check 'parliament==1.6.4' ||
    echo 'install.sh: parliament cannot be installed' >&2
fi
{ docker compose version >/dev/null 2>&1 || [ -x "$cache/bin/docker-compose" ]; } && [ -x "$policies/bin/parliament" ]
