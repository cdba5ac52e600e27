#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What test.sh does, longer, and what it does not do: 100 kills, processor time a packet, and tables
# of goodput on a kernel in virtual time. 30 to 60 minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
cargo build --quiet --release --locked -p cemark-router
EDGE=$(realpath "${CARGO_TARGET_DIR:-target}/release/cemark-edge")
export EDGE KILLS=100
alone() { "$here/namespaces.sh" python3 "$here/check.py" "$@"; }
alone both_versions fields too_large killed ended flooded reports repaired blocked
alone trains
alone rates
"$here/virtual.sh" wan.py PROOF=1
TIMES=5 python3 "$here/gains.py" point grid
