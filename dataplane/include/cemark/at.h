/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a marker may look at and what it may answer: the C form of crates/marking/src/at.rs, field by field and byte by byte
 * (crates/conformance/tests/layout.rs compares them).
 *
 * Time, luck and lengths are arguments. A marker never reads a clock and has no random numbers of its own.
 */
#ifndef CEMARK_AT_H
#define CEMARK_AT_H

#include "types.h"

/* The ECN field, as in the IP header. */
enum cemark_ecn {
	CEMARK_NOT_ECT = 0,
	CEMARK_ECT1 = 1,
	CEMARK_ECT0 = 2,
	CEMARK_CE = 3,
};

/* The reason of a mark or drop. */
enum cemark_why {
	CEMARK_INSTANT = 0,    /* instantaneous condition: length or wait over its threshold */
	CEMARK_PERSISTENT = 1, /* persistent queueing: ECN#'s second condition, CoDel's control law */
	CEMARK_RANDOM = 2,     /* a draw: RED's ramp, PIE */
	CEMARK_AVERAGE = 3,    /* smoothed length over its upper threshold */
	CEMARK_TENTATIVE = 4,  /* a rising queue between two thresholds, unless it has turned by the departure: CEDM */
	CEMARK_NO_INTENT = 5,  /* in cemark_at.intent only: the enqueue hook wanted nothing */
};

/* A verdict: what to do, and above it the reason. */
#define CEMARK_PASS 0u
#define CEMARK_MARK(why) (1u | (u32)(why) << 8)
#define CEMARK_DROP(why) (2u | (u32)(why) << 8)

/* The judged packet and its queue. Counts never include the packet itself, at either hook. */
struct cemark_at {
	u64 now;         /* time of the decision, ns */
	u64 sojourn;     /* how long the packet has waited here, ns; 0 at enqueue */
	u64 round;       /* the port's smoothed round time, ns; 0 where no scheduler of rounds runs */
	u64 salt;        /* the packet's luck: the only source of randomness */
	u32 pkt_bytes;   /* its bytes on the wire */
	u16 segs;        /* wire packets in it */
	u8 ecn;          /* enum cemark_ecn, as it arrived */
	u8 intent;       /* enum cemark_why: the marker's own intent of the enqueue hook */
	u32 queue_bytes; /* in this queue */
	u32 queue_pkts;
	u32 port_bytes;  /* in all queues of the port */
	u32 pool_bytes;  /* in the service pool of the queue */
	u32 limit_bytes; /* the queue's limit now */
};

/* What a marker is told of its queue when it is built and when that changes. */
struct cemark_queue_spec {
	u64 rate;       /* of the link, bit/s; never 0 */
	u32 quantum;    /* bytes */
	u32 weight;
	u32 weight_sum; /* of all queues of the port */
	u8 strict;      /* served with strict priority */
	u32 mtu;
	u32 limit_bytes;
};

/* Where a marker judges, and what else it needs: what cemark_<stem>_traits() answers. */
#define CEMARK_AT_ENQUEUE 0x1u
#define CEMARK_AT_DEQUEUE 0x2u
#define CEMARK_READS_LENGTH 0x4u  /* dequeue looks at lengths: call it at the departure itself */
#define CEMARK_WATCHES_EMPTY 0x8u /* wants emptied() */
#define CEMARK_DRAWS 0x10u        /* reads cemark_at.salt */
#define CEMARK_CLOCK 0x20u        /* may want wake(): ask next_wake() after every call */

/* What stands of the intent of the enqueue hook if the dequeue hook does not change it. */
CEMARK_FN u32 cemark_keep(const struct cemark_at *at)
{
	return at->intent == CEMARK_NO_INTENT ? CEMARK_PASS : CEMARK_MARK(at->intent);
}

/* What a marker does not have, for CEMARK_MARKER() of marker.h: a scheme writes the functions
 * that it has and one of these for each that it has not. */

/* Nothing to remember. */
#define CEMARK_NO_STATE(stem)                                                                                                  \
	struct cemark_##stem##_vars {                                                                                          \
	};                                                                                                                     \
	CEMARK_FN void cemark_##stem##_init(const struct cemark_##stem##_params *p, struct cemark_##stem##_vars *v)            \
	{                                                                                                                      \
		(void)p;                                                                                                       \
		(void)v;                                                                                                       \
	}                                                                                                                      \
	CEMARK_NO_RETUNED(stem)

/* New parameters leave what it knows as it is. */
#define CEMARK_NO_RETUNED(stem)                                                                                                \
	CEMARK_FN void cemark_##stem##_retuned(const struct cemark_##stem##_params *p, struct cemark_##stem##_vars *v)         \
	{                                                                                                                      \
		(void)p;                                                                                                       \
		(void)v;                                                                                                       \
	}

/* It judges packets only as they leave. */
#define CEMARK_NO_ENQUEUE(stem)                                                                                                \
	CEMARK_FN u32 cemark_##stem##_enqueue(const struct cemark_##stem##_params *p, struct cemark_##stem##_vars *v,          \
					      const struct cemark_at *at)                                                      \
	{                                                                                                                      \
		(void)p;                                                                                                       \
		(void)v;                                                                                                       \
		(void)at;                                                                                                      \
		return CEMARK_PASS;                                                                                            \
	}

/* It judges packets only as they join: its intent stands. */
#define CEMARK_NO_DEQUEUE(stem)                                                                                                \
	CEMARK_FN u32 cemark_##stem##_dequeue(const struct cemark_##stem##_params *p, struct cemark_##stem##_vars *v,          \
					      const struct cemark_at *at)                                                      \
	{                                                                                                                      \
		(void)p;                                                                                                       \
		(void)v;                                                                                                       \
		return cemark_keep(at);                                                                                        \
	}

/* An empty queue tells it nothing. */
#define CEMARK_NO_EMPTIED(stem)                                                                                                \
	CEMARK_FN void cemark_##stem##_emptied(const struct cemark_##stem##_params *p, struct cemark_##stem##_vars *v,         \
					       u64 now)                                                                        \
	{                                                                                                                      \
		(void)p;                                                                                                       \
		(void)v;                                                                                                       \
		(void)now;                                                                                                     \
	}

/* It needs no clock. */
#define CEMARK_NO_CLOCK(stem)                                                                                                  \
	CEMARK_FN void cemark_##stem##_wake(const struct cemark_##stem##_params *p, struct cemark_##stem##_vars *v,            \
					    const struct cemark_at *at)                                                        \
	{                                                                                                                      \
		(void)p;                                                                                                       \
		(void)v;                                                                                                       \
		(void)at;                                                                                                      \
	}                                                                                                                      \
	CEMARK_FN bool cemark_##stem##_next_wake(const struct cemark_##stem##_params *p,                                       \
						 const struct cemark_##stem##_vars *v, u64 *when)                              \
	{                                                                                                                      \
		(void)p;                                                                                                       \
		(void)v;                                                                                                       \
		(void)when;                                                                                                    \
		return 0;                                                                                                      \
	}

#endif
