# SPDX-License-Identifier: MIT OR Apache-2.0
"""The schemes of the catalogue by themselves, on arrays of packets.

There is a class for each scheme; its parameters are those of a scenario file, with the same units::

    marker = cemark.marking.EcnSharp(ins_target="220us", rate="10Gbps")
    verdicts = marker.dequeue(now=times, sojourn=waits, pkt_bytes=1500)

Packets are judged in order, so ``now`` must not fall. Arrays are NumPy's: of ``uint64`` for times
and hashes, of ``uint32`` for bytes; those are read in place, others are converted first. The answer
is an array of ``uint8``: :data:`PASS`, or a mark (1 to 127) or drop (128 and more) with its reason.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike, NDArray

PASS = 0
"""The packet stays as it is."""
REASONS = ("instant", "persistent", "random", "average", "tentative")
"""Reasons: a mark is 1 plus its place here, a drop 129 plus its place."""


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else json.dumps(str(value))


class Scheme:
    """A marker of one queue, with its state."""

    name = ""
    """The scheme's name in the catalogue."""

    def __init__(self, *, rate: str = "10Gbps", mtu: int = 1500, **parameters: object) -> None:
        """``rate`` is the link's and ``mtu`` its largest packet in bytes; the others are the
        parameters of the scheme."""
        toml = "".join(f"{name} = {_written(value)}\n" for name, value in parameters.items())
        self._marker = _native.NativeMarker(self.name, toml, rate, mtu)

    @property
    def hook(self) -> str:
        """Where it judges with these parameters: ``enqueue``, ``dequeue`` or ``both``."""
        return self._marker.hook()

    def enqueue(
        self,
        now: ArrayLike,
        *,
        pkt_bytes: ArrayLike = 1500,
        queue_bytes: ArrayLike = 0,
        port_bytes: ArrayLike | None = None,
        pool_bytes: ArrayLike | None = None,
        limit_bytes: ArrayLike = 2**32 - 1,
        round: ArrayLike = 0,
        packet_hash: ArrayLike = 0,
        out: NDArray[numpy.uint8] | None = None,
    ) -> NDArray[numpy.uint8]:
        """Judges packets that join, at times ``now`` in nanoseconds that do not fall.

        Bytes never include the judged packet; ``port_bytes`` and ``pool_bytes`` are those of the
        queue unless given. ``round`` is in nanoseconds, ``packet_hash`` random. Each is an array
        with a value for each packet, or one value for all. ``out`` takes the verdicts.
        """
        return self._judge(
            True,
            now,
            0,
            pkt_bytes,
            queue_bytes,
            port_bytes,
            pool_bytes,
            limit_bytes,
            round,
            packet_hash,
            out,
        )

    def dequeue(
        self,
        now: ArrayLike,
        *,
        sojourn: ArrayLike = 0,
        pkt_bytes: ArrayLike = 1500,
        queue_bytes: ArrayLike = 0,
        port_bytes: ArrayLike | None = None,
        pool_bytes: ArrayLike | None = None,
        limit_bytes: ArrayLike = 2**32 - 1,
        round: ArrayLike = 0,
        packet_hash: ArrayLike = 0,
        out: NDArray[numpy.uint8] | None = None,
    ) -> NDArray[numpy.uint8]:
        """Judges packets that leave after ``sojourn`` nanoseconds in the queue; the rest is as for
        :meth:`enqueue`. The marker has no intent for them from their enqueue."""
        return self._judge(
            False,
            now,
            sojourn,
            pkt_bytes,
            queue_bytes,
            port_bytes,
            pool_bytes,
            limit_bytes,
            round,
            packet_hash,
            out,
        )

    def emptied(self, now: int) -> None:
        """Says that the queue has become empty, at a time in nanoseconds."""
        self._marker.emptied(now)

    def _judge(
        self,
        joins: bool,
        now: ArrayLike,
        sojourn: ArrayLike,
        pkt_bytes: ArrayLike,
        queue_bytes: ArrayLike,
        port_bytes: ArrayLike | None,
        pool_bytes: ArrayLike | None,
        limit_bytes: ArrayLike,
        round: ArrayLike,
        packet_hash: ArrayLike,
        out: NDArray[numpy.uint8] | None,
    ) -> NDArray[numpy.uint8]:
        import numpy as np

        def field(value: Any, kind: Any) -> Any:
            # Only an array that has another type or gaps is copied.
            return value if isinstance(value, int) else np.ascontiguousarray(value, dtype=kind)

        def some(value: Any) -> Any:
            return None if value is None else field(value, np.uint32)

        times = np.ascontiguousarray(now, dtype=np.uint64)
        verdicts = np.empty(len(times), dtype=np.uint8) if out is None else out
        self._marker.judge(
            joins,
            verdicts,
            times,
            field(sojourn, np.uint64),
            field(round, np.uint64),
            field(packet_hash, np.uint64),
            field(pkt_bytes, np.uint32),
            field(queue_bytes, np.uint32),
            some(port_bytes),
            some(pool_bytes),
            field(limit_bytes, np.uint32),
        )
        return verdicts

    def __repr__(self) -> str:
        return f"<cemark.marking.{type(self).__name__}>"


def _class(scheme: dict[str, Any]) -> type[Scheme]:
    title = "".join(part.capitalize() for part in scheme["name"].split("_"))
    parameters = "\n".join(
        f"    {p['name']} (usually {p['default']}{' ' + p['unit'] if p['unit'] else ''}): "
        f"{p['doc']}"
        for p in scheme["parameters"]
    )
    doc = f"{scheme['title']}: {scheme['doc']}\n\n{scheme['paper']}\n\nParameters:\n{parameters}\n"
    names = {"name": scheme["name"], "__doc__": doc, "__module__": __name__}
    return type(title, (Scheme,), names)


SCHEMES: dict[str, type[Scheme]] = {
    made.name: made for made in map(_class, json.loads(_native.schemes()))
}
"""The classes by the names of the catalogue."""

globals().update({made.__name__: made for made in SCHEMES.values()})


def __getattr__(name: str) -> type[Scheme]:
    known = ", ".join(made.__name__ for made in SCHEMES.values())
    raise AttributeError(f"there is no scheme `{name}`; there are {known}")


def __dir__() -> list[str]:
    return sorted(["PASS", "REASONS", "SCHEMES", "Scheme", *globals()])
