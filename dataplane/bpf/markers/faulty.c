// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Markers that violate the interface in the middle of a run. The command line selects how, with a
 * macro such as CEMARK_FAULT_load, and the object file has the same name. Until then they mark with
 * a step at 20 packets.
 */
#include "cemark/marker.h"

/* The packet of a queue at which the fault happens. */
#define LAST 100

struct cemark_faulty_params {
	u32 step; /* bytes */
};

struct cemark_faulty_vars {
	u32 seen; /* packets */
};

#if defined(CEMARK_FAULT_global)
static u32 packets;
#endif

CEMARK_FN void cemark_faulty_set(struct cemark_faulty_params *p, const u64 *values,
				 const struct cemark_queue_spec *queue)
{
	(void)values;
	p->step = 20 * queue->mtu;
}

CEMARK_FN void cemark_faulty_init(const struct cemark_faulty_params *p,
				  struct cemark_faulty_vars *v)
{
	(void)p;
	v->seen = 0;
}

CEMARK_FN u32 cemark_faulty_traits(const struct cemark_faulty_params *p)
{
	(void)p;
#if defined(CEMARK_FAULT_wake) || defined(CEMARK_FAULT_clock)
	return CEMARK_AT_ENQUEUE | CEMARK_CLOCK;
#else
	return CEMARK_AT_ENQUEUE | CEMARK_AT_DEQUEUE | CEMARK_WATCHES_EMPTY;
#endif
}

/* optnone: the compiler must not turn the recursion into a loop or a tail call. */
#if defined(CEMARK_FAULT_recursion)
static __attribute__((noinline, optnone)) u32 deeper(const volatile u32 *seen)
{
	return *seen == 0 ? 0 : 1 + deeper(seen);
}
#endif

/* A word outside all memory of a marker. */
#define BEYOND(p) (*(const volatile u32 *)((const char *)(p) + 4096))

CEMARK_FN u32 cemark_faulty_enqueue(const struct cemark_faulty_params *p,
				    struct cemark_faulty_vars *v, const struct cemark_at *at)
{
	volatile u32 *seen = &v->seen;

	if (++*seen == LAST) {
#if defined(CEMARK_FAULT_load)
		return BEYOND(at);
#elif defined(CEMARK_FAULT_null)
		*(volatile u32 *)(u64)(*seen - LAST) = 1;
#elif defined(CEMARK_FAULT_stack)
		volatile u32 here[2] = { 0, 0 };

		for (s32 i = 1; i >= -256; i--)
			here[i] = *seen;
#elif defined(CEMARK_FAULT_recursion)
		return deeper(seen);
#elif defined(CEMARK_FAULT_helper)
		return (u32)((u64(*)(void))5)();
#elif defined(CEMARK_FAULT_verdict)
		return 7;
#elif defined(CEMARK_FAULT_endless)
		while (*seen == LAST)
			;
#elif defined(CEMARK_FAULT_global)
		if (++packets > 1000)
			return CEMARK_PASS;
#endif
	}
	return at->queue_bytes >= p->step ? CEMARK_MARK(CEMARK_INSTANT) : CEMARK_PASS;
}

CEMARK_FN u32 cemark_faulty_dequeue(const struct cemark_faulty_params *p,
				    struct cemark_faulty_vars *v, const struct cemark_at *at)
{
	(void)p;
	(void)v;
#if defined(CEMARK_FAULT_dequeue)
	if (v->seen >= LAST)
		return BEYOND(at);
#endif
	return cemark_keep(at);
}

CEMARK_FN void cemark_faulty_emptied(const struct cemark_faulty_params *p,
				     struct cemark_faulty_vars *v, u64 now)
{
	(void)p;
	(void)v;
	(void)now;
#if defined(CEMARK_FAULT_emptied)
	if (v->seen >= LAST)
		v->seen = BEYOND(v);
#endif
}

CEMARK_FN void cemark_faulty_wake(const struct cemark_faulty_params *p,
				  struct cemark_faulty_vars *v, const struct cemark_at *at)
{
	(void)p;
	(void)v;
	(void)at;
#if defined(CEMARK_FAULT_wake)
	v->seen = BEYOND(at);
#endif
}

/*
 * From the last packet on the marker asks to be woken. With CEMARK_FAULT_clock the time that it
 * asks for never changes.
 */
CEMARK_FN bool cemark_faulty_next_wake(const struct cemark_faulty_params *p,
				       const struct cemark_faulty_vars *v, u64 *when)
{
	(void)p;
	*when = 1000000;
	return v->seen >= LAST;
}

CEMARK_NO_RETUNED(faulty)

CEMARK_MARKER(faulty);
