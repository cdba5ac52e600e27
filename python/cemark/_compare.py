# SPDX-License-Identifier: MIT OR Apache-2.0
"""Two finished runs side by side."""

from __future__ import annotations

import html
import json
import os
from typing import Any

from . import _native
from ._run import Run

Finished = Run | str | os.PathLike[str]


def compare(a: Finished, b: Finished, /) -> Comparison:
    """Puts two finished runs side by side: the same scenario under another build or with other
    parameters.

    Each is a :class:`cemark.Run`, a run directory, or the name of a scenario that has been run
    here. Flows are compared one by one where both runs have the same flows in the same seeds.
    ``cemark compare A B`` prints the same (docs/output.md).
    """
    return Comparison(_native.compare(_directory(a), _directory(b)))


def _directory(run: Finished) -> str:
    return os.fspath(run.directory if isinstance(run, Run) else run)


class Comparison:
    """Two runs, A and B: what differs between them, and each metric of each scheme under both, with
    the difference of B against A in percent and its 95 % interval. ``str`` and ``print`` give the
    tables of the terminal."""

    def __init__(self, beside: _native.NativeBeside) -> None:
        self._beside = beside
        self._document: dict[str, Any] = json.loads(beside.document())

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as ``cemark compare A B --format json`` prints it."""
        return self._document

    @property
    def equal_results(self) -> bool:
        """Whether both runs have the same results, point by point."""
        equal: bool = self._document["equal_results"]
        return equal

    @property
    def settings(self) -> list[dict[str, str | None]]:
        """The settings that differ: ``key``, ``a`` and ``b``; ``None`` where a scenario does not
        write the key."""
        settings: list[dict[str, str | None]] = self._document["settings"]
        return settings

    def rows(self) -> list[dict[str, Any]]:
        """A row for each scheme, value of the axes and metric; ``pandas.DataFrame`` takes it."""
        return [
            {
                **block["axes"],
                "scheme": block["scheme"],
                "paired": block["paired"],
                **metric,
            }
            for block in self._document["blocks"]
            for metric in block["metrics"]
        ]

    def text(self, width: int = 120) -> str:
        """The tables, laid out for this many columns, at least 60."""
        return self._beside.text(width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text(100)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text(100))}</pre>"
