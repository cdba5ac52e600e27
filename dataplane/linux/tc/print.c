// SPDX-License-Identifier: GPL-2.0
/* What `tc [-s] [-j] qdisc show` and `tc -s class show` say of cemark. */
#include <string.h>

#include "../cemark_netlink.h"
#include "q_cemark.h"
#include "units.h"

/* The attributes of a nest by type, as parse_rtattr of iproute2. */
static void collect(struct rtattr **tb, int max, struct rtattr *nest)
{
	int len = RTA_PAYLOAD(nest);
	struct rtattr *a;

	memset(tb, 0, sizeof(*tb) * (max + 1));
	for (a = RTA_DATA(nest); RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		int type = a->rta_type & NLA_TYPE_MASK;

		if (type <= max)
			tb[type] = a;
	}
}

static __u32 u32_of(const struct rtattr *a)
{
	__u32 value = 0;

	if (a && RTA_PAYLOAD(a) >= sizeof(value))
		memcpy(&value, RTA_DATA(a), sizeof(value));
	return value;
}

static __u64 u64_of(const struct rtattr *a)
{
	__u64 value = 0;

	if (a && RTA_PAYLOAD(a) >= sizeof(value))
		memcpy(&value, RTA_DATA(a), sizeof(value));
	return value;
}

/* "name value " in text; a number, or a word in quotes, in JSON. */
static void number(const char *key, const char *text, __u64 value)
{
	if (is_json_context())
		print_color_lluint(PRINT_JSON, COLOR_NONE, key, NULL, value);
	else
		printf("%s %s ", key, text);
}

static void word(const char *key, const char *text)
{
	if (is_json_context())
		print_color_string(PRINT_JSON, COLOR_NONE, key, NULL, text);
	else
		printf("%s %s ", key, text);
}

static void fraction(const char *key, __u32 parts)
{
	if (is_json_context())
		print_color_float(PRINT_JSON, COLOR_NONE, key, NULL, parts / 65536.0);
	else
		printf("%s %s ", key, show_fraction(parts).text);
}

static void print_value(const struct cemark_param *p, __u64 value)
{
	/* Lengths and times decide. Of the rest, only what is not as usual is of interest. */
	if (p->kind != CEMARK_KIND_TIME && p->kind != CEMARK_KIND_BYTES && value == p->usual &&
	    !show_details && !is_json_context())
		return;
	if (p->kind == CEMARK_KIND_CHOICE)
		word(p->name, show_param(p, value).text);
	else if (p->kind == CEMARK_KIND_FLAG && is_json_context())
		print_color_bool(PRINT_JSON, COLOR_NONE, p->name, NULL, value);
	else if (p->kind == CEMARK_KIND_FRACTION)
		fraction(p->name, value);
	else
		number(p->name, show_param(p, value).text, value);
}

/* The value of this name in a nest of parameters; false: it is not there. */
static bool find_value(struct rtattr *nest, const char *name, __u64 *value)
{
	int len = nest ? RTA_PAYLOAD(nest) : 0;
	struct rtattr *a, *tb[TCA_CEMARK_PARAM_MAX + 1];

	for (a = nest ? RTA_DATA(nest) : NULL; a && RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		collect(tb, TCA_CEMARK_PARAM_MAX, a);
		if (!tb[TCA_CEMARK_PARAM_NAME] || !tb[TCA_CEMARK_PARAM_VALUE] ||
		    strcmp(RTA_DATA(tb[TCA_CEMARK_PARAM_NAME]), name))
			continue;
		*value = u64_of(tb[TCA_CEMARK_PARAM_VALUE]);
		return true;
	}
	return false;
}

