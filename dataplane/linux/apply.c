// SPDX-License-Identifier: GPL-2.0
/* Puts checked settings into effect, at first and at run time, without losing a packet. */
#include <linux/bitops.h>
#include <linux/ethtool.h>
#include <linux/export.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/slab.h>

#include "cemark.h"

#ifdef CEMARK_DEVICE_IS_LOCKED
#define cemark_link_settings netif_get_link_ksettings
#else
#define cemark_link_settings __ethtool_get_link_ksettings
#endif

/*
 * The device's rate in bit/s. A link that is down does not say, and keeps the one that it had; 10
 * Gb/s if it has never said. Needs the RTNL lock.
 */
static u64 cemark_device_rate(struct net_device *dev, u64 last)
{
	struct ethtool_link_ksettings link;

	if (!cemark_link_settings(dev, &link) && link.base.speed &&
	    link.base.speed != SPEED_UNKNOWN)
		return link.base.speed * 1000000ULL;
	return last ?: 10000000000ULL;
}

static void cemark_set_rate(struct cemark_sched *q, const struct cemark_settings *set)
{
	struct tc_ratespec conf = { .linklayer = TC_LINKLAYER_ETHERNET };

	q->shaped = set->shape != 0;
	q->slack = q->port.slack;
	psched_ratecfg_precompute(&q->rate, &conf, q->port.bits >> 3);
}

static void cemark_queue_spec(const struct cemark_sched *q, const struct cemark_settings *set,
			      u32 i, struct cemark_queue_spec *spec)
{
	const u32 *quantum = q->port.quantum;
	bool rounds = set->scheduler == CEMARK_DWRR || set->scheduler == CEMARK_WRR;
	bool strict = set->scheduler == CEMARK_SP || (rounds && i < set->strict);
	u64 sum = 0;
	u32 k;

	for (k = rounds ? set->strict : set->queues; k < set->queues; k++)
		sum += quantum[k];
	if (!rounds)
		sum = 1;
	sum = clamp_t(u64, sum, 1, U32_MAX);
	*spec = (struct cemark_queue_spec){
		.rate = q->port.bits,
		.quantum = quantum[i],
		.weight = strict ? sum : rounds ? quantum[i] : 1,
		.weight_sum = sum,
		.strict = strict,
		.mtu = q->port.frame,
		.limit_bytes = q->port.limit,
	};
}

/* Which queues are served directly, and which in rounds. */
static void cemark_set_scheduler(struct cemark_sched *q, const struct cemark_settings *set)
{
	u32 all = GENMASK(set->queues - 1, 0), i;
	bool rounds = set->scheduler == CEMARK_DWRR || set->scheduler == CEMARK_WRR;
	u32 direct = all;

	if (rounds)
		direct = set->strict ? GENMASK(set->strict - 1, 0) : 0;
	if (q->n == set->queues && q->direct == direct &&
	    q->visits.carry == (set->scheduler == CEMARK_DWRR))
		return;
	q->direct = direct;
	cemark_visits_init(&q->visits, set->scheduler == CEMARK_DWRR);
	for (i = 0; i < set->queues; i++)
		if (q->queues[i].packets && !(direct & BIT(i)))
			cemark_visits_arrived(&q->visits, i);
}

/* Puts a scheme into effect at a queue. The marker keeps its state if its scheme stays. */
void cemark_set_marker(struct cemark_queue *queue, const struct cemark_choice *choice,
		       const struct cemark_queue_spec *spec, bool fresh)
{
	const struct cemark_ops *ops = choice->ops;

	if (!fresh && queue->ops == ops)
		ops->retune(&queue->marker, choice->values, spec);
	else
		ops->build(&queue->marker, choice->values, spec);
	queue->ops = ops;
	queue->traits = ops->traits(&queue->marker);
	queue->watches_empty = queue->traits & CEMARK_WATCHES_EMPTY;
	queue->clock_set = ops->next_wake(&queue->marker, &queue->wake);
}
#ifdef CEMARK_TEST
EXPORT_SYMBOL_GPL(cemark_set_marker);
#endif

