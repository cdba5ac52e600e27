// SPDX-License-Identifier: GPL-2.0
/* Settings from netlink and back. Whatever is refused is refused before anything is changed. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <net/netlink.h>

#include "cemark.h"

/* Not const: in 6.1 the policy points to them so. */
static struct netlink_range_validation cemark_fraction = { .max = CEMARK_ONE };
static struct netlink_range_validation cemark_millionths = { .max = 1000000 };

static const struct nla_policy cemark_policy[TCA_CEMARK_MAX + 1] = {
	[TCA_CEMARK_SCHEME] = { .type = NLA_NUL_STRING, .len = CEMARK_NAME_MAX },
	[TCA_CEMARK_PARAMS] = { .type = NLA_NESTED },
	[TCA_CEMARK_SCHEDULER] = NLA_POLICY_MAX(NLA_U32, CEMARK_SP),
	[TCA_CEMARK_QUEUES] = NLA_POLICY_RANGE(NLA_U32, 1, CEMARK_MAX_QUEUES),
	[TCA_CEMARK_STRICT] = NLA_POLICY_MAX(NLA_U32, CEMARK_MAX_QUEUES),
	[TCA_CEMARK_QUANTUM] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_CEMARK_QUANTA] = { .type = NLA_NESTED },
	[TCA_CEMARK_CLASSES] = NLA_POLICY_MAX(NLA_U32, CEMARK_BY_PRIORITY),
	[TCA_CEMARK_MAP] = { .type = NLA_BINARY, .len = 2 * CEMARK_MAP_VALUES },
	[TCA_CEMARK_LIMIT] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_CEMARK_RATE] = { .type = NLA_U64 },
	[TCA_CEMARK_SHAPE] = NLA_POLICY_FULL_RANGE(NLA_U32, &cemark_millionths),
	[TCA_CEMARK_BURST] = { .type = NLA_U32 },
	[TCA_CEMARK_NON_ECT] = NLA_POLICY_MAX(NLA_U32, CEMARK_NON_ECT_DROP),
	[TCA_CEMARK_GSO] = NLA_POLICY_MAX(NLA_U32, CEMARK_GSO_KEEP),
	[TCA_CEMARK_BETA] = NLA_POLICY_FULL_RANGE(NLA_U32, &cemark_fraction),
	[TCA_CEMARK_IDLE] = { .type = NLA_U64 },
	[TCA_CEMARK_MEMORY] = NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_CEMARK_BY_QUEUE] = { .type = NLA_NESTED },
};

void cemark_settings_usual(struct cemark_settings *set)
{
	u32 i;

	memset(set, 0, sizeof(*set));
	set->queues = 1;
	set->beta = 3 * (CEMARK_ONE / 4);
	set->idle = CEMARK_IDLE_MTU;
	cemark_own_usual(set, 0);
	for (i = 0; i < CEMARK_MAP_VALUES; i++)
		set->map[i] = min(i, CEMARK_MAX_QUEUES - 1U);
}

static int cemark_parse_quanta(struct cemark_settings *set, struct nlattr **tb,
			       struct netlink_ext_ack *extack)
{
	const struct nlattr *entry;
	u32 i = 0;
	int rem;

	if (tb[TCA_CEMARK_QUANTUM]) {
		u32 quantum = nla_get_u32(tb[TCA_CEMARK_QUANTUM]);

		for (i = 0; i < CEMARK_MAX_QUEUES; i++)
			set->quantum[i] = quantum;
	}
	if (!tb[TCA_CEMARK_QUANTA])
		return 0;
	i = 0;
	nla_for_each_nested(entry, tb[TCA_CEMARK_QUANTA], rem) {
		if (nla_type(entry) != TCA_CEMARK_QUANTUM || nla_len(entry) != sizeof(u32) ||
		    !nla_get_u32(entry)) {
			NL_SET_ERR_MSG_ATTR(extack, entry, "sch_cemark: a quantum is 1 byte or more");
			return -EINVAL;
		}
		if (i == set->queues) {
			NL_SET_ERR_MSG_ATTR(extack, entry, "sch_cemark: more quanta than queues");
			return -EINVAL;
		}
		set->quantum[i++] = nla_get_u32(entry);
	}
	return 0;
}

static int cemark_parse_map(struct cemark_settings *set, const struct nlattr *attr,
			    struct netlink_ext_ack *extack)
{
	const u8 *pair = nla_data(attr);
	u32 i;

