// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * One scheme of the catalogue, made callable: cc -DCEMARK_STEM=red '-DCEMARK_HEADER="cemark/red.h"' -Iinclude marker.c
 */
#include CEMARK_HEADER

#include "cemark/marker.h"

CEMARK_MARKER(CEMARK_STEM);
