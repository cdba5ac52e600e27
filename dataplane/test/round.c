// SPDX-License-Identifier: MIT OR Apache-2.0
/* round.h for a port with up to eight queues, as one function, for a test against Rust. */
#include "cemark/round.h"

struct port {
	struct cemark_round round;
	struct cemark_round_queue queues[8];
};

/* The caller provides a block of 32 words (crates/foreign/src/c.rs). */
_Static_assert(sizeof(struct port) <= 32 * sizeof(u64), "a block holds a port");

u64 cemark_round_call(struct port *port, u32 what, const u64 *args);

u64 cemark_round_call(struct port *port, u32 what, const u64 *args)
{
	struct cemark_round *r = &port->round;
	struct cemark_round_queue *q = &port->queues[args[0] & 7];

	switch (what) {
	case 0:
		cemark_round_init(r, args[1], (u32)args[2], args[3], (u8)args[0]);
		break;
	case 1:
		cemark_round_queue_init(q, (u32)args[1], (u8)args[2]);
		break;
	case 2:
		cemark_round_woke(r, args[1], args[2]);
		break;
	case 3:
		cemark_round_activated(r, q, args[1]);
		break;
	case 4:
		cemark_round_served(r, q, args[1], args[2], args[3]);
		break;
	default:
		cemark_round_discarded(r, q, args[1], args[2], args[3]);
	}
	return r->value;
}
