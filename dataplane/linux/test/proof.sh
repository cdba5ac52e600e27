#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# proof.sh SECONDS MESSAGES: what run.sh adds with `proof`. sparse; the C code of the schemes with
# the compiler's sanitizers; the module under traffic for twice these seconds, and all that a user
# without privileges may do with it, in a kernel that checks memory, locks and undefined behaviour.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."
cache=${CEMARK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cemark}/linux
if ! command -v sparse >/dev/null; then
  root=; [ "$(id -u)" = 0 ] || root=sudo
  $root apt-get install -y -qq --no-install-recommends sparse
fi
echo "== sparse"
find "$cache/uml-module" -name '*.c' -exec touch {} +
said=$(make -s -C "$cache/uml" ARCH=um M="$cache/uml-module" CEMARK_TEST=1 C=2 \
  CEMARK_HEADERS="$cache/uml-module/include" modules 2>&1) || true
[ -z "$said" ] || { echo "$said"; exit 1; }
echo "no line"
echo "== the headers with AddressSanitizer and UBSan, ${CEMARK_DECISIONS:=10000000} packets each"
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=\
"env LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0"
CEMARK_SANITIZE=1 CEMARK_DECISIONS="$CEMARK_DECISIONS" cargo test --quiet --locked \
  -p cemark-conformance alike -- --nocapture --skip bytecode
unset CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER
echo "== under traffic, with KASAN, lockdep, UBSAN, kmemleak and debug objects"
SECONDS_MAX=7200 CEMARK_MEM=768M "$here/uml.sh" uml-debug "$here/port.py" SHORT=1 \
  SECONDS="$1" MESSAGES="$2"
echo "== what any local user may do, with the same"
SECONDS_MAX=7200 CEMARK_MEM=768M "$here/uml.sh" uml-debug "$here/walk.py"
