/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * CEDM: two thresholds and the slope of the queue length.
 * Shan and Ren, "Improving ECN Marking Scheme with Micro-burst Traffic in Data Center Networks",
 * INFOCOM 2017.
 *
 * Above k2 an arriving packet is marked. From k1 to k2 it is marked tentatively while the queue
 * grows: the mark is withdrawn if, by the time the packet leaves, the queue is below k1, or below
 * k2 and shrinking. The tentative mark is kept beside the packet (cemark_at.intent), never in its
 * ECN field, so a CE mark of another switch is never cleared. The slope is measured from one
 * departure to the next and smoothed.
 *
 * The same in Rust: crates/marking/src/cedm.rs. Ties and sources: docs/schemes/cedm.md.
 */
#ifndef CEMARK_CEDM_H
#define CEMARK_CEDM_H

#include "at.h"
#include "fixed.h"

/* Which parts of the scheme are active, to see what each contributes. */
enum cemark_cedm_parts {
	CEMARK_CEDM_PARTS_BOTH = 0,       /* the whole scheme */
	CEMARK_CEDM_PARTS_SLOPE = 1,      /* no k2 */
	CEMARK_CEDM_PARTS_THRESHOLDS = 2, /* every queue counts as growing */
};

enum cemark_cedm_signal {
	CEMARK_CEDM_SIGNAL_INSTANT = 0, /* the length itself */
	CEMARK_CEDM_SIGNAL_AVERAGE = 1, /* a moving average over arrivals and departures */
};

struct cemark_cedm_config {
	u64 k1;               /* bytes, 32 bits */
	u64 k2;               /* bytes, 32 bits, k1 <= k2; 0: k1 + (k1 + link rate * rtt) / 4 */
	u64 rtt;              /* ns, up to CEMARK_SEC: in the rule for k2 */
	enum cemark_cedm_parts parts;
	bool withdraw;        /* tentative marks are reconsidered at departure */
	bool mark_at_dequeue; /* packets that leave k2 or more behind are marked too */
	enum cemark_cmp cmp;  /* of the length and k2 */
	u32 weight;           /* parts of 2^16, 1 to CEMARK_ONE: of the newest slope */
	u64 min_pkt;          /* bytes, 16 bits: only larger packets measure the slope */
	bool flat;            /* a departure that changes no length measures a slope of zero */
	enum cemark_cedm_signal signal;
	u32 avg_weight;       /* parts of 2^16, 1 to CEMARK_ONE: of the newest length */
};

/* 14 packets at 10 Gb/s and 100 us; the other values are those of the authors' switch. */
#define CEMARK_CEDM_DEFAULTS                                                                       \
	{                                                                                          \
		.k1 = 14 * 1500,                                                                   \
		.k2 = 0,                                                                           \
		.rtt = 100 * CEMARK_USEC,                                                          \
		.parts = CEMARK_CEDM_PARTS_BOTH,                                                   \
		.withdraw = 1,                                                                     \
		.mark_at_dequeue = 0,                                                              \
		.cmp = CEMARK_CMP_STRICT,                                                          \
		.weight = 8454, /* 0.129 */                                                        \
		.min_pkt = 800,                                                                    \
		.flat = 1,                                                                         \
		.signal = CEMARK_CEDM_SIGNAL_INSTANT,                                              \
		.avg_weight = CEMARK_ONE / 512,                                                    \
	}

/* The smoothed slope of a queue's length. */
struct cemark_cedm_slope {
	s64 slope;   /* 2^-24 bytes per ns */
	u64 since;   /* ns, valid if measured: time of the last measurement */
	u32 length;  /* bytes at that time */
	u8 measured;
};

struct cemark_cedm_params {
	u32 k1, k2;         /* bytes */
	u32 weight;         /* parts of 2^16 */
	u32 avg_weight;     /* parts of 2^16 */
	u16 min_pkt;        /* bytes */
	u8 flat;            /* 1: slopes of zero are measured too */
	u8 looks_at_slope;  /* 0: every queue counts as growing */
	u8 withdraw;
	u8 mark_at_dequeue;
	u8 inclusive;       /* 1: mark at k2 and above; 0: only above it */
	u8 averaged;        /* 1: CEMARK_CEDM_SIGNAL_AVERAGE */
};

