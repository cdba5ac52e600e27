#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Compares the speed of two builds of cemark: runs each workload with one and then with the other,
# PAIRS times (5), and prints the median packet-hops per CPU second of both and the median of the
# pairs' ratios. The two runs of a pair share the same minute, so the ratio says more than the
# speeds. Digests of both are printed where they differ.
set -euo pipefail
if [ $# -lt 2 ]; then
  echo "usage: [PAIRS=5] bench/paired.sh OLD NEW [WORKLOAD...]" >&2
  echo "OLD and NEW are two programs, such as ../before/target/release/cemark" >&2
  exit 2
fi
old=$1 new=$2
shift 2
for program in "$old" "$new"; do
  [ -x "$program" ] || { echo "$program is not a program" >&2; exit 2; }
done
pairs=${PAIRS:-5}
[[ $pairs =~ ^[1-9][0-9]*$ ]] || { echo "PAIRS=$pairs: write a number from 1" >&2; exit 2; }
[ $# -gt 0 ] || set -- leafspine-128 leafspine-1024 websearch-128 dwrr-128 dcqcn-128-pfc
command -v python3 >/dev/null || { echo "python3 is needed" >&2; exit 1; }

one() { "$1" bench --one "$2"; }

printf '%-20s %8s %8s %8s  %s\n' workload old new ratio 'M packet-hops / CPU s; ratios min to max'
for name in "$@"; do
  for _ in $(seq "$pairs"); do
    # On separate lines: a failure of either ends the script.
    a=$(one "$old" "$name")
    b=$(one "$new" "$name")
    printf '%s\0%s\0' "$a" "$b"
  done | python3 -c '
import json, statistics, sys
runs = [json.loads(part) for part in sys.stdin.read().split("\0") if part]
if not runs:
    sys.exit(1)  # the program has said why
old, new = runs[::2], runs[1::2]
speed = lambda run: run["packet_hops_per_cpu_second"] / 1e6
ratios = [speed(b) / speed(a) for a, b in zip(old, new, strict=True)]
median = statistics.median
print(f"{sys.argv[1]:20} {median(map(speed, old)):8.2f} {median(map(speed, new)):8.2f}"
      f" {median(ratios):8.3f}  {min(ratios):.3f} to {max(ratios):.3f}")
digests = [run["digest"] for run in runs]
if len(set(digests)) > 1:
    print(f"  digests differ: {digests[0]} and {digests[1]}")
' "$name"
done
