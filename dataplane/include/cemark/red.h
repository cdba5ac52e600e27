/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * RED: mark with a probability that rises with the smoothed queue length.
 * Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN
 * 1993.
 *
 * The length is averaged over arrivals, or over departures where those are judged. Below kmin
 * nothing is marked, from kmax on everything is, and between them the probability rises from 0 to
 * pmax. Marks are spread evenly (the paper's count of packets since the last mark, section 7), or
 * each packet is drawn independently, as DCQCN's switches do. While the queue is empty the average
 * decays as if packets of mean_pkt bytes had been sent. With weight 1 there is no average: the
 * length itself is compared.
 *
 * The same in Rust: crates/marking/src/red.rs. Ties and sources: docs/schemes/red.md.
 */
#ifndef CEMARK_RED_H
#define CEMARK_RED_H

#include "at.h"
#include "fixed.h"

enum cemark_red_spacing {
	CEMARK_RED_SPACING_UNIFORM = 0,     /* evenly spread marks */
	CEMARK_RED_SPACING_INDEPENDENT = 1, /* each packet on its own */
};

struct cemark_red_config {
	u64 kmin, kmax;  /* bytes of smoothed length, 32 bits, kmin <= kmax */
	u32 pmax;        /* parts of 2^16, up to CEMARK_ONE: probability just below kmax */
	u32 weight;      /* parts of 2^16, 1 to CEMARK_ONE: of the newest length */
	enum cemark_red_spacing spacing;
	bool count_self; /* the length includes the judged packet */
	u64 mean_pkt;    /* bytes, 1 to 65535: packet size that ages an idle queue */
	enum cemark_hook hook;
};

/* Floyd's advice: 5 and 15 packets, 10 %, and a weight of 0.002 rounded to 1/512. */
#define CEMARK_RED_DEFAULTS                                                                        \
	{                                                                                          \
		.kmin = 5 * 1500,                                                                  \
		.kmax = 15 * 1500,                                                                 \
		.pmax = CEMARK_PERCENT(10),                                                        \
		.weight = CEMARK_ONE / 512,                                                        \
		.spacing = CEMARK_RED_SPACING_UNIFORM,                                             \
		.count_self = 0,                                                                   \
		.mean_pkt = 1500,                                                                  \
		.hook = CEMARK_HOOK_ENQUEUE,                                                       \
	}

struct cemark_red_params {
	u32 kmin, kmax;  /* bytes */
	u32 pmax;        /* parts of 2^16 */
	u32 weight;      /* parts of 2^16 */
	u32 packet_time; /* ns that mean_pkt takes on the link, at least 1 */
	u8 independent;  /* 1: each packet on its own */
	u8 count_self;
	u8 at_dequeue; /* 1: judge departures; 0: arrivals */
};

struct cemark_red_vars {
	u64 avg;        /* smoothed length, 2^-12 bytes; 0 if lengths are not averaged */
	u64 idle_since; /* ns, valid while idle: the average is aged up to here */
	u32 passed;     /* unmarked packets between kmin and kmax since the last mark */
	u8 idle;        /* the queue is empty */
};

CEMARK_FN void cemark_red_apply(struct cemark_red_params *p, const struct cemark_red_config *c,
				const struct cemark_queue_spec *queue)
{
	u32 time = cemark_to32(cemark_nanos_for(queue->rate, c->mean_pkt));

	p->kmin = cemark_to32(c->kmin);
	p->kmax = cemark_to32(c->kmax);
	p->pmax = cemark_min32(c->pmax, CEMARK_ONE);
	p->weight = cemark_min32(c->weight, CEMARK_ONE);
	p->packet_time = time ? time : 1;
	p->independent = c->spacing == CEMARK_RED_SPACING_INDEPENDENT;
	p->count_self = c->count_self;
	p->at_dequeue = c->hook == CEMARK_HOOK_DEQUEUE;
}

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_red_configure(struct cemark_red_params *p, const struct cemark_red_config *c,
				   const struct cemark_queue_spec *queue)
{
	if (c->kmin > c->kmax || c->kmax > CEMARK_U32_MAX || c->pmax > CEMARK_ONE ||
	    c->weight == 0 || c->weight > CEMARK_ONE ||
	    (u32)c->spacing > CEMARK_RED_SPACING_INDEPENDENT || c->mean_pkt == 0 ||
	    c->mean_pkt > CEMARK_U16_MAX || (u32)c->hook > CEMARK_HOOK_DEQUEUE)
		return -CEMARK_EINVAL;
	cemark_red_apply(p, c, queue);
	return 0;
}

CEMARK_FN void cemark_red_init(const struct cemark_red_params *p, struct cemark_red_vars *v)
{
	(void)p;
	v->avg = 0;
	v->idle_since = 0;
	v->passed = 0;
	v->idle = 0;
}

/* Whether the length itself is compared: with weight 1 there is no average. */
CEMARK_FN bool cemark_red_instantaneous(const struct cemark_red_params *p)
{
	return p->weight == CEMARK_ONE;
}

/* New parameters keep the average and the count, unless they have no use for them. */
CEMARK_FN void cemark_red_retuned(const struct cemark_red_params *p, struct cemark_red_vars *v)
{
	if (cemark_red_instantaneous(p)) {
		v->avg = 0;
		v->idle = 0;
	}
	if (p->independent)
		v->passed = 0;
}

/* Updates the average for the judged packet, and returns what is compared, in bytes. */
CEMARK_FN u32 cemark_red_smooth(const struct cemark_red_params *p, struct cemark_red_vars *v,
				const struct cemark_at *at)
{
	u32 length = cemark_add32(at->queue_bytes, p->count_self ? at->pkt_bytes : 0);

	if (cemark_red_instantaneous(p))
		return length;
	if (v->idle && (p->at_dequeue || at->queue_bytes == 0)) {
		/*
		 * As in the paper, the packet that ends an idle time ages the average and is not
		 * itself a sample. At departure, the idle time ended when that packet joined. If the
		 * packet is dropped and none stays behind it, the queue is still idle.
		 */
		u64 until = p->at_dequeue ? cemark_sub64(at->now, at->sojourn) : at->now;
		u64 missed = cemark_div(cemark_sub64(until, v->idle_since), p->packet_time);

		v->idle_since = at->now;
		v->idle = at->queue_bytes == 0;
		v->avg = cemark_decay(v->avg, p->weight, missed);
	} else {
		v->avg = cemark_ewma(v->avg, length, p->weight);
		v->idle = 0;
	}
	return (u32)(v->avg >> CEMARK_AVG_BITS);
}

/* Whether a packet that finds an average between kmin and kmax is marked. */
CEMARK_FN bool cemark_red_lot(const struct cemark_red_params *p, struct cemark_red_vars *v, u32 avg,
			      u64 salt)
{
	u32 share = cemark_ramp(avg, p->kmin, p->kmax, p->pmax);
	u32 draw = cemark_draw(salt, 0);
	u64 rest;

	if (p->independent)
		return draw < share;
	/*
	 * draw < share / (1 - passed * share), without the division. Once passed reaches 1 / share
	 * this is always true.
	 */
	rest = cemark_sub64(CEMARK_ONE, (u64)v->passed * share);
	if (draw * rest < (u64)share << 16) {
		v->passed = 0;
		return 1;
	}
	v->passed = cemark_add32(v->passed, 1);
	return 0;
}

CEMARK_FN u32 cemark_red_judge(const struct cemark_red_params *p, struct cemark_red_vars *v,
			       const struct cemark_at *at)
{
	u32 avg = cemark_red_smooth(p, v, at);

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

CEMARK_FN u32 cemark_red_enqueue(const struct cemark_red_params *p, struct cemark_red_vars *v,
				 const struct cemark_at *at)
{
	return cemark_red_judge(p, v, at);
}

CEMARK_FN u32 cemark_red_dequeue(const struct cemark_red_params *p, struct cemark_red_vars *v,
				 const struct cemark_at *at)
{
	return cemark_red_judge(p, v, at);
}

CEMARK_FN void cemark_red_emptied(const struct cemark_red_params *p, struct cemark_red_vars *v,
				  u64 now)
{
	if (cemark_red_instantaneous(p))
		return;
	v->idle_since = now;
	v->idle = 1;
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

enum cemark_red_param {
	CEMARK_RED_KMIN,
	CEMARK_RED_KMAX,
	CEMARK_RED_PMAX,
	CEMARK_RED_WEIGHT,
	CEMARK_RED_SPACING,
	CEMARK_RED_COUNT_SELF,
	CEMARK_RED_MEAN_PKT,
	CEMARK_RED_HOOK,
};

/* Parameters by position. They are not checked: one that is too large counts as the largest. */
CEMARK_FN void cemark_red_set(struct cemark_red_params *p, const u64 *values,
			      const struct cemark_queue_spec *queue)
{
	const struct cemark_red_config c = {
		.kmin = values[CEMARK_RED_KMIN],
		.kmax = values[CEMARK_RED_KMAX],
		.pmax = cemark_to32(values[CEMARK_RED_PMAX]),
		.weight = cemark_to32(values[CEMARK_RED_WEIGHT]),
		.spacing = (enum cemark_red_spacing)values[CEMARK_RED_SPACING],
		.count_self = values[CEMARK_RED_COUNT_SELF] != 0,
		.mean_pkt = values[CEMARK_RED_MEAN_PKT],
		.hook = (enum cemark_hook)values[CEMARK_RED_HOOK],
	};

	cemark_red_apply(p, &c, queue);
}

CEMARK_FN u32 cemark_red_traits(const struct cemark_red_params *p)
{
	return (p->at_dequeue ? CEMARK_AT_DEQUEUE | CEMARK_READS_LENGTH : CEMARK_AT_ENQUEUE) |
	       CEMARK_DRAWS |
	       (cemark_red_instantaneous(p) ? 0 : CEMARK_WATCHES_EMPTY);
}

CEMARK_NO_CLOCK(red)

#endif
