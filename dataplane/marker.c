// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The entry points of one scheme of the catalogue:
 *
 *   cc -DCEMARK_STEM=red '-DCEMARK_HEADER="cemark/red.h"' -I include -c marker.c
 */
#include CEMARK_HEADER

#include "cemark/marker.h"

CEMARK_MARKER(CEMARK_STEM);