static void cemark_set_markers(struct cemark_sched *q, const struct cemark_settings *set, u32 old)
{
	u32 i;

	q->traits = 0;
	for (i = 0; i < set->queues; i++) {
		struct cemark_queue *queue = &q->queues[i];
		struct cemark_queue_spec spec;

		cemark_queue_spec(q, set, i, &spec);
		cemark_set_marker(queue, cemark_choice_of(set, i), &spec, i >= old);
		queue->non_ect = cemark_non_ect_of(set, i);
		queue->stats.quantum = spec.quantum;
		q->traits |= queue->traits;
	}
}

static void cemark_set_round(struct cemark_sched *q, const struct cemark_settings *set, u32 old,
			     bool fresh)
{
	bool rounds = q->direct != (u32)GENMASK(set->queues - 1, 0);
	struct cemark_round was = q->round;
	u32 i;

	cemark_round_init(&q->round, q->port.bits, set->beta, q->port.idle,
			  rounds ? CEMARK_ROUND_TURNS : CEMARK_ROUND_NONE);
	if (!fresh && rounds && q->measured) {
		q->round.value = was.value;
		q->round.average = was.average;
		q->round.looked = was.looked;
	}
	q->measured = rounds;
	for (i = 0; i < set->queues; i++) {
		struct cemark_round_queue *r = &q->queues[i].round;
		u64 start = i < old ? r->start : 0;

		cemark_round_queue_init(r, q->port.quantum[i],
					q->direct & BIT(i) ? CEMARK_ROUND_NONE :
							     CEMARK_ROUND_TURNS);
		r->start = start;
	}
}

/* Packets and counters of queues that are to go join those of the last one that stays. */
static void cemark_move(struct cemark_sched *q, struct cemark_queue *to, u32 from)
{
	u32 i;

	for (i = from; i < q->n; i++) {
		struct cemark_queue *queue = &q->queues[i];

		cemark_add_counts(&to->stats, &queue->stats);
		if (!queue->packets)
			continue;
		if (to->packets)
			to->tail->next = queue->head;
		else
			to->head = queue->head;
		to->tail = queue->tail;
		to->bytes += queue->bytes;
		to->packets += queue->packets;
	}
}

/* Puts settings and what they come to into effect, for as many queues as there are; locked. */
static void cemark_put(struct Qdisc *sch, const struct cemark_settings *set,
		       const struct cemark_port *port)
{
	struct cemark_sched *q = qdisc_priv(sch);
	u32 old = q->n, i;
	u64 now = ktime_get_ns();

	q->room += (s64)port->limit - q->port.limit;
	q->spare += (s64)port->memory - q->port.memory;
	q->port = *port;
	q->limit = port->limit;
	sch->limit = port->limit;
	cemark_set_rate(q, set);
	cemark_set_scheduler(q, set);
	q->n = set->queues;
	q->backlogged = 0;
	for (i = 0; i < q->n; i++)
		if (q->queues[i].packets)
			q->backlogged |= BIT(i);
	cemark_set_markers(q, set, old);
	cemark_set_round(q, set, old, !old);
	q->trains = set->gso == CEMARK_GSO_KEEP || (q->trains && sch->q.qlen);
	q->plain = q->n == 1 && !q->measured && !q->shaped && !q->trains &&
		   (q->traits & ~CEMARK_WATCHES_EMPTY) == CEMARK_AT_DEQUEUE;
	/* The port's debt and the time of its watchdog were found with the old rate. */
	q->busy = min(q->busy, now + q->slack);
	if (sch->q.qlen)
		qdisc_watchdog_schedule_ns(&q->watchdog, now);
}

/*
 * Puts checked settings into effect. Packets stay: those of queues that no longer exist join the
 * last queue, and a lower limit refuses only packets that come later. A queue's marker keeps its
 * state unless the queue's scheme is another one. Counters never become less.
 */
