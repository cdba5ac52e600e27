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


_RANGES = {
    "time": ("0ns", "1s"),
    "bytes": ("0B", "4294967295B"),
    "rate": ("1kbps", "8Tbps"),
    "fraction": ("0%", "100%"),
    "number": ("0", "1000000"),
    "count": ("0", "4294967295"),
    "flag": ("false", "true"),
}


class Param:
    """A parameter of a :class:`Marker`, which scenarios set and sweep as those of the catalogue.

    ``kind`` is ``time`` (a marker reads nanoseconds), ``bytes``, ``rate`` (bits per second),
    ``fraction`` (0.0 to 1.0), ``number``, ``count``, ``flag``, or a tuple of words. ``default``,
    ``min`` and ``max`` are written as in a scenario: ``"85us"``, ``"65pkt"``, ``"25%"``.
    """

    def __init__(
        self,
        kind: str | tuple[str, ...],
        default: str | float,
        *,
        min: str | float | None = None,
        max: str | float | None = None,
        doc: str = "",
    ) -> None:
        self.words = kind if isinstance(kind, tuple) else ()
        self.kind = f"choice({'|'.join(self.words)})" if self.words else str(kind)
        low, high = _RANGES.get(self.kind, ("0", "0"))
        bounds = (default, low if min is None else min, high if max is None else max)
        self.fields = [_plain(bound) for bound in bounds]
        self.doc = " ".join(doc.split())
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, marker: Marker | None, owner: type) -> Any:
        if marker is None:
            return self
        value = self._read(marker.queue.values[list(params_of(owner)).index(self.name)])
        # Later reads find the value without this method.
        vars(marker)[self.name] = value
        return value

    def _read(self, stored: int) -> Any:
        if self.words:
            return self.words[stored]
        if self.kind == "flag":
            return bool(stored)
        scale = {"fraction": 65536, "number": 1000}.get(self.kind)
        return stored if scale is None else stored / scale

    def line(self) -> str:
        """Its declaration, as `CEMARK_PARAMS` in C writes it."""
        return "\t".join([self.name, self.kind, *self.fields, self.doc]) + "\n"


def _plain(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def params_of(marker: type) -> dict[str, Param]:
    """The parameters of a class by name, those of its bases first."""
    found: dict[str, Param] = {}
    for base in reversed(marker.__mro__):
        found |= {n: p for n, p in vars(base).items() if isinstance(p, Param)}
    return found


class Marker:
    """A marking scheme in Python, to try an idea: every packet calls it, so a run takes tens of
    times as long. What is deployed is written in C (:func:`compile_marker`) or Rust.

    A subclass has ``enqueue``, ``dequeue``, or both. There is one object for each queue.

    >>> class Step(cemark.Marker):
    ...     k = cemark.Param("bytes", "65pkt", doc="Queue length from which packets are marked.")
    ...     def enqueue(self, at):
    ...         return at.queue_bytes > self.k
    >>> sweep = {"scheme.mine.k": ["30pkt", "65pkt"]}
    >>> cemark.run("rtt-variation", set=sweep, seeds=1, markers={"mine": Step})
    """

    def __init__(self, queue: Queue) -> None:
        """``queue`` has the rate of the link, the limits of the queue and the values of the
        parameters. A subclass with a method ``__init__`` calls this one first."""
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


class Markers:
    """Markers of a call by label, as the extension takes them."""

    def __init__(self, markers: Mapping[str, Given] | None) -> None:
        self.added: list[tuple[str, str]] = []
        """Label of each scheme, and what its key ``marker`` has."""
        self.declared: list[tuple[str, str, str]] = []
        """Name of each class, its parameters, and its source."""
        self.classes: list[tuple[str, Callable[[Queue], object], str, bool]] = []
        """Name of each class, the class, where it judges, whether it watches its queue."""
        for label, given in (markers or {}).items():
            if isinstance(given, CompiledMarker):
                self.added.append((label, f"c:{given.path}"))
                continue
            hook, watches_empty = _hooks(label, given)
            params = params_of(_class_of(given) or Marker)
            text = "".join(param.line() for param in params.values())
            self.added.append((label, f"python:{label}"))
            self.declared.append((label, text, _source(label, given)))
            self.classes.append((label, given, hook, watches_empty))


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
