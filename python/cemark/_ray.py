# SPDX-License-Identifier: MIT OR Apache-2.0
"""Points on a Ray cluster. Ray starts the processes, retries those that die and knows the memory of
its nodes; which points are needed, and the run directory, are those of ``cemark run``
(``_native.Handed``)."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _native
from ._errors import Error, MachineError, UserError

if TYPE_CHECKING:
    from ._progress import Tick

Spec: TypeAlias = "tuple[str, str, str, str, list[tuple[str, bytes]]]"

RETRIES = 10
"""How often a point begins again after its worker or its node was lost."""

LEAST_MEMORY = 64 << 20
"""Bytes that are asked for at least; larger requests are powers of two, so that Ray, which keeps
workers ready for each kind of request, has few kinds."""

_LOOK = 0.1
"""Seconds between two looks at what is shown, and at whether the run was asked to end."""

_AGAIN = 5.0
"""Seconds after which the cores of the cluster are counted again: nodes come and go."""

# A process simulates points of one plan after the other, and expands the plan once.
_bench: tuple[Spec, _native.Bench] | None = None


def point(spec: Spec, index: int) -> bytes:
    """What a task does: simulates a point, and returns the bytes of its file. It depends on its
    arguments only, so Ray may run it anywhere, and again."""
    global _bench
    if _bench is None or _bench[0] != spec:
        _bench = (spec, _native.Bench(*spec))
    return _bench[1].simulate(index)


def _ray() -> Any:
    # Ray otherwise reports to its makers how it is used.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise UserError(
            "Ray is not installed",
            help="pip install 'cemark[ray]', or without Ray: on=\"threads\"",
        ) from None
    return ray


class Cluster:
    """A Ray cluster that is there: the one of this process if it has one, or at an address."""

    def __init__(self, address: str | None = None) -> None:
        ray = self._ray = _ray()
        self._ours = not ray.is_initialized()
        if self._ours:
            try:
                ray.init(
                    address=address or "auto", log_to_driver=False, logging_level=logging.ERROR
                )
            except (ConnectionError, RuntimeError, ValueError) as e:
                where = f"at {address}" if address else "that this machine belongs to"
                raise UserError(
                    f"there is no Ray cluster {where}: {str(e).splitlines()[0]}",
                    help="start one with `ray start --head` and, on the other nodes, `ray start "
                    "--address=HOST:PORT`, or name one: --address HOST:PORT (address= in Python). "
                    'address="local" starts one on this machine for this sweep only',
                ) from None

    def close(self) -> None:
        """Lets go of the cluster, which stays as it is."""
        if self._ours:
            self._ray.shutdown()

    def cores(self) -> int:
        """Cores of all nodes, at least one."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 0)))

    def _most_memory(self) -> float:
        nodes = (n for n in self._ray.nodes() if n["Alive"])
        return max((float(n["Resources"].get("memory", 0)) for n in nodes), default=0.0)

    def _largest(self, needed: float) -> float:
        """The memory of the largest node. Refuses a plan with a point that needs more: Ray would
        wait for such a node."""
        there = self._most_memory()
        if there < needed:
            raise UserError(
                f"a point needs about {_megabytes(needed)} of memory, and the largest node of the "
                f"cluster offers {_megabytes(there)}",
                help="add a larger node (`ray start --memory=BYTES` says what one offers), or make "
                "the topology smaller; --anyway (anyway=True) runs it without asking for memory",
            )
        return there

    def serve(
        self, handed: _native.Handed, tick: Tick | None = None, anyway: bool = False
    ) -> None:
        """Hands points to the cluster until none is needed any more, or the run is asked to end.
        At most two for each core are handed out at a time."""
        ray = self._ray
        largest = 0.0 if anyway else self._largest(handed.most_bytes())
        task = ray.remote(point)
        spec = ray.put(handed.spec())
        running: dict[Any, int] = {}
        most, counted, told = 2 * self.cores(), time.monotonic(), 0.0
        try:
            while not handed.is_done() and not handed.stopped():
                while len(running) < most and (found := handed.next()) is not None:
                    index, needed = found
                    options = {"num_cpus": 1, "max_retries": RETRIES}
                    if not anyway:
                        options["memory"] = _asked(needed, largest)
                    running[task.options(**options).remote(spec, index)] = index
                if not running:
                    break
                ready, _ = ray.wait(list(running), num_returns=1, timeout=_LOOK)
                for done in ready:
                    index = running.pop(done)
                    handed.bring(index, self._result(handed, done, index))
                now = time.monotonic()
                if tick is not None and now - told > _LOOK:
                    handed.tell(tick)
                    told = now
                if now - counted > _AGAIN:
                    most, counted = 2 * self.cores(), now
                    for ref in [r for r, i in running.items() if not handed.wants(i)]:
                        del running[ref]
                        ray.cancel(ref)
        except ray.exceptions.RayError as e:
            raise MachineError(
                f"the cluster is lost: {str(e).splitlines()[0]}",
                help="what is finished is kept: the same call continues on another cluster",
            ) from None
        finally:
            # A cluster that is lost cannot be told.
            with contextlib.suppress(Exception):
                for ref in running:
                    ray.cancel(ref)

    def _result(self, handed: _native.Handed, done: Any, index: int) -> bytes:
        errors = self._ray.exceptions
        try:
            result: bytes = self._ray.get(done)
        except errors.RayTaskError as e:
            cause = e.cause
            if isinstance(cause, Error):
                cause.message = f"on a node of the cluster: {cause.message}"
                raise cause from None
            raise MachineError(
                f"on a node of the cluster: {type(cause).__name__}: {cause}",
                help="cemark has to be installed on every node, in the Python that Ray runs "
                "(docs/cluster.md)",
            ) from None
        except errors.RayError as e:
            raise MachineError(
                f"the point ({handed.named(index)}) lost its worker {RETRIES + 1} times: "
                f"{str(e).splitlines()[0]}",
                help="look at the logs of the nodes: a machine that ends processes for lack of "
                "memory says so there. The same call continues with what is finished",
            ) from None
        return result


def _asked(needed: float, largest: float) -> int:
    """Bytes to ask the scheduler for: no more than the largest node has."""
    rounded = max(LEAST_MEMORY, 1 << math.ceil(math.log2(max(needed, 1.0))))
    return min(rounded, int(largest))


def _megabytes(n: float) -> str:
    return f"{n / 1e6:.0f} MB"


def run(
    address: str | None,
    begin: Callable[[int], _native.Handed],
    tick: Tick | None,
    anyway: bool,
) -> _native.Ran:
    """Simulates on a cluster what ``begin`` hands out, which is told the number of cores."""
    cluster = Cluster(address)
    try:
        handed = begin(cluster.cores())
        try:
            cluster.serve(handed, tick, anyway)
        except KeyboardInterrupt:
            # It says what is kept.
            handed.finish()
            raise
        if tick is not None:
            handed.tell(tick)
        return handed.finish()
    finally:
        cluster.close()
