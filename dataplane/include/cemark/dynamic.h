/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dynamic ECN: marking thresholds that follow the queue's limit in a shared buffer.
 *
 * Under a dynamic buffer threshold the limit of a queue shrinks while the buffer fills, and a fixed
 * marking threshold above the limit would never be reached before packets are dropped. Switches
 * therefore offer thresholds relative to the limit: either offset bytes below it but not below
 * floor, or RED's ramp between two percentages of it. A static threshold k can be set beside
 * either; a packet is marked if one of the two is exceeded.
 *
 * Beside offset there can be a larger one, off_offset: once offset has marked a packet, packets are
 * marked until one does not exceed the threshold that is off_offset below the limit.
 *
 * The same in Rust: crates/marking/src/dynamic.rs. Ties and sources: docs/schemes/dynamic.md.
 */
#ifndef CEMARK_DYNAMIC_H
#define CEMARK_DYNAMIC_H

#include "at.h"
#include "fixed.h"

enum cemark_dynamic_mode {
	CEMARK_DYNAMIC_MODE_OFFSET = 0,  /* a step at limit - offset, at least floor */
	CEMARK_DYNAMIC_MODE_PERCENT = 1, /* a ramp from min_percent to max_percent */
};

struct cemark_dynamic_config {
	enum cemark_dynamic_mode mode;
	u64 offset;      /* bytes, 32 bits */
	u64 floor;       /* bytes, 32 bits */
	u32 min_percent; /* parts of 2^16 of the limit, up to max_percent */
	u32 max_percent; /* parts of 2^16 of the limit, up to CEMARK_ONE */
	u32 pmax;        /* parts of 2^16, up to CEMARK_ONE: probability at max_percent */
	u64 k;           /* bytes, 32 bits: the static threshold; CEMARK_U32_MAX: none */
	bool count_self; /* the length includes the judged packet */
	enum cemark_cmp cmp;
	enum cemark_hook hook;
	u64 off_offset;  /* bytes, 32 bits, at least offset; 0: marking ends where it begins */
};

/* Our choice for offset and floor; the ramp of Cumulus Linux's example. */
#define CEMARK_DYNAMIC_DEFAULTS                                                                    \
	{                                                                                          \
		.mode = CEMARK_DYNAMIC_MODE_OFFSET,                                                \
		.offset = 100 * 1500,                                                              \
		.floor = 65 * 1500,                                                                \
		.min_percent = CEMARK_PERCENT(20),                                                 \
		.max_percent = CEMARK_PERCENT(80),                                                 \
		.pmax = CEMARK_PERCENT(100),                                                       \
		.k = CEMARK_U32_MAX,                                                               \
		.count_self = 1,                                                                   \
		.cmp = CEMARK_CMP_STRICT,                                                          \
		.hook = CEMARK_HOOK_ENQUEUE,                                                       \
		.off_offset = 0,                                                                   \
	}

struct cemark_dynamic_params {
	u32 k;           /* bytes; CEMARK_U32_MAX: none */
	u32 offset;      /* bytes */
	u32 off_offset;  /* bytes, at least offset; 0: no hysteresis */
	u32 floor;       /* bytes */
	u32 min_percent; /* parts of 2^16 */
	u32 max_percent; /* parts of 2^16 */
	u32 pmax;        /* parts of 2^16 */
	u8 relative;     /* 1: CEMARK_DYNAMIC_MODE_PERCENT */
	u8 count_self;
	u8 inclusive;    /* 1: mark at a threshold and above; 0: only above it */
	u8 at_dequeue;   /* 1: judge departures; 0: arrivals */
};

struct cemark_dynamic_vars {
	u8 marking; /* 1: offset marked the last packet; never set without off_offset */
};

CEMARK_FN void cemark_dynamic_apply(struct cemark_dynamic_params *p,
				    const struct cemark_dynamic_config *c,
				    const struct cemark_queue_spec *queue)
{
	(void)queue;
	p->k = cemark_to32(c->k);
	p->offset = cemark_to32(c->offset);
	p->floor = cemark_to32(c->floor);
	p->min_percent = cemark_min32(c->min_percent, CEMARK_ONE);
	p->max_percent = cemark_min32(c->max_percent, CEMARK_ONE);
	p->pmax = cemark_min32(c->pmax, CEMARK_ONE);
	p->relative = c->mode == CEMARK_DYNAMIC_MODE_PERCENT;
	p->count_self = c->count_self;
	p->inclusive = c->cmp == CEMARK_CMP_AT_LEAST;
	p->at_dequeue = c->hook == CEMARK_HOOK_DEQUEUE;
	p->off_offset = p->relative ? 0 : cemark_to32(c->off_offset);
	if (p->off_offset && p->off_offset < p->offset)
		p->off_offset = p->offset;
}

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_dynamic_configure(struct cemark_dynamic_params *p,
				       const struct cemark_dynamic_config *c,
				       const struct cemark_queue_spec *queue)
{
	if ((u32)c->mode > CEMARK_DYNAMIC_MODE_PERCENT || c->offset > CEMARK_U32_MAX ||
	    c->floor > CEMARK_U32_MAX || c->min_percent > c->max_percent ||
	    c->max_percent > CEMARK_ONE || c->pmax > CEMARK_ONE || c->k > CEMARK_U32_MAX ||
	    (u32)c->cmp > CEMARK_CMP_AT_LEAST || (u32)c->hook > CEMARK_HOOK_DEQUEUE ||
	    c->off_offset > CEMARK_U32_MAX || (c->off_offset && c->offset > c->off_offset))
		return -CEMARK_EINVAL;
	cemark_dynamic_apply(p, c, queue);
	return 0;
}

