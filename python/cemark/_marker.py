# SPDX-License-Identifier: MIT OR Apache-2.0
"""Markers of your own: classes in Python for a first try, and C for what is deployed."""

from __future__ import annotations

import functools
import inspect
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _native
from ._errors import UserError

if TYPE_CHECKING:
    from ._native import At, Queue

Verdict: TypeAlias = "bool | str | None"
"""What a hook answers: True or ``"mark"``, False, None or ``"pass"``, or ``"drop"``."""


class Marker:
    """A marking scheme in Python, to try an idea: every packet calls it, so a run takes tens of
    times as long. What is deployed is written in C (:func:`compile_marker`) or Rust.

    A subclass has ``enqueue``, ``dequeue``, or both. There is one object for each queue.

    >>> class Step(cemark.Marker):
    ...     def enqueue(self, at):
    ...         return at.queue_bytes > 100_000
    >>> cemark.run("rtt-variation", seeds=1, markers={"mine": Step})
    """

    def __init__(self, queue: Queue) -> None:
        """``queue`` has the rate of the link and the limits of the queue."""
        self.queue = queue

    def enqueue(self, at: At) -> Verdict:
        """Judges a packet that is about to join the queue."""
        raise NotImplementedError

    def dequeue(self, at: At) -> Verdict:
        """Judges a packet that leaves the queue: this answer is final."""
        raise NotImplementedError

    def emptied(self, now: int) -> None:
        """The queue has become empty, at a time in nanoseconds."""
        raise NotImplementedError


class CompiledMarker:
    """A marker in a shared object, which :func:`compile_marker` or ``cc`` has made of C."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).resolve()

    def __repr__(self) -> str:
        return f"<cemark.CompiledMarker {self.path}>"


Given: TypeAlias = "Callable[[Queue], Marker] | CompiledMarker"
"""A subclass of :class:`Marker`, a function that makes an object of one for a queue, or C."""


def _class_of(factory: object) -> type[Marker] | None:
    while isinstance(factory, functools.partial):
        factory = factory.func
    return factory if isinstance(factory, type) and issubclass(factory, Marker) else None


def _text(factory: Any) -> str:
    """The source of a class or a function."""
    try:
        return inspect.getsource(factory)
    except (OSError, TypeError):
        if not isinstance(factory, type):
            raise
    # A class of a notebook's cell names no file; the functions in it do.
    parts = [getattr(part, "__func__", part) for part in vars(factory).values()]
    parts = [getattr(part, "fget", part) for part in parts]
    functions = [inspect.getsource(part) for part in parts if inspect.isfunction(part)]
    plain = (bool, int, float, str, tuple, list, dict)
    attributes = [(n, v) for n, v in vars(factory).items() if not n.startswith("__")]
    rest = [f"{n} = {v!r}" for n, v in attributes if isinstance(v, plain)]
    return "\n".join([factory.__qualname__, *functions, *rest])


def _source(label: str, factory: object) -> str:
    """What identifies a marker: its source and the arguments that are bound to it."""
    bound: list[str] = []
    while isinstance(factory, functools.partial):
        bound.append(repr((factory.args, sorted(factory.keywords.items()))))
        factory = factory.func
    try:
        return "\n".join([_text(factory), *bound])
    except (OSError, TypeError):
        raise UserError(
            f"markers: the source of `{label}` cannot be read, and it identifies the results",
            help="define the class in a file or in a cell of a notebook",
        ) from None


def _hooks(label: str, factory: object) -> tuple[str, bool]:
    """Where it judges, and whether it wants to know when its queue is empty."""
    made = _class_of(factory)
    if made is None:
        raise UserError(
            f"markers: `{label}` is {factory!r}, not a marker",
            help=(
                "give a subclass of cemark.Marker, functools.partial of one, or what "
                "cemark.compile_marker returns"
            ),
        )
    has = {name: getattr(made, name) is not getattr(Marker, name) for name in dir(Marker)}
    if not has["enqueue"] and not has["dequeue"]:
        raise UserError(
            f"markers: `{label}` judges no packets",
            help="write the method `def dequeue(self, at):`, or enqueue, or both",
        )
    both = has["enqueue"] and has["dequeue"]
    hook = "both" if both else "enqueue" if has["enqueue"] else "dequeue"
    return hook, has["emptied"]


PythonMarker: TypeAlias = "tuple[str, Callable[[Queue], object], str, str, bool]"


def sorted_markers(
    markers: Mapping[str, Given],
) -> tuple[list[PythonMarker], list[tuple[str, Path]]]:
    """Markers by what they are written in, as the extension takes them."""
    python: list[PythonMarker] = []
    compiled: list[tuple[str, Path]] = []
    for label, given in markers.items():
        if isinstance(given, CompiledMarker):
            compiled.append((label, given.path))
        else:
            hook, watches_empty = _hooks(label, given)
            python.append((label, given, _source(label, given), hook, watches_empty))
    return python, compiled


def compile_marker(
    source: str | os.PathLike[str], *, out: str | os.PathLike[str] | None = None
) -> CompiledMarker:
    """Compiles a marker in C (docs/dataplane.md, examples/own_marker.c) with ``$CC`` or ``cc``, and
    returns it for ``cemark.run(…, markers={"mine": …})``.

    The shared object is written to ``out``, by default beside the source with the ending ``.so``.
    """
    path = Path(source)
    if not path.is_file():
        raise UserError("there is no such file", help="write the path of a C file", file=str(path))
    compiler = os.environ.get("CC") or "cc"
    if shutil.which(compiler) is None:
        raise UserError(
            f"the C compiler `{compiler}` is not there",
            help="install one (on Debian: apt install gcc), or name it in the variable CC",
        )
    to = Path(out) if out is not None else path.with_suffix(".so")
    with tempfile.TemporaryDirectory(prefix="cemark-") as folder:
        include = Path(folder) / "cemark"
        include.mkdir()
        for name, text in _native.c_headers():
            (include / name).write_text(text, encoding="utf-8")
        words = [compiler, "-O2", "-fPIC", "-shared", "-I", folder, str(path), "-o", str(to)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"it does not compile:\n{done.stderr.strip()}", file=str(path))
    return CompiledMarker(to)
