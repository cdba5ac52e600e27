# SPDX-License-Identifier: MIT OR Apache-2.0
"""CEDM, from the slides with the misprint in the withdrawal corrected; slope and K2 as in the
authors' switch.

Rule: 0.129 is 8,454 parts of 2^16. Slopes count 2^-24 bytes per nanosecond; quotient and product
are rounded down. K2 is whole bytes. The average of the ablation counts 4096ths of a byte, rounded
down, and whole bytes of it are compared. Slopes are limited to 2^16 bytes per nanosecond, times
between departures to 2^32 - 1 ns, K2 to 2^32 - 1.
"""

from fractions import Fraction

from common import ONE, U32, Scheme, exceeds


class Oracle(Scheme):
    DEFAULTS = dict(
        k1=21_000, k2=0, rtt=100_000, parts="both", withdraw=True, mark_at_dequeue=False,
        cmp="strict", weight=8_454, min_pkt=800, flat=True, signal="instant", avg_weight=128,
    )
    PARTS = ("weight", "avg_weight")
    DIFFER = Fraction(1, 10_000)
    GAP = Fraction(1, 4000)
    UNIT = "B/ns of the slope"

    def begin(self):
        self.slope = Fraction(0)
        self.last = None
        self.average = Fraction(0)

    def tuned(self):
        self.k2 = Fraction(self.p.k2)
        if self.p.k2 == 0:
            # K1 and the amplitude of two flows that cut by a third.
            product = self.down(self.queue.bytes_in(self.p.rtt))
            self.k2 = self.within(self.down(self.p.k1 + Fraction(self.p.k1 + product) / 4))
        if self.p.parts == "slope":
            self.k2 = Fraction(U32)
        # The exact form has the constant of the authors, of which the default is the nearest.
        default = self.p.weight == Fraction(8_454, ONE)
        self.weight = Fraction(129, 1000) if self.exact and default else self.p.weight

    def hook(self):
        return "both"

    def length(self, at):
        if self.p.signal == "instant":
            return at.queue
        self.average = self.down(self.average + self.p.avg_weight * (at.queue - self.average), 4096)
        return self.down(self.average)

    def falls(self):
        return self.p.parts != "thresholds" and self.slope < 0

    def measure(self, length, at):
        if at.pkt <= self.p.min_pkt:
            return
        if self.last is not None:
            before, then = self.last
            if before == length and not self.p.flat:
                if length == 0:
                    self.last = (length, at.now)
                return
            time = self.within(max(at.now - then, 1))
            newest = self.within(self.down(Fraction(length - before) / time, 2**24), 2**16)
            self.slope = self.down(self.slope + self.weight * (newest - self.slope), 2**24)
        self.last = (length, at.now)

    def enqueue(self, at):
        length = self.length(at)
        if exceeds(length, self.k2, self.p.cmp):
            return "instant"
        return "tentative" if length >= self.p.k1 and not self.falls() else "pass"

    def dequeue(self, at):
        length = self.length(at)
        self.measure(length, at)
        if self.p.mark_at_dequeue and length >= self.k2:
            return "instant"
        turned = length < self.p.k1 or (length < self.k2 and self.falls())
        if at.intent == "tentative" and self.p.withdraw and turned:
            return "pass"
        return at.intent or "pass"

    def distance(self, exact):
        return abs(self.slope - exact.slope)
