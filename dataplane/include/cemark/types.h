/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Integers by width, division, inlining: all that the marking headers ask of their surroundings. Nothing here needs a C library.
 *
 * In a kernel <linux/types.h> and <linux/math64.h> serve. Elsewhere the compiler's own types do; a program that has u8 .. u64 and
 * bool already defines CEMARK_HAVE_TYPES before it includes any of these headers.
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
#if !defined(bool) && !defined(__cplusplus) && !(defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef _Bool bool;
#endif
#endif

/* A BPF program is verified function by function, so everything is part of its entry there. */
#if defined(__bpf__)
#define CEMARK_FN static inline __attribute__((always_inline, unused))
#else
#define CEMARK_FN static inline __attribute__((unused))
#endif

#define CEMARK_U16_MAX 0xffffu
#define CEMARK_U32_MAX 0xffffffffu
#define CEMARK_U64_MAX 0xffffffffffffffffull

/* The only division of the headers: a 32-bit machine, and a kernel there, has no 64-bit divisor. */
CEMARK_FN u64 cemark_div(u64 dividend, u32 divisor)
{
#if defined(__KERNEL__)
	return div_u64(dividend, divisor);
#else
	return dividend / divisor;
#endif
}

/* Sums and differences that stop at the ends instead of wrapping. */
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

/* The value, or the largest of 32 bits. */
CEMARK_FN u32 cemark_to32(u64 value)
{
	return value > CEMARK_U32_MAX ? CEMARK_U32_MAX : (u32)value;
}

CEMARK_FN u32 cemark_min32(u32 a, u32 b)
{
	return a < b ? a : b;
}

#endif
