#!/bin/sh
# Becomes process 1 of a Kubernetes node in namespaces of its own; the network namespace is the caller's. Called by node.ts.
#
#   CGROUPS='folder...' WORK=folder node.sh
set -eu

if [ "${1:-}" != --inside ]; then
  for cgroup in $CGROUPS; do
    # A cpuset takes no process before it has CPUs and memory.
    for file in cpuset.cpus cpuset.mems; do
      [ ! -e "$cgroup/$file" ] || cat "$cgroup/../$file" >"$cgroup/$file"
    done
    echo $$ >"$cgroup/cgroup.procs"
  done
  exec unshare --fork --kill-child --pid --mount --cgroup --uts --ipc sh "$0" --inside
fi

# A root of its own: this machine's below, and a tmpfs that takes what is written and vanishes with the node.
mount --make-rprivate /
mount -t tmpfs tmpfs "$WORK"
mkdir "$WORK/upper" "$WORK/work" "$WORK/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$WORK/upper,workdir=$WORK/work" "$WORK/root"
cd "$WORK/root"
mount -t proc proc proc
mount --rbind /dev dev
mount -t sysfs sysfs sys
mount -t tmpfs -o mode=0755 tmpfs run
mount -t tmpfs -o mode=0755 tmpfs sys/fs/cgroup
sed 's/^[0-9]*:\([^:]*\):.*/\1/; /^$/d' /proc/self/cgroup | while read -r controllers; do
  folder=sys/fs/cgroup/${controllers#name=}
  mkdir "$folder"
  case $controllers in name=*) controllers=none,$controllers ;; esac
  mount -t cgroup -o "$controllers" cgroup "$folder"
done

# The kubelet would set these for the whole machine. Where it reads what it wants, it writes nothing.
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  shown=run/lab/$(echo "${setting%=*}" | tr / .)
  mkdir -p run/lab
  echo "${setting#*=}" >"$shown"
  mount --bind "$shown" "proc/sys/${setting%=*}"
done

# Folders of the node's own: overlayfs cannot be the upper folder of another, and what this machine has in the others is not the node's.
for folder in var/lib/containerd var/lib/docker var/lib/kubelet var/lib/task-eni var/log etc/netns; do
  mkdir -p "$folder"
  mount -t tmpfs -o mode=0755 tmpfs "$folder"
done
mkdir lab.old
pivot_root . lab.old
umount -l lab.old
rmdir lab.old
# As systemd has it, and as mountPropagation needs it.
mount --make-rshared /
hostname node
exec env -i container=lab TASK_ENI_LAB="${TASK_ENI_LAB:-}" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  tini -- sh -c 'touch /run/lab/booted && exec sleep infinity'
