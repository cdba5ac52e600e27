/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The variants of ECN#: code, and the interface by position for the catalogue. Part of
 * ecn_sharp.h, included at its end.
 *
 * This is Algorithm 1 once more with every choice of ecn_sharp_variants.h in it. Where no choice
 * differs from the published algorithm, cemark_ecn_sharp_dequeue() does not come here.
 */
#ifndef CEMARK_ECN_SHARP_VARIANTS_IMPL_H
#define CEMARK_ECN_SHARP_VARIANTS_IMPL_H

#include "ecn_sharp_tofino.h"

CEMARK_FN bool cemark_ecn_sharp_variant_valid(const struct cemark_ecn_sharp_variant *c)
{
	return (u32)c->law <= CEMARK_ECN_SHARP_LAW_SQRT &&
	       (u32)c->base <= CEMARK_ECN_SHARP_BASE_NOW && (u32)c->cmp <= CEMARK_CMP_AT_LEAST &&
	       (u32)c->signal <= CEMARK_ECN_SHARP_SIGNAL_LENGTH &&
	       (u32)c->instant <= CEMARK_ECN_SHARP_INSTANT_RAMP && c->kmin <= c->kmax &&
	       c->kmax <= CEMARK_SEC && c->pmax <= CEMARK_ONE &&
	       (u32)c->arithmetic <= CEMARK_ECN_SHARP_ARITHMETIC_PRINTED_DIVISION &&
	       (u32)c->hook <= CEMARK_HOOK_DEQUEUE;
}

/* A threshold given as a time, in the unit of the signal. */
CEMARK_FN u32 cemark_ecn_sharp_level(const struct cemark_ecn_sharp_variant_params *p, u64 time,
				     u64 rate)
{
	return cemark_to32(p->by_length ? cemark_bytes_in(rate, time) : time);
}

CEMARK_FN void cemark_ecn_sharp_variant_apply(struct cemark_ecn_sharp_params *params,
					      const struct cemark_ecn_sharp_config *config,
					      const struct cemark_queue_spec *queue)
{
	struct cemark_ecn_sharp_variant_params *p = &params->variant;
	const struct cemark_ecn_sharp_variant *c = &config->variant;

	p->sqrt = c->law == CEMARK_ECN_SHARP_LAW_SQRT;
	p->from_now = c->base == CEMARK_ECN_SHARP_BASE_NOW;
	p->inclusive = c->cmp == CEMARK_CMP_AT_LEAST;
	p->by_length = c->signal == CEMARK_ECN_SHARP_SIGNAL_LENGTH;
	p->at_enqueue = c->hook == CEMARK_HOOK_ENQUEUE;
	p->ramp = c->instant == CEMARK_ECN_SHARP_INSTANT_RAMP;
	p->arithmetic = (u8)c->arithmetic;
	p->pmax = cemark_min32(c->pmax, CEMARK_ONE);
	p->quantum_time = 0;
	if (c->by_round && !queue->strict)
		p->quantum_time = cemark_to32(cemark_nanos_for(queue->rate, queue->quantum));
	p->active = p->sqrt || p->from_now || p->inclusive || p->by_length || p->at_enqueue ||
		    p->ramp || p->arithmetic || p->quantum_time;

	p->kmin = cemark_ecn_sharp_level(p, c->kmin, queue->rate);
	/* The head of the ramp acts as the step: everything above it is marked. */
	params->ins_target = cemark_ecn_sharp_level(p, p->ramp ? c->kmax : config->ins_target,
						    queue->rate);
	params->pst_target = cemark_ecn_sharp_level(p, config->pst_target, queue->rate);
	if (p->arithmetic != CEMARK_ECN_SHARP_ARITHMETIC_EXACT)
		params->pst_interval = cemark_tofino_span(params->pst_interval);
}

CEMARK_FN void cemark_ecn_sharp_variant_init(const struct cemark_ecn_sharp_variant_params *p,
					     struct cemark_ecn_sharp_variant_vars *v)
{
	v->clock = 0;
	v->in_ticks = p->arithmetic != CEMARK_ECN_SHARP_ARITHMETIC_EXACT;
}

/*
 * The wait in ns, or a length in bytes: what an arriving packet finds, or what a departing one
 * leaves behind plus itself.
 */
CEMARK_FN u32 cemark_ecn_sharp_signal(const struct cemark_ecn_sharp_variant_params *p,
				      const struct cemark_at *at)
{
	if (!p->by_length)
		return cemark_to32(at->sojourn);
	return cemark_add32(at->queue_bytes, p->at_enqueue ? 0 : at->pkt_bytes);
}

