// SPDX-License-Identifier: GPL-2.0
/*
 * tc's plugin for the qdisc cemark: reads options, tc(8) sends them.
 *
 *   tc qdisc add dev eth0 root cemark scheme ecn_sharp ins_target 200us queues 4 quantum 1514
 *
 * Names, units, ranges and defaults of the schemes come from catalogue.h.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../catalogue.h"
#include "../cemark_netlink.h"
#include "q_cemark.h"
#include "tc_abi.h"
#include "units.h"

#define SPACE 8192

/* What the words of a command mean before they are sent. */
struct options {
	const struct cemark_scheme *scheme; /* NULL: the one that the qdisc has */
	struct {
		const char *name;
		__u64 value;
	} param[CEMARK_PARAMS];
	unsigned int params;
	__u32 quanta[CEMARK_MAX_QUEUES];
	unsigned int n_quanta;
	unsigned char map[2 * CEMARK_MAP_VALUES];
	unsigned int map_len;
	bool rate_set, idle_set;
	__u64 rate, idle;
	struct {
		int set;
		__u32 value;
	} u32s[TCA_CEMARK_MAX + 1];
};

/* The words of a command line that are left. */
struct words {
	int argc;
	char **argv;
};

const struct cemark_scheme *cemark_scheme(const char *name)
{
	unsigned int i;

	for (i = 0; i < CEMARK_N_SCHEMES; i++) {
		const struct cemark_scheme *s = &cemark_catalogue[i];

		if (!strcasecmp(s->name, name) || !strcasecmp(s->title, name) ||
		    is_word(name, s->aliases))
			return s;
	}
	return NULL;
}

const struct cemark_param *cemark_param(const struct cemark_scheme *s, const char *name)
{
	unsigned int i;

	for (i = 0; i < s->params; i++)
		if (!strcmp(s->param[i].name, name))
			return &s->param[i];
	return NULL;
}

static void usage(void)
{
	unsigned int i;

	fprintf(stderr,
		"Usage: ... cemark scheme SCHEME [ PARAMETER VALUE ]...\n"
		"                  [ queues N ] [ scheduler fifo|dwrr|wrr|sp ] [ strict N ]\n"
		"                  [ quantum BYTES ] [ quanta BYTES... ]\n"
		"                  [ by dscp|priority ] [ map VALUE:QUEUE... ]\n"
		"                  [ limit BYTES ] [ memory BYTES ]\n"
		"                  [ rate RATE|device ] [ shaper [PERCENT]|off ] [ burst BYTES ]\n"
		"                  [ not_ect forward|drop ] [ gso split|keep ]\n"
		"                  [ round_beta FRACTION ] [ round_idle TIME|mtu|never ]\n"
		"       ... cemark scheme SCHEME help\n"
		"SCHEME :=");
	for (i = 0; i < CEMARK_N_SCHEMES; i++)
		fprintf(stderr, " %s%s", cemark_catalogue[i].name,
			i + 1 < CEMARK_N_SCHEMES ? " |" : "\n");
}

static void usage_of(const struct cemark_scheme *s)
{
	unsigned int i;

	fprintf(stderr, "%s (%s): %s\n", s->name, s->title, s->doc);
	for (i = 0; i < s->params; i++) {
		const struct cemark_param *p = &s->param[i];

		fprintf(stderr, "  %s ", p->name);
		if (p->kind == CEMARK_KIND_CHOICE)
			fprintf(stderr, "(%s; %s)\n", p->words, show_param(p, p->usual).text);
		else
			fprintf(stderr, "(%s to %s; %s)\n", show_param(p, p->min).text,
				show_param(p, p->max).text, show_param(p, p->usual).text);
		fprintf(stderr, "      %s\n", p->doc);
	}
}

/* The word after an option. */
static const char *value_of(struct words *w, const char *option)
{
	if (w->argc < 2) {
		fprintf(stderr, "cemark: %s: a value is missing\n", option);
		return NULL;
	}
	w->argc--;
	w->argv++;
	return *w->argv;
}

