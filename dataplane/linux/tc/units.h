/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers with units, as tc reads and shows them. Readers return 0, or -1 after a message that says
 * what to write. What is shown can be given back.
 */
#ifndef CEMARK_TC_UNITS_H
#define CEMARK_TC_UNITS_H

#include <linux/types.h>
#include <stddef.h>

#include "../catalogue_types.h"

/* A text of a value. */
struct shown {
	char text[48];
};

int read_time(const char *what, const char *text, __u64 *ns);
int read_size(const char *what, const char *text, __u64 *bytes);
int read_rate(const char *what, const char *text, __u64 *bits);
/* The same in millionths. */
int read_millionths(const char *what, const char *text, __u32 *parts);
int read_fraction(const char *what, const char *text, __u32 *parts);
int read_count(const char *what, const char *text, __u64 *count);
/* One of the words with spaces between them: its place. */
int read_word(const char *what, const char *text, const char *words, __u64 *place);
/* A parameter of a scheme. */
int read_param(const struct cemark_param *p, const char *text, __u64 *value);

struct shown show_count(__u64 count);
struct shown show_time(__u64 ns);
struct shown show_size(__u64 bytes);
struct shown show_rate(__u64 bits);
struct shown show_percent(__u32 millionths);
struct shown show_fraction(__u32 parts);
struct shown show_word(const char *words, __u64 place);
struct shown show_param(const struct cemark_param *p, __u64 value);

/* Whether `text` is one of the words; their number is not needed. */
int is_word(const char *text, const char *words);

#endif
