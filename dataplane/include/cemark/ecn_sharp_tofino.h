/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ECN#'s clock and division as a Tofino switch computes them (section 4 of the paper): a 32-bit
 * clock in ticks of 1.024 us, and quotients from a table. Part of ecn_sharp_variants_impl.h.
 *
 * Algorithms 2 and 3 are here in a corrected form, and as printed to show what is wrong with the
 * listings. The same in Rust, with error bounds: crates/marking/src/ecn_sharp/tofino.rs.
 */
#ifndef CEMARK_ECN_SHARP_TOFINO_H
#define CEMARK_ECN_SHARP_TOFINO_H

#include "fixed.h"

/*
 * A tick is 2^10 ns. Of the clock's 32 bits the lower 22 are taken from the timestamp, and the
 * upper 10 count how often those wrapped.
 */
#define CEMARK_TOFINO_TICK_BITS 10
#define CEMARK_TOFINO_LOW_BITS 22
#define CEMARK_TOFINO_LOW ((1u << CEMARK_TOFINO_LOW_BITS) - 1)
/* The largest entry of the table, 127, times its smallest index, 8. */
#define CEMARK_TOFINO_FULL_SCALE (8 * 127u)

/* Whether tick a is later than tick b, in serial number arithmetic. */
CEMARK_FN bool cemark_tofino_after(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

/* Nanoseconds as ticks, to the nearest, at least one. */
CEMARK_FN u32 cemark_tofino_span(u32 nanos)
{
	u64 half = 1u << (CEMARK_TOFINO_TICK_BITS - 1);
	u32 ticks = (u32)((nanos + half) >> CEMARK_TOFINO_TICK_BITS);

	return ticks ? ticks : 1;
}

/*
 * Algorithm 2: the time of a packet in ticks. It updates the clock. As printed, a second packet in
 * the same tick is taken for a wrap.
 */
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

/* The position of the highest bit that is set. n is not 0. */
CEMARK_FN u32 cemark_tofino_log2(u32 n)
{
	u32 log = 0;

	for (u32 half = 16; half; half >>= 1) {
		/* No branch, as in cemark_isqrt(). */
		u32 step = half * (u32)cemark_fits(n, 1ull << half);

		n >>= step;
		log += step;
	}
	return log;
}

/* The power of two that scales the table's entries to 8 bits. Negative for short intervals. */
CEMARK_FN s32 cemark_tofino_scale(u32 interval)
{
	u32 times;

	if (interval <= CEMARK_TOFINO_FULL_SCALE)
		return -(s32)cemark_tofino_log2(CEMARK_TOFINO_FULL_SCALE / interval);
	times = (interval - 1) / CEMARK_TOFINO_FULL_SCALE + 1;
	return times > 1 ? (s32)cemark_tofino_log2(times - 1) + 1 : 0;
}

/* The top four bits of a number, 8 to 15: its index in the table. */
CEMARK_FN u32 cemark_tofino_top_bits(u32 count)
{
	u32 log = cemark_tofino_log2(count);

	return log >= 3 ? count >> (log - 3) : count << (3 - log);
}

/* The result of the math unit: entry * 2^exponent, to the nearest integer, half rounded up. */
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

/*
 * Algorithm 3 corrected: interval / count, from a table of eight entries interval / (index *
 * 2^scale), each to the nearest.
 */
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

/*
 * Algorithm 3 as printed: the table is not scaled, and the scale enters the power of two with the
 * wrong sign.
 */
CEMARK_FN u32 cemark_tofino_divide_as_printed(u32 interval, u32 count)
{
	s32 down = (s32)cemark_tofino_log2(count) + cemark_tofino_scale(interval) + 3;

	return cemark_tofino_rounded((interval - 1) / cemark_tofino_top_bits(count) + 1, -down);
}

/*
 * interval / sqrt(count), for CEMARK_ECN_SHARP_LAW_SQRT, from entries interval / (sqrt(index) *
 * 2^(scale + 2)).
 */
CEMARK_FN u32 cemark_tofino_over_root(u32 interval, u32 count)
{
	s32 scale = cemark_tofino_scale(interval);
	s32 pairs = (s32)(cemark_tofino_log2(count) / 2) - 1;
	u32 index = pairs >= 0 ? count >> (2 * pairs) : count << 2;
	u64 square; /* of twice the table entry */

	if (scale + 2 <= 0) {
		u64 over = (u64)interval << (-scale - 1);

		square = cemark_div(over * over, index);
	} else {
		square = cemark_div((u64)interval * interval, index) >> (2 * (scale + 1));
	}
	return cemark_tofino_rounded((cemark_isqrt(square) + 1) / 2, scale + 2 - pairs);
}

#endif
