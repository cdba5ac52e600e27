/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * TCN: mark a packet that has waited longer than a threshold.
 * Bai et al., "Enabling ECN over Generic Packet Scheduling", CoNEXT 2016.
 *
 * A threshold on the wait needs no adjustment to a queue's share of the link, so it works behind
 * any scheduler. There is no state: each packet is judged on its own as it leaves.
 *
 * The same in Rust: crates/marking/src/tcn.rs. Ties and sources: docs/schemes/tcn.md.
 */
#ifndef CEMARK_TCN_H
#define CEMARK_TCN_H

#include "at.h"

struct cemark_tcn_config {
	u64 threshold; /* ns, up to CEMARK_SEC: longest wait that is not marked */
};

/* The setting of the ECN# paper's comparison (section 5.4). */
#define CEMARK_TCN_DEFAULTS                                                                        \
	{                                                                                          \
		.threshold = 150 * CEMARK_USEC,                                                    \
	}

struct cemark_tcn_params {
	u64 threshold; /* ns */
};

CEMARK_NO_STATE(tcn)

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_tcn_configure(struct cemark_tcn_params *p, const struct cemark_tcn_config *c,
				   const struct cemark_queue_spec *queue)
{
	(void)queue;
	if (c->threshold > CEMARK_SEC)
		return -CEMARK_EINVAL;
	p->threshold = c->threshold;
	return 0;
}

CEMARK_FN u32 cemark_tcn_dequeue(const struct cemark_tcn_params *p, struct cemark_tcn_vars *v,
				 const struct cemark_at *at)
{
	(void)v;
	return at->sojourn > p->threshold ? CEMARK_MARK(CEMARK_INSTANT) : CEMARK_PASS;
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

enum cemark_tcn_param {
	CEMARK_TCN_THRESHOLD,
};

/* Parameters by position. They are not checked. */
CEMARK_FN void cemark_tcn_set(struct cemark_tcn_params *p, const u64 *values,
			      const struct cemark_queue_spec *queue)
{
	(void)queue;
	p->threshold = values[CEMARK_TCN_THRESHOLD];
}

CEMARK_FN u32 cemark_tcn_traits(const struct cemark_tcn_params *p)
{
	(void)p;
	return CEMARK_AT_DEQUEUE;
}

CEMARK_NO_ENQUEUE(tcn)
CEMARK_NO_EMPTIED(tcn)
CEMARK_NO_CLOCK(tcn)

#endif
