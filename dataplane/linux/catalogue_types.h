/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The types of catalogue.h, which the module and tc's plugin share: the declarations of the
 * schemes' parameters, as crates/marking declares them.
 */
#ifndef CEMARK_CATALOGUE_TYPES_H
#define CEMARK_CATALOGUE_TYPES_H

#include <linux/types.h>

/* More parameters than any scheme has; CEMARK_MAX_PARAMS of cemark/marker.h. */
#define CEMARK_PARAMS 16

enum cemark_kind {
	CEMARK_KIND_TIME,     /* ns */
	CEMARK_KIND_BYTES,
	CEMARK_KIND_FRACTION, /* parts of 2^16 */
	CEMARK_KIND_COUNT,
	CEMARK_KIND_FLAG,     /* 0 or 1 */
	CEMARK_KIND_CHOICE,   /* place in `words` */
};

struct cemark_param {
	const char *name;
	enum cemark_kind kind;
	__u64 usual, min, max;
	const char *words; /* of a choice, with spaces between them */
	const char *doc;   /* NULL in the module */
};

/* Two parameters of which `high` must not be below `low`; zero_follows: unless it is zero. */
struct cemark_ordered {
	unsigned char low, high, zero_follows;
};

struct cemark_scheme {
	const char *name;    /* the stem */
	const char *title;
	const char *aliases; /* with spaces between them */
	const char *doc;     /* NULL in the module */
	unsigned int params, pairs;
	const struct cemark_param *param;
	const struct cemark_ordered *ordered;
};

/* Texts for people are of no use in the kernel. */
#ifdef __KERNEL__
#define CEMARK_DOC(text) NULL
#else
#define CEMARK_DOC(text) text
#endif

#endif
