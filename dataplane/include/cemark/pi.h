/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * PI: a probability that a proportional-integral controller sets at fixed times, so that the queue settles at a reference (Hollot et
 * al., INFOCOM 2001).
 * Twin of crates/marking/src/pi.rs; parameters and ties: docs/schemes/pi.md.
 */
#ifndef CEMARK_PI_H
#define CEMARK_PI_H

#include "at.h"
#include "fixed.h"

/* Largest gain: 2^-12 a byte. Two products with a length then fit 63 bits. */
#define CEMARK_PI_MAX_GAIN (1u << 28)
/* Certainty, in the parts in which the probability is kept. */
#define CEMARK_PI_CERTAIN (1ll << 40)

/* Places in the array of parameters that cemark_pi_set() reads. */
enum cemark_pi_param {
	CEMARK_PI_QREF,
	CEMARK_PI_INTERVAL,
	CEMARK_PI_A,
	CEMARK_PI_B,
};

struct cemark_pi_params {
	u32 qref;     /* where the queue is to settle, bytes */
	u32 interval; /* between two samples, ns, at least 1 */
	u32 a;        /* gain of the newest deviation, parts of 2^40 a byte */
	u32 b;        /* of the one before, taken off */
};

struct cemark_pi_vars {
	s64 p;      /* probability, parts of 2^40 */
	u64 next;   /* where awake: when the length is sampled next */
	u32 before; /* the length at the last sample */
	u8 awake;
};

CEMARK_FN void cemark_pi_set(struct cemark_pi_params *p, const u64 *values, const struct cemark_queue_spec *queue)
{
	(void)queue;
	p->qref = cemark_to32(values[CEMARK_PI_QREF]);
	p->interval = cemark_to32(values[CEMARK_PI_INTERVAL]);
	if (p->interval == 0)
		p->interval = 1;
	p->a = cemark_min32(cemark_to32(values[CEMARK_PI_A]), CEMARK_PI_MAX_GAIN);
	p->b = cemark_min32(cemark_to32(values[CEMARK_PI_B]), CEMARK_PI_MAX_GAIN);
}

CEMARK_FN void cemark_pi_init(const struct cemark_pi_params *p, struct cemark_pi_vars *v)
{
	(void)p;
	v->p = 0;
	v->next = 0;
	v->before = 0;
	v->awake = 0;
}

CEMARK_FN u32 cemark_pi_traits(const struct cemark_pi_params *p)
{
	(void)p;
	return CEMARK_AT_ENQUEUE | CEMARK_DRAWS | CEMARK_CLOCK;
}

CEMARK_FN u32 cemark_pi_enqueue(const struct cemark_pi_params *p, struct cemark_pi_vars *v, const struct cemark_at *at)
{
	if (!v->awake) {
		v->awake = 1;
		v->next = cemark_add64(at->now, p->interval);
	}
	return cemark_chance(at->salt, 0, (u32)(v->p >> 24)) ? CEMARK_MARK(CEMARK_RANDOM) : CEMARK_PASS;
}

CEMARK_FN void cemark_pi_wake(const struct cemark_pi_params *p, struct cemark_pi_vars *v, const struct cemark_at *at)
{
	s64 step = (s64)p->a * ((s64)at->queue_bytes - (s64)p->qref) - (s64)p->b * ((s64)v->before - (s64)p->qref);

	v->p += step;
	if (v->p < 0)
		v->p = 0;
	else if (v->p > CEMARK_PI_CERTAIN)
		v->p = CEMARK_PI_CERTAIN;
	/* Nothing would move until the next packet: no length, no probability. */
	v->awake = v->p != 0 || at->queue_bytes != 0 || v->before != 0;
	v->before = at->queue_bytes;
	v->next = cemark_add64(at->now, p->interval);
}

CEMARK_FN bool cemark_pi_next_wake(const struct cemark_pi_params *p, const struct cemark_pi_vars *v, u64 *when)
{
	(void)p;
	*when = v->next;
	return v->awake;
}

CEMARK_NO_RETUNED(pi)
CEMARK_NO_DEQUEUE(pi)
CEMARK_NO_EMPTIED(pi)

#endif
