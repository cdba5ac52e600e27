# SPDX-License-Identifier: MIT OR Apache-2.0
"""WRED of switches: avg = old avg x (1 - 2^-n) + length x 2^-n at each arrival (n = 0: the length).
Up to min nothing is marked, above max everything. Between them each packet is drawn independently,
with probability drop_probability x (avg - min) / (max - min).

Rule: the average counts 4096ths of a byte, every step is rounded down, and whole bytes of it are
compared. Probabilities are parts of 2^16.
"""

from fractions import Fraction

from common import Scheme, drawn


class Oracle(Scheme):
    DEFAULTS = dict(min=150_000, max=1_500_000, drop_probability=65_536, weight=0, hook="enqueue")
    PARTS = ("drop_probability",)
    DIFFER = Fraction(1, 10_000)
    # A step loses less than a 4096th of a byte. Each later step keeps 1 - 2^-n of the loss, so the
    # sum of all losses is less than 2^n of them.
    GAP = Fraction(1, 8)
    UNIT = "B of the average"

    @classmethod
    def bounds(cls, params, queue):
        return ("", cls) if params.get("weight", 0) <= 9 else (", n > 9", Slow)

    def begin(self):
        self.avg = Fraction(0)

    def tuned(self):
        if self.p.weight == 0:
            self.begin()

    def hook(self):
        return self.p.hook

    def enqueue(self, at):
        length, over = at.queue, "instant"
        if self.p.weight:
            part = Fraction(1, 2**self.p.weight)
            self.avg = self.down(self.avg * (1 - part) + at.queue * part, 4096)
            length, over = self.down(self.avg), "average"
        if length > self.p.max:
            return over
        if length <= self.p.min:
            return "pass"
        share = self.p.drop_probability * (length - self.p.min) / (self.p.max - self.p.min)
        return "random" if drawn(self, at.salt, share) else "pass"

    dequeue = enqueue

    def distance(self, exact):
        return abs(self.avg - exact.avg)


class Slow(Oracle):
    """Bounds for weights up to 15."""

    DIFFER = Fraction(2, 10_000)
    GAP = 8
