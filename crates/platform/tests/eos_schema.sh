#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# `cargo xtask proof eos`: pyavd in a virtual environment, and eos_schema.py with two scenarios.
set -euo pipefail
cd "$(dirname "$0")/../../.."
cargo build --locked --quiet
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
python3 -m venv "$made/venv"
"$made/venv/bin/pip" install --quiet pyavd==6.4.0
check() { "$made/venv/bin/python" crates/platform/tests/eos_schema.py target/debug/cemark "$@"; }
check scenarios/rtt-variation.toml DCTCP-RED-Tail TCN ECN#
check scenarios/mixed-roce-tcp.toml SONiC TCN ECN#
