/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * MQ-ECN: a queue's threshold is its share of the standard one, told by how long a round of the scheduler takes (Bai et al., NSDI
 * 2016). The round is a signal of the port, cemark_at.round; only a chip that averages on a clock of its own keeps an average here.
 * Twin of crates/marking/src/mq_ecn.rs; parameters and ties: docs/schemes/mq_ecn.md.
 */
#ifndef CEMARK_MQ_ECN_H
#define CEMARK_MQ_ECN_H

#include "at.h"
#include "fixed.h"

/* Places in the array of parameters that cemark_mq_ecn_set() reads. */
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

struct cemark_mq_ecn_params {
	u32 k;            /* the standard threshold, bytes */
	u32 kmin, kmax;   /* of the ramp at the full rate, bytes */
	u32 pmax;         /* parts of 2^16 */
	u32 quantum_time; /* of the quantum on the link, ns; larger than any round where the queue is not in the rounds */
	u32 period;       /* of an average of its own, ns; 0: the port's */
	u32 weight;       /* of the newest sample, parts of 2^16 */
	u8 ramp;          /* RED's ramp, all of it scaled, not a step at k */
	u8 count_self;    /* the judged packet counts itself */
	u8 at_least;      /* mark from the threshold on, not above it */
	u8 at_dequeue;
};

/* Only used with a period of its own. */
struct cemark_mq_ecn_vars {
	u64 round; /* smoothed, 2^-12 ns */
	u64 next;  /* where awake: when the average moves next */
	u8 awake;
};

CEMARK_FN void cemark_mq_ecn_init(const struct cemark_mq_ecn_params *p, struct cemark_mq_ecn_vars *v)
{
	(void)p;
	v->round = 0;
	v->next = 0;
	v->awake = 0;
}

CEMARK_FN void cemark_mq_ecn_set(struct cemark_mq_ecn_params *p, const u64 *values, const struct cemark_queue_spec *queue)
{
	p->k = cemark_to32(values[CEMARK_MQ_ECN_K]);
	p->kmin = cemark_to32(values[CEMARK_MQ_ECN_KMIN]);
	p->kmax = cemark_to32(values[CEMARK_MQ_ECN_KMAX]);
	p->pmax = cemark_min32(cemark_to32(values[CEMARK_MQ_ECN_PMAX]), CEMARK_ONE);
	/* A strict queue above the rounds has the link to itself: it keeps the standard threshold. */
	p->quantum_time = queue->strict ? CEMARK_U32_MAX : cemark_to32(cemark_nanos_for(queue->rate, queue->quantum));
	p->period = cemark_to32(values[CEMARK_MQ_ECN_PERIOD]);
	p->weight = CEMARK_ONE - cemark_min32(cemark_to32(values[CEMARK_MQ_ECN_BETA]), CEMARK_ONE);
	p->ramp = values[CEMARK_MQ_ECN_SHAPE] == 1;
	p->count_self = values[CEMARK_MQ_ECN_COUNT_SELF] == 1;
	p->at_least = values[CEMARK_MQ_ECN_CMP] == 1;
	p->at_dequeue = values[CEMARK_MQ_ECN_HOOK] == 1;
}

/* After new parameters: without a period there is nothing to remember. */
CEMARK_FN void cemark_mq_ecn_retuned(const struct cemark_mq_ecn_params *p, struct cemark_mq_ecn_vars *v)
{
	if (p->period == 0)
		cemark_mq_ecn_init(p, v);
}

CEMARK_FN u32 cemark_mq_ecn_traits(const struct cemark_mq_ecn_params *p)
{
	return (p->at_dequeue ? CEMARK_AT_DEQUEUE | CEMARK_READS_LENGTH : CEMARK_AT_ENQUEUE) | (p->ramp ? CEMARK_DRAWS : 0) |
	       (p->period ? CEMARK_CLOCK : 0);
}

/* A length at the full rate, as the round scales it, rounded down. */
CEMARK_FN u32 cemark_mq_ecn_scaled(const struct cemark_mq_ecn_params *p, u32 full, u32 round)
{
	if (round <= p->quantum_time)
		return full;
	return (u32)cemark_div((u64)full * p->quantum_time, round);
}

/* The ramp, its foot, head and probability scaled. */
CEMARK_FN u32 cemark_mq_ecn_lot(const struct cemark_mq_ecn_params *p, u32 length, u32 round, u64 salt)
{
	u32 kmax = cemark_mq_ecn_scaled(p, p->kmax, round);
	u32 kmin, share;

	if (length > kmax || (p->at_least && length == kmax))
		return CEMARK_MARK(CEMARK_INSTANT);
	kmin = cemark_mq_ecn_scaled(p, p->kmin, round);
	if (length <= kmin)
		return CEMARK_PASS;
	share = cemark_ramp(length, kmin, kmax, cemark_mq_ecn_scaled(p, p->pmax, round));
	return cemark_chance(salt, 0, share) ? CEMARK_MARK(CEMARK_RANDOM) : CEMARK_PASS;
}

CEMARK_FN u32 cemark_mq_ecn_judge(const struct cemark_mq_ecn_params *p, struct cemark_mq_ecn_vars *v,
				  const struct cemark_at *at)
{
	u32 length = cemark_add32(at->queue_bytes, p->count_self ? at->pkt_bytes : 0);
	u32 round = cemark_to32(p->period ? v->round >> CEMARK_AVG_BITS : at->round);
	u64 share, product;

	/* The clock of its own average starts with the first packet after a rest. */
	if (p->period && !v->awake) {
		v->awake = 1;
		v->next = cemark_add64(at->now, p->period);
	}
	if (p->ramp)
		return cemark_mq_ecn_lot(p, length, round, at->salt);
	/* length > k and length > k * quantum_time / round, without the division: a round of zero says
	 * nothing yet. */
	share = (u64)length * round;
	product = (u64)p->k * p->quantum_time;
	if (length > p->k || share > product)
		return CEMARK_MARK(CEMARK_INSTANT);
	if (p->at_least && (length == p->k || (round > 0 && share == product)))
		return CEMARK_MARK(CEMARK_INSTANT);
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_mq_ecn_enqueue(const struct cemark_mq_ecn_params *p, struct cemark_mq_ecn_vars *v,
				    const struct cemark_at *at)
{
	return cemark_mq_ecn_judge(p, v, at);
}

CEMARK_FN u32 cemark_mq_ecn_dequeue(const struct cemark_mq_ecn_params *p, struct cemark_mq_ecn_vars *v,
				    const struct cemark_at *at)
{
	return cemark_mq_ecn_judge(p, v, at);
}

/* One step of its own average. */
CEMARK_FN void cemark_mq_ecn_wake(const struct cemark_mq_ecn_params *p, struct cemark_mq_ecn_vars *v,
				  const struct cemark_at *at)
{
	/* An empty port serves no rounds. */
	u32 sample = at->port_bytes ? cemark_to32(at->round) : 0;

	v->round = cemark_ewma(v->round, sample, p->weight);
	v->awake = v->round != 0 || at->port_bytes != 0;
	v->next = cemark_add64(at->now, p->period);
}

CEMARK_FN bool cemark_mq_ecn_next_wake(const struct cemark_mq_ecn_params *p, const struct cemark_mq_ecn_vars *v, u64 *when)
{
	(void)p;
	*when = v->next;
	return v->awake;
}

CEMARK_NO_EMPTIED(mq_ecn)

#endif
