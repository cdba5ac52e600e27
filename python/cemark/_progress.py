# SPDX-License-Identifier: MIT OR Apache-2.0
"""How far a run is: a bar of tqdm in a notebook or on a terminal; nothing without tqdm."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

Tick: TypeAlias = Callable[[int, int, float, int, list[str]], None]


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this. IPython in a terminal has a bar of text."""
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    running: Any = shell.get_ipython()
    return running is not None and type(running).__name__ == "ZMQInteractiveShell"


def _bar() -> Any:
    """A bar that counts to 100, or None."""
    if not _in_notebook() and not sys.stderr.isatty():
        return None
    # The bar of a notebook needs its widgets.
    widgets = _in_notebook() and importlib.util.find_spec("ipywidgets") is not None
    try:
        make: Any = importlib.import_module("tqdm.notebook" if widgets else "tqdm").tqdm
    except ImportError:
        return None
    layout = "{l_bar}{bar:20}| {elapsed}<{remaining}{postfix}"
    return make(total=100.0, bar_format=layout, leave=False)


class Bar:
    """A context in which ``tick`` shows progress."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._bar: Any = None
        self.notes: list[str] = []

    def __enter__(self) -> Bar:
        self._bar = _bar() if self._wanted else None
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def tick(self, finished: int, points: int, done: float, hops: int, notes: list[str]) -> None:
        """Shows how far a run is, and keeps what it says."""
        self.notes += notes
        if self._bar is None:
            return
        self._bar.n = round(100 * done, 1)
        last = f", {notes[-1]}" if notes else ""
        self._bar.set_postfix_str(f"{finished} of {points} points{last}", refresh=True)
