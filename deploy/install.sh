#!/bin/sh
# Installs task-eni as a service of this host, or takes it away again.
#
#   install.sh [install] [--from PACKAGE] [--destdir DIR] [--without-host-tools]
#   install.sh remove [--purge] [--destdir DIR]
#
# PACKAGE is a tarball of `npm pack`, task-eni@1.2.3 of a registry, or an /opt/task-eni that was installed elsewhere, for hosts
# that reach no registry. Without it: the unpacked package that this script lies in.
# An installation is replaced as a whole; tasks keep their networks meanwhile. Settings in /etc/task-eni are kept.
# --destdir puts everything below DIR and starts nothing: for images and packages.
# remove leaves records, settings and logs unless --purge is given, and never a task without its network.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
action=install from=$(dirname "$here") destdir='' purge=no host_tools=yes
while [ $# -gt 0 ]; do
  case $1 in
    install | remove) action=$1; shift ;;
    --from) from=${2:?--from needs a package}; shift 2 ;;
    --destdir) destdir=${2:?--destdir needs a folder}; shift 2 ;;
    --purge) purge=yes; shift ;;
    --without-host-tools) host_tools=no; shift ;;
    *) echo "install.sh: unknown argument $1" >&2; exit 2 ;;
  esac
done

opt=$destdir/opt/task-eni
units=$destdir/etc/systemd/system
settings=$destdir/etc/task-eni
programs=$destdir/usr/local/lib/task-eni
say() { echo "install.sh: $*"; }
fail() { echo "install.sh: $*" >&2; exit 1; }

[ -n "$destdir" ] || [ "$(id -u)" = 0 ] || fail 'must be root'
# sd_booted(3); an installation below a folder concerns no running system.
runs_systemd() { [ -z "$destdir" ] && [ -d /run/systemd/system ]; }
# udevd looks for changed rules every three seconds only.
reload_rules() { ! command -v udevadm >/dev/null || udevadm control --reload || say 'udevd is not running'; }