struct cemark_cedm_vars {
	struct cemark_cedm_slope slope;
	u64 avg; /* smoothed length, 2^-12 bytes; 0 without averaging */
};

CEMARK_FN void cemark_cedm_slope_init(struct cemark_cedm_slope *s)
{
	s->slope = 0;
	s->since = 0;
	s->length = 0;
	s->measured = 0;
}

/* A packet departs and leaves `length` bytes behind. */
CEMARK_FN void cemark_cedm_measure(struct cemark_cedm_slope *s, u32 length, u64 now, u32 weight)
{
	if (s->measured) {
		s64 newest = cemark_slope(s->length, length, cemark_sub64(now, s->since));

		s->slope = cemark_ewma_slope(s->slope, newest, weight);
	}
	s->measured = 1;
	s->since = now;
	s->length = length;
}

/*
 * The same, but a length that has not changed measures nothing. If it is zero, the time is taken
 * from now on, so that the first rise from an empty queue is not spread over the time before it.
 */
CEMARK_FN void cemark_cedm_measure_change(struct cemark_cedm_slope *s, u32 length, u64 now,
					  u32 weight)
{
	if (!s->measured || s->length != length)
		cemark_cedm_measure(s, length, now, weight);
	else if (length == 0)
		s->since = now;
}

/* The authors' rule for the upper threshold: k1 + (k1 + rate * rtt) / 4, rounded down. */
CEMARK_FN u32 cemark_cedm_upper(u32 k1, u64 rtt, const struct cemark_queue_spec *queue)
{
	return cemark_to32(cemark_add64(5ull * k1, cemark_bytes_in(queue->rate, rtt)) >> 2);
}

CEMARK_FN void cemark_cedm_apply(struct cemark_cedm_params *p, const struct cemark_cedm_config *c,
				 const struct cemark_queue_spec *queue)
{
	p->k1 = cemark_to32(c->k1);
	p->k2 = cemark_to32(c->k2);
	if (c->parts == CEMARK_CEDM_PARTS_SLOPE)
		p->k2 = CEMARK_U32_MAX;
	else if (p->k2 == 0)
		p->k2 = cemark_cedm_upper(p->k1, c->rtt, queue);
	p->weight = cemark_min32(c->weight, CEMARK_ONE);
	p->avg_weight = cemark_min32(c->avg_weight, CEMARK_ONE);
	p->min_pkt = cemark_to16(c->min_pkt);
	p->flat = c->flat;
	p->looks_at_slope = c->parts != CEMARK_CEDM_PARTS_THRESHOLDS;
	p->withdraw = c->withdraw;
	p->mark_at_dequeue = c->mark_at_dequeue;
	p->inclusive = c->cmp == CEMARK_CMP_AT_LEAST;
	p->averaged = c->signal == CEMARK_CEDM_SIGNAL_AVERAGE;
}

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_cedm_configure(struct cemark_cedm_params *p,
				    const struct cemark_cedm_config *c,
				    const struct cemark_queue_spec *queue)
{
	if (c->k1 > CEMARK_U32_MAX || c->k2 > CEMARK_U32_MAX || (c->k2 && c->k1 > c->k2) ||
	    c->rtt > CEMARK_SEC || (u32)c->parts > CEMARK_CEDM_PARTS_THRESHOLDS ||
	    (u32)c->cmp > CEMARK_CMP_AT_LEAST || c->weight == 0 || c->weight > CEMARK_ONE ||
	    c->min_pkt > CEMARK_U16_MAX || (u32)c->signal > CEMARK_CEDM_SIGNAL_AVERAGE ||
	    c->avg_weight == 0 || c->avg_weight > CEMARK_ONE)
		return -CEMARK_EINVAL;
	cemark_cedm_apply(p, c, queue);
	return 0;
}

CEMARK_FN void cemark_cedm_init(const struct cemark_cedm_params *p, struct cemark_cedm_vars *v)
{
	(void)p;
	cemark_cedm_slope_init(&v->slope);
	v->avg = 0;
}

