/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The schemes of the catalogue as tables of functions. A marker's parameters and state are in a
 * block of memory of its queue, whatever the scheme.
 */
#ifndef CEMARK_MARKERS_H
#define CEMARK_MARKERS_H

#include "cemark/ecn_sharp.h"

struct cemark_scheme;

/* Bytes of parameters and state of any scheme. */
#define CEMARK_MARKER_BYTES 256

union cemark_marker {
	u64 block[CEMARK_MARKER_BYTES / sizeof(u64)];
};

/* The calls of at.h; `values` are in the catalogue's order and in its ranges. */
struct cemark_ops {
	const struct cemark_scheme *spec;
	/* New parameters, with new state or with the state kept. */
	void (*build)(union cemark_marker *m, const u64 *values,
		      const struct cemark_queue_spec *queue);
	void (*retune)(union cemark_marker *m, const u64 *values,
		       const struct cemark_queue_spec *queue);
	u32 (*traits)(const union cemark_marker *m);
	u32 (*enqueue)(union cemark_marker *m, const struct cemark_at *at);
	u32 (*dequeue)(union cemark_marker *m, const struct cemark_at *at);
	void (*emptied)(union cemark_marker *m, u64 now);
	void (*wake)(union cemark_marker *m, const struct cemark_at *at);
	bool (*next_wake)(const union cemark_marker *m, u64 *when);
};

/* The scheme of this name, or NULL; of CEMARK_NONE, one that never marks. */
const struct cemark_ops *cemark_find(const char *name);

/*
 * ECN#'s hook is called directly where calls through a pointer are slow (retpolines), and the
 * step on waits is part of its caller where nothing else is to be done.
 */
u32 cemark_op_ecn_sharp_dequeue(union cemark_marker *m, const struct cemark_at *at);

/* What ECN# keeps in the block (markers.c asserts it). */
struct cemark_ecn_sharp_block {
	struct cemark_ecn_sharp_params params;
	struct cemark_ecn_sharp_vars vars;
};

/* Of a marker with ECN#: whether it compares the waits of departures with a step. */
static inline bool cemark_ecn_sharp_by_wait(const union cemark_marker *m)
{
	const struct cemark_ecn_sharp_block *k = (const void *)m->block;

	return k->params.by_wait;
}

static inline u32 cemark_ecn_sharp_wait(union cemark_marker *m, u64 now, u64 sojourn)
{
	struct cemark_ecn_sharp_block *k = (void *)m->block;

	return cemark_ecn_sharp_step(&k->params, &k->vars, cemark_to32(sojourn), now);
}

#endif
