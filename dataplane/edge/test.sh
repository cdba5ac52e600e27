#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The edge routers on this kernel, in namespaces of their own, and on a kernel in virtual time: two
# minutes. Nothing outside of the namespaces is touched. EDGE: the program `cemark-edge` [default: a
# dev build of this checkout]. KILLS: how often a router is killed (6).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=; [ "$(id -u)" = 0 ] || root=sudo
if ! command -v tc >/dev/null; then
  $root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends iproute2
fi
if [ -z "${EDGE:-}" ]; then
  cd "$here/../.."
  cargo build --quiet --locked -p cemark-router
  EDGE=$(realpath "${CARGO_TARGET_DIR:-target}/debug/cemark-edge")
fi
export EDGE
if [ -e /dev/net/tun ] || $root modprobe tun 2>/dev/null; then
  "$here/namespaces.sh" python3 "$here/check.py" \
    both_versions fields too_large killed ended flooded reports repaired blocked
  "$here/namespaces.sh" python3 "$here/check.py" trains
else
  echo "SKIPPED: dataplane/edge/check.py. It needs tun devices (/dev/net/tun)."
fi
"$here/virtual.sh" wan.py
