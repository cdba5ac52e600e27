# SPDX-License-Identifier: MIT OR Apache-2.0
"""CoDel as a marker (RFC 8289 section 5, Linux's count memory): where the original drops, the packet is marked and passes.

Rule: the gap interval / sqrt(count) is whole nanoseconds, rounded down, at least one.
"""

from fractions import Fraction

from common import U32, Scheme, after, over_root


class Oracle(Scheme):
    DEFAULTS = dict(target=85_000, interval=200_000, min_bytes=1_500)
    # Each gap is short by less than a nanosecond, so after n marks the schedule leads by less than
    # n, which may move a mark by a packet: two verdicts that differ, and no mark more or less.
    DIFFER = Fraction(12, 1000)
    GAP = 1
    UNIT = "ns of the schedule a mark"

    def begin(self):
        self.first_above = None
        self.next = 0
        self.count = self.last_count = 0
        self.marking = False

    def hook(self):
        return "dequeue"

    def ripe(self, at):
        """Whether every wait of an interval has been at the target or above."""
        guarded = self.p.min_bytes > 0 and at.queue <= self.p.min_bytes
        if at.sojourn < self.p.target or guarded:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = after(at.now, self.p.interval)
            return False
        return at.now > self.first_above

    def gap(self):
        return max(self.down(over_root(self.p.interval, self.count)), 0 if self.law else 1)

    def dequeue(self, at):
        if not self.ripe(at):
            self.marking = False
            return "pass"
        if not self.marking:
            grown = self.count - self.last_count
            recent = at.now - self.next < 16 * self.p.interval
            self.count = grown if grown > 1 and recent else 1
            self.last_count = self.count
            self.marking = True
            self.next = after(at.now, self.gap())
            return "persistent"
        if at.now < self.next:
            return "pass"
        self.count = min(self.count + 1, U32)
        self.next = after(self.next, self.gap())
        return "persistent"

    def emptied(self, now):
        self.first_above = None
        self.marking = False

    def distance(self, law):
        same = self.marking and law.marking and self.count == law.count
        return abs(self.next - law.next) / Fraction(self.count) if same else 0
