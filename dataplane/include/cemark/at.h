/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The interface of a marker: what it sees of a packet and of its queue, and what it answers.
 *
 * Time, random bits and queue lengths are arguments. A marker reads no clock and has no random
 * number generator, so the same inputs give the same verdict in a kernel, in BPF and in the
 * simulator. The structs have the layout of At and QueueSpec in crates/marking/src/at.rs, byte for
 * byte (crates/foreign/tests/layout.rs compares them).
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
	CEMARK_INSTANT = 0,    /* instantaneous length or wait over its threshold */
	CEMARK_PERSISTENT = 1, /* persistent queue: ECN#'s second condition, CoDel's control law */
	CEMARK_RANDOM = 2,     /* a random draw: RED's ramp, PIE */
	CEMARK_AVERAGE = 3,    /* smoothed length over its upper threshold */
	CEMARK_TENTATIVE = 4,  /* CEDM: withdrawn if the queue shrinks before the packet leaves */
	CEMARK_NO_INTENT = 5,  /* only in cemark_at.intent: the enqueue hook did not mark */
};

/* A verdict: the action, and the reason in the bits above it. */
#define CEMARK_PASS 0u
#define CEMARK_MARK(why) (1u | (u32)(why) << 8)
#define CEMARK_DROP(why) (2u | (u32)(why) << 8)

/* The judged packet and its queue. Lengths never include the packet itself, at either hook. */
struct cemark_at {
	u64 now;         /* ns: when the packet is judged */
	u64 sojourn;     /* ns: how long it has waited in this queue; 0 at enqueue */
	u64 round;       /* ns: smoothed round time of the port (round.h); 0 without rounds */
	u64 salt;        /* 64 random bits of this packet, e.g. a hash of its headers */
	u32 pkt_bytes;   /* its bytes on the wire */
	u16 segs;        /* wire packets in it: 1 unless a GSO packet is kept whole */
	u8 ecn;          /* enum cemark_ecn, as it arrived */
	u8 intent;       /* enum cemark_why: this marker's own verdict at enqueue */
	u32 queue_bytes; /* in this queue */
	u32 queue_pkts;  /* in this queue */
	u32 port_bytes;  /* in all queues of the port */
	u32 pool_bytes;  /* in the service pool of the queue */
	u32 limit_bytes; /* the queue's limit at this moment */
};

/* The queue that a marker is configured for. Configure it again when any of this changes. */
struct cemark_queue_spec {
	u64 rate;        /* of the link, bit/s; never 0 */
	u32 quantum;     /* bytes a visit of the scheduler may send */
	u32 weight;      /* this queue's part of weight_sum while all queues are busy */
	u32 weight_sum;  /* of the port's queues that are not strict */
	u8 strict;       /* 1: served with strict priority */
	u32 mtu;         /* bytes of the largest packet on the wire */
	u32 limit_bytes; /* static limit of the queue */
};

/* Initialiser of a cemark_queue_spec: the only queue of a link, Ethernet MTU, no limit. */
#define CEMARK_FIFO(bits_per_second)                                                               \
	{                                                                                          \
		.rate = (bits_per_second), .quantum = 1500, .weight = 1, .weight_sum = 1,          \
		.strict = 0, .mtu = 1500, .limit_bytes = CEMARK_U32_MAX,                           \
	}

/*
 * A packet that joins a FIFO with queue_bytes in it. Set salt as well if the scheme's traits have
 * CEMARK_DRAWS.
 */
CEMARK_FN struct cemark_at cemark_at_arrival(u64 now, u32 queue_bytes, u32 pkt_bytes)
{
	struct cemark_at at = {
		.now = now,
		.pkt_bytes = pkt_bytes,
		.segs = 1,
		.ecn = CEMARK_ECT0,
		.intent = CEMARK_NO_INTENT,
		.queue_bytes = queue_bytes,
		.port_bytes = queue_bytes,
		.pool_bytes = queue_bytes,
		.limit_bytes = CEMARK_U32_MAX,
	};

	return at;
}

/*
 * A packet that leaves a FIFO after it waited sojourn ns, with queue_bytes behind it. Set intent
 * as well if the scheme judges at both hooks.
 */
CEMARK_FN struct cemark_at cemark_at_departure(u64 now, u64 sojourn, u32 queue_bytes,
					       u32 pkt_bytes)
{
	struct cemark_at at = cemark_at_arrival(now, queue_bytes, pkt_bytes);

	at.sojourn = sojourn;
	return at;
}

