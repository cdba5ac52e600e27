# SPDX-License-Identifier: MIT OR Apache-2.0
"""Dynamic ECN: thresholds relative to the queue's limit (an offset below it, with a floor, or
percentages of it), beside a static one. A second offset is hysteresis: marking that has begun ends
at the lower threshold.

Rule: thresholds are whole bytes, rounded down. Probabilities are parts of 2^16.
"""

from fractions import Fraction

from common import U32, Scheme, exceeds, drawn


class Oracle(Scheme):
    DEFAULTS = dict(
        mode="offset", offset=150_000, floor=97_500, min_percent=13_107, max_percent=52_429,
        pmax=65_536, k=U32, count_self=True, cmp="strict", hook="enqueue", off_offset=0,
    )
    PARTS = ("min_percent", "max_percent", "pmax")
    DIFFER = Fraction(1, 10_000)

    def begin(self):
        self.marking = False

    def tuned(self):
        # A marker without hysteresis remembers nothing.
        if self.p.mode != "offset" or self.p.off_offset == 0:
            self.marking = False

    def hook(self):
        return self.p.hook

    def threshold(self, limit, offset):
        return max(limit - offset, self.p.floor)

    def over_limit(self, length, limit):
        """Whether the threshold by offset marks, which the marker remembers under hysteresis."""
        on = self.threshold(limit, self.p.offset)
        if self.p.off_offset == 0:
            return exceeds(length, on, self.p.cmp)
        off = min(on, self.threshold(limit, self.p.off_offset))
        self.marking = exceeds(length, off if self.marking else on, self.p.cmp)
        return self.marking

    def enqueue(self, at):
        length = self.within(at.queue + (at.pkt if self.p.count_self else 0))
        static = self.p.k < U32 and exceeds(length, self.p.k, self.p.cmp)
        if self.p.mode == "offset":
            return "instant" if self.over_limit(length, at.limit) or static else "pass"
        if static:
            return "instant"
        foot = self.down(at.limit * self.p.min_percent)
        head = self.down(at.limit * self.p.max_percent)
        if exceeds(length, head, self.p.cmp):
            return "instant"
        if length <= foot:
            return "pass"
        share = self.p.pmax * (length - foot) / (head - foot)
        return "random" if drawn(self, at.salt, share) else "pass"

    dequeue = enqueue
