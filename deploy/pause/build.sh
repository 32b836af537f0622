#!/bin/sh
# Builds the pause image out of nothing but a C compiler, for hosts that can pull no image.
#
#   build.sh [--binary FILE] [--tar FILE] [--import [IMAGE]]
#
# --binary  writes the static program
# --tar     writes the image's root file system, which `docker import` takes
# --import  makes it an image of the engine at DOCKER_HOST (task-eni/pause:1 unless named)
#
# Without an option: --import. CC names the compiler (gcc); a cross compiler gives an image for another architecture.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
binary='' archive='' image=''

[ $# -gt 0 ] || set -- --import
while [ $# -gt 0 ]; do
  case $1 in
    --binary) binary=${2:?--binary needs a file name}; shift 2 ;;
    --tar) archive=${2:?--tar needs a file name}; shift 2 ;;
    --import)
      case ${2:-} in
        '' | --*) image=task-eni/pause:1; shift ;;
        *) image=$2; shift 2 ;;
      esac ;;
    *) echo "build.sh: unknown option $1" >&2; exit 2 ;;
  esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

${CC:-gcc} -static -Os -Wall -Wextra -Werror -ffunction-sections -Wl,--gc-sections -s -o "$work/pause" "$here/pause.c"
chmod 0755 "$work/pause"
[ -z "$binary" ] || cp "$work/pause" "$binary"

# Owner, order and time are fixed, so that the same compiler gives the same archive.
tar --create --file "$work/rootfs.tar" --directory "$work" \
  --owner 0 --group 0 --numeric-owner --mtime '@0' --sort name pause
[ -z "$archive" ] || cp "$work/rootfs.tar" "$archive"

if [ -n "$image" ]; then
  docker import --change 'ENTRYPOINT ["/pause"]' --change 'USER 65535:65535' "$work/rootfs.tar" "$image"
fi