/* Answers of cemark_<scheme>_traits(): which hooks to call, and what they depend on. */
#define CEMARK_AT_ENQUEUE 0x1u
#define CEMARK_AT_DEQUEUE 0x2u
#define CEMARK_READS_LENGTH 0x4u  /* dequeue reads lengths: call it when the packet leaves */
#define CEMARK_WATCHES_EMPTY 0x8u /* call emptied() when the queue becomes empty */
#define CEMARK_DRAWS 0x10u        /* reads cemark_at.salt */
#define CEMARK_CLOCK 0x20u        /* ask next_wake() after every call, and call wake() then */

/* Choices that several schemes share. */
enum cemark_cmp {
	CEMARK_CMP_STRICT = 0,   /* above the threshold */
	CEMARK_CMP_AT_LEAST = 1, /* at the threshold or above */
};

enum cemark_hook {
	CEMARK_HOOK_ENQUEUE = 0, /* packets are judged as they join the queue */
	CEMARK_HOOK_DEQUEUE = 1, /* packets are judged as they leave it */
};

/* The verdict at dequeue that leaves the verdict of the enqueue hook unchanged. */
CEMARK_FN u32 cemark_keep(const struct cemark_at *at)
{
	return at->intent == CEMARK_NO_INTENT ? CEMARK_PASS : CEMARK_MARK(at->intent);
}

/*
 * CEMARK_MARKER() of marker.h expects the same ten functions of every scheme. A scheme writes those
 * that it needs, and one of the following macros in place of each that it does not need.
 */

/* The scheme has no state. */
#define CEMARK_NO_STATE(stem)                                                                      \
	struct cemark_##stem##_vars {                                                              \
	};                                                                                         \
	CEMARK_FN void cemark_##stem##_init(const struct cemark_##stem##_params *p,                \
					    struct cemark_##stem##_vars *v)                        \
	{                                                                                          \
		(void)p;                                                                           \
		(void)v;                                                                           \
	}                                                                                          \
	CEMARK_NO_RETUNED(stem)

/* New parameters leave the state as it is. */
#define CEMARK_NO_RETUNED(stem)                                                                    \
	CEMARK_FN void cemark_##stem##_retuned(const struct cemark_##stem##_params *p,             \
					       struct cemark_##stem##_vars *v)                     \
	{                                                                                          \
		(void)p;                                                                           \
		(void)v;                                                                           \
	}

/* The scheme judges only departures. */
#define CEMARK_NO_ENQUEUE(stem)                                                                    \
	CEMARK_FN u32 cemark_##stem##_enqueue(const struct cemark_##stem##_params *p,              \
					      struct cemark_##stem##_vars *v,                      \
					      const struct cemark_at *at)                          \
	{                                                                                          \
		(void)p;                                                                           \
		(void)v;                                                                           \
		(void)at;                                                                          \
		return CEMARK_PASS;                                                                \
	}

/* The scheme judges only arrivals, and the verdict is final. */
#define CEMARK_NO_DEQUEUE(stem)                                                                    \
	CEMARK_FN u32 cemark_##stem##_dequeue(const struct cemark_##stem##_params *p,              \
					      struct cemark_##stem##_vars *v,                      \
					      const struct cemark_at *at)                          \
	{                                                                                          \
		(void)p;                                                                           \
		(void)v;                                                                           \
		return cemark_keep(at);                                                            \
	}

/* The scheme does not depend on when the queue becomes empty. */
#define CEMARK_NO_EMPTIED(stem)                                                                    \
	CEMARK_FN void cemark_##stem##_emptied(const struct cemark_##stem##_params *p,             \
					       struct cemark_##stem##_vars *v, u64 now)            \
	{                                                                                          \
		(void)p;                                                                           \
		(void)v;                                                                           \
		(void)now;                                                                         \
	}

/* The scheme has no timer. */
#define CEMARK_NO_CLOCK(stem)                                                                      \
	CEMARK_FN void cemark_##stem##_wake(const struct cemark_##stem##_params *p,                \
					    struct cemark_##stem##_vars *v,                        \
					    const struct cemark_at *at)                            \
	{                                                                                          \
		(void)p;                                                                           \
		(void)v;                                                                           \
		(void)at;                                                                          \
	}                                                                                          \
	CEMARK_FN bool cemark_##stem##_next_wake(const struct cemark_##stem##_params *p,           \
						 const struct cemark_##stem##_vars *v, u64 *when)  \
	{                                                                                          \
		(void)p;                                                                           \
		(void)v;                                                                           \
		(void)when;                                                                        \
		return 0;                                                                          \
	}

#endif
