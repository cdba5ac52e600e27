/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * CEDM x ECN#: ECN# with CEDM's two thresholds and slope as its instantaneous condition. This
 * combination has not been published.
 *
 * The two conditions keep their marks apart: CEDM withdraws only a mark of its own, and a packet
 * whose tentative mark was withdrawn may still be marked by the persistent condition.
 *
 * The same in Rust: crates/marking/src/cedm_sharp.rs. Ties and sources:
 * docs/schemes/cedm_sharp.md.
 */
#ifndef CEMARK_CEDM_SHARP_H
#define CEMARK_CEDM_SHARP_H

#include "cedm.h"

/* CEDM's weight of the newest slope, 0.129, and the packet size above which it is measured. */
#define CEMARK_CEDM_SHARP_WEIGHT 8454u
#define CEMARK_CEDM_SHARP_MIN_PKT 800u

struct cemark_cedm_sharp_config {
	u64 k1;           /* bytes, 32 bits: CEDM's lower threshold */
	u64 k2;           /* bytes, 32 bits, k1 <= k2: upper; 0: k1 + (k1 + link rate * rtt) / 4 */
	u64 rtt;          /* ns, up to CEMARK_SEC: in the rule for k2 */
	u64 pst_target;   /* ns, up to CEMARK_SEC: ECN#'s pst_target */
	u64 pst_interval; /* ns, 1 to CEMARK_SEC: ECN#'s pst_interval */
};

/* Our choice for k1 and rtt, from ECN#'s testbed at 10 Gb/s. */
#define CEMARK_CEDM_SHARP_DEFAULTS                                                                 \
	{                                                                                          \
		.k1 = 250000,                                                                      \
		.k2 = 0,                                                                           \
		.rtt = 200 * CEMARK_USEC,                                                          \
		.pst_target = 85 * CEMARK_USEC,                                                    \
		.pst_interval = 200 * CEMARK_USEC,                                                 \
	}

struct cemark_cedm_sharp_params {
	u32 k1, k2;       /* bytes */
	u32 pst_target;   /* ns */
	u32 pst_interval; /* ns, at least 1 */
};

struct cemark_cedm_sharp_vars {
	struct cemark_cedm_slope slope;
	u64 time;    /* ns. marking: time of the next mark; else: when standing was set */
	u32 count;   /* marks in this marking state */
	u8 standing; /* the last wait was pst_target or longer */
	u8 marking;
};

CEMARK_FN void cemark_cedm_sharp_apply(struct cemark_cedm_sharp_params *p,
				       const struct cemark_cedm_sharp_config *c,
				       const struct cemark_queue_spec *queue)
{
	p->k1 = cemark_to32(c->k1);
	p->k2 = cemark_to32(c->k2);
	if (p->k2 == 0)
		p->k2 = cemark_cedm_upper(p->k1, c->rtt, queue);
	p->pst_target = cemark_to32(c->pst_target);
	p->pst_interval = c->pst_interval ? cemark_to32(c->pst_interval) : 1;
}

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_cedm_sharp_configure(struct cemark_cedm_sharp_params *p,
					  const struct cemark_cedm_sharp_config *c,
					  const struct cemark_queue_spec *queue)
{
	if (c->k1 > CEMARK_U32_MAX || c->k2 > CEMARK_U32_MAX || (c->k2 && c->k1 > c->k2) ||
	    c->rtt > CEMARK_SEC || c->pst_target > CEMARK_SEC || c->pst_interval == 0 ||
	    c->pst_interval > CEMARK_SEC)
		return -CEMARK_EINVAL;
	cemark_cedm_sharp_apply(p, c, queue);
	return 0;
}

CEMARK_FN void cemark_cedm_sharp_init(const struct cemark_cedm_sharp_params *p,
				      struct cemark_cedm_sharp_vars *v)
{
	(void)p;
	cemark_cedm_slope_init(&v->slope);
	v->time = 0;
	v->count = 0;
	v->standing = 0;
	v->marking = 0;
}

/* ECN#'s persistent condition, as in its Algorithm 1 (ecn_sharp.h). */
CEMARK_FN bool cemark_cedm_sharp_persistent(const struct cemark_cedm_sharp_params *p,
					    struct cemark_cedm_sharp_vars *v,
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

CEMARK_FN u32 cemark_cedm_sharp_enqueue(const struct cemark_cedm_sharp_params *p,
					struct cemark_cedm_sharp_vars *v,
					const struct cemark_at *at)
{
	if (at->queue_bytes > p->k2)
		return CEMARK_MARK(CEMARK_INSTANT);
	if (at->queue_bytes >= p->k1 && v->slope.slope >= 0)
		return CEMARK_MARK(CEMARK_TENTATIVE);
	return CEMARK_PASS;
}

CEMARK_FN u32 cemark_cedm_sharp_dequeue(const struct cemark_cedm_sharp_params *p,
					struct cemark_cedm_sharp_vars *v,
					const struct cemark_at *at)
{
	u32 length = at->queue_bytes;
	bool persistent, turned;

	if (at->pkt_bytes > CEMARK_CEDM_SHARP_MIN_PKT)
		cemark_cedm_measure(&v->slope, length, at->now, CEMARK_CEDM_SHARP_WEIGHT);
	/* Evaluated for every packet, so that its state advances under CEDM's marks too. */
	persistent = cemark_cedm_sharp_persistent(p, v, at);
	turned = length < p->k1 || (length < p->k2 && v->slope.slope < 0);
	if (at->intent != CEMARK_NO_INTENT && !(at->intent == CEMARK_TENTATIVE && turned))
		return CEMARK_MARK(at->intent);
	return persistent ? CEMARK_MARK(CEMARK_PERSISTENT) : CEMARK_PASS;
}

/* What follows is for callers that know the scheme only by its place in the catalogue. */

enum cemark_cedm_sharp_param {
	CEMARK_CEDM_SHARP_K1,
	CEMARK_CEDM_SHARP_K2,
	CEMARK_CEDM_SHARP_RTT,
	CEMARK_CEDM_SHARP_PST_TARGET,
	CEMARK_CEDM_SHARP_PST_INTERVAL,
};

/* Parameters by position. They are not checked: one that is too large counts as the largest. */
CEMARK_FN void cemark_cedm_sharp_set(struct cemark_cedm_sharp_params *p, const u64 *values,
				     const struct cemark_queue_spec *queue)
{
	const struct cemark_cedm_sharp_config c = {
		.k1 = values[CEMARK_CEDM_SHARP_K1],
		.k2 = values[CEMARK_CEDM_SHARP_K2],
		.rtt = values[CEMARK_CEDM_SHARP_RTT],
		.pst_target = values[CEMARK_CEDM_SHARP_PST_TARGET],
		.pst_interval = values[CEMARK_CEDM_SHARP_PST_INTERVAL],
	};

	cemark_cedm_sharp_apply(p, &c, queue);
}

CEMARK_FN u32 cemark_cedm_sharp_traits(const struct cemark_cedm_sharp_params *p)
{
	(void)p;
	return CEMARK_AT_ENQUEUE | CEMARK_AT_DEQUEUE | CEMARK_READS_LENGTH;
}

CEMARK_NO_RETUNED(cedm_sharp)
CEMARK_NO_EMPTIED(cedm_sharp)
CEMARK_NO_CLOCK(cedm_sharp)

#endif
