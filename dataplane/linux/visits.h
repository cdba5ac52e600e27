/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Visits to queues in rounds: DWRR and WRR. The same rule in Rust:
 * crates/switch/src/sched/visits.rs.
 *
 * A queue joins the end of the line when its first packet arrives, and returns to the end after
 * each visit. A visit adds the quantum to the queue's credit and sends heads while they fit. A head
 * longer than its credit gets as many quanta at once as it needs (DWRR), or exactly its own length
 * (WRR), so that a visit always sends.
 */
#ifndef CEMARK_VISITS_H
#define CEMARK_VISITS_H

#include <linux/math.h>
#include <linux/overflow.h>
#include <linux/types.h>

#include "cemark_netlink.h"

struct cemark_visits {
	u8 line[CEMARK_MAX_QUEUES]; /* `count` queues from `front` on, around the array */
	u8 front, count;
	bool carry;                 /* DWRR: credit that is left over is kept */
	bool ended;                 /* the last pick ended its visit */
	u32 active;                 /* bit i: queue i is in the line */
	u32 granted;                /* bit i: the visit of queue i has received its credit */
	u32 before;                 /* credit before the last pick, for a refund */
	u32 credit[CEMARK_MAX_QUEUES];
};

static inline void cemark_visits_init(struct cemark_visits *v, bool carry)
{
	*v = (struct cemark_visits){ .carry = carry };
}

static inline void cemark_visits_push(struct cemark_visits *v, u8 i)
{
	v->line[(v->front + v->count) % CEMARK_MAX_QUEUES] = i;
	v->count++;
}

static inline void cemark_visits_pop(struct cemark_visits *v)
{
	v->front = (v->front + 1) % CEMARK_MAX_QUEUES;
	v->count--;
}

/* A packet has joined queue i. */
static inline void cemark_visits_arrived(struct cemark_visits *v, u8 i)
{
	if (v->active & BIT(i))
		return;
	v->active |= BIT(i);
	cemark_visits_push(v, i);
}

/* Credit at the start of a visit. */
static inline u32 cemark_visits_grant(const struct cemark_visits *v, u32 left, u32 quantum,
				      u32 head)
{
	u64 need;

	if (!v->carry)
		return max(quantum, head);
	need = (u64)left + quantum;
	if (need >= head)
		return min_t(u64, need, U32_MAX);
	return min_t(u64, left + (u64)DIV_ROUND_UP(head - left, quantum) * quantum, U32_MAX);
}

/*
 * The queue at the front of the line sends its head, of `head` bytes; `next` is the length of the
 * packet behind it, 0 if there is none. Returns whether this ends the visit.
 */
static inline bool cemark_visits_pick(struct cemark_visits *v, u32 quantum, u32 head, u32 next)
{
	u8 i = v->line[v->front];

	if (!(v->granted & BIT(i))) {
		v->granted |= BIT(i);
		v->credit[i] = cemark_visits_grant(v, v->credit[i], quantum, head);
	}
	v->before = v->credit[i];
	v->credit[i] -= head;
	v->ended = !next || next > v->credit[i];
	if (!v->ended)
		return false;
	if (!next || !v->carry)
		v->credit[i] = 0;
	v->granted &= ~BIT(i);
	cemark_visits_pop(v);
	if (next)
		cemark_visits_push(v, i);
	else
		v->active &= ~BIT(i);
	return true;
}

/*
 * The packet just picked from queue i was dropped and used no time of the link. `head` is now the
 * first packet of the queue, 0 if there is none. Returns whether the visit has ended all the same.
 */
static inline bool cemark_visits_refunded(struct cemark_visits *v, u8 i, u32 head)
{
	if (!head)
		return true;
	if (head > v->before) {
		/* Even with the credit returned the new head does not fit into this visit. */
		v->credit[i] = v->carry ? v->before : 0;
		return true;
	}
	v->credit[i] = v->before;
	if (v->ended) {
		/* Back from the end of the line: the visit continues. */
		v->front = (v->front + CEMARK_MAX_QUEUES - 1) % CEMARK_MAX_QUEUES;
		v->line[v->front] = i;
		v->granted |= BIT(i);
	}
	return false;
}

#endif
