// SPDX-License-Identifier: GPL-2.0
/* The queues as classes, 1 to n: filters choose one (flowid 1:3), and each has its statistics. */
#include <linux/slab.h>

#include "cemark.h"

static struct Qdisc *cemark_leaf(struct Qdisc *sch, unsigned long arg)
{
	return NULL;
}

static unsigned long cemark_class_find(struct Qdisc *sch, u32 classid)
{
	struct cemark_sched *q = qdisc_priv(sch);
	u32 i = TC_H_MIN(classid);

	return i >= 1 && i <= q->n ? i : 0;
}

static unsigned long cemark_bind(struct Qdisc *sch, unsigned long parent, u32 classid)
{
	return cemark_class_find(sch, classid);
}

static void cemark_unbind(struct Qdisc *sch, unsigned long arg)
{
}

static struct tcf_block *cemark_tcf_block(struct Qdisc *sch, unsigned long arg,
					  struct netlink_ext_ack *extack)
{
	struct cemark_sched *q = qdisc_priv(sch);

	return arg ? NULL : q->block;
}

static int cemark_class_dump(struct Qdisc *sch, unsigned long arg, struct sk_buff *skb,
			     struct tcmsg *tcm)
{
	tcm->tcm_handle |= TC_H_MIN(arg);
	return 0;
}

/* What has been counted: sums, and the largest where a sum means nothing. */
void cemark_add_counts(struct tc_cemark_queue *sum, const struct tc_cemark_queue *s)
{
	u32 i;

	sum->packets += s->packets;
	sum->bytes += s->bytes;
	sum->waited += s->waited;
	sum->longest = max(sum->longest, s->longest);
	for (i = 0; i < CEMARK_PLACES; i++) {
		sum->marks[i] += s->marks[i];
		sum->drops[i] += s->drops[i];
	}
	sum->spared += s->spared;
	sum->unwritten += s->unwritten;
}

/* With what the queue is now. */
static void cemark_add(struct tc_cemark_queue *sum, const struct cemark_queue *queue)
{
	cemark_add_counts(sum, &queue->stats);
	sum->backlog += queue->bytes;
	sum->qlen += queue->packets;
	sum->recent = max_t(u64, sum->recent,
			    min_t(u64, queue->recent >> CEMARK_RECENT, U32_MAX));
	sum->quantum = queue->stats.quantum;
}

/* The statistics of one queue. */
static void cemark_one(const struct cemark_sched *q, const struct cemark_queue *queue, u64 now,
		       struct tc_cemark_queue *s)
{
	*s = (struct tc_cemark_queue){};
	cemark_add(s, queue);
	cemark_find_threshold(q, queue, now, s);
}

static void cemark_about_port(const struct cemark_sched *q, struct tc_cemark_xstats *st)
{
	*st = (struct tc_cemark_xstats){
		.version = CEMARK_STATS_VERSION,
		.size = sizeof(*st),
		.queue_size = sizeof(struct tc_cemark_queue),
		.queues = q->n,
		.round = q->measured ? q->round.value : 0,
		.rate = q->port.bits,
		.memory = q->port.memory - q->spare,
	};
}

/*
 * As TCA_STATS_APP, where tc looks first. A copy as TCA_XSTATS would double the message, and a port
 * with eight queues would not fit into the first part of a dump.
 */
static int cemark_put_stats(struct gnet_dump *d, void *stats, int len)
{
	d->compat_xstats = 0;
	return gnet_stats_copy_app(d, stats, len);
}

