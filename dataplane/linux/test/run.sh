#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [proof|debian]: builds module and plugin and tests them in a User Mode Linux, which is
# built first if it is not in the cache. With `proof`, everything at length, and what proof.sh has;
# CEMARK_SECONDS makes it shorter (60). With `debian`, only Debian's kernels, and there the cost of
# a packet, which has to be at most 1.25 times that of codel. CEMARK: the program whose exported
# lines are tried [default: a dev build of this checkout].
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."
if [ "${1:-}" = debian ]; then
  for version in 6.1 7.2; do
    "$here/debian.sh" "$version" "$here/cost/cost.sh"
    "$here/debian.sh" "$version" "$here/port.py" SHORT=1 SECONDS=1 MESSAGES=500
  done
  exit
fi
missing=()
for pair in tc:iproute2 kmod:kmod iperf3:iperf3; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
if [ ${#missing[@]} -gt 0 ]; then
  root=; [ "$(id -u)" = 0 ] || root=sudo
  $root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends \
    "${missing[@]}"
fi
kernels=(uml) seconds=1 messages=2000 decisions=1000 short=1
if [ "${1:-}" = proof ]; then
  kernels=(uml uml-debug) seconds=${CEMARK_SECONDS:-60} messages=10000 decisions=84000 short=
  echo "$seconds s of changes and $seconds s of life and death with KASAN, $messages messages, \
$decisions random packets per scheme"
fi
for kernel in "${kernels[@]}"; do
  "$here/kernel.sh" "$kernel"
  "$here/module.sh" "$kernel"
done
cargo build --quiet --locked -p cemark-conformance --example kernel
example=${CARGO_TARGET_DIR:-target}/debug/examples/kernel
echo "== vectors and random packets"
SECONDS_MAX=3600 "$here/uml.sh" uml "$here/vectors.sh" EXAMPLE="$(realpath "$example")" \
  DECISIONS="$decisions"
echo "== under traffic"
SECONDS_MAX=1800 "$here/uml.sh" uml "$here/port.py" SHORT="$short" SECONDS="${short:-4}" \
  MESSAGES="$messages"
echo "== lines of cemark export"
program=${CEMARK:-}
if [ -z "$program" ]; then
  cargo build --quiet --locked -p cemark
  program=${CARGO_TARGET_DIR:-target}/debug/cemark
fi
"$here/uml.sh" uml "$here/exported.py" CEMARK="$(realpath "$program")"
echo "== a tenth of what any local user may do"
"$here/uml.sh" uml "$here/walk.py" PART=10
if [ "${1:-}" = proof ]; then "$here/proof.sh" "$seconds" "$messages"; fi
