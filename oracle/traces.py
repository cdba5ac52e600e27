# SPDX-License-Identifier: MIT OR Apache-2.0
"""Long generated traces (`vectors/README.md`), replayed with an oracle's rule and exact form."""

from collections import deque
from fractions import Fraction

from common import QUEUE, U64, At, Queue

ROOM = 400_000
CODES = {
    "pass": 0, "instant": 1, "persistent": 2, "random": 3, "average": 4, "tentative": 5, "drop": 6,
}


class Dice:
    """xorshift64*: the upper 32 bits."""

    def __init__(self, seed):
        self.x = seed * 0x9E3779B97F4A7C15 & U64 | 1

    def next(self):
        self.x ^= self.x >> 12
        self.x ^= self.x << 25 & U64
        self.x ^= self.x >> 27
        return (self.x * 0x2545F4914F6CDD1D & U64) >> 32

    def below(self, n):
        return self.next() % n


class Port:
    """A FIFO. The rule decides what happens. The exact form sees the same and is compared."""

    def __init__(self, rule, exact, rate):
        self.rule, self.exact, self.rate = rule, exact, rate
        self.queue, self.bytes, self.free = deque(), 0, 0
        self.round, self.limit, self.other = 0, ROOM, 0
        self.digest, self.marks = 0xCBF29CE484222325, 0
        self.ideal = 0
        self.judgements = self.differ = 0
        self.gap = Fraction(0)

    def view(self, now, sojourn=0, pkt=0, salt=0, ecn="ect0", intent=None):
        port, pool = self.bytes + self.other, self.bytes + 2 * self.other
        lengths = (self.bytes, port, pool, self.limit)
        return At(now, sojourn, self.round, salt, pkt, ecn, intent, *lengths)

    def note(self, now, code):
        for byte in now.to_bytes(8, "little") + bytes([code]):
            self.digest = (self.digest ^ byte) * 0x100000001B3 & U64

    def judged(self, now, base, verdict, other):
        self.marks += verdict != "pass"
        self.ideal += other != "pass"
        self.note(now, base + CODES[verdict])
        self.judgements += 1
        self.differ += verdict != other
        self.gap = max(self.gap, self.rule.distance(self.exact))

    def clocks(self, until):
        while self.rule.next_wake() is not None and self.rule.next_wake() <= until:
            due = self.rule.next_wake()
            self.exact_clocks(due - 1)
            self.rule.wake(self.view(due))
            self.note(due, 32)
            self.exact_clocks(due)
        self.exact_clocks(until)

    def exact_clocks(self, until):
        while self.exact.next_wake() is not None and self.exact.next_wake() <= until:
            self.exact.wake(self.view(self.exact.next_wake()))

    def until(self, now):
        while self.queue:
            since, pkt, salt, ecn, intent, ideal = self.queue[0]
            begins = max(self.free, since)
            if begins > now:
                break
            self.clocks(begins)
            self.queue.popleft()
            self.bytes -= pkt
            self.free = begins + pkt * 8 * 10**9 // self.rate
            if self.rule.hook() in ("dequeue", "both"):
                at = (begins, begins - since, pkt, salt, ecn)
                verdict = self.rule.dequeue(self.view(*at, intent))
                other = self.exact.dequeue(self.view(*at, ideal))
                self.judged(begins, 16, verdict, other)
            if not self.queue:
                self.rule.emptied(begins)
                self.exact.emptied(begins)
        self.clocks(now)

    def arrives(self, now, pkt, salt, ecn):
        if self.bytes + pkt > ROOM:
            return
        intent = ideal = None
        if self.rule.hook() in ("enqueue", "both"):
            at = (now, 0, pkt, salt, ecn)
            verdict, other = self.rule.enqueue(self.view(*at)), self.exact.enqueue(self.view(*at))
            self.judged(now, 0, verdict, other)
            if verdict == "drop":
                return
            intent = verdict if verdict != "pass" else None
            ideal = other if other not in ("pass", "drop") else None
        self.bytes += pkt
        self.queue.append((now, pkt, salt, ecn, intent, ideal))


def queue(trace):
    """The queue of the trace."""
    return Queue(**{k: v for k, v in trace.items() if k in QUEUE})


def run(oracle, trace):
    """Runs one trace. The port has its digest, its marks, and how far the two forms differ."""
    spec = queue(trace)
    params = trace.get("params", {})
    port = Port(oracle(params, spec), oracle(params, spec, exact=True), spec.rate)
    dice = Dice(trace["seed"])
    now = trace.get("start", 0)
    for n in range(trace["packets"]):
        if n % 256 == 0:
            mean = [300, 900, 1_100, 4_000][dice.below(4)]
        now += 1 + dice.below(2 * mean)
        port.until(now)
        if dice.below(16) == 0:
            port.round = dice.below(40_000)
            if port.round < 4_000:
                port.round = 0
        if dice.below(16) == 0:
            port.limit = 50_000 + dice.below(400_000)
        if dice.below(16) == 0:
            port.other = max(dice.below(200_000) - 100_000, 0)
        pkt = 64 + dice.below(1_400) if dice.below(4) == 0 else 1_500
        ecn = {0: "not_ect", 1: "ce", 2: "ect1"}.get(dice.below(16), "ect0")
        salt = dice.next() << 32 | dice.next()
        port.arrives(now, pkt, salt, ecn)
    port.until(now + 10_000_000)
    return port
