// SPDX-License-Identifier: GPL-2.0
/*
 * What a queue has of its own: a scheme with its parameters, a quantum, and what becomes of packets
 * that are to be marked and are not ECN-capable. All else of a queue is the port's.
 *
 * The first message of a dump is as long as a page. Queues that have the same of their own share an
 * entry there, and more entries than fit are refused as they are set: a port that `tc` could not
 * show would be worse.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <net/netlink.h>

#include "cemark.h"

/* Bytes of a dump that all entries may take; port.py shows the longest with all other options. */
#define CEMARK_OWN_BYTES 1920

static const struct nla_policy cemark_own_policy[TCA_CEMARK_OWN_MAX + 1] = {
	[TCA_CEMARK_OWN_QUEUES] = { .type = NLA_U32 },
	[TCA_CEMARK_OWN_SCHEME] = { .type = NLA_NUL_STRING, .len = CEMARK_NAME_MAX },
	[TCA_CEMARK_OWN_PARAMS] = { .type = NLA_NESTED },
	[TCA_CEMARK_OWN_QUANTUM] = { .type = NLA_U32 },
	[TCA_CEMARK_OWN_NON_ECT] = NLA_POLICY_MAX(NLA_U32, CEMARK_NON_ECT_OF_PORT),
};

/* Queues from this one on have nothing of their own. */
void cemark_own_usual(struct cemark_settings *set, u32 from)
{
	u32 i;

	for (i = from; i < CEMARK_MAX_QUEUES; i++) {
		set->own[i].choice.ops = NULL;
		set->own[i].non_ect = CEMARK_NON_ECT_OF_PORT;
	}
}

/* Puts an entry into the settings of queue i. */
static int cemark_own_put(struct cemark_settings *set, u32 i, struct nlattr **tb,
			  struct netlink_ext_ack *extack)
{
	struct cemark_own *own = &set->own[i];
	char whose[16];
	int err = 0;

	snprintf(whose, sizeof(whose), "queue %u: ", i);
	if (tb[TCA_CEMARK_OWN_QUANTUM]) {
		set->quantum[i] = nla_get_u32(tb[TCA_CEMARK_OWN_QUANTUM]);
		if (!set->quantum[i]) {
			NL_SET_ERR_MSG_FMT_MOD(extack, "%sits quantum is 0: 1 byte or more", whose);
			return -EINVAL;
		}
	}
	if (tb[TCA_CEMARK_OWN_NON_ECT])
		own->non_ect = nla_get_u32(tb[TCA_CEMARK_OWN_NON_ECT]);
	if (tb[TCA_CEMARK_OWN_SCHEME]) {
		if (!strcmp(nla_data(tb[TCA_CEMARK_OWN_SCHEME]), CEMARK_OF_PORT))
			own->choice.ops = NULL;
		else
			err = cemark_choice_scheme(&own->choice, tb[TCA_CEMARK_OWN_SCHEME], extack);
	}
	if (!err && tb[TCA_CEMARK_OWN_PARAMS]) {
		if (!own->choice.ops)
			own->choice = set->choice;
		err = cemark_choice_params(&own->choice, tb[TCA_CEMARK_OWN_PARAMS], whose, extack);
	}
	if (!err && own->choice.ops)
		err = cemark_choice_check(&own->choice, whose, extack);
	return err;
}

/* `chosen`: the queues for which the message has named a scheme. */
static int cemark_own_entry(struct cemark_settings *set, const struct nlattr *entry, u32 *chosen,
			    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_CEMARK_OWN_MAX + 1];
	u32 all = GENMASK(set->queues - 1, 0), queues, i;
	const struct nlattr *attr;
	int rem, err;

	err = nla_parse_nested(tb, TCA_CEMARK_OWN_MAX, entry, cemark_own_policy, extack);
	if (err < 0)
		return err;
	queues = tb[TCA_CEMARK_OWN_QUEUES] ? nla_get_u32(tb[TCA_CEMARK_OWN_QUEUES]) : 0;
	if (!queues) {
		NL_SET_ERR_MSG_ATTR(extack, entry, "sch_cemark: an entry by queue names no queue");
		return -EINVAL;
	}
	if (queues & ~all) {
		NL_SET_ERR_MSG_FMT_MOD(extack, "there is no queue %u; there are queues 0 to %u",
				       (u32)__fls(queues), set->queues - 1);
		return -ERANGE;
	}
	nla_for_each_nested(attr, entry, rem) {
		if (nla_type(attr) != TCA_CEMARK_OWN_SCHEME)
			continue;
		if (*chosen & queues) {
			NL_SET_ERR_MSG_FMT_MOD(extack, "queue %u has two schemes",
					       (u32)__ffs(*chosen & queues));
			return -EINVAL;
		}
		*chosen |= queues;
	}
	for (i = 0; i < set->queues; i++) {
		err = queues & BIT(i) ? cemark_own_put(set, i, tb, extack) : 0;
		if (err < 0)
			return err;
	}
	return 0;
}

