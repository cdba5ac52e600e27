/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the plugin uses of tc, which loads it: iproute2 installs no headers for plugins. The names
 * and types are those of iproute2's tc/tc_util.h, include/json_print.h, include/libnetlink.h.
 */
#ifndef CEMARK_TC_ABI_H
#define CEMARK_TC_ABI_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdio.h>

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
			  const char *dev);
	int (*print_qopt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*print_xstats)(struct qdisc_util *qu, FILE *f, struct rtattr *xstats);
	int (*parse_copt)(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
			  const char *dev);
	int (*print_copt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*has_block)(struct qdisc_util *qu, struct rtattr *opt, __u32 block_idx, bool *p_has);
};

/* Output: as text, as JSON, or as what the user asked for. */
enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

/* The last of enum color_attr: no colour. */
#define COLOR_NONE 6

/* Set by `tc -d`. */
extern int show_details;

int print_color_string(enum output_type type, int color, const char *key, const char *fmt,
		       const char *value);
int print_color_lluint(enum output_type type, int color, const char *key, const char *fmt,
		       unsigned long long value);
int print_color_float(enum output_type type, int color, const char *key, const char *fmt,
		      double value);
int print_color_bool(enum output_type type, int color, const char *key, const char *fmt,
		     bool value);
void open_json_object(const char *name);
void close_json_object(void);
void open_json_array(enum output_type type, const char *name);
void close_json_array(enum output_type type, const char *delim);
bool is_json_context(void);

int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data, int alen);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);

#endif
