/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * RED: a probability that rises with the smoothed queue length (Floyd and Jacobson, ToN 1993).
 * Twin of crates/marking/src/red.rs; parameters and ties: docs/schemes/red.md.
 */
#ifndef CEMARK_RED_H
#define CEMARK_RED_H

#include "at.h"
#include "fixed.h"

/* Places in the array of parameters that cemark_red_set() reads. */
enum cemark_red_param {
	CEMARK_RED_KMIN,
	CEMARK_RED_KMAX,
	CEMARK_RED_PMAX,
	CEMARK_RED_WEIGHT,
	CEMARK_RED_SPACING,
	CEMARK_RED_COUNT_SELF,
	CEMARK_RED_MEAN_PKT,
};

struct cemark_red_params {
	u32 kmin, kmax;  /* smoothed length, bytes */
	u32 pmax;        /* just below kmax, parts of 2^16 */
	u32 weight;      /* of the newest length, parts of 2^16 */
	u32 packet_time; /* of one mean packet on the link, ns, at least 1 */
	u8 independent;  /* each packet on its own; else evenly spread */
	u8 count_self;   /* the judged packet counts itself */
};

struct cemark_red_vars {
	u64 avg;        /* smoothed length, 2^-12 bytes */
	u64 idle_since; /* where idle: up to when it has aged */
	u32 passed;     /* packets between kmin and kmax since the last mark */
	u8 idle;        /* the queue is empty */
};

CEMARK_FN void cemark_red_set(struct cemark_red_params *p, const u64 *values, const struct cemark_queue_spec *queue)
{
	u32 time = cemark_to32(cemark_nanos_for(queue->rate, values[CEMARK_RED_MEAN_PKT]));

	p->kmin = cemark_to32(values[CEMARK_RED_KMIN]);
	p->kmax = cemark_to32(values[CEMARK_RED_KMAX]);
	p->pmax = cemark_min32(cemark_to32(values[CEMARK_RED_PMAX]), CEMARK_ONE);
	p->weight = cemark_min32(cemark_to32(values[CEMARK_RED_WEIGHT]), CEMARK_ONE);
	p->packet_time = time ? time : 1;
	p->independent = values[CEMARK_RED_SPACING] == 1;
	p->count_self = values[CEMARK_RED_COUNT_SELF] != 0;
}

CEMARK_FN void cemark_red_init(const struct cemark_red_params *p, struct cemark_red_vars *v)
{
	(void)p;
	v->avg = 0;
	v->idle_since = 0;
	v->passed = 0;
	v->idle = 0;
}

CEMARK_FN u32 cemark_red_traits(const struct cemark_red_params *p)
{
	(void)p;
	return CEMARK_AT_ENQUEUE | CEMARK_WATCHES_EMPTY | CEMARK_DRAWS;
}

/* Brings the average up to the arrival of a packet. */
CEMARK_FN void cemark_red_smooth(const struct cemark_red_params *p, struct cemark_red_vars *v, const struct cemark_at *at)
{
	if (v->idle && at->queue_bytes == 0) {
		/* As in the paper, the packet that ends an idle time ages the average and is not a sample
		 * itself. Where it is dropped the idle time goes on. */
		u64 missed = cemark_div(cemark_sub64(at->now, v->idle_since), p->packet_time);

		v->idle_since = at->now;
		v->avg = cemark_decay(v->avg, p->weight, missed);
	} else {
		u32 own = p->count_self ? at->pkt_bytes : 0;

		v->avg = cemark_ewma(v->avg, cemark_add32(at->queue_bytes, own), p->weight);
		v->idle = 0;
	}
}

/* Whether a packet between kmin and kmax is marked. */
CEMARK_FN bool cemark_red_lot(const struct cemark_red_params *p, struct cemark_red_vars *v, u32 avg, u64 salt)
{
	u32 share = cemark_ramp(avg, p->kmin, p->kmax, p->pmax);
	u32 draw = cemark_draw(salt, 0);
	u64 rest;

	if (p->independent)
		return draw < share;
	/* draw < share / (1 - passed * share), without the division; from passed = 1 / share on it
	 * always holds. */
	rest = cemark_sub64(CEMARK_ONE, (u64)v->passed * share);
	if (draw * rest < (u64)share << 16) {
		v->passed = 0;
		return 1;
	}
	v->passed = cemark_add32(v->passed, 1);
	return 0;
}

CEMARK_FN u32 cemark_red_enqueue(const struct cemark_red_params *p, struct cemark_red_vars *v, const struct cemark_at *at)
{
	u32 avg;

	cemark_red_smooth(p, v, at);
	avg = (u32)(v->avg >> CEMARK_AVG_BITS);
	if (avg >= p->kmax) {
		v->passed = 0;
		return CEMARK_MARK(CEMARK_AVERAGE);
	}
	if (avg < p->kmin) {
		v->passed = 0;
		return CEMARK_PASS;
	}
	return cemark_red_lot(p, v, avg, at->salt) ? CEMARK_MARK(CEMARK_RANDOM) : CEMARK_PASS;
}

CEMARK_FN void cemark_red_emptied(const struct cemark_red_params *p, struct cemark_red_vars *v, u64 now)
{
	(void)p;
	v->idle_since = now;
	v->idle = 1;
}

CEMARK_NO_RETUNED(red)
CEMARK_NO_DEQUEUE(red)
CEMARK_NO_CLOCK(red)

#endif
