#!/bin/sh
# Installs the Debian packages that tests and demo need, and of those only the ones that are missing.
#
#   install.sh [--check] [set...]
#
# Sets: lab docker build aws prometheus browser cni packaging python; all of them unless named. With --check nothing is installed.
# Exit 1 when something that is required is missing afterwards. What is optional is reported, and its tests are skipped.
set -eu

all='lab docker build aws prometheus browser cni packaging python'

# set | required or optional | package | test that it is there
table='
lab        | required | iproute2                    | command -v ip
lab        | required | util-linux                  | command -v nsenter && command -v setpriv
lab        | required | procps                      | command -v ps
lab        | required | iputils-ping                | command -v ping
lab        | required | curl                        | command -v curl
lab        | required | dnsmasq-base                | command -v dnsmasq
lab        | required | isc-dhcp-client             | command -v dhclient
lab        | required | libcap2-bin                 | command -v capsh
lab        | required | python3                     | /usr/bin/python3 -c "import json, socket"
lab        | optional | tcpdump                     | command -v tcpdump
lab        | optional | jq                          | command -v jq
docker     | required | docker.io                   | command -v dockerd
docker     | required | docker-cli                  | command -v docker
docker     | required | busybox-static              | test -x /bin/busybox
build      | optional | gcc                         | command -v gcc
build      | optional | libc6-dev                   | find /usr/lib -name libc.a | grep -q .
build      | optional | make                        | command -v make
aws        | optional | awscli                      | command -v aws
aws        | optional | python3-boto3               | python3 -c "import boto3"
prometheus | optional | prometheus                  | command -v prometheus && command -v promtool
browser    | optional | chromium                    | command -v chromium
cni        | optional | containernetworking-plugins | test -x /usr/lib/cni/bridge
packaging  | required | tini                        | command -v tini
packaging  | optional | systemd                     | test -x /lib/systemd/systemd && command -v systemd-analyze
packaging  | optional | udev                        | command -v udevadm
python     | optional | python3-pip                 | python3 -m pip --version
python     | optional | python3-venv                | python3 -c "import ensurepip"
'

check=no
wanted=''
for argument in "$@"; do
  case $argument in
    --check) check=yes ;;
    *)
      case " $all " in
        *" $argument "*) wanted="$wanted $argument" ;;
        *) echo "install.sh: unknown set $argument; there are: $all" >&2; exit 2 ;;
      esac ;;
  esac
done
[ -n "$wanted" ] || wanted=$all
PATH=$PATH:/usr/sbin:/sbin

# Prints the packages of the wanted sets that are missing; $1 is required or optional.
missing() {
  echo "$table" | while IFS='|' read -r set need package probe; do
    set=$(echo $set) need=$(echo $need) package=$(echo $package)
    [ "$need" = "$1" ] || continue
    case " $wanted " in *" $set "*) ;; *) continue ;; esac
    sh -c "$probe" >/dev/null 2>&1 </dev/null || echo "$package"
  done
}

install_packages() {
  [ "$(id -u)" = 0 ] || { echo "install.sh: must be root to install: $*" >&2; return 1; }
  command -v apt-get >/dev/null || { echo "install.sh: no apt-get on this machine; install by hand what gives: $*" >&2; return 1; }
  # Nothing that is installed here is to be started: invoke-rc.d(8).
  policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ]; then
    trap 'rm -f $policy' EXIT
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 0755 $policy
  fi
  export DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes
  apt-get update -qq || echo "install.sh: apt-get update failed; going on with what is known" >&2
  # One at a time: what one release lacks must not keep the others from being installed.
  # One may have brought another: docker.io contains what later releases have as docker-cli.
  for package in "$@"; do
    still=" $(echo $(missing required) $(missing optional)) "
    case $still in *" $package "*) ;; *) continue ;; esac
    apt-get install -y -qq --no-install-recommends "$package" >/dev/null || echo "install.sh: $package cannot be installed" >&2
  done
}

lacking="$(missing required) $(missing optional)"
if [ $check = no ] && [ -n "$(echo $lacking)" ]; then
  echo "installing:" $lacking
  install_packages $lacking || true
fi

optional=$(missing optional)
required=$(missing required)
[ -z "$optional" ] || echo "missing, and optional:" $optional
[ -z "$required" ] || { echo "missing:" $required >&2; exit 1; }
