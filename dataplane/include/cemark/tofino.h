/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ECN#'s clock and division as a Tofino computes them (section 4 of its paper): Algorithms 2 and 3 corrected, and as printed, to show
 * what is wrong with the listings. Part of ecn_sharp.h.
 * Twin of crates/marking/src/ecn_sharp/tofino.rs, which has the bounds.
 */
#ifndef CEMARK_TOFINO_H
#define CEMARK_TOFINO_H

#include "fixed.h"

/* A tick is 2^10 ns. Of the clock's 32 bits, 22 come from the timestamp; the ten above them are
 * counted. */
#define CEMARK_TOFINO_TICK_BITS 10
#define CEMARK_TOFINO_LOW_BITS 22
#define CEMARK_TOFINO_LOW ((1u << CEMARK_TOFINO_LOW_BITS) - 1)
/* Largest entry of the table times its smallest index. */
#define CEMARK_TOFINO_FULL_SCALE (8 * 127u)

/* Whether tick a is later than b, by serial numbers. */
CEMARK_FN bool cemark_tofino_after(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

/* A span in nanoseconds as a number of ticks: the nearest, and at least one. */
CEMARK_FN u32 cemark_tofino_span(u32 nanos)
{
	u32 ticks = (u32)(((u64)nanos + (1u << (CEMARK_TOFINO_TICK_BITS - 1))) >> CEMARK_TOFINO_TICK_BITS);

	return ticks ? ticks : 1;
}

/* Algorithm 2: the time of a packet, from the register and moving it. As printed, two packets in
 * one tick count as a wrap. */
CEMARK_FN u32 cemark_tofino_read(u32 *clock, u64 now, bool as_printed)
{
	u32 low = (u32)now >> CEMARK_TOFINO_TICK_BITS;
	u32 before = *clock & CEMARK_TOFINO_LOW;
	u32 high = *clock >> CEMARK_TOFINO_LOW_BITS;

	if (low < before || (as_printed && low == before))
		high++;
	*clock = high << CEMARK_TOFINO_LOW_BITS | low;
	return *clock;
}

/* The place of the highest bit that is set; n is not 0. */
CEMARK_FN u32 cemark_tofino_log2(u32 n)
{
	u32 log = 0;

	for (u32 half = 16; half; half >>= 1) {
		if (n >> half) {
			n >>= half;
			log += half;
		}
	}
	return log;
}

/* The power of two that brings the table's entries into eight bits; negative for a short
 * interval. */
CEMARK_FN s32 cemark_tofino_scale(u32 interval)
{
	u32 times;

	if (interval <= CEMARK_TOFINO_FULL_SCALE)
		return -(s32)cemark_tofino_log2(CEMARK_TOFINO_FULL_SCALE / interval);
	times = (interval - 1) / CEMARK_TOFINO_FULL_SCALE + 1;
	return times > 1 ? (s32)cemark_tofino_log2(times - 1) + 1 : 0;
}

/* The top four bits of a number: 8 to 15. */
CEMARK_FN u32 cemark_tofino_top_bits(u32 count)
{
	u32 log = cemark_tofino_log2(count);

	return log >= 3 ? count >> (log - 3) : count << (3 - log);
}

/* What the math unit gives, entry * 2^exponent, to the nearest whole number, half upwards. */
CEMARK_FN u32 cemark_tofino_rounded(u32 entry, s32 exponent)
{
	if (exponent >= 32)
		return CEMARK_U32_MAX;
	if (exponent < -32)
		return 0;
	if (exponent >= 0)
		return cemark_to32((u64)entry << exponent);
	return cemark_to32(((u64)entry + (1ull << (-exponent - 1))) >> -exponent);
}

/* Algorithm 3 corrected: interval / count, from a table of eight entries interval / (index *
 * 2^scale), to the nearest. */
CEMARK_FN u32 cemark_tofino_divide(u32 interval, u32 count)
{
	s32 scale = cemark_tofino_scale(interval);
	u64 over = interval;
	u32 under = cemark_tofino_top_bits(count);

	if (scale < 0)
		over <<= -scale;
	else
		under <<= scale;
	return cemark_tofino_rounded((u32)cemark_div(2 * over + under, 2 * under),
				     scale + 3 - (s32)cemark_tofino_log2(count));
}

/* Algorithm 3 as printed: the table is not scaled, and the power of two has the scale with the
 * wrong sign. */
CEMARK_FN u32 cemark_tofino_divide_as_printed(u32 interval, u32 count)
{
	s32 down = (s32)cemark_tofino_log2(count) + cemark_tofino_scale(interval) + 3;

	return cemark_tofino_rounded((interval - 1) / cemark_tofino_top_bits(count) + 1, -down);
}

/* The same for the square-root law: interval / sqrt(count), from entries interval /
 * (sqrt(index) * 2^(scale + 2)). */
CEMARK_FN u32 cemark_tofino_over_root(u32 interval, u32 count)
{
	s32 scale = cemark_tofino_scale(interval);
	s32 pairs = (s32)(cemark_tofino_log2(count) / 2) - 1;
	u32 index = pairs >= 0 ? count >> (2 * pairs) : count << 2;
	u64 square; /* of twice the entry */

	if (scale + 2 <= 0) {
		u64 over = (u64)interval << (-scale - 1);

		square = cemark_div(over * over, index);
	} else {
		square = cemark_div((u64)interval * interval, index) >> (2 * (scale + 1));
	}
	return cemark_tofino_rounded((cemark_isqrt(square) + 1) / 2, scale + 2 - pairs);
}

#endif
