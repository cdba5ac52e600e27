/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * PIE: a probability that follows the queueing delay at fixed times, in integers (Pan et al., HPSR 2013; RFC 8033 without its
 * departure-rate estimate, on/off switch and de-randomisation).
 * Twin of crates/marking/src/pie.rs; parameters and ties: docs/schemes/pie.md.
 */
#ifndef CEMARK_PIE_H
#define CEMARK_PIE_H

#include "at.h"
#include "fixed.h"

/* Bits of a probability: it counts parts of 2^48. */
#define CEMARK_PIE_BITS 48
#define CEMARK_PIE_CERTAIN (1ll << CEMARK_PIE_BITS)
/* Delays and their differences beyond 2^28 ns count as that: products of gains and delays then
 * fit 63 bits. */
#define CEMARK_PIE_LONGEST (1ll << 28)
/* A probability of n millionths, rounded up (2^48 / 10^6 = 2^42 / 5^6). */
#define CEMARK_PIE_MILLIONTHS(n) ((s64)(((1ull << 42) * (n) + 15624) / 15625))

/* Places in the array of parameters that cemark_pie_set() reads. */
enum cemark_pie_param {
	CEMARK_PIE_TARGET,
	CEMARK_PIE_T_UPDATE,
	CEMARK_PIE_ALPHA,
	CEMARK_PIE_BETA,
	CEMARK_PIE_MAX_BURST,
	CEMARK_PIE_MARK_ECNTH,
	CEMARK_PIE_TUNING,
	CEMARK_PIE_CAP,
	CEMARK_PIE_DELAY,
	CEMARK_PIE_MEAN_PKT,
};

struct cemark_pie_params {
	u32 target;         /* delay at which the queue is to settle, ns */
	u32 t_update;       /* between two updates, ns, at least 1 */
	u32 mark_ecnth;     /* probability from which on packets are dropped, parts of 2^16; CEMARK_ONE: never */
	u32 picos_per_byte; /* on the link */
	u16 alpha, beta;    /* gains in sixteenths per second: of the deviation, of the change */
	u16 mean_pkt;       /* two such packets or less are never marked, bytes */
	u16 bursts;         /* updates that a burst after a quiet time is left alone for */
	u8 paper;           /* steps shrink in the paper's three ranges, not RFC 8033's seven */
	u8 cap;             /* a step is at most 2 % once the probability is 10 % */
	u8 by_wait;         /* delay is the wait of the packet that left last, not length over rate */
};

struct cemark_pie_vars {
	s64 p;      /* probability, parts of 2^48 */
	u64 next;   /* where awake: when the next update is due */
	u32 before; /* the delay at the last update, ns */
	u32 wait;   /* of the packet that left last, ns */
	u16 burst;  /* updates left of the allowance */
	u8 awake;   /* updates go on; not while all is quiet */
};

CEMARK_FN u16 cemark_pie_short(u64 value)
{
	return value > CEMARK_U16_MAX ? CEMARK_U16_MAX : (u16)value;
}

CEMARK_FN void cemark_pie_set(struct cemark_pie_params *p, const u64 *values, const struct cemark_queue_spec *queue)
{
	u32 burst = cemark_to32(values[CEMARK_PIE_MAX_BURST]);

	p->target = cemark_to32(values[CEMARK_PIE_TARGET]);
	p->t_update = cemark_to32(values[CEMARK_PIE_T_UPDATE]);
	if (p->t_update == 0)
		p->t_update = 1;
	p->mark_ecnth = cemark_min32(cemark_to32(values[CEMARK_PIE_MARK_ECNTH]), CEMARK_ONE);
	p->picos_per_byte = cemark_to32(cemark_picos_per_byte(queue->rate));
	p->alpha = cemark_pie_short(values[CEMARK_PIE_ALPHA]);
	p->beta = cemark_pie_short(values[CEMARK_PIE_BETA]);
	p->mean_pkt = cemark_pie_short(values[CEMARK_PIE_MEAN_PKT]);
	p->bursts = cemark_pie_short(burst / p->t_update + (burst % p->t_update != 0));
	p->paper = values[CEMARK_PIE_TUNING] == 1;
	p->cap = values[CEMARK_PIE_CAP] == 1;
	p->by_wait = values[CEMARK_PIE_DELAY] == 1;
}

CEMARK_FN void cemark_pie_init(const struct cemark_pie_params *p, struct cemark_pie_vars *v)
{
	v->p = 0;
	v->next = 0;
	v->before = 0;
	v->wait = 0;
	v->burst = p->bursts;
	v->awake = 0;
}

/* After new parameters: what is known is kept, and no more of a burst left alone than they
 * allow. */
CEMARK_FN void cemark_pie_retuned(const struct cemark_pie_params *p, struct cemark_pie_vars *v)
{
	if (v->burst > p->bursts)
		v->burst = p->bursts;
}

