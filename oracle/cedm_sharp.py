# SPDX-License-Identifier: MIT OR Apache-2.0
"""CEDM x ECN#: two oracles with separate intents. A packet is marked if either marks it after
withdrawals."""

from fractions import Fraction

import cedm
import ecn_sharp
from common import Scheme


class Oracle(Scheme):
    DEFAULTS = dict(k1=250_000, k2=0, rtt=200_000, pst_target=85_000, pst_interval=200_000)
    DIFFER = Fraction(1, 10_000)
    GAP = 1
    UNIT = "ns of the schedule per mark"

    def begin(self):
        self.cedm = self.sharp = None

    def tuned(self):
        p = self.p
        first = dict(k1=p.k1, k2=p.k2, rtt=p.rtt)
        # CEDM replaces the instantaneous condition.
        second = dict(ins_target=2**64, pst_target=p.pst_target, pst_interval=p.pst_interval)
        if self.cedm is None:
            self.cedm = cedm.Oracle(first, self.queue, self.exact)
            self.sharp = ecn_sharp.Oracle(second, self.queue, self.exact)
        else:
            self.cedm.tune(first, self.queue)
            self.sharp.tune(second, self.queue)

    def hook(self):
        return "both"

    def enqueue(self, at):
        return self.cedm.enqueue(at)

    def dequeue(self, at):
        kept = self.cedm.dequeue(at)
        due = self.sharp.dequeue(at)
        return kept if kept != "pass" else due

    def distance(self, exact):
        return self.sharp.distance(exact.sharp)