/* Parameters that this plugin does not know: names and numbers. */
static void print_unknown(const struct cemark_scheme *s, struct rtattr *nest)
{
	int len = nest ? RTA_PAYLOAD(nest) : 0;
	struct rtattr *a, *tb[TCA_CEMARK_PARAM_MAX + 1];
	const char *name;

	for (a = nest ? RTA_DATA(nest) : NULL; a && RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		collect(tb, TCA_CEMARK_PARAM_MAX, a);
		if (!tb[TCA_CEMARK_PARAM_NAME])
			continue;
		name = RTA_DATA(tb[TCA_CEMARK_PARAM_NAME]);
		if (!s || !cemark_param(s, name))
			print_color_lluint(PRINT_ANY, COLOR_NONE, name, "%llu ",
					   u64_of(tb[TCA_CEMARK_PARAM_VALUE]));
	}
}

/* A scheme and its parameters; `usual`: those that are not in the nest have their defaults. */
static void print_scheme(const char *name, struct rtattr *nest, bool usual)
{
	const struct cemark_scheme *s = cemark_scheme(name);
	unsigned int i;

	word("scheme", name);
	open_json_object("parameters");
	for (i = 0; s && i < s->params; i++) {
		__u64 value = s->param[i].usual;

		if (find_value(nest, s->param[i].name, &value) || usual)
			print_value(&s->param[i], value);
	}
	print_unknown(s, nest);
	close_json_object();
}

static void print_own(__u32 queue, struct rtattr **tb)
{
	open_json_object(NULL);
	print_color_lluint(PRINT_ANY, COLOR_NONE, "queue", "queue %llu ", queue);
	if (tb[TCA_CEMARK_OWN_SCHEME])
		print_scheme(RTA_DATA(tb[TCA_CEMARK_OWN_SCHEME]), tb[TCA_CEMARK_OWN_PARAMS], true);
	if (tb[TCA_CEMARK_OWN_NON_ECT])
		word("not_ect", show_word(CEMARK_OWN_NON_ECT_WORDS,
					  u32_of(tb[TCA_CEMARK_OWN_NON_ECT])).text);
	close_json_object();
}

/* An entry may be of several queues. */
static void print_by_queue(struct rtattr *nest)
{
	struct rtattr *a, *tb[TCA_CEMARK_OWN_MAX + 1];
	__u32 queue;
	int len;

	open_json_array(PRINT_JSON, "own");
	for (queue = 0; queue < CEMARK_MAX_QUEUES; queue++) {
		len = RTA_PAYLOAD(nest);
		for (a = RTA_DATA(nest); RTA_OK(a, len); a = RTA_NEXT(a, len)) {
			collect(tb, TCA_CEMARK_OWN_MAX, a);
			if (u32_of(tb[TCA_CEMARK_OWN_QUEUES]) & (__u32)1 << queue)
				print_own(queue, tb);
		}
	}
	close_json_array(PRINT_JSON, NULL);
}

static void print_quanta(struct rtattr *nest)
{
	int len = RTA_PAYLOAD(nest);
	struct rtattr *a;

	open_json_array(PRINT_JSON, "quanta");
	if (!is_json_context())
		printf("quanta ");
	for (a = RTA_DATA(nest); RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (is_json_context())
			print_color_lluint(PRINT_JSON, COLOR_NONE, NULL, NULL, u32_of(a));
		else
			printf("%s ", show_size(u32_of(a)).text);
	}
	close_json_array(PRINT_JSON, NULL);
}

static void print_map(const struct rtattr *a)
{
	const unsigned char *pair = RTA_DATA(a);
	char text[16];
	unsigned int i;

	open_json_object("map");
	if (!is_json_context())
		printf("map ");
	for (i = 0; i + 1 < RTA_PAYLOAD(a); i += 2) {
		if (is_json_context()) {
			snprintf(text, sizeof(text), "%u", pair[i]);
			print_color_lluint(PRINT_JSON, COLOR_NONE, text, NULL, pair[i + 1]);
		} else {
			printf("%u:%u ", pair[i], pair[i + 1]);
		}
	}
	close_json_object();
}

