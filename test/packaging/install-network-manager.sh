#!/bin/sh
# Unpacks NetworkManager, and what it needs that is not installed, into $XDG_CACHE_HOME/task-eni-tests/network-manager. It is
# never installed: at its next start it would take this machine's network over. Without it its tests are skipped.
set -eu
folder=${XDG_CACHE_HOME:-$HOME/.cache}/task-eni-tests/network-manager
[ ! -x "$folder/usr/sbin/NetworkManager" ] || exit 0
rm -rf "$folder" "$folder.new"
mkdir -p "$folder.new/packages" "$folder.new/root/usr"
cd "$folder.new/packages"
packages=$(apt-get install --simulate --no-install-recommends network-manager | sed -n 's/^Inst \([^ ]*\).*/\1/p')
apt-get download -q -o APT::Sandbox::User=root ${packages:-network-manager} >/dev/null
for package in *.deb; do dpkg-deb --extract "$package" "$folder.new/root"; done
# Below /usr, where the machine has them: a folder would hide the link of that name.
cd "$folder.new/root"
for name in bin sbin lib; do
  [ ! -d $name ] || { mkdir -p usr/$name && cp -R $name/. usr/$name/ && rm -r $name; }
done
mv "$folder.new/root" "$folder"
rm -r "$folder.new"
