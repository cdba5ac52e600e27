#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# build.sh OUT [VMLINUX]: compiles the qdisc and the program that marks to OUT/qdisc.o and
# OUT/mark.o, for the running kernel or for that of VMLINUX, a file with its types (BTF). RATE in
# bit/s, INS_TARGET, PST_TARGET and PST_INTERVAL in ns are taken from the environment. Needs clang
# 19 or newer (CLANG), bpftool and libbpf's headers.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?write build.sh OUT [VMLINUX]} types=${2:-/sys/kernel/btf/vmlinux}
clang=${CLANG:-$(command -v clang-19 || command -v clang || true)}
[ -n "$clang" ] || { echo "$0: no clang: apt install clang-19" >&2; exit 2; }
command -v bpftool >/dev/null || { echo "$0: no bpftool: apt install bpftool" >&2; exit 2; }
[ -e /usr/include/bpf/bpf_helpers.h ] ||
  { echo "$0: no headers of libbpf: apt install libbpf-dev" >&2; exit 2; }
[ -r "$types" ] || { echo "$0: no file $types" >&2; exit 2; }
mkdir -p "$out"
bpftool btf dump file "$types" format c >"$out/vmlinux.h"
if ! grep -q bpf_sk_buff_ptr "$out/vmlinux.h"; then
  echo "$0: $types has no qdiscs in BPF: they take Linux 6.16 and CONFIG_NET_SCH_BPF" >&2
  exit 2
fi
for name in qdisc mark; do
  "$clang" -target bpf -g -O2 -mcpu=v3 -Wall -Werror -Wno-missing-declarations \
    -Wno-unused-function -D__TARGET_ARCH_x86 -DRATE="${RATE:-200000000}ull" \
    -DINS_TARGET="${INS_TARGET:-200000}" -DPST_TARGET="${PST_TARGET:-85000}" \
    -DPST_INTERVAL="${PST_INTERVAL:-200000}" -I"$out" -I"$here/../include" \
    -c "$here/$name.c" -o "$out/$name.o"
done
