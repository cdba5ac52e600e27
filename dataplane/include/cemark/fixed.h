/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Fixed-point arithmetic of the schemes: square root, ramp, moving averages, slope, hash.
 *
 * Every implementation follows these rules bit by bit, so that all of them mark the same packets.
 * crates/marking/src/fixed.rs states them in Rust, with the error bound of each. No product needs
 * more than 64 bits and no divisor more than 32.
 */
#ifndef CEMARK_FIXED_H
#define CEMARK_FIXED_H

#include "types.h"

/* Fractions and probabilities are parts of 2^16. This is one. */
#define CEMARK_ONE 65536u
/* A whole percentage as such a fraction, to the nearest. */
#define CEMARK_PERCENT(n) (((n) * CEMARK_ONE + 50u) / 100u)
/* Fraction bits of a moving average, which counts 4096ths of a byte or of a nanosecond. */
#define CEMARK_AVG_BITS 12

/*
 * The square root, rounded down. Each step finds one bit, from the top. A constant number of steps
 * and no branch, so that a BPF verifier can follow the loop.
 */
CEMARK_FN u32 cemark_isqrt(u64 n)
{
	u64 root = 0;
	u64 bit = 1ull << 62;

	for (int i = 0; i < 32; i++) {
		u64 part = root + bit;
		u64 fits = cemark_fits(n, part);

		n -= part * fits;
		root = (root >> 1) + bit * fits;
		bit >>= 2;
	}
	return (u32)root;
}

/* interval / sqrt(count), rounded down: CoDel's control law. count is at least 1. */
CEMARK_FN u32 cemark_over_sqrt(u32 interval, u32 count)
{
	return cemark_isqrt(cemark_div((u64)interval * interval, count));
}

/* A probability that rises linearly from 0 at min to pmax at max. min <= x <= max, min < max. */
CEMARK_FN u32 cemark_ramp(u32 x, u32 min, u32 max, u32 pmax)
{
	return (u32)cemark_div((u64)pmax * (x - min), max - min);
}

/*
 * One step of a moving average: avg + (sample - avg) * weight, the product rounded towards minus
 * infinity. avg has CEMARK_AVG_BITS fraction bits, weight is at most CEMARK_ONE. (The right shift
 * of a negative number keeps the sign in every compiler that builds kernels or BPF.)
 */
CEMARK_FN u64 cemark_ewma(u64 avg, u32 sample, u32 weight)
{
	s64 gap = (s64)((u64)sample << CEMARK_AVG_BITS) - (s64)avg;

	return (u64)((s64)avg + ((gap * (s64)weight) >> 16));
}

/* Fraction bits of a slope, which counts 2^-24 bytes per nanosecond. */
#define CEMARK_SLOPE_BITS 24
/* Slopes saturate at 2^16 bytes per nanosecond. */
#define CEMARK_STEEPEST (1ll << (16 + CEMARK_SLOPE_BITS))

/*
 * How fast a length changed, rounded towards minus infinity, so that exactly the shrinking queues
 * have a negative slope, however slowly they shrink.
 */
CEMARK_FN s64 cemark_slope(u32 before, u32 after, u64 nanos)
{
	u32 time = nanos ? cemark_to32(nanos) : 1;
	s64 steep;

	if (after >= before)
		steep = (s64)cemark_div((u64)(after - before) << CEMARK_SLOPE_BITS, time);
	else
		steep = -(s64)cemark_div(((u64)(before - after) << CEMARK_SLOPE_BITS) + (time - 1),
					 time);
	if (steep > CEMARK_STEEPEST)
		return CEMARK_STEEPEST;
	return steep < -CEMARK_STEEPEST ? -CEMARK_STEEPEST : steep;
}

/* One step of a moving average of slopes, rounded as cemark_ewma() does. */
CEMARK_FN s64 cemark_ewma_slope(s64 avg, s64 sample, u32 weight)
{
	return avg + (((sample - avg) * (s64)weight) >> 16);
}

/* A number times a fraction in parts of 2^32, which is at most one, rounded down. */
CEMARK_FN u64 cemark_mul32(u64 a, u64 part)
{
	return (a >> 32) * part + (((a & CEMARK_U32_MAX) * part) >> 32);
}

/*
 * A moving average after `steps` samples of zero: avg * (1 - weight)^steps, the power computed by
 * squaring.
 */
CEMARK_FN u64 cemark_decay(u64 avg, u32 weight, u64 steps)
{
	u64 base = (u64)(CEMARK_ONE - weight) << 16, one = 1ull << 32;
	u64 power = one;

	for (int i = 0; i < 64 && steps > 0 && power > 0; i++) {
		u64 odd = cemark_fits(steps & 1, 1);

		/* No branch, as in cemark_isqrt(). */
		power = cemark_mul32(power, one + (base - one) * odd);
		base = cemark_mul32(base, base);
		steps >>= 1;
	}
	return cemark_mul32(avg, power);
}

/* Scrambles 64 bits one to one (the finaliser of SplitMix64). */
CEMARK_FN u64 cemark_mix(u64 x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* The n-th random number of a packet, 0 to 65535, from its cemark_at.salt. */
CEMARK_FN u32 cemark_draw(u64 salt, u32 n)
{
	return (u32)(cemark_mix(salt + ((u64)n + 1) * 0x9e3779b97f4a7c15ull) >> 48);
}

/* True with probability p (parts of 2^16): never at 0, always at CEMARK_ONE. */
CEMARK_FN bool cemark_chance(u64 salt, u32 n, u32 p)
{
	return cemark_draw(salt, n) < p;
}

/*
 * a * b / divisor modulo 2^64, rounded down, with a 128-bit product. Each step finds one bit of the
 * quotient, so this is for configuration, not for packets. divisor is not 0.
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
		u64 carry = rest >> 63, fits;

		rest = rest << 1 | high >> 63;
		high = high << 1 | low >> 63;
		low <<= 1;
		quotient <<= 1;
		/* No branch, as in cemark_isqrt(). */
		fits = carry | cemark_fits(rest, divisor);
		rest -= divisor * fits;
		quotient |= fits;
	}
	return quotient;
}

/* Bytes that a link of `rate` bit/s sends in `span` ns, rounded down. */
CEMARK_FN u64 cemark_bytes_in(u64 rate, u64 span)
{
	return cemark_muldiv(rate, span, 8000000000ull);
}

/* Picoseconds that a byte takes on a link of `rate` bit/s, to the nearest. */
CEMARK_FN u64 cemark_picos_per_byte(u64 rate)
{
	return cemark_muldiv(8000000000000ull + (rate >> 1), 1, rate);
}

/* Nanoseconds that `bytes` take on a link of `rate` bit/s, rounded down. */
CEMARK_FN u64 cemark_nanos_for(u64 rate, u64 bytes)
{
	return cemark_muldiv(bytes, 8000000000ull, rate);
}

#endif
