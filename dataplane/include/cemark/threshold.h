/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DCTCP-RED: mark while the instantaneous queue length exceeds a threshold K.
 * Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.1.
 *
 * Switches implement it as RED with equal thresholds and without averaging. K is about the
 * bandwidth-delay product times a factor of the congestion controller. The length can be that of
 * the queue, of the whole port or of a pool of ports, as switches offer it, and K can be divided
 * among queues by weight.
 *
 * The same in Rust: crates/marking/src/threshold.rs. Ties and sources: docs/schemes/threshold.md.
 */
#ifndef CEMARK_THRESHOLD_H
#define CEMARK_THRESHOLD_H

#include "at.h"

/* Which length is compared with K. */
enum cemark_threshold_scope {
	CEMARK_THRESHOLD_SCOPE_QUEUE = 0,
	CEMARK_THRESHOLD_SCOPE_PORT = 1,
	CEMARK_THRESHOLD_SCOPE_POOL = 2,
};

/* K itself, or the queue's part of K by its weight among all queues, busy or not. */
enum cemark_threshold_level {
	CEMARK_THRESHOLD_LEVEL_STANDARD = 0,
	CEMARK_THRESHOLD_LEVEL_MINIMUM = 1,
};

struct cemark_threshold_config {
	u64 k;           /* bytes, 32 bits */
	bool count_self; /* the length includes the judged packet */
	enum cemark_cmp cmp;
	enum cemark_hook hook;
	enum cemark_threshold_scope scope;
	enum cemark_threshold_level level;
};

/* DCTCP's K at 10 Gb/s, 65 packets of 1500 bytes, compared as most switches do. */
#define CEMARK_THRESHOLD_DEFAULTS                                                                  \
	{                                                                                          \
		.k = 65 * 1500,                                                                    \
		.count_self = 1,                                                                   \
		.cmp = CEMARK_CMP_STRICT,                                                          \
		.hook = CEMARK_HOOK_ENQUEUE,                                                       \
		.scope = CEMARK_THRESHOLD_SCOPE_QUEUE,                                             \
		.level = CEMARK_THRESHOLD_LEVEL_STANDARD,                                          \
	}

struct cemark_threshold_params {
	u64 k;         /* bytes */
	u8 count_self; /* 1: the length includes the judged packet */
	u8 inclusive;  /* 1: mark at K and above; 0: only above K */
	u8 at_dequeue; /* 1: judge departures; 0: arrivals */
	u8 scope;      /* enum cemark_threshold_scope */
};

CEMARK_NO_STATE(threshold)

CEMARK_FN void cemark_threshold_apply(struct cemark_threshold_params *p,
				      const struct cemark_threshold_config *c,
				      const struct cemark_queue_spec *queue)
{
	p->k = c->k;
	if (c->level == CEMARK_THRESHOLD_LEVEL_MINIMUM)
		p->k = cemark_div(p->k * queue->weight, queue->weight_sum ? queue->weight_sum : 1);
	p->count_self = c->count_self;
	p->inclusive = c->cmp == CEMARK_CMP_AT_LEAST;
	p->at_dequeue = c->hook == CEMARK_HOOK_DEQUEUE;
	p->scope = (u8)c->scope;
}

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_threshold_configure(struct cemark_threshold_params *p,
					 const struct cemark_threshold_config *c,
					 const struct cemark_queue_spec *queue)
{
	if (c->k > CEMARK_U32_MAX || (u32)c->cmp > CEMARK_CMP_AT_LEAST ||
	    (u32)c->hook > CEMARK_HOOK_DEQUEUE || (u32)c->scope > CEMARK_THRESHOLD_SCOPE_POOL ||
	    (u32)c->level > CEMARK_THRESHOLD_LEVEL_MINIMUM)
		return -CEMARK_EINVAL;
	cemark_threshold_apply(p, c, queue);
	return 0;
}

CEMARK_FN u32 cemark_threshold_judge(const struct cemark_threshold_params *p,
				     const struct cemark_at *at)
{
	u64 length = p->count_self ? at->pkt_bytes : 0;

	if (p->scope == CEMARK_THRESHOLD_SCOPE_QUEUE)
		length += at->queue_bytes;
	else if (p->scope == CEMARK_THRESHOLD_SCOPE_PORT)
		length += at->port_bytes;
	else
		length += at->pool_bytes;

	if (length > p->k || (p->inclusive && length == p->k))
		return CEMARK_MARK(CEMARK_INSTANT);
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_threshold_enqueue(const struct cemark_threshold_params *p,
				       struct cemark_threshold_vars *v, const struct cemark_at *at)
{
	(void)v;
	return cemark_threshold_judge(p, at);
}

CEMARK_FN u32 cemark_threshold_dequeue(const struct cemark_threshold_params *p,
				       struct cemark_threshold_vars *v, const struct cemark_at *at)
{
	(void)v;
	return cemark_threshold_judge(p, at);
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

enum cemark_threshold_param {
	CEMARK_THRESHOLD_K,
	CEMARK_THRESHOLD_COUNT_SELF,
	CEMARK_THRESHOLD_CMP,
	CEMARK_THRESHOLD_HOOK,
	CEMARK_THRESHOLD_SCOPE,
	CEMARK_THRESHOLD_LEVEL,
};

/* Parameters by position. They are not checked. */
CEMARK_FN void cemark_threshold_set(struct cemark_threshold_params *p, const u64 *values,
				    const struct cemark_queue_spec *queue)
{
	const struct cemark_threshold_config c = {
		.k = values[CEMARK_THRESHOLD_K],
		.count_self = values[CEMARK_THRESHOLD_COUNT_SELF] != 0,
		.cmp = (enum cemark_cmp)values[CEMARK_THRESHOLD_CMP],
		.hook = (enum cemark_hook)values[CEMARK_THRESHOLD_HOOK],
		.scope = (enum cemark_threshold_scope)values[CEMARK_THRESHOLD_SCOPE],
		.level = (enum cemark_threshold_level)values[CEMARK_THRESHOLD_LEVEL],
	};

	cemark_threshold_apply(p, &c, queue);
}

CEMARK_FN u32 cemark_threshold_traits(const struct cemark_threshold_params *p)
{
	return p->at_dequeue ? CEMARK_AT_DEQUEUE | CEMARK_READS_LENGTH : CEMARK_AT_ENQUEUE;
}

CEMARK_NO_EMPTIED(threshold)
CEMARK_NO_CLOCK(threshold)

#endif