check_node() {
  node=$(command -v node) || fail 'node is not installed; 20.19 or later is needed'
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    fail "$node is $(node --version); 20.19 or later is needed"
  case $node in
    /usr/local/bin/* | /usr/bin/* | /bin/*) ;;
    *) fail "$node is not where units find it; install node to /usr/bin or /usr/local/bin, or link it there" ;;
  esac
}

# Gives the folder of the package, unpacked, to $opt.new.
fetch_package() {
  if [ -d "$from" ] && [ ! -d "$from/node_modules" ]; then
    from=$(cd "$from" && pwd)
  elif [ -d "$from" ]; then
    # Unpacked, with its dependencies beside it, and not a checkout with those of development.
    [ ! -d "$from/src" ] || fail "$from is a checkout: give what npm pack makes of it"
    cp -R "$from/." "$opt.new"
    return
  fi
  [ ! -f "$from" ] || from=$(cd "$(dirname "$from")" && pwd)/$(basename "$from")
  tarball=$from
  [ -f "$from" ] || tarball=$opt.fetch/$(npm pack --silent --pack-destination "$opt.fetch" "$from")
  tar -xzf "$tarball" -C "$opt.new" --strip-components=1
}

install_package() {
  rm -rf "$opt.new" "$opt.fetch"
  mkdir -p "$opt.new" "$opt.fetch"
  fetch_package
  [ -f "$opt.new/dist/main.js" ] || fail "$from has no built task-eni in it"
  # Exactly what npm-shrinkwrap.json says, hashes checked. It leaves out development, so package.json has to as well.
  [ -d "$opt.new/node_modules" ] || (
    cd "$opt.new"
    npm pkg delete devDependencies scripts
    npm ci --omit=dev --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
  )
  chmod 0755 "$opt.new/dist/main.js"
  rm -rf "$opt.old" "$opt.fetch"
  [ ! -e "$opt" ] || mv "$opt" "$opt.old"
  mv "$opt.new" "$opt"
  rm -rf "$opt.old"
  mkdir -p "$destdir/usr/local/bin"
  ln -sfn /opt/task-eni/dist/main.js "$destdir/usr/local/bin/task-eni"
}

install_unit() {
  install -D -m 0644 "$here/systemd/task-eni.service" "$units/task-eni.service"
  install -D -m 0644 "$here/systemd/logrotate.conf" "$destdir/etc/logrotate.d/task-eni"
  if command -v dhclient >/dev/null || [ -x /sbin/dhclient ]; then
    install -D -m 0644 "$here/systemd/dhclient.conf" "$units/task-eni.service.d/dhclient.conf"
  fi
  [ -e "$settings/environment" ] || install -D -m 0600 "$here/systemd/environment" "$settings/environment"
  local_profile=$destdir/etc/apparmor.d/local/sbin.dhclient
  if [ -e "$destdir/etc/apparmor.d/sbin.dhclient" ] && ! grep -qs 'task-eni' "$local_profile"; then
    mkdir -p "$(dirname "$local_profile")"
    sed '/^# task-eni/s/$/ (begin)/; $s/$/\n# task-eni (end)/' "$here/apparmor/sbin.dhclient" >>"$local_profile"
    [ -n "$destdir" ] || ! command -v apparmor_parser >/dev/null || apparmor_parser -r /etc/apparmor.d/sbin.dhclient || say 'the AppArmor profile of dhclient could not be loaded again'
  fi
}

install_host_tools() {
  for program in is-task-eni find-own-eni; do install -D -m 0755 "$here/host-tools/$program" "$programs/$program"; done
  install -D -m 0644 "$here/host-tools/task-eni-host-enis.service" "$units/task-eni-host-enis.service"
  install -D -m 0644 "$here/host-tools/99-zz-task-eni.rules" "$destdir/etc/udev/rules.d/99-zz-task-eni.rules"
  install -D -m 0644 "$here/host-tools/05-task-eni.network" "$destdir/etc/systemd/network/05-task-eni.network"
}

remove_files() {
  rm -rf "$opt" "$programs" "$units/task-eni.service.d"
  rm -f "$destdir/usr/local/bin/task-eni" "$units/task-eni.service" "$units/task-eni-host-enis.service" \
    "$destdir/etc/logrotate.d/task-eni" "$destdir/etc/udev/rules.d/99-zz-task-eni.rules" \
    "$destdir/etc/systemd/network/05-task-eni.network"
  local_profile=$destdir/etc/apparmor.d/local/sbin.dhclient
  [ ! -e "$local_profile" ] || sed -i '/^# task-eni.*(begin)$/,/^# task-eni (end)$/d' "$local_profile"
  [ $purge = no ] || rm -rf "$settings" "$destdir/var/lib/task-eni" "$destdir/var/log/task-eni" "$destdir/run/task-eni"
}

# Records are all that the service would know its tasks by again.
refuse_purge_of_tasks() {
  for record in "$destdir"/var/lib/task-eni/tasks/*.json; do
    [ ! -e "$record" ] || ! grep -qE '"state": ?"(PENDING|ATTACHING|READY|DETACHING)"' "$record" ||
      fail 'tasks still have networks: detach them first (task-eni status), or remove without --purge'
  done
}

if [ $action = install ]; then
  check_node
  install_package
  install_unit
  [ $host_tools = no ] || install_host_tools
  say "task-eni $(node "$opt/dist/main.js" --version) is in $opt"
  if runs_systemd; then
    systemctl daemon-reload
    [ $host_tools = no ] || reload_rules
    ! systemctl --quiet is-active task-eni || systemctl restart task-eni
    say 'next: task-eni doctor; systemctl enable --now task-eni'
    [ $host_tools = no ] || say 'and, on EC2: systemctl enable --now task-eni-host-enis'
  fi
else
  [ $purge = no ] || refuse_purge_of_tasks
  if runs_systemd; then
    for unit in task-eni task-eni-host-enis; do
      [ ! -e "$units/$unit.service" ] || systemctl disable --now --quiet "$unit"
    done
  fi
  remove_files
  ! runs_systemd || { systemctl daemon-reload; reload_rules; }
  say 'task-eni is removed; tasks that run keep their networks'
fi
