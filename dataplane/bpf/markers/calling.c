// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * examples/own_marker.c with functions that are called and not inlined: the interpreter's calls are
 * tested with it.
 */
#include "cemark/marker.h"

struct cemark_calling_params {
	u32 high, low; /* bytes */
};

struct cemark_calling_vars {
	u8 marking;
};

CEMARK_FN void cemark_calling_set(struct cemark_calling_params *p, const u64 *values,
				  const struct cemark_queue_spec *queue)
{
	(void)values;
	p->high = 65 * queue->mtu;
	p->low = 40 * queue->mtu;
}

CEMARK_FN void cemark_calling_init(const struct cemark_calling_params *p,
				   struct cemark_calling_vars *v)
{
	(void)p;
	v->marking = 0;
}

CEMARK_FN u32 cemark_calling_traits(const struct cemark_calling_params *p)
{
	(void)p;
	return CEMARK_AT_ENQUEUE;
}

static __attribute__((noinline)) bool from(u32 threshold, u32 length)
{
	return length >= threshold;
}

static __attribute__((noinline)) u32 cemark_calling_enqueue(const struct cemark_calling_params *p,
							    struct cemark_calling_vars *v,
							    const struct cemark_at *at)
{
	if (from(p->high, at->queue_bytes))
		v->marking = 1;
	else if (!from(p->low, at->queue_bytes))
		v->marking = 0;
	return v->marking ? CEMARK_MARK(CEMARK_INSTANT) : CEMARK_PASS;
}

CEMARK_NO_RETUNED(calling)
CEMARK_NO_DEQUEUE(calling)
CEMARK_NO_EMPTIED(calling)
CEMARK_NO_CLOCK(calling)

CEMARK_MARKER(calling);