	if (nla_len(attr) % 2) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "sch_cemark: a map is pairs of bytes");
		return -EINVAL;
	}
	for (i = 0; i < CEMARK_MAP_VALUES; i++)
		set->map[i] = min(i, CEMARK_MAX_QUEUES - 1U);
	for (i = 0; i < nla_len(attr); i += 2) {
		if (pair[i] >= CEMARK_MAP_VALUES || pair[i + 1] >= set->queues) {
			NL_SET_ERR_MSG_FMT_MOD(extack, "map %u:%u: values are 0 to %u, queues 0 to %u",
					       pair[i], pair[i + 1], CEMARK_MAP_VALUES - 1,
					       set->queues - 1);
			return -ERANGE;
		}
		set->map[pair[i]] = pair[i + 1];
	}
	return 0;
}

static int cemark_parse_queues(struct cemark_settings *set, struct nlattr **tb,
			       struct netlink_ext_ack *extack)
{
	int err;

	if (tb[TCA_CEMARK_QUEUES])
		set->queues = nla_get_u32(tb[TCA_CEMARK_QUEUES]);
	if (tb[TCA_CEMARK_SCHEDULER])
		set->scheduler = nla_get_u32(tb[TCA_CEMARK_SCHEDULER]);
	else if (set->scheduler == CEMARK_FIFO_QUEUE && set->queues > 1)
		set->scheduler = CEMARK_DWRR;
	if (tb[TCA_CEMARK_STRICT])
		set->strict = nla_get_u32(tb[TCA_CEMARK_STRICT]);
	if (set->scheduler == CEMARK_FIFO_QUEUE && set->queues > 1) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_CEMARK_SCHEDULER],
				    "sch_cemark: fifo has one queue; dwrr, wrr and sp have several");
		return -EINVAL;
	}
	if (set->strict > set->queues) {
		NL_SET_ERR_MSG_FMT_MOD(extack, "strict is %u, and there are %u queues", set->strict,
				       set->queues);
		return -EINVAL;
	}
	err = cemark_parse_quanta(set, tb, extack);
	if (err < 0)
		return err;
	if (tb[TCA_CEMARK_CLASSES])
		set->classes = nla_get_u32(tb[TCA_CEMARK_CLASSES]);
	return tb[TCA_CEMARK_MAP] ? cemark_parse_map(set, tb[TCA_CEMARK_MAP], extack) : 0;
}

static int cemark_parse_port(struct cemark_settings *set, struct nlattr **tb,
			     struct netlink_ext_ack *extack)
{
	if (tb[TCA_CEMARK_LIMIT])
		set->limit = nla_get_u32(tb[TCA_CEMARK_LIMIT]);
	if (tb[TCA_CEMARK_MEMORY])
		set->memory = nla_get_u32(tb[TCA_CEMARK_MEMORY]);
	if (tb[TCA_CEMARK_RATE]) {
		set->rate = nla_get_u64(tb[TCA_CEMARK_RATE]);
		/* Below 8 bit/s the kernel's rate in byte/s is 0. */
		if (set->rate && set->rate < 8) {
			NL_SET_ERR_MSG_ATTR(extack, tb[TCA_CEMARK_RATE],
					    "sch_cemark: a rate is 8 bit/s or more, or 0 for the device's");
			return -ERANGE;
		}
	}
	if (tb[TCA_CEMARK_BURST])
		set->burst = nla_get_u32(tb[TCA_CEMARK_BURST]);
	if (tb[TCA_CEMARK_NON_ECT])
		set->non_ect = nla_get_u32(tb[TCA_CEMARK_NON_ECT]);
	if (tb[TCA_CEMARK_GSO])
		set->gso = nla_get_u32(tb[TCA_CEMARK_GSO]);
	if (tb[TCA_CEMARK_IDLE])
		set->idle = nla_get_u64(tb[TCA_CEMARK_IDLE]);
	if (tb[TCA_CEMARK_BETA])
		set->beta = nla_get_u32(tb[TCA_CEMARK_BETA]);
	if (tb[TCA_CEMARK_SHAPE])
		set->shape = nla_get_u32(tb[TCA_CEMARK_SHAPE]);
	return 0;
}

