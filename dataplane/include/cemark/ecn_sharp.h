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
 * The same in Rust: crates/marking/src/ecn_sharp.rs. Ties and sources: docs/schemes/ecn_sharp.md.
 */
#ifndef CEMARK_ECN_SHARP_H
#define CEMARK_ECN_SHARP_H

#include "at.h"
#include "ecn_sharp_variants.h"

struct cemark_ecn_sharp_config {
	/* ns, up to CEMARK_SEC: about the longest RTT times a factor of the congestion control */
	u64 ins_target;
	/* ns, up to CEMARK_SEC: about the mean RTT times this factor, and a few packet times */
	u64 pst_target;
	/* ns, 1 to CEMARK_SEC: about the longest RTT, which is how long senders take to react */
	u64 pst_interval;
	/* up to 65535: most marks in a row that leave the schedule behind the clock; 0: no limit */
	u32 max_catchup;
	/* an empty queue ends the persistent condition; matters behind a scheduler */
	bool reset_on_empty;
	/* what differs from Algorithm 1, for comparisons */
	struct cemark_ecn_sharp_variant variant;
};

/* The paper's testbed (section 5.2): 10 Gb/s, RTTs from 70 to 210 us. */
#define CEMARK_ECN_SHARP_DEFAULTS                                                                  \
	{                                                                                          \
		.ins_target = 200 * CEMARK_USEC,                                                   \
		.pst_target = 85 * CEMARK_USEC,                                                    \
		.pst_interval = 200 * CEMARK_USEC,                                                 \
		.max_catchup = 0,                                                                  \
		.reset_on_empty = 0,                                                               \
		.variant = CEMARK_ECN_SHARP_PUBLISHED,                                             \
	}

struct cemark_ecn_sharp_params {
	u32 ins_target;    /* ns */
	u32 pst_target;    /* ns */
	u32 pst_interval;  /* ns, at least 1 */
	u16 max_catchup;
	u8 reset_on_empty;
	struct cemark_ecn_sharp_variant_params variant;
};

struct cemark_ecn_sharp_vars {
	u64 first_above; /* ns, valid while above: when `above` was set */
	u64 next;        /* ns, valid while marking: packets after this time get the next mark */
	u32 count;       /* marks since marking was set */
	u16 behind;      /* marks in a row that left the schedule behind the clock */
	u8 above;        /* the last packet waited pst_target or longer */
	u8 marking;      /* the persistent condition has marked and still holds */
	struct cemark_ecn_sharp_variant_vars variant;
};

CEMARK_FN void cemark_ecn_sharp_apply(struct cemark_ecn_sharp_params *p,
				      const struct cemark_ecn_sharp_config *c,
				      const struct cemark_queue_spec *queue)
{
	p->ins_target = cemark_to32(c->ins_target);
	p->pst_target = cemark_to32(c->pst_target);
	p->pst_interval = c->pst_interval ? cemark_to32(c->pst_interval) : 1;
	p->max_catchup = cemark_to16(c->max_catchup);
	p->reset_on_empty = c->reset_on_empty;
	cemark_ecn_sharp_variant_apply(p, c, queue);
}

/* Returns 0, or -CEMARK_EINVAL for a value out of range; then params are unchanged. */
CEMARK_FN int cemark_ecn_sharp_configure(struct cemark_ecn_sharp_params *p,
					 const struct cemark_ecn_sharp_config *c,
					 const struct cemark_queue_spec *queue)
{
	if (c->ins_target > CEMARK_SEC || c->pst_target > CEMARK_SEC || c->pst_interval == 0 ||
	    c->pst_interval > CEMARK_SEC || c->max_catchup > CEMARK_U16_MAX ||
	    !cemark_ecn_sharp_variant_valid(&c->variant))
		return -CEMARK_EINVAL;
	cemark_ecn_sharp_apply(p, c, queue);
	return 0;
}

CEMARK_FN void cemark_ecn_sharp_init(const struct cemark_ecn_sharp_params *p,
				     struct cemark_ecn_sharp_vars *v)
{
	v->first_above = 0;
	v->next = 0;
	v->count = 0;
	v->behind = 0;
	v->above = 0;
	v->marking = 0;
	cemark_ecn_sharp_variant_init(&p->variant, &v->variant);
}

/* Whether no packet has waited less than pst_target for longer than pst_interval. */
CEMARK_FN bool cemark_ecn_sharp_detect(const struct cemark_ecn_sharp_params *p,
				       struct cemark_ecn_sharp_vars *v, u32 wait, u64 now)
{
	if (wait < p->pst_target) {
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

/* Schedules the mark after the count-th one. */
CEMARK_FN void cemark_ecn_sharp_reschedule(const struct cemark_ecn_sharp_params *p,
					   struct cemark_ecn_sharp_vars *v, u64 now)
{
	u32 gap = p->pst_interval / v->count;

	/* A gap of 0 would mark every packet from then on. */
	if (gap == 0)
		gap = 1;
	v->next = cemark_add64(v->next, gap);
	if (p->max_catchup == 0 || now <= v->next) {
		v->behind = 0;
	} else if (v->behind < p->max_catchup) {
		v->behind++;
	} else {
		v->behind = 0;
		v->next = cemark_add64(now, gap);
	}
}

/* The second condition. */
CEMARK_FN bool cemark_ecn_sharp_persistent(const struct cemark_ecn_sharp_params *p,
					   struct cemark_ecn_sharp_vars *v, u32 wait, u64 now)
{
	if (!cemark_ecn_sharp_detect(p, v, wait, now)) {
		v->marking = 0;
		return 0;
	}
	if (!v->marking) {
		v->marking = 1;
		v->count = 1;
		v->behind = 0;
		v->next = cemark_add64(now, p->pst_interval);
		return 1;
	}
	if (now <= v->next)
		return 0;
	v->count = cemark_add32(v->count, 1);
	cemark_ecn_sharp_reschedule(p, v, now);
	return 1;
}

CEMARK_FN u32 cemark_ecn_sharp_dequeue(const struct cemark_ecn_sharp_params *p,
				       struct cemark_ecn_sharp_vars *v, const struct cemark_at *at)
{
	u32 wait = cemark_to32(at->sojourn);
	bool persistent;

	if (p->variant.active)
		return cemark_ecn_sharp_variant_judge(p, v, at);
	/* Evaluated for every packet, so that its state advances when both conditions hold. */
	persistent = cemark_ecn_sharp_persistent(p, v, wait, at->now);
	if (wait > p->ins_target)
		return CEMARK_MARK(CEMARK_INSTANT);
	return persistent ? CEMARK_MARK(CEMARK_PERSISTENT) : CEMARK_PASS;
}

/* Call it when the queue becomes empty. */
CEMARK_FN void cemark_ecn_sharp_emptied(const struct cemark_ecn_sharp_params *p,
					struct cemark_ecn_sharp_vars *v, u64 now)
{
	(void)now;
	if (p->reset_on_empty) {
		v->above = 0;
		v->marking = 0;
	}
}

#include "ecn_sharp_variants_impl.h"

#endif
