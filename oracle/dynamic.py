# SPDX-License-Identifier: MIT OR Apache-2.0
"""Dynamic ECN: thresholds relative to the queue's limit (an offset below it, with a floor, or
percentages of it), beside a static one.

Rule: thresholds are whole bytes, rounded down. Probabilities are parts of 2^16.
"""

from fractions import Fraction

from common import U32, Scheme, exceeds, drawn


class Oracle(Scheme):
    DEFAULTS = dict(
        mode="offset", offset=150_000, floor=97_500, min_percent=13_107, max_percent=52_429,
        pmax=65_536, k=U32, count_self=True, cmp="strict", hook="enqueue",
    )
    PARTS = ("min_percent", "max_percent", "pmax")
    DIFFER = Fraction(1, 10_000)

    def hook(self):
        return self.p.hook

    def enqueue(self, at):
        length = self.within(at.queue + (at.pkt if self.p.count_self else 0))
        if self.p.k < U32 and exceeds(length, self.p.k, self.p.cmp):
            return "instant"
        if self.p.mode == "offset":
            threshold = max(at.limit - self.p.offset, self.p.floor)
            return "instant" if exceeds(length, threshold, self.p.cmp) else "pass"
        foot = self.down(at.limit * self.p.min_percent)
        head = self.down(at.limit * self.p.max_percent)
        if exceeds(length, head, self.p.cmp):
            return "instant"
        if length <= foot:
            return "pass"
        share = self.p.pmax * (length - foot) / (head - foot)
        return "random" if drawn(self, at.salt, share) else "pass"

    dequeue = enqueue
