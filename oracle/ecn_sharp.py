# SPDX-License-Identifier: MIT OR Apache-2.0
"""ECN# (Algorithm 1; section 3.5 for lengths and ramps), the variants of the authors' code, and
thresholds scaled by the round.

Rule: gaps are whole nanoseconds, rounded down, at least one. Thresholds of the length signal are
whole bytes. Probabilities are parts of 2^16. A Tofino's clock and division (Algorithms 2 and 3),
corrected and as printed, are in `tofino.py`.
"""

from fractions import Fraction

import tofino
from common import U32, Scheme, after, drawn, over_root


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


class Oracle(Scheme):
    DEFAULTS = dict(
        ins_target=200_000, pst_target=85_000, pst_interval=200_000, law="harmonic",
        base="previous", cmp="strict", reset_on_empty=False, max_catchup=0, signal="sojourn",
        instant="step", kmin=5_000, kmax=200_000, pmax=655, by_round=False,
        arithmetic="exact", hook="dequeue",
    )
    PARTS = ("pmax",)
    # Each gap is too short by less than a nanosecond, so after n marks the schedule is early by
    # less than n ns. That may move a mark to another packet: two verdicts differ, and the number of
    # marks is the same.
    DIFFER = Fraction(1, 2000)
    GAP = 1
    UNIT = "ns of the schedule per mark"

    @classmethod
    def bounds(cls, params, queue):
        exact = params.get("arithmetic", "exact") == "exact"
        return ("", cls) if exact else (", ticks", Ticks)

    def begin(self):
        self.time = None
        self.first_above = None
        self.marking = False
        self.count = 0
        self.next = 0
        self.behind = 0

    def tuned(self):
        in_ticks = not self.exact and self.p.arithmetic != "exact"
        time = tofino.KINDS[self.p.arithmetic] if in_ticks else Exact
        if not self.time or self.time.SHARED != time.SHARED:
            # Nanoseconds and ticks cannot be converted: the state starts again.
            self.begin()
            self.time = time()
        elif type(self.time) is not time:
            self.time = time(self.time)
        self.interval = self.time.span(self.p.pst_interval)
        head = self.p.kmax if self.p.instant == "ramp" else self.p.ins_target
        times = (head, self.p.pst_target, self.p.kmin)
        self.ins, self.pst, self.foot = (self.level(time) for time in times)

    def level(self, time):
        """A time in the unit of the signal."""
        if self.p.signal == "sojourn":
            return time
        return self.within(self.down(self.queue.bytes_in(time)))

    def hook(self):
        return self.p.hook

    def signal(self, at):
        """The wait, or the length: a departing packet counts itself, an arriving one does not."""
        if self.p.signal == "sojourn":
            return self.within(at.sojourn)
        return self.within(at.queue + (at.pkt if self.p.hook == "dequeue" else 0))

    def share(self, at):
        """The queue's share of the link, where thresholds follow it."""
        if not self.p.by_round or self.queue.strict or at.round == 0:
            return 1
        quantum_time = self.within(self.down(self.queue.time_of(self.queue.quantum)))
        return min(Fraction(quantum_time) / self.within(at.round), 1)

    def gap(self):
        exact = self.time.quotient(self.interval, self.count, self.p.law)
        return max(self.down(exact), 0 if self.exact else 1)

    def standing(self, signal, now, target):
        if signal < target:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = now
            return False
        return self.time.later(now, self.time.plus(self.first_above, self.interval))

    def persistent(self, signal, now, target):
        if not self.standing(signal, now, target):
            self.marking = False
            return False
        if not self.marking:
            self.marking = True
            self.count, self.behind = 1, 0
            self.next = self.time.plus(now, self.interval)
            return True
        if not (self.time.later(now, self.next) or (self.p.cmp == "at_least" and now == self.next)):
            return False
        self.count = min(self.count + 1, U32)
        gap = self.gap()
        self.next = self.time.plus(now if self.p.base == "now" else self.next, gap)
        if not self.time.later(now, self.next) or self.p.max_catchup == 0:
            self.behind = 0
        elif self.behind < self.p.max_catchup:
            self.behind += 1
        else:
            self.behind = 0
            self.next = self.time.plus(now, gap)
        return True

    def instantaneous(self, signal, share, salt):
        if signal > self.ins * share:
            return "instant"
        if self.p.instant == "ramp":
            # The rule scales the signal up, to a whole number, instead of scaling the ramp down.
            x = Fraction(signal) / share
            x = -self.down(-x)
            if x > self.foot:
                p = self.p.pmax * (x - self.foot) / (self.ins - self.foot)
                return "random" if drawn(self, salt, p) else "pass"
        return "pass"

    def dequeue(self, at):
        signal = self.signal(at)
        share = self.share(at)
        target = self.pst * (share if self.p.signal == "length" else 1)
        due = self.persistent(signal, self.time.read(at.now), target)
        verdict = self.instantaneous(signal, share, at.salt)
        return verdict if verdict != "pass" or not due else "persistent"

    enqueue = dequeue

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
