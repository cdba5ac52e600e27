# SPDX-License-Identifier: MIT OR Apache-2.0
"""DCTCP-RED: a step on the instantaneous length (DCTCP 3.1); MQ-ECN's static thresholds (2.2)."""

from fractions import Fraction

from common import Scheme, exceeds


class Oracle(Scheme):
    DEFAULTS = dict(
        k=97_500, count_self=True, cmp="strict", hook="enqueue", scope="queue", level="standard"
    )
    DIFFER = Fraction(1, 10_000)
    GAP = 1
    UNIT = "B of K"

    def tuned(self):
        self.threshold = Fraction(self.p.k)
        if self.p.level == "minimum":
            share = Fraction(self.queue.weight, self.queue.weight_sum)
            self.threshold = self.down(self.p.k * share)

    def hook(self):
        return self.p.hook

    def enqueue(self, at):
        others = {"queue": at.queue, "port": at.port, "pool": at.pool}[self.p.scope]
        length = others + (at.pkt if self.p.count_self else 0)
        return "instant" if exceeds(length, self.threshold, self.p.cmp) else "pass"

    dequeue = enqueue

    def distance(self, exact):
        return abs(self.threshold - exact.threshold)
