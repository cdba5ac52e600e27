#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# What a newcomer waits for, at two commits one after the other on this machine: seconds of the
# clock and of processors of the commands that README names, each in a clean clone with nothing but
# the downloads cached, and the number of crates.
set -euo pipefail
if [ $# -lt 2 ]; then
  echo "usage: bench/front-door.sh BEFORE AFTER [build] [tests] [pip]" >&2
  echo "BEFORE and AFTER are commits; without further words all three are measured" >&2
  exit 2
fi
commits=("$1" "$2")
shift 2
[ $# -gt 0 ] || set -- build tests pip
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
unset CARGO_TARGET_DIR

# timed NAME COMMAND...: prints seconds of the clock and CPU seconds of a command.
timed() {
  local name=$1 status=0
  shift
  TIMEFORMAT='%R %U %S'
  { time "$@" >"$scratch/out" 2>&1 || status=$?; } 2>"$scratch/time"
  [ "$status" = 0 ] || { tail -n 20 "$scratch/out"; exit 1; }
  awk -v name="$name" '{ printf "%-44s %6.0f s, %6.0f CPU s\n", name, $1, $2 + $3 }' \
    <"$scratch/time"
}

for commit in "${commits[@]}"; do
  git clone --quiet "$root" "$scratch/clone"
  cd "$scratch/clone"
  git checkout --quiet "$commit"
  cargo fetch --locked --quiet
  echo "== $(git log -1 --format='%h %s')"
  printf '%-44s %6d\n' "crates of the program" \
    "$(cargo tree --locked -p cemark -e normal,build --prefix none | sed 's/ (\*)//' |
      sort -u | grep -c .)"
  for part in "$@"; do
    case $part in
      build)
        timed "cargo build --release" cargo build --release --locked
        timed "one replication of rtt-variation" \
          target/release/cemark run rtt-variation --seeds 1 --quiet
        ;;
      tests)
        timed "cargo test --workspace" cargo test --workspace --locked
        printf '%-44s %6d\n' "tests" \
          "$(awk '/^test result: ok/ { n += $4 } END { print n }' "$scratch/out")"
        ;;
      pip)
        python3 -m venv "$scratch/venv"
        timed "pip install ./python" "$scratch/venv/bin/pip" install --quiet ./python
        rm -rf "$scratch/venv"
        ;;
      *)
        echo "$part: write build, tests or pip" >&2
        exit 2
        ;;
    esac
  done
  cd "$root"
  rm -rf "$scratch/clone"
done
