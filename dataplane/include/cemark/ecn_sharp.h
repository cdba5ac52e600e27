/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ECN#: ECN marking for data centres in which flows have different round-trip times.
 * Zhang et al., "Enabling ECN for Datacenter Networks with RTT Variations", CoNEXT 2019,
 * Algorithm 1.
 *
 * One marking threshold cannot fit all flows. Set for the longest RTT, it keeps throughput but
 * leaves a standing queue under flows with shorter RTTs, and every packet waits in it. Set for a
 * shorter RTT, it costs the others throughput. ECN# uses two conditions; a packet that leaves the
 * queue is marked if either of them holds:
 *
 *   instantaneous: the packet waited longer than ins_target. The target is set for the longest
 *	RTTs, so bursts pass and throughput is kept.
 *   persistent: for longer than pst_interval, no packet waited less than pst_target. Then one
 *	packet is marked at once, the next one pst_interval later, and the gap after the n-th mark
 *	is pst_interval / n: the longer the queue persists, the more packets are marked. The first
 *	packet that waited less than pst_target ends this.
 *
 * Section 3.5 has two more forms. A switch without timestamps compares the length of the queue with
 * link rate * target. For DCQCN the instantaneous condition is RED's ramp from kmin to kmax.
 *
 * The same in Rust: crates/marking/src/ecn_sharp.rs. Ties and sources: docs/schemes/ecn_sharp.md.
 */
#ifndef CEMARK_ECN_SHARP_H
#define CEMARK_ECN_SHARP_H

#include "at.h"
#include "fixed.h"

/* What is compared with the targets. */
enum cemark_ecn_sharp_signal {
	CEMARK_ECN_SHARP_SIGNAL_SOJOURN = 0, /* the wait */
	CEMARK_ECN_SHARP_SIGNAL_LENGTH = 1,  /* the length, with link rate * target */
};

/* The instantaneous condition. */
enum cemark_ecn_sharp_instant {
	CEMARK_ECN_SHARP_INSTANT_STEP = 0, /* above ins_target */
	CEMARK_ECN_SHARP_INSTANT_RAMP = 1, /* RED's ramp from kmin to kmax */
};

struct cemark_ecn_sharp_config {
	/* ns, up to CEMARK_SEC: about the longest RTT times a factor of the congestion control */
	u64 ins_target;
	/* ns, up to CEMARK_SEC: about the mean RTT times this factor, and a few packet times */
	u64 pst_target;
	/* ns, 1 to CEMARK_SEC: about the longest RTT, which is how long senders take to react */
	u64 pst_interval;
	enum cemark_ecn_sharp_signal signal;
	/* departures, or arrivals by the length that they find */
	enum cemark_hook hook;
	enum cemark_ecn_sharp_instant instant;
	/* ns, up to CEMARK_SEC, kmin <= kmax: ends of the ramp */
	u64 kmin, kmax;
	/* parts of 2^16, up to CEMARK_ONE: probability at kmax */
	u32 pmax;
};

/*
 * The paper's testbed (section 5.2): 10 Gb/s, RTTs from 70 to 210 us. The ramp's values are DCQCN's
 * and have no effect without the ramp.
 */
#define CEMARK_ECN_SHARP_DEFAULTS                                                                  \
	{                                                                                          \
		.ins_target = 200 * CEMARK_USEC,                                                   \
		.pst_target = 85 * CEMARK_USEC,                                                    \
		.pst_interval = 200 * CEMARK_USEC,                                                 \
		.signal = CEMARK_ECN_SHARP_SIGNAL_SOJOURN,                                         \
		.hook = CEMARK_HOOK_DEQUEUE,                                                       \
		.instant = CEMARK_ECN_SHARP_INSTANT_STEP,                                          \
		.kmin = 5 * CEMARK_USEC,                                                           \
		.kmax = 200 * CEMARK_USEC,                                                         \
		.pmax = CEMARK_PERCENT(1),                                                         \
	}

/* Thresholds are in the unit of the signal: ns or bytes. */
struct cemark_ecn_sharp_params {
	u32 ins_target;   /* the head of the ramp acts as the step: everything above it is marked */
	u32 pst_target;
	u32 pst_interval; /* ns, at least 1 */
	u32 kmin;         /* foot of the ramp */
	u32 pmax;         /* parts of 2^16 */
	u8 by_length;     /* 1: CEMARK_ECN_SHARP_SIGNAL_LENGTH */
	u8 at_enqueue;    /* 1: judge arrivals; 0: departures */
	u8 ramp;          /* 1: CEMARK_ECN_SHARP_INSTANT_RAMP */
	u8 by_wait;       /* 1: none of these: departures, their waits, a step */
};

