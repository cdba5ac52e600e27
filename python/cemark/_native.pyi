# SPDX-License-Identifier: MIT OR Apache-2.0
"""What is written in Rust (python/src). Nothing here is for users of the package."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

__version__: str

def main(words: Sequence[str], again: Sequence[str]) -> int: ...
def schemes() -> str: ...
def theories() -> str: ...
def theory(name: str, inputs: Sequence[str]) -> str: ...
def compare(a: str, b: str) -> NativeBeside: ...
def scenario_of(document: bytes) -> str | None: ...
def c_headers() -> list[tuple[str, str]]: ...
def run(
    source: Source,
    out: Path | None,
    jobs: int | None,
    threads: int | None,
    anyway: bool,
    fresh: bool,
    command: Sequence[str],
    tick: Callable[[int, int, float, int, list[str]], None] | None,
    markers: Sequence[tuple[str, Callable[[Queue], object], str, bool]],
    allow_native: bool,
) -> Ran: ...

def hand(
    source: Source,
    out: Path | None,
    anyway: bool,
    fresh: bool,
    command: Sequence[str],
    at_once: int,
    allow_native: bool,
) -> Handed: ...

class Handed:
    directory: Path
    def spec(self) -> tuple[str, str, str, str, list[tuple[str, bytes]]]: ...
    def most_bytes(self) -> float: ...
    def next(self) -> tuple[int, float] | None: ...
    def wants(self, point: int) -> bool: ...
    def named(self, point: int) -> str: ...
    def bring(self, point: int, bytes: bytes) -> bool: ...
    def is_done(self) -> bool: ...
    def stopped(self) -> bool: ...
    def tell(self, tick: Callable[[int, int, float, int, list[str]], None]) -> None: ...
    def finish(self) -> Ran: ...

class Bench:
    def __new__(
        cls,
        text: str,
        file: str,
        digest: str,
        build: str,
        markers: Sequence[tuple[str, bytes]],
    ) -> Bench: ...
    def simulate(self, point: int) -> bytes: ...

class Source:
    file: str
    def __new__(
        cls,
        file: str,
        text: str | None,
        json: str | None,
        set: Sequence[tuple[str, Sequence[str]]],
        seed: int | None,
        seeds: int | None,
        precision: str | None,
        full: bool,
        added: Sequence[tuple[str, str]],
        python: Sequence[tuple[str, str, str]],
    ) -> Source: ...
    def text(self) -> str: ...
    def described(self) -> tuple[str, str, str, list[str], list[str], list[str]]: ...
    def points(self) -> list[tuple[list[tuple[str, str]], str, int, float]]: ...

class Steps:
    ports: list[tuple[str, int]]
    buffer_bytes: int
    seed: int
    parameters: list[tuple[str, str, int, int, int]]
    ordered: list[tuple[str, str]]
    def __new__(
        cls,
        source: Source,
        scheme: str | None,
        ports: Sequence[str],
        interval_ns: int,
        samples: int,
    ) -> Steps: ...
    def reset(self, seed: int) -> None: ...
    def step(
        self,
    ) -> tuple[
        float,
        float,
        bool,
        int,
        list[tuple[float, int, float, int, int, int, int, int, float]],
        list[tuple[int, float, float]],
    ]: ...
    def retune(self, params: Sequence[tuple[str, int]], port: int | None = None) -> None: ...
    def close(self) -> None: ...

class NativeBeside:
    def text(self, width: int) -> str: ...
    def document(self) -> str: ...

class Ran:
    directory: Path
    def text(self, width: int) -> str: ...
    def tables(self) -> list[tuple[str, list[str], list[list[str]]]]: ...
    def storms(self) -> list[str]: ...
    def summary(self) -> str: ...
    def frame(self, kind: str) -> Frame: ...
    def charts(self) -> list[NativeChart]: ...
    def charts_of(
        self, metric: str, buckets: str | None, at: dict[str, str]
    ) -> list[NativeChart] | None: ...
    def slowdown_by_size(self, buckets: str | None) -> Frame: ...
    def distribution(
        self, name: str, at: dict[str, str]
    ) -> list[tuple[str, list[tuple[str, list[float], list[float]]]]]: ...
    def distribution_chart(self, name: str, at: dict[str, str]) -> NativeChart | None: ...
    def report(self) -> str: ...

class NativeChart:
    name: str
    title: str
    def svg(self) -> str: ...
    def csv(self) -> str: ...
    def save(self, path: os.PathLike[str], width: str | None) -> None: ...

class Frame:
    column_names: list[str]
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class NativeMarker:
    def __new__(cls, scheme: str, toml: str, rate: str, mtu: int) -> NativeMarker: ...
    def judge(
        self,
        joins: bool,
        out: object,
        now: object,
        sojourn: object,
        round: object,
        packet_hash: object,
        pkt_bytes: object,
        queue_bytes: object,
        port_bytes: object | None,
        pool_bytes: object | None,
        limit_bytes: object,
    ) -> None: ...
    def emptied(self, now: int) -> None: ...
    def hook(self) -> str: ...

class At:
    """What a marker may look at when it judges a packet. Counts never include that packet."""

    @property
    def now(self) -> int:
        """The time in nanoseconds."""
    @property
    def sojourn(self) -> int:
        """Nanoseconds that the packet has been in this queue; zero at enqueue."""
    @property
    def round(self) -> int:
        """The port's smoothed round time in nanoseconds; zero unless it serves rounds."""
    @property
    def packet_hash(self) -> int:
        """A random number of 64 bits, the same for every scheme."""
    @property
    def pkt_bytes(self) -> int:
        """Bytes of the packet on the wire."""
    @property
    def ecn_capable(self) -> bool:
        """Whether the packet can carry CE."""
    @property
    def intent(self) -> bool:
        """Whether this marker wanted to mark the packet at enqueue."""
    @property
    def queue_bytes(self) -> int:
        """Bytes in this queue."""
    @property
    def queue_pkts(self) -> int:
        """Packets in this queue."""
    @property
    def port_bytes(self) -> int:
        """Bytes in all queues of the port."""
    @property
    def pool_bytes(self) -> int:
        """Bytes in the pool of the queue."""
    @property
    def limit_bytes(self) -> int:
        """The limit of the queue in bytes."""

class Queue:
    """What a marker knows of its queue."""

    @property
    def rate(self) -> int:
        """Bits per second of the link."""
    @property
    def weight(self) -> int:
        """The queue's weight."""
    @property
    def weight_sum(self) -> int:
        """The sum of the weights of the port's queues that are not strict."""
    @property
    def strict(self) -> bool:
        """Whether it is served with strict priority."""
    @property
    def mtu(self) -> int:
        """Largest packet in bytes."""
    @property
    def limit_bytes(self) -> int:
        """The limit of the queue in bytes."""
    @property
    def values(self) -> list[int]:
        """The parameters of the marker in stored units, in the order of their declarations."""