static void put(struct options *o, int attr, __u32 value)
{
	o->u32s[attr].set = 1;
	o->u32s[attr].value = value;
}

/* Whether there is a next word that begins with a digit. */
static int number_follows(const struct words *w)
{
	return w->argc > 1 && w->argv[1][0] >= '0' && w->argv[1][0] <= '9';
}

static int parse_quanta(struct options *o, struct words *w)
{
	__u64 size;

	o->n_quanta = 0;
	while (number_follows(w)) {
		if (o->n_quanta == CEMARK_MAX_QUEUES) {
			fprintf(stderr, "cemark: quanta: at most %d\n", CEMARK_MAX_QUEUES);
			return -1;
		}
		if (read_size("quanta", value_of(w, "quanta"), &size))
			return -1;
		if (!size || size > 0xffffffffULL) {
			fprintf(stderr, "cemark: quanta: 1 byte to 4 gigabytes each\n");
			return -1;
		}
		o->quanta[o->n_quanta++] = size;
	}
	if (!o->n_quanta)
		fprintf(stderr, "cemark: quanta: write one size for each queue, from the first\n");
	return o->n_quanta ? 0 : -1;
}

static int parse_map(struct options *o, struct words *w)
{
	unsigned int value, queue;
	int end;

	o->map_len = 0;
	while (number_follows(w)) {
		const char *pair = value_of(w, "map");

		end = 0;
		if (sscanf(pair, "%u:%u%n", &value, &queue, &end) != 2 || pair[end] ||
		    value >= CEMARK_MAP_VALUES || queue >= CEMARK_MAX_QUEUES) {
			fprintf(stderr, "cemark: map \"%s\": write VALUE:QUEUE, such as 46:0\n",
				pair);
			return -1;
		}
		if (o->map_len == sizeof(o->map)) {
			fprintf(stderr, "cemark: map: at most %d pairs\n", CEMARK_MAP_VALUES);
			return -1;
		}
		o->map[o->map_len++] = value;
		o->map[o->map_len++] = queue;
	}
	if (!o->map_len)
		fprintf(stderr, "cemark: map: write VALUE:QUEUE, such as 46:0\n");
	return o->map_len ? 0 : -1;
}

static int parse_shaper(struct options *o, struct words *w)
{
	__u32 parts = 995000; /* of a million: MQ-ECN section 4 */

	if (w->argc > 1 && !strcmp(w->argv[1], "off")) {
		value_of(w, "shaper");
		parts = 0;
	} else if (number_follows(w)) {
		if (read_millionths("shaper", value_of(w, "shaper"), &parts))
			return -1;
		if (!parts) {
			fprintf(stderr, "cemark: shaper 0%%: write off, or a percentage\n");
			return -1;
		}
	}
	put(o, TCA_CEMARK_SHAPE, parts);
	return 0;
}

static int parse_idle(struct options *o, const char *text)
{
	o->idle_set = true;
	if (!strcmp(text, "mtu"))
		o->idle = CEMARK_IDLE_MTU;
	else if (!strcmp(text, "never"))
		o->idle = 0;
	else
		return read_time("round_idle", text, &o->idle);
	return 0;
}