static int cemark_class_dump_stats(struct Qdisc *sch, unsigned long arg, struct gnet_dump *d)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct gnet_stats_basic_sync sent;
	struct gnet_stats_queue qs = {};
	struct {
		struct tc_cemark_xstats st;
		struct tc_cemark_queue queue;
	} one;
	u32 i;

	if (!arg || arg > q->n)
		return 0;
	sch_tree_lock(sch);
	cemark_about_port(q, &one.st);
	cemark_one(q, &q->queues[arg - 1], ktime_get_ns(), &one.queue);
	sch_tree_unlock(sch);
	gnet_stats_basic_sync_init(&sent);
	u64_stats_set(&sent.bytes, one.queue.bytes);
	u64_stats_set(&sent.packets, one.queue.packets);
	qs.qlen = one.queue.qlen;
	qs.backlog = one.queue.backlog;
	for (i = 0; i < CEMARK_GONES; i++)
		qs.drops += one.queue.drops[i];
	if (gnet_stats_copy_basic(d, NULL, &sent, true) < 0 ||
	    gnet_stats_copy_queue(d, NULL, &qs, qs.qlen) < 0)
		return -1;
	return cemark_put_stats(d, &one, sizeof(one));
}

static void cemark_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	struct cemark_sched *q = qdisc_priv(sch);
	unsigned long i;

	if (arg->stop)
		return;
	for (i = 1; i <= q->n; i++) {
		if (arg->count < arg->skip) {
			arg->count++;
			continue;
		}
		if (arg->fn(sch, i, arg) < 0) {
			arg->stop = 1;
			break;
		}
		arg->count++;
	}
}

/* What other statistics of the same message need, in bytes. */
#define CEMARK_OTHER_STATS 256

/*
 * Whether the message may be left for the next part of a dump, which is longer. The first message
 * of a part may not, since the dump would end there, and a notification has one part.
 */
static bool cemark_may_wait(const struct sk_buff *skb)
{
	const struct nlmsghdr *first = nlmsg_hdr(skb);

	return first->nlmsg_flags & NLM_F_MULTI &&
	       first->nlmsg_len > nlmsg_msg_size(sizeof(struct tcmsg));
}

/* How many queues fit into the message behind the sums; -1: all do in the dump's next part. */
static int cemark_fitting(const struct cemark_sched *q, const struct sk_buff *skb)
{
	int queues = q->n > 1 ? min_t(int, q->n, CEMARK_SHOWN_QUEUES) : 0;
	int room = skb_tailroom(skb) - CEMARK_OTHER_STATS - (int)sizeof(struct tc_cemark_xstats);
	int fit = room / (int)sizeof(struct tc_cemark_queue) - 1;

	if (queues <= fit)
		return queues;
	return cemark_may_wait(skb) ? -1 : max(fit, 0);
}

int cemark_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct cemark_sched *q = qdisc_priv(sch);
	int shown = cemark_fitting(q, d->skb), i;
	struct {
		struct tc_cemark_xstats st;
		struct tc_cemark_queue sum;
		struct tc_cemark_queue queue[CEMARK_SHOWN_QUEUES];
	} *all;
	u64 now = ktime_get_ns();
	int err;

	if (shown < 0)
		return -EMSGSIZE;
	all = kzalloc(sizeof(*all), GFP_KERNEL);
	if (!all)
		return -1;
	sch_tree_lock(sch);
	cemark_about_port(q, &all->st);
	for (i = 0; i < (int)q->n; i++)
		cemark_add(&all->sum, &q->queues[i]);
	all->sum.drops[CEMARK_GONE_FILTER] += q->filtered;
	all->sum.threshold_wait = U64_MAX;
	all->sum.threshold_bytes = U32_MAX;
	if (q->n == 1)
		cemark_find_threshold(q, q->queues, now, &all->sum);
	for (i = 0; i < shown; i++)
		cemark_one(q, &q->queues[i], now, &all->queue[i]);
	sch_tree_unlock(sch);
	err = cemark_put_stats(d, all, offsetof(typeof(*all), queue) + shown * sizeof(*all->queue));
	kfree(all);
	return err;
}

const struct Qdisc_class_ops cemark_class_ops = {
	.leaf = cemark_leaf,
	.find = cemark_class_find,
	.walk = cemark_walk,
	.tcf_block = cemark_tcf_block,
	.bind_tcf = cemark_bind,
	.unbind_tcf = cemark_unbind,
	.dump = cemark_class_dump,
	.dump_stats = cemark_class_dump_stats,
};
