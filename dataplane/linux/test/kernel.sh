#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernel.sh uml|uml-hz1000|uml-debug: builds a User Mode Linux, once, in the cache: a program that
# runs as an ordinary process, with time travel. uml has 100 timer ticks a second, uml-hz1000 has
# 1000, as servers do: `cemark testbed` runs on it. uml checks divisions, shifts and places in
# arrays; uml-debug checks memory and locks too. The source is Debian's package. uml and uml-hz1000
# take 5 to 8 minutes of processor time, uml-debug 10. A kernel that an older form of this script or
# its configuration built is built again.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${CEMARK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cemark}/linux
version=6.12 kernel=${1:?uml, uml-hz1000 or uml-debug} jobs=$(nproc)
case $kernel in
  uml) parts=(uml.config walk.config) ;;
  uml-hz1000) parts=(uml.config) ;;
  uml-debug) parts=(uml.config walk.config debug.config) ;;
  *)
    echo "$0: uml, uml-hz1000 or uml-debug" >&2
    exit 2
    ;;
esac
recipe=$(cat "$0" "${parts[@]/#/$here/kernel/}" | sha256sum)
if [ -x "$cache/$kernel/linux" ] &&
  [ "$(cat "$cache/$kernel/recipe" 2>/dev/null)" = "$recipe" ]; then exit 0; fi
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
cat "${parts[@]/#/$here/kernel/}" >"$kernel/wanted"
# The registers of a processor with AMX (Intel, since 2023) are 11,008 bytes, and a host takes them
# back whole or not at all. Linux 6.12 keeps 2,696 bytes of them, so its first process would end
# with a fault on such a host; later kernels ask the host for the size. A copy lies in each kernel
# stack, which is why uml.config has a larger KERNEL_STACK_ORDER than the default.
offsets=linux-source-$version/arch/x86/um/user-offsets.c
if ! grep -q '(HOST_FP_SIZE, 11264)' "$offsets"; then
  sed -i 's/(HOST_FP_SIZE, 2696)/(HOST_FP_SIZE, 11264)/' "$offsets"
  grep -q '(HOST_FP_SIZE, 11264)' "$offsets" ||
    { echo "$0: $offsets is not as expected" >&2; exit 1; }
fi
if [ "$kernel" = uml-hz1000 ]; then
  # HZ of this architecture is not a question of the configuration: it has one default, 100. The
  # first default in the tree of questions counts, so another one goes before it.
  export KBUILD_KCONFIG=$cache/$kernel/Kconfig
  { grep '^mainmenu' "linux-source-$version/Kconfig"
    printf 'config HZ\n\tint\n\tdefault 1000\n'
    grep -v '^mainmenu' "linux-source-$version/Kconfig"; } >"$KBUILD_KCONFIG"
fi
make -s -C "linux-source-$version" O="$cache/$kernel" ARCH=um \
  KCONFIG_ALLCONFIG="$cache/$kernel/wanted" allnoconfig >"$kernel.log" 2>&1
total=$([ "$kernel" = uml-hz1000 ] && echo 680 || echo 760)
make -C "linux-source-$version" O="$cache/$kernel" ARCH=um -j"$jobs" linux modules \
  2>>"$kernel.log" |
  awk -v total="$total" -v name="$kernel" '/^  CC/ { n++
    if (n % 20 == 0) { printf "\rbuilding %s: %d of about %d files", name, n, total; fflush() } }
    END { print "" }' || { tail -n 20 "$kernel.log"; exit 1; }
[ -x "$kernel/linux" ] || { tail -n 20 "$kernel.log"; exit 1; }
echo "$recipe" >"$kernel/recipe"
