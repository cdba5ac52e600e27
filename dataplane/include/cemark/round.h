/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The round time of a port: how long the scheduler takes to come back to a queue, smoothed.
 * Bai et al., "Enabling ECN in Multi-Service Multi-Queue Data Centers", NSDI 2016, sections 3.3.1
 * and 3.4. MQ-ECN reads it in cemark_at.round.
 *
 * This is not a scheme. The owner of the queues keeps one struct cemark_round for the port and one
 * struct cemark_round_queue for each queue, and calls a function for each of four events.
 *
 * Under a round-robin scheduler (DWRR, WRR) a round is one visit to every backlogged queue. A
 * queue's sample lasts from its activation, or from the end of its last visit, to the departure of
 * the last packet of its visit. WFQ has no visits: there the sum of the quanta of the backlogged
 * queues is smoothed, and the round is the time that they take on the link.
 *
 * The same in Rust: crates/switch/src/round.rs. Cases: vectors/round.toml.
 */
#ifndef CEMARK_ROUND_H
#define CEMARK_ROUND_H

#include "fixed.h"

/* What is measured: of a queue, or of a port. */
enum cemark_round_counts {
	CEMARK_ROUND_NONE,    /* nothing: a queue with strict priority, outside the rounds */
	CEMARK_ROUND_TURNS,   /* visits: DWRR, WRR */
	CEMARK_ROUND_WEIGHTS, /* weights of the backlogged queues: WFQ */
};

/* State of a port. */
struct cemark_round {
	u64 value;          /* ns: the round time, for cemark_at.round */
	u64 average;        /* ns (visits) or bytes (weights), in parts of 2^12 */
	u64 looked;         /* ns: until when idle time has been accounted for */
	u32 idle;           /* ns: an idle port loses a factor beta in each; 0: keeps its value */
	u32 weight;         /* parts of 2^16: of a new sample, 1 - beta */
	u32 busy;           /* bytes: sum of the quanta of the backlogged queues */
	u32 picos_per_byte; /* on the link */
	u8 turns;           /* 1: CEMARK_ROUND_TURNS */
};

/* State of a queue. */
struct cemark_round_queue {
	u64 start;   /* ns: when its current sample began (visits) */
	u32 quantum; /* bytes; under WFQ weight * MTU */
	u8 counts;   /* enum cemark_round_counts */
};

/*
 * A port that has served no round yet. Its round time is 0, which leaves every threshold at its
 * standard value. rate is in bit/s. beta is the weight of the old average in parts of 2^16; the
 * paper has 0.75, which is 49152. idle is the time of one MTU in the paper:
 * cemark_nanos_for(rate, mtu).
 */
CEMARK_FN void cemark_round_init(struct cemark_round *r, u64 rate, u32 beta, u64 idle, u8 counts)
{
	r->value = 0;
	r->average = 0;
	r->looked = 0;
	r->idle = cemark_to32(idle);
	r->weight = CEMARK_ONE - cemark_min32(beta, CEMARK_ONE);
	r->busy = 0;
	r->picos_per_byte = cemark_to32(cemark_picos_per_byte(rate));
	r->turns = counts == CEMARK_ROUND_TURNS;
}

CEMARK_FN void cemark_round_queue_init(struct cemark_round_queue *q, u32 quantum, u8 counts)
{
	q->start = 0;
	q->quantum = quantum;
	q->counts = counts;
}

/* Parts of 2^12 as a whole number, to the nearest. */
CEMARK_FN u64 cemark_round_nearest(u64 parts)
{
	return cemark_add64(parts, 1u << (CEMARK_AVG_BITS - 1)) >> CEMARK_AVG_BITS;
}

/* The time that the average takes on the link: average * picos / 1000, at most 2^64 - 1. */
CEMARK_FN u64 cemark_round_time(u64 average, u32 picos)
{
	u64 thousands = cemark_div(average, 1000);
	u64 rest = cemark_div((average - thousands * 1000) * picos, 1000);
	u64 low = (thousands & CEMARK_U32_MAX) * picos;
	u64 high = (thousands >> 32) * picos + (low >> 32);

	if (high > CEMARK_U32_MAX)
		return CEMARK_U64_MAX;
	return cemark_add64(high << 32 | (low & CEMARK_U32_MAX), rest);
}

CEMARK_FN void cemark_round_weigh(struct cemark_round *r)
{
	r->average = cemark_ewma(r->average, r->busy, r->weight);
	r->value = cemark_round_nearest(cemark_round_time(r->average, r->picos_per_byte));
}

CEMARK_FN void cemark_round_visit_ended(struct cemark_round *r, struct cemark_round_queue *q,
					u64 end)
{
	r->average = cemark_ewma(r->average, cemark_to32(cemark_sub64(end, q->start)), r->weight);
	r->value = cemark_round_nearest(r->average);
	q->start = end;
}

CEMARK_FN void cemark_round_emptied(struct cemark_round *r, const struct cemark_round_queue *q)
{
	r->busy = cemark_sub32(r->busy, q->quantum);
	cemark_round_weigh(r);
}

/* A packet arrives at a port that has been empty since `since`. */
CEMARK_FN void cemark_round_woke(struct cemark_round *r, u64 now, u64 since)
{
	u64 slots;

	/* If the packet is refused, the same span must not be counted twice. */
	if (since < r->looked)
		since = r->looked;
	if (!r->turns || r->average == 0 || r->idle == 0 || now <= since)
		return;
	r->looked = now;
	slots = cemark_div(now - since, r->idle);
	if (slots > 0) {
		r->average = cemark_decay(r->average, r->weight, slots);
		r->value = cemark_round_nearest(r->average);
	}
}

/* A packet joins an empty queue. */
CEMARK_FN void cemark_round_activated(struct cemark_round *r, struct cemark_round_queue *q, u64 now)
{
	if (q->counts == CEMARK_ROUND_TURNS) {
		if (q->start < now)
			q->start = now;
	} else if (q->counts == CEMARK_ROUND_WEIGHTS) {
		r->busy = cemark_add32(r->busy, q->quantum);
		cemark_round_weigh(r);
	}
}

/*
 * A packet of the queue is sent; its last bit leaves at `end`. visit_ends: it is the last packet of
 * the queue's visit. emptied: it is the last packet in the queue.
 */
CEMARK_FN void cemark_round_served(struct cemark_round *r, struct cemark_round_queue *q, u64 end,
				   bool visit_ends, bool emptied)
{
	if (q->counts == CEMARK_ROUND_TURNS) {
		if (visit_ends)
			cemark_round_visit_ended(r, q, end);
	} else if (q->counts == CEMARK_ROUND_WEIGHTS) {
		cemark_round_weigh(r);
		if (emptied)
			cemark_round_emptied(r, q);
	}
}

/* A packet of the queue is dropped instead of being sent. visit_ends, emptied: as above. */
CEMARK_FN void cemark_round_discarded(struct cemark_round *r, struct cemark_round_queue *q, u64 now,
				      bool visit_ends, bool emptied)
{
	if (q->counts == CEMARK_ROUND_TURNS) {
		if (visit_ends)
			cemark_round_visit_ended(r, q, now);
	} else if (q->counts == CEMARK_ROUND_WEIGHTS && emptied) {
		cemark_round_emptied(r, q);
	}
}

#endif
