#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# debian.sh VERSION [SCRIPT [NAME=VALUE]...]: installs the module with DKMS in a Debian that has
# this kernel (6.1: Debian 12; 7.2 and others: Debian 13 with backports), boots it in QEMU, and runs
# the script as root inside it, with these variables. Without a script: port.py, in which the
# qdisc is under traffic. The Debian is a directory in the cache, where nothing of this machine is
# changed; the first run fetches 250 MB. QEMU counts instructions, and each is a nanosecond of the
# guest's time, so that results do not depend on the load of this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${CEMARK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cemark}/linux
mirror=${CEMARK_MIRROR:-http://deb.debian.org/debian}
version=${1:-none}
script=$(realpath "${2:-$here/port.py}")
shift $(($# < 2 ? $# : 2))
[[ $version =~ ^[0-9]+\.[0-9]+$ ]] ||
  { echo "$0: $version is no version: write 6.1 or 7.2" >&2; exit 2; }
[ -f "$script" ] || { echo "$0: no script $script" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "$0: run it as root: it uses chroot" >&2; exit 2; }
missing=()
for pair in qemu-system-x86_64:qemu-system-x86 mmdebstrap:mmdebstrap cpio:cpio; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
base=$cache/debian-$version root=$cache/debian-$version/root
mkdir -p "$base"

# The Debian of this kernel, with what a user who builds the module has.
if [ ! -d "$root" ]; then
  suite=trixie from=(-t trixie-backports)
  sources=("deb $mirror trixie main" "deb $mirror trixie-backports main")
  if [ "$version" = 6.1 ]; then
    suite=bookworm from=()
    sources=("deb $mirror bookworm main" "deb $mirror bookworm-updates main")
  fi
  echo "fetching Debian $suite"
  rm -rf "$root.new"
  keys=/usr/share/keyrings/debian-archive-keyring.gpg
  mmdebstrap --quiet --variant=apt --skip=cleanup/apt --keyring="$keys" "$suite" "$root.new" \
    "${sources[@]}"
  # Not those of the cloud and real-time kernels.
  pattern="^linux-headers-${version/./\\.}\\.[^ ]*[0-9]-amd64\$"
  headers=$(chroot "$root.new" apt-cache search --names-only "$pattern" | cut -d' ' -f1 |
    sort -V | tail -1)
  [ -n "$headers" ] || { echo "$0: Debian $suite has no Linux $version" >&2; exit 2; }
  release=${headers#linux-headers-}
  echo "Linux $release"
  chroot "$root.new" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
    --no-install-recommends "${from[@]}" dkms gcc libc6-dev make "$headers" iproute2 iperf3 kmod \
    busybox-static python3 >"$base/install.log" 2>&1 || { tail "$base/install.log"; exit 1; }
  # The kernel is unpacked and not installed: it needs neither a boot loader nor an initramfs.
  packages=("linux-image-$release")
  [ "$version" = 6.1 ] || packages=("linux-binary-$release" "linux-modules-$release")
  (cd "$root.new" && chroot . sh -c "cd /tmp && apt-get download -qq ${packages[*]}" &&
    for deb in tmp/*.deb; do
      dpkg-deb --fsys-tarfile "$deb" | tar -xf - --keep-directory-symlink
    done && rm tmp/*.deb)
  chroot "$root.new" apt-get clean
  echo "$release" >"$base/release"
  mv "$root.new" "$root"
fi
release=$(cat "$base/release")
inside() {
  unshare --mount --pid --fork --mount-proc="$root/proc" \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot "$root" "$@"
}

echo "== module and plugin for Linux $release"
# As a user installs it.
inside dkms remove cemark/0.1.0 --all >/dev/null 2>&1 || true
rm -rf "$root/srv/linux" "$root/srv/include"
cp -r "$here/.." "$root/srv/linux"
cp -r "$here/../../include" "$root/srv/include"
inside make -s -C /srv/linux clean tc install-tc CFLAGS=-Werror KVER="$release"
inside make -s -C /srv/linux dkms KVER="$release"
inside dkms install cemark/0.1.0 -k "$release" >"$base/dkms.log" 2>&1 ||
  { cat "$base/dkms.log" "$root"/var/lib/dkms/cemark/0.1.0/build/make.log; exit 1; }
inside dkms status
# The modules of the tests, and this one with every warning an error.
inside make -s -C "/lib/modules/$release/build" M=/srv/linux \
  CEMARK_HEADERS=/srv/include CEMARK_TEST=1 W=1 KCFLAGS=-Werror modules 2>&1 |
  { grep -v "Skipping BTF" || true; }
"$here/guest.sh" "$root" "$release" "$base/guest" "$script" "$@"
kernel=$root/boot/vmlinuz-$release
[ -e "$kernel" ] || kernel=$root/usr/lib/modules/$release/vmlinuz
line="console=ttyS0 quiet loglevel=1 panic=-1 tsc=reliable nokaslr audit=0 VARIABLES=/variables"
log=$base/guest.log
echo "== in Linux $release"
timeout "${SECONDS_MAX:-1800}" qemu-system-x86_64 -machine q35 -accel tcg -cpu max \
  -icount shift=0,sleep=off -rtc clock=vm,base=2026-01-01 -m 1G -smp 1 -nodefaults \
  -no-user-config -display none -serial stdio -monitor none -no-reboot \
  -kernel "$kernel" -initrd "$base/guest.cpio" \
  -append "$line" \
  </dev/null 2>&1 | sed -u 's,\r,,g' | tee "$log" |
  grep --line-buffered -v -e '^@@exit' -e 'reboot: Power down' || true
code=$(sed -n 's/^@@exit //p' "$log" | tail -1)
[ -n "$code" ] || { echo "$0: the kernel stopped before the script did" >&2; exit 1; }
exit "$code"
