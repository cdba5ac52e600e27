# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the oracles share: the view of a packet, luck, and the choice between a law and its fixed-point rule.

An oracle is written in rational numbers from the text of its paper. Where the page of the scheme states a fixed-point rule, the
oracle says `self.down(value, parts)`: the law leaves the value alone, the rule rounds it down to a multiple of 1/parts.
"""

from fractions import Fraction
from math import floor, isqrt
from types import SimpleNamespace

NEVER = None
U32 = 2**32 - 1
U64 = 2**64 - 1
ONE = 2**16
# What a file of vectors may say of the queue.
QUEUE = {"rate_bps", "quantum", "weight", "weight_sum", "strict"}


class At:
    """What a marker may look at (`crates/marking/src/at.rs`); counts never include the judged packet."""

    __slots__ = "now sojourn round salt pkt ecn intent queue port pool limit".split()

    def __init__(self, now, sojourn=0, round=0, salt=0, pkt=1500, ecn="ect0", intent=None, queue=0, port=None, pool=None, limit=U32):
        self.now, self.sojourn, self.round, self.salt, self.pkt = now, sojourn, round, salt, pkt
        self.ecn, self.intent, self.queue, self.limit = ecn, intent, queue, limit
        self.port = queue if port is None else port
        self.pool = queue if pool is None else pool


class Queue:
    """What a marker is told of its queue."""

    def __init__(self, rate_bps=10_000_000_000, quantum=1500, weight=1, weight_sum=1, strict=False):
        self.rate = rate_bps
        self.quantum, self.weight, self.weight_sum, self.strict = quantum, weight, weight_sum, strict

    def time_of(self, bytes_):
        """Nanoseconds that so many bytes take on the link."""
        return Fraction(bytes_ * 8 * 10**9, self.rate)

    def bytes_in(self, nanos):
        """Bytes that the link sends in so many nanoseconds."""
        return Fraction(self.rate * nanos, 8 * 10**9)


class Scheme:
    """A marker that judges at enqueue and remembers nothing, until a subclass says otherwise."""

    DEFAULTS = {}
    # Fractions among the parameters, which the vectors give in parts of 2^16.
    PARTS = ()
    # Bounds of the rule against the law on the committed traces: share of verdicts that differ,
    # share of marks (more or fewer of all verdicts), and `distance`, with its unit. Near what is
    # measured, or what can be proved.
    DIFFER = 0
    MARKS = Fraction(1, 10_000)
    GAP = 0
    UNIT = ""

    @classmethod
    def bounds(cls, params, queue):
        """A name to add to the scheme's, and the class whose bounds hold, for traces with these parameters at such a queue."""
        return "", cls

    def __init__(self, params, queue, law=False):
        self.law = law
        self.begin()
        self.tune(params, queue)

    def begin(self):
        """Sets the state that a new marker has."""

    def tune(self, params, queue):
        unknown = set(params) - set(self.DEFAULTS)
        assert not unknown, f"unknown parameters {unknown}"
        self.queue = queue
        values = {**self.DEFAULTS, **params}
        for name in self.PARTS:
            values[name] = Fraction(values[name], ONE)
        self.p = SimpleNamespace(**values)
        self.tuned()

    def tuned(self):
        """Derives what depends on parameters only."""

    def down(self, value, parts=1):
        """The value, which the rule rounds down to a multiple of 1/parts."""
        if self.law:
            return shorten(value)
        return floor(value) if parts == 1 else Fraction(floor(value * parts), parts)

    def within(self, value, most=U32):
        """The value, which the rule holds within -most and most."""
        return value if self.law else max(min(value, most), -most)

    def hook(self):
        return "enqueue"

    def enqueue(self, at):
        return "pass"

    def dequeue(self, at):
        return at.intent or "pass"

    def emptied(self, now):
        pass

    def next_wake(self):
        return NEVER

    def wake(self, at):
        raise AssertionError("a clock that nobody asked for")

    def distance(self, law):
        """How far the state of this rule is from the state of the law, in UNIT."""
        return 0


def shorten(value):
    """A rational number with at most 256 bits behind the point: the law's state must not grow without end (error below 1e-77)."""
    value = Fraction(value)
    if value.denominator.bit_length() <= 256:
        return value
    return Fraction(floor(value * 2**256), 2**256)


def over_root(value, n):
    """value / sqrt(n), to 64 bits behind the point: enough to tell its floor, whatever 32-bit numbers they are."""
    return Fraction(isqrt((value * value << 128) // n), 2**64)


def saturate(n, most=U32):
    return min(n, most)


def after(time, span):
    """A span later. The clock ends at 2^64 - 1: no time is later, under the law either."""
    return min(time + span, U64)


def exceeds(length, threshold, cmp):
    """The two readings of 'exceeds'."""
    return length > threshold or (cmp == "at_least" and length == threshold)


def mix(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & U64
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & U64
    return x ^ (x >> 31)


def draw(salt, n=0):
    """The n-th draw of a packet: 16 bits."""
    return mix((salt + (n + 1) * 0x9E3779B97F4A7C15) & U64) >> 48


def lucky(scheme, salt, probability):
    """Whether a packet is drawn at this probability, which the rule knows in parts of 2^16."""
    return draw(salt) < scheme.down(probability, ONE) * ONE
