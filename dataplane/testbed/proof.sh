#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The scenarios of examples/testbed on a Linux kernel, beside the simulator: prints their tables.
# CEMARK: the program [default: a dev build of this checkout].
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${CEMARK:-}
if [ -z "$program" ]; then
  cargo build --quiet --locked
  program=${CARGO_TARGET_DIR:-target}/debug/cemark
fi
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
for scenario in examples/testbed/*.toml; do
  name=$(basename "$scenario" .toml)
  echo "== $name"
  "$program" testbed run "$scenario" --out "$runs/$name" |
    sed "s,$runs/,,"
done
