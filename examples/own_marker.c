// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A scheme of your own in C: start marking at a high queue length and stop below a low one, so that
 * the marker does not switch on and off with every packet. It needs no floating point and no
 * library, and all of its state is in two structs, so the file that is simulated can be deployed.
 *
 *   cc -O2 -fPIC -shared -I dataplane/include examples/own_marker.c -o own_marker.so
 *   cemark run rtt-variation --marker c:own_marker.so
 *
 *   clang -O2 -target bpf -mcpu=v3 -I dataplane/include -c examples/own_marker.c -o own_marker.o
 *   cemark run rtt-variation --marker bpf:own_marker.o --set scheme.high=30pkt,65pkt
 *
 * examples/own_marker.rs is the same scheme in Rust.
 */
#include "cemark/marker.h"

/* The parameters, which a scenario sets and sweeps: high = "80pkt". */
#define OWN_MARKER_PARAMS(P)                                                                       \
	P(high, bytes, 65pkt, 1B, 1GB, "Queue length from which packets are marked.")              \
	P(low, bytes, 40pkt, 0B, 1GB, "Queue length below which marking ends.")

CEMARK_PARAMS(OWN_MARKER_PARAMS);

struct cemark_own_marker_params {
	u32 high, low; /* bytes */
};

struct cemark_own_marker_vars {
	u8 marking;
};

CEMARK_FN void cemark_own_marker_set(struct cemark_own_marker_params *p, const u64 *values,
				     const struct cemark_queue_spec *queue)
{
	(void)queue;
	p->high = CEMARK_VALUE(values, high);
	p->low = CEMARK_VALUE(values, low);
}

CEMARK_FN void cemark_own_marker_init(const struct cemark_own_marker_params *p,
				      struct cemark_own_marker_vars *v)
{
	(void)p;
	v->marking = 0;
}

CEMARK_FN u32 cemark_own_marker_traits(const struct cemark_own_marker_params *p)
{
	(void)p;
	return CEMARK_AT_ENQUEUE;
}

CEMARK_FN u32 cemark_own_marker_enqueue(const struct cemark_own_marker_params *p,
					struct cemark_own_marker_vars *v,
					const struct cemark_at *at)
{
	if (at->queue_bytes >= p->high)
		v->marking = 1;
	else if (at->queue_bytes < p->low)
		v->marking = 0;
	return v->marking ? CEMARK_MARK(CEMARK_INSTANT) : CEMARK_PASS;
}

CEMARK_NO_RETUNED(own_marker)
CEMARK_NO_DEQUEUE(own_marker)
CEMARK_NO_EMPTIED(own_marker)
CEMARK_NO_CLOCK(own_marker)

CEMARK_MARKER(own_marker);
