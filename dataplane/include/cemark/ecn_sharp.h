/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ECN#: marks on instantaneous and on persistent congestion (Zhang et al., CoNEXT 2019, Algorithm 1), with the variants that papers
 * and code have shown.
 * Twin of crates/marking/src/ecn_sharp.rs; parameters and ties: docs/schemes/ecn_sharp.md.
 */
#ifndef CEMARK_ECN_SHARP_H
#define CEMARK_ECN_SHARP_H

#include "at.h"
#include "fixed.h"
#include "tofino.h"

/* Places in the array of parameters that cemark_ecn_sharp_set() reads. */
enum cemark_ecn_sharp_param {
	CEMARK_ECN_SHARP_INS_TARGET,
	CEMARK_ECN_SHARP_PST_TARGET,
	CEMARK_ECN_SHARP_PST_INTERVAL,
	CEMARK_ECN_SHARP_LAW,
	CEMARK_ECN_SHARP_BASE,
	CEMARK_ECN_SHARP_CMP,
	CEMARK_ECN_SHARP_RESET_ON_EMPTY,
	CEMARK_ECN_SHARP_MAX_CATCHUP,
	CEMARK_ECN_SHARP_SIGNAL,
	CEMARK_ECN_SHARP_INSTANT,
	CEMARK_ECN_SHARP_KMIN,
	CEMARK_ECN_SHARP_KMAX,
	CEMARK_ECN_SHARP_PMAX,
	CEMARK_ECN_SHARP_BY_ROUND,
	CEMARK_ECN_SHARP_ARITHMETIC,
	CEMARK_ECN_SHARP_HOOK,
};

/* How times are kept and intervals divided. Waits and lengths are compared as they come, in all
 * of them. */
enum cemark_ecn_sharp_arithmetic {
	CEMARK_ECN_SHARP_EXACT = 0,
	CEMARK_ECN_SHARP_TOFINO = 1,
	CEMARK_ECN_SHARP_PRINTED_CLOCK = 2,
	CEMARK_ECN_SHARP_PRINTED_DIVISION = 3,
};

/* Thresholds are in the unit of the signal: nanoseconds or bytes. */
struct cemark_ecn_sharp_params {
	u32 ins_target;
	u32 pst_target;
	u32 pst_interval; /* ns or ticks, as the arithmetic counts, whatever the signal; at least 1 */
	u32 kmin;         /* foot of the ramp; its head is ins_target */
	u32 pmax;         /* parts of 2^16 */
	u32 quantum_time; /* of the quantum on the link, ns, where rounds are looked at; else 0 */
	u16 max_catchup;  /* 0: no limit */
	u8 sqrt;          /* gaps of pst_interval / sqrt(n), not / n */
	u8 from_now;      /* a gap runs from the mark, not from the previous schedule */
	u8 at_least;      /* a mark is due from its time on, not after it */
	u8 reset_on_empty;
	u8 by_length;
	u8 at_enqueue;
	u8 ramp;
	u8 arithmetic;
};

/* Times are nanoseconds, or ticks of which 32 bits count. */
struct cemark_ecn_sharp_vars {
	u64 first_above; /* where above: when the signal was first seen at pst_target or more */
	u64 next;        /* when the next mark is due, in the marking state */
	u32 count;       /* marks in this marking state */
	u16 behind;      /* marks in a row that left the schedule behind the clock */
	u8 above;
	u8 marking;
	u8 in_ticks;
	u32 clock;       /* the registers of Algorithm 2, where in ticks */
};

/* A time parameter in the unit of the signal. */
CEMARK_FN u32 cemark_ecn_sharp_level(const struct cemark_ecn_sharp_params *p, u64 time, u64 rate)
{
	return cemark_to32(p->by_length ? cemark_bytes_in(rate, time) : time);
}

