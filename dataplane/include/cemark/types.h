/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Integer types, units and saturating arithmetic: everything that the marking headers need from
 * their environment. No C library, no floating point.
 *
 * A kernel provides <linux/types.h> and <linux/math64.h>. Elsewhere the compiler's own types are
 * used. A program that already has u8 .. u64 and bool defines CEMARK_HAVE_TYPES before it includes
 * any of these headers.
 */
#ifndef CEMARK_TYPES_H
#define CEMARK_TYPES_H

#if defined(__KERNEL__)
#include <linux/math64.h>
#include <linux/types.h>
#elif !defined(CEMARK_HAVE_TYPES)
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
#if !defined(bool) && !defined(__cplusplus) &&                                                     \
	!(defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef _Bool bool;
#endif
#endif

/*
 * Every function of these headers is static. BPF programs are verified one by one and the
 * catalogue's objects contain no calls, so there all functions become part of their caller.
 */
#if defined(__bpf__)
#define CEMARK_FN static inline __attribute__((always_inline, unused))
#else
#define CEMARK_FN static inline __attribute__((unused))
#endif

#define CEMARK_U16_MAX 0xffffu
#define CEMARK_U32_MAX 0xffffffffu
#define CEMARK_U64_MAX 0xffffffffffffffffull

/* Times are nanoseconds. */
#define CEMARK_USEC 1000ull
#define CEMARK_SEC 1000000000ull

/* What cemark_<scheme>_configure() returns, negated, for a value out of range: EINVAL. */
#define CEMARK_EINVAL 22

/*
 * The only division of 64-bit numbers in these headers. Its divisor has 32 bits, because a 32-bit
 * kernel has no 64-bit division operator.
 */
CEMARK_FN u64 cemark_div(u64 dividend, u32 divisor)
{
#if defined(__KERNEL__)
	return div_u64(dividend, divisor);
#else
	return dividend / divisor;
#endif
}

/* Saturating sums and differences: clocks and lengths stop at their limits and do not wrap. */
CEMARK_FN u64 cemark_add64(u64 a, u64 b)
{
	u64 sum = a + b;

	return sum < a ? CEMARK_U64_MAX : sum;
}

CEMARK_FN u64 cemark_sub64(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

CEMARK_FN u32 cemark_add32(u32 a, u32 b)
{
	u32 sum = a + b;

	return sum < a ? CEMARK_U32_MAX : sum;
}

CEMARK_FN u32 cemark_sub32(u32 a, u32 b)
{
	return a > b ? a - b : 0;
}

/* The value if it fits into 32 bits, otherwise the largest one that does. */
CEMARK_FN u32 cemark_to32(u64 value)
{
	return value > CEMARK_U32_MAX ? CEMARK_U32_MAX : (u32)value;
}

/* The same for 16 bits. */
CEMARK_FN u16 cemark_to16(u64 value)
{
	return value > CEMARK_U16_MAX ? CEMARK_U16_MAX : (u16)value;
}

/*
 * 1 if a >= b, otherwise 0, without a branch. A BPF verifier follows both sides of each branch, so
 * a loop with one would be too long for it. The compiler must not see that the result has one bit,
 * or it makes a branch of it again.
 */
CEMARK_FN u64 cemark_fits(u64 a, u64 b)
{
	u64 borrow = ((~a & b) | ((~a | b) & (a - b))) >> 63;
	u64 fits = 1 - borrow;

#if defined(__bpf__)
	__asm__ volatile("" : "+r"(fits));
#endif
	return fits;
}

CEMARK_FN u32 cemark_min32(u32 a, u32 b)
{
	return a < b ? a : b;
}

#endif