int cemark_settings_parse(struct cemark_settings *set, const struct nlattr *opt,
			  struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_CEMARK_MAX + 1];
	int err, i;

	err = nla_parse_nested(tb, TCA_CEMARK_MAX, opt, cemark_policy, extack);
	if (err < 0)
		return err;
	if (!tb[TCA_CEMARK_SCHEME] && !set->choice.ops) {
		NL_SET_ERR_MSG_MOD(extack, "scheme is missing");
		return -EINVAL;
	}
	if (tb[TCA_CEMARK_SCHEME])
		err = cemark_choice_scheme(&set->choice, tb[TCA_CEMARK_SCHEME], extack);
	if (!err && tb[TCA_CEMARK_PARAMS])
		err = cemark_choice_params(&set->choice, tb[TCA_CEMARK_PARAMS], "", extack);
	if (!err)
		err = cemark_choice_check(&set->choice, "", extack);
	if (!err)
		err = cemark_parse_queues(set, tb, extack);
	if (!err)
		err = cemark_parse_port(set, tb, extack);
	if (err)
		return err;
	for (i = 0; i < CEMARK_MAX_QUEUES; i++) {
		if (tb[TCA_CEMARK_SCHEME])
			set->own[i].choice.ops = NULL;
		if (tb[TCA_CEMARK_NON_ECT])
			set->own[i].non_ect = CEMARK_NON_ECT_OF_PORT;
	}
	cemark_own_usual(set, set->queues);
	return tb[TCA_CEMARK_BY_QUEUE] ? cemark_own_parse(set, tb[TCA_CEMARK_BY_QUEUE], extack) : 0;
}

static int cemark_dump_quanta(const struct cemark_settings *set, const struct cemark_port *port,
			      struct sk_buff *skb)
{
	struct nlattr *all = nla_nest_start(skb, TCA_CEMARK_QUANTA);
	u32 i;

	if (!all)
		return -EMSGSIZE;
	for (i = 0; i < set->queues; i++)
		if (nla_put_u32(skb, TCA_CEMARK_QUANTUM, port->quantum[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, all);
	return 0;
}

/* The values that are not their own queue. */
static int cemark_dump_map(const struct cemark_settings *set, struct sk_buff *skb)
{
	u8 pairs[2 * CEMARK_MAP_VALUES];
	u32 i, n = 0;

	for (i = 0; i < CEMARK_MAP_VALUES; i++) {
		if (set->map[i] == min(i, CEMARK_MAX_QUEUES - 1U))
			continue;
		pairs[n++] = i;
		pairs[n++] = set->map[i];
	}
	return n ? nla_put(skb, TCA_CEMARK_MAP, n, pairs) : 0;
}

int cemark_settings_dump(const struct cemark_settings *set, const struct cemark_port *port,
			 struct sk_buff *skb)
{
	if (nla_put_string(skb, TCA_CEMARK_SCHEME, set->choice.ops->spec->name) ||
	    cemark_choice_dump(&set->choice, TCA_CEMARK_PARAMS, true, skb) ||
	    nla_put_u32(skb, TCA_CEMARK_SCHEDULER, set->scheduler) ||
	    nla_put_u32(skb, TCA_CEMARK_QUEUES, set->queues) ||
	    nla_put_u32(skb, TCA_CEMARK_STRICT, set->strict) ||
	    cemark_dump_quanta(set, port, skb) ||
	    nla_put_u32(skb, TCA_CEMARK_CLASSES, set->classes) ||
	    cemark_dump_map(set, skb) ||
	    nla_put_u32(skb, TCA_CEMARK_LIMIT, port->limit) ||
	    nla_put_u32(skb, TCA_CEMARK_MEMORY, port->memory) ||
	    nla_put_u64_64bit(skb, TCA_CEMARK_RATE, set->rate, TCA_CEMARK_PAD) ||
	    nla_put_u32(skb, TCA_CEMARK_SHAPE, set->shape) ||
	    nla_put_u32(skb, TCA_CEMARK_BURST, set->burst) ||
	    nla_put_u32(skb, TCA_CEMARK_NON_ECT, set->non_ect) ||
	    nla_put_u32(skb, TCA_CEMARK_GSO, set->gso) ||
	    nla_put_u32(skb, TCA_CEMARK_BETA, set->beta) ||
	    nla_put_u64_64bit(skb, TCA_CEMARK_IDLE, set->idle, TCA_CEMARK_PAD) ||
	    cemark_own_dump(set, skb))
		return -EMSGSIZE;
	return 0;
}
