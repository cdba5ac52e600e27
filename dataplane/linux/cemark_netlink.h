/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * The attributes and statistics that sch_cemark and tc exchange. Multi-byte values are in host
 * order, times nanoseconds, lengths bytes, fractions parts of 2^16 (65536 is one).
 */
#ifndef CEMARK_NETLINK_H
#define CEMARK_NETLINK_H

#include <linux/types.h>

#define CEMARK_MAX_QUEUES 32
#define CEMARK_NAME_MAX 31
#define CEMARK_MAP_VALUES 64

/*
 * Inside TCA_OPTIONS. An attribute that is left out keeps its value, or has its default. A scheme,
 * a quantum and a rule for packets that are not ECN-capable are those of all queues, and replace
 * what queues have of their own; TCA_CEMARK_BY_QUEUE of the same message comes after them.
 */
enum {
	TCA_CEMARK_UNSPEC,
	TCA_CEMARK_PAD,
	TCA_CEMARK_SCHEME,    /* string: the stem, such as "ecn_sharp"; "none" never marks */
	TCA_CEMARK_PARAMS,    /* nest of TCA_CEMARK_PARAM */
	TCA_CEMARK_SCHEDULER, /* u32: enum cemark_scheduler */
	TCA_CEMARK_QUEUES,    /* u32: 1 to CEMARK_MAX_QUEUES */
	TCA_CEMARK_STRICT,    /* u32: the number of queues, from the first, that come first */
	TCA_CEMARK_QUANTUM,   /* u32: bytes, of every queue */
	TCA_CEMARK_QUANTA,    /* nest of TCA_CEMARK_QUANTUM, from the first queue on */
	TCA_CEMARK_CLASSES,   /* u32: enum cemark_classes */
	TCA_CEMARK_MAP,       /* pairs of bytes: value, queue; values not named are their own queue */
	TCA_CEMARK_LIMIT,     /* u32: bytes that all queues may hold together */
	TCA_CEMARK_RATE,      /* u64: bit/s of the link; 0: ask the device */
	TCA_CEMARK_SHAPE,     /* u32: millionths of the rate at which packets leave; 0: not shaped */
	TCA_CEMARK_BURST,     /* u32: bytes that may leave at once when shaped; 0: by the rate */
	TCA_CEMARK_NON_ECT,   /* u32: enum cemark_non_ect */
	TCA_CEMARK_GSO,       /* u32: enum cemark_gso */
	TCA_CEMARK_BETA,      /* u32: fraction: weight of the old round time */
	TCA_CEMARK_IDLE,      /* u64: ns: an idle port loses a factor beta; CEMARK_IDLE_MTU, 0: never */
	TCA_CEMARK_MEMORY,    /* u32: bytes of kernel memory that waiting packets may take together */
	TCA_CEMARK_BY_QUEUE,  /* nest of TCA_CEMARK_OWN: what queues have of their own */
	__TCA_CEMARK_MAX
};

#define TCA_CEMARK_MAX (__TCA_CEMARK_MAX - 1)

/* Inside TCA_CEMARK_PARAMS. */
enum {
	TCA_CEMARK_PARAM_UNSPEC,
	TCA_CEMARK_PARAM, /* nest of the following */
	__TCA_CEMARK_PARAMS_MAX
};

#define TCA_CEMARK_PARAMS_MAX (__TCA_CEMARK_PARAMS_MAX - 1)

enum {
	TCA_CEMARK_PARAM_PAD = 1,
	TCA_CEMARK_PARAM_NAME,  /* string: "pst_target" */
	TCA_CEMARK_PARAM_VALUE, /* u64, in the unit in which the catalogue stores it */
	__TCA_CEMARK_PARAM_MAX
};

#define TCA_CEMARK_PARAM_MAX (__TCA_CEMARK_PARAM_MAX - 1)

/* Inside TCA_CEMARK_BY_QUEUE. */
enum {
	TCA_CEMARK_OWN_UNSPEC,
	TCA_CEMARK_OWN, /* nest of the following */
	__TCA_CEMARK_BY_QUEUE_MAX
};

#define TCA_CEMARK_BY_QUEUE_MAX (__TCA_CEMARK_BY_QUEUE_MAX - 1)

/*
 * Inside TCA_CEMARK_OWN. A scheme that differs from the one that the queue has of its own begins
 * with the scheme's defaults. Parameters without a scheme change the queue's own, or a copy of the
 * port's. The kernel sends the parameters that differ from the scheme's defaults, and the quanta of
 * all queues in TCA_CEMARK_QUANTA.
 */
