/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The variants of ECN# that the paper, its authors' code and later work have: their parameters.
 * Part of ecn_sharp.h, which is the published algorithm; the code of the variants is in
 * ecn_sharp_variants_impl.h.
 *
 * A deployment leaves all of this at CEMARK_ECN_SHARP_PUBLISHED. The variants exist to compare
 * with: docs/schemes/ecn_sharp.md says where each comes from and what it changes.
 */
#ifndef CEMARK_ECN_SHARP_VARIANTS_H
#define CEMARK_ECN_SHARP_VARIANTS_H

#include "at.h"
#include "fixed.h"

/* The gap after the n-th mark. */
enum cemark_ecn_sharp_law {
	CEMARK_ECN_SHARP_LAW_HARMONIC = 0, /* pst_interval / n: Algorithm 1 */
	CEMARK_ECN_SHARP_LAW_SQRT = 1,     /* pst_interval / sqrt(n): the authors' ns-3 code */
};

/* Where the gap begins. */
enum cemark_ecn_sharp_base {
	CEMARK_ECN_SHARP_BASE_PREVIOUS = 0, /* at the time that was scheduled: Algorithm 1 */
	CEMARK_ECN_SHARP_BASE_NOW = 1,      /* at the mark itself: the authors' ns-3 code */
};

/* What is compared with the targets. */
enum cemark_ecn_sharp_signal {
	CEMARK_ECN_SHARP_SIGNAL_SOJOURN = 0, /* the wait */
	CEMARK_ECN_SHARP_SIGNAL_LENGTH = 1,  /* the length, with link rate * target (section 3.5) */
};

/* The instantaneous condition. */
enum cemark_ecn_sharp_instant {
	CEMARK_ECN_SHARP_INSTANT_STEP = 0, /* above ins_target */
	CEMARK_ECN_SHARP_INSTANT_RAMP = 1, /* RED's ramp, for DCQCN (section 3.5) */
};

/* How times are kept and intervals divided. */
enum cemark_ecn_sharp_arithmetic {
	CEMARK_ECN_SHARP_ARITHMETIC_EXACT = 0,  /* nanoseconds, exact quotients */
	CEMARK_ECN_SHARP_ARITHMETIC_TOFINO = 1, /* the paper's switch (section 4), corrected */
	/* the same with Algorithm 2 or 3 as printed, to show what is wrong with the listings */
	CEMARK_ECN_SHARP_ARITHMETIC_PRINTED_CLOCK = 2,
	CEMARK_ECN_SHARP_ARITHMETIC_PRINTED_DIVISION = 3,
};

struct cemark_ecn_sharp_variant {
	enum cemark_ecn_sharp_law law;
	enum cemark_ecn_sharp_base base;
	enum cemark_cmp cmp; /* whether a mark is due after its time or from its time on */
	enum cemark_ecn_sharp_signal signal;
	enum cemark_ecn_sharp_instant instant;
	u64 kmin, kmax;      /* ns, up to CEMARK_SEC, kmin <= kmax: ends of the ramp */
	u32 pmax;            /* parts of 2^16, up to CEMARK_ONE: probability at kmax */
	bool by_round;       /* scale by the queue's share of the round, as MQ-ECN does */
	enum cemark_ecn_sharp_arithmetic arithmetic;
	enum cemark_hook hook;
};

/* Algorithm 1. The ramp's values are DCQCN's and have no effect without the ramp. */
#define CEMARK_ECN_SHARP_PUBLISHED                                                                 \
	{                                                                                          \
		.law = CEMARK_ECN_SHARP_LAW_HARMONIC,                                              \
		.base = CEMARK_ECN_SHARP_BASE_PREVIOUS,                                            \
		.cmp = CEMARK_CMP_STRICT,                                                          \
		.signal = CEMARK_ECN_SHARP_SIGNAL_SOJOURN,                                         \
		.instant = CEMARK_ECN_SHARP_INSTANT_STEP,                                          \
		.kmin = 5 * CEMARK_USEC,                                                           \
		.kmax = 200 * CEMARK_USEC,                                                         \
		.pmax = CEMARK_PERCENT(1),                                                         \
		.by_round = 0,                                                                     \
		.arithmetic = CEMARK_ECN_SHARP_ARITHMETIC_EXACT,                                   \
		.hook = CEMARK_HOOK_DEQUEUE,                                                       \
	}

/* The variant as the algorithm uses it. Thresholds are in the unit of the signal: ns or bytes. */
struct cemark_ecn_sharp_variant_params {
	u32 kmin;         /* foot of the ramp; its head is ins_target */
	u32 pmax;         /* parts of 2^16 */
	u32 quantum_time; /* ns that the quantum takes on the link, if by_round; else 0 */
	u8 active;        /* 1: anything here differs from Algorithm 1 */
	u8 sqrt;          /* 1: CEMARK_ECN_SHARP_LAW_SQRT */
	u8 from_now;      /* 1: CEMARK_ECN_SHARP_BASE_NOW */
	u8 inclusive;     /* 1: a mark is due from its time on */
	u8 by_length;     /* 1: CEMARK_ECN_SHARP_SIGNAL_LENGTH */
	u8 at_enqueue;    /* 1: judge arrivals; 0: departures */
	u8 ramp;          /* 1: CEMARK_ECN_SHARP_INSTANT_RAMP */
	u8 arithmetic;    /* enum cemark_ecn_sharp_arithmetic */
};

/* The Tofino's clock. With it first_above and next are in its ticks. */
struct cemark_ecn_sharp_variant_vars {
	u32 clock;
	u8 in_ticks;
};

struct cemark_ecn_sharp_config;
struct cemark_ecn_sharp_params;
struct cemark_ecn_sharp_vars;

/* Defined in ecn_sharp_variants_impl.h. */
CEMARK_FN bool cemark_ecn_sharp_variant_valid(const struct cemark_ecn_sharp_variant *c);
CEMARK_FN void cemark_ecn_sharp_variant_apply(struct cemark_ecn_sharp_params *p,
					      const struct cemark_ecn_sharp_config *c,
					      const struct cemark_queue_spec *queue);
CEMARK_FN void cemark_ecn_sharp_variant_init(const struct cemark_ecn_sharp_variant_params *p,
					     struct cemark_ecn_sharp_variant_vars *v);
CEMARK_FN u32 cemark_ecn_sharp_variant_judge(const struct cemark_ecn_sharp_params *p,
					     struct cemark_ecn_sharp_vars *v,
					     const struct cemark_at *at);

#endif
