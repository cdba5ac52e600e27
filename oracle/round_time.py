# SPDX-License-Identifier: MIT OR Apache-2.0
"""The round time of a port (MQ-ECN 3.3.1 and 3.4).

T = beta T + (1 - beta) sample after each visit, and T beta^n after n idle times. WFQ: the sum of
the backlogged queues' weights is smoothed.

Rule: the average counts 4096ths of a nanosecond or byte, and every step is rounded down. beta^n is
computed by squaring in parts of 2^32. Samples, idle times and picoseconds per byte (to the nearest)
are at most 2^32 - 1. The round is the nearest nanosecond, at most 2^64 - 1.
"""

from fractions import Fraction
from math import floor

from common import ONE, U32, U64
from traces import Dice
from vectors import Wrong, read

# Largest difference of the rule's round and the exact one on the committed traces, in ns.
GAP = Fraction(51, 100)


class Oracle:
    def __init__(self, case, exact=False):
        self.exact = exact
        self.rate = case.get("rate_bps", 10_000_000_000)
        self.beta = Fraction(case.get("beta", 49_152), ONE)
        self.idle = self.most(case.get("idle", floor(Fraction(1_500 * 8 * 10**9, self.rate))))
        self.counts = case["counts"]
        self.quanta = case["quanta"]
        self.outside = set(case.get("outside", []))
        self.average = Fraction(0)
        self.began = [0 for _ in self.quanta]
        self.busy = 0
        self.looked = 0

    def down(self, value, parts):
        return value if self.exact else Fraction(floor(value * parts), parts)

    def most(self, value):
        return value if self.exact else min(value, U32)

    def nearest(self, value):
        return value if self.exact else min(floor(value + Fraction(1, 2)), U64)

    def sample(self, value):
        gap = self.most(value) - self.average
        self.average = self.down(self.average + (1 - self.beta) * gap, 4096)

    @property
    def round(self):
        if self.counts == "turns":
            return self.nearest(self.average)
        picos = Fraction(8 * 10**12, self.rate)
        time = self.down(self.average * self.most(self.nearest(picos)) / 1000, 4096)
        # The number of 4096ths is at most 2^64 - 1 as well.
        return time if self.exact else min(floor(time * 4096) + 2048, U64) // 4096

    def woke(self, now, since):
        since = max(since, self.looked)
        if self.counts != "turns" or self.average == 0 or self.idle == 0 or now <= since:
            return
        self.looked = now
        slots = (now - since) // self.idle
        if slots:
            self.average = self.down(self.average * self.remaining(slots), 4096)

    def remaining(self, steps):
        """beta^steps."""
        base, power = self.beta, Fraction(1)
        while steps and power:
            if steps & 1:
                power = self.down(power * base, 2**32)
            base = self.down(base * base, 2**32)
            steps >>= 1
            if self.exact and power < Fraction(1, 2**200):
                return Fraction(0)
        return power

    def activated(self, queue, now):
        if queue in self.outside:
            return
        if self.counts == "turns":
            self.began[queue] = max(self.began[queue], now)
        elif self.counts == "weights":
            self.busy = self.most(self.busy + self.quanta[queue])
            self.sample(self.busy)

    def visited(self, queue, end):
        self.sample(end - self.began[queue])
        self.began[queue] = end

    def empty(self, queue):
        self.busy = max(self.busy - self.quanta[queue], 0)
        self.sample(self.busy)

    def served(self, queue, end, visit_ends, emptied):
        if queue in self.outside:
            return
        if self.counts == "turns" and visit_ends:
            self.visited(queue, end)
        elif self.counts == "weights":
            self.sample(self.busy)
            if emptied:
                self.empty(queue)

    def discarded(self, queue, now, visit_ends, emptied):
        if queue in self.outside:
            return
        if self.counts == "turns" and visit_ends:
            self.visited(queue, now)
        elif self.counts == "weights" and emptied:
            self.empty(queue)


def replay(case):
    """Replays a hand-worked case and returns its number of events."""
    port = Oracle(case)
    for number, step in enumerate(case["steps"], 1):
        ends, emptied = step.get("ends", False), step.get("emptied", False)
        if "woke" in step:
            port.woke(step["woke"], step["since"])
        elif "activated" in step:
            port.activated(step["activated"], step["now"])
        elif "served" in step:
            port.served(step["served"], step["now"], ends, emptied)
        else:
            port.discarded(step["discarded"], step["now"], ends, emptied)
        if "round" in step and port.round != step["round"]:
            raise Wrong(f"{case['name']}: step {number}: {port.round}, wanted {step['round']}")
    return len(case["steps"])


def trace(case):
    """Replays a trace: its digest, its last round, and the largest difference to the exact form."""
    ports = [Oracle(case), Oracle(case, exact=True)]
    dice, now, empty, gap = Dice(case["seed"]), 0, 0, Fraction(0)
    held, digest = [False for _ in case["quanta"]], 0xCBF29CE484222325
    for n in range(case["events"]):
        if n % 64 == 0:
            mean = [300, 1_100, 4_000, 60_000][dice.below(4)]
        now += 1 + dice.below(2 * mean)
        queue = dice.below(len(held))
        if not held[queue]:
            if not any(held):
                for port in ports:
                    port.woke(now, empty)
            for port in ports:
                port.activated(queue, now)
            held[queue] = True
        else:
            discarded = dice.below(8) == 0
            emptied = dice.below(3) == 0
            ends = dice.below(2) == 0 or emptied
            if not discarded:
                now += dice.below(1_500)
            for port in ports:
                (port.discarded if discarded else port.served)(queue, now, ends, emptied)
            held[queue] = not emptied
            empty = now
        for byte in ports[0].round.to_bytes(8, "little"):
            digest = (digest ^ byte) * 0x100000001B3 & U64
        gap = max(gap, abs(ports[0].round - ports[1].round))
        for port in ports[1:]:
            port.average = Fraction(floor(port.average * 2**256), 2**256)
    return f"{digest:016x}", ports[0].round, gap


def check(path):
    """Checks `vectors/round.toml`: its row of the table, and the errors."""
    file, wrong, cases, events, gap = read(path), [], 0, 0, Fraction(0)
    for case in file["case"]:
        try:
            events += replay(case)
            cases += 1
        except Wrong as error:
            wrong.append(f"round: {error}")
    for case in file["trace"]:
        digest, last, apart = trace(case)
        gap = max(gap, apart)
        if (digest, last) != (case["digest"], case["round"]):
            want = (case["digest"], case["round"])
            wrong.append(f"round: {case['name']}: {(digest, last)}, wanted {want}")
    if gap > GAP:
        wrong.append(f"round: {float(gap)} ns from the exact form: more than {GAP}")
    total = sum(t["events"] for t in file["trace"])
    return (cases, events, len(file["trace"]), total, gap), wrong
