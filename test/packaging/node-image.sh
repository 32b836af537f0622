#!/bin/sh
# Prints, as a tar archive, a root file system with this machine's Node and the programs of Debian that the image needs.
set -eu
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/tmp" "$root/etc/ssl" "$root/run" "$root/proc" "$root/sys" "$root/dev"
chmod 1777 "$root/tmp"

# A program with what it is linked to, all under the paths that they have here.
bring() {
  mkdir -p "$root$(dirname "$1")"
  cp -L "$1" "$root$1"
  ldd "$1" 2>/dev/null | grep -oE '/[^ ]+' | sort -u | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    [ -e "$root$library" ] || cp -L "$library" "$root$library"
  done
}

PATH=$PATH:/usr/sbin:/sbin
for program in node tini setpriv dhclient; do bring "$(readlink -f "$(command -v $program)")"; done
busybox=$(command -v busybox)
cp "$busybox" "$root/bin/busybox"
for applet in sh find rm mkdir ln chmod true test '[' env cat ls; do [ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"; done
mkdir -p "$root/usr/bin" "$root/usr/sbin"
ln -s /bin/busybox "$root/usr/bin/env"
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
cp -RL /etc/ssl/certs "$root/etc/ssl/certs" 2>/dev/null || true
tar --create --directory "$root" --owner=0 --group=0 .