struct cemark_ecn_sharp_vars {
	u64 first_above; /* ns, valid while above: when `above` was set */
	u64 next;        /* ns, valid while marking: packets after this time get the next mark */
	u32 count;       /* marks since marking was set */
	u8 above;        /* the last packet waited pst_target or longer */
	u8 marking;      /* the persistent condition has marked and still holds */
};

/* A threshold given as a time, in the unit of the signal. */
CEMARK_FN u32 cemark_ecn_sharp_level(const struct cemark_ecn_sharp_params *p, u64 time, u64 rate)
{
	return cemark_to32(p->by_length ? cemark_bytes_in(rate, time) : time);
}

CEMARK_FN void cemark_ecn_sharp_apply(struct cemark_ecn_sharp_params *p,
				      const struct cemark_ecn_sharp_config *c,
				      const struct cemark_queue_spec *queue)
{
	p->by_length = c->signal == CEMARK_ECN_SHARP_SIGNAL_LENGTH;
	p->at_enqueue = c->hook == CEMARK_HOOK_ENQUEUE;
	p->ramp = c->instant == CEMARK_ECN_SHARP_INSTANT_RAMP;
	p->by_wait = !p->by_length && !p->at_enqueue && !p->ramp;
	p->ins_target = cemark_ecn_sharp_level(p, p->ramp ? c->kmax : c->ins_target, queue->rate);
	p->pst_target = cemark_ecn_sharp_level(p, c->pst_target, queue->rate);
	p->pst_interval = c->pst_interval ? cemark_to32(c->pst_interval) : 1;
	p->kmin = cemark_ecn_sharp_level(p, c->kmin, queue->rate);
	p->pmax = cemark_min32(c->pmax, CEMARK_ONE);
}

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_ecn_sharp_configure(struct cemark_ecn_sharp_params *p,
					 const struct cemark_ecn_sharp_config *c,
					 const struct cemark_queue_spec *queue)
{
	if (c->ins_target > CEMARK_SEC || c->pst_target > CEMARK_SEC || c->pst_interval == 0 ||
	    c->pst_interval > CEMARK_SEC || (u32)c->signal > CEMARK_ECN_SHARP_SIGNAL_LENGTH ||
	    (u32)c->hook > CEMARK_HOOK_DEQUEUE ||
	    (u32)c->instant > CEMARK_ECN_SHARP_INSTANT_RAMP || c->kmin > c->kmax ||
	    c->kmax > CEMARK_SEC || c->pmax > CEMARK_ONE)
		return -CEMARK_EINVAL;
	cemark_ecn_sharp_apply(p, c, queue);
	return 0;
}

CEMARK_FN void cemark_ecn_sharp_init(const struct cemark_ecn_sharp_params *p,
				     struct cemark_ecn_sharp_vars *v)
{
	(void)p;
	v->first_above = 0;
	v->next = 0;
	v->count = 0;
	v->above = 0;
	v->marking = 0;
}

/*
 * The wait in ns, or a length in bytes: what an arriving packet finds, or what a departing one
 * leaves behind plus itself.
 */
CEMARK_FN u32 cemark_ecn_sharp_signal(const struct cemark_ecn_sharp_params *p,
				      const struct cemark_at *at)
{
	if (!p->by_length)
		return cemark_to32(at->sojourn);
	return cemark_add32(at->queue_bytes, p->at_enqueue ? 0 : at->pkt_bytes);
}

/* Whether no signal has been below pst_target for longer than pst_interval. */
CEMARK_FN bool cemark_ecn_sharp_detect(const struct cemark_ecn_sharp_params *p,
				       struct cemark_ecn_sharp_vars *v, u32 signal, u64 now)
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
	return now > cemark_add64(v->first_above, p->pst_interval);
}

/* The second condition. */
CEMARK_FN bool cemark_ecn_sharp_persistent(const struct cemark_ecn_sharp_params *p,
					   struct cemark_ecn_sharp_vars *v, u32 signal, u64 now)
{
	u32 gap;

	if (!cemark_ecn_sharp_detect(p, v, signal, now)) {
		v->marking = 0;
		return 0;
	}
	if (!v->marking) {
		v->marking = 1;
		v->count = 1;
		v->next = cemark_add64(now, p->pst_interval);
		return 1;
	}
	if (now <= v->next)
		return 0;
	v->count = cemark_add32(v->count, 1);
	gap = p->pst_interval / v->count;
	/* A gap of 0 would mark every packet from then on. */
	v->next = cemark_add64(v->next, gap ? gap : 1);
	return 1;
}

