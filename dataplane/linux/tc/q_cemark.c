// SPDX-License-Identifier: GPL-2.0
/*
 * tc's plugin for the qdisc cemark: reads options, tc(8) sends them.
 *
 *   tc qdisc add dev eth0 root cemark scheme ecn_sharp ins_target 200us queues 4 quantum 1514
 *   tc qdisc change dev eth0 root cemark queue 3 scheme tcn threshold 50us queue 0 none
 *
 * Words before the first `queue N` are those of the port and of all queues.
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

#define SPACE 49152

/* A scheme and parameters, of the port or of a queue. */
struct choice {
	const char *name;                   /* NULL: the scheme that there is */
	const struct cemark_scheme *scheme; /* NULL too if `name` is CEMARK_OF_PORT */
	struct {
		const char *name;
		__u64 value;
	} param[CEMARK_PARAMS];
	unsigned int params;
};

struct number {
	int set;
	__u32 value;
};

/* What the words of a command mean before they are sent. */
struct options {
	struct choice choice;
	struct {
		bool named;
		struct choice choice;
		struct number quantum, non_ect;
	} own[CEMARK_MAX_QUEUES];
	int queue; /* of which the words are; -1: of all */
	__u32 quanta[CEMARK_MAX_QUEUES];
	unsigned int n_quanta;
	unsigned char map[2 * CEMARK_MAP_VALUES];
	unsigned int map_len;
	bool rate_set, idle_set;
	__u64 rate, idle;
	struct number u32s[TCA_CEMARK_MAX + 1];
};

/* The words of a command line that are left. */
struct words {
	int argc;
	char **argv;
};

static const struct cemark_scheme none = {
	.name = CEMARK_NONE,
	.title = CEMARK_NONE,
	.doc = "Never marks.",
};

