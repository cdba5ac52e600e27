# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sweeps: a scenario with many points, on this machine or on a Ray cluster."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from . import _native
from ._errors import ScenarioWarning, UserError
from ._marker import Markers
from ._progress import Bar
from ._run import Run
from ._scenario import Changes, Like, Scenario, scenario
from ._store import Mirror, is_url

if TYPE_CHECKING:
    from ._marker import Given


def sweep(
    plan: Like,
    /,
    *,
    on: Literal["threads", "ray"] = "threads",
    address: str | None = None,
    set: Changes | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    precision: float | None = None,
    full: bool | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    threads: int | None = None,
    anyway: bool = False,
    fresh: bool = False,
    markers: Mapping[str, Given] | None = None,
    allow_native: bool = False,
    progress: bool = True,
) -> Run:
    """Simulates every point of a scenario, here or on a Ray cluster, and returns its results.

    ``plan`` is a built-in's name, a path, a dict or a :class:`cemark.Scenario`; lists in ``set``
    are swept, and ``seed``, ``seeds``, ``precision`` and ``full`` mean what they do in
    :func:`cemark.run`.

    ``on="threads"`` simulates on this machine, and ``jobs`` and ``threads`` mean what they do in
    :func:`cemark.run`. ``on="ray"`` hands the points to the Ray cluster that this process or this
    machine belongs to, or to the one at ``address``. Ray is asked for a core and the estimated
    memory of each point, and at most two points for each core are handed out at a time; a point
    whose worker or node is lost begins again elsewhere. Tables and digest are the same in both
    cases.

    ``out`` is the run directory (default: ``runs/NAME-DIGEST``), or the URL of a store that fsspec
    knows (``"s3://bucket/folder"``): the run directory is then ``runs/NAME-DIGEST``, and the store
    receives a copy of each finished point and, at the end, of the tables. The same call continues
    from what is in either of them.

    It raises :class:`cemark.UserError` where there is no such cluster, where no node has the memory
    of a point, and where nodes have another build of cemark. ``markers`` and ``allow_native`` mean
    what they do in :func:`cemark.run`; files of markers are sent to the cluster, classes are not.
    """
    if on not in ("threads", "ray"):
        raise UserError(f"on={on!r} is not known", help='write on="threads" or on="ray"')
    if on == "threads" and address is not None:
        raise UserError("address= is that of a Ray cluster", help='write on="ray" as well')
    for name, value in (("jobs", jobs), ("threads", threads)):
        if on == "ray" and value is not None:
            raise UserError(
                f'{name}= is for on="threads"',
                help="a cluster runs as many points as it has cores for, each on one core",
            )
    own = Markers(markers)
    if on == "ray" and own.classes:
        raise UserError(
            f"the class of `{own.classes[0][0]}` is not sent to a cluster",
            help='write on="threads", or write the marker in C: a file is sent',
        )
    changed = scenario(plan).with_(set, seed=seed, seeds=seeds, precision=precision, full=full)
    source = changed._source(own)
    name, _, digest, _, _, warned = source.described()
    for line in warned:
        warnings.warn(line, ScenarioWarning, stacklevel=2)
    command = _command(changed, on, address, out)
    mirror: Mirror | None = None
    to = None if out is None else Path(out)
    if is_url(out):
        to = Path("runs") / f"{name}-{digest[:8]}"
        mirror = Mirror(str(out), to, digest, fresh)
    try:
        with Bar(progress) as bar:
            if on == "ray":
                from . import _ray

                def begin(at_once: int) -> _native.Handed:
                    return _native.hand(
                        source, to, anyway, fresh, command, at_once, allow_native
                    )

                ran = _ray.run(address, begin, bar.tick, anyway)
            else:
                ran = _native.run(
                    source,
                    to,
                    jobs,
                    threads,
                    anyway,
                    fresh,
                    command,
                    bar.tick,
                    own.classes,
                    allow_native,
                )
        if mirror is not None:
            mirror.close()
    finally:
        if mirror is not None:
            mirror.stop()
    for line in ran.storms():
        warnings.warn(line, ScenarioWarning, stacklevel=2)
    return Run(ran)


def _command(
    changed: Scenario, on: str, address: str | None, out: str | os.PathLike[str] | None
) -> list[str]:
    """The command line that does the same."""
    words = changed._command()
    words[1] = "sweep"
    words += ["--ray"] if on == "ray" else []
    words += ["--address", address] if address is not None else []
    return [*words, "--out", str(out)] if is_url(out) else words
