/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A virtual queue: the FIFO in front of a link of rate C that a packet would wait in, if all
 * packets of the device went through it. A tc program sees packets before they are queued, so it
 * cannot know how long they will wait. But the wait in a FIFO follows from what came before: the
 * link is busy until all of it is sent.
 *
 * For each packet the queue knows, as it arrives, when its transmission would start. A scheme that
 * judges departures is called with that time and that wait, in the order of the packets, so it
 * decides as it would in a port with this rate. What follows a packet is not known: a scheme that
 * reads lengths gets the bytes that the packet finds.
 */
#ifndef CEMARK_TC_VIRTUAL_QUEUE_H
#define CEMARK_TC_VIRTUAL_QUEUE_H

#include "cemark/marker.h"

/*
 * What the user has set. User space writes it, and then the next generation; the first packet after
 * that puts it into effect, so that no packet is judged by half of a change.
 */
struct cemark_tc_config {
	u64 values[CEMARK_MAX_PARAMS];  /* of the scheme, in the catalogue's order */
	struct cemark_queue_spec queue; /* its rate is C */
	u64 limit;                      /* ns: behind a longer wait a packet does not join */
	u64 seed;                       /* of the packets' random bits */
	u64 generation;                 /* from 1 */
	u32 not_ect_drop;               /* 1: a packet that cannot be marked is dropped instead */
	u32 own_clsact;                 /* 1: `attach` has made the qdisc; only user space reads it */
	u8 scheme[32];                  /* its name; only user space reads it */
};

/* Sums since the program was attached. */
struct cemark_tc_counts {
	u64 packets;
	u64 bytes;
	u64 marks[6]; /* written, by enum cemark_why */
	u64 spared;   /* to be marked, and not ECN-capable */
	u64 dropped;  /* the same under not_ect_drop, and what the scheme drops */
	u64 full;     /* did not join: the virtual queue was at its limit */
	u64 failed;   /* to be marked, and the kernel could not write to them */
	u64 waited;   /* ns */
	u64 longest;  /* ns */
};

/* One device. */
struct cemark_tc_queue {
	struct bpf_spin_lock lock; /* processors send at the same time, and share the link */
	u32 traits;
	u64 busy;   /* ns: when the virtual link has sent all that came */
	u64 part;   /* and this part of a nanosecond, in bits / C */
	u64 left;   /* ns: when the last packet leaves the queue, and starts on the link */
	u64 seen;   /* ns: the last arrival */
	u64 number; /* of the next packet */
	u64 generation; /* of the configuration in effect; 0: the marker is not built yet */
	u64 limit;
	u64 seed;
	u32 not_ect_drop;
	u32 waiting; /* the queue was not seen empty since the last packet */
	struct cemark_tc_counts counts;
	struct cemark_call call; /* the marker */
};

/* User space (crates/tcbpf/src/layout.rs) reads and writes both by these places. */
_Static_assert(sizeof(struct cemark_tc_config) == 28 * 8, "layout");
_Static_assert(__builtin_offsetof(struct cemark_tc_config, limit) == 20 * 8, "layout");
_Static_assert(__builtin_offsetof(struct cemark_tc_config, scheme) == 24 * 8, "layout");
_Static_assert(sizeof(struct cemark_tc_queue) == 85 * 8, "layout");
_Static_assert(__builtin_offsetof(struct cemark_tc_queue, counts) == 10 * 8, "layout");
_Static_assert(sizeof(struct cemark_tc_counts) == 14 * 8, "layout");

/* Adds the time that a packet takes on the link, without an error that adds up. */
CEMARK_FN void cemark_tc_send(struct cemark_tc_queue *q, u64 start, u32 bytes)
{
	u64 rate = q->call.queue.rate, work = (u64)bytes * 8 * CEMARK_SEC;

	/* An idle link begins at `start` exactly. */
	if (q->busy == start)
		work += q->part;
	q->busy = start + work / rate;
	q->part = work % rate;
	q->left = start;
	q->waiting = 1;
}

/*
 * `cemark bpf` takes limits up to 10 s and rates from 1 Mb/s to 1 Tb/s. With them no product below
 * needs more than 63 bits.
 */

/* The bytes that the link sends in a time. */
CEMARK_FN u32 cemark_tc_bytes(const struct cemark_tc_queue *q, u64 nanos)
{
	return cemark_to32(nanos * (q->call.queue.rate / 8000) / 1000000);
}

#endif
