# SPDX-License-Identifier: MIT OR Apache-2.0
"""MQ-ECN (3.2 to 3.4): K_i = min(quantum_i / T_round, C) x RTT x lambda, which is K x min(quantum
time / T_round, 1).

Rule: the quantum's time is whole nanoseconds. The three numbers of the ramp are rounded down. The
average on a timer (`period`) counts 4096ths of a nanosecond, rounded down, and whole nanoseconds of
it are compared.
"""

from fractions import Fraction

from common import ONE, Scheme, after, exceeds, drawn


class Oracle(Scheme):
    DEFAULTS = dict(
        k=97_500, shape="step", kmin=5_000, kmax=200_000, pmax=655, count_self=True,
        cmp="strict", hook="enqueue", period=0, beta=49_152,
    )
    PARTS = ("pmax", "beta")
    DIFFER = Fraction(1, 10_000)
    GAP = Fraction(1, 1500)
    UNIT = "of T_round"

    def begin(self):
        self.average = Fraction(0)
        self.next = None

    def tuned(self):
        self.quantum_time = self.within(self.down(self.queue.time_of(self.queue.quantum)))
        if self.p.period == 0:
            self.begin()

    def hook(self):
        return self.p.hook

    def share(self, at):
        """min(quantum_i / T_round, C) / C."""
        t_round = self.within(at.round) if self.p.period == 0 else self.down(self.average)
        if self.queue.strict or t_round == 0:
            return Fraction(1)
        return min(self.quantum_time / Fraction(t_round), Fraction(1))

    def judge(self, at):
        length = self.within(at.queue + (at.pkt if self.p.count_self else 0))
        share = self.share(at)
        if self.p.shape == "step":
            return "instant" if exceeds(length, self.p.k * share, self.p.cmp) else "pass"
        foot, head = self.down(self.p.kmin * share), self.down(self.p.kmax * share)
        most = self.down(self.p.pmax * share, ONE)
        if exceeds(length, head, self.p.cmp):
            return "instant"
        if length <= foot:
            return "pass"
        return "random" if drawn(self, at.salt, most * (length - foot) / (head - foot)) else "pass"

    def enqueue(self, at):
        if self.p.period and self.next is None:
            self.next = after(at.now, self.p.period)
        return self.judge(at)

    dequeue = enqueue

    def next_wake(self):
        return self.next

    def wake(self, at):
        sample = 0 if at.port == 0 else self.within(at.round)
        self.average = self.down(self.p.beta * self.average + (1 - self.p.beta) * sample, 4096)
        # The exact average never reaches zero. Below 2^-12 ns it counts as zero.
        rests = self.average < Fraction(1, 4096) and at.port == 0
        self.next = None if rests else after(at.now, self.p.period)

    def distance(self, exact):
        # The exact average takes longer to become zero, so its timer may start again with another
        # packet. That difference is not one of rounding.
        if self.next != exact.next:
            return 0
        return abs(self.average - exact.average) / max(exact.average, 1)
