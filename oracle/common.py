# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the oracles share: a packet, random draws, and the choice between exact and rounded numbers.

An oracle is written in rational numbers from the text of its paper. Where the scheme's page states
that a value is rounded, the oracle calls `self.down(value, parts)`. The exact form leaves the value
as it is; the fixed-point rule rounds it down to a multiple of 1/parts.
"""

from fractions import Fraction
from math import floor, isqrt
from types import SimpleNamespace

NEVER = None
U32 = 2**32 - 1
U64 = 2**64 - 1
ONE = 2**16
# Properties of the queue in a file of vectors.
QUEUE = {"rate_bps", "quantum", "weight", "weight_sum", "strict"}


class At:
    """What a marker sees (`crates/marking/src/at.rs`). Lengths exclude the judged packet."""

    __slots__ = "now sojourn round salt pkt ecn intent queue port pool limit".split()

    def __init__(
        self, now, sojourn=0, round=0, salt=0, pkt=1500, ecn="ect0", intent=None,
        queue=0, port=None, pool=None, limit=U32,
    ):
        self.now, self.sojourn, self.round, self.salt, self.pkt = now, sojourn, round, salt, pkt
        self.ecn, self.intent, self.queue, self.limit = ecn, intent, queue, limit
        self.port = queue if port is None else port
        self.pool = queue if pool is None else pool


class Queue:
    """The queue that a marker is configured for."""

    def __init__(
        self, rate_bps=10_000_000_000, quantum=1500, weight=1, weight_sum=1, strict=False
    ):
        self.rate, self.quantum, self.strict = rate_bps, quantum, strict
        self.weight, self.weight_sum = weight, weight_sum

    def time_of(self, bytes_):
        """Nanoseconds that these bytes take on the link."""
        return Fraction(bytes_ * 8 * 10**9, self.rate)

    def bytes_in(self, nanos):
        """Bytes that the link sends in this time."""
        return Fraction(self.rate * nanos, 8 * 10**9)


class Scheme:
    """A marker that judges arrivals and has no state. Subclasses override what differs."""

    DEFAULTS = {}
    # Parameters that are fractions. The vectors give them in parts of 2^16.
    PARTS = ()
    # Bounds on the difference between the fixed-point rule and the exact form, on the committed
    # traces: share of verdicts that differ, difference in marks as a share of all verdicts, and
    # `distance` of the states, with its unit. They are near what is measured or can be proved.
    DIFFER = 0
    MARKS = Fraction(1, 10_000)
    GAP = 0
    UNIT = ""

    @classmethod
    def bounds(cls, params, queue):
        """For traces with these parameters and queue: a suffix to the scheme's name, and the class
        whose bounds apply."""
        return "", cls

    def __init__(self, params, queue, exact=False):
        self.exact = exact
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
        """Rounds down to a multiple of 1/parts under the rule."""
        if self.exact:
            return shorten(value)
        return floor(value) if parts == 1 else Fraction(floor(value * parts), parts)

    def within(self, value, most=U32):
        """Limits to -most and most under the rule."""
        return value if self.exact else max(min(value, most), -most)

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
        raise AssertionError("woken without having asked for it")

    def distance(self, exact):
        """How far the state of this rule is from that of the exact form, in UNIT."""
        return 0


def shorten(value):
    """Limits a number to 256 fraction bits, so that exact states do not grow without bound. The
    error is below 1e-77."""
    value = Fraction(value)
    if value.denominator.bit_length() <= 256:
        return value
    return Fraction(floor(value * 2**256), 2**256)


def over_root(value, n):
    """value / sqrt(n) with 64 fraction bits, which is enough for its floor with 32-bit numbers."""
    return Fraction(isqrt((value * value << 128) // n), 2**64)


def saturate(n, most=U32):
    return min(n, most)


def after(time, span):
    """A span later. No time is later than 2^64 - 1, in the exact form either."""
    return min(time + span, U64)


def exceeds(length, threshold, cmp):
    """The two meanings of 'exceeds'."""
    return length > threshold or (cmp == "at_least" and length == threshold)


def mix(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & U64
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & U64
    return x ^ (x >> 31)


def draw(salt, n=0):
    """The n-th random number of a packet: 16 bits."""
    return mix((salt + (n + 1) * 0x9E3779B97F4A7C15) & U64) >> 48


def drawn(scheme, salt, probability):
    """True with this probability, which the rule has in parts of 2^16."""
    return draw(salt) < scheme.down(probability, ONE) * ONE
