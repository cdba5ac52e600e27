/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the module share. */
#ifndef CEMARK_H
#define CEMARK_H

#include <linux/skbuff.h>
#include <net/gen_stats.h>
#include <net/pkt_cls.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "catalogue_types.h"
#include "cemark_netlink.h"
#include "cemark/round.h"
#include "compat.h"
#include "markers.h"
#include "visits.h"

/* A scheme and its parameters. */
struct cemark_choice {
	const struct cemark_ops *ops;
	u64 values[CEMARK_PARAMS]; /* in the order of the scheme's parameters */
};

/* What a queue has of its own. */
struct cemark_own {
	struct cemark_choice choice; /* ops is NULL: that of the port */
	u8 non_ect;
};

/* What the user has set, checked. Zero: a default, which cemark_derive() fills in. */
struct cemark_settings {
	struct cemark_choice choice;
	u64 rate;                  /* bit/s; 0: ask the device */
	u64 idle;                  /* ns, or CEMARK_IDLE_MTU */
	u32 quantum[CEMARK_MAX_QUEUES];
	u32 queues, strict, limit, burst, memory;
	u32 shape;                 /* millionths; 0: not shaped */
	u32 beta;                  /* parts of 2^16 */
	u8 scheduler, classes, non_ect, gso;
	u8 map[CEMARK_MAP_VALUES];
	struct cemark_own own[CEMARK_MAX_QUEUES];
};

/* The values in force on this device. None is zero but `slack` and `idle`. */
struct cemark_port {
	u64 bits;  /* bit/s: what packets leave with */
	u64 slack; /* ns: how far ahead of the clock packets may leave */
	u64 idle;  /* ns: an idle port loses a factor beta in each; 0: never */
	u32 frame; /* bytes of the largest packet on the wire */
	u32 limit; /* bytes that all queues may hold */
	u32 memory; /* bytes of kernel memory that their packets may take */
	u32 quantum[CEMARK_MAX_QUEUES];
};

/* The weight of a packet in the smoothed waiting time is 1 / 2^this. */
#define CEMARK_RECENT 6

struct cemark_queue {
	struct sk_buff *head, *tail;
	u32 bytes, packets;
	const struct cemark_ops *ops;
	u32 traits;  /* of the marker */
	u8 non_ect;  /* of packets that are to be marked and are not ECN-capable */
	bool watches_empty;
	bool clock_set;
	u64 wake; /* ns, valid while clock_set: when the marker wants to be woken */
	u64 recent; /* 2^CEMARK_RECENT times the waiting time in ns, smoothed */
	struct cemark_round_queue round;
	union cemark_marker marker;
	struct tc_cemark_queue stats;
};

struct cemark_sched {
	/* Read for every packet. */
	struct cemark_queue *queues;
	u32 n;
	u32 direct;     /* bit i: queue i is served before all others, without rounds */
	u32 backlogged; /* bit i: queue i holds packets */
	u32 limit;      /* bytes that all queues may hold */
	s64 room;       /* bytes that still may join; below 0 after a change to a lower limit */
	s64 spare;      /* bytes of memory that packets may still take; below 0 likewise */
	u32 traits;     /* of any of the markers */
	bool measured;  /* whether there is a round time */
	bool shaped;
	bool plain;     /* one queue, and a marker that judges nothing but waiting times */
	bool trains;    /* packets that wait may be more than one packet of the wire */
	u64 busy;       /* ns: when the last packet has left the link */
	u64 slack;      /* ns: of the port */
	u64 seed;       /* random; mixed with a packet's number */
	u32 number;
	struct psched_ratecfg rate;
	struct cemark_round round;
	struct cemark_visits visits;
	/* Dropped at departure, and not yet told to the parent. */
	u32 gone_packets, gone_bytes;
	u64 filtered; /* packets that a filter has dropped */

	struct cemark_settings set;
	struct cemark_port port;
	u64 device; /* bit/s: what the device has said of itself */
	struct list_head ports; /* in the list of apply.c */
	struct Qdisc *sch;
	struct qdisc_watchdog watchdog;
	struct tcf_proto __rcu *filter_list;
	struct tcf_block *block;
};

