# SPDX-License-Identifier: MIT OR Apache-2.0
"""A whole port: strict queues above deficit round robin, and a marker of its own for each queue.

MQ-ECN (3.2 to 3.4) reads one number of the port, the round. The round is that of all queues which
are not strict, whatever their schemes; a strict queue has the standard threshold. The port sends a
strict packet first, in order of queue, else the head of the queue whose visit it is: a visit adds
the quantum to the queue's credit (a head above that gets as many quanta as it needs) and sends
heads while they fit. An empty queue loses its credit.
"""

import importlib
from collections import deque

import round_time
from common import U64, At, Queue
from traces import Dice

RATE = 10_000_000_000


class Lane:
    """A queue with its marker."""

    def __init__(self, said):
        self.quantum, self.strict = said.get("quantum", 1_500), said.get("strict", False)
        self.held, self.bytes, self.credit, self.marks = deque(), 0, 0, 0
        self.marker = None
        if "scheme" in said:
            oracle = importlib.import_module(said["scheme"]).Oracle
            queue = Queue(RATE, self.quantum, strict=self.strict)
            self.marker = oracle(said.get("params", {}), queue)

    def judges(self, hook):
        return self.marker is not None and self.marker.hook() in (hook, "both")


class Port:
    def __init__(self, lanes):
        self.lanes = [Lane(said) for said in lanes]
        outside = [i for i, lane in enumerate(self.lanes) if lane.strict]
        quanta = [lane.quantum for lane in self.lanes]
        self.round = round_time.Oracle(dict(counts="turns", quanta=quanta, outside=outside))
        self.turns, self.visiting = deque(), False
        self.free, self.digest = 0, 0xCBF29CE484222325

    def view(self, now, lane, pkt, sojourn=0):
        port = sum(each.bytes for each in self.lanes)
        return At(now, sojourn, self.round.round, 0, pkt, "ect0", None, lane.bytes, port, port)

    def arrives(self, now, i, pkt):
        lane = self.lanes[i]
        if self.free <= now and not any(each.held for each in self.lanes):
            self.round.woke(now, self.free)
        marked = lane.judges("enqueue") and lane.marker.enqueue(self.view(now, lane, pkt)) != "pass"
        if not lane.held:
            self.round.activated(i, now)
            if not lane.strict:
                self.turns.append(i)
        lane.held.append((now, pkt, marked))
        lane.bytes += pkt

    def chosen(self):
        """The queue that sends next, and whether its visit ends then."""
        for i, lane in enumerate(self.lanes):
            if lane.strict and lane.held:
                return i, True
        i = self.turns[0]
        lane = self.lanes[i]
        head = lane.held[0][1]
        if not self.visiting:
            lane.credit += lane.quantum
            if lane.credit < head:
                lane.credit += -(-(head - lane.credit) // lane.quantum) * lane.quantum
        lane.credit -= head
        following = lane.held[1][1] if len(lane.held) > 1 else None
        ends = following is None or following > lane.credit
        if following is None:
            lane.credit = 0
        self.visiting = not ends
        if ends:
            self.turns.popleft()
            if following is not None:
                self.turns.append(i)
        return i, ends

    def until(self, now):
        """Sends everything whose turn comes up to a time."""
        while any(lane.held for lane in self.lanes):
            first = min(lane.held[0][0] for lane in self.lanes if lane.held)
            begins = max(self.free, first)
            if begins > now:
                return
            i, ends = self.chosen()
            lane = self.lanes[i]
            since, pkt, marked = lane.held.popleft()
            lane.bytes -= pkt
            if lane.judges("dequeue"):
                at = self.view(begins, lane, pkt, begins - since)
                marked = lane.marker.dequeue(at) != "pass" or marked
            if lane.marker is not None and not lane.held:
                lane.marker.emptied(begins)
            self.free = begins + pkt * 8 // 10
            self.round.served(i, self.free, ends, not lane.held)
            lane.marks += marked
            for byte in self.free.to_bytes(8, "little") + bytes([i, marked]):
                self.digest = (self.digest ^ byte) * 0x100000001B3 & U64


def run(trace):
    """Sends the packets of a trace through a port."""
    port, dice, now = Port(trace["queue"]), Dice(trace["seed"]), 0
    for n in range(trace["packets"]):
        if n % 256 == 0:
            mean = [500, 900, 1_100, 4_000][dice.below(4)]
        now += 1 + dice.below(2 * mean)
        i = dice.below(len(port.lanes))
        pkt = 5 * (13 + dice.below(287)) if dice.below(4) == 0 else 1_500
        port.until(now)
        port.arrives(now, i, pkt)
    port.until(now + 10**12)
    return port


def check(file):
    """Checks `vectors/port.toml`: numbers of traces and of packets, and the errors."""
    wrong = []
    for trace in file["trace"]:
        port = run(trace)
        got = f"{port.digest:016x}", [lane.marks for lane in port.lanes], port.round.round
        want = trace["digest"], trace["marks"], trace["round"]
        if got != want:
            wrong.append(f"port: {trace['name']}: {got}, wanted {want}")
    packets = sum(trace["packets"] for trace in file["trace"])
    return (len(file["trace"]), packets), wrong
