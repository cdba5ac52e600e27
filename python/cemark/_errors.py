# SPDX-License-Identifier: MIT OR Apache-2.0
"""Exceptions. Each says what is wrong, where, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from re import Match


class Error(Exception):
    """What every exception of cemark is.

    Attributes: ``message`` (what is wrong), ``help`` (what to do about it), and, where they are
    known, ``file``, ``line`` and ``column``, counted from one.
    """

    def __init__(
        self,
        message: str,
        *,
        help: str | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = ":".join(str(p) for p in (self.file, self.line, self.column) if p is not None)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}\n  help: {self.help}" if self.help else text


class UserError(Error, ValueError):
    """An argument that cannot work."""


class ScenarioError(UserError):
    """A mistake in a scenario."""


class MarkerError(Error):
    """A marker written in Python that raised an exception or answered no verdict."""


class MachineError(Error, OSError):
    """The machine's fault: a full disk, a directory without permission."""


class ScenarioWarning(UserWarning):
    """What a scenario says and its author probably did not mean."""


def _set(found: Match[str]) -> str:
    """`--set PATH=VALUES` as the argument ``set``."""
    path, written = found[1], found[2]
    values = [value if _NUMBER.fullmatch(value) else f'"{value}"' for value in written.split(",")]
    value = values[0] if len(values) == 1 else f"[{', '.join(values)}]"
    return f'set={{"{path}": {value}}}'


def _precision(found: Match[str]) -> str:
    return f"precision={float(found[1]) / 100:g}"


_NUMBER = re.compile(r"-?\d+(\.\d+)?")
# The command's options, and what they are here. The first that fits counts.
_WORDS: list[tuple[str, str | Callable[[Match[str]], str]]] = [
    (r"--set ([\w.#<>-]+)=([^\s;:)`]*[^\s;:,.)`])", _set),
    (r"--precision (\d+(?:\.\d+)?)\b", _precision),
    (r"--out DIR\b", 'out="DIR"'),
    (r"--(jobs|threads|seeds?) (\d+)\b", r"\1=\2"),
    (r"--(anyway|fresh|full)\b", r"\1=True"),
    (r"--marker (\S+)", r'markers={"\1": …}'),
    (r"--(set|precision|seeds?|jobs|threads|out)\b", r"`\1`"),
    (r"\b([Rr])un the same command again\b", r"\1epeat the call"),
    (r"\bthe same command continues\b", "the same call continues"),
]


def in_python(text: str) -> str:
    """What the command says, with Python's arguments for its options."""
    for option, argument in _WORDS:
        text = re.sub(option, argument, text)
    return text


def raised(
    kind: str,
    message: str,
    help: str | None,
    file: str | None,
    line: int | None,
    column: int | None,
) -> Error:
    """The exception for what the simulator says; ``kind`` is the name of its class."""
    if file is not None and file.startswith("--"):
        # A mistake in an argument: there is no such file.
        message, file, line, column = f"{file[2:]}: {message}", None, None, None
    made: Error = globals()[kind](
        in_python(message),
        help=None if help is None else in_python(help),
        file=file,
        line=line,
        column=column,
    )
    return made
