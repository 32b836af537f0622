#!/bin/sh
# Gets what the test of the chart on a real Kubernetes needs, once: Kubernetes with etcd and kubectl as one program, built with
# Go, which takes some ten minutes of two processors and 3 GB of disk, and the Prometheus operator's kinds.
# Both go to $XDG_CACHE_HOME/task-eni-tests/kubernetes-<version>. containerd and runc come with Debian's docker.io.
set -eu
kubernetes=1.34.4
operator=github.com/prometheus-operator/prometheus-operator@v0.85.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/task-eni-tests/kubernetes-$kubernetes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$cache"

if [ ! -x "$cache/kubernetes" ]; then
  echo 'building Kubernetes, which takes a while'
  cp "$(dirname "$0")/go.mod" "$(dirname "$0")/main.go" "$work"
  version=k8s.io/component-base/version
  (cd "$work" && CGO_ENABLED=0 nice go build -mod=mod -trimpath -o "$cache/kubernetes.new" -ldflags "-s -w \
    -X $version.gitVersion=v$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=34")
  mv "$cache/kubernetes.new" "$cache/kubernetes"
fi
if [ ! -e "$cache/prometheus-operator.yaml" ]; then
  folder=$(cd "$work" && go mod download -json "$operator" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  for kind in servicemonitors prometheusrules; do
    cat "$folder/example/prometheus-operator-crd/monitoring.coreos.com_$kind.yaml"
  done >"$cache/prometheus-operator.yaml.new"
  mv "$cache/prometheus-operator.yaml.new" "$cache/prometheus-operator.yaml"
fi