static bool cemark_own_same(const struct cemark_own *a, const struct cemark_own *b)
{
	const struct cemark_ops *ops = a->choice.ops;

	return ops == b->choice.ops && a->non_ect == b->non_ect &&
	       (!ops || !memcmp(a->choice.values, b->choice.values,
				ops->spec->params * sizeof(*a->choice.values)));
}

/* Of the queues left, the first and those that have the same of their own; 0 at the end. */
static u32 cemark_own_next(const struct cemark_settings *set, u32 *left)
{
	const struct cemark_own *first = NULL;
	u32 alike = 0, i;

	for (i = 0; i < set->queues; i++) {
		const struct cemark_own *own = &set->own[i];

		if (!(*left & BIT(i)))
			continue;
		if (!own->choice.ops && own->non_ect == CEMARK_NON_ECT_OF_PORT)
			continue;
		if (!first)
			first = own;
		if (cemark_own_same(first, own))
			alike |= BIT(i);
	}
	*left &= ~alike;
	return alike;
}

/* Bytes of an entry in a dump. */
static u32 cemark_own_size(const struct cemark_own *own)
{
	const struct cemark_choice *c = &own->choice;
	u32 size = nla_total_size(0) + nla_total_size(sizeof(u32)), params = 0, i;

	if (own->non_ect != CEMARK_NON_ECT_OF_PORT)
		size += nla_total_size(sizeof(u32));
	if (!c->ops)
		return size;
	size += nla_total_size(strlen(c->ops->spec->name) + 1);
	for (i = 0; i < c->ops->spec->params; i++)
		if (c->values[i] != c->ops->spec->param[i].usual)
			params += nla_total_size(0) + nla_total_size_64bit(sizeof(u64)) +
				  nla_total_size(strlen(c->ops->spec->param[i].name) + 1);
	return size + (params ? nla_total_size(0) + params : 0);
}

int cemark_own_parse(struct cemark_settings *set, const struct nlattr *attr,
		     struct netlink_ext_ack *extack)
{
	u32 chosen = 0, left = U32_MAX, size = 0, alike;
	const struct nlattr *entry;
	int rem, err;

	err = nla_validate_nested(attr, TCA_CEMARK_BY_QUEUE_MAX, NULL, extack);
	if (err < 0)
		return err;
	nla_for_each_nested(entry, attr, rem) {
		if (nla_type(entry) != TCA_CEMARK_OWN) {
			NL_SET_ERR_MSG_ATTR(extack, entry, "sch_cemark: not an entry by queue");
			return -EINVAL;
		}
		err = cemark_own_entry(set, entry, &chosen, extack);
		if (err < 0)
			return err;
	}
	while ((alike = cemark_own_next(set, &left)))
		size += cemark_own_size(&set->own[__ffs(alike)]);
	if (size > CEMARK_OWN_BYTES) {
		NL_SET_ERR_MSG_FMT_MOD(extack, "by queue: %u bytes, at most %u: give queues equal words",
				       size, CEMARK_OWN_BYTES);
		return -E2BIG;
	}
	return 0;
}

static int cemark_own_dump_entry(const struct cemark_own *own, u32 queues, struct sk_buff *skb)
{
	const struct cemark_ops *ops = own->choice.ops;
	struct nlattr *entry = nla_nest_start(skb, TCA_CEMARK_OWN);

	if (!entry || nla_put_u32(skb, TCA_CEMARK_OWN_QUEUES, queues))
		return -EMSGSIZE;
	if (own->non_ect != CEMARK_NON_ECT_OF_PORT &&
	    nla_put_u32(skb, TCA_CEMARK_OWN_NON_ECT, own->non_ect))
		return -EMSGSIZE;
	if (ops && (nla_put_string(skb, TCA_CEMARK_OWN_SCHEME, ops->spec->name) ||
		    cemark_choice_dump(&own->choice, TCA_CEMARK_OWN_PARAMS, false, skb)))
		return -EMSGSIZE;
	nla_nest_end(skb, entry);
	return 0;
}

int cemark_own_dump(const struct cemark_settings *set, struct sk_buff *skb)
{
	u32 left = U32_MAX, alike = cemark_own_next(set, &left);
	struct nlattr *all;

	if (!alike)
		return 0;
	all = nla_nest_start(skb, TCA_CEMARK_BY_QUEUE);
	if (!all)
		return -EMSGSIZE;
	for (; alike; alike = cemark_own_next(set, &left))
		if (cemark_own_dump_entry(&set->own[__ffs(alike)], alike, skb))
			return -EMSGSIZE;
	nla_nest_end(skb, all);
	return 0;
}
