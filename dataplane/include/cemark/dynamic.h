/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dynamic ECN: thresholds that follow the queue's limit under a dynamic buffer threshold, as shipping switches have them; a static one
 * beside it, either marks.
 * Twin of crates/marking/src/dynamic.rs; parameters and ties: docs/schemes/dynamic.md.
 */
#ifndef CEMARK_DYNAMIC_H
#define CEMARK_DYNAMIC_H

#include "at.h"
#include "fixed.h"

/* Places in the array of parameters that cemark_dynamic_set() reads. */
enum cemark_dynamic_param {
	CEMARK_DYNAMIC_MODE,
	CEMARK_DYNAMIC_OFFSET,
	CEMARK_DYNAMIC_FLOOR,
	CEMARK_DYNAMIC_MIN_PERCENT,
	CEMARK_DYNAMIC_MAX_PERCENT,
	CEMARK_DYNAMIC_PMAX,
	CEMARK_DYNAMIC_K,
	CEMARK_DYNAMIC_COUNT_SELF,
	CEMARK_DYNAMIC_CMP,
	CEMARK_DYNAMIC_HOOK,
};

struct cemark_dynamic_params {
	u32 k;           /* the static threshold, bytes; CEMARK_U32_MAX: none */
	u32 offset;      /* how far below the limit marking begins, bytes */
	u32 floor;       /* smallest dynamic threshold, bytes */
	u32 min_percent; /* foot of the ramp, parts of 2^16 of the limit */
	u32 max_percent; /* its head */
	u32 pmax;        /* probability there, parts of 2^16 */
	u8 relative;     /* percentages, not an offset */
	u8 count_self;   /* the judged packet counts itself */
	u8 at_least;     /* mark from a threshold on, not above it */
	u8 at_dequeue;
};

CEMARK_NO_STATE(dynamic)

CEMARK_FN void cemark_dynamic_set(struct cemark_dynamic_params *p, const u64 *values, const struct cemark_queue_spec *queue)
{
	(void)queue;
	p->k = cemark_to32(values[CEMARK_DYNAMIC_K]);
	p->offset = cemark_to32(values[CEMARK_DYNAMIC_OFFSET]);
	p->floor = cemark_to32(values[CEMARK_DYNAMIC_FLOOR]);
	p->min_percent = cemark_min32(cemark_to32(values[CEMARK_DYNAMIC_MIN_PERCENT]), CEMARK_ONE);
	p->max_percent = cemark_min32(cemark_to32(values[CEMARK_DYNAMIC_MAX_PERCENT]), CEMARK_ONE);
	p->pmax = cemark_min32(cemark_to32(values[CEMARK_DYNAMIC_PMAX]), CEMARK_ONE);
	p->relative = values[CEMARK_DYNAMIC_MODE] == 1;
	p->count_self = values[CEMARK_DYNAMIC_COUNT_SELF] == 1;
	p->at_least = values[CEMARK_DYNAMIC_CMP] == 1;
	p->at_dequeue = values[CEMARK_DYNAMIC_HOOK] == 1;
}

CEMARK_FN u32 cemark_dynamic_traits(const struct cemark_dynamic_params *p)
{
	return (p->at_dequeue ? CEMARK_AT_DEQUEUE | CEMARK_READS_LENGTH : CEMARK_AT_ENQUEUE) |
	       (p->relative ? CEMARK_DRAWS : 0);
}

/* Whether a length is beyond a threshold. */
CEMARK_FN bool cemark_dynamic_beyond(const struct cemark_dynamic_params *p, u32 length, u32 threshold)
{
	return length > threshold || (p->at_least && length == threshold);
}

/* A part of the limit, rounded down. */
CEMARK_FN u32 cemark_dynamic_part(u32 limit, u32 percent)
{
	return (u32)(((u64)limit * percent) >> 16);
}

CEMARK_FN u32 cemark_dynamic_judge(const struct cemark_dynamic_params *p, const struct cemark_at *at)
{
	u32 length = cemark_add32(at->queue_bytes, p->count_self ? at->pkt_bytes : 0);
	u32 foot, head;

	if (p->k < CEMARK_U32_MAX && cemark_dynamic_beyond(p, length, p->k))
		return CEMARK_MARK(CEMARK_INSTANT);
	if (!p->relative) {
		u32 threshold = cemark_sub32(at->limit_bytes, p->offset);

		if (threshold < p->floor)
			threshold = p->floor;
		return cemark_dynamic_beyond(p, length, threshold) ? CEMARK_MARK(CEMARK_INSTANT) : CEMARK_PASS;
	}
	head = cemark_dynamic_part(at->limit_bytes, p->max_percent);
	if (cemark_dynamic_beyond(p, length, head))
		return CEMARK_MARK(CEMARK_INSTANT);
	foot = cemark_dynamic_part(at->limit_bytes, p->min_percent);
	if (length > foot && cemark_chance(at->salt, 0, cemark_ramp(length, foot, head, p->pmax)))
		return CEMARK_MARK(CEMARK_RANDOM);
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_dynamic_enqueue(const struct cemark_dynamic_params *p, struct cemark_dynamic_vars *v,
				     const struct cemark_at *at)
{
	(void)v;
	return cemark_dynamic_judge(p, at);
}

CEMARK_FN u32 cemark_dynamic_dequeue(const struct cemark_dynamic_params *p, struct cemark_dynamic_vars *v,
				     const struct cemark_at *at)
{
	(void)v;
	return cemark_dynamic_judge(p, at);
}

CEMARK_NO_EMPTIED(dynamic)
CEMARK_NO_CLOCK(dynamic)

#endif