/* The length that is compared with the thresholds. */
CEMARK_FN u32 cemark_cedm_length(const struct cemark_cedm_params *p, struct cemark_cedm_vars *v,
				 const struct cemark_at *at)
{
	if (!p->averaged)
		return at->queue_bytes;
	v->avg = cemark_ewma(v->avg, at->queue_bytes, p->avg_weight);
	return (u32)(v->avg >> CEMARK_AVG_BITS);
}

CEMARK_FN bool cemark_cedm_falls(const struct cemark_cedm_params *p,
				 const struct cemark_cedm_vars *v)
{
	return p->looks_at_slope && v->slope.slope < 0;
}

CEMARK_FN u32 cemark_cedm_enqueue(const struct cemark_cedm_params *p, struct cemark_cedm_vars *v,
				  const struct cemark_at *at)
{
	u32 length = cemark_cedm_length(p, v, at);

	if (length > p->k2 || (p->inclusive && length == p->k2))
		return CEMARK_MARK(CEMARK_INSTANT);
	if (length >= p->k1 && !cemark_cedm_falls(p, v))
		return CEMARK_MARK(CEMARK_TENTATIVE);
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_cedm_dequeue(const struct cemark_cedm_params *p, struct cemark_cedm_vars *v,
				  const struct cemark_at *at)
{
	u32 length = cemark_cedm_length(p, v, at);
	bool turned;

	if (at->pkt_bytes > p->min_pkt) {
		if (p->flat)
			cemark_cedm_measure(&v->slope, length, at->now, p->weight);
		else
			cemark_cedm_measure_change(&v->slope, length, at->now, p->weight);
	}
	if (p->mark_at_dequeue && length >= p->k2)
		return CEMARK_MARK(CEMARK_INSTANT);
	turned = length < p->k1 || (length < p->k2 && cemark_cedm_falls(p, v));
	if (at->intent == CEMARK_TENTATIVE && p->withdraw && turned)
		return CEMARK_PASS;
	return cemark_keep(at);
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

enum cemark_cedm_param {
	CEMARK_CEDM_K1,
	CEMARK_CEDM_K2,
	CEMARK_CEDM_RTT,
	CEMARK_CEDM_PARTS,
	CEMARK_CEDM_WITHDRAW,
	CEMARK_CEDM_MARK_AT_DEQUEUE,
	CEMARK_CEDM_CMP,
	CEMARK_CEDM_WEIGHT,
	CEMARK_CEDM_MIN_PKT,
	CEMARK_CEDM_FLAT,
	CEMARK_CEDM_SIGNAL,
	CEMARK_CEDM_AVG_WEIGHT,
};

/* Parameters by position. They are not checked: one that is too large counts as the largest. */
CEMARK_FN void cemark_cedm_set(struct cemark_cedm_params *p, const u64 *values,
			       const struct cemark_queue_spec *queue)
{
	const struct cemark_cedm_config c = {
		.k1 = values[CEMARK_CEDM_K1],
		.k2 = values[CEMARK_CEDM_K2],
		.rtt = values[CEMARK_CEDM_RTT],
		.parts = (enum cemark_cedm_parts)values[CEMARK_CEDM_PARTS],
		.withdraw = values[CEMARK_CEDM_WITHDRAW] == 1,
		.mark_at_dequeue = values[CEMARK_CEDM_MARK_AT_DEQUEUE] == 1,
		.cmp = (enum cemark_cmp)values[CEMARK_CEDM_CMP],
		.weight = cemark_to32(values[CEMARK_CEDM_WEIGHT]),
		.min_pkt = values[CEMARK_CEDM_MIN_PKT],
		.flat = values[CEMARK_CEDM_FLAT] == 1,
		.signal = (enum cemark_cedm_signal)values[CEMARK_CEDM_SIGNAL],
		.avg_weight = cemark_to32(values[CEMARK_CEDM_AVG_WEIGHT]),
	};

	cemark_cedm_apply(p, &c, queue);
}

CEMARK_FN u32 cemark_cedm_traits(const struct cemark_cedm_params *p)
{
	(void)p;
	return CEMARK_AT_ENQUEUE | CEMARK_AT_DEQUEUE | CEMARK_READS_LENGTH;
}

CEMARK_NO_RETUNED(cedm)
CEMARK_NO_EMPTIED(cedm)
CEMARK_NO_CLOCK(cedm)

#endif
