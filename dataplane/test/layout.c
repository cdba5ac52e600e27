// SPDX-License-Identifier: MIT OR Apache-2.0
/* Sizes and offsets of this compiler, for a test against Rust. */
#include "cemark/marker.h"

#define AT(field) __builtin_offsetof(struct cemark_at, field)
#define QUEUE(field) __builtin_offsetof(struct cemark_queue_spec, field)
#define CALL(field) __builtin_offsetof(struct cemark_call, field)

extern const u32 cemark_layout[];
const u32 cemark_layout[] = {
	sizeof(struct cemark_at), AT(now), AT(sojourn), AT(round), AT(salt), AT(pkt_bytes),
	AT(segs), AT(ecn), AT(intent), AT(queue_bytes), AT(queue_pkts), AT(port_bytes),
	AT(pool_bytes), AT(limit_bytes),
	sizeof(struct cemark_queue_spec), QUEUE(rate), QUEUE(quantum), QUEUE(weight),
	QUEUE(weight_sum), QUEUE(strict), QUEUE(mtu), QUEUE(limit_bytes),
	sizeof(struct cemark_call), CALL(at), CALL(queue), CALL(values), CALL(now), CALL(memory),
	CEMARK_NO_INTENT,
};
