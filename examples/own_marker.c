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
 *   cemark run rtt-variation --marker bpf:own_marker.o
 *
 * examples/own_marker.rs is the same scheme in Rust.
 */
#include "cemark/marker.h"

struct cemark_own_marker_params {
	u32 high, low; /* bytes */
};

struct cemark_own_marker_vars {
	u8 marking;
};

/*
 * `values` are the parameters of the catalogue's scheme with this name. There is none, so this
 * scheme sets its own.
 */
CEMARK_FN void cemark_own_marker_set(struct cemark_own_marker_params *p, const u64 *values,
				     const struct cemark_queue_spec *queue)
{
	(void)values;
	p->high = 65 * queue->mtu;
	p->low = 40 * queue->mtu;
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