CEMARK_FN void cemark_ecn_sharp_set(struct cemark_ecn_sharp_params *p, const u64 *values,
				    const struct cemark_queue_spec *queue)
{
	u64 rate = queue->rate;
	u64 catchup = values[CEMARK_ECN_SHARP_MAX_CATCHUP];

	p->by_length = values[CEMARK_ECN_SHARP_SIGNAL] == 1;
	p->at_enqueue = values[CEMARK_ECN_SHARP_HOOK] != 1;
	p->ramp = values[CEMARK_ECN_SHARP_INSTANT] == 1;
	/* The ramp's head is its step: above it every packet is marked. */
	p->ins_target = cemark_ecn_sharp_level(
		p, p->ramp ? values[CEMARK_ECN_SHARP_KMAX] : values[CEMARK_ECN_SHARP_INS_TARGET], rate);
	p->pst_target = cemark_ecn_sharp_level(p, values[CEMARK_ECN_SHARP_PST_TARGET], rate);
	p->pst_interval = cemark_to32(values[CEMARK_ECN_SHARP_PST_INTERVAL]);
	if (p->pst_interval == 0)
		p->pst_interval = 1;
	p->arithmetic = values[CEMARK_ECN_SHARP_ARITHMETIC] > CEMARK_ECN_SHARP_PRINTED_DIVISION ?
				CEMARK_ECN_SHARP_PRINTED_DIVISION : (u8)values[CEMARK_ECN_SHARP_ARITHMETIC];
	if (p->arithmetic != CEMARK_ECN_SHARP_EXACT)
		p->pst_interval = cemark_tofino_span(p->pst_interval);
	p->kmin = cemark_ecn_sharp_level(p, values[CEMARK_ECN_SHARP_KMIN], rate);
	p->pmax = cemark_min32(cemark_to32(values[CEMARK_ECN_SHARP_PMAX]), CEMARK_ONE);
	p->quantum_time = 0;
	if (values[CEMARK_ECN_SHARP_BY_ROUND] == 1 && !queue->strict)
		p->quantum_time = cemark_to32(cemark_nanos_for(rate, queue->quantum));
	p->max_catchup = catchup > CEMARK_U16_MAX ? CEMARK_U16_MAX : (u16)catchup;
	p->sqrt = values[CEMARK_ECN_SHARP_LAW] == 1;
	p->from_now = values[CEMARK_ECN_SHARP_BASE] == 1;
	p->at_least = values[CEMARK_ECN_SHARP_CMP] == 1;
	p->reset_on_empty = values[CEMARK_ECN_SHARP_RESET_ON_EMPTY] == 1;
}

CEMARK_FN void cemark_ecn_sharp_init(const struct cemark_ecn_sharp_params *p, struct cemark_ecn_sharp_vars *v)
{
	v->first_above = 0;
	v->next = 0;
	v->count = 0;
	v->behind = 0;
	v->above = 0;
	v->marking = 0;
	v->in_ticks = p->arithmetic != CEMARK_ECN_SHARP_EXACT;
	v->clock = 0;
}

/* After new parameters: what is known is kept, but times of one clock mean nothing on the other. */
CEMARK_FN void cemark_ecn_sharp_retuned(const struct cemark_ecn_sharp_params *p, struct cemark_ecn_sharp_vars *v)
{
	if (v->in_ticks != (p->arithmetic != CEMARK_ECN_SHARP_EXACT))
		cemark_ecn_sharp_init(p, v);
}

CEMARK_FN u32 cemark_ecn_sharp_traits(const struct cemark_ecn_sharp_params *p)
{
	return (p->at_enqueue ? CEMARK_AT_ENQUEUE : CEMARK_AT_DEQUEUE | (p->by_length ? CEMARK_READS_LENGTH : 0)) |
	       (p->reset_on_empty ? CEMARK_WATCHES_EMPTY : 0) | (p->ramp ? CEMARK_DRAWS : 0);
}

/* The first condition: congestion right now. */
CEMARK_FN u32 cemark_ecn_sharp_instantaneous(const struct cemark_ecn_sharp_params *p, u32 signal, u64 salt)
{
	if (signal > p->ins_target)
		return CEMARK_MARK(CEMARK_INSTANT);
	if (p->ramp && signal > p->kmin) {
		u32 probability = cemark_ramp(signal, p->kmin, p->ins_target, p->pmax);

		if (cemark_chance(salt, 0, probability))
			return CEMARK_MARK(CEMARK_RANDOM);
	}
	return CEMARK_PASS;
}

/* Whether time a is later than b. */
CEMARK_FN bool cemark_ecn_sharp_after(const struct cemark_ecn_sharp_params *p, u64 a, u64 b)
{
	if (p->arithmetic == CEMARK_ECN_SHARP_EXACT || p->arithmetic == CEMARK_ECN_SHARP_PRINTED_CLOCK)
		return a > b;
	return cemark_tofino_after((u32)a, (u32)b);
}

/* A gap later. */
CEMARK_FN u64 cemark_ecn_sharp_plus(const struct cemark_ecn_sharp_params *p, u64 time, u32 gap)
{
	return p->arithmetic == CEMARK_ECN_SHARP_EXACT ? cemark_add64(time, gap) : (u32)time + gap;
}

/* The gap after a mark. A gap of zero would mark every packet for ever without the schedule
 * moving. */
CEMARK_FN u32 cemark_ecn_sharp_gap(const struct cemark_ecn_sharp_params *p, u32 count)
{
	u32 gap;

	if (p->arithmetic == CEMARK_ECN_SHARP_EXACT)
		gap = p->sqrt ? cemark_over_sqrt(p->pst_interval, count) : p->pst_interval / count;
	else if (p->sqrt)
		gap = cemark_tofino_over_root(p->pst_interval, count);
	else if (p->arithmetic == CEMARK_ECN_SHARP_PRINTED_DIVISION)
		gap = cemark_tofino_divide_as_printed(p->pst_interval, count);
	else
		gap = cemark_tofino_divide(p->pst_interval, count);
	return gap ? gap : 1;
}

