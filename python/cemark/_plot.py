# SPDX-License-Identifier: MIT OR Apache-2.0
"""Charts of a run."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ._errors import UserError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from . import _native
    from ._run import Run

    Sizes = Sequence[str | int]


class Drawn(NamedTuple):
    """A quantity whose cumulative shares are drawn."""

    name: str
    """Of the distribution: ``fct``, ``slowdown`` or ``queue-cdf``."""
    rows: str
    label: str
    unit: str
    """Of the values; empty: none."""
    log: bool

    @property
    def title(self) -> str:
        """Of the axis."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


QUEUE = Drawn("queue-cdf", "samples", "queue length", "bytes", False)
DRAWN = {
    "fct": Drawn("fct", "flows", "completion time", "µs", True),
    "slowdown": Drawn("slowdown", "flows", "slowdown", "", True),
    "queue-cdf": QUEUE,
}
LIBRARIES = ("altair", "matplotlib", "cemark")
BY_SIZE = "slowdown-by-size"
# Charts of one value of the axes.
SINGLE = (BY_SIZE, "queue", "buffer", "utilisation-by-port", "pauses-by-port")
TRACE = 'trace queues: set={"measure.queue-interval": "10us", "measure.trace": "hottest"}'


class Curve(NamedTuple):
    """The values of a scheme in rising order, and the share of rows up to each."""

    panel: str
    scheme: str
    values: list[float]
    shares: list[float]

    @property
    def label(self) -> str:
        """The scheme, and the values of the axes."""
        return ", ".join(filter(None, (self.scheme, self.panel)))


class Chart:
    """A chart that cemark draws itself. A notebook shows it; :meth:`save` writes files."""

    def __init__(self, chart: _native.NativeChart) -> None:
        self._chart = chart

    @property
    def title(self) -> str:
        """One line above it."""
        return self._chart.title

    @property
    def svg(self) -> str:
        """The text of an SVG file."""
        return self._chart.svg()

    @property
    def name(self) -> str:
        """Of its files, without ending."""
        return self._chart.name

    @property
    def csv(self) -> str:
        """The data behind it as CSV; the header has the units."""
        return self._chart.csv()

    def save(self, path: str | os.PathLike[str], *, width: str | None = None) -> Path:
        """Writes an SVG, PDF or PNG file, or its data as CSV, by the ending of its name, and
        returns its path. ``width`` is ``"241pt"``, ``"85mm"``, ``"3.35in"`` or ``"880px"``. The
        same results give the same bytes on every machine."""
        to = Path(path)
        self._chart.save(to, width)
        return to

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<cemark chart: {self.title}>"


def plot(
    run: Run,
    what: str,
    path: str | os.PathLike[str] | None,
    library: str | None,
    buckets: Sizes | None,
    width: str | None,
    at: Mapping[str, object] | None,
) -> Any:
    """The chart called ``what``, or the path of the file with it."""
    if library is not None and library not in LIBRARIES:
        raise UserError(
            f"library={library!r} draws nothing here", help=f"write {' or '.join(LIBRARIES)}"
        )
    if buckets is not None and not what.startswith(BY_SIZE):
        raise UserError(f"`{what}` has no buckets", help=f'plot "{BY_SIZE}" has')
    if width is not None and (path is None or library in ("altair", "matplotlib")):
        raise UserError("width is that of a file that cemark draws", help="name a file")
    here = {name: str(value) for name, value in (at or {}).items()}
    if what not in DRAWN:
        if library not in (None, "cemark"):
            names = " and ".join(DRAWN)
            raise UserError(
                f"`{what}` is drawn by cemark only, not by {library}",
                help=f"leave `library` out; {library} draws {names}",
            )
        chart: Any = _own(run, what, buckets, here)
    else:
        chart = _shares(run, what, library or ("cemark" if path is not None else None), here)
    if path is None:
        return chart
    if library == "matplotlib":
        chart.savefig(path)
    elif library == "altair":
        chart.save(path)
    else:
        chart.save(path, width=width)
    return Path(path)


