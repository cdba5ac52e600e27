/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * PIE: mark with a probability that a controller adjusts to hold the queueing delay at a target.
 * Pan et al., "PIE: A Lightweight Control Scheme to Address the Bufferbloat Problem", HPSR 2013;
 * RFC 8033.
 *
 * Every t_update the probability moves by alpha times the delay's distance from the target plus
 * beta times its change, in smaller steps while the probability is small. From mark_ecnth on
 * packets are dropped. RFC 8033's departure rate estimate, on/off switch and de-randomisation are
 * left out: the link rate is known. All arithmetic is in integers.
 *
 * The same in Rust: crates/marking/src/pie.rs. Ties and sources: docs/schemes/pie.md.
 */
#ifndef CEMARK_PIE_H
#define CEMARK_PIE_H

#include "at.h"
#include "fixed.h"

/* Probabilities are parts of 2^48. */
#define CEMARK_PIE_BITS 48
#define CEMARK_PIE_CERTAIN (1ll << CEMARK_PIE_BITS)
/* Delays and their differences saturate at 2^28 ns, so that gain times delay fits 63 bits. */
#define CEMARK_PIE_LONGEST (1ll << 28)
/* A probability of n millionths, rounded up (2^48 / 10^6 = 2^42 / 5^6). */
#define CEMARK_PIE_MILLIONTHS(n) ((s64)(((1ull << 42) * (n) + 15624) / 15625))

/* How steps shrink while the probability is small. */
enum cemark_pie_tuning {
	CEMARK_PIE_TUNING_RFC = 0,   /* RFC 8033's seven ranges (section 4.2) */
	CEMARK_PIE_TUNING_PAPER = 1, /* the paper's three ranges */
};

/* How the queueing delay is measured. */
enum cemark_pie_delay {
	CEMARK_PIE_DELAY_LENGTH = 0,  /* queue length over link rate */
	CEMARK_PIE_DELAY_SOJOURN = 1, /* the wait of the packet that left last */
};

struct cemark_pie_config {
	u64 target;     /* ns, up to CEMARK_SEC: QDELAY_REF */
	u64 t_update;   /* ns, 1 to CEMARK_SEC: T_UPDATE */
	u32 alpha;      /* sixteenths per second, 16 bits: gain of the deviation */
	u32 beta;       /* sixteenths per second, 16 bits: gain of the change */
	u64 max_burst;  /* ns, up to CEMARK_SEC: MAX_BURST, how long a new burst is tolerated */
	u32 mark_ecnth; /* parts of 2^16: drop from this probability on; CEMARK_ONE: never */
	enum cemark_pie_tuning tuning;
	bool cap;       /* a step is at most 2 % once the probability is 10 % (section 5.5) */
	enum cemark_pie_delay delay;
	u64 mean_pkt;   /* bytes, 16 bits: two such packets or fewer are never marked */
};

/* RFC 8033's values with its times divided by 1000 and its gains multiplied by 1000. */
#define CEMARK_PIE_DEFAULTS                                                                        \
	{                                                                                          \
		.target = 15 * CEMARK_USEC,                                                        \
		.t_update = 15 * CEMARK_USEC,                                                      \
		.alpha = 2000,                                                                     \
		.beta = 20000,                                                                     \
		.max_burst = 150 * CEMARK_USEC,                                                    \
		.mark_ecnth = CEMARK_PERCENT(10),                                                  \
		.tuning = CEMARK_PIE_TUNING_RFC,                                                   \
		.cap = 1,                                                                          \
		.delay = CEMARK_PIE_DELAY_LENGTH,                                                  \
		.mean_pkt = 1500,                                                                  \
	}