CEMARK_FN u32 cemark_pie_traits(const struct cemark_pie_params *p)
{
	return CEMARK_AT_ENQUEUE | (p->by_wait ? CEMARK_AT_DEQUEUE : 0) | CEMARK_DRAWS | CEMARK_CLOCK;
}

/* The queueing delay now, ns, at most CEMARK_PIE_LONGEST. */
CEMARK_FN s64 cemark_pie_delay(const struct cemark_pie_params *p, const struct cemark_pie_vars *v, const struct cemark_at *at)
{
	u64 nanos;

	if (!p->by_wait)
		nanos = cemark_div((u64)at->queue_bytes * p->picos_per_byte, 1000);
	else
		nanos = at->queue_bytes ? v->wait : 0;
	return nanos > CEMARK_PIE_LONGEST ? CEMARK_PIE_LONGEST : (s64)nanos;
}

/* By how many bits a step shrinks at the present probability. */
CEMARK_FN u32 cemark_pie_shrink(const struct cemark_pie_params *p, s64 now)
{
	if (!p->paper) {
		if (now < CEMARK_PIE_MILLIONTHS(1))
			return 11;
		if (now < CEMARK_PIE_MILLIONTHS(10))
			return 9;
		if (now < CEMARK_PIE_MILLIONTHS(100))
			return 7;
		if (now < CEMARK_PIE_MILLIONTHS(1000))
			return 5;
	}
	if (now < CEMARK_PIE_MILLIONTHS(10000))
		return 3;
	return now < CEMARK_PIE_MILLIONTHS(100000) ? 1 : 0;
}

/* Parts of 2^48 a nanosecond of so many sixteenths per second. */
CEMARK_FN s64 cemark_pie_gain(u16 sixteenths)
{
	return (s64)cemark_div((u64)sixteenths << (CEMARK_PIE_BITS - 4), 1000000000u);
}

/* The probability after one more update. */
CEMARK_FN s64 cemark_pie_update(const struct cemark_pie_params *p, const struct cemark_pie_vars *v, s64 delay)
{
	/* Rounded down, not up: the largest step that is no more than 2 %. */
	const s64 most = CEMARK_PIE_MILLIONTHS(20000) - 1;
	s64 off = delay - (s64)p->target;
	s64 change = delay - (s64)v->before;
	s64 step, next;

	if (off < -CEMARK_PIE_LONGEST)
		off = -CEMARK_PIE_LONGEST;
	step = (cemark_pie_gain(p->alpha) * off + cemark_pie_gain(p->beta) * change) >> cemark_pie_shrink(p, v->p);
	if (p->cap && v->p >= CEMARK_PIE_MILLIONTHS(100000) && step > most)
		step = most;
	next = v->p + step;
	if (next < 0)
		return 0;
	if (delay == 0 && v->before == 0)
		next = (s64)cemark_div((u64)next * 98, 100);
	return next > CEMARK_PIE_CERTAIN ? CEMARK_PIE_CERTAIN : next;
}

CEMARK_FN u32 cemark_pie_enqueue(const struct cemark_pie_params *p, struct cemark_pie_vars *v, const struct cemark_at *at)
{
	bool calm = 2ull * v->before < p->target && v->p < CEMARK_PIE_MILLIONTHS(200000);
	bool few = at->queue_bytes <= 2u * p->mean_pkt;

	if (!v->awake) {
		v->awake = 1;
		v->next = cemark_add64(at->now, p->t_update);
	}
	if (v->burst > 0 || calm || few || !cemark_chance(at->salt, 0, (u32)(v->p >> 32)))
		return CEMARK_PASS;
	if (v->p < (s64)p->mark_ecnth << 32 || p->mark_ecnth == CEMARK_ONE)
		return CEMARK_MARK(CEMARK_RANDOM);
	return CEMARK_DROP(CEMARK_RANDOM);
}

CEMARK_FN u32 cemark_pie_dequeue(const struct cemark_pie_params *p, struct cemark_pie_vars *v, const struct cemark_at *at)
{
	(void)p;
	v->wait = cemark_to32(at->sojourn);
	return cemark_keep(at);
}

CEMARK_FN void cemark_pie_wake(const struct cemark_pie_params *p, struct cemark_pie_vars *v, const struct cemark_at *at)
{
	s64 delay = cemark_pie_delay(p, v, at);
	v->p = cemark_pie_update(p, v, delay);
	if (v->burst > 0)
		v->burst--;
	if (v->p == 0 && 2 * delay < (s64)p->target && 2ull * v->before < p->target)
		v->burst = p->bursts;
	/* Nothing would move until the next packet. */
	v->awake = v->p != 0 || delay != 0 || v->before != 0 || at->queue_bytes != 0;
	v->before = (u32)delay;
	v->next = cemark_add64(at->now, p->t_update);
}

CEMARK_FN bool cemark_pie_next_wake(const struct cemark_pie_params *p, const struct cemark_pie_vars *v, u64 *when)
{
	(void)p;
	*when = v->next;
	return v->awake;
}

CEMARK_NO_EMPTIED(pie)

#endif