def _shares(run: Run, what: str, library: str | None, at: dict[str, str]) -> Any:
    drawn = DRAWN[what]
    ours = run._ran.distribution_chart(drawn.name, at)
    if ours is None:
        raise UserError(
            f'this run has no {drawn.rows}, which plot("{what}") draws',
            help=(
                TRACE
                if drawn is QUEUE
                else "the scenario has only flows that never end"
            ),
        )
    if library in (None, "altair") and (altair := _library("altair", library)) is not None:
        return _altair(altair, _curves(run, drawn, at), drawn)
    if library in (None, "matplotlib"):
        pyplot = _library("matplotlib.pyplot", library)
        if pyplot is not None:
            return _matplotlib(pyplot, _curves(run, drawn, at), drawn)
    return Chart(ours)


def _curves(run: Run, drawn: Drawn, at: dict[str, str]) -> list[Curve]:
    return [
        Curve(title, *curve)
        for title, curves in run._ran.distribution(drawn.name, at)
        for curve in curves
    ]


def _library(module: str, wanted: str | None) -> Any:
    """A library, or None where it is not installed and was not asked for."""
    try:
        return importlib.import_module(module)
    except ImportError:
        if wanted is None:
            return None
        raise UserError(
            f"{wanted} is not installed",
            help=f'run `pip install {wanted}`, or write library="cemark"',
        ) from None


def _own(run: Run, what: str, buckets: Sizes | None, at: dict[str, str]) -> Chart:
    """The first chart of a metric, or the first chart of the report whose name has ``what`` in
    it."""
    metric = BY_SIZE if what.startswith(f"{BY_SIZE}-") else what
    charts = run._ran.charts_of(metric, bounds(buckets), at)
    found = [Chart(chart) for chart in charts or []]
    if charts is None or metric != what:
        if at:
            raise UserError(
                f"`{what}` is not the name of a metric", help="leave `at` out, or name a metric"
            )
        found = [chart for chart in found or run.charts().values() if what in chart.name]
    elif len(found) > 1 and what.startswith(SINGLE):
        raise UserError(
            f"this run has {len(found)} charts of `{what}`, one for each value of the axes",
            help=f'name one: at={{"load": "0.8"}}. There are {", ".join(c.name for c in found)}',
        )
    if not found and what in ("queue", "buffer"):
        raise UserError(f"this run has no samples of `{what}`", help=TRACE)
    if not found:
        names = ", ".join([*DRAWN, BY_SIZE, *run.charts()])
        raise UserError(f"this run has no chart called `{what}`", help=f"there are {names}")
    return found[0]


def bounds(buckets: Sizes | None) -> str | None:
    """The largest sizes of buckets as cemark reads them."""
    if buckets is None:
        return None
    return ",".join(f"{size}B" if isinstance(size, int) else size for size in buckets)


def _altair(altair: Any, curves: list[Curve], drawn: Drawn) -> Any:
    rows = [
        {"scheme": curve.label, "x": x, "share": share}
        for curve in curves
        for x, share in zip(curve.values, curve.shares, strict=True)
    ]
    scale = altair.Scale(type="log" if drawn.log else "linear")
    x = altair.X("x:Q", title=drawn.title, scale=scale)
    y = altair.Y("share:Q", title=f"share of {drawn.rows}")
    color = altair.Color("scheme:N", sort=[curve.label for curve in curves])
    data = altair.Data(values=rows)
    return altair.Chart(data).mark_line().encode(x=x, y=y, color=color)


def _matplotlib(pyplot: Any, curves: list[Curve], drawn: Drawn) -> Any:
    figure, axes = pyplot.subplots(layout="constrained")
    for curve in curves:
        axes.plot(curve.values, curve.shares, label=curve.label)
    axes.set_xscale("log" if drawn.log else "linear")
    axes.set_xlabel(drawn.title)
    axes.set_ylabel(f"share of {drawn.rows}")
    axes.legend()
    # A notebook shows what a cell returns; without this it would show the figure twice.
    pyplot.close(figure)
    return figure
