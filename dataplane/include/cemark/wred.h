/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * WRED as switches implement it: mark with a probability that rises with the queue length.
 *
 * Up to min nothing is marked, above max everything is, and between them the probability rises
 * from 0 to drop_probability. Each packet is drawn independently, as it joins the queue or as it
 * leaves it. The length is the instantaneous one, or an average in which the newest length counts
 * 2^-weight. The parameters have the names of SAI, SONiC and Cumulus Linux.
 *
 * The same in Rust: crates/marking/src/wred.rs. Ties and sources: docs/schemes/wred.md.
 */
#ifndef CEMARK_WRED_H
#define CEMARK_WRED_H

#include "at.h"
#include "fixed.h"

struct cemark_wred_config {
	u64 min, max;         /* bytes, 32 bits, min <= max */
	u32 drop_probability; /* parts of 2^16, up to CEMARK_ONE: probability at max */
	u32 weight;           /* 0 to 15: the newest length counts 2^-weight; 0: no averaging */
	enum cemark_hook hook;
};

/* Cumulus Linux: 150 KB, 1500 KB, 100 %, no averaging. */
#define CEMARK_WRED_DEFAULTS                                                                       \
	{                                                                                          \
		.min = 150000,                                                                     \
		.max = 1500000,                                                                    \
		.drop_probability = CEMARK_PERCENT(100),                                           \
		.weight = 0,                                                                       \
		.hook = CEMARK_HOOK_ENQUEUE,                                                       \
	}

struct cemark_wred_params {
	u32 min, max;    /* bytes */
	u32 probability; /* parts of 2^16 */
	u32 newest;      /* parts of 2^16: weight of the newest length; CEMARK_ONE: no averaging */
	u8 at_dequeue;   /* 1: judge departures; 0: arrivals */
};

struct cemark_wred_vars {
	u64 avg; /* smoothed length, 2^-12 bytes; 0 without averaging */
};

CEMARK_FN void cemark_wred_apply(struct cemark_wred_params *p, const struct cemark_wred_config *c,
				 const struct cemark_queue_spec *queue)
{
	(void)queue;
	p->min = cemark_to32(c->min);
	p->max = cemark_to32(c->max);
	p->probability = cemark_min32(c->drop_probability, CEMARK_ONE);
	p->newest = CEMARK_ONE >> cemark_min32(c->weight, 15);
	p->at_dequeue = c->hook == CEMARK_HOOK_DEQUEUE;
}

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_wred_configure(struct cemark_wred_params *p,
				    const struct cemark_wred_config *c,
				    const struct cemark_queue_spec *queue)
{
	if (c->min > c->max || c->max > CEMARK_U32_MAX || c->drop_probability > CEMARK_ONE ||
	    c->weight > 15 || (u32)c->hook > CEMARK_HOOK_DEQUEUE)
		return -CEMARK_EINVAL;
	cemark_wred_apply(p, c, queue);
	return 0;
}

CEMARK_FN void cemark_wred_init(const struct cemark_wred_params *p, struct cemark_wred_vars *v)
{
	(void)p;
	v->avg = 0;
}

/* New parameters keep the average, unless they switch averaging off. */
CEMARK_FN void cemark_wred_retuned(const struct cemark_wred_params *p, struct cemark_wred_vars *v)
{
	if (p->newest == CEMARK_ONE)
		v->avg = 0;
}

CEMARK_FN u32 cemark_wred_judge(const struct cemark_wred_params *p, struct cemark_wred_vars *v,
				const struct cemark_at *at)
{
	u32 length = at->queue_bytes;
	u32 over = CEMARK_INSTANT;

	if (p->newest != CEMARK_ONE) {
		v->avg = cemark_ewma(v->avg, at->queue_bytes, p->newest);
		length = (u32)(v->avg >> CEMARK_AVG_BITS);
		over = CEMARK_AVERAGE;
	}
	if (length > p->max)
		return CEMARK_MARK(over);
	if (length > p->min &&
	    cemark_chance(at->salt, 0, cemark_ramp(length, p->min, p->max, p->probability)))
		return CEMARK_MARK(CEMARK_RANDOM);
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_wred_enqueue(const struct cemark_wred_params *p, struct cemark_wred_vars *v,
				  const struct cemark_at *at)
{
	return cemark_wred_judge(p, v, at);
}

CEMARK_FN u32 cemark_wred_dequeue(const struct cemark_wred_params *p, struct cemark_wred_vars *v,
				  const struct cemark_at *at)
{
	return cemark_wred_judge(p, v, at);
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

enum cemark_wred_param {
	CEMARK_WRED_MIN,
	CEMARK_WRED_MAX,
	CEMARK_WRED_DROP_PROBABILITY,
	CEMARK_WRED_WEIGHT,
	CEMARK_WRED_HOOK,
};

/* Parameters by position. They are not checked: one that is too large counts as the largest. */
CEMARK_FN void cemark_wred_set(struct cemark_wred_params *p, const u64 *values,
			       const struct cemark_queue_spec *queue)
{
	const struct cemark_wred_config c = {
		.min = values[CEMARK_WRED_MIN],
		.max = values[CEMARK_WRED_MAX],
		.drop_probability = cemark_to32(values[CEMARK_WRED_DROP_PROBABILITY]),
		.weight = cemark_to32(values[CEMARK_WRED_WEIGHT]),
		.hook = (enum cemark_hook)values[CEMARK_WRED_HOOK],
	};

	cemark_wred_apply(p, &c, queue);
}

CEMARK_FN u32 cemark_wred_traits(const struct cemark_wred_params *p)
{
	return (p->at_dequeue ? CEMARK_AT_DEQUEUE | CEMARK_READS_LENGTH : CEMARK_AT_ENQUEUE) |
	       (p->min < p->max ? CEMARK_DRAWS : 0);
}

CEMARK_NO_EMPTIED(wred)
CEMARK_NO_CLOCK(wred)

#endif
