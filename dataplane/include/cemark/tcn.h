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

/* Keeps nothing. */
struct cemark_tcn_vars {
};

CEMARK_FN void cemark_tcn_set(struct cemark_tcn_params *p, const u64 *values, const struct cemark_queue_spec *queue)
{
	(void)queue;
	p->threshold = values[CEMARK_TCN_THRESHOLD];
}

CEMARK_FN void cemark_tcn_init(const struct cemark_tcn_params *p, struct cemark_tcn_vars *v)
{
	(void)p;
	(void)v;
}

/* After new parameters: what is known is kept. */
CEMARK_FN void cemark_tcn_retuned(const struct cemark_tcn_params *p, struct cemark_tcn_vars *v)
{
	(void)p;
	(void)v;
}

CEMARK_FN u32 cemark_tcn_traits(const struct cemark_tcn_params *p)
{
	(void)p;
	return CEMARK_AT_DEQUEUE;
}

CEMARK_FN u32 cemark_tcn_enqueue(const struct cemark_tcn_params *p, struct cemark_tcn_vars *v, const struct cemark_at *at)
{
	(void)p;
	(void)v;
	(void)at;
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_tcn_dequeue(const struct cemark_tcn_params *p, struct cemark_tcn_vars *v, const struct cemark_at *at)
{
	(void)v;
	return at->sojourn > p->threshold ? CEMARK_MARK(CEMARK_INSTANT) : CEMARK_PASS;
}

CEMARK_FN void cemark_tcn_emptied(const struct cemark_tcn_params *p, struct cemark_tcn_vars *v, u64 now)
{
	(void)p;
	(void)v;
	(void)now;
}

/* It needs no clock. */
CEMARK_FN void cemark_tcn_wake(const struct cemark_tcn_params *p, struct cemark_tcn_vars *v, const struct cemark_at *at)
{
	(void)p;
	(void)v;
	(void)at;
}

CEMARK_FN bool cemark_tcn_next_wake(const struct cemark_tcn_params *p, const struct cemark_tcn_vars *v, u64 *when)
{
	(void)p;
	(void)v;
	(void)when;
	return 0;
}

#endif
