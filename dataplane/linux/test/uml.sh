#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# uml.sh KERNEL SCRIPT [NAME=VALUE]...: runs the script as root inside the test kernel, with these
# variables, and passes on its output and exit code. KERNEL: uml or uml-debug, as kernel.sh builds
# them. Time is virtual: the processor is infinitely fast, so delays are what the script has set and
# not what this machine can do. SECONDS_MAX: the most that a run may take, in real seconds.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${CEMARK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cemark}/linux
kernel=$1 script=$(realpath "$2")
shift 2
[ -x "$cache/$kernel/linux" ] || { echo "$0: no kernel; run $here/kernel.sh $kernel" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The kernel's command line has no quotes that reach the first process, so a file has the variables.
for pair in "$@"; do
  printf 'export %s=%q\n' "${pair%%=*}" "${pair#*=}"
done >"$scratch/variables"
printf 'export %s=%q\n' RUN "$script" CACHE "$cache" HERE "$here" MODULE "$cache/$kernel-module" \
  TC_LIB_DIR "$cache/$kernel-module/tc" >>"$scratch/variables"
timeout "${SECONDS_MAX:-600}" "$cache/$kernel/linux" mem="${CEMARK_MEM:-384M}" \
  root=/dev/root rootfstype=hostfs rootflags=/ ro init="$here/init.sh" \
  VARIABLES="$scratch/variables" ${TIME:-time-travel=inf-cpu} con=null con0=null,fd:1 quiet \
  loglevel=1 random.trust_cpu=on panic=-1 </dev/null 2>&1 | sed -u 's,\r,,g' | tee "$scratch/log" |
  grep --line-buffered -v -e '^@@exit' -e '^reboot: Power down' || true
code=$(sed -n 's/^@@exit //p' "$scratch/log" | tail -1)
[ -n "$code" ] || { echo "$0: the kernel stopped before the script did" >&2; exit 1; }
exit "$code"
