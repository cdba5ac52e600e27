# SPDX-License-Identifier: MIT OR Apache-2.0
"""PIE (RFC 8033: 4.1 random drawing, 4.2 the probability, 4.4 bursts, 5.1 ECN, 5.5 the cap; HPSR
2013 for `tuning = "paper"`).

Rule: p counts 2^-48. Gains are parts of 2^48 per nanosecond; gains, scaled steps and the decay to
98 % are rounded down. The cap is the largest such number of at most 2 %. Delays are whole
nanoseconds up to 2^28, computed from whole picoseconds per byte (to the nearest). The burst
allowance is at most 2^16 - 1 updates.
"""

from fractions import Fraction
from math import ceil, floor

from common import Scheme, after, drawn

RANGES = {
    "rfc": [(10**-6, 2048), (10**-5, 512), (10**-4, 128), (10**-3, 32), (10**-2, 8), (10**-1, 2)],
    "paper": [(10**-2, 8), (10**-1, 2)],
}
# The decimal fractions above are readable; these are exact.
RANGES = {k: [(Fraction(1, round(1 / p)), by) for p, by in v] for k, v in RANGES.items()}


class Oracle(Scheme):
    DEFAULTS = dict(
        target=15_000, t_update=15_000, alpha=2_000, beta=20_000, max_burst=150_000,
        mark_ecnth=6_554, tuning="rfc", cap=True, delay="length", mean_pkt=1_500,
    )
    PARTS = ("mark_ecnth",)
    DIFFER = Fraction(1, 10_000)
    # Mostly from the picoseconds per byte at 3 Gb/s, 2,667 instead of 2,666.7.
    GAP = Fraction(1, 40_000)
    UNIT = "of p"

    def begin(self):
        self.probability = Fraction(0)
        self.before = Fraction(0)
        self.wait = 0
        self.next = None
        self.allowance = None

    def tuned(self):
        # In whole updates.
        self.full = self.within(ceil(Fraction(self.p.max_burst, self.p.t_update)), 2**16 - 1)
        self.allowance = self.full if self.allowance is None else min(self.allowance, self.full)
        byte = Fraction(8 * 10**12, self.queue.rate)
        self.byte_picos = byte if self.exact else self.within(floor(byte + Fraction(1, 2)))

    def hook(self):
        return "both" if self.p.delay == "sojourn" else "enqueue"

    def enqueue(self, at):
        if self.next is None:
            self.next = after(at.now, self.p.t_update)
        p = self.probability
        calm = self.before < Fraction(self.p.target, 2) and p < Fraction(1, 5)
        few = at.queue <= 2 * self.p.mean_pkt
        if self.allowance > 0 or calm or few or not drawn(self, at.salt, p):
            return "pass"
        return "random" if p < self.p.mark_ecnth or self.p.mark_ecnth == 1 else "drop"

    def dequeue(self, at):
        self.wait = self.within(at.sojourn)
        return at.intent or "pass"

    def next_wake(self):
        return self.next

    def current(self, at):
        if self.p.delay == "length":
            delay = self.down(Fraction(at.queue) * self.byte_picos / 1_000)
        else:
            delay = Fraction(0 if at.queue == 0 else self.wait)
        return self.within(delay, 2**28)

    def wake(self, at):
        delay, p = self.current(at), self.probability
        # Gains are in sixteenths per second.
        gains = (self.p.alpha, self.p.beta)
        alpha, beta = (self.down(Fraction(gain, 16 * 10**9), 2**48) for gain in gains)
        off = self.within(delay - self.p.target, 2**28)
        step = alpha * off + beta * (delay - self.before)
        shrink = next((by for bound, by in RANGES[self.p.tuning] if p < bound), 1)
        step = self.down(step / shrink, 2**48)
        if self.p.cap and p >= Fraction(1, 10):
            step = min(step, self.down(Fraction(1, 50), 2**48))
        p += step
        if delay == 0 and self.before == 0:
            p = self.down(p * Fraction(98, 100), 2**48)
        self.probability = min(max(p, Fraction(0)), Fraction(1))
        # The exact probability never decays to zero. Below 2^-48 it counts as zero.
        if self.exact and self.probability < Fraction(1, 2**48):
            self.probability = Fraction(0)
        self.allowance = max(self.allowance - 1, 0)
        half = Fraction(self.p.target, 2)
        if self.probability == 0 and delay < half and self.before < half:
            self.allowance = self.full
        rests = self.probability == 0 and delay == 0 and self.before == 0 and at.queue == 0
        self.before = delay
        self.next = None if rests else after(at.now, self.p.t_update)

    def distance(self, exact):
        return abs(self.probability - exact.probability)
