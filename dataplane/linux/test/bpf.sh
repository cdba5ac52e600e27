#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bpf.sh [KERNEL [NAME=VALUE]...]: the eBPF marker of `cemark bpf` with real TCP, beside the qdisc
# and beside no marks at all: the table of docs/linux.md. KERNEL is uml-hz1000 (User Mode Linux in
# virtual time, the default), 6.1 or 7.2 (Debian's own, in QEMU; needs root), or all: the first, and
# two flows in the last. The variables are those of bpf.py. What is missing is built or fetched
# first.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."
kernel=${1:-uml-hz1000}
shift $(($# < 1 ? $# : 1))
case $kernel in
  uml | uml-hz1000) ;;
  [0-9]*.[0-9]*) ;;
  all)
    "$0" uml-hz1000 "$@"
    exec "$0" 7.2 ONLY="2 DCTCP" MS=2000 "$@"
    ;;
  *)
    echo "$0: $kernel is no kernel: write uml-hz1000, 6.1, 7.2 or all" >&2
    exit 2
    ;;
esac
cargo build --quiet --locked -p cemark --features deploy
program=$(realpath "${CARGO_TARGET_DIR:-target}/debug/cemark")
case $kernel in
  uml*)
    "$here/kernel.sh" "$kernel"
    "$here/module.sh" "$kernel"
    SECONDS_MAX=3600 "$here/uml.sh" "$kernel" "$here/bpf.py" CEMARK="$program" "$@"
    ;;
  *)
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    strip -o "$scratch/cemark" "$program"
    TAKE=$scratch/cemark SECONDS_MAX=3600 "$here/debian.sh" "$kernel" "$here/bpf.py" \
      CEMARK=/test/cemark "$@"
    ;;
esac
