/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * WRED as switches have it: a probability that rises with the queue length, each packet judged on its own.
 * Twin of crates/marking/src/wred.rs; parameters and ties: docs/schemes/wred.md.
 */
#ifndef CEMARK_WRED_H
#define CEMARK_WRED_H

#include "at.h"
#include "fixed.h"

/* Places in the array of parameters that cemark_wred_set() reads. */
enum cemark_wred_param {
	CEMARK_WRED_MIN,
	CEMARK_WRED_MAX,
	CEMARK_WRED_DROP_PROBABILITY,
	CEMARK_WRED_WEIGHT,
};

struct cemark_wred_params {
	u32 min, max;    /* length, bytes */
	u32 probability; /* at max, parts of 2^16 */
	u32 newest;      /* weight of the newest length, parts of 2^16: all of them where lengths are not averaged */
};

struct cemark_wred_vars {
	u64 avg; /* smoothed length, 2^-12 bytes; 0 where lengths are not averaged */
};

CEMARK_FN void cemark_wred_set(struct cemark_wred_params *p, const u64 *values, const struct cemark_queue_spec *queue)
{
	(void)queue;
	p->min = cemark_to32(values[CEMARK_WRED_MIN]);
	p->max = cemark_to32(values[CEMARK_WRED_MAX]);
	p->probability = cemark_min32(cemark_to32(values[CEMARK_WRED_DROP_PROBABILITY]), CEMARK_ONE);
	p->newest = CEMARK_ONE >> cemark_min32(cemark_to32(values[CEMARK_WRED_WEIGHT]), 15);
}

CEMARK_FN void cemark_wred_init(const struct cemark_wred_params *p, struct cemark_wred_vars *v)
{
	(void)p;
	v->avg = 0;
}

/* After new parameters: an average is kept, unless lengths are no longer averaged. */
CEMARK_FN void cemark_wred_retuned(const struct cemark_wred_params *p, struct cemark_wred_vars *v)
{
	if (p->newest == CEMARK_ONE)
		v->avg = 0;
}

CEMARK_FN u32 cemark_wred_traits(const struct cemark_wred_params *p)
{
	return CEMARK_AT_ENQUEUE | (p->min < p->max ? CEMARK_DRAWS : 0);
}

CEMARK_FN u32 cemark_wred_enqueue(const struct cemark_wred_params *p, struct cemark_wred_vars *v, const struct cemark_at *at)
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
	if (length > p->min && cemark_chance(at->salt, 0, cemark_ramp(length, p->min, p->max, p->probability)))
		return CEMARK_MARK(CEMARK_RANDOM);
	return CEMARK_PASS;
}

CEMARK_NO_DEQUEUE(wred)
CEMARK_NO_EMPTIED(wred)
CEMARK_NO_CLOCK(wred)

#endif
