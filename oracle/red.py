# SPDX-License-Identifier: MIT OR Apache-2.0
"""RED (Floyd and Jacobson 1993, sections 4, 7 and 11): a smoothed length, a ramp, and marks that
are spread evenly or drawn for each packet.

Rule: the average counts 4096ths of a byte, every step is rounded down, and whole bytes of it are
compared. With weight 1 the length itself is compared. (1 - weight)^m is computed by squaring in
parts of 2^32. A packet's time is whole nanoseconds, at least one. Probabilities are parts of 2^16.
"""

from fractions import Fraction
from math import floor

from common import ONE, Scheme, draw


class Oracle(Scheme):
    DEFAULTS = dict(
        kmin=7_500, kmax=22_500, pmax=6_554, weight=128, spacing="uniform", count_self=False,
        mean_pkt=1_500, hook="enqueue",
    )
    PARTS = ("pmax", "weight")
    DIFFER = Fraction(1, 10_000)
    GAP = Fraction(1, 10)
    UNIT = "B of the average"

    @classmethod
    def bounds(cls, params, queue):
        whole = queue.time_of(params.get("mean_pkt", cls.DEFAULTS["mean_pkt"])).denominator == 1
        return ("", cls) if whole else (", split ns", Split)

    def begin(self):
        self.avg = Fraction(0)
        self.idle_since = None
        self.passed = 0

    def tuned(self):
        time = self.down(self.queue.time_of(self.p.mean_pkt))
        self.packet_time = max(time, 0 if self.exact else 1)
        self.instantaneous = self.p.weight == 1
        if self.instantaneous:
            self.avg, self.idle_since = Fraction(0), None
        if self.p.spacing == "independent":
            self.passed = 0

    def hook(self):
        return self.p.hook

    def remaining(self, steps):
        """(1 - weight)^steps."""
        base, power = 1 - self.p.weight, Fraction(1)
        while steps:
            if steps & 1:
                power = self.down(power * base, 2**32)
            base = self.down(base * base, 2**32)
            steps >>= 1
            if power == 0 or (self.exact and power < Fraction(1, 2**200)):
                return Fraction(0)
        return power

    def smooth(self, at):
        length = self.within(at.queue + (at.pkt if self.p.count_self else 0))
        if self.instantaneous:
            return length
        since, self.idle_since = self.idle_since, None
        departs = self.p.hook == "dequeue"
        if since is not None and (departs or at.queue == 0):
            if at.queue == 0:
                self.idle_since = at.now  # still idle if this packet is dropped
            joined = max(at.now - at.sojourn, 0) if departs else at.now
            missed = floor(max(joined - since, 0) / self.packet_time)
            self.avg = self.down(self.avg * self.remaining(missed), 4096)
        else:
            self.avg = self.down(self.avg + self.p.weight * (length - self.avg), 4096)
        return self.down(self.avg)

    def enqueue(self, at):
        avg = self.smooth(at)
        if avg >= self.p.kmax:
            self.passed = 0
            return "average"
        if avg < self.p.kmin:
            self.passed = 0
            return "pass"
        share = self.down(self.p.pmax * (avg - self.p.kmin) / (self.p.kmax - self.p.kmin), ONE)
        if self.p.spacing == "independent":
            return "random" if draw(at.salt) < share * ONE else "pass"
        # share / (1 - passed x share), and certain once that reaches one.
        rest = 1 - self.passed * share
        if draw(at.salt) * rest < share * ONE if rest > 0 else share > 0:
            self.passed = 0
            return "random"
        self.passed += 1
        return "pass"

    dequeue = enqueue

    def emptied(self, now):
        if not self.instantaneous:
            self.idle_since = now

    def distance(self, exact):
        return abs(self.avg - exact.avg)


class Split(Oracle):
    """Bounds where a packet's time is rounded down, so that an idle queue ages too fast: at 25 Gb/s
    577 B take 184.64 ns, of which 184 count."""

    DIFFER = Fraction(6, 10_000)
    MARKS = Fraction(2, 10_000)
    GAP = 160