/* Bytes in all queues. */
static inline u32 cemark_port_bytes(const struct cemark_sched *q)
{
	return q->limit - q->room;
}

/* The queue and the port as a marker sees them, without a packet. */
static inline void cemark_look(const struct cemark_sched *q, const struct cemark_queue *queue,
			       struct cemark_at *at, u64 now)
{
	at->now = now;
	at->sojourn = 0;
	at->round = q->round.value;
	at->salt = 0;
	at->pkt_bytes = 0;
	at->segs = 1;
	at->ecn = CEMARK_ECT0;
	at->intent = CEMARK_NO_INTENT;
	at->queue_bytes = queue->bytes;
	at->queue_pkts = queue->packets;
	at->port_bytes = cemark_port_bytes(q);
	at->pool_bytes = at->port_bytes;
	at->limit_bytes = q->limit;
}

/* qdisc.c */
int cemark_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
struct sk_buff *cemark_dequeue(struct Qdisc *sch);
void cemark_reset(struct Qdisc *sch);

/* The scheme of queue i. */
static inline const struct cemark_choice *cemark_choice_of(const struct cemark_settings *set, u32 i)
{
	return set->own[i].choice.ops ? &set->own[i].choice : &set->choice;
}

static inline u8 cemark_non_ect_of(const struct cemark_settings *set, u32 i)
{
	u8 own = set->own[i].non_ect;

	return own == CEMARK_NON_ECT_OF_PORT ? set->non_ect : own;
}

/* choice.c; `whose` begins messages: "" or "queue 3: " */
int cemark_choice_scheme(struct cemark_choice *c, const struct nlattr *attr,
			 struct netlink_ext_ack *extack);
int cemark_choice_params(struct cemark_choice *c, const struct nlattr *attr, const char *whose,
			 struct netlink_ext_ack *extack);
int cemark_choice_check(const struct cemark_choice *c, const char *whose,
			struct netlink_ext_ack *extack);
int cemark_choice_dump(const struct cemark_choice *c, int attr, bool all, struct sk_buff *skb);

/* own.c */
void cemark_own_usual(struct cemark_settings *set, u32 from);
int cemark_own_parse(struct cemark_settings *set, const struct nlattr *attr,
		     struct netlink_ext_ack *extack);
int cemark_own_dump(const struct cemark_settings *set, struct sk_buff *skb);

/* settings.c */
int cemark_settings_parse(struct cemark_settings *set, const struct nlattr *opt,
			  struct netlink_ext_ack *extack);
void cemark_settings_usual(struct cemark_settings *set);
int cemark_settings_dump(const struct cemark_settings *set, const struct cemark_port *port,
			 struct sk_buff *skb);

/* derive.c */
int cemark_derive(const struct cemark_settings *set, u64 mtu, u64 device, struct cemark_port *port,
		  struct netlink_ext_ack *extack);

/* apply.c */
int cemark_apply(struct Qdisc *sch, const struct cemark_settings *set,
		 struct netlink_ext_ack *extack);
void cemark_set_marker(struct cemark_queue *queue, const struct cemark_choice *choice,
		       const struct cemark_queue_spec *spec, bool fresh);
void cemark_restart(struct Qdisc *sch);
void cemark_follow(struct Qdisc *sch);
void cemark_unfollow(struct Qdisc *sch);
extern struct notifier_block cemark_notifier;

/* ecn.c */
int cemark_dsfield(struct sk_buff *skb);
enum cemark_written {
	CEMARK_WRITTEN,     /* the packet has CE */
	CEMARK_NOT_CAPABLE, /* it is not ECN-capable, or no IP packet */
	CEMARK_NO_MEMORY,   /* its data are shared, and could not be copied */
};
enum cemark_written cemark_write_ce(struct sk_buff *skb);

/* threshold.c */
void cemark_find_threshold(const struct cemark_sched *q, const struct cemark_queue *queue, u64 now,
			   struct tc_cemark_queue *s);

/* classes.c */
void cemark_add_counts(struct tc_cemark_queue *sum, const struct tc_cemark_queue *s);
extern const struct Qdisc_class_ops cemark_class_ops;
int cemark_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

#endif