/*
 * Both conditions, with a step. The second one is evaluated for every packet, so that its state
 * advances when both hold.
 */
CEMARK_FN u32 cemark_ecn_sharp_step(const struct cemark_ecn_sharp_params *p,
				    struct cemark_ecn_sharp_vars *v, u32 signal, u64 now)
{
	bool persistent = cemark_ecn_sharp_persistent(p, v, signal, now);

	if (signal > p->ins_target)
		return CEMARK_MARK(CEMARK_INSTANT);
	return persistent ? CEMARK_MARK(CEMARK_PERSISTENT) : CEMARK_PASS;
}

CEMARK_FN u32 cemark_ecn_sharp_judge(const struct cemark_ecn_sharp_params *p,
				     struct cemark_ecn_sharp_vars *v, const struct cemark_at *at)
{
	u32 signal = cemark_ecn_sharp_signal(p, at);
	u32 verdict = cemark_ecn_sharp_step(p, v, signal, at->now);

	if (p->ramp && signal > p->kmin && signal <= p->ins_target &&
	    cemark_chance(at->salt, 0, cemark_ramp(signal, p->kmin, p->ins_target, p->pmax)))
		return CEMARK_MARK(CEMARK_RANDOM);
	return verdict;
}

CEMARK_FN u32 cemark_ecn_sharp_enqueue(const struct cemark_ecn_sharp_params *p,
				       struct cemark_ecn_sharp_vars *v, const struct cemark_at *at)
{
	return cemark_ecn_sharp_judge(p, v, at);
}

CEMARK_FN u32 cemark_ecn_sharp_dequeue(const struct cemark_ecn_sharp_params *p,
				       struct cemark_ecn_sharp_vars *v, const struct cemark_at *at)
{
	if (p->by_wait)
		return cemark_ecn_sharp_step(p, v, cemark_to32(at->sojourn), at->now);
	return cemark_ecn_sharp_judge(p, v, at);
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

enum cemark_ecn_sharp_param {
	CEMARK_ECN_SHARP_INS_TARGET,
	CEMARK_ECN_SHARP_PST_TARGET,
	CEMARK_ECN_SHARP_PST_INTERVAL,
	CEMARK_ECN_SHARP_SIGNAL,
	CEMARK_ECN_SHARP_HOOK,
	CEMARK_ECN_SHARP_INSTANT,
	CEMARK_ECN_SHARP_KMIN,
	CEMARK_ECN_SHARP_KMAX,
	CEMARK_ECN_SHARP_PMAX,
};

/* Parameters by position. They are not checked: one that is too large counts as the largest. */
CEMARK_FN void cemark_ecn_sharp_set(struct cemark_ecn_sharp_params *p, const u64 *values,
				    const struct cemark_queue_spec *queue)
{
	const struct cemark_ecn_sharp_config c = {
		.ins_target = values[CEMARK_ECN_SHARP_INS_TARGET],
		.pst_target = values[CEMARK_ECN_SHARP_PST_TARGET],
		.pst_interval = values[CEMARK_ECN_SHARP_PST_INTERVAL],
		.signal = (enum cemark_ecn_sharp_signal)values[CEMARK_ECN_SHARP_SIGNAL],
		.hook = (enum cemark_hook)values[CEMARK_ECN_SHARP_HOOK],
		.instant = (enum cemark_ecn_sharp_instant)values[CEMARK_ECN_SHARP_INSTANT],
		.kmin = values[CEMARK_ECN_SHARP_KMIN],
		.kmax = values[CEMARK_ECN_SHARP_KMAX],
		.pmax = cemark_to32(values[CEMARK_ECN_SHARP_PMAX]),
	};

	cemark_ecn_sharp_apply(p, &c, queue);
}

CEMARK_FN u32 cemark_ecn_sharp_traits(const struct cemark_ecn_sharp_params *p)
{
	u32 traits = CEMARK_AT_ENQUEUE;

	if (!p->at_enqueue)
		traits = CEMARK_AT_DEQUEUE | (p->by_length ? CEMARK_READS_LENGTH : 0);
	return traits | (p->ramp ? CEMARK_DRAWS : 0);
}

CEMARK_NO_RETUNED(ecn_sharp)
CEMARK_NO_EMPTIED(ecn_sharp)
CEMARK_NO_CLOCK(ecn_sharp)

#endif