struct cemark_pie_params {
	u32 target;         /* ns */
	u32 t_update;       /* ns, at least 1 */
	u32 mark_ecnth;     /* parts of 2^16 */
	u32 picos_per_byte; /* on the link */
	u16 alpha, beta;    /* sixteenths per second */
	u16 mean_pkt;       /* bytes */
	u16 bursts;         /* updates in max_burst, rounded up */
	u8 paper;           /* 1: CEMARK_PIE_TUNING_PAPER */
	u8 cap;
	u8 by_wait;         /* 1: CEMARK_PIE_DELAY_SOJOURN */
};

struct cemark_pie_vars {
	s64 p;      /* probability, parts of 2^48 */
	u64 next;   /* ns, valid while awake: time of the next update */
	u32 before; /* ns: the delay at the last update */
	u32 wait;   /* ns: of the packet that left last */
	u16 burst;  /* updates for which the current burst is still tolerated */
	u8 awake;   /* updates are running; they stop when the queue is idle */
};

CEMARK_FN void cemark_pie_apply(struct cemark_pie_params *p, const struct cemark_pie_config *c,
				const struct cemark_queue_spec *queue)
{
	u32 burst = cemark_to32(c->max_burst);

	p->target = cemark_to32(c->target);
	p->t_update = c->t_update ? cemark_to32(c->t_update) : 1;
	p->mark_ecnth = cemark_min32(c->mark_ecnth, CEMARK_ONE);
	p->picos_per_byte = cemark_to32(cemark_picos_per_byte(queue->rate));
	p->alpha = cemark_to16(c->alpha);
	p->beta = cemark_to16(c->beta);
	p->mean_pkt = cemark_to16(c->mean_pkt);
	p->bursts = cemark_to16(burst / p->t_update + (burst % p->t_update != 0));
	p->paper = c->tuning == CEMARK_PIE_TUNING_PAPER;
	p->cap = c->cap;
	p->by_wait = c->delay == CEMARK_PIE_DELAY_SOJOURN;
}

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_pie_configure(struct cemark_pie_params *p, const struct cemark_pie_config *c,
				   const struct cemark_queue_spec *queue)
{
	if (c->target > CEMARK_SEC || c->t_update == 0 || c->t_update > CEMARK_SEC ||
	    c->alpha > CEMARK_U16_MAX || c->beta > CEMARK_U16_MAX || c->max_burst > CEMARK_SEC ||
	    c->mark_ecnth > CEMARK_ONE || (u32)c->tuning > CEMARK_PIE_TUNING_PAPER ||
	    (u32)c->delay > CEMARK_PIE_DELAY_SOJOURN || c->mean_pkt > CEMARK_U16_MAX)
		return -CEMARK_EINVAL;
	cemark_pie_apply(p, c, queue);
	return 0;
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

/* New parameters keep the state, except that a burst is tolerated no longer than they allow. */
CEMARK_FN void cemark_pie_retuned(const struct cemark_pie_params *p, struct cemark_pie_vars *v)
{
	if (v->burst > p->bursts)
		v->burst = p->bursts;
}

/* The queueing delay now, in ns, at most CEMARK_PIE_LONGEST. */
CEMARK_FN s64 cemark_pie_delay(const struct cemark_pie_params *p, const struct cemark_pie_vars *v,
			       const struct cemark_at *at)
{
	u64 nanos;

	if (!p->by_wait)
		nanos = cemark_div((u64)at->queue_bytes * p->picos_per_byte, 1000);
	else
		nanos = at->queue_bytes ? v->wait : 0;
	return nanos > CEMARK_PIE_LONGEST ? CEMARK_PIE_LONGEST : (s64)nanos;
}

/* By how many bits a step is shifted right at probability `now`. */
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

/* A gain in sixteenths per second, as parts of 2^48 per nanosecond. */
CEMARK_FN s64 cemark_pie_gain(u16 sixteenths)
{
	return (s64)cemark_div((u64)sixteenths << (CEMARK_PIE_BITS - 4), 1000000000u);
}

/* The probability after one more update. */
CEMARK_FN s64 cemark_pie_update(const struct cemark_pie_params *p, const struct cemark_pie_vars *v,
				s64 delay)
{
	/* Rounded down: the largest step that is no more than 2 %. */
	const s64 most = CEMARK_PIE_MILLIONTHS(20000) - 1;
	s64 off = delay - (s64)p->target;
	s64 change = delay - (s64)v->before;
	s64 step, next;

	if (off < -CEMARK_PIE_LONGEST)
		off = -CEMARK_PIE_LONGEST;
	step = cemark_pie_gain(p->alpha) * off + cemark_pie_gain(p->beta) * change;
	step >>= cemark_pie_shrink(p, v->p);
	if (p->cap && v->p >= CEMARK_PIE_MILLIONTHS(100000) && step > most)
		step = most;
	next = v->p + step;
	if (next < 0)
		return 0;
	if (delay == 0 && v->before == 0)
		next = (s64)cemark_div((u64)next * 98, 100);
	return next > CEMARK_PIE_CERTAIN ? CEMARK_PIE_CERTAIN : next;
}

CEMARK_FN u32 cemark_pie_enqueue(const struct cemark_pie_params *p, struct cemark_pie_vars *v,
				 const struct cemark_at *at)
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

CEMARK_FN u32 cemark_pie_dequeue(const struct cemark_pie_params *p, struct cemark_pie_vars *v,
				 const struct cemark_at *at)
{
	(void)p;
	v->wait = cemark_to32(at->sojourn);
	return cemark_keep(at);
}

CEMARK_FN void cemark_pie_wake(const struct cemark_pie_params *p, struct cemark_pie_vars *v,
			       const struct cemark_at *at)
{
	s64 delay = cemark_pie_delay(p, v, at);

	v->p = cemark_pie_update(p, v, delay);
	if (v->burst > 0)
		v->burst--;
	if (v->p == 0 && 2 * delay < (s64)p->target && 2ull * v->before < p->target)
		v->burst = p->bursts;
	/* Otherwise further updates would change nothing before the next packet arrives. */
	v->awake = v->p != 0 || delay != 0 || v->before != 0 || at->queue_bytes != 0;
	v->before = (u32)delay;
	v->next = cemark_add64(at->now, p->t_update);
}

CEMARK_FN bool cemark_pie_next_wake(const struct cemark_pie_params *p,
				    const struct cemark_pie_vars *v, u64 *when)
{
	(void)p;
	*when = v->next;
	return v->awake;
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

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

/* Parameters by position. They are not checked: one that is too large counts as the largest. */
CEMARK_FN void cemark_pie_set(struct cemark_pie_params *p, const u64 *values,
			      const struct cemark_queue_spec *queue)
{
	const struct cemark_pie_config c = {
		.target = values[CEMARK_PIE_TARGET],
		.t_update = values[CEMARK_PIE_T_UPDATE],
		.alpha = cemark_to32(values[CEMARK_PIE_ALPHA]),
		.beta = cemark_to32(values[CEMARK_PIE_BETA]),
		.max_burst = values[CEMARK_PIE_MAX_BURST],
		.mark_ecnth = cemark_to32(values[CEMARK_PIE_MARK_ECNTH]),
		.tuning = (enum cemark_pie_tuning)values[CEMARK_PIE_TUNING],
		.cap = values[CEMARK_PIE_CAP] == 1,
		.delay = (enum cemark_pie_delay)values[CEMARK_PIE_DELAY],
		.mean_pkt = values[CEMARK_PIE_MEAN_PKT],
	};

	cemark_pie_apply(p, &c, queue);
}

CEMARK_FN u32 cemark_pie_traits(const struct cemark_pie_params *p)
{
	return CEMARK_AT_ENQUEUE | (p->by_wait ? CEMARK_AT_DEQUEUE : 0) | CEMARK_DRAWS |
	       CEMARK_CLOCK;
}

CEMARK_NO_EMPTIED(pie)

#endif
