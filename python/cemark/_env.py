# SPDX-License-Identifier: MIT OR Apache-2.0
"""A scenario as an environment of Gymnasium: an agent sets thresholds while the fabric runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _native
from ._errors import UserError
from ._scenario import Changes, Like, scenario

try:
    import gymnasium
    import numpy as np
except ImportError as e:
    raise UserError(
        f"cemark.env needs {e.name}", help="install both: pip install 'cemark[rl]'"
    ) from None

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = "NDArray[np.float32]"
    Base: TypeAlias = "gymnasium.Env[Floats, Floats]"
else:
    Base = gymnasium.Env

_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_LENGTHS = {"B": 1, "KB": 1_000, "MB": 1_000_000, "KiB": 1 << 10, "MiB": 1 << 20}
# How far a threshold may go from the scenario's value, either way, where no range is given.
_FACTOR = 8.0


@dataclass(frozen=True, eq=False)
class Interval:
    """What happened in one step. Arrays have a value for each watched port, in the order of
    :attr:`MarkingEnv.ports`; queue lengths do not count the packet being sent."""

    start_us: float
    """Its beginning, in simulated microseconds."""
    end_us: float
    """Its end."""
    over: bool
    """Whether the run has ended."""
    awaited: int
    """Measured flows that have not ended."""
    mean_bytes: NDArray[Any]
    """Mean queue length over the samples, bytes."""
    max_bytes: NDArray[Any]
    """Largest of the samples, bytes."""
    mean_wait_us: NDArray[Any]
    """Mean time to drain the backlog, which is what an arriving packet waits."""
    packets: NDArray[Any]
    """Packets sent."""
    bytes: NDArray[Any]
    """Their bytes."""
    marks: NDArray[Any]
    """How many of them got CE."""
    drops: NDArray[Any]
    """Packets discarded."""
    utilisation: NDArray[Any]
    """Share of the time in which the link was sending, 0 to 1."""
    flows: list[tuple[int, float, float]]
    """Measured flows that ended: bytes, completion time and that of an empty network in us."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interval):
            return NotImplemented
        pairs = ((value, getattr(other, name)) for name, value in vars(self).items())
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    __hash__ = None  # type: ignore[assignment]


def default_reward(seen: Interval) -> float:
    """Utilisation less waiting: for each port its utilisation minus its mean wait in units of
    100 us, and of these the mean over the ports, weighted by the bytes that they sent. At most 1;
    0 where nothing was sent."""
    sent = float(seen.bytes.sum())
    if sent == 0:
        return 0.0
    value = seen.utilisation - seen.mean_wait_us / 100.0
    return float((value * seen.bytes).sum() / sent)


def _stored(value: str | float, kind: str, name: str) -> float:
    """A value with its unit as the catalogue stores it: ns, bytes, parts of 65536, a number."""
    if isinstance(value, str):
        units = {"time": _UNITS, "bytes": _LENGTHS}.get(kind, {})
        number = value.strip().rstrip("BKMGTinusm ")
        unit = value.strip()[len(number) :].strip()
        try:
            return float(number) * units[unit]
        except (KeyError, ValueError):
            example = {"time": '"100us"', "bytes": '"100KB"'}.get(kind, "0.5")
            raise UserError(
                f"{name}: {value!r} is no {kind}", help=f"write a value such as {example}"
            ) from None
    if kind in ("time", "bytes"):
        raise UserError(
            f"{name}: {value!r} has no unit", help='write it like "100us" or "100KB"'
        )
    return value * 65536 if kind == "fraction" else float(value)


