# SPDX-License-Identifier: MIT OR Apache-2.0
"""Exceptions. Each says what is wrong, where, and what to write instead."""

from __future__ import annotations


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
