#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernel.sh uml|uml-debug: builds a User Mode Linux for the tests, once, in the cache: a program
# that runs as an ordinary process, with time travel. uml-debug checks memory, locks and undefined
# behaviour. The source is Debian's package. uml takes 5 minutes of processor time, uml-debug 10.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${CEMARK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cemark}/linux
version=6.12 kernel=${1:?uml or uml-debug} jobs=$(nproc)
case $kernel in
  uml) parts=(uml) ;;
  uml-debug) parts=(uml debug) ;;
  *)
    echo "$0: uml or uml-debug" >&2
    exit 2
    ;;
esac
[ -x "$cache/$kernel/linux" ] && exit 0
root=; [ "$(id -u)" = 0 ] || root=sudo
mkdir -p "$cache"
cd "$cache"
missing=()
for tool in flex bison bc xz; do
  command -v "$tool" >/dev/null || missing+=("${tool/xz/xz-utils}")
done
[ -e /usr/include/libelf.h ] || missing+=(libelf-dev)
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}"
  $root apt-get update -qq
  $root apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
if [ ! -d "linux-source-$version" ]; then
  echo "fetching the source of Linux $version"
  apt-get download -q "linux-source-$version" || {
    echo "$0: Debian's package linux-source-$version is not in your apt sources" >&2
    exit 1
  }
  dpkg-deb --fsys-tarfile linux-source-$version*.deb |
    tar -xOf - "./usr/src/linux-source-$version.tar.xz" | xz -dc | tar -xf -
  rm -f linux-source-$version*.deb
fi
mkdir -p "$kernel"
for part in "${parts[@]}"; do cat "$here/kernel/$part.config"; done >"$kernel/wanted"
make -s -C "linux-source-$version" O="$cache/$kernel" ARCH=um \
  KCONFIG_ALLCONFIG="$cache/$kernel/wanted" allnoconfig >"$kernel.log" 2>&1
total=$([ "$kernel" = uml ] && echo 650 || echo 700)
make -C "linux-source-$version" O="$cache/$kernel" ARCH=um -j"$jobs" linux modules \
  2>>"$kernel.log" |
  awk -v total="$total" -v name="$kernel" '/^  CC/ { n++
    if (n % 20 == 0) { printf "\rbuilding %s: %d of about %d files", name, n, total; fflush() } }
    END { print "" }' || { tail -n 20 "$kernel.log"; exit 1; }
[ -x "$kernel/linux" ] || { tail -n 20 "$kernel.log"; exit 1; }
