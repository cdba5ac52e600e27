// SPDX-License-Identifier: GPL-2.0
/* A scheme and its parameters, from netlink and back. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <net/netlink.h>

#include "cemark.h"

static const struct nla_policy cemark_param_policy[TCA_CEMARK_PARAM_MAX + 1] = {
	[TCA_CEMARK_PARAM_NAME] = { .type = NLA_NUL_STRING, .len = CEMARK_NAME_MAX },
	[TCA_CEMARK_PARAM_VALUE] = { .type = NLA_U64 },
};

/* The scheme that the attribute names, with its defaults if it is another one than before. */
int cemark_choice_scheme(struct cemark_choice *c, const struct nlattr *attr,
			 struct netlink_ext_ack *extack)
{
	const struct cemark_ops *ops = cemark_find(nla_data(attr));
	unsigned int i;

	if (!ops) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "sch_cemark: no scheme has this name");
		return -ENOENT;
	}
	if (ops == c->ops)
		return 0;
	c->ops = ops;
	for (i = 0; i < ops->spec->params; i++)
		c->values[i] = ops->spec->param[i].usual;
	return 0;
}

static int cemark_choice_param(struct cemark_choice *c, const struct nlattr *attr,
			       const char *whose, struct netlink_ext_ack *extack)
{
	const struct cemark_scheme *spec = c->ops->spec;
	struct nlattr *tb[TCA_CEMARK_PARAM_MAX + 1];
	const struct cemark_param *p;
	unsigned int i;
	u64 value;
	int err;

	err = nla_parse_nested(tb, TCA_CEMARK_PARAM_MAX, attr, cemark_param_policy, extack);
	if (err < 0)
		return err;
	if (!tb[TCA_CEMARK_PARAM_NAME] || !tb[TCA_CEMARK_PARAM_VALUE]) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "sch_cemark: a parameter needs name and value");
		return -EINVAL;
	}
	for (i = 0; i < spec->params; i++)
		if (!strcmp(spec->param[i].name, nla_data(tb[TCA_CEMARK_PARAM_NAME])))
			break;
	if (i == spec->params) {
		NL_SET_ERR_MSG_FMT_MOD(extack, "%s%s has no parameter %s", whose, spec->name,
				       (char *)nla_data(tb[TCA_CEMARK_PARAM_NAME]));
		return -ENOENT;
	}
	p = &spec->param[i];
	value = nla_get_u64(tb[TCA_CEMARK_PARAM_VALUE]);
	if (value < p->min || value > p->max) {
		NL_SET_ERR_MSG_FMT_MOD(extack, "%s%s is %llu; its range is %llu to %llu", whose,
				       p->name, value, (u64)p->min, (u64)p->max);
		return -ERANGE;
	}
	c->values[i] = value;
	return 0;
}

int cemark_choice_params(struct cemark_choice *c, const struct nlattr *attr, const char *whose,
			 struct netlink_ext_ack *extack)
{
	const struct nlattr *entry;
	int rem, err;

	err = nla_validate_nested(attr, TCA_CEMARK_PARAMS_MAX, NULL, extack);
	if (err < 0)
		return err;
	nla_for_each_nested(entry, attr, rem) {
		if (nla_type(entry) != TCA_CEMARK_PARAM) {
			NL_SET_ERR_MSG_ATTR(extack, entry, "sch_cemark: not a parameter");
			return -EINVAL;
		}
		err = cemark_choice_param(c, entry, whose, extack);
		if (err < 0)
			return err;
	}
	return 0;
}

/* Rules about two parameters, such as kmin and kmax. */
int cemark_choice_check(const struct cemark_choice *c, const char *whose,
			struct netlink_ext_ack *extack)
{
	const struct cemark_scheme *spec = c->ops->spec;
	unsigned int i;

	for (i = 0; i < spec->pairs; i++) {
		const struct cemark_ordered *o = &spec->ordered[i];

		if (c->values[o->high] >= c->values[o->low] ||
		    (o->zero_follows && !c->values[o->high]))
			continue;
		NL_SET_ERR_MSG_FMT_MOD(extack, "%s%s (%llu) is below %s (%llu)", whose,
				       spec->param[o->high].name, c->values[o->high],
				       spec->param[o->low].name, c->values[o->low]);
		return -EINVAL;
	}
	return 0;
}

/*
 * The parameters: all, or those that differ from the scheme's defaults. Without one of them there
 * is no attribute.
 */
int cemark_choice_dump(const struct cemark_choice *c, int attr, bool all, struct sk_buff *skb)
{
	const struct cemark_scheme *spec = c->ops->spec;
	struct nlattr *params = NULL, *one;
	unsigned int i;

	for (i = 0; i < spec->params; i++) {
		if (!all && c->values[i] == spec->param[i].usual)
			continue;
		if (!params)
			params = nla_nest_start(skb, attr);
		one = params ? nla_nest_start(skb, TCA_CEMARK_PARAM) : NULL;
		if (!one ||
		    nla_put_string(skb, TCA_CEMARK_PARAM_NAME, spec->param[i].name) ||
		    nla_put_u64_64bit(skb, TCA_CEMARK_PARAM_VALUE, c->values[i],
				      TCA_CEMARK_PARAM_PAD))
			return -EMSGSIZE;
		nla_nest_end(skb, one);
	}
	if (params)
		nla_nest_end(skb, params);
	return 0;
}