/* The first condition. */
CEMARK_FN u32 cemark_ecn_sharp_instantaneous(const struct cemark_ecn_sharp_params *p, u32 signal,
					     u64 salt)
{
	if (signal > p->ins_target)
		return CEMARK_MARK(CEMARK_INSTANT);
	if (p->variant.ramp && signal > p->variant.kmin) {
		u32 probability = cemark_ramp(signal, p->variant.kmin, p->ins_target,
					      p->variant.pmax);

		if (cemark_chance(salt, 0, probability))
			return CEMARK_MARK(CEMARK_RANDOM);
	}
	return CEMARK_PASS;
}

/* Whether time a is later than time b. */
CEMARK_FN bool cemark_ecn_sharp_after(const struct cemark_ecn_sharp_params *p, u64 a, u64 b)
{
	if (p->variant.arithmetic == CEMARK_ECN_SHARP_ARITHMETIC_EXACT ||
	    p->variant.arithmetic == CEMARK_ECN_SHARP_ARITHMETIC_PRINTED_CLOCK)
		return a > b;
	return cemark_tofino_after((u32)a, (u32)b);
}

/* The time `gap` after `time`. */
CEMARK_FN u64 cemark_ecn_sharp_plus(const struct cemark_ecn_sharp_params *p, u64 time, u32 gap)
{
	if (p->variant.arithmetic == CEMARK_ECN_SHARP_ARITHMETIC_EXACT)
		return cemark_add64(time, gap);
	return (u32)time + gap;
}

/* The gap after the count-th mark, at least 1. */
CEMARK_FN u32 cemark_ecn_sharp_gap(const struct cemark_ecn_sharp_params *p, u32 count)
{
	u32 gap;

	if (p->variant.arithmetic == CEMARK_ECN_SHARP_ARITHMETIC_EXACT && p->variant.sqrt)
		gap = cemark_over_sqrt(p->pst_interval, count);
	else if (p->variant.arithmetic == CEMARK_ECN_SHARP_ARITHMETIC_EXACT)
		gap = p->pst_interval / count;
	else if (p->variant.sqrt)
		gap = cemark_tofino_over_root(p->pst_interval, count);
	else if (p->variant.arithmetic == CEMARK_ECN_SHARP_ARITHMETIC_PRINTED_DIVISION)
		gap = cemark_tofino_divide_as_printed(p->pst_interval, count);
	else
		gap = cemark_tofino_divide(p->pst_interval, count);
	return gap ? gap : 1;
}

CEMARK_FN bool cemark_ecn_sharp_variant_detect(const struct cemark_ecn_sharp_params *p,
					       struct cemark_ecn_sharp_vars *v, u32 signal,
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
	return cemark_ecn_sharp_after(p, now,
				      cemark_ecn_sharp_plus(p, v->first_above, p->pst_interval));
}

CEMARK_FN void cemark_ecn_sharp_variant_reschedule(const struct cemark_ecn_sharp_params *p,
						   struct cemark_ecn_sharp_vars *v, u64 now)
{
	u32 gap = cemark_ecn_sharp_gap(p, v->count);

	v->next = cemark_ecn_sharp_plus(p, p->variant.from_now ? now : v->next, gap);
	if (p->max_catchup == 0 || !cemark_ecn_sharp_after(p, now, v->next)) {
		v->behind = 0;
	} else if (v->behind < p->max_catchup) {
		v->behind++;
	} else {
		v->behind = 0;
		v->next = cemark_ecn_sharp_plus(p, now, gap);
	}
}