class MarkingEnv(Base):
    """An environment of Gymnasium; :func:`cemark.env` makes it.

    **Step**: ``interval`` of simulated time.

    **Observation**: a Box of float32 in [0, 1]. Five numbers for a port: mean queue and largest
    queue over its buffer, share of its packets that were marked, utilisation, share that was
    dropped. Without ``per_port`` there are ten numbers: the means over the ports, and the five of
    the port with the longest mean queue. With it the shape is (ports, 5). After ``reset`` all are
    0.

    **Action**: a Box of float32 in [-1, 1], one number for each of :attr:`parameters`, with
    ``per_port`` in the shape (ports, parameters). -1 is the lowest value of its range, 1 the
    highest, on a logarithmic scale.

    **Reward**: :func:`cemark._env.default_reward`, or your own of an :class:`Interval`.

    An episode ends (``terminated``) when the last measured flow has, and is cut (``truncated``)
    after ``steps`` steps. ``info`` has the ``interval`` and the ``values`` that held in it.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        native: _native.Steps,
        ranges: dict[str, tuple[float, float]],
        reward: Callable[[Interval], float],
        per_port: bool,
        steps: int | None,
    ) -> None:
        self._native = native
        self._ranges = ranges
        self._reward = reward
        self._per_port = per_port
        self._steps = steps
        self._done = 0
        #: Names of the watched ports.
        self.ports: list[str] = [name for name, _ in native.ports]
        #: The parameters that an action sets, each with its range in ns, bytes, or as it is stored.
        self.parameters: dict[str, tuple[float, float]] = dict(ranges)
        n = len(ranges)
        rows = (len(self.ports),) if per_port else ()
        self.observation_space = gymnasium.spaces.Box(
            0.0, 1.0, (*rows, 5) if per_port else (10,), np.float32
        )
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (*rows, n), np.float32)

    def values(self, action: Floats) -> list[dict[str, int]]:
        """What an action sets: one dict for all ports, or with ``per_port`` one for each."""
        ordered = self._native.ordered
        found = []
        for row in np.atleast_2d(np.asarray(action, dtype=np.float64)):
            new: dict[str, int] = {}
            for (name, (low, high)), at in zip(self._ranges.items(), row, strict=True):
                share = (float(np.clip(at, -1.0, 1.0)) + 1.0) / 2.0
                new[name] = round(low * (high / low) ** share)
            for low_name, high_name in ordered:
                if low_name in new and high_name in new:
                    new[high_name] = max(new[high_name], new[low_name])
            found.append(new)
        return found

    def action(self, **values: str | float) -> Floats:
        """The action that sets these values, ``ins_target="100us"``; what is not named is in the
        middle of its range."""
        kinds = {name: kind for name, kind, *_ in self._native.parameters}
        row = np.zeros(len(self._ranges), dtype=np.float32)
        for name, value in values.items():
            if name not in self._ranges:
                raise UserError(
                    f"the actions of this environment do not set {name!r}",
                    help=f"they set {', '.join(self._ranges)}; `parameters` of cemark.env chooses",
                )
            low, high = self._ranges[name]
            stored = _stored(value, kinds[name], name)
            if not low <= stored <= high:
                raise UserError(
                    f"{name}: {value!r} is outside of the actions' range, {low:g} to {high:g}",
                    help="give cemark.env a wider range in `parameters`",
                )
            share = np.log(stored / low) / np.log(high / low)
            row[list(self._ranges).index(name)] = 2.0 * share - 1.0
        whole: Floats = np.array(np.broadcast_to(row, self.action_space.shape or row.shape))
        return whole

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begins an episode. ``seed`` is the seed of the scenario: flows, paths, base RTTs. Without
        one, each episode has another, drawn from the generator that the last seed began."""
        super().reset(seed=seed, options=options)
        drawn = int(self.np_random.integers(1, 1 << 31))
        self._native.reset(drawn if seed is None else seed)
        self._done = 0
        shape = self.observation_space.shape or (10,)
        return np.zeros(shape, dtype=np.float32), {}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Sets the values of an action, and simulates one interval."""
        values = self.values(action)
        for i, new in enumerate(values):
            self._native.retune(list(new.items()), i if self._per_port else None)
        seen = self._seen()
        self._done += 1
        cut = self._steps is not None and self._done >= self._steps
        info = {"interval": seen, "values": values if self._per_port else values[0]}
        return self._observation(seen), float(self._reward(seen)), seen.over, cut, info

    def _seen(self) -> Interval:
        start, end, over, awaited, rows, flows = self._native.step()
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        mean, most, wait, _, packets, sent, marks, drops, busy = columns
        return Interval(
            start_us=start / 1e3,
            end_us=end / 1e3,
            over=over,
            awaited=awaited,
            mean_bytes=mean,
            max_bytes=most,
            mean_wait_us=wait / 1e3,
            packets=packets,
            bytes=sent,
            marks=marks,
            drops=drops,
            utilisation=busy,
            flows=flows,
        )

    def _observation(self, seen: Interval) -> Floats:
        buffer = float(self._native.buffer_bytes)
        packets = np.maximum(seen.packets, 1)
        offered = np.maximum(seen.packets + seen.drops, 1)
        stacked = np.stack(
            [
                seen.mean_bytes / buffer,
                seen.max_bytes / buffer,
                seen.marks / packets,
                seen.utilisation,
                seen.drops / offered,
            ],
            axis=1,
        )
        rows: Floats = np.clip(stacked, 0.0, 1.0).astype(np.float32)
        if self._per_port:
            return rows
        worst = rows[int(np.argmax(rows[:, 0]))]
        return np.concatenate([rows.mean(axis=0), worst]).astype(np.float32)

    def close(self) -> None:
        """Frees the simulation. It runs in no thread of its own, so one that is forgotten goes with
        its object."""
        self._native.close()


def env(
    like: Like = "rtt-variation",
    *,
    scheme: str | None = "ECN#",
    set: Changes | None = None,
    interval: str = "1ms",
    samples: int = 16,
    ports: str | Sequence[str] = "*",
    parameters: Sequence[str] | Mapping[str, tuple[str | float, str | float]] | None = None,
    reward: Callable[[Interval], float] | None = None,
    per_port: bool = False,
    steps: int | None = None,
) -> MarkingEnv:
    """A scenario as an environment of Gymnasium (``pip install 'cemark[rl]'``).

    ``scheme`` is the label of the scheme whose parameters change, ``ports`` are names of ports with
    ``*`` for any text: they are observed and retuned. ``parameters`` are the names of those that an
    action sets, or their ranges: ``{"ins_target": ("20us", "1ms")}``; by default every time and
    length of the scheme that is not zero, from an eighth to eight times its value. Of a scenario
    with a sweep the first value of each axis is taken; ``set`` chooses another.
    """
    native = _native.Steps(
        scenario(like).with_(set or {})._source(),
        scheme,
        [ports] if isinstance(ports, str) else list(ports),
        round(_stored(interval, "time", "interval")),
        samples,
    )
    known = {name: (kind, value, low, high) for name, kind, value, low, high in native.parameters}
    if parameters is None:
        has_unit = ("time", "bytes")
        parameters = [n for n, (kind, value, _, _) in known.items() if kind in has_unit and value]
    ranges: dict[str, tuple[float, float]] = {}
    for name in parameters:
        if name not in known:
            raise UserError(
                f"the scheme has no parameter {name!r}", help=f"it has {', '.join(known)}"
            )
        kind, value, least, most = known[name]
        if kind in ("flag", "choice"):
            raise UserError(
                f"{name} is a {kind}, which an action cannot set", help="name a time or a length"
            )
        if isinstance(parameters, Mapping):
            low, high = (_stored(end, kind, name) for end in parameters[name])
        else:
            low, high = max(value, 1) / _FACTOR, max(value, 1) * _FACTOR
        low, high = max(low, least, 1.0), min(high, most)
        if not low < high:
            raise UserError(
                f"{name}: the range is empty", help='write the smaller end first: ("20us", "1ms")'
            )
        ranges[name] = (low, high)
    if not ranges:
        raise UserError("there is no parameter to set", help="name some in `parameters`")
    return MarkingEnv(native, ranges, reward or default_reward, per_port, steps)