enum {
	TCA_CEMARK_OWN_PAD = 1,
	TCA_CEMARK_OWN_QUEUES,  /* u32: bit i: of queue i */
	TCA_CEMARK_OWN_SCHEME,  /* string: as TCA_CEMARK_SCHEME; CEMARK_OF_PORT: the port's */
	TCA_CEMARK_OWN_PARAMS,  /* nest of TCA_CEMARK_PARAM */
	TCA_CEMARK_OWN_QUANTUM, /* u32: bytes */
	TCA_CEMARK_OWN_NON_ECT, /* u32: enum cemark_non_ect */
	__TCA_CEMARK_OWN_MAX
};

#define TCA_CEMARK_OWN_MAX (__TCA_CEMARK_OWN_MAX - 1)

/* The scheme that never marks, and the word for the scheme of the port. */
#define CEMARK_NONE "none"
#define CEMARK_OF_PORT "default"

/* The time of one MTU on the link, for TCA_CEMARK_IDLE. */
#define CEMARK_IDLE_MTU 0xffffffffffffffffULL

enum cemark_scheduler {
	CEMARK_FIFO_QUEUE, /* one queue */
	CEMARK_DWRR,       /* rounds; credit that is left over is kept */
	CEMARK_WRR,        /* rounds; credit that is left over is lost */
	CEMARK_SP,         /* the first queue that holds packets */
};

/* What chooses the queue where no filter does. */
enum cemark_classes {
	CEMARK_BY_DSCP,
	CEMARK_BY_PRIORITY, /* skb->priority */
};

/* A packet that is to be marked and is not ECN-capable. */
enum cemark_non_ect {
	CEMARK_NON_ECT_FORWARD,
	CEMARK_NON_ECT_DROP,
	CEMARK_NON_ECT_OF_PORT, /* only of a queue */
};

enum cemark_gso {
	CEMARK_GSO_SPLIT,
	CEMARK_GSO_KEEP,
};

/* Places for reasons: those of later versions are 0 today. */
#define CEMARK_PLACES 8

/* Why packets were marked, by place: enum cemark_why of cemark/at.h. */
#define CEMARK_WHYS 5

/* Why packets were dropped, by place. */
enum cemark_gone {
	CEMARK_GONE_LIMIT,   /* the buffer was full */
	CEMARK_GONE_MARKER,  /* the scheme drops */
	CEMARK_GONE_NON_ECT, /* to be marked, and not ECN-capable */
	CEMARK_GONE_MEMORY,  /* the memory of waiting packets was used up */
	CEMARK_GONE_SPLIT,   /* too long for the wire, and impossible to split */
	CEMARK_GONE_FILTER,  /* a filter dropped it; only in the sum */
	CEMARK_GONES
};

/*
 * The statistics of a queue since it exists, with those of queues whose packets it has taken. A
 * packet that stays whole (`gso keep`) counts as the packets of the wire that it becomes.
 */
struct tc_cemark_queue {
	__u64 packets;   /* that left, without those dropped */
	__u64 bytes;
	__u64 waited;    /* ns: sum of their sojourn times */
	__u64 longest;   /* ns: largest sojourn time */
	__u64 marks[CEMARK_PLACES];
	__u64 drops[CEMARK_PLACES];
	__u64 spared;    /* not ECN-capable: sent unmarked although they were to be marked */
	__u64 unwritten; /* ECN-capable and sent unmarked: there was no memory for a copy */
	/*
	 * What the scheme's threshold is now: the greatest length (in bytes) or wait (in ns) of which
	 * the queue's marker would mark no packet, while all else stays as it is. All ones: none, as
	 * where the scheme draws lots or judges the other quantity. Of sums: of the only queue.
	 */
	__u64 threshold_wait;
	__u32 threshold_bytes;
	__u32 backlog;   /* bytes, now */
	__u32 qlen;      /* packets, now */
	__u32 recent;    /* ns: sojourn time, smoothed over about 64 packets */
	__u32 quantum;   /* bytes */
	__u32 reserved;  /* 0 */
};

/*
 * TCA_STATS_APP begins with this, `size` bytes long. Behind it is a struct tc_cemark_queue of
 * `queue_size` bytes: of a class its queue, of a qdisc the sums. Of a qdisc, there is one more for
 * each of the first queues (the length of the attribute says how many), because older versions of
 * tc show no JSON of classes. Both structures grow at their ends, so a reader takes the two sizes
 * from here, and counts what is missing as 0.
 */
#define CEMARK_SHOWN_QUEUES 8
#define CEMARK_STATS_VERSION 2

struct tc_cemark_xstats {
	__u32 version;    /* CEMARK_STATS_VERSION; another one if these rules change */
	__u32 size;
	__u32 queue_size;
	__u32 queues;     /* of the port */
	__u64 round;      /* ns: smoothed round time of the port; 0: not measured */
	__u64 rate;       /* bit/s: what the queues leave with, as the schemes see it */
	__u64 memory;     /* bytes of kernel memory of the packets that wait, now */
};

#endif
