# SPDX-License-Identifier: MIT OR Apache-2.0
"""Running a scenario, and what a run gives."""

from __future__ import annotations

import html
import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import ScenarioWarning
from ._marker import Markers
from ._progress import Bar
from ._scenario import Changes, Like, scenario

if TYPE_CHECKING:
    from ._marker import Given
    from ._plot import Chart, Sizes


def run(
    scenario_: Like,
    /,
    *,
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
    """Simulates a scenario and returns its results.

    ``scenario_`` is a built-in's name, a path, a dict or a :class:`cemark.Scenario`; ``set``,
    ``seed``, ``seeds``, ``precision`` and ``full`` change it as :meth:`cemark.Scenario.with_` does.

    Points are simulated on ``jobs`` cores (default: all of them) without holding Python's lock, and
    each is kept in the directory ``out`` (default: ``runs/NAME-DIGEST``) as it finishes. Each point
    has ``threads`` threads (default: several only where there are fewer points than cores and the
    points gain by it), which changes no result. After Ctrl-C, an exception or a kill, the same call
    continues from there. ``fresh`` begins again, ``anyway`` runs even if there seems to be too
    little memory.

    ``markers`` puts markers of your own beside the schemes, by label: subclasses of
    :class:`cemark.Marker` and what :func:`cemark.compile_marker` returns. A scheme of the scenario
    with ``marker = "python:LABEL"`` has the class of this label. ``allow_native`` runs shared
    objects that the scenario itself names, with all rights of this process.

    A mistake in the scenario raises :class:`cemark.ScenarioError`.
    """
    changed = scenario(scenario_).with_(
        set, seed=seed, seeds=seeds, precision=precision, full=full
    )
    own = Markers(markers)
    source = changed._source(own)
    for line in source.described()[5]:
        warnings.warn(line, ScenarioWarning, stacklevel=2)
    with Bar(progress) as bar:
        ran = _native.run(
            source,
            None if out is None else Path(out),
            jobs,
            threads,
            anyway,
            fresh,
            changed._command(),
            bar.tick,
            own.classes,
            allow_native,
        )
    for line in ran.storms():
        warnings.warn(line, ScenarioWarning, stacklevel=2)
    return Run(ran)


class Table:
    """The comparison of a run: each scheme against the first row, in percent with paired 95 %
    intervals. ``str`` and ``print`` give the table of the terminal; a notebook shows it as HTML."""

    def __init__(self, ran: _native.Ran) -> None:
        self._ran = ran

    def text(self, width: int = 120) -> str:
        """The tables, laid out for this many columns, at least 60."""
        return self._ran.text(width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return "\n".join(_html(*table) for table in self._ran.tables())

    def rows(self) -> list[dict[str, str]]:
        """The rows of all tables as they are shown, each with the table's title as ``table``."""
        return [
            {"table": title, **dict(zip(head, row, strict=True))}
            for title, head, rows in self._ran.tables()
            for row in rows
        ]


def _html(title: str, head: list[str], rows: list[list[str]]) -> str:
    def cells(kind: str, texts: list[str]) -> str:
        style = ["text-align:left", *["text-align:right"] * (len(texts) - 1)]
        parts = [
            f'<{kind} style="{s}">{_cell(t)}</{kind}>' for s, t in zip(style, texts, strict=True)
        ]
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(cells("td", row) for row in rows)
    return (
        f'<table class="cemark"><caption style="text-align:left">{html.escape(title)}</caption>'
        f"<thead>{cells('th', head)}</thead><tbody>{body}</tbody></table>"
    )


def _cell(text: str) -> str:
    """A cell; one that is worse is bold, since a colour alone says nothing to some."""
    escaped = html.escape(text)
    return f"<b>{escaped}</b>" if text.endswith(" worse") else escaped


class Frame:
    """A table with every row, in Arrow's memory.

    It has Arrow's PyCapsule interface, so ``pandas.DataFrame.from_arrow``, ``polars.DataFrame``,
    ``pyarrow.table`` and the SQL of duckdb read it without copying. docs/output.md describes the
    columns.
    """

    def __init__(self, frame: _native.Frame) -> None:
        self._frame = frame

    def __len__(self) -> int:
        return len(self._frame)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return self._frame.column_names

    def __arrow_c_schema__(self) -> object:
        return self._frame.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``. It needs pandas with pyarrow."""
        import pyarrow

        return pyarrow.table(self).to_pandas()

    def to_polars(self) -> Any:
        """A ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self)

    def __repr__(self) -> str:
        return f"<cemark.Frame {len(self)} rows: {', '.join(self.column_names)}>"


class Run:
    """The results of a run. They are in memory until this goes away, and stay in ``directory``."""

    def __init__(self, ran: _native.Ran) -> None:
        self._ran = ran

    @property
    def directory(self) -> Path:
        """The run directory, which ``cemark plot`` and ``cemark run`` read too."""
        return Path(self._ran.directory)

    @property
    def table(self) -> Table:
        """The paired comparison with intervals."""
        return Table(self._ran)

    @property
    def summary(self) -> dict[str, Any]:
        """Every number of the run, as ``cemark run --format json`` prints it (docs/output.md)."""
        summary: dict[str, Any] = json.loads(self._ran.summary())
        return summary

    @property
    def digest(self) -> str:
        """Fingerprint of the results: equal on every machine, for any number of jobs."""
        digest: str = self.summary["digest"]
        return digest

    def frame(self, name: str) -> Frame:
        """The table ``points``, ``metrics``, ``flows``, ``queues``, ``buffers``, ``goodput``,
        ``links`` or ``pauses``."""
        return Frame(self._ran.frame(name))

    @property
    def points(self) -> Frame:
        """A row a point, with all metrics."""
        return self.frame("points")

    @property
    def metrics(self) -> Frame:
        """A row for each scheme, value of the axes and metric: the mean over seeds with unit,
        number of values and 95 % interval."""
        return self.frame("metrics")

    @property
    def flows(self) -> Frame:
        """A row for each measured flow."""
        return self.frame("flows")

    @property
    def queues(self) -> Frame:
        """A row for each sample of a traced port; empty unless ``measure.trace`` asks for some."""
        return self.frame("queues")

    @property
    def buffers(self) -> Frame:
        """A row for each sample of a traced shared buffer; empty unless ``measure.trace`` asks for
        ports whose switches share buffers."""
        return self.frame("buffers")

    @property
    def goodput(self) -> Frame:
        """A row for each interval of goodput; empty unless ``measure.goodput-interval`` is set."""
        return self.frame("goodput")

    @property
    def links(self) -> Frame:
        """A row for each switch port of each point."""
        return self.frame("links")

    @property
    def pauses(self) -> Frame:
        """A row for each port and NIC that was paused, and one for each of its queues that was."""
        return self.frame("pauses")

    def plot(
        self,
        what: str = "comparison",
        path: str | os.PathLike[str] | None = None,
        *,
        library: str | None = None,
        buckets: Sizes | None = None,
        width: str | None = None,
        at: Mapping[str, object] | None = None,
    ) -> Any:
        """A chart, or with ``path`` an SVG, PDF or PNG file, or the data as CSV, by its ending,
        whose path is returned.

        ``"fct"``, ``"slowdown"`` and ``"queue-cdf"`` show the share of flows or samples up to each
        value. Altair or matplotlib draws them, whichever is there, and cemark
        itself otherwise; files are drawn by cemark, so that the same results give the same bytes.
        ``library`` (``"altair"``, ``"matplotlib"`` or ``"cemark"``) chooses one, for a file too.

        ``"slowdown-by-size"`` shows the slowdown of flows by size, and ``buckets`` are those of
        :meth:`slowdown_by_size`. ``"queue"`` and ``"buffer"`` are over time;
        ``"utilisation-by-port"`` and ``"pauses-by-port"`` show every port. Any other name is a
        metric (``"short.p99"``), a name of :meth:`charts`, or a part of one. ``at`` chooses values
        of the axes of a sweep: ``{"load": 0.8}``. ``width`` is that of a file, ``"241pt"`` for a
        column of a paper.
        """
        from ._plot import plot

        return plot(self, what, path, library, buckets, width, at)

    def slowdown_by_size(self, buckets: Sizes | None = None) -> Frame:
        """Slowdown of flows by size: a row for each scheme, value of the axes and bucket.

        ``buckets`` are their largest sizes, such as ``["10KB", "100KB", 1_000_000]``, by default
        the deciles of the sizes. Values are means over the seeds of the percentile of each seed,
        with the 95 % interval of the mean from three seeds on.
        """
        from ._plot import bounds

        return Frame(self._ran.slowdown_by_size(bounds(buckets)))

    def charts(self) -> dict[str, Chart]:
        """The charts of the report by name. A notebook shows them, and each has ``save`` for SVG,
        PDF, PNG and CSV files."""
        from ._plot import Chart

        return {chart.name: Chart(chart) for chart in self._ran.charts()}

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the report, one HTML file with everything inside, and returns its path."""
        to = Path(path)
        to.write_text(self._ran.report(), encoding="utf-8")
        return to

    def __repr__(self) -> str:
        return f"<cemark.Run {self.directory}>\n{self.table.text(100)}"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()
