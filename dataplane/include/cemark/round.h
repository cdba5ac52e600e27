/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The round time of a port, which MQ-ECN reads in cemark_at.round: how long the scheduler takes to come back to a queue, smoothed (Bai et
 * al., NSDI 2016, sections 4.2 and 4.3). No scheme: who owns the queues keeps one for the port, and one small record for each queue.
 *
 * Under a scheduler of turns (DWRR, WRR) a queue's round lasts from its activation, or the end of its last turn, to the departure of the last
 * packet of its turn. Under WFQ the sum of the quanta of the backlogged queues is smoothed, and the round is the time that they take.
 * Twin of crates/switch/src/round.rs; cases: vectors/round.toml.
 */
#ifndef CEMARK_ROUND_H
#define CEMARK_ROUND_H

#include "fixed.h"

/* What of a queue, or of a port's queues, is counted. */
enum cemark_round_counts {
	CEMARK_ROUND_NONE,    /* nothing: a strict queue above the rounds */
	CEMARK_ROUND_TURNS,   /* DWRR, WRR */
	CEMARK_ROUND_WEIGHTS, /* WFQ */
};

/* Of a port. */
struct cemark_round {
	u64 value;          /* the round time, ns: cemark_at.round */
	u64 average;        /* nanoseconds (turns) or bytes (weights), parts of 2^12 */
	u64 looked;         /* until when idleness has been accounted for */
	u32 idle;           /* so long an empty port loses one factor beta, ns; 0: it keeps its value */
	u32 weight;         /* of a new sample, parts of 2^16: 1 - beta */
	u32 busy;           /* sum of the quanta of the backlogged queues */
	u32 picos_per_byte; /* on the link */
	u8 turns;           /* whether turns are counted */
};

/* Of a queue. */
struct cemark_round_queue {
	u64 start;   /* turns: when its round began */
	u32 quantum; /* bytes; under WFQ weight times MTU */
	u8 counts;   /* enum cemark_round_counts */
};

/* A port at a rate in bit/s that has served no round yet: zero, which leaves every threshold at
 * its standard value. beta is in parts of 2^16 (the paper: 49,152); idle the time of one MTU,
 * cemark_nanos_for(rate, mtu), as in the paper. */
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

/* The nearest whole number to one in parts of 2^12. */
CEMARK_FN u64 cemark_round_nearest(u64 parts)
{
	return cemark_add64(parts, 1u << (CEMARK_AVG_BITS - 1)) >> CEMARK_AVG_BITS;
}

/* The round whose quanta are the average: average x picoseconds a byte / 1000, at most 2^64 - 1. */
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

CEMARK_FN void cemark_round_turn_ended(struct cemark_round *r, struct cemark_round_queue *q, u64 end)
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

/* A packet has come to a port that held none since its last one had left. */
CEMARK_FN void cemark_round_woke(struct cemark_round *r, u64 now, u64 since)
{
	u64 slots;

	/* Not twice over the same span, should the packet be refused. */
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

/* The queue has got its first packet. */
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

/* A packet of the queue leaves for the link until `end`; turn_ends: the last of the queue's
 * turn; emptied: the last in the queue. */
CEMARK_FN void cemark_round_served(struct cemark_round *r, struct cemark_round_queue *q, u64 end, bool turn_ends, bool emptied)
{
	if (q->counts == CEMARK_ROUND_TURNS) {
		if (turn_ends)
			cemark_round_turn_ended(r, q, end);
	} else if (q->counts == CEMARK_ROUND_WEIGHTS) {
		cemark_round_weigh(r);
		if (emptied)
			cemark_round_emptied(r, q);
	}
}

/* A packet of the queue was discarded as it was to leave; turn_over: and that was the end of the
 * queue's turn. */
CEMARK_FN void cemark_round_discarded(struct cemark_round *r, struct cemark_round_queue *q, u64 now, bool turn_over, bool emptied)
{
	if (q->counts == CEMARK_ROUND_TURNS) {
		if (turn_over)
			cemark_round_turn_ended(r, q, now);
	} else if (q->counts == CEMARK_ROUND_WEIGHTS && emptied) {
		cemark_round_emptied(r, q);
	}
}

#endif
