#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# module.sh KERNEL: builds the module, the module of the tests and the plugin for a test kernel, in
# the cache and not in the checkout. Any warning fails.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${CEMARK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cemark}/linux
kernel=$1 out=$cache/$1-module
mkdir -p "$out"
# Only what has changed, so that make builds only that.
cp -Ru "$here"/../{Kbuild,Makefile,test,tc} "$here"/../*.[ch] "$here"/../../include "$out"/
make -s -C "$out" tc CFLAGS=-Werror
make -s -C "$cache/$kernel" ARCH=um M="$out" CEMARK_HEADERS="$out/include" CEMARK_TEST=1 W=1 \
  KCFLAGS=-Werror modules
