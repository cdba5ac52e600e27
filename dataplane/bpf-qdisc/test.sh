#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# test.sh: the BPF qdisc and the program that marks with real TCP, in Debian's Linux 7.2 in QEMU
# (dataplane/linux/test/debian.sh, as root). Prints goodput, wait, marked share and RTT.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
debian=$here/../linux/test/debian.sh
base=${CEMARK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cemark}/linux/debian-7.2
[ "$(id -u)" = 0 ] || { echo "$0: run it as root: it uses chroot" >&2; exit 2; }
missing=()
command -v clang-19 >/dev/null || missing+=(clang-19)
command -v bpftool >/dev/null || missing+=(bpftool)
[ -e /usr/include/bpf/bpf_helpers.h ] || missing+=(libbpf-dev)
if [ ${#missing[@]} -gt 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
guest=$base/root
[ -d "$guest" ] || "$debian" 7.2 /bin/true
chroot "$guest" sh -c 'command -v bpftool' >/dev/null ||
  chroot "$guest" apt-get install -y -qq --no-install-recommends bpftool >/dev/null
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
RATE=200000000 INS_TARGET=300000 PST_TARGET=100000 PST_INTERVAL=1200000 "$here/build.sh" \
  "$scratch" "$guest/usr/src/linux-headers-$(cat "$base/release")/vmlinux"
PROGRAMS=bpftool TAKE="$scratch/qdisc.o $scratch/mark.o" "$debian" 7.2 "$here/pair.py" \
  MS="${MS:-2000}" WARM=1000 FLOWS="${FLOWS:-2}"
