/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DCTCP-RED: a step on the instantaneous queue length, as DCTCP sets up a RED switch (Alizadeh et al., SIGCOMM 2010).
 * Twin of crates/marking/src/threshold.rs; parameters and ties: docs/schemes/threshold.md.
 */
#ifndef CEMARK_THRESHOLD_H
#define CEMARK_THRESHOLD_H

#include "at.h"

/* Places in the array of parameters that cemark_threshold_set() reads. */
enum cemark_threshold_param {
	CEMARK_THRESHOLD_K,
	CEMARK_THRESHOLD_COUNT_SELF,
	CEMARK_THRESHOLD_CMP,
	CEMARK_THRESHOLD_HOOK,
	CEMARK_THRESHOLD_SCOPE,
	CEMARK_THRESHOLD_LEVEL,
};

enum cemark_threshold_scope {
	CEMARK_THRESHOLD_QUEUE = 0,
	CEMARK_THRESHOLD_PORT = 1,
	CEMARK_THRESHOLD_POOL = 2,
};

struct cemark_threshold_params {
	u64 k;         /* bytes */
	u8 count_self; /* the judged packet counts itself */
	u8 at_least;   /* mark from k on, not above it */
	u8 at_dequeue;
	u8 scope;
};

CEMARK_NO_STATE(threshold)

CEMARK_FN void cemark_threshold_set(struct cemark_threshold_params *p, const u64 *values,
				    const struct cemark_queue_spec *queue)
{
	p->k = values[CEMARK_THRESHOLD_K];
	/* The minimum threshold: the queue's part by weight among all queues of the port, busy or not. */
	if (values[CEMARK_THRESHOLD_LEVEL] == 1)
		p->k = cemark_div(p->k * queue->weight, queue->weight_sum ? queue->weight_sum : 1);
	p->count_self = values[CEMARK_THRESHOLD_COUNT_SELF] != 0;
	p->at_least = values[CEMARK_THRESHOLD_CMP] == 1;
	p->at_dequeue = values[CEMARK_THRESHOLD_HOOK] == 1;
	if (values[CEMARK_THRESHOLD_SCOPE] == 0)
		p->scope = CEMARK_THRESHOLD_QUEUE;
	else if (values[CEMARK_THRESHOLD_SCOPE] == 1)
		p->scope = CEMARK_THRESHOLD_PORT;
	else
		p->scope = CEMARK_THRESHOLD_POOL;
}

CEMARK_FN u32 cemark_threshold_traits(const struct cemark_threshold_params *p)
{
	return p->at_dequeue ? CEMARK_AT_DEQUEUE | CEMARK_READS_LENGTH : CEMARK_AT_ENQUEUE;
}

CEMARK_FN u32 cemark_threshold_judge(const struct cemark_threshold_params *p, const struct cemark_at *at)
{
	u64 length = p->count_self ? at->pkt_bytes : 0;

	if (p->scope == CEMARK_THRESHOLD_QUEUE)
		length += at->queue_bytes;
	else if (p->scope == CEMARK_THRESHOLD_PORT)
		length += at->port_bytes;
	else
		length += at->pool_bytes;

	if (length > p->k || (p->at_least && length == p->k))
		return CEMARK_MARK(CEMARK_INSTANT);
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_threshold_enqueue(const struct cemark_threshold_params *p, struct cemark_threshold_vars *v,
				       const struct cemark_at *at)
{
	(void)v;
	return cemark_threshold_judge(p, at);
}

CEMARK_FN u32 cemark_threshold_dequeue(const struct cemark_threshold_params *p, struct cemark_threshold_vars *v,
				       const struct cemark_at *at)
{
	(void)v;
	return cemark_threshold_judge(p, at);
}

CEMARK_NO_EMPTIED(threshold)
CEMARK_NO_CLOCK(threshold)

#endif
