/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * MQ-ECN: divide the standard threshold among the queues of a port by the rate that each one gets.
 * Bai et al., "Enabling ECN in Multi-Service Multi-Queue Data Centers", NSDI 2016.
 *
 * A queue behind a round-robin scheduler sends one quantum per round, so its rate is quantum /
 * round, and its threshold is k * min(quantum time / round, 1), where the quantum time is what the
 * quantum takes on the idle link. The port measures the round (round.h) and passes it in
 * cemark_at.round, so the scheme has no state of its own. The exception is `period`: a switch chip
 * that averages on a timer keeps its own average (section 3.4).
 *
 * The same in Rust: crates/marking/src/mq_ecn.rs. Ties and sources: docs/schemes/mq_ecn.md.
 */
#ifndef CEMARK_MQ_ECN_H
#define CEMARK_MQ_ECN_H

#include "at.h"
#include "fixed.h"

enum cemark_mq_ecn_shape {
	CEMARK_MQ_ECN_SHAPE_STEP = 0, /* mark everything above k */
	CEMARK_MQ_ECN_SHAPE_RAMP = 1, /* RED's ramp with kmin, kmax and pmax, all scaled */
};

struct cemark_mq_ecn_config {
	u64 k;           /* bytes, 32 bits: the standard threshold, that of the full rate */
	enum cemark_mq_ecn_shape shape;
	u64 kmin, kmax;  /* bytes, 32 bits, kmin <= kmax: ends of the ramp at the full rate */
	u32 pmax;        /* parts of 2^16, up to CEMARK_ONE: probability at kmax */
	bool count_self; /* the length includes the judged packet */
	enum cemark_cmp cmp;
	enum cemark_hook hook;
	u64 period;      /* ns, up to CEMARK_SEC: average on a timer; 0: use the port's average */
	u32 beta;        /* parts of 2^16, up to CEMARK_ONE: weight of the old average there */
};

/* 65 packets at 10 Gb/s (section 5.2), DCQCN's ramp, and the paper's beta. */
#define CEMARK_MQ_ECN_DEFAULTS                                                                     \
	{                                                                                          \
		.k = 65 * 1500,                                                                    \
		.shape = CEMARK_MQ_ECN_SHAPE_STEP,                                                 \
		.kmin = 5000,                                                                      \
		.kmax = 200000,                                                                    \
		.pmax = CEMARK_PERCENT(1),                                                         \
		.count_self = 1,                                                                   \
		.cmp = CEMARK_CMP_STRICT,                                                          \
		.hook = CEMARK_HOOK_ENQUEUE,                                                       \
		.period = 0,                                                                       \
		.beta = CEMARK_PERCENT(75),                                                        \
	}

struct cemark_mq_ecn_params {
	u32 k;            /* bytes */
	u32 kmin, kmax;   /* bytes */
	u32 pmax;         /* parts of 2^16 */
	u32 quantum_time; /* ns; CEMARK_U32_MAX, above any round, for a strict queue */
	u32 period;       /* ns; 0: use the port's average */
	u32 weight;       /* parts of 2^16: of the newest sample, 1 - beta */
	u8 ramp;          /* 1: CEMARK_MQ_ECN_SHAPE_RAMP */
	u8 count_self;
	u8 inclusive;     /* 1: mark at the threshold and above; 0: only above it */
	u8 at_dequeue;    /* 1: judge departures; 0: arrivals */
};

/* Only used with a period. */
struct cemark_mq_ecn_vars {
	u64 round; /* smoothed, 2^-12 ns */
	u64 next;  /* ns, valid while awake: time of the next sample */
	u8 awake;  /* samples are being taken; they stop when the port is idle */
};

