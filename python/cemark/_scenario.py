# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scenarios: a built-in, a file or a dict, and what changes it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _native
from ._errors import UserError

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._marker import Markers

Value: TypeAlias = "str | int | float | bool"
"""A value of a key, as a scenario file has it: ``0.5``, ``"25Gbps"``, ``True``."""

Changes: TypeAlias = "Mapping[str, Value | Sequence[Value]]"
"""Paths of keys and their values; several values are swept."""

Like: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | Scenario"
"""What is taken for a scenario: a built-in's name, a path, a dict, a :class:`Scenario`."""


def _written(value: object, path: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    # Scalars of NumPy are none of these.
    item = getattr(value, "item", None)
    if callable(item):
        return _written(item(), path)
    raise UserError(
        f"{path}: {value!r} is no value",
        help='write a number, a text such as "25Gbps", True or False, or a list of these',
    )


def _values(path: str, given: object) -> tuple[str, list[str]]:
    if isinstance(given, Mapping):
        raise UserError(
            f"{path}: a dict is no value",
            help=f'write the whole path as the key: {{"{path}.KEY": …}}',
        )
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        return path, [_written(given, path)]
    values = [_written(v, path) for v in given]
    if not values:
        raise UserError(f"{path}: there is no value to sweep", help="write at least one")
    return path, values


def _percent(precision: float | None) -> str | None:
    if precision is None:
        return None
    if not 0 < precision < 1:
        raise UserError(
            f"precision={precision!r} is no fraction between 0 and 1",
            help="write 0.05 for intervals of ±5 percentage points",
        )
    return f"{precision * 100:.10g}"


class Scenario:
    """A scenario with the changes that were made to it. It is not changed itself:
    :meth:`with_` returns another one.

    >>> s = Scenario.builtin("rtt-variation").with_({"workload.load": [0.5, 0.9]}, seeds=1)
    >>> s.axes
    ['workload.load']
    """

    __slots__ = ("_file", "_json", "_options", "_set", "_text")

    def __init__(self, tables: Mapping[str, Any], *, name: str = "scenario") -> None:
        """Of a dict with the tables of a scenario file (docs/scenarios.md). ``name`` names its run
        directory, and errors."""
        self._file = f"{name}.toml"
        self._text: str | None = None
        try:
            self._json: str | None = json.dumps(tables)
        except TypeError as e:
            raise UserError(
                f"this dict is no scenario: {e}",
                help="it may have dicts, lists, texts, numbers, True and False",
            ) from None
        self._set: list[tuple[str, list[str]]] = []
        self._options: dict[str, Any] = {}

    @classmethod
    def _new(cls, file: str, text: str | None) -> Self:
        new = cls.__new__(cls)
        new._file, new._text, new._json = file, text, None
        new._set, new._options = [], {}
        return new

    @classmethod
    def builtin(cls, name: str) -> Self:
        """The built-in called so, such as ``rtt-variation``; a path works as well."""
        return cls._new(name, None)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Of a TOML file. It is read here, so later changes of the file do not count."""
        try:
            with open(path, encoding="utf-8") as file:
                return cls._new(os.fspath(path), file.read())
        except (OSError, UnicodeDecodeError) as e:
            raise UserError(
                f"cannot be read: {e}", help="write the path of a TOML file", file=os.fspath(path)
            ) from None

    @classmethod
    def from_text(cls, text: str, *, name: str = "scenario") -> Self:
        """Of the text of a TOML file."""
        return cls._new(f"{name}.toml", text)

    def with_(
        self,
        changes: Changes | None = None,
        *,
        seed: int | None = None,
        seeds: int | None = None,
        precision: float | None = None,
        full: bool | None = None,
    ) -> Self:
        """The same scenario with other values of some keys: ``{"workload.load": [0.5, 0.9]}``
        sweeps the load, ``{"scheme.ECN#.pst_target": "20us"}`` changes one scheme.

        ``seed`` runs only that seed, ``seeds`` the seeds 1 to that number. ``precision`` adds
        replications until every difference is known to that fraction (0.05: ±5 percentage points).
        ``full`` runs as many flows as the paper did.
        """
        new = type(self)._new(self._file, self._text)
        new._json = self._json
        new._set = [*self._set, *(_values(p, v) for p, v in (changes or {}).items())]
        counts = {"seed": seed, "seeds": seeds, "precision": _percent(precision), "full": full}
        given = {name: value for name, value in counts.items() if value is not None}
        new._options = {**self._options, **given}
        if len(given.keys() - {"full"}) > 1:
            raise UserError(
                f"{' and '.join(sorted(given.keys() - {'full'}))} exclude each other",
                help="give one of them",
            )
        # The last one that was said counts.
        for name in ("seed", "seeds", "precision"):
            if given.keys() - {"full", name} and name not in given:
                new._options.pop(name, None)
        return new

    def _source(self, markers: Markers | None = None) -> _native.Source:
        return _native.Source(
            self._file,
            self._text,
            self._json,
            self._set,
            self._options.get("seed"),
            self._options.get("seeds"),
            self._options.get("precision"),
            self._options.get("full", False),
            markers.added if markers else [],
            markers.declared if markers else [],
        )

    def _command(self) -> list[str]:
        """The command line that runs the same."""
        words = ["cemark", "run", self._file]
        for path, values in self._set:
            words += ["--set", f"{path}={','.join(values)}"]
        for name, value in self._options.items():
            words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
        return words

    @property
    def text(self) -> str:
        """The TOML text with the changes applied."""
        return self._source().text()

    @property
    def name(self) -> str:
        """Short name, which the run directory has."""
        return self._source().described()[0]

    @property
    def title(self) -> str:
        """One line for people."""
        return self._source().described()[1]

    @property
    def digest(self) -> str:
        """Fingerprint of everything that can change a result: 16 hexadecimal digits."""
        return self._source().described()[2]

    @property
    def schemes(self) -> list[str]:
        """Labels of the schemes, in order."""
        return self._source().described()[3]

    @property
    def axes(self) -> list[str]:
        """Paths of the keys that are swept."""
        return self._source().described()[4]

    @property
    def warnings(self) -> list[str]:
        """What its author probably did not mean, each with what to write instead."""
        return self._source().described()[5]

    def points(self) -> list[dict[str, Any]]:
        """Every point that is run, with its estimated packet-hops: a dict with ``axes``,
        ``scheme``, ``seed`` and ``packet_hops``."""
        return [
            {"axes": dict(axes), "scheme": scheme, "seed": seed, "packet_hops": hops}
            for axes, scheme, seed, hops in self._source().points()
        ]

    def __repr__(self) -> str:
        changed = {path: values if len(values) > 1 else values[0] for path, values in self._set}
        more = [f"{k}={v!r}" for k, v in ({"changes": changed} if changed else {}).items()]
        more += [f"{k}={v!r}" for k, v in self._options.items()]
        return f"<cemark.Scenario {', '.join([self._file, *more])}>"


def scenario(like: Like) -> Scenario:
    """A :class:`Scenario` of whatever is taken for one."""
    if isinstance(like, Scenario):
        return like
    if isinstance(like, Mapping):
        return Scenario(like)
    if isinstance(like, (str, os.PathLike)):
        return Scenario.builtin(os.fspath(like))
    raise UserError(
        f"{like!r} is no scenario",
        help="write the name of a built-in, a path, a dict or a cemark.Scenario",
    )
