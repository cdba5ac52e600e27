// SPDX-License-Identifier: GPL-2.0
/* The qdisc as the kernel calls it: made, changed, shown, removed. */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "cemark.h"

static int cemark_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct cemark_settings *set;
	int err;

	if (!opt) {
		NL_SET_ERR_MSG_MOD(extack, "scheme is missing");
		return -EINVAL;
	}
	set = kmemdup(&q->set, sizeof(*set), GFP_KERNEL);
	if (!set)
		return -ENOMEM;
	err = cemark_settings_parse(set, opt, extack);
	if (!err)
		err = cemark_apply(sch, set, extack);
	if (!err)
		cemark_follow(sch);
	kfree(set);
	return err;
}

static int cemark_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct cemark_sched *q = qdisc_priv(sch);
	int err;

	qdisc_watchdog_init(&q->watchdog, sch);
	INIT_LIST_HEAD(&q->ports);
	q->sch = sch;
	q->seed = get_random_u64();
	cemark_settings_usual(&q->set);
	err = tcf_block_get(&q->block, &q->filter_list, sch, extack);
	if (err)
		return err;
	return cemark_change(sch, opt, extack);
}

static void cemark_destroy(struct Qdisc *sch)
{
	struct cemark_sched *q = qdisc_priv(sch);

	if (q->sch)
		cemark_unfollow(sch);
	tcf_block_put(q->block);
	if (q->watchdog.qdisc)
		qdisc_watchdog_cancel(&q->watchdog);
	kvfree(q->queues);
}

static int cemark_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct nlattr *opts = nla_nest_start(skb, TCA_OPTIONS);

	if (!opts)
		return -EMSGSIZE;
	if (cemark_settings_dump(&q->set, &q->port, skb)) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static struct Qdisc_ops cemark_qdisc_ops __read_mostly = {
	.cl_ops = &cemark_class_ops,
	.id = "cemark",
	.priv_size = sizeof(struct cemark_sched),
	.enqueue = cemark_enqueue,
	.dequeue = cemark_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = cemark_init,
	.reset = cemark_reset,
	.destroy = cemark_destroy,
	.change = cemark_change,
	.dump = cemark_dump,
	.dump_stats = cemark_dump_stats,
	.owner = THIS_MODULE,
};

static int __init cemark_module_init(void)
{
	int err = register_netdevice_notifier(&cemark_notifier);

	if (err)
		return err;
	err = register_qdisc(&cemark_qdisc_ops);
	if (err)
		unregister_netdevice_notifier(&cemark_notifier);
	return err;
}

static void __exit cemark_module_exit(void)
{
	unregister_qdisc(&cemark_qdisc_ops);
	unregister_netdevice_notifier(&cemark_notifier);
}

module_init(cemark_module_init)
module_exit(cemark_module_exit)
MODULE_DESCRIPTION("ECN marking schemes of data-centre switches");
MODULE_LICENSE("GPL");
#ifdef MODULE_ALIAS_NET_SCH
MODULE_ALIAS_NET_SCH("cemark");
#endif
