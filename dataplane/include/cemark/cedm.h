/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * CEDM: two thresholds and the queue's slope, marked as packets join and reconsidered as they leave (Shan and Ren, INFOCOM 2017).
 * Between the thresholds the intent is tentative; it travels beside the packet, never in its ECN field.
 * Twin of crates/marking/src/cedm.rs; parameters and ties: docs/schemes/cedm.md.
 */
#ifndef CEMARK_CEDM_H
#define CEMARK_CEDM_H

#include "at.h"
#include "fixed.h"

/* Places in the array of parameters that cemark_cedm_set() reads. */
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
	CEMARK_CEDM_SIGNAL,
	CEMARK_CEDM_AVG_WEIGHT,
};

/* The smoothed slope of a queue, measured from one departure to the next. */
struct cemark_cedm_slope {
	s64 slope;   /* 2^-24 bytes a nanosecond */
	u64 since;   /* where measured: when it was measured last */
	u32 length;  /* and the length then */
	u8 measured;
};

struct cemark_cedm_params {
	u32 k1, k2;         /* bytes */
	u32 weight;         /* of the newest slope, parts of 2^16 */
	u32 avg_weight;     /* of the newest length, parts of 2^16 */
	u16 min_pkt;        /* only larger packets measure the slope, bytes */
	u8 looks_at_slope;
	u8 withdraw;        /* reconsider a tentative mark as the packet leaves */
	u8 mark_at_dequeue; /* mark packets that leave k2 or more behind */
	u8 at_least;        /* for good from k2 on, not above it */
	u8 averaged;        /* lengths are a moving average */
};

struct cemark_cedm_vars {
	struct cemark_cedm_slope slope;
	u64 avg; /* smoothed length, 2^-12 bytes, where lengths are averaged */
};

CEMARK_FN void cemark_cedm_slope_init(struct cemark_cedm_slope *s)
{
	s->slope = 0;
	s->since = 0;
	s->length = 0;
	s->measured = 0;
}

/* Moves on to a departure that leaves `length` behind. */
CEMARK_FN void cemark_cedm_measure(struct cemark_cedm_slope *s, u32 length, u64 now, u32 weight)
{
	if (s->measured)
		s->slope = cemark_ewma_slope(s->slope, cemark_slope(s->length, length, cemark_sub64(now, s->since)), weight);
	s->measured = 1;
	s->since = now;
	s->length = length;
}

/* The authors' rule for the upper threshold: k1 + (k1 + rate * rtt) / 4, rounded down. */
CEMARK_FN u32 cemark_cedm_upper(u32 k1, u64 rtt, const struct cemark_queue_spec *queue)
{
	return cemark_to32(cemark_add64(5ull * k1, cemark_bytes_in(queue->rate, rtt)) >> 2);
}

CEMARK_FN void cemark_cedm_set(struct cemark_cedm_params *p, const u64 *values, const struct cemark_queue_spec *queue)
{
	u64 parts = values[CEMARK_CEDM_PARTS];
	u64 min_pkt = values[CEMARK_CEDM_MIN_PKT];

	p->k1 = cemark_to32(values[CEMARK_CEDM_K1]);
	p->k2 = cemark_to32(values[CEMARK_CEDM_K2]);
	/* Without an upper threshold nothing is marked for good. */
	if (parts == 1)
		p->k2 = CEMARK_U32_MAX;
	else if (p->k2 == 0)
		p->k2 = cemark_cedm_upper(p->k1, values[CEMARK_CEDM_RTT], queue);
	p->weight = cemark_min32(cemark_to32(values[CEMARK_CEDM_WEIGHT]), CEMARK_ONE);
	p->avg_weight = cemark_min32(cemark_to32(values[CEMARK_CEDM_AVG_WEIGHT]), CEMARK_ONE);
	p->min_pkt = min_pkt > CEMARK_U16_MAX ? CEMARK_U16_MAX : (u16)min_pkt;
	p->looks_at_slope = parts != 2;
	p->withdraw = values[CEMARK_CEDM_WITHDRAW] == 1;
	p->mark_at_dequeue = values[CEMARK_CEDM_MARK_AT_DEQUEUE] == 1;
	p->at_least = values[CEMARK_CEDM_CMP] == 1;
	p->averaged = values[CEMARK_CEDM_SIGNAL] == 1;
}

CEMARK_FN void cemark_cedm_init(const struct cemark_cedm_params *p, struct cemark_cedm_vars *v)
{
	(void)p;
	cemark_cedm_slope_init(&v->slope);
	v->avg = 0;
}

CEMARK_FN u32 cemark_cedm_traits(const struct cemark_cedm_params *p)
{
	(void)p;
	return CEMARK_AT_ENQUEUE | CEMARK_AT_DEQUEUE | CEMARK_READS_LENGTH;
}

/* The length that is compared. */
CEMARK_FN u32 cemark_cedm_length(const struct cemark_cedm_params *p, struct cemark_cedm_vars *v, const struct cemark_at *at)
{
	if (!p->averaged)
		return at->queue_bytes;
	v->avg = cemark_ewma(v->avg, at->queue_bytes, p->avg_weight);
	return (u32)(v->avg >> CEMARK_AVG_BITS);
}

CEMARK_FN bool cemark_cedm_falls(const struct cemark_cedm_params *p, const struct cemark_cedm_vars *v)
{
	return p->looks_at_slope && v->slope.slope < 0;
}

CEMARK_FN u32 cemark_cedm_enqueue(const struct cemark_cedm_params *p, struct cemark_cedm_vars *v, const struct cemark_at *at)
{
	u32 length = cemark_cedm_length(p, v, at);

	if (length > p->k2 || (p->at_least && length == p->k2))
		return CEMARK_MARK(CEMARK_INSTANT);
	if (length >= p->k1 && !cemark_cedm_falls(p, v))
		return CEMARK_MARK(CEMARK_TENTATIVE);
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_cedm_dequeue(const struct cemark_cedm_params *p, struct cemark_cedm_vars *v, const struct cemark_at *at)
{
	u32 length = cemark_cedm_length(p, v, at);
	bool turned;

	if (at->pkt_bytes > p->min_pkt)
		cemark_cedm_measure(&v->slope, length, at->now, p->weight);
	if (p->mark_at_dequeue && length >= p->k2)
		return CEMARK_MARK(CEMARK_INSTANT);
	turned = length < p->k1 || (length < p->k2 && cemark_cedm_falls(p, v));
	if (at->intent == CEMARK_TENTATIVE && p->withdraw && turned)
		return CEMARK_PASS;
	return cemark_keep(at);
}

CEMARK_NO_RETUNED(cedm)
CEMARK_NO_EMPTIED(cedm)
CEMARK_NO_CLOCK(cedm)

#endif