/* Options with one value of one kind. */
static const struct {
	const char *name;
	int attr;
	enum cemark_kind kind;
	__u64 min, max;
	const char *words;
} plain[] = {
	{ "queues", TCA_CEMARK_QUEUES, CEMARK_KIND_COUNT, 1, CEMARK_MAX_QUEUES, NULL },
	{ "strict", TCA_CEMARK_STRICT, CEMARK_KIND_COUNT, 0, CEMARK_MAX_QUEUES, NULL },
	{ "quantum", TCA_CEMARK_QUANTUM, CEMARK_KIND_BYTES, 1, 0xffffffff, NULL },
	{ "limit", TCA_CEMARK_LIMIT, CEMARK_KIND_BYTES, 1, 0xffffffff, NULL },
	{ "memory", TCA_CEMARK_MEMORY, CEMARK_KIND_BYTES, 1, 0xffffffff, NULL },
	{ "burst", TCA_CEMARK_BURST, CEMARK_KIND_BYTES, 0, 0xffffffff, NULL },
	{ "round_beta", TCA_CEMARK_BETA, CEMARK_KIND_FRACTION, 0, 65536, NULL },
	{ "scheduler", TCA_CEMARK_SCHEDULER, CEMARK_KIND_CHOICE, 0, 3, CEMARK_SCHEDULER_WORDS },
	{ "by", TCA_CEMARK_CLASSES, CEMARK_KIND_CHOICE, 0, 1, CEMARK_CLASSES_WORDS },
	{ "not_ect", TCA_CEMARK_NON_ECT, CEMARK_KIND_CHOICE, 0, 1, CEMARK_NON_ECT_WORDS },
	{ "gso", TCA_CEMARK_GSO, CEMARK_KIND_CHOICE, 0, 1, CEMARK_GSO_WORDS },
};

/* 1: not an option of the port. */
static int parse_port(struct options *o, struct words *w)
{
	const char *word = *w->argv, *text;
	unsigned int i;

	if (!strcmp(word, "quanta"))
		return parse_quanta(o, w);
	if (!strcmp(word, "map"))
		return parse_map(o, w);
	if (!strcmp(word, "shaper"))
		return parse_shaper(o, w);
	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		struct cemark_param p = {
			.name = plain[i].name,
			.kind = plain[i].kind,
			.min = plain[i].min,
			.max = plain[i].max,
			.words = plain[i].words,
		};
		__u64 value;

		if (strcmp(word, plain[i].name))
			continue;
		text = value_of(w, word);
		if (!text || read_param(&p, text, &value))
			return -1;
		put(o, plain[i].attr, value);
		return 0;
	}
	if (!strcmp(word, "rate")) {
		text = value_of(w, word);
		o->rate_set = true;
		if (text && !strcmp(text, "device"))
			return 0;
		return text ? read_rate(word, text, &o->rate) : -1;
	}
	if (!strcmp(word, "round_idle")) {
		text = value_of(w, word);
		return text ? parse_idle(o, text) : -1;
	}
	return 1;
}

/*
 * The parameter of this name. Without a scheme (a change of a qdisc that has one), one that means
 * the same in all schemes that have it.
 */
static const struct cemark_param *find_param(const struct options *o, const char *name)
{
	const struct cemark_param *found = NULL, *p;
	unsigned int i;

	if (o->scheme) {
		found = cemark_param(o->scheme, name);
		if (!found)
			fprintf(stderr,
				"cemark: \"%s\" is neither an option nor a parameter of %s; try "
				"\"cemark scheme %s help\"\n",
				name, o->scheme->name, o->scheme->name);
		return found;
	}
	for (i = 0; i < CEMARK_N_SCHEMES; i++) {
		p = cemark_param(&cemark_catalogue[i], name);
		if (p && found &&
		    (p->kind != found->kind || (p->words && strcmp(p->words, found->words)))) {
			fprintf(stderr,
				"cemark: %s differs between schemes: write scheme SCHEME before it\n",
				name);
			return NULL;
		}
		if (p)
			found = p;
	}
	if (!found)
		fprintf(stderr, "cemark: what is \"%s\"? Try \"cemark help\"\n", name);
	return found;
}

static int parse_param(struct options *o, struct words *w)
{
	const char *name = *w->argv, *text;
	const struct cemark_param *p = find_param(o, name);
	unsigned int i;

	if (!p)
		return -1;
	text = value_of(w, name);
	if (!text)
		return -1;
	for (i = 0; i < o->params; i++)
		if (!strcmp(o->param[i].name, p->name))
			break;
	if (i == CEMARK_PARAMS) {
		fprintf(stderr, "cemark: that is more than any scheme has\n");
		return -1;
	}
	if (read_param(p, text, &o->param[i].value))
		return -1;
	o->param[i].name = p->name;
	if (i == o->params)
		o->params++;
	return 0;
}

