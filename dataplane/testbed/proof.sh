#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The scenarios of examples/testbed on a Linux kernel, beside the simulator: prints their tables and
# how many of their rows are within their bounds. With CEMARK, the path of a program, that one is
# run; otherwise a dev build of this checkout. It takes 20 to 30 minutes of processor time.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${CEMARK:-}
if [ -z "$program" ]; then
  cargo build --quiet --locked --features deploy
  program=${CARGO_TARGET_DIR:-target}/debug/cemark
fi
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

one() {
  local name=$1 scenario=$2
  shift 2
  echo "== $name"
  "$program" testbed run "$scenario" --out "$runs/$name" "$@" |
    sed "s,$runs/,," | tee -a "$runs/tables"
}

for scenario in examples/testbed/*.toml; do
  one "$(basename "$scenario" .toml)" "$scenario"
done
# Sizes as published, ten times as long: one seed, since a kernel takes minutes for each.
one web-search-published examples/testbed/web-search.toml --seeds 1 \
  --set workload.sizes=web-search --set measure.queue-interval=5ms

count() { grep -c -E "$1 [0-9]+ %\$" "$runs/tables" || true; }
echo
echo "rows with a bound: $(count '  within') within, $(count 'within, not decided,') within but \
not decided, $(count 'beyond, not decided,') beyond but not decided, $(count '  beyond') beyond"
