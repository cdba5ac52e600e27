# SPDX-License-Identifier: MIT OR Apache-2.0
"""How a Tofino keeps time and divides (ECN#, Algorithms 2 and 3), corrected and as printed.

The clock: the lower 32 bits of a timestamp in units of 1,024 ns are 22 bits; ten more bits count
how often those wrap. Division: the top four bits of the divisor select one of eight 8-bit entries,
which is scaled by a power of two. What is wrong with the listings: docs/schemes/ecn_sharp_lab.md.
"""

from fractions import Fraction
from math import ceil, floor, isqrt

from common import saturate

TICK = 1024
WRAP = 2**22


class Tofino:
    """Both algorithms corrected."""

    SHARED = "ticks"
    UNIT = TICK

    def __init__(self, before=None):
        self.low, self.high = (before.low, before.high) if before else (0, 0)

    def read(self, now):
        low = now % 2**32 // TICK
        self.high = (self.high + self.wrapped(low)) % 2**10
        self.low = low
        return self.high * WRAP + low

    def wrapped(self, low):
        return low < self.low

    def span(self, nanos):
        return max(nearest(Fraction(nanos, TICK)), 1)

    def plus(self, time, span):
        return (time + span) % 2**32

    def later(self, a, b):
        """In serial number arithmetic, so that wraps do not matter."""
        return 0 < (a - b) % 2**32 < 2**31

    def quotient(self, interval, count, law):
        if law == "sqrt":
            return saturate(nearest(over_root(interval, count)))
        return saturate(nearest(self.over(interval, count)))

    def over(self, interval, count):
        scale, digits = scale_of(interval), log2(count)
        top = floor(Fraction(count * 8, 2**digits))
        return nearest(interval / (top * power(scale))) * power(scale + 3 - digits)


class PrintedClock(Tofino):
    """Algorithm 2 as printed: a second packet in the same tick counts as a wrap, and times are
    compared as plain numbers."""

    def wrapped(self, low):
        return low <= self.low

    def later(self, a, b):
        return a > b


class PrintedDivision(Tofino):
    """Algorithm 3 as printed: the table is not scaled, and the scale, which includes the three bits
    of the index, has the wrong sign."""

    def over(self, interval, count):
        scale, digits = scale_of(interval) + 3, log2(count)
        top = floor(Fraction(count * 8, 2**digits))
        return ceil(Fraction(interval, top)) / power(digits + scale)


KINDS = {"tofino": Tofino, "printed_clock": PrintedClock, "printed_division": PrintedDivision}


def over_root(interval, count):
    """interval / sqrt(count) from a table of its own, with indices four to fifteen, for which the
    divisor loses pairs of bits."""
    scale, pairs = scale_of(interval), log2(count) // 2
    index = floor(Fraction(count * 4, 4**pairs))
    # An entry is the integer nearest to interval / (sqrt(index) 2^(scale + 2)). Twice that, rounded
    # down, is an integer square root.
    twice = isqrt(floor(4 * interval**2 / (index * power(2 * (scale + 2)))))
    return (twice + 1) // 2 * power(scale + 3 - pairs)


def scale_of(interval):
    """The least power of two that scales an eighth of the interval to seven bits."""
    scale = -64
    while interval > 8 * 127 * power(scale):
        scale += 1
    return scale


def log2(n):
    return n.bit_length() - 1


def power(n):
    return Fraction(2) ** n


def nearest(x):
    """To the nearest integer, half rounded up."""
    return floor(x + Fraction(1, 2))


