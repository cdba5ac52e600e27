// SPDX-License-Identifier: GPL-2.0
/*
 * The threshold that a queue has at this moment, for the statistics. MQ-ECN's follows the round
 * time and those of `dynamic` the free buffer, so settings do not tell. It is found by asking a
 * copy of the queue's marker, which works for any scheme. Under hysteresis it is the threshold
 * for the next packet.
 */
#include "cemark.h"

#define CEMARK_LONGEST_WAIT 1000000000ULL /* no threshold of the catalogue is longer: 1 s */

/* Whether a packet would be marked if the queue had `bytes` and the packet had waited `sojourn`. */
static bool cemark_would_mark(const struct cemark_sched *q, const struct cemark_queue *queue,
			      u64 now, u32 bytes, u64 sojourn)
{
	union cemark_marker marker = queue->marker;
	struct cemark_at at;

	cemark_look(q, queue, &at, now);
	at.sojourn = sojourn;
	at.queue_bytes = bytes;
	at.port_bytes = cemark_add32(cemark_port_bytes(q) - queue->bytes, bytes);
	at.pool_bytes = at.port_bytes;
	if (queue->traits & CEMARK_AT_ENQUEUE)
		return queue->ops->enqueue(&marker, &at) != CEMARK_PASS;
	return queue->ops->dequeue(&marker, &at) != CEMARK_PASS;
}

void cemark_find_threshold(const struct cemark_sched *q, const struct cemark_queue *queue, u64 now,
			   struct tc_cemark_queue *s)
{
	bool by_bytes = cemark_would_mark(q, queue, now, q->limit, 0);
	u64 low = 0, high = by_bytes ? q->limit : CEMARK_LONGEST_WAIT;

	s->threshold_wait = U64_MAX;
	s->threshold_bytes = U32_MAX;
	/* What one draw decides says nothing of the next packet. */
	if (queue->traits & CEMARK_DRAWS)
		return;
	if (!by_bytes && !cemark_would_mark(q, queue, now, queue->bytes, high))
		return;
	/* `high` is marked; `low` is not, unless the threshold is 0. */
	while (high - low > 1) {
		u64 middle = low + (high - low) / 2;
		bool marked = by_bytes ? cemark_would_mark(q, queue, now, middle, 0) :
					 cemark_would_mark(q, queue, now, queue->bytes, middle);

		if (marked)
			high = middle;
		else
			low = middle;
	}
	if (by_bytes)
		s->threshold_bytes = low;
	else
		s->threshold_wait = low;
}
