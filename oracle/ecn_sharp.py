# SPDX-License-Identifier: MIT OR Apache-2.0
"""ECN# (Algorithm 1; section 3.5 for lengths and ramps).

Rule: gaps are whole nanoseconds, rounded down, at least one. Thresholds of the length signal are
whole bytes. Probabilities are parts of 2^16. `ecn_sharp_lab.py` varies the schedule.
"""

from fractions import Fraction

from common import U32, Scheme, after, drawn


class Oracle(Scheme):
    DEFAULTS = dict(
        ins_target=200_000, pst_target=85_000, pst_interval=200_000, signal="sojourn",
        hook="dequeue", instant="step", kmin=5_000, kmax=200_000, pmax=655,
    )
    PARTS = ("pmax",)
    # Each gap is too short by less than a nanosecond, so after n marks the schedule is early by
    # less than n ns. That may move a mark to another packet: two verdicts differ, and the number of
    # marks is the same.
    DIFFER = Fraction(1, 2000)
    GAP = 1
    UNIT = "ns of the schedule per mark"

    def begin(self):
        self.first_above = None
        self.marking = False
        self.count = 0
        self.next = 0

    def tuned(self):
        self.interval = self.p.pst_interval
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
        """The part of a threshold that holds for this packet."""
        return 1

    def read(self, now):
        """The time of a packet in the unit of the schedule."""
        return now

    def plus(self, time, span):
        return after(time, span)

    def later(self, a, b):
        return a > b

    def quotient(self):
        return Fraction(self.interval, self.count)

    def due(self, now):
        return self.later(now, self.next)

    def gap(self):
        return max(self.down(self.quotient()), 0 if self.exact else 1)

    def reschedule(self, now, gap):
        self.next = self.plus(self.next, gap)

    def standing(self, signal, now, target):
        if signal < target:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = now
            return False
        return self.later(now, self.plus(self.first_above, self.interval))

    def persistent(self, signal, now, target):
        if not self.standing(signal, now, target):
            self.marking = False
            return False
        if not self.marking:
            self.marking = True
            self.count = 1
            self.next = self.plus(now, self.interval)
            return True
        if not self.due(now):
            return False
        self.count = min(self.count + 1, U32)
        self.reschedule(now, self.gap())
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
        due = self.persistent(signal, self.read(at.now), target)
        verdict = self.instantaneous(signal, share, at.salt)
        return verdict if verdict != "pass" or not due else "persistent"

    enqueue = dequeue

    def distance(self, exact):
        same = self.marking and exact.marking and self.count == exact.count
        return abs(self.next - exact.next) / Fraction(self.count) if same else 0