CEMARK_FN void cemark_mq_ecn_apply(struct cemark_mq_ecn_params *p,
				   const struct cemark_mq_ecn_config *c,
				   const struct cemark_queue_spec *queue)
{
	p->k = cemark_to32(c->k);
	p->kmin = cemark_to32(c->kmin);
	p->kmax = cemark_to32(c->kmax);
	p->pmax = cemark_min32(c->pmax, CEMARK_ONE);
	/* A strict queue may use the whole link: it keeps the standard threshold. */
	p->quantum_time = CEMARK_U32_MAX;
	if (!queue->strict)
		p->quantum_time = cemark_to32(cemark_nanos_for(queue->rate, queue->quantum));
	p->period = cemark_to32(c->period);
	p->weight = CEMARK_ONE - cemark_min32(c->beta, CEMARK_ONE);
	p->ramp = c->shape == CEMARK_MQ_ECN_SHAPE_RAMP;
	p->count_self = c->count_self;
	p->inclusive = c->cmp == CEMARK_CMP_AT_LEAST;
	p->at_dequeue = c->hook == CEMARK_HOOK_DEQUEUE;
}

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_mq_ecn_configure(struct cemark_mq_ecn_params *p,
				      const struct cemark_mq_ecn_config *c,
				      const struct cemark_queue_spec *queue)
{
	if (c->k > CEMARK_U32_MAX || (u32)c->shape > CEMARK_MQ_ECN_SHAPE_RAMP ||
	    c->kmin > c->kmax || c->kmax > CEMARK_U32_MAX || c->pmax > CEMARK_ONE ||
	    (u32)c->cmp > CEMARK_CMP_AT_LEAST || (u32)c->hook > CEMARK_HOOK_DEQUEUE ||
	    c->period > CEMARK_SEC || c->beta > CEMARK_ONE)
		return -CEMARK_EINVAL;
	cemark_mq_ecn_apply(p, c, queue);
	return 0;
}

CEMARK_FN void cemark_mq_ecn_init(const struct cemark_mq_ecn_params *p,
				  struct cemark_mq_ecn_vars *v)
{
	(void)p;
	v->round = 0;
	v->next = 0;
	v->awake = 0;
}

/* New parameters keep the average. Without a period there is none. */
CEMARK_FN void cemark_mq_ecn_retuned(const struct cemark_mq_ecn_params *p,
				     struct cemark_mq_ecn_vars *v)
{
	if (p->period == 0)
		cemark_mq_ecn_init(p, v);
}

/* A value for the full rate, scaled to the queue's share of the round, rounded down. */
CEMARK_FN u32 cemark_mq_ecn_scaled(const struct cemark_mq_ecn_params *p, u32 full, u32 round)
{
	if (round <= p->quantum_time)
		return full;
	return (u32)cemark_div((u64)full * p->quantum_time, round);
}

/* The ramp with both of its ends and its probability scaled. */
CEMARK_FN u32 cemark_mq_ecn_lot(const struct cemark_mq_ecn_params *p, u32 length, u32 round,
				u64 salt)
{
	u32 kmax = cemark_mq_ecn_scaled(p, p->kmax, round);
	u32 kmin, share;

	if (length > kmax || (p->inclusive && length == kmax))
		return CEMARK_MARK(CEMARK_INSTANT);
	kmin = cemark_mq_ecn_scaled(p, p->kmin, round);
	if (length <= kmin)
		return CEMARK_PASS;
	share = cemark_ramp(length, kmin, kmax, cemark_mq_ecn_scaled(p, p->pmax, round));
	return cemark_chance(salt, 0, share) ? CEMARK_MARK(CEMARK_RANDOM) : CEMARK_PASS;
}

CEMARK_FN u32 cemark_mq_ecn_judge(const struct cemark_mq_ecn_params *p,
				  struct cemark_mq_ecn_vars *v, const struct cemark_at *at)
{
	u32 length = cemark_add32(at->queue_bytes, p->count_self ? at->pkt_bytes : 0);
	u32 round = cemark_to32(p->period ? v->round >> CEMARK_AVG_BITS : at->round);
	u64 share, product;

