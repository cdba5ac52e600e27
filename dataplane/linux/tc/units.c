// SPDX-License-Identifier: GPL-2.0
/* See units.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "units.h"

struct unit {
	const char *name;
	double factor;
};

/* A number and one of the units. The first unit is that of a number alone, unless it is "". */
static int read_units(const char *what, const char *text, const struct unit *units,
		      const char *example, __u64 *value)
{
	const struct unit *u;
	char *end;
	double number;

	errno = 0;
	number = strtod(text, &end);
	if (end == text || errno || !isfinite(number) || number < 0)
		goto wrong;
	for (u = units; u->name; u++)
		if (!strcasecmp(u->name, end))
			break;
	if (!u->name)
		goto wrong;
	number = floor(number * u->factor + 0.5);
	if (number >= 18446744073709551615.0)
		goto wrong;
	*value = number;
	return 0;
wrong:
	fprintf(stderr, "cemark: %s \"%s\": write %s\n", what, text, example);
	return -1;
}

int read_time(const char *what, const char *text, __u64 *ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 },
	};

	/* A bare number means different units in different qdiscs, so it is not taken. */
	return read_units(what, text, units, "a time with its unit, such as 200us", ns);
}

int read_size(const char *what, const char *text, __u64 *bytes)
{
	static const struct unit units[] = {
		{ "", 1 },	 { "b", 1 },	  { "k", 1024 },      { "kb", 1024 },
		{ "m", 1048576 }, { "mb", 1048576 }, { "g", 1073741824 }, { "gb", 1073741824 },
		{ NULL, 0 },
	};

	return read_units(what, text, units, "a size, such as 97500 or 95kb (1024 bytes)", bytes);
}

int read_rate(const char *what, const char *text, __u64 *bits)
{
	static const struct unit units[] = {
		{ "bit", 1 },	  { "kbit", 1e3 },   { "mbit", 1e6 }, { "gbit", 1e9 },
		{ "tbit", 1e12 }, { "bps", 8 },	     { "kbps", 8e3 }, { "mbps", 8e6 },
		{ "gbps", 8e9 },  { "tbps", 8e12 },  { "", 1 },	      { NULL, 0 },
	};

	return read_units(what, text, units, "a rate, such as 10gbit (bps are bytes per second)",
			  bits);
}

static int read_parts(const char *what, const char *text, __u32 one, __u32 *parts)
{
	const struct unit units[] = { { "%", one / 100.0 }, { "", one }, { NULL, 0 } };
	__u64 value;

	if (read_units(what, text, units, "a fraction from 0 to 1, such as 0.25 or 25%", &value))
		return -1;
	if (value > one) {
		fprintf(stderr, "cemark: %s \"%s\": write a fraction from 0 to 1, or 0%% to 100%%\n",
			what, text);
		return -1;
	}
	*parts = value;
	return 0;
}

int read_fraction(const char *what, const char *text, __u32 *parts)
{
	return read_parts(what, text, 65536, parts);
}

int read_millionths(const char *what, const char *text, __u32 *parts)
{
	return read_parts(what, text, 1000000, parts);
}

int read_count(const char *what, const char *text, __u64 *count)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (end == text || *end || errno || *text == '-') {
		fprintf(stderr, "cemark: %s \"%s\": write a whole number\n", what, text);
		return -1;
	}
	*count = value;
	return 0;
}

/* The n-th of the words, and the length of it; NULL after the last. */
static const char *word_at(const char *words, __u64 n, size_t *len)
{
	while (words && *words) {
		*len = strcspn(words, " ");
		if (!n--)
			return words;
		words += *len;
		words += strspn(words, " ");
	}
	return NULL;
}

static int find_word(const char *text, const char *words, __u64 *place)
{
	const char *word;
	size_t len;
	__u64 n;

	for (n = 0; (word = word_at(words, n, &len)); n++) {
		if (strlen(text) == len && !strncasecmp(text, word, len)) {
			*place = n;
			return 0;
		}
	}
	return -1;
}

int is_word(const char *text, const char *words)
{
	__u64 place;

	return !find_word(text, words, &place);
}

