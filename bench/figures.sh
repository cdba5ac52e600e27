#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Runs figures in full, one after the other, and keeps what each printed in
# bench/proof/figures/NAME.log. A session that is too short for all of them continues with the same
# command: finished points stay in RUNS, and a figure is left out if its log is of this command and
# simulator and its file has not changed since (AGAIN=1 runs it all the same). The line `build:` of
# a log is the fingerprint of the simulator (docs/output.md).
#
#   bench/figures.sh RUNS [FIGURE...]        every figure, by default
#
# OPTIONS="--look 2" and JOBS=1 in the environment are passed on; CEMARK names another program.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:?"a folder for the points of all figures"}
shift
program=${CEMARK:-target/release/cemark}
jobs=${JOBS:-$(nproc)}
logs=bench/proof/figures
mkdir -p "$logs"
[ $# -gt 0 ] || set -- $(basename -s .toml figures/*.toml | grep -vx -e calibration -e charts)

# A figure that simulates nothing names the simulator in an instant.
simulator=$("$program" figure ecnsharp-6 --full --quiet --out "$runs" | sed -n 's/^build: //p')
# The logs themselves change while this runs.
commit=$(git rev-parse --short=12 HEAD)
git diff --quiet HEAD -- . ':!bench/proof' || commit+=-dirty
machine="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n1), $(nproc) processors,\
 $(rustc --version)"

# The figure's file at a commit without what only a quick run reads.
in_full() {
  git show "$1:figures/$name.toml" 2>/dev/null |
    awk '/^\[/ { quick = /^\[+quick[].]/ } !quick' || echo "no such commit: $1"
}

for name in "$@"; do
  log=$logs/$name.log
  words="figure $name --full ${OPTIONS:-}"
  words=${words% }
  # A log of fewer looks is not the answer to this command.
  if grep -q "^build: $simulator\$" "$log" 2>/dev/null &&
    grep -q "^command: cemark $words --jobs" "$log"; then
    of=$(sed -n 's/^commit: \([0-9a-f]*\).*/\1/p' "$log" | head -n1)
    if [ -z "${AGAIN:-}" ] && [ "$(in_full "$of")" = "$(in_full HEAD)" ]; then
      echo "$name: its log is of this simulator and this file"
      continue
    fi
  fi
  part=$(mktemp)
  {
    echo "proof: figure $name in full"
    echo "command: cemark $words --jobs $jobs"
    echo "commit: $commit"
    echo "machine: $machine"
    echo "began: $(date -u +'%F %T')"
    echo
  } >"$part"
  # Exit code 1 says that a verdict differs from the recorded one; the log has it.
  # shellcheck disable=SC2086
  "$program" $words --jobs "$jobs" --out "$runs" --quiet 2>>"$part.err" |
    grep -v '^report: \|^page: ' >>"$part" || true
  if grep -q '^build: ' "$part"; then
    mv "$part" "$log"
    echo "$name: $(grep -E '^[0-9]+ rows?: ' "$log")"
  else
    echo "$name is not finished:" && tail -n 5 "$part.err"
    rm -f "$part"
  fi
  rm -f "$part.err"
done
