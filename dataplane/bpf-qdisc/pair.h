/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the qdisc and the program that writes CE share: one map with one value, pinned by its name.
 *
 * The qdisc knows how long a packet has waited, and asks the scheme as the packet leaves; but it
 * may not write to packets. A program at the device's egress may, but sees a packet before it is
 * queued. So the qdisc counts the marks that it owes, and the next packets that arrive and are
 * ECN-capable carry them: a mark reaches the sender later than it should by the wait in the queue.
 */
#ifndef CEMARK_PAIR_H
#define CEMARK_PAIR_H

#define CEMARK_HAVE_TYPES
/*
 * Newer compilers than the one that makes the objects of dataplane/bpf see through the function of
 * types.h and make a branch of it, and the verifier then gives up after a million instructions.
 */
#define cemark_fits cemark_fits_of_types
#include "cemark/types.h"
#undef cemark_fits
CEMARK_FN u64 cemark_fits(u64 a, u64 b)
{
	u64 rest = a - b;
	u64 fits;

	__asm__ volatile("" : "+r"(rest));
	fits = 1 - (((~a & b) | ((~a | b) & rest)) >> 63);
	__asm__ volatile("" : "+r"(fits));
	return fits;
}

#include "cemark/marker.h"

struct cemark_pair {
	u64 built;
	u64 owed;    /* marks that no packet carries yet */
	u64 free_at; /* ns: the link has sent everything before */
	u64 packets;
	u64 bytes;
	u64 waited;  /* ns, sum over the packets */
	u64 wanted;  /* marks of the scheme */
	u64 carried; /* marks that were written */
	struct cemark_call call;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cemark_pair);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} cemark_pair SEC(".maps");

static struct cemark_pair *the_pair(void)
{
	u32 first = 0;

	return bpf_map_lookup_elem(&cemark_pair, &first);
}

#endif
