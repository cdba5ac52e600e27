/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Integer rules that every implementation follows bit by bit: the C form of crates/marking/src/fixed.rs, which says how far each is
 * from the law it stands for. No product needs more than 64 bits and no divisor more than 32.
 */
#ifndef CEMARK_FIXED_H
#define CEMARK_FIXED_H

#include "types.h"

/* One, as a fraction in parts of 2^16. */
#define CEMARK_ONE 65536u
/* Fraction bits of a moving average: it counts 4096ths of a byte. */
#define CEMARK_AVG_BITS 12

/* The square root, rounded down: one bit of it a step, from the top. */
CEMARK_FN u32 cemark_isqrt(u64 n)
{
	u64 root = 0;
	u64 bit = 1ull << 62;

	/* At most 32 steps, and a bound that a BPF verifier sees. */
	for (int i = 0; i < 32; i++) {
		if (n >= root + bit) {
			n -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
		bit >>= 2;
	}
	return (u32)root;
}

/* interval / sqrt(count), rounded down: CoDel's control law, exactly. count is at least 1. */
CEMARK_FN u32 cemark_over_sqrt(u32 interval, u32 count)
{
	return cemark_isqrt(cemark_div((u64)interval * interval, count));
}

/* A probability that rises in a straight line from 0 at min to pmax at max; min <= x <= max and
 * min < max. */
CEMARK_FN u32 cemark_ramp(u32 x, u32 min, u32 max, u32 pmax)
{
	return (u32)cemark_div((u64)pmax * (x - min), max - min);
}

/*
 * One step of a moving average: avg + (sample - avg) * weight, the product rounded towards minus infinity (a right shift of a
 * negative number keeps its sign in every compiler of kernels and of BPF). avg in 2^-12 bytes, weight at most CEMARK_ONE.
 */
CEMARK_FN u64 cemark_ewma(u64 avg, u32 sample, u32 weight)
{
	s64 gap = (s64)((u64)sample << CEMARK_AVG_BITS) - (s64)avg;

	return (u64)((s64)avg + ((gap * (s64)weight) >> 16));
}

/* Fraction bits of a slope: it counts 2^-24 bytes a nanosecond. */
#define CEMARK_SLOPE_BITS 24
/* Steepest slope that is told apart: 2^16 bytes a nanosecond. */
#define CEMARK_STEEPEST (1ll << (16 + CEMARK_SLOPE_BITS))

/* How fast a length moved, rounded towards minus infinity: a fall, however slow, is negative,
 * and nothing else is. */
CEMARK_FN s64 cemark_slope(u32 before, u32 after, u64 nanos)
{
	u32 time = nanos ? cemark_to32(nanos) : 1;
	s64 steep;

	if (after >= before)
		steep = (s64)cemark_div((u64)(after - before) << CEMARK_SLOPE_BITS, time);
	else
		steep = -(s64)cemark_div(((u64)(before - after) << CEMARK_SLOPE_BITS) + (time - 1), time);
	if (steep > CEMARK_STEEPEST)
		return CEMARK_STEEPEST;
	return steep < -CEMARK_STEEPEST ? -CEMARK_STEEPEST : steep;
}

/* One step of a moving average of slopes: avg + (sample - avg) * weight, the product rounded
 * towards minus infinity. */
CEMARK_FN s64 cemark_ewma_slope(s64 avg, s64 sample, u32 weight)
{
	return avg + (((sample - avg) * (s64)weight) >> 16);
}

/* The product of a number and a fraction in parts of 2^32, which is at most one, rounded down. */
CEMARK_FN u64 cemark_mul32(u64 a, u64 part)
{
	if (part >> 32)
		return a;
	return (a >> 32) * part + (((a & CEMARK_U32_MAX) * part) >> 32);
}

/* What is left of a moving average after so many samples of zero: avg * (1 - weight)^steps, the
 * power taken by squaring. */
CEMARK_FN u64 cemark_decay(u64 avg, u32 weight, u64 steps)
{
	u64 base = (u64)(CEMARK_ONE - weight) << 16;
	u64 power = 1ull << 32;

	for (int i = 0; i < 64 && steps > 0 && power > 0; i++) {
		if (steps & 1)
			power = cemark_mul32(power, base);
		base = cemark_mul32(base, base);
		steps >>= 1;
	}
	return cemark_mul32(avg, power);
}

/* Scrambles 64 bits one to one (the finalizer of splitmix64). */
CEMARK_FN u64 cemark_mix(u64 x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* The n-th draw of a packet, 0 to 65535. */
CEMARK_FN u32 cemark_draw(u64 salt, u32 n)
{
	return (u32)(cemark_mix(salt + ((u64)n + 1) * 0x9e3779b97f4a7c15ull) >> 48);
}

/* Whether the n-th draw of a packet falls under p (parts of 2^16): never at 0, always at
 * CEMARK_ONE. */
CEMARK_FN bool cemark_chance(u64 salt, u32 n, u32 p)
{
	return cemark_draw(salt, n) < p;
}

/*
 * a * b / divisor modulo 2^64, rounded down, the product in full: one bit of the quotient a step. For setting parameters, not for
 * packets. divisor is not 0.
 */
CEMARK_FN u64 cemark_muldiv(u64 a, u64 b, u64 divisor)
{
	u64 a0 = a & CEMARK_U32_MAX, a1 = a >> 32;
	u64 b0 = b & CEMARK_U32_MAX, b1 = b >> 32;
	u64 middle = a1 * b0 + ((a0 * b0) >> 32);
	u64 other = a0 * b1 + (middle & CEMARK_U32_MAX);
	u64 high = a1 * b1 + (middle >> 32) + (other >> 32);
	u64 low = (other << 32) | ((a0 * b0) & CEMARK_U32_MAX);
	u64 rest = 0, quotient = 0;

	for (int i = 0; i < 128; i++) {
		u64 carry = rest >> 63;

		rest = rest << 1 | high >> 63;
		high = high << 1 | low >> 63;
		low <<= 1;
		quotient <<= 1;
		if (carry || rest >= divisor) {
			rest -= divisor;
			quotient |= 1;
		}
	}
	return quotient;
}

/* Bytes sent in so many nanoseconds at a rate in bit/s, rounded down: the length that a wait
 * stands for. */
CEMARK_FN u64 cemark_bytes_in(u64 rate, u64 span)
{
	return cemark_muldiv(rate, span, 8000000000ull);
}

/* Picoseconds that one byte takes at a rate in bit/s, to the nearest. */
CEMARK_FN u64 cemark_picos_per_byte(u64 rate)
{
	return cemark_muldiv(8000000000000ull + (rate >> 1), 1, rate);
}

/* Nanoseconds that so many bytes take at a rate in bit/s, rounded down. */
CEMARK_FN u64 cemark_nanos_for(u64 rate, u64 bytes)
{
	return cemark_muldiv(bytes, 8000000000ull, rate);
}

#endif