const struct cemark_scheme *cemark_scheme(const char *name)
{
	unsigned int i;

	if (!strcasecmp(name, CEMARK_NONE))
		return &none;
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
		"Usage: ... cemark scheme SCHEME [ PARAMETER VALUE ]... | none\n"
		"                  [ queues N ] [ scheduler fifo|dwrr|wrr|sp ] [ strict N ]\n"
		"                  [ quantum BYTES ] [ quanta BYTES... ]\n"
		"                  [ by dscp|priority ] [ map VALUE:QUEUE... ]\n"
		"                  [ limit BYTES ] [ memory BYTES ]\n"
		"                  [ rate RATE|device ] [ shaper [PERCENT]|off ] [ burst BYTES ]\n"
		"                  [ not_ect forward|drop ] [ gso split|keep ]\n"
		"                  [ round_beta FRACTION ] [ round_idle TIME|mtu|never ]\n"
		"                  [ queue N [ scheme SCHEME | none | default ]\n"
		"                            [ PARAMETER VALUE ]... [ quantum BYTES ]\n"
		"                            [ not_ect forward|drop|default ] ]...\n"
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

static void put(struct number *n, __u32 value)
{
	n->set = 1;
	n->value = value;
}

/* What a message says first: whose the words are. */
static const char *whose(const struct options *o)
{
	static char text[32];

	if (o->queue < 0)
		return "";
	snprintf(text, sizeof(text), "queue %d: ", o->queue);
	return text;
}

static struct choice *choice_of(struct options *o)
{
	return o->queue < 0 ? &o->choice : &o->own[o->queue].choice;
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
	put(&o->u32s[TCA_CEMARK_SHAPE], parts);
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
		put(&o->u32s[plain[i].attr], value);
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
 * The parameter of this name. A queue without a scheme of its own has that of the port. Without
 * either (a change of a qdisc that has one), one that means the same in all schemes that have it.
 */
static const struct cemark_param *find_param(const struct options *o, const struct choice *c,
					     const char *name)
{
	const struct cemark_scheme *s = c->scheme ? c->scheme : o->choice.scheme;
	const struct cemark_param *found = NULL, *p;
	unsigned int i;

	if (s) {
		found = cemark_param(s, name);
		if (!found)
			fprintf(stderr,
				"cemark: %s\"%s\" is neither an option nor a parameter of %s; try "
				"\"cemark scheme %s help\"\n",
				whose(o), name, s->name, s->name);
		return found;
	}
	for (i = 0; i < CEMARK_N_SCHEMES; i++) {
		p = cemark_param(&cemark_catalogue[i], name);
		if (p && found &&
		    (p->kind != found->kind || (p->words && strcmp(p->words, found->words)))) {
			fprintf(stderr,
				"cemark: %s%s differs between schemes: write scheme SCHEME before "
				"it\n", whose(o), name);
			return NULL;
		}
		if (p)
			found = p;
	}
	if (!found)
		fprintf(stderr, "cemark: %swhat is \"%s\"? Try \"cemark help\"\n", whose(o), name);
	return found;
}

static int parse_param(struct options *o, struct words *w)
{
	struct choice *c = choice_of(o);
	const char *name = *w->argv, *text;
	const struct cemark_param *p = find_param(o, c, name);
	unsigned int i;

	if (!p)
		return -1;
	text = value_of(w, name);
	if (!text)
		return -1;
	for (i = 0; i < c->params; i++)
		if (!strcmp(c->param[i].name, p->name))
			break;
	if (i == CEMARK_PARAMS) {
		fprintf(stderr, "cemark: %sthat is more than any scheme has\n", whose(o));
		return -1;
	}
	if (read_param(p, text, &c->param[i].value))
		return -1;
	c->param[i].name = p->name;
	if (i == c->params)
		c->params++;
	return 0;
}

/* `name`: of a scheme, CEMARK_NONE or CEMARK_OF_PORT. */
static int choose(struct options *o, const char *name)
{
	struct choice *c = choice_of(o);

	if (c->name && o->queue >= 0) {
		fprintf(stderr, "cemark: queue %d has two schemes: write %s or %s\n", o->queue,
			c->name, name);
		return -1;
	}
	if (c->params) {
		fprintf(stderr, "cemark: %swrite scheme %s before its parameters\n", whose(o),
			name);
		return -1;
	}
	c->name = name;
	if (!strcmp(name, CEMARK_OF_PORT))
		return 0;
	c->scheme = cemark_scheme(name);
	if (!c->scheme) {
		fprintf(stderr, "cemark: no scheme is called \"%s\"\n", name);
		usage();
		return -1;
	}
	c->name = c->scheme->name;
	return 0;
}

static int parse_queue(struct options *o, struct words *w)
{
	const char *text = value_of(w, "queue");
	__u64 queue;

	if (!text || read_count("queue", text, &queue))
		return -1;
	if (queue >= CEMARK_MAX_QUEUES) {
		fprintf(stderr, "cemark: queue \"%s\": write 0 to %d\n", text,
			CEMARK_MAX_QUEUES - 1);
		return -1;
	}
	o->queue = queue;
	o->own[queue].named = true;
	return 0;
}

/* A word behind `queue N`. 1: a parameter, perhaps. */
static int parse_own(struct options *o, struct words *w)
{
	static const struct cemark_param quantum = { "quantum", CEMARK_KIND_BYTES, 0, 1, 0xffffffff,
						     NULL, NULL };
	static const struct cemark_param non_ect = { "not_ect", CEMARK_KIND_CHOICE, 0, 0, 2,
						     CEMARK_OWN_NON_ECT_WORDS, NULL };
	const char *word = *w->argv, *text;
	const struct cemark_param *p = NULL;
	struct number *n = NULL;
	unsigned int i;
	__u64 value;

	if (!strcmp(word, CEMARK_OF_PORT)) {
		put(&o->own[o->queue].non_ect, CEMARK_NON_ECT_OF_PORT);
		return choose(o, word);
	}
	if (!strcmp(word, "quantum")) {
		p = &quantum;
		n = &o->own[o->queue].quantum;
	} else if (!strcmp(word, "not_ect")) {
		p = &non_ect;
		n = &o->own[o->queue].non_ect;
	}
	if (p) {
		text = value_of(w, word);
		if (!text || read_param(p, text, &value))
			return -1;
		put(n, value);
		return 0;
	}
	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (!strcmp(word, plain[i].name))
			break;
	if (i == sizeof(plain) / sizeof(plain[0]) &&
	    !is_word(word, "quanta map shaper rate round_idle"))
		return 1;
	fprintf(stderr, "cemark: %s is an option of the port: write it before queue %d\n", word,
		o->queue);
	return -1;
}

static int parse_words(struct options *o, struct words *w)
{
	const char *name;
	int err;

	for (; w->argc > 0; w->argc--, w->argv++) {
		if (!strcmp(*w->argv, "help")) {
			if (choice_of(o)->scheme)
				usage_of(choice_of(o)->scheme);
			else
				usage();
			return -1;
		}
		if (!strcmp(*w->argv, "scheme")) {
			name = value_of(w, "scheme");
			err = name ? choose(o, name) : -1;
		} else if (!strcmp(*w->argv, CEMARK_NONE)) {
			err = choose(o, *w->argv);
		} else if (!strcmp(*w->argv, "queue")) {
			err = parse_queue(o, w);
		} else {
			err = o->queue < 0 ? parse_port(o, w) : parse_own(o, w);
		}
		if (err > 0)
			err = parse_param(o, w);
		if (err)
			return -1;
	}
	return 0;
}

static void send_number(const struct number *n, struct nlmsghdr *to, int attr)
{
	if (n->set)
		addattr_l(to, SPACE, attr, &n->value, sizeof(__u32));
}

static void send_choice(const struct choice *c, struct nlmsghdr *n, int scheme, int params)
{
	struct rtattr *all, *one;
	unsigned int i;

	if (c->name)
		addattr_l(n, SPACE, scheme, c->name, strlen(c->name) + 1);
	if (!c->params)
		return;
	all = addattr_nest(n, SPACE, params | NLA_F_NESTED);
	for (i = 0; i < c->params; i++) {
		one = addattr_nest(n, SPACE, TCA_CEMARK_PARAM | NLA_F_NESTED);
		addattr_l(n, SPACE, TCA_CEMARK_PARAM_NAME, c->param[i].name,
			  strlen(c->param[i].name) + 1);
		addattr_l(n, SPACE, TCA_CEMARK_PARAM_VALUE, &c->param[i].value, sizeof(__u64));
		addattr_nest_end(n, one);
	}
	addattr_nest_end(n, all);
}

/* A module that knows no queues of their own gets no attribute unless a queue is named. */
static void send_own(const struct options *o, struct nlmsghdr *n)
{
	struct rtattr *all = NULL, *one;
	__u32 queues;
	int i;

	for (i = 0; i < CEMARK_MAX_QUEUES; i++) {
		if (!o->own[i].named)
			continue;
		if (!all)
			all = addattr_nest(n, SPACE, TCA_CEMARK_BY_QUEUE | NLA_F_NESTED);
		one = addattr_nest(n, SPACE, TCA_CEMARK_OWN | NLA_F_NESTED);
		queues = (__u32)1 << i;
		addattr_l(n, SPACE, TCA_CEMARK_OWN_QUEUES, &queues, sizeof(queues));
		send_choice(&o->own[i].choice, n, TCA_CEMARK_OWN_SCHEME, TCA_CEMARK_OWN_PARAMS);
		send_number(&o->own[i].quantum, n, TCA_CEMARK_OWN_QUANTUM);
		send_number(&o->own[i].non_ect, n, TCA_CEMARK_OWN_NON_ECT);
		addattr_nest_end(n, one);
	}
	if (all)
		addattr_nest_end(n, all);
}

static void send_options(const struct options *o, struct nlmsghdr *n)
{
	struct rtattr *all, *quanta;
	unsigned int i;

	all = addattr_nest(n, SPACE, TCA_OPTIONS | NLA_F_NESTED);
	send_choice(&o->choice, n, TCA_CEMARK_SCHEME, TCA_CEMARK_PARAMS);
	for (i = 0; i <= TCA_CEMARK_MAX; i++)
		send_number(&o->u32s[i], n, i);
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
	send_own(o, n);
	addattr_nest_end(n, all);
}

static int cemark_parse(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
			const char *dev)
{
	struct options o = { .queue = -1 };
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
