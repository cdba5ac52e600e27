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

/* Sums, and the largest where a sum means nothing. */
static void cemark_add(struct tc_cemark_queue *sum, const struct cemark_queue *queue)
{
	const struct tc_cemark_queue *s = &queue->stats;
	u32 i;

	sum->packets += s->packets;
	sum->bytes += s->bytes;
	sum->waited += s->waited;
	sum->longest = max(sum->longest, s->longest);
	for (i = 0; i < CEMARK_WHYS; i++)
		sum->marks[i] += s->marks[i];
	for (i = 0; i < CEMARK_GONES; i++)
		sum->drops[i] += s->drops[i];
	sum->spared += s->spared;
	sum->backlog += queue->bytes;
	sum->qlen += queue->packets;
	sum->recent = max_t(u64, sum->recent,
			    min_t(u64, queue->recent >> CEMARK_RECENT, U32_MAX));
	sum->quantum = s->quantum;
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
		.version = 1,
		.queues = q->n,
		.round = q->measured ? q->round.value : 0,
		.rate = q->port.bits,
	};
}

static int cemark_class_dump_stats(struct Qdisc *sch, unsigned long arg, struct gnet_dump *d)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct gnet_stats_queue qs = {};
	struct tc_cemark_xstats st;
	u32 i;

	if (!arg || arg > q->n)
		return 0;
	sch_tree_lock(sch);
	cemark_about_port(q, &st);
	cemark_one(q, &q->queues[arg - 1], ktime_get_ns(), &st.sum);
	sch_tree_unlock(sch);
	qs.qlen = st.sum.qlen;
	qs.backlog = st.sum.backlog;
	for (i = 0; i < CEMARK_GONES; i++)
		qs.drops += st.sum.drops[i];
	if (gnet_stats_copy_queue(d, NULL, &qs, qs.qlen) < 0)
		return -1;
	return gnet_stats_copy_app(d, &st, sizeof(st));
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

int cemark_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct cemark_sched *q = qdisc_priv(sch);
	u32 shown = q->n > 1 ? min_t(u32, q->n, CEMARK_SHOWN_QUEUES) : 0, i;
	struct {
		struct tc_cemark_xstats st;
		struct tc_cemark_queue queue[CEMARK_SHOWN_QUEUES];
	} *all;
	u64 now = ktime_get_ns();
	int err;

	all = kzalloc(sizeof(*all), GFP_KERNEL);
	if (!all)
		return -1;
	/* The message holds the statistics twice, as TCA_STATS2 and as TCA_XSTATS. */
	if (skb_tailroom(d->skb) < 2 * sizeof(*all) + 256)
		shown = 0;
	sch_tree_lock(sch);
	cemark_about_port(q, &all->st);
	for (i = 0; i < q->n; i++)
		cemark_add(&all->st.sum, &q->queues[i]);
	all->st.sum.threshold_wait = U64_MAX;
	all->st.sum.threshold_bytes = U32_MAX;
	if (q->n == 1)
		cemark_find_threshold(q, q->queues, now, &all->st.sum);
	for (i = 0; i < shown; i++)
		cemark_one(q, &q->queues[i], now, &all->queue[i]);
	sch_tree_unlock(sch);
	err = gnet_stats_copy_app(d, all, offsetof(typeof(*all), queue[shown]));
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
