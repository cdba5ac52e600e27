# SPDX-License-Identifier: MIT OR Apache-2.0
"""Charts of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import UserError

if TYPE_CHECKING:
    import os

    from ._run import Run

# What is drawn by other libraries: column, its title, and whether its axis is logarithmic.
DRAWN = {
    "fct": ("flows", "fct_us", "completion time [µs]", True),
    "slowdown": ("flows", "slowdown", "slowdown", True),
    "queue": ("queues", "queue_bytes", "queue [bytes]", False),
}
# Points of a curve: more are not seen.
POINTS = 200


class Svg:
    """A chart as SVG, which a notebook shows."""

    def __init__(self, title: str, svg: str) -> None:
        self.title = title
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the SVG file and returns its path."""
        to = Path(path)
        to.write_text(self.svg, encoding="utf-8")
        return to

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<cemark chart: {self.title}>"


def plot(run: Run, what: str) -> Any:
    """The chart called ``what``."""
    if what not in DRAWN:
        return _own(run, what)
    table, column, title, log = DRAWN[what]
    if len(run.frame(table)) == 0:
        raise UserError(
            f'this run has no {table}, which plot("{what}") draws',
            help=(
                'trace queues: set={"measure.queue-interval": "10us", "measure.trace": 1}'
                if table == "queues"
                else "the scenario has only flows that never end"
            ),
        )
    curves = _cumulative(run, table, column)
    try:
        import altair
    except ImportError:
        pass
    else:
        return _altair(altair, curves, title, log)
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        return _own(run, "queues" if table == "queues" else "comparison")
    return _matplotlib(pyplot, curves, title, log)


def _own(run: Run, what: str) -> Svg:
    """The first chart of the report whose name has ``what`` in it."""
    charts = run.charts()
    found = [chart for name, chart in charts.items() if what in name]
    if not found:
        names = ", ".join([*DRAWN, *charts])
        raise UserError(f"this run has no chart called `{what}`", help=f"there are {names}")
    chart: Svg = found[0]
    return chart


def _cumulative(run: Run, table: str, column: str) -> list[tuple[str, list[float], list[float]]]:
    """For each scheme the values of a column in rising order, and the share of rows up to each."""
    axes = run.summary["points"][0]["axes"]
    values: dict[str, list[float]] = {}
    for row in _rows(run, table, [*axes, "scheme", column]):
        *of, value = row
        if value is not None:
            label = ", ".join([of[-1], *(f"{a} {v}" for a, v in zip(axes, of, strict=False))])
            values.setdefault(label, []).append(value)
    curves = []
    for label, all_ in values.items():
        all_.sort()
        n = len(all_)
        places = sorted({round(i * (n - 1) / (POINTS - 1)) for i in range(POINTS)})
        curves.append((label, [all_[i] for i in places], [(i + 1) / n for i in places]))
    return curves


def _rows(run: Run, table: str, columns: list[str]) -> list[tuple[Any, ...]]:
    """Some columns of a table, row by row."""
    return run._ran.frame(table).rows(columns)


def _altair(altair: Any, curves: Any, title: str, log: bool) -> Any:
    rows = [
        {"scheme": label, "x": x, "share": share}
        for label, xs, shares in curves
        for x, share in zip(xs, shares, strict=True)
    ]
    scale = altair.Scale(type="log" if log else "linear")
    x = altair.X("x:Q", title=title, scale=scale)
    y = altair.Y("share:Q", title="share of rows")
    data = altair.Data(values=rows)
    return altair.Chart(data).mark_line().encode(x=x, y=y, color="scheme:N")


def _matplotlib(pyplot: Any, curves: Any, title: str, log: bool) -> Any:
    figure, axes = pyplot.subplots()
    for label, xs, shares in curves:
        axes.plot(xs, shares, label=label)
    axes.set_xscale("log" if log else "linear")
    axes.set_xlabel(title)
    axes.set_ylabel("share of rows")
    axes.legend()
    # A notebook shows what a cell returns; without this it would show the figure twice.
    pyplot.close(figure)
    return figure