/* Whether the queue has stood for longer than an interval. */
CEMARK_FN bool cemark_ecn_sharp_detect(const struct cemark_ecn_sharp_params *p, struct cemark_ecn_sharp_vars *v, u32 signal,
				       u64 now)
{
	if (signal < p->pst_target) {
		v->above = 0;
		return 0;
	}
	if (!v->above) {
		v->above = 1;
		v->first_above = now;
		return 0;
	}
	return cemark_ecn_sharp_after(p, now, cemark_ecn_sharp_plus(p, v->first_above, p->pst_interval));
}

/* Sets the time of the mark after this one. */
CEMARK_FN void cemark_ecn_sharp_reschedule(const struct cemark_ecn_sharp_params *p, struct cemark_ecn_sharp_vars *v, u64 now)
{
	u32 gap = cemark_ecn_sharp_gap(p, v->count);

	v->next = cemark_ecn_sharp_plus(p, p->from_now ? now : v->next, gap);
	if (p->max_catchup == 0 || !cemark_ecn_sharp_after(p, now, v->next)) {
		v->behind = 0;
	} else if (v->behind < p->max_catchup) {
		v->behind++;
	} else {
		v->behind = 0;
		v->next = cemark_ecn_sharp_plus(p, now, gap);
	}
}

/* The second condition: one mark in a while from a standing queue, faster the longer it stands. */
CEMARK_FN bool cemark_ecn_sharp_persistent(const struct cemark_ecn_sharp_params *p, struct cemark_ecn_sharp_vars *v,
					   u32 signal, u64 now)
{
	bool due;

	if (v->in_ticks)
		now = cemark_tofino_read(&v->clock, now, p->arithmetic == CEMARK_ECN_SHARP_PRINTED_CLOCK);
	if (!cemark_ecn_sharp_detect(p, v, signal, now)) {
		v->marking = 0;
		return 0;
	}
	if (!v->marking) {
		v->marking = 1;
		v->count = 1;
		v->behind = 0;
		v->next = cemark_ecn_sharp_plus(p, now, p->pst_interval);
		return 1;
	}
	if (p->at_least)
		due = !cemark_ecn_sharp_after(p, v->next, now);
	else
		due = cemark_ecn_sharp_after(p, now, v->next);
	if (due) {
		v->count = cemark_add32(v->count, 1);
		cemark_ecn_sharp_reschedule(p, v, now);
	}
	return due;
}

/* The wait, or a length: what an arriving packet finds, or what a departing one leaves and
 * itself. */
CEMARK_FN u32 cemark_ecn_sharp_signal(const struct cemark_ecn_sharp_params *p, const struct cemark_at *at)
{
	if (!p->by_length)
		return cemark_to32(at->sojourn);
	return cemark_add32(at->queue_bytes, p->at_enqueue ? 0 : at->pkt_bytes);
}

CEMARK_FN u32 cemark_ecn_sharp_judge(const struct cemark_ecn_sharp_params *p, struct cemark_ecn_sharp_vars *v,
				     const struct cemark_at *at)
{
	u32 signal = cemark_ecn_sharp_signal(p, at);
	u32 standing = signal;
	bool persistent;
	u32 verdict;

	/*
	 * As it would be if the queue had the link to itself, times round / quantum time: up for the first condition and down for the
	 * second, so that each compares exactly as with its threshold divided by that factor.
	 */
	if (p->quantum_time && at->round > p->quantum_time) {
		u64 product = (u64)signal * cemark_to32(at->round);
		u64 down = cemark_div(product, p->quantum_time);

		if (p->by_length)
			standing = cemark_to32(down);
		signal = cemark_to32(down + (product != down * p->quantum_time));
	}
	/* Always judged, so that the state moves on when both conditions hold. */
	persistent = cemark_ecn_sharp_persistent(p, v, standing, at->now);
	verdict = cemark_ecn_sharp_instantaneous(p, signal, at->salt);
	if (verdict == CEMARK_PASS && persistent)
		return CEMARK_MARK(CEMARK_PERSISTENT);
	return verdict;
}

CEMARK_FN u32 cemark_ecn_sharp_enqueue(const struct cemark_ecn_sharp_params *p, struct cemark_ecn_sharp_vars *v,
				       const struct cemark_at *at)
{
	return cemark_ecn_sharp_judge(p, v, at);
}

CEMARK_FN u32 cemark_ecn_sharp_dequeue(const struct cemark_ecn_sharp_params *p, struct cemark_ecn_sharp_vars *v,
				       const struct cemark_at *at)
{
	return cemark_ecn_sharp_judge(p, v, at);
}

CEMARK_FN void cemark_ecn_sharp_emptied(const struct cemark_ecn_sharp_params *p, struct cemark_ecn_sharp_vars *v, u64 now)
{
	(void)now;
	if (p->reset_on_empty) {
		v->above = 0;
		v->marking = 0;
	}
}

CEMARK_NO_CLOCK(ecn_sharp)

#endif
