# SPDX-License-Identifier: MIT OR Apache-2.0
"""Charts of a run."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native
from ._errors import UserError

if TYPE_CHECKING:
    import os

    from ._run import Run


class Drawn(NamedTuple):
    """A column whose cumulative shares are drawn."""

    table: str
    column: str
    label: str
    unit: str
    """``us``, ``B``, or nothing."""
    log: bool

    @property
    def title(self) -> str:
        """Of the axis."""
        unit = {"us": " [µs]", "B": " [bytes]"}.get(self.unit, "")
        return f"{self.label}{unit}"


DRAWN = {
    "fct": Drawn("flows", "fct_us", "completion time", "us", True),
    "slowdown": Drawn("flows", "slowdown", "slowdown", "", True),
    "queue": Drawn("queues", "queue_bytes", "queue", "B", False),
}
LIBRARIES = ("altair", "matplotlib", "cemark")
# Points of a curve: more are not seen.
POINTS = 256


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
    """A chart that cemark draws itself. A notebook shows it; :meth:`save` writes SVG or PDF."""

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

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes an SVG or a PDF file, by the ending of its name, and returns its path. The same
        results give the same bytes on every machine."""
        to = Path(path)
        self._chart.save(to)
        return to

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<cemark chart: {self.title}>"


def plot(
    run: Run, what: str, path: str | os.PathLike[str] | None, library: str | None
) -> Any:
    """The chart called ``what``, or the path of the file with it."""
    if library is not None and library not in LIBRARIES:
        raise UserError(
            f"library={library!r} draws nothing here", help=f"write {' or '.join(LIBRARIES)}"
        )
    if what not in DRAWN:
        if library not in (None, "cemark"):
            names = " and ".join(DRAWN)
            raise UserError(
                f"`{what}` is drawn by cemark only, not by {library}",
                help=f"leave `library` out; {library} draws {names}",
            )
        chart: Any = _own(run, what)
    else:
        chart = _shares(run, what, library or ("cemark" if path is not None else None))
    if path is None:
        return chart
    if library == "matplotlib":
        chart.savefig(path)
    else:
        chart.save(path if library == "altair" else Path(path))
    return Path(path)


def _shares(run: Run, what: str, library: str | None) -> Any:
    drawn = DRAWN[what]
    if len(run.frame(drawn.table)) == 0:
        raise UserError(
            f'this run has no {drawn.table}, which plot("{what}") draws',
            help=(
                'trace queues: set={"measure.queue-interval": "10us", "measure.trace": 1}'
                if drawn.table == "queues"
                else "the scenario has only flows that never end"
            ),
        )
    curves = _cumulative(run, drawn)
    if library in (None, "altair") and (altair := _library("altair", library)) is not None:
        return _altair(altair, curves, drawn)
    if library in (None, "matplotlib"):
        pyplot = _library("matplotlib.pyplot", library)
        if pyplot is not None:
            return _matplotlib(pyplot, curves, drawn)
    return _drawn(run, what, curves, drawn)


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


def _own(run: Run, what: str) -> Chart:
    """The first chart of the report whose name has ``what`` in it."""
    charts = run.charts()
    found = [chart for name, chart in charts.items() if what in name]
    if not found:
        names = ", ".join([*DRAWN, *charts])
        raise UserError(f"this run has no chart called `{what}`", help=f"there are {names}")
    return found[0]


def _cumulative(run: Run, drawn: Drawn) -> list[Curve]:
    axes = run.summary["points"][0]["axes"]
    values: dict[tuple[str, str], list[float]] = {}
    for row in run._ran.frame(drawn.table).rows([*axes, "scheme", drawn.column]):
        *of, scheme, value = row
        if value is not None:
            panel = ", ".join(
                f"{axis.rpartition('.')[2]} {v}" for axis, v in zip(axes, of, strict=True)
            )
            values.setdefault((panel, scheme), []).append(value)
    curves = []
    for (panel, scheme), all_ in values.items():
        all_.sort()
        n = len(all_)
        places = sorted({round(i * (n - 1) / (POINTS - 1)) for i in range(POINTS)})
        some = [all_[i] for i in places]
        curves.append(Curve(panel, scheme, some, [(i + 1) / n for i in places]))
    return curves


def _altair(altair: Any, curves: list[Curve], drawn: Drawn) -> Any:
    rows = [
        {"scheme": curve.label, "x": x, "share": share}
        for curve in curves
        for x, share in zip(curve.values, curve.shares, strict=True)
    ]
    scale = altair.Scale(type="log" if drawn.log else "linear")
    x = altair.X("x:Q", title=drawn.title, scale=scale)
    y = altair.Y("share:Q", title="share of rows")
    color = altair.Color("scheme:N", sort=[curve.label for curve in curves])
    data = altair.Data(values=rows)
    return altair.Chart(data).mark_line().encode(x=x, y=y, color=color)


def _matplotlib(pyplot: Any, curves: list[Curve], drawn: Drawn) -> Any:
    figure, axes = pyplot.subplots(layout="constrained")
    for curve in curves:
        axes.plot(curve.values, curve.shares, label=curve.label)
    axes.set_xscale("log" if drawn.log else "linear")
    axes.set_xlabel(drawn.title)
    axes.set_ylabel("share of rows")
    axes.legend()
    # A notebook shows what a cell returns; without this it would show the figure twice.
    pyplot.close(figure)
    return figure


def _drawn(run: Run, what: str, curves: list[Curve], drawn: Drawn) -> Chart:
    colours = {scheme: place for place, scheme in enumerate(run._ran.schemes())}
    panels: dict[str, list[tuple[str, int, list[float], list[float]]]] = {}
    for curve in curves:
        place = colours.get(curve.scheme, len(colours))
        entry = (curve.scheme, place, curve.values, curve.shares)
        panels.setdefault(curve.panel, []).append(entry)
    rows = "flows" if drawn.table == "flows" else "samples"
    title = f"{drawn.label.capitalize()}: share of {rows} up to each value"
    caption = f"All {rows} of all seeds."
    axis = (drawn.label, drawn.unit)
    return Chart(_native.shares(what, title, caption, axis, drawn.log, list(panels.items())))
