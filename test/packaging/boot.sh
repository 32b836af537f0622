#!/bin/sh
# Becomes systemd in namespaces of its own; the network namespace is the caller's. Called by machine.ts.
#
#   CGROUPS=folder WORK=folder SYSTEMD=program boot.sh [name=folder...]
set -eu

if [ "${1:-}" != --inside ]; then
  echo $$ >"$CGROUPS/cgroup.procs"
  exec unshare --fork --kill-child --pid --mount --cgroup --uts --ipc sh "$0" --inside "$@"
fi
shift

# A root of its own: this machine's below, and a tmpfs that takes what is written.
mount --make-rprivate /
mount -t tmpfs tmpfs "$WORK"
mkdir "$WORK/upper" "$WORK/work" "$WORK/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$WORK/upper,workdir=$WORK/work" "$WORK/root"
cd "$WORK/root"
mount -t proc proc proc
mount --rbind /dev dev
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=0755 tmpfs run
for pair in "$@"; do
  mkdir -p "mnt/${pair%%=*}"
  mount --rbind "${pair#*=}" "mnt/${pair%%=*}"
done

# Of all units only those that the service asks for, each of them empty.
rm -rf etc/systemd/system
mkdir -p etc/systemd/system lab/units lab/old
for target in sysinit basic shutdown multi-user network network-online lab; do
  printf '[Unit]\nDefaultDependencies=no\n' >"lab/units/$target.target"
done
# There is no journal to write to.
for unit in task-eni task-eni-host-enis; do
  mkdir -p "lab/units/$unit.service.d"
  printf '[Service]\nStandardOutput=append:/var/log/%s.log\nStandardError=inherit\n' $unit >"lab/units/$unit.service.d/log.conf"
done

pivot_root . lab/old
umount -l lab/old
# As systemd has it unless it is told that it is in a container; what containers mount can then be mounted on the host, too.
mount --make-rshared /
exec env -i container=lab TASK_ENI_LAB="${TASK_ENI_LAB:-}" SYSTEMD_UNIT_PATH=/etc/systemd/system:/lab/units \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  "$SYSTEMD" --system --unit=lab.target --log-target=console --show-status=no
