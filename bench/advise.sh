#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The time until `cemark advise` prints thresholds (at most 10 s), and until it ends (at most 2
# minutes and a few seconds), for five fabrics.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked --quiet
cemark=$PWD/target/release/cemark
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

seconds() {
    local begun ended
    begun=$(date +%s.%N)
    "$@" > answer.txt 2> said.txt
    ended=$(date +%s.%N)
    awk "BEGIN { printf \"%.1f\", $ended - $begun }"
}

failed=0
printf '%-40s %10s %10s  %s\n' fabric thresholds whole "last sentence"
advise() {
    local name=$1 rules whole
    shift
    rules=$(seconds "$cemark" advise "$@" --rules)
    whole=$(seconds "$cemark" advise "$@" --quiet)
    printf '%-40s %8s s %8s s  ' "$name" "$rules" "$whole"
    tail -n 3 answer.txt | tr '\n' ' '
    echo
    awk "BEGIN { exit !($rules <= 10 && $whole <= 125) }" || failed=1
}

advise "DCTCP, 10 Gb/s, 20 to 120 us" --rate 10G --rtt 20us..120us
advise "DCTCP, 100 Gb/s, 8 us" --rate 100G --rtt 8us
advise "RoCE beside TCP, 25 and 100 Gb/s" --rate 25G --uplink 100G --rtt p50=12us,p99=95us \
    --class storage:dcqcn:26 --class rest:dctcp
advise "RoCE alone, 100 and 400 Gb/s, NVUE's set" --rate 100G --uplink 400G --rtt 10us..20us \
    --class storage:dcqcn:26 --against nvue
advise "DCTCP, 40 Gb/s, 64 hosts" --rate 40G --rtt 30us..200us --hosts 64
exit $failed