static void print_rate(struct rtattr **tb)
{
	__u64 rate = u64_of(tb[TCA_CEMARK_RATE]);
	__u32 shape = u32_of(tb[TCA_CEMARK_SHAPE]), burst = u32_of(tb[TCA_CEMARK_BURST]);

	if (rate)
		number("rate", show_rate(rate).text, rate);
	else
		word("rate", "device");
	if (!shape)
		return;
	if (is_json_context())
		print_color_float(PRINT_JSON, COLOR_NONE, "shaper", NULL, shape / 1e6);
	else
		printf("shaper %s ", show_percent(shape).text);
	if (burst)
		number("burst", show_size(burst).text, burst);
}

static void print_round(struct rtattr **tb)
{
	__u64 idle = u64_of(tb[TCA_CEMARK_IDLE]);

	fraction("round_beta", u32_of(tb[TCA_CEMARK_BETA]));
	if (idle == CEMARK_IDLE_MTU)
		word("round_idle", "mtu");
	else if (!idle)
		word("round_idle", "never");
	else
		number("round_idle", show_time(idle).text, idle);
}

int cemark_print(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_CEMARK_MAX + 1];
	__u32 scheduler, limit, memory;

	(void)qu;
	(void)f;
	if (!opt)
		return 0;
	collect(tb, TCA_CEMARK_MAX, opt);
	if (!tb[TCA_CEMARK_SCHEME])
		return -1;
	print_scheme(RTA_DATA(tb[TCA_CEMARK_SCHEME]), tb[TCA_CEMARK_PARAMS], false);
	scheduler = u32_of(tb[TCA_CEMARK_SCHEDULER]);
	word("scheduler", show_word(CEMARK_SCHEDULER_WORDS, scheduler).text);
	print_color_lluint(PRINT_ANY, COLOR_NONE, "queues", "queues %llu ",
			   u32_of(tb[TCA_CEMARK_QUEUES]));
	if (scheduler == CEMARK_DWRR || scheduler == CEMARK_WRR) {
		print_color_lluint(PRINT_ANY, COLOR_NONE, "strict", "strict %llu ",
				   u32_of(tb[TCA_CEMARK_STRICT]));
		if (tb[TCA_CEMARK_QUANTA])
			print_quanta(tb[TCA_CEMARK_QUANTA]);
		print_round(tb);
	}
	word("by", show_word(CEMARK_CLASSES_WORDS, u32_of(tb[TCA_CEMARK_CLASSES])).text);
	if (tb[TCA_CEMARK_MAP])
		print_map(tb[TCA_CEMARK_MAP]);
	limit = u32_of(tb[TCA_CEMARK_LIMIT]);
	number("limit", show_size(limit).text, limit);
	memory = u32_of(tb[TCA_CEMARK_MEMORY]);
	number("memory", show_size(memory).text, memory);
	print_rate(tb);
	word("not_ect", show_word(CEMARK_NON_ECT_WORDS, u32_of(tb[TCA_CEMARK_NON_ECT])).text);
	word("gso", show_word(CEMARK_GSO_WORDS, u32_of(tb[TCA_CEMARK_GSO])).text);
	if (tb[TCA_CEMARK_BY_QUEUE])
		print_by_queue(tb[TCA_CEMARK_BY_QUEUE]);
	return 0;
}

/* "  marks total: a 1 b 2 ..."; in JSON an object of the parts. */
static void print_reasons(const char *what, const char *key, const char *words,
			  const __u64 *counts, int n)
{
	unsigned long long total = 0;
	int i;

	for (i = 0; i < n; i++)
		total += counts[i];
	open_json_object(key);
	if (!is_json_context())
		printf("  %s %llu:", what, total);
	for (i = 0; i < n; i++) {
		if (is_json_context())
			print_color_lluint(PRINT_JSON, COLOR_NONE, show_word(words, i).text, NULL,
					   counts[i]);
		else
			printf(" %s %llu", show_word(words, i).text,
			       (unsigned long long)counts[i]);
	}
	close_json_object();
}

