#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The scenarios of examples/testbed on a Linux kernel, beside the simulator: prints their tables.
# The program is that of a dev build.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --quiet --locked
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
for scenario in examples/testbed/*.toml; do
  name=$(basename "$scenario" .toml)
  echo "== $name"
  "${CARGO_TARGET_DIR:-target}/debug/cemark" testbed run "$scenario" --out "$runs/$name" |
    sed "s,$runs/,,"
done