static int parse_scheme(struct options *o, struct words *w)
{
	const char *name = value_of(w, "scheme");

	if (!name)
		return -1;
	if (o->params) {
		fprintf(stderr, "cemark: write scheme %s before its parameters\n", name);
		return -1;
	}
	o->scheme = cemark_scheme(name);
	if (!o->scheme) {
		fprintf(stderr, "cemark: no scheme is called \"%s\"\n", name);
		usage();
		return -1;
	}
	return 0;
}

static int parse_words(struct options *o, struct words *w)
{
	int err;

	for (; w->argc > 0; w->argc--, w->argv++) {
		if (!strcmp(*w->argv, "help")) {
			if (o->scheme)
				usage_of(o->scheme);
			else
				usage();
			return -1;
		}
		if (!strcmp(*w->argv, "scheme"))
			err = parse_scheme(o, w);
		else
			err = parse_port(o, w);
		if (err > 0)
			err = parse_param(o, w);
		if (err)
			return -1;
	}
	return 0;
}

static void send_params(const struct options *o, struct nlmsghdr *n)
{
	struct rtattr *all, *one;
	unsigned int i;

	if (!o->params)
		return;
	all = addattr_nest(n, SPACE, TCA_CEMARK_PARAMS | NLA_F_NESTED);
	for (i = 0; i < o->params; i++) {
		one = addattr_nest(n, SPACE, TCA_CEMARK_PARAM | NLA_F_NESTED);
		addattr_l(n, SPACE, TCA_CEMARK_PARAM_NAME, o->param[i].name,
			  strlen(o->param[i].name) + 1);
		addattr_l(n, SPACE, TCA_CEMARK_PARAM_VALUE, &o->param[i].value, sizeof(__u64));
		addattr_nest_end(n, one);
	}
	addattr_nest_end(n, all);
}

static void send_options(const struct options *o, struct nlmsghdr *n)
{
	struct rtattr *all, *quanta;
	unsigned int i;

	all = addattr_nest(n, SPACE, TCA_OPTIONS | NLA_F_NESTED);
	if (o->scheme)
		addattr_l(n, SPACE, TCA_CEMARK_SCHEME, o->scheme->name,
			  strlen(o->scheme->name) + 1);
	send_params(o, n);
	for (i = 0; i <= TCA_CEMARK_MAX; i++)
		if (o->u32s[i].set)
			addattr_l(n, SPACE, i, &o->u32s[i].value, sizeof(__u32));
	if (o->n_quanta) {
		quanta = addattr_nest(n, SPACE, TCA_CEMARK_QUANTA | NLA_F_NESTED);
		for (i = 0; i < o->n_quanta; i++)
			addattr_l(n, SPACE, TCA_CEMARK_QUANTUM, &o->quanta[i], sizeof(__u32));
		addattr_nest_end(n, quanta);
	}
	if (o->map_len)
		addattr_l(n, SPACE, TCA_CEMARK_MAP, o->map, o->map_len);
	if (o->rate_set)
		addattr_l(n, SPACE, TCA_CEMARK_RATE, &o->rate, sizeof(__u64));
	if (o->idle_set)
		addattr_l(n, SPACE, TCA_CEMARK_IDLE, &o->idle, sizeof(__u64));
	addattr_nest_end(n, all);
}

static int cemark_parse(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
			const char *dev)
{
	struct options o = { 0 };
	struct words w = { argc, argv };

	(void)qu;
	(void)dev;
	if (parse_words(&o, &w))
		return -1;
	send_options(&o, n);
	return 0;
}

struct qdisc_util cemark_qdisc_util = {
	.id = "cemark",
	.parse_qopt = cemark_parse,
	.print_qopt = cemark_print,
	.print_xstats = cemark_print_xstats,
};