int read_word(const char *what, const char *text, const char *words, __u64 *place)
{
	if (!find_word(text, words, place))
		return 0;
	fprintf(stderr, "cemark: %s \"%s\": write one of: %s\n", what, text, words);
	return -1;
}

int read_param(const struct cemark_param *p, const char *text, __u64 *value)
{
	__u32 parts = 0;
	int err = -1;

	switch (p->kind) {
	case CEMARK_KIND_TIME:
		err = read_time(p->name, text, value);
		break;
	case CEMARK_KIND_BYTES:
		err = read_size(p->name, text, value);
		break;
	case CEMARK_KIND_FRACTION:
		err = read_fraction(p->name, text, &parts);
		*value = parts;
		break;
	case CEMARK_KIND_COUNT:
		err = read_count(p->name, text, value);
		break;
	case CEMARK_KIND_FLAG:
		if (is_word(text, "true on yes 1")) {
			*value = 1;
			return 0;
		}
		if (is_word(text, "false off no 0")) {
			*value = 0;
			return 0;
		}
		fprintf(stderr, "cemark: %s \"%s\": write true or false\n", p->name, text);
		return -1;
	case CEMARK_KIND_CHOICE:
		return read_word(p->name, text, p->words, value);
	}
	if (err)
		return err;
	if (*value < p->min || *value > p->max) {
		fprintf(stderr, "cemark: %s \"%s\": write %s to %s\n", p->name, text,
			show_param(p, p->min).text, show_param(p, p->max).text);
		return -1;
	}
	return 0;
}

struct shown show_count(__u64 count)
{
	struct shown s;

	snprintf(s.text, sizeof(s.text), "%llu", (unsigned long long)count);
	return s;
}

struct shown show_time(__u64 ns)
{
	struct shown s;
	unsigned long long n = ns;

	if (n && n % 1000000000 == 0)
		snprintf(s.text, sizeof(s.text), "%llus", n / 1000000000);
	else if (n && n % 1000000 == 0)
		snprintf(s.text, sizeof(s.text), "%llums", n / 1000000);
	else if (n && n % 1000 == 0)
		snprintf(s.text, sizeof(s.text), "%lluus", n / 1000);
	else
		snprintf(s.text, sizeof(s.text), "%lluns", n);
	return s;
}

struct shown show_size(__u64 bytes)
{
	struct shown s;

	snprintf(s.text, sizeof(s.text), "%llub", (unsigned long long)bytes);
	return s;
}

struct shown show_rate(__u64 bits)
{
	static const char *const units[] = { "bit", "kbit", "mbit", "gbit", "tbit" };
	unsigned long long n = bits;
	struct shown s;
	int u = 0;

	while (u < 4 && n && n % 1000 == 0) {
		n /= 1000;
		u++;
	}
	snprintf(s.text, sizeof(s.text), "%llu%s", n, units[u]);
	return s;
}

struct shown show_fraction(__u32 parts)
{
	struct shown s;

	snprintf(s.text, sizeof(s.text), "%.6g", parts / 65536.0);
	return s;
}

struct shown show_percent(__u32 millionths)
{
	struct shown s;

	snprintf(s.text, sizeof(s.text), "%.6g%%", millionths / 10000.0);
	return s;
}

struct shown show_word(const char *words, __u64 place)
{
	struct shown s;
	size_t len;
	const char *word = word_at(words, place, &len);

	if (word)
		snprintf(s.text, sizeof(s.text), "%.*s", (int)len, word);
	else
		snprintf(s.text, sizeof(s.text), "%llu", (unsigned long long)place);
	return s;
}

struct shown show_param(const struct cemark_param *p, __u64 value)
{
	struct shown s;

	switch (p->kind) {
	case CEMARK_KIND_TIME:
		return show_time(value);
	case CEMARK_KIND_BYTES:
		return show_size(value);
	case CEMARK_KIND_FRACTION:
		return show_fraction(value);
	case CEMARK_KIND_FLAG:
		return show_word("false true", value);
	case CEMARK_KIND_CHOICE:
		return show_word(p->words, value);
	case CEMARK_KIND_COUNT:
		break;
	}
	snprintf(s.text, sizeof(s.text), "%llu", (unsigned long long)value);
	return s;
}