CEMARK_FN void cemark_dynamic_init(const struct cemark_dynamic_params *p,
				   struct cemark_dynamic_vars *v)
{
	(void)p;
	v->marking = 0;
}

/* New parameters keep the state, unless they have no hysteresis. */
CEMARK_FN void cemark_dynamic_retuned(const struct cemark_dynamic_params *p,
				      struct cemark_dynamic_vars *v)
{
	if (!p->off_offset)
		v->marking = 0;
}

CEMARK_FN bool cemark_dynamic_exceeds(const struct cemark_dynamic_params *p, u32 length,
				      u32 threshold)
{
	return length > threshold || (p->inclusive && length == threshold);
}

/* A part of the limit, rounded down. */
CEMARK_FN u32 cemark_dynamic_part(u32 limit, u32 percent)
{
	return (u32)(((u64)limit * percent) >> 16);
}

CEMARK_FN bool cemark_dynamic_beyond_static(const struct cemark_dynamic_params *p, u32 length)
{
	return p->k < CEMARK_U32_MAX && cemark_dynamic_exceeds(p, length, p->k);
}

/* Whether the length exceeds the threshold that is an offset below the limit. */
CEMARK_FN bool cemark_dynamic_beyond_offset(const struct cemark_dynamic_params *p, u32 length,
					    u32 limit, u32 offset)
{
	u32 threshold = cemark_sub32(limit, offset);

	if (threshold < p->floor)
		threshold = p->floor;
	return cemark_dynamic_exceeds(p, length, threshold);
}

/* The verdict between two offsets. */
CEMARK_FN u32 cemark_dynamic_hysteresis(const struct cemark_dynamic_params *p,
					struct cemark_dynamic_vars *v, u32 length, u32 limit)
{
	u32 offset = v->marking ? p->off_offset : p->offset;

	v->marking = cemark_dynamic_beyond_offset(p, length, limit, offset);
	if (v->marking || cemark_dynamic_beyond_static(p, length))
		return CEMARK_MARK(CEMARK_INSTANT);
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_dynamic_judge(const struct cemark_dynamic_params *p,
				   struct cemark_dynamic_vars *v, const struct cemark_at *at)
{
	u32 length = cemark_add32(at->queue_bytes, p->count_self ? at->pkt_bytes : 0);
	u32 foot, head;

	if (p->off_offset)
		return cemark_dynamic_hysteresis(p, v, length, at->limit_bytes);
	if (cemark_dynamic_beyond_static(p, length))
		return CEMARK_MARK(CEMARK_INSTANT);
	if (!p->relative) {
		if (cemark_dynamic_beyond_offset(p, length, at->limit_bytes, p->offset))
			return CEMARK_MARK(CEMARK_INSTANT);
		return CEMARK_PASS;
	}
	head = cemark_dynamic_part(at->limit_bytes, p->max_percent);
	if (cemark_dynamic_exceeds(p, length, head))
		return CEMARK_MARK(CEMARK_INSTANT);
	foot = cemark_dynamic_part(at->limit_bytes, p->min_percent);
	if (length > foot && cemark_chance(at->salt, 0, cemark_ramp(length, foot, head, p->pmax)))
		return CEMARK_MARK(CEMARK_RANDOM);
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_dynamic_enqueue(const struct cemark_dynamic_params *p,
				     struct cemark_dynamic_vars *v, const struct cemark_at *at)
{
	return cemark_dynamic_judge(p, v, at);
}

CEMARK_FN u32 cemark_dynamic_dequeue(const struct cemark_dynamic_params *p,
				     struct cemark_dynamic_vars *v, const struct cemark_at *at)
{
	return cemark_dynamic_judge(p, v, at);
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

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
	CEMARK_DYNAMIC_OFF_OFFSET,
};

/* Parameters by position. They are not checked: one that is too large counts as the largest. */
CEMARK_FN void cemark_dynamic_set(struct cemark_dynamic_params *p, const u64 *values,
				  const struct cemark_queue_spec *queue)
{
	const struct cemark_dynamic_config c = {
		.mode = (enum cemark_dynamic_mode)values[CEMARK_DYNAMIC_MODE],
		.offset = values[CEMARK_DYNAMIC_OFFSET],
		.floor = values[CEMARK_DYNAMIC_FLOOR],
		.min_percent = cemark_to32(values[CEMARK_DYNAMIC_MIN_PERCENT]),
		.max_percent = cemark_to32(values[CEMARK_DYNAMIC_MAX_PERCENT]),
		.pmax = cemark_to32(values[CEMARK_DYNAMIC_PMAX]),
		.k = values[CEMARK_DYNAMIC_K],
		.count_self = values[CEMARK_DYNAMIC_COUNT_SELF] == 1,
		.cmp = (enum cemark_cmp)values[CEMARK_DYNAMIC_CMP],
		.hook = (enum cemark_hook)values[CEMARK_DYNAMIC_HOOK],
		.off_offset = values[CEMARK_DYNAMIC_OFF_OFFSET],
	};

	cemark_dynamic_apply(p, &c, queue);
}

CEMARK_FN u32 cemark_dynamic_traits(const struct cemark_dynamic_params *p)
{
	return (p->at_dequeue ? CEMARK_AT_DEQUEUE | CEMARK_READS_LENGTH : CEMARK_AT_ENQUEUE) |
	       (p->relative ? CEMARK_DRAWS : 0);
}

CEMARK_NO_EMPTIED(dynamic)
CEMARK_NO_CLOCK(dynamic)

#endif
