# SPDX-License-Identifier: MIT OR Apache-2.0
"""CoDel as a marker (RFC 8289 section 5, with Linux's memory of the count): the packets that the
original drops are marked.

Rule: the gap interval / sqrt(count) is whole nanoseconds, rounded down, at least one.
"""

from fractions import Fraction

from common import U32, Scheme, after, over_root


class Oracle(Scheme):
    DEFAULTS = dict(target=85_000, interval=200_000, min_bytes=1_500)
    # Each gap is too short by less than a nanosecond, so after n marks the schedule is early by
    # less than n ns. That may move a mark to another packet: two verdicts differ, and the number of
    # marks is the same.
    DIFFER = Fraction(12, 1000)
    GAP = 1
    UNIT = "ns of the schedule per mark"

    def begin(self):
        self.first_above = None
        self.next = 0
        self.count = self.last_count = 0
        self.marking = False

    def hook(self):
        return "dequeue"

    def ripe(self, at):
        """Whether every wait of the last interval was at the target or above."""
        guarded = self.p.min_bytes > 0 and at.queue <= self.p.min_bytes
        if at.sojourn < self.p.target or guarded:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = after(at.now, self.p.interval)
            return False
        return at.now > self.first_above

    def gap(self):
        return max(self.down(over_root(self.p.interval, self.count)), 0 if self.exact else 1)

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

    def distance(self, exact):
        same = self.marking and exact.marking and self.count == exact.count
        return abs(self.next - exact.next) / Fraction(self.count) if same else 0
