/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * CoDel as a marker: RFC 8289, where the original drops a packet this one marks it.
 * Nichols and Jacobson, "Controlling Queue Delay", ACM Queue 2012; RFC 8289.
 *
 * When the wait has been at target or above for longer than interval, packets are marked one at a
 * time, the gap after the n-th mark being interval / sqrt(n), until one packet waits less than
 * target. Unlike the original, at most one packet is marked per call, and the control law uses the
 * exact integer square root instead of one Newton step per mark.
 *
 * The same in Rust: crates/marking/src/codel.rs. Ties and sources: docs/schemes/codel.md.
 */
#ifndef CEMARK_CODEL_H
#define CEMARK_CODEL_H

#include "at.h"
#include "fixed.h"

/* A marking state that begins within this many intervals after the last one continues its rate. */
#define CEMARK_CODEL_MEMORY 16ull

struct cemark_codel_config {
	u64 target;    /* ns, up to CEMARK_SEC: acceptable standing wait */
	u64 interval;  /* ns, 1 to CEMARK_SEC: about the longest RTT */
	u64 min_bytes; /* bytes, 32 bits: no mark with this much or less in the queue; 0: off */
};

/* The ECN# paper's testbed (section 5.2); on the Internet RFC 8289 has 5 ms and 100 ms. */
#define CEMARK_CODEL_DEFAULTS                                                                      \
	{                                                                                          \
		.target = 85 * CEMARK_USEC,                                                        \
		.interval = 200 * CEMARK_USEC,                                                     \
		.min_bytes = 1500,                                                                 \
	}

struct cemark_codel_params {
	u32 target;    /* ns */
	u32 interval;  /* ns, at least 1 */
	u32 min_bytes; /* 0: off */
};

struct cemark_codel_vars {
	u64 first_above; /* ns, valid while above: marking may begin after this time */
	u64 next;        /* ns, valid while marking: time of the next mark */
	u32 count;       /* marks in this marking state, including those it continues */
	u32 last_count;  /* count when this marking state began */
	u8 above;        /* the last wait was at target or above */
	u8 marking;
};

CEMARK_FN void cemark_codel_apply(struct cemark_codel_params *p,
				  const struct cemark_codel_config *c,
				  const struct cemark_queue_spec *queue)
{
	(void)queue;
	p->target = cemark_to32(c->target);
	p->interval = c->interval ? cemark_to32(c->interval) : 1;
	p->min_bytes = cemark_to32(c->min_bytes);
}

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_codel_configure(struct cemark_codel_params *p,
				     const struct cemark_codel_config *c,
				     const struct cemark_queue_spec *queue)
{
	if (c->target > CEMARK_SEC || c->interval == 0 || c->interval > CEMARK_SEC ||
	    c->min_bytes > CEMARK_U32_MAX)
		return -CEMARK_EINVAL;
	cemark_codel_apply(p, c, queue);
	return 0;
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

/* The gap after the count-th mark. A gap of 0 would mark every packet forever. */
CEMARK_FN u32 cemark_codel_step(const struct cemark_codel_params *p,
				const struct cemark_codel_vars *v)
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
		u64 memory = CEMARK_CODEL_MEMORY * p->interval;
		u32 grown = v->count - v->last_count;
		bool recent = cemark_sub64(at->now, v->next) < memory;

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

CEMARK_FN void cemark_codel_emptied(const struct cemark_codel_params *p,
				    struct cemark_codel_vars *v, u64 now)
{
	(void)p;
	(void)now;
	v->above = 0;
	v->marking = 0;
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

enum cemark_codel_param {
	CEMARK_CODEL_TARGET,
	CEMARK_CODEL_INTERVAL,
	CEMARK_CODEL_MIN_BYTES,
};

/* Parameters by position. They are not checked: one that is too large counts as the largest. */
CEMARK_FN void cemark_codel_set(struct cemark_codel_params *p, const u64 *values,
				const struct cemark_queue_spec *queue)
{
	const struct cemark_codel_config c = {
		.target = values[CEMARK_CODEL_TARGET],
		.interval = values[CEMARK_CODEL_INTERVAL],
		.min_bytes = values[CEMARK_CODEL_MIN_BYTES],
	};

	cemark_codel_apply(p, &c, queue);
}

CEMARK_FN u32 cemark_codel_traits(const struct cemark_codel_params *p)
{
	return CEMARK_AT_DEQUEUE | CEMARK_WATCHES_EMPTY |
	       (p->min_bytes > 0 ? CEMARK_READS_LENGTH : 0);
}

CEMARK_NO_RETUNED(codel)
CEMARK_NO_ENQUEUE(codel)
CEMARK_NO_CLOCK(codel)

#endif