/* The second condition. */
CEMARK_FN bool cemark_ecn_sharp_variant_persistent(const struct cemark_ecn_sharp_params *p,
						   struct cemark_ecn_sharp_vars *v, u32 signal,
						   u64 now)
{
	bool due;

	if (v->variant.in_ticks)
		now = cemark_tofino_read(&v->variant.clock, now,
					 p->variant.arithmetic ==
						 CEMARK_ECN_SHARP_ARITHMETIC_PRINTED_CLOCK);
	if (!cemark_ecn_sharp_variant_detect(p, v, signal, now)) {
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
	if (p->variant.inclusive)
		due = !cemark_ecn_sharp_after(p, v->next, now);
	else
		due = cemark_ecn_sharp_after(p, now, v->next);
	if (due) {
		v->count = cemark_add32(v->count, 1);
		cemark_ecn_sharp_variant_reschedule(p, v, now);
	}
	return due;
}

CEMARK_FN u32 cemark_ecn_sharp_variant_judge(const struct cemark_ecn_sharp_params *p,
					     struct cemark_ecn_sharp_vars *v,
					     const struct cemark_at *at)
{
	u32 signal = cemark_ecn_sharp_signal(&p->variant, at);
	u32 standing = signal;
	u32 quantum_time = p->variant.quantum_time;
	bool persistent;
	u32 verdict;

	/*
	 * by_round: thresholds shrink by quantum time / round. Instead the signal grows by round /
	 * quantum time, rounded up for the first condition and down for the second, so that both
	 * compare exactly. The wait already contains the queue's share of the link, so the second
	 * condition scales lengths only.
	 */
	if (quantum_time && at->round > quantum_time) {
		u64 product = (u64)signal * cemark_to32(at->round);
		u64 down = cemark_div(product, quantum_time);

		if (p->variant.by_length)
			standing = cemark_to32(down);
		signal = cemark_to32(down + (product != down * quantum_time));
	}
	persistent = cemark_ecn_sharp_variant_persistent(p, v, standing, at->now);
	verdict = cemark_ecn_sharp_instantaneous(p, signal, at->salt);
	if (verdict == CEMARK_PASS && persistent)
		return CEMARK_MARK(CEMARK_PERSISTENT);
	return verdict;
}

/* Only the variant with hook = CEMARK_HOOK_ENQUEUE judges arrivals. */
CEMARK_FN u32 cemark_ecn_sharp_enqueue(const struct cemark_ecn_sharp_params *p,
				       struct cemark_ecn_sharp_vars *v, const struct cemark_at *at)
{
	return cemark_ecn_sharp_variant_judge(p, v, at);
}

/* New parameters keep the state, unless they switch between nanoseconds and ticks. */
CEMARK_FN void cemark_ecn_sharp_retuned(const struct cemark_ecn_sharp_params *p,
					struct cemark_ecn_sharp_vars *v)
{
	bool in_ticks = p->variant.arithmetic != CEMARK_ECN_SHARP_ARITHMETIC_EXACT;

	if (v->variant.in_ticks != in_ticks)
		cemark_ecn_sharp_init(p, v);
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

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

/* Parameters by position. They are not checked: one that is too large counts as the largest. */
CEMARK_FN void cemark_ecn_sharp_set(struct cemark_ecn_sharp_params *p, const u64 *values,
				    const struct cemark_queue_spec *queue)
{
	u32 arithmetic = cemark_min32(cemark_to32(values[CEMARK_ECN_SHARP_ARITHMETIC]),
				      CEMARK_ECN_SHARP_ARITHMETIC_PRINTED_DIVISION);
	const struct cemark_ecn_sharp_config c = {
		.ins_target = values[CEMARK_ECN_SHARP_INS_TARGET],
		.pst_target = values[CEMARK_ECN_SHARP_PST_TARGET],
		.pst_interval = values[CEMARK_ECN_SHARP_PST_INTERVAL],
		.max_catchup = cemark_to32(values[CEMARK_ECN_SHARP_MAX_CATCHUP]),
		.reset_on_empty = values[CEMARK_ECN_SHARP_RESET_ON_EMPTY] == 1,
		.variant = {
			.law = (enum cemark_ecn_sharp_law)values[CEMARK_ECN_SHARP_LAW],
			.base = (enum cemark_ecn_sharp_base)values[CEMARK_ECN_SHARP_BASE],
			.cmp = (enum cemark_cmp)values[CEMARK_ECN_SHARP_CMP],
			.signal = (enum cemark_ecn_sharp_signal)values[CEMARK_ECN_SHARP_SIGNAL],
			.instant = (enum cemark_ecn_sharp_instant)values[CEMARK_ECN_SHARP_INSTANT],
			.kmin = values[CEMARK_ECN_SHARP_KMIN],
			.kmax = values[CEMARK_ECN_SHARP_KMAX],
			.pmax = cemark_to32(values[CEMARK_ECN_SHARP_PMAX]),
			.by_round = values[CEMARK_ECN_SHARP_BY_ROUND] == 1,
			.arithmetic = (enum cemark_ecn_sharp_arithmetic)arithmetic,
			.hook = (enum cemark_hook)values[CEMARK_ECN_SHARP_HOOK],
		},
	};

	cemark_ecn_sharp_apply(p, &c, queue);
}

CEMARK_FN u32 cemark_ecn_sharp_traits(const struct cemark_ecn_sharp_params *p)
{
	u32 traits = CEMARK_AT_ENQUEUE;

	if (!p->variant.at_enqueue)
		traits = CEMARK_AT_DEQUEUE | (p->variant.by_length ? CEMARK_READS_LENGTH : 0);
	return traits | (p->reset_on_empty ? CEMARK_WATCHES_EMPTY : 0) |
	       (p->variant.ramp ? CEMARK_DRAWS : 0);
}

CEMARK_NO_CLOCK(ecn_sharp)

#endif