	/* The timer of the own average starts with the first packet after an idle time. */
	if (p->period && !v->awake) {
		v->awake = 1;
		v->next = cemark_add64(at->now, p->period);
	}
	if (p->ramp)
		return cemark_mq_ecn_lot(p, length, round, at->salt);
	/*
	 * length > k and length > k * quantum_time / round, without the division. A round of 0
	 * means that none has been measured.
	 */
	share = (u64)length * round;
	product = (u64)p->k * p->quantum_time;
	if (length > p->k || share > product)
		return CEMARK_MARK(CEMARK_INSTANT);
	if (p->inclusive && (length == p->k || (round > 0 && share == product)))
		return CEMARK_MARK(CEMARK_INSTANT);
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_mq_ecn_enqueue(const struct cemark_mq_ecn_params *p,
				    struct cemark_mq_ecn_vars *v, const struct cemark_at *at)
{
	return cemark_mq_ecn_judge(p, v, at);
}

CEMARK_FN u32 cemark_mq_ecn_dequeue(const struct cemark_mq_ecn_params *p,
				    struct cemark_mq_ecn_vars *v, const struct cemark_at *at)
{
	return cemark_mq_ecn_judge(p, v, at);
}

/* One sample of the own average. */
CEMARK_FN void cemark_mq_ecn_wake(const struct cemark_mq_ecn_params *p,
				  struct cemark_mq_ecn_vars *v, const struct cemark_at *at)
{
	/* An empty port serves no rounds. */
	u32 sample = at->port_bytes ? cemark_to32(at->round) : 0;

	v->round = cemark_ewma(v->round, sample, p->weight);
	v->awake = v->round != 0 || at->port_bytes != 0;
	v->next = cemark_add64(at->now, p->period);
}

CEMARK_FN bool cemark_mq_ecn_next_wake(const struct cemark_mq_ecn_params *p,
				       const struct cemark_mq_ecn_vars *v, u64 *when)
{
	(void)p;
	*when = v->next;
	return v->awake;
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

enum cemark_mq_ecn_param {
	CEMARK_MQ_ECN_K,
	CEMARK_MQ_ECN_SHAPE,
	CEMARK_MQ_ECN_KMIN,
	CEMARK_MQ_ECN_KMAX,
	CEMARK_MQ_ECN_PMAX,
	CEMARK_MQ_ECN_COUNT_SELF,
	CEMARK_MQ_ECN_CMP,
	CEMARK_MQ_ECN_HOOK,
	CEMARK_MQ_ECN_PERIOD,
	CEMARK_MQ_ECN_BETA,
};

/* Parameters by position. They are not checked: one that is too large counts as the largest. */
CEMARK_FN void cemark_mq_ecn_set(struct cemark_mq_ecn_params *p, const u64 *values,
				 const struct cemark_queue_spec *queue)
{
	const struct cemark_mq_ecn_config c = {
		.k = values[CEMARK_MQ_ECN_K],
		.shape = (enum cemark_mq_ecn_shape)values[CEMARK_MQ_ECN_SHAPE],
		.kmin = values[CEMARK_MQ_ECN_KMIN],
		.kmax = values[CEMARK_MQ_ECN_KMAX],
		.pmax = cemark_to32(values[CEMARK_MQ_ECN_PMAX]),
		.count_self = values[CEMARK_MQ_ECN_COUNT_SELF] == 1,
		.cmp = (enum cemark_cmp)values[CEMARK_MQ_ECN_CMP],
		.hook = (enum cemark_hook)values[CEMARK_MQ_ECN_HOOK],
		.period = values[CEMARK_MQ_ECN_PERIOD],
		.beta = cemark_to32(values[CEMARK_MQ_ECN_BETA]),
	};

	cemark_mq_ecn_apply(p, &c, queue);
}

CEMARK_FN u32 cemark_mq_ecn_traits(const struct cemark_mq_ecn_params *p)
{
	return (p->at_dequeue ? CEMARK_AT_DEQUEUE | CEMARK_READS_LENGTH : CEMARK_AT_ENQUEUE) |
	       (p->ramp ? CEMARK_DRAWS : 0) | (p->period ? CEMARK_CLOCK : 0);
}

CEMARK_NO_EMPTIED(mq_ecn)

#endif
