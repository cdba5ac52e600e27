/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * CoDel as a marker: where the original drops, the packet at hand is marked and passed on, one a call (RFC 8289). The control law
 * is the exact integer square root, not one Newton step a mark.
 * Twin of crates/marking/src/codel.rs; parameters and ties: docs/schemes/codel.md.
 */
#ifndef CEMARK_CODEL_H
#define CEMARK_CODEL_H

#include "at.h"
#include "fixed.h"

/* A new marking state continues the last one's rate when it begins within this many intervals of
 * the last one's end. */
#define CEMARK_CODEL_MEMORY 16ull

/* Places in the array of parameters that cemark_codel_set() reads. */
enum cemark_codel_param {
	CEMARK_CODEL_TARGET,
	CEMARK_CODEL_INTERVAL,
	CEMARK_CODEL_MIN_BYTES,
};

struct cemark_codel_params {
	u32 target;    /* wait that is tolerated for ever, ns */
	u32 interval;  /* how long the wait must stay there, ns, at least 1 */
	u32 min_bytes; /* never act with this much or less behind the packet; 0: always */
};

struct cemark_codel_vars {
	u64 first_above; /* where above: the wait may be acted upon after this time */
	u64 next;        /* when the next mark is due, in the marking state */
	u32 count;       /* marks in this marking state, continued from the last one where the memory holds */
	u32 last_count;  /* count as this marking state began */
	u8 above;
	u8 marking;
};

CEMARK_FN void cemark_codel_set(struct cemark_codel_params *p, const u64 *values, const struct cemark_queue_spec *queue)
{
	(void)queue;
	p->target = cemark_to32(values[CEMARK_CODEL_TARGET]);
	p->interval = cemark_to32(values[CEMARK_CODEL_INTERVAL]);
	if (p->interval == 0)
		p->interval = 1;
	p->min_bytes = cemark_to32(values[CEMARK_CODEL_MIN_BYTES]);
}

CEMARK_FN void cemark_codel_init(const struct cemark_codel_params *p, struct cemark_codel_vars *v)
{
	(void)p;
	v->first_above = 0;
	v->next = 0;
	v->count = 0;
	v->last_count = 0;
	v->above = 0;
	v->marking = 0;
}

CEMARK_FN u32 cemark_codel_traits(const struct cemark_codel_params *p)
{
	return CEMARK_AT_DEQUEUE | CEMARK_WATCHES_EMPTY | (p->min_bytes > 0 ? CEMARK_READS_LENGTH : 0);
}

/* Whether the wait has been at the target or above for longer than an interval. */
CEMARK_FN bool cemark_codel_detect(const struct cemark_codel_params *p, struct cemark_codel_vars *v,
				   const struct cemark_at *at)
{
	if (at->sojourn < p->target || (p->min_bytes > 0 && at->queue_bytes <= p->min_bytes)) {
		v->above = 0;
		return 0;
	}
	if (!v->above) {
		v->above = 1;
		v->first_above = cemark_add64(at->now, p->interval);
		return 0;
	}
	return at->now > v->first_above;
}

CEMARK_FN u32 cemark_codel_step(const struct cemark_codel_params *p, const struct cemark_codel_vars *v)
{
	u32 step = cemark_over_sqrt(p->interval, v->count);

	return step ? step : 1;
}

CEMARK_FN u32 cemark_codel_dequeue(const struct cemark_codel_params *p, struct cemark_codel_vars *v,
				   const struct cemark_at *at)
{
	if (!cemark_codel_detect(p, v, at)) {
		v->marking = 0;
		return CEMARK_PASS;
	}
	if (!v->marking) {
		u32 grown = v->count - v->last_count;
		bool recent = cemark_sub64(at->now, v->next) < CEMARK_CODEL_MEMORY * p->interval;

		v->count = grown > 1 && recent ? grown : 1;
		v->last_count = v->count;
		v->marking = 1;
		v->next = cemark_add64(at->now, cemark_codel_step(p, v));
		return CEMARK_MARK(CEMARK_PERSISTENT);
	}
	if (at->now < v->next)
		return CEMARK_PASS;
	v->count = cemark_add32(v->count, 1);
	v->next = cemark_add64(v->next, cemark_codel_step(p, v));
	return CEMARK_MARK(CEMARK_PERSISTENT);
}

CEMARK_FN void cemark_codel_emptied(const struct cemark_codel_params *p, struct cemark_codel_vars *v, u64 now)
{
	(void)p;
	(void)now;
	v->above = 0;
	v->marking = 0;
}

CEMARK_NO_RETUNED(codel)
CEMARK_NO_ENQUEUE(codel)
CEMARK_NO_CLOCK(codel)

#endif
