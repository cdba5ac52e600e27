/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * TCN: a step on the time a packet has waited (Bai et al., CoNEXT 2016).
 * Twin of crates/marking/src/tcn.rs; parameters and ties: docs/schemes/tcn.md.
 */
#ifndef CEMARK_TCN_H
#define CEMARK_TCN_H

#include "at.h"

/* Places in the array of parameters that cemark_tcn_set() reads. */
enum cemark_tcn_param {
	CEMARK_TCN_THRESHOLD,
};

struct cemark_tcn_params {
	u64 threshold; /* longest wait that passes unmarked, ns */
};

CEMARK_NO_STATE(tcn)

CEMARK_FN void cemark_tcn_set(struct cemark_tcn_params *p, const u64 *values, const struct cemark_queue_spec *queue)
{
	(void)queue;
	p->threshold = values[CEMARK_TCN_THRESHOLD];
}

CEMARK_FN u32 cemark_tcn_traits(const struct cemark_tcn_params *p)
{
	(void)p;
	return CEMARK_AT_DEQUEUE;
}

CEMARK_FN u32 cemark_tcn_dequeue(const struct cemark_tcn_params *p, struct cemark_tcn_vars *v, const struct cemark_at *at)
{
	(void)v;
	return at->sojourn > p->threshold ? CEMARK_MARK(CEMARK_INSTANT) : CEMARK_PASS;
}

CEMARK_NO_ENQUEUE(tcn)
CEMARK_NO_EMPTIED(tcn)
CEMARK_NO_CLOCK(tcn)

#endif
