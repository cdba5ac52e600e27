// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * ECN# in a program of your own: configure it, then ask it about each packet that leaves a FIFO.
 *
 *   cemark export ecn_sharp --out ecn_sharp.h
 *   cc -O2 -I . examples/ecn_sharp_fifo.c -o ecn_sharp_fifo && ./ecn_sharp_fifo
 *
 * The loop takes the place of a device: packets of 1500 bytes leave a 10 Gb/s link back to back,
 * and each has waited 90 us. That is less than ins_target, so none is marked for its own wait; but
 * it is more than pst_target, so the persistent condition marks after pst_interval, and then more
 * and more often. One packet in a thousand waits 120 us and is marked for it.
 */
#include <stdio.h>

#include "ecn_sharp.h"

int main(void)
{
	struct cemark_ecn_sharp_config config = CEMARK_ECN_SHARP_DEFAULTS;
	struct cemark_queue_spec queue = CEMARK_FIFO(10000000000ull); /* 10 Gb/s */
	struct cemark_ecn_sharp_params params;
	struct cemark_ecn_sharp_vars vars;
	u32 backlog = 112500, bytes = 1500;
	unsigned instant = 0, persistent = 0;

	config.ins_target = 100 * CEMARK_USEC;
	if (cemark_ecn_sharp_configure(&params, &config, &queue))
		return 1; /* a value is out of range */
	cemark_ecn_sharp_init(&params, &vars);

	for (u64 n = 0; n < 2500; n++) {
		u64 now = n * 1200, sojourn = n % 1000 == 999 ? 120000 : 90000;
		struct cemark_at at = cemark_at_departure(now, sojourn, backlog, bytes);
		u32 verdict = cemark_ecn_sharp_dequeue(&params, &vars, &at);

		/* The caller sets CE if the packet is ECN-capable, and drops it if not. */
		if (verdict == CEMARK_MARK(CEMARK_INSTANT))
			instant++;
		else if (verdict == CEMARK_MARK(CEMARK_PERSISTENT))
			persistent++;
	}
	printf("%u instant, %u persistent\n", instant, persistent);
	return 0;
}