static void print_queue(const struct tc_cemark_queue *q)
{
	__u64 mean = q->packets ? q->waited / q->packets : 0;
	int json = is_json_context();

	number(json ? "packets_sent" : "packets", show_count(q->packets).text, q->packets);
	if (json) {
		print_color_lluint(PRINT_JSON, COLOR_NONE, "bytes_sent", NULL, q->bytes);
		print_color_lluint(PRINT_JSON, COLOR_NONE, "waited_ns", NULL, q->waited);
	}
	number(json ? "wait_mean_ns" : "wait mean", show_time(mean).text, mean);
	number(json ? "wait_recent_ns" : "recent", show_time(q->recent).text, q->recent);
	number(json ? "wait_longest_ns" : "longest", show_time(q->longest).text, q->longest);
	if (q->threshold_bytes != 0xffffffffU)
		number(json ? "threshold_bytes" : "threshold", show_size(q->threshold_bytes).text,
		       q->threshold_bytes);
	if (q->threshold_wait != 0xffffffffffffffffULL)
		number(json ? "threshold_ns" : "threshold", show_time(q->threshold_wait).text,
		       q->threshold_wait);
	if (!json)
		printf("\n");
	print_reasons("marks", "mark_reasons", "instant persistent random average tentative",
		      q->marks, CEMARK_WHYS);
	print_color_lluint(PRINT_ANY, COLOR_NONE, "not_ect_sent", " not_ect_sent %llu",
			   q->spared);
	/* Of interest to people only if it happens. */
	if (json || q->unwritten)
		print_color_lluint(PRINT_ANY, COLOR_NONE, "unwritten", " unwritten %llu",
				   q->unwritten);
	if (!json)
		printf("\n");
	print_reasons("drops", "drop_reasons", "limit scheme not_ect memory split filter", q->drops,
		      CEMARK_GONES);
}

/* The statistics at `place`, of which the module has sent `size` bytes: what is missing is 0. */
static void print_queue_at(const char *place, size_t size)
{
	struct tc_cemark_queue one = { 0 };

	memcpy(&one, place, size < sizeof(one) ? size : sizeof(one));
	print_queue(&one);
}

int cemark_print_xstats(struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct tc_cemark_xstats st = { 0 };
	size_t len = RTA_PAYLOAD(xstats), size, i;
	const char *data = RTA_DATA(xstats), *queue;
	int json = is_json_context();

	(void)qu;
	(void)f;
	memcpy(&st, data, len < sizeof(st) ? len : sizeof(st));
	size = st.queue_size;
	if (st.version != CEMARK_STATS_VERSION || !size || st.size > len || size > len - st.size) {
		fprintf(stderr, "cemark: statistics of version %u, and this plugin reads %u: install "
			"module and plugin of one version\n", st.version, CEMARK_STATS_VERSION);
		return -1;
	}
	/* Longer than this plugin knows is a later version. */
	if (st.size < sizeof(st))
		memset((char *)&st + st.size, 0, sizeof(st) - st.size);
	queue = data + st.size;
	if (!json)
		printf("  ");
	number(json ? "rate_now" : "rate", show_rate(st.rate).text, st.rate);
	number(json ? "memory_now" : "memory", show_size(st.memory).text, st.memory);
	if (st.round)
		number(json ? "round_ns" : "round", show_time(st.round).text, st.round);
	print_queue_at(queue, size);
	if (len - st.size < 2 * size)
		return 0;
	open_json_array(PRINT_JSON, "by_queue");
	for (i = 1; st.size + (i + 1) * size <= len; i++) {
		open_json_object(NULL);
		if (!json)
			printf("\n  queue %zu: ", i - 1);
		print_queue_at(queue + i * size, size);
		close_json_object();
	}
	close_json_array(PRINT_JSON, NULL);
	return 0;
}
