/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * CEDM x ECN#: ECN# whose instantaneous part is CEDM's two thresholds and slope. Not published. Intents are kept apart: CEDM withdraws
 * its own and no other.
 * Twin of crates/marking/src/cedm_sharp.rs; parameters and ties: docs/schemes/cedm_sharp.md.
 */
#ifndef CEMARK_CEDM_SHARP_H
#define CEMARK_CEDM_SHARP_H

#include "cedm.h"

/* CEDM's weight of the newest slope, 0.129, and the packets that measure it: larger ones only. */
#define CEMARK_CEDM_SHARP_WEIGHT 8454u
#define CEMARK_CEDM_SHARP_MIN_PKT 800u

/* Places in the array of parameters that cemark_cedm_sharp_set() reads. */
enum cemark_cedm_sharp_param {
	CEMARK_CEDM_SHARP_K1,
	CEMARK_CEDM_SHARP_K2,
	CEMARK_CEDM_SHARP_RTT,
	CEMARK_CEDM_SHARP_PST_TARGET,
	CEMARK_CEDM_SHARP_PST_INTERVAL,
};

struct cemark_cedm_sharp_params {
	u32 k1, k2;       /* bytes */
	u32 pst_target;   /* ns */
	u32 pst_interval; /* ns, at least 1 */
};

struct cemark_cedm_sharp_vars {
	struct cemark_cedm_slope slope;
	u64 time;  /* before the marking state, since when the queue stands; in it, when the next mark is due */
	u32 count; /* marks in this marking state */
	u8 standing;
	u8 marking;
};

CEMARK_FN void cemark_cedm_sharp_set(struct cemark_cedm_sharp_params *p, const u64 *values,
				     const struct cemark_queue_spec *queue)
{
	p->k1 = cemark_to32(values[CEMARK_CEDM_SHARP_K1]);
	p->k2 = cemark_to32(values[CEMARK_CEDM_SHARP_K2]);
	if (p->k2 == 0)
		p->k2 = cemark_cedm_upper(p->k1, values[CEMARK_CEDM_SHARP_RTT], queue);
	p->pst_target = cemark_to32(values[CEMARK_CEDM_SHARP_PST_TARGET]);
	p->pst_interval = cemark_to32(values[CEMARK_CEDM_SHARP_PST_INTERVAL]);
	if (p->pst_interval == 0)
		p->pst_interval = 1;
}

CEMARK_FN void cemark_cedm_sharp_init(const struct cemark_cedm_sharp_params *p, struct cemark_cedm_sharp_vars *v)
{
	(void)p;
	cemark_cedm_slope_init(&v->slope);
	v->time = 0;
	v->count = 0;
	v->standing = 0;
	v->marking = 0;
}

CEMARK_FN u32 cemark_cedm_sharp_traits(const struct cemark_cedm_sharp_params *p)
{
	(void)p;
	return CEMARK_AT_ENQUEUE | CEMARK_AT_DEQUEUE | CEMARK_READS_LENGTH;
}

/* ECN#'s second condition as in its Algorithm 1: harmonic, from the previous schedule, strict. */
CEMARK_FN bool cemark_cedm_sharp_persistent(const struct cemark_cedm_sharp_params *p, struct cemark_cedm_sharp_vars *v,
					    const struct cemark_at *at)
{
	u32 step;

	if (at->sojourn < p->pst_target) {
		v->standing = 0;
		v->marking = 0;
		return 0;
	}
	if (!v->standing) {
		v->standing = 1;
		v->time = at->now;
		return 0;
	}
	if (!v->marking) {
		if (cemark_sub64(at->now, v->time) <= p->pst_interval)
			return 0;
		v->marking = 1;
		v->count = 1;
		v->time = cemark_add64(at->now, p->pst_interval);
		return 1;
	}
	if (at->now <= v->time)
		return 0;
	v->count = cemark_add32(v->count, 1);
	step = p->pst_interval / v->count;
	v->time = cemark_add64(v->time, step ? step : 1);
	return 1;
}

CEMARK_FN u32 cemark_cedm_sharp_enqueue(const struct cemark_cedm_sharp_params *p, struct cemark_cedm_sharp_vars *v,
					const struct cemark_at *at)
{
	if (at->queue_bytes > p->k2)
		return CEMARK_MARK(CEMARK_INSTANT);
	if (at->queue_bytes >= p->k1 && v->slope.slope >= 0)
		return CEMARK_MARK(CEMARK_TENTATIVE);
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_cedm_sharp_dequeue(const struct cemark_cedm_sharp_params *p, struct cemark_cedm_sharp_vars *v,
					const struct cemark_at *at)
{
	u32 length = at->queue_bytes;
	bool persistent, turned;

	if (at->pkt_bytes > CEMARK_CEDM_SHARP_MIN_PKT)
		cemark_cedm_measure(&v->slope, length, at->now, CEMARK_CEDM_SHARP_WEIGHT);
	/* Always judged, so that its state moves on under CEDM's marks. */
	persistent = cemark_cedm_sharp_persistent(p, v, at);
	turned = length < p->k1 || (length < p->k2 && v->slope.slope < 0);
	if (at->intent != CEMARK_NO_INTENT && !(at->intent == CEMARK_TENTATIVE && turned))
		return CEMARK_MARK(at->intent);
	return persistent ? CEMARK_MARK(CEMARK_PERSISTENT) : CEMARK_PASS;
}

CEMARK_NO_RETUNED(cedm_sharp)
CEMARK_NO_EMPTIED(cedm_sharp)
CEMARK_NO_CLOCK(cedm_sharp)

#endif
