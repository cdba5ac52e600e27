#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# run.sh [proof]: ecn_sharp.p4 in DPDK's software switch. Random packets are compared with the Rust
# model and with the interpreter, single faults have to be noticed, and a TCP flow of Linux passes
# through the program. With `proof`, a million packets and a fault in every instruction.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."
packets=200000 faults=8
if [ "${1:-}" = proof ]; then packets=1000000 faults=1; fi

missing=()
pkg-config --exists libdpdk 2>/dev/null || missing+=(pkg-config libdpdk-dev)
for pair in make:make cc:gcc ip:iproute2 ethtool:ethtool python3:python3; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
root=; [ "$(id -u)" = 0 ] || root=sudo
if [ ${#missing[@]} -gt 0 ]; then
  if ! command -v apt-get >/dev/null; then
    echo "${missing[*]} are missing: install DPDK with its static libraries"
    exit 1
  fi
  $root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends \
    "${missing[@]}"
fi

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
out=$target/swx
mkdir -p "$out"
echo "== DPDK $(pkg-config --modversion libdpdk)"
make -s -C dataplane/p4/swx O="$out"
cargo build --quiet --locked -p cemark-p4 --example swx
echo "== random packets and faults"
"$target/debug/examples/swx" "$out/swx-trace" "$out" "$packets" "$faults"

echo "== a TCP flow of Linux"
if ! $root ip netns add "cemark-p4-$$" 2>/dev/null; then
  echo "SKIPPED: this machine makes no network namespaces"
  exit 0
fi
$root ip netns del "cemark-p4-$$"
# The targets of a link of 100 Mbit/s: a packet takes 120 us, and the hosts are shared machines.
"$target/debug/examples/swx" spec "$out/live.spec" INS_TARGET=2000000 PST_TARGET=1000000
$root "$here/live.sh" "$out/live.spec" "$out/swx-live"
