/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * PI: mark with a probability that a proportional-integral controller sets, so that the queue
 * settles at a reference length.
 * Hollot et al., "On Designing Improved Controllers for AQM Routers Supporting TCP Flows", INFOCOM
 * 2001.
 *
 * Every interval the length is sampled and the probability grows by a times its deviation from
 * qref, less b times the deviation before.
 *
 * The same in Rust: crates/marking/src/pi.rs. Ties and sources: docs/schemes/pi.md.
 */
#ifndef CEMARK_PI_H
#define CEMARK_PI_H

#include "at.h"
#include "fixed.h"

/* Probabilities are parts of 2^40. */
#define CEMARK_PI_CERTAIN (1ll << 40)
/* Largest gain: 2^-12 per byte. The sum of two gains times lengths then fits 63 bits. */
#define CEMARK_PI_MAX_GAIN (1u << 28)

struct cemark_pi_config {
	u64 qref;     /* bytes, 32 bits: where the queue settles */
	u64 interval; /* ns, 1 to CEMARK_SEC: between two samples */
	u32 a;        /* parts of 2^40 per byte, up to CEMARK_PI_MAX_GAIN */
	u32 b;        /* the same, smaller than a */
};

/* The paper's rule for gains at 10 Gb/s, 8 flows and an RTT of 100 us. */
#define CEMARK_PI_DEFAULTS                                                                         \
	{                                                                                          \
		.qref = 20 * 1500,                                                                 \
		.interval = 20 * CEMARK_USEC,                                                      \
		.a = 336521,                                                                       \
		.b = 323842,                                                                       \
	}

struct cemark_pi_params {
	u32 qref;     /* bytes */
	u32 interval; /* ns, at least 1 */
	u32 a, b;     /* parts of 2^40 per byte */
};

struct cemark_pi_vars {
	s64 p;      /* probability, parts of 2^40 */
	u64 next;   /* ns, valid while awake: time of the next sample */
	u32 before; /* bytes: the length at the last sample */
	u8 awake;   /* samples are being taken; they stop when the queue is idle */
};

CEMARK_FN void cemark_pi_apply(struct cemark_pi_params *p, const struct cemark_pi_config *c,
			       const struct cemark_queue_spec *queue)
{
	(void)queue;
	p->qref = cemark_to32(c->qref);
	p->interval = c->interval ? cemark_to32(c->interval) : 1;
	p->a = cemark_min32(c->a, CEMARK_PI_MAX_GAIN);
	p->b = cemark_min32(c->b, CEMARK_PI_MAX_GAIN);
}

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_pi_configure(struct cemark_pi_params *p, const struct cemark_pi_config *c,
				  const struct cemark_queue_spec *queue)
{
	if (c->qref > CEMARK_U32_MAX || c->interval == 0 || c->interval > CEMARK_SEC ||
	    c->a > CEMARK_PI_MAX_GAIN || c->b > CEMARK_PI_MAX_GAIN)
		return -CEMARK_EINVAL;
	cemark_pi_apply(p, c, queue);
	return 0;
}

CEMARK_FN void cemark_pi_init(const struct cemark_pi_params *p, struct cemark_pi_vars *v)
{
	(void)p;
	v->p = 0;
	v->next = 0;
	v->before = 0;
	v->awake = 0;
}

CEMARK_FN u32 cemark_pi_enqueue(const struct cemark_pi_params *p, struct cemark_pi_vars *v,
				const struct cemark_at *at)
{
	if (!v->awake) {
		v->awake = 1;
		v->next = cemark_add64(at->now, p->interval);
	}
	if (cemark_chance(at->salt, 0, (u32)(v->p >> 24)))
		return CEMARK_MARK(CEMARK_RANDOM);
	return CEMARK_PASS;
}

CEMARK_FN void cemark_pi_wake(const struct cemark_pi_params *p, struct cemark_pi_vars *v,
			      const struct cemark_at *at)
{
	s64 off = (s64)at->queue_bytes - (s64)p->qref;
	s64 off_before = (s64)v->before - (s64)p->qref;

	v->p += (s64)p->a * off - (s64)p->b * off_before;
	if (v->p < 0)
		v->p = 0;
	else if (v->p > CEMARK_PI_CERTAIN)
		v->p = CEMARK_PI_CERTAIN;
	/* Otherwise further samples would change nothing before the next packet arrives. */
	v->awake = v->p != 0 || at->queue_bytes != 0 || v->before != 0;
	v->before = at->queue_bytes;
	v->next = cemark_add64(at->now, p->interval);
}

CEMARK_FN bool cemark_pi_next_wake(const struct cemark_pi_params *p, const struct cemark_pi_vars *v,
				   u64 *when)
{
	(void)p;
	*when = v->next;
	return v->awake;
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

enum cemark_pi_param {
	CEMARK_PI_QREF,
	CEMARK_PI_INTERVAL,
	CEMARK_PI_A,
	CEMARK_PI_B,
};

/* Parameters by position. They are not checked: one that is too large counts as the largest. */
CEMARK_FN void cemark_pi_set(struct cemark_pi_params *p, const u64 *values,
			     const struct cemark_queue_spec *queue)
{
	const struct cemark_pi_config c = {
		.qref = values[CEMARK_PI_QREF],
		.interval = values[CEMARK_PI_INTERVAL],
		.a = cemark_to32(values[CEMARK_PI_A]),
		.b = cemark_to32(values[CEMARK_PI_B]),
	};

	cemark_pi_apply(p, &c, queue);
}

CEMARK_FN u32 cemark_pi_traits(const struct cemark_pi_params *p)
{
	(void)p;
	return CEMARK_AT_ENQUEUE | CEMARK_DRAWS | CEMARK_CLOCK;
}

CEMARK_NO_RETUNED(pi)
CEMARK_NO_DEQUEUE(pi)
CEMARK_NO_EMPTIED(pi)

#endif
