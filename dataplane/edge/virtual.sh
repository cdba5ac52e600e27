#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# virtual.sh SCRIPT [NAME=VALUE]...: runs a script of this folder in the test kernel, where time is
# virtual: delays are what the script has set and not what this machine can do. EDGE: the program
# `cemark-edge`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
script=$1
shift
export CEMARK_MEM=${CEMARK_MEM:-512M}
"$here/../linux/test/kernel.sh" uml-hz1000 >&2
exec "$here/../linux/test/uml.sh" uml-hz1000 "$here/inside.sh" EDGE="$EDGE" SCRIPT="$here/$script" \
  "$@"
