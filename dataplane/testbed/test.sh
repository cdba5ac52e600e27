#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Small runs of `cemark testbed` on a kernel in virtual time, for CI: two long flows, CUBIC beside
# DCTCP in a queue and in traffic classes, persistent connections through a dumbbell. Their
# differences from the simulator must be within twice the bounds of the tables, which single seeds
# of so short runs never reach. It takes a minute of processor time, and 5 to 8 more where the cache
# has no kernel yet. CEMARK: the program [default: a dev build of this checkout].
set -euo pipefail
cd "$(dirname "$0")/../.."
root=; [ "$(id -u)" = 0 ] || root=sudo
if ! command -v tc >/dev/null || ! command -v kmod >/dev/null; then
  $root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends iproute2 kmod
fi
program=${CEMARK:-}
if [ -z "$program" ]; then
  cargo build --quiet --locked -p cemark --features deploy
  program=${CARGO_TARGET_DIR:-target}/debug/cemark
fi
dataplane/linux/test/kernel.sh uml-hz1000
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

one() {
  local scenario=$1 rows=$2
  shift 2
  echo "== $scenario"
  "$program" testbed run "examples/testbed/$scenario.toml" --out "$runs/$scenario" --quiet \
    --format json --seeds 1 "$@" >"$runs/$scenario.json"
  python3 dataplane/testbed/check.py "$runs/$scenario.json" "$rows"
}

one long-flows 'goodput,queue mean,marked share' --set workload.count=2 --set max-time=600ms
# The share of marked packets of two DCTCP flows that CUBIC suppresses is not a matter of seconds.
one mixed 'goodput,queue mean' --set max-time=1600ms
# A marker for each traffic class: CoDel drops CUBIC's packets, TCN marks DCTCP's.
one classes 'goodput,queue mean,marked share' --set max-time=1600ms
one persistent 'short mean,short p50' --set workload.flows=300 --set workload.warmup=30
