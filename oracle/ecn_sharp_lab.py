# SPDX-License-Identifier: MIT OR Apache-2.0
"""The laboratory of ECN#: the variants of the authors' code, limits to catching up, thresholds
scaled by the round, and a Tofino's clock and division (`tofino.py`), corrected and as printed."""

from fractions import Fraction

import ecn_sharp
import tofino
from common import after, over_root


class Exact:
    """Nanoseconds and exact quotients."""

    SHARED = "nanoseconds"
    UNIT = 1

    def read(self, now):
        return now

    def span(self, nanos):
        return nanos

    def plus(self, time, span):
        return after(time, span)

    def later(self, a, b):
        return a > b

    def quotient(self, interval, count, law):
        return Fraction(interval, count) if law == "harmonic" else over_root(interval, count)


class Oracle(ecn_sharp.Oracle):
    DEFAULTS = ecn_sharp.Oracle.DEFAULTS | dict(
        law="harmonic", base="previous", cmp="strict", reset_on_empty=False, max_catchup=0,
        by_round=False, arithmetic="exact",
    )

    @classmethod
    def bounds(cls, params, queue):
        exact = params.get("arithmetic", "exact") == "exact"
        return ("", cls) if exact else (", ticks", Ticks)

    def begin(self):
        super().begin()
        self.time = None
        self.behind = 0

    def tuned(self):
        super().tuned()
        in_ticks = not self.exact and self.p.arithmetic != "exact"
        time = tofino.KINDS[self.p.arithmetic] if in_ticks else Exact
        if not self.time or self.time.SHARED != time.SHARED:
            # Nanoseconds and ticks cannot be converted: the state starts again.
            self.begin()
            self.time = time()
        elif type(self.time) is not time:
            self.time = time(self.time)
        self.interval = self.time.span(self.p.pst_interval)

    def share(self, at):
        """The queue's share of the link, where thresholds follow it."""
        if not self.p.by_round or self.queue.strict or at.round == 0:
            return 1
        quantum_time = self.within(self.down(self.queue.time_of(self.queue.quantum)))
        return min(Fraction(quantum_time) / self.within(at.round), 1)

    def read(self, now):
        return self.time.read(now)

    def plus(self, time, span):
        return self.time.plus(time, span)

    def later(self, a, b):
        return self.time.later(a, b)

    def quotient(self):
        return self.time.quotient(self.interval, self.count, self.p.law)

    def due(self, now):
        return super().due(now) or (self.p.cmp == "at_least" and now == self.next)

    def reschedule(self, now, gap):
        # A marking state begins with one mark, and is not behind then.
        if self.count == 2:
            self.behind = 0
        self.next = self.plus(now if self.p.base == "now" else self.next, gap)
        if not self.later(now, self.next) or self.p.max_catchup == 0:
            self.behind = 0
        elif self.behind < self.p.max_catchup:
            self.behind += 1
        else:
            self.behind = 0
            self.next = self.plus(now, gap)

    def emptied(self, now):
        if self.p.reset_on_empty:
            self.first_above = None
            self.marking = False

    def distance(self, exact):
        # Here the schedule follows the packets that were marked, so it may differ by the distance
        # of two packets. That difference is not one of rounding.
        if self.p.base == "now" or self.p.max_catchup:
            return 0
        same = self.marking and exact.marking and self.count == exact.count
        return abs(self.next * self.time.UNIT - exact.next) / Fraction(self.count) if same else 0


class Ticks(Oracle):
    """Bounds for a Tofino's arithmetic: quotients up to 14.2 % too large, ticks of 1,024 ns."""

    # The gap of 10,000 ns after the second mark may be 1,420 ns and half a tick too large, and so
    # may the interval.
    DIFFER = Fraction(15, 1000)
    MARKS = Fraction(3, 1000)
    GAP = 2_000