int cemark_apply(struct Qdisc *sch, const struct cemark_settings *set,
		 struct netlink_ext_ack *extack)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	struct cemark_queue *queues = NULL, *gone = NULL;
	u64 device = cemark_device_rate(dev, q->device);
	struct cemark_port port;
	u32 old = q->n;
	int err;

	err = cemark_derive(set, psched_mtu(dev), device, &port, extack);
	if (err < 0)
		return err;
	if (set->queues != old) {
		queues = kvcalloc(set->queues, sizeof(*queues), GFP_KERNEL);
		if (!queues)
			return -ENOMEM;
	}

	sch_tree_lock(sch);
	if (queues) {
		u32 kept = min(old, set->queues);

		if (kept) {
			memcpy(queues, q->queues, kept * sizeof(*queues));
			cemark_move(q, &queues[kept - 1], kept);
		}
		gone = q->queues;
		q->queues = queues;
	}
	cemark_put(sch, set, &port);
	q->set = *set;
	q->device = device;
	sch_tree_unlock(sch);
	kvfree(gone);
	return 0;
}

/* Markers, scheduler and round time as they were at first; the queues are empty. */
void cemark_restart(struct Qdisc *sch)
{
	struct cemark_sched *q = qdisc_priv(sch);

	if (!q->n)
		return;
	cemark_visits_init(&q->visits, q->visits.carry);
	cemark_set_markers(q, &q->set, 0);
	cemark_set_round(q, &q->set, 0, true);
	q->busy = 0;
}

/* The qdiscs that follow their devices. Packets never take this lock. */
static LIST_HEAD(cemark_ports);
static DEFINE_MUTEX(cemark_ports_lock);

void cemark_follow(struct Qdisc *sch)
{
	struct cemark_sched *q = qdisc_priv(sch);

	mutex_lock(&cemark_ports_lock);
	if (list_empty(&q->ports))
		list_add(&q->ports, &cemark_ports);
	mutex_unlock(&cemark_ports_lock);
}

void cemark_unfollow(struct Qdisc *sch)
{
	struct cemark_sched *q = qdisc_priv(sch);

	mutex_lock(&cemark_ports_lock);
	list_del_init(&q->ports);
	mutex_unlock(&cemark_ports_lock);
}

/* Defaults of a qdisc after a change of its device. */
static void cemark_renew(struct Qdisc *sch)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct cemark_port port;

	if (cemark_derive(&q->set, psched_mtu(qdisc_dev(sch)), q->device, &port, NULL) < 0 ||
	    !memcmp(&port, &q->port, sizeof(port)))
		return;
	sch_tree_lock(sch);
	cemark_put(sch, &q->set, &port);
	sch_tree_unlock(sch);
}

/*
 * A link has another speed, or a device another MTU. The speed is asked for at the first two events
 * only: some kernels need the device's lock for it, which a change of the MTU may not hold. A
 * stacked device (VLAN, macvlan, bond) asks the device below it, whose lock this notifier may hold
 * or not: its rate is read by `tc qdisc change` only.
 */
static int cemark_device_changed(struct notifier_block *block, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct cemark_sched *q;

	if (event != NETDEV_UP && event != NETDEV_CHANGE && event != NETDEV_CHANGEMTU)
		return NOTIFY_DONE;
	mutex_lock(&cemark_ports_lock);
	list_for_each_entry(q, &cemark_ports, ports) {
		if (qdisc_dev(q->sch) != dev)
			continue;
		if (event != NETDEV_CHANGEMTU && list_empty(&dev->adj_list.lower))
			q->device = cemark_device_rate(dev, q->device);
		cemark_renew(q->sch);
	}
	mutex_unlock(&cemark_ports_lock);
	return NOTIFY_DONE;
}

struct notifier_block cemark_notifier = { .notifier_call = cemark_device_changed };
