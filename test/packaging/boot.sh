#!/bin/sh
# Becomes systemd in namespaces of its own; the network namespace is the caller's. Called by machine.ts.
#
#   CGROUPS=folder WORK=folder ROOT=folder [TOP=folder] [UNITS=folder] boot.sh [name=folder...]
set -eu

if [ "${1:-}" != --inside ]; then
  echo $$ >"$CGROUPS/cgroup.procs"
  exec unshare --fork --kill-child --pid --mount --cgroup --uts --ipc sh "$0" --inside "$@"
fi
shift

# A root of its own: ROOT below, TOP copied onto it, and a tmpfs that takes what is written.
mount --make-rprivate /
mount -t tmpfs tmpfs "$WORK"
mkdir "$WORK/upper" "$WORK/work" "$WORK/root"
[ -z "${TOP:-}" ] || cp -R "$TOP/." "$WORK/upper"
mount -t overlay overlay -o "lowerdir=$ROOT,upperdir=$WORK/upper,workdir=$WORK/work" "$WORK/root"
cd "$WORK/root"
mount -t proc proc proc
# Nor may its udev get at this machine's devices.
mount -t tmpfs -o mode=0755 tmpfs dev
for node in null zero full random urandom tty; do
  touch dev/$node
  mount --bind /dev/$node dev/$node
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=0755 tmpfs run
for pair in "$@"; do
  mkdir -p "mnt/${pair%%=*}"
  mount --rbind "${pair#*=}" "mnt/${pair%%=*}"
done

# Nothing starts by itself: targets are empty, and the units that are wanted are started one by one. What distributions have
# targets want would set this machine's own kernel, systemd-sysctl for one.
rm -rf etc/systemd/system usr/lib/systemd/system/*.wants
mkdir -p etc/systemd/system lab/units lab/old
for target in sysinit basic shutdown multi-user network network-online lab; do
  printf '[Unit]\nDefaultDependencies=no\n' >"lab/units/$target.target"
done
# There is no journal to write to.
for unit in task-eni task-eni-host-enis; do
  mkdir -p "lab/units/$unit.service.d"
  printf '[Service]\nStandardOutput=append:/var/log/%s.log\nStandardError=inherit\n' $unit >"lab/units/$unit.service.d/log.conf"
done

# Users of programs that are only unpacked.
SYSTEMD_LOG_LEVEL=err chroot . systemd-sysusers || true

pivot_root . lab/old
umount -l lab/old
# As systemd has it unless it is told that it is in a container; what containers mount can then be mounted on the host, too.
mount --make-rshared /
exec env -i container=lab TASK_ENI_LAB="${TASK_ENI_LAB:-}" \
  SYSTEMD_UNIT_PATH="/etc/systemd/system:/run/systemd/system:/lab/units${UNITS:+:$UNITS}" \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=lab.target --log-target=console --show-status=no
