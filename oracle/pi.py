# SPDX-License-Identifier: MIT OR Apache-2.0
"""PI (Hollot et al. 2001, section IV): p(kT) = p((k-1)T) + a (q(kT) - qref) - b (q((k-1)T) - qref).

The sums are exact. Only the random draw has 16 bits.
"""

from fractions import Fraction

from common import Scheme, after, drawn


class Oracle(Scheme):
    DEFAULTS = dict(qref=30_000, interval=20_000, a=336_521, b=323_842)
    DIFFER = Fraction(1, 10_000)
    UNIT = "of p"

    def begin(self):
        self.probability = Fraction(0)
        self.before = 0
        self.next = None

    def enqueue(self, at):
        if self.next is None:
            self.next = after(at.now, self.p.interval)
        return "random" if drawn(self, at.salt, self.probability) else "pass"

    def next_wake(self):
        return self.next

    def wake(self, at):
        a, b = Fraction(self.p.a, 2**40), Fraction(self.p.b, 2**40)
        p = self.probability + a * (at.queue - self.p.qref) - b * (self.before - self.p.qref)
        self.probability = min(max(p, Fraction(0)), Fraction(1))
        rests = self.probability == 0 and at.queue == 0 and self.before == 0
        self.before = at.queue
        self.next = None if rests else after(at.now, self.p.interval)

    def distance(self, exact):
        return abs(self.probability - exact.probability)
