# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs: tables, Arrow, errors, interruption, memory."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

import cemark


def command(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """The command, as the extension contains it."""
    return subprocess.run(
        [sys.executable, "-m", "cemark", *words], capture_output=True, text=True, **more
    )


def test_a_run_has_a_table_with_intervals(small: dict[str, Any]) -> None:
    run = cemark.run(small, progress=False)
    text = str(run.table)
    assert "load 0.5" in text and "load 0.8" in text
    assert "3 seeds" in text and "ECN#" in text and "±" in text
    html = run.table._repr_html_()
    assert html.count("<table") == 2 and html.count("<tr>") == 2 * 3
    rows = run.table.rows()
    assert [row["scheme"] for row in rows] == ["DCTCP-RED", "ECN#"] * 2
    assert len(run.summary["points"]) == 12
    assert run.digest == run.summary["digest"]
    assert (run.directory / "report.html").is_file()


def test_the_command_gives_the_same_digest(small: dict[str, Any], folder: Path) -> None:
    run = cemark.run(small, out="a", jobs=1, progress=False)
    Path("small.toml").write_text(cemark.Scenario(small).text)
    done = command("run", "small.toml", "--out", "b", "--format", "json", "--quiet")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["digest"] == run.digest
    for s in (summary, other := run.summary):
        s.pop("cost")
        s.pop("scenario")
        for point in s["points"]:
            point.pop("cpu_seconds", None)
    assert summary == other


def test_threads_change_no_result(small: dict[str, Any]) -> None:
    one = cemark.run(small, out="a", threads=1, progress=False)
    two = cemark.run(small, out="b", threads=2, progress=False)
    assert one.digest == two.digest and one.table.rows() == two.table.rows()
    with pytest.raises((ValueError, OverflowError)):
        cemark.run(small, out="c", threads=0, progress=False)


def test_a_run_in_the_same_process_continues_and_begins_again(small: dict[str, Any]) -> None:
    first = cemark.run(small, progress=False)
    assert first.summary["cost"]["resumed"] == 0
    # The first one is still there, and holds no lock.
    again = cemark.run(small, progress=False)
    assert again.summary["cost"]["resumed"] == 12
    assert again.digest == first.digest and again.directory == first.directory
    fresh = cemark.run(small, fresh=True, progress=False)
    assert fresh.summary["cost"]["resumed"] == 0


def test_flows_are_arrow_for_every_library(small: dict[str, Any]) -> None:
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    flows = cemark.run(small, progress=False).flows
    table = pyarrow.table(flows)
    assert table.num_rows == len(flows) == 12 * 50
    assert table.column_names == flows.column_names
    total = sum(table["bytes"].to_pylist())
    assert flows.to_pandas()["bytes"].sum() == total
    assert pandas.DataFrame.from_arrow(flows)["bytes"].sum() == total
    assert flows.to_polars()["bytes"].sum() == polars.DataFrame(flows)["bytes"].sum() == total
    assert duckdb.sql("select sum(bytes) from flows").fetchall()[0][0] == total
    by_scheme = flows.to_pandas().groupby(["workload.load", "scheme"], observed=True).size()
    assert list(by_scheme) == [150] * 4


def test_numbers_are_not_copied(small: dict[str, Any]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    flows = cemark.run(small, progress=False).flows
    first, second = pyarrow.table(flows), pyarrow.table(flows)

    def places(table: Any) -> list[int]:
        return [chunk.buffers()[1].address for chunk in table["bytes"].chunks]

    assert places(first) == places(second) and len(places(first)) == 12


def test_tables_are_those_of_the_files(small: dict[str, Any]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    small["measure"] = {"queue-interval": "50us", "goodput-interval": "1ms"}
    run = cemark.run(small, progress=False)
    names = ("points", "flows", "queues", "buffers", "goodput", "links", "pauses")
    for name in names:
        file = run.directory / f"{name}.parquet"
        table = pyarrow.table(run.frame(name)) if file.exists() else None
        if table is None:
            assert len(run.frame(name)) == 0, name
            continue
        assert table.to_pylist() == parquet.read_table(file).to_pylist(), name
    assert len(run.links) > 0 and len(run.goodput) > 0


def test_queries_and_buffers_by_hand(small: dict[str, Any]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    del small["sweep"]
    small["workload"] = [
        {"kind": "incast", "senders": 6, "receiver": 1, "size": "90KB", "jitter": "30us"}
        | {"repeat": 20, "every": "1ms"}
    ]
    small["switch"] = {"buffer-policy": "dynamic", "pool": "400KB"}
    small["measure"] = {"trace": "ports", "trace-ports": ["switch0->host1"]}
    run = cemark.run(small, progress=False)
    times: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    for flow in pyarrow.table(run.flows).to_pylist():
        query = times.setdefault((flow["scheme"], flow["seed"], flow["query"]), [])
        query.append((flow["start_us"], flow["start_us"] + flow["fct_us"]))
    assert len(times) == 2 * 3 * 20 and all(len(query) == 6 for query in times.values())
    for point in run.summary["points"]:
        own = [
            max(end for _, end in query) - min(start for start, _ in query)
            for (scheme, seed, _), query in times.items()
            if (scheme, seed) == (point["scheme"], point["seed"])
        ]
        assert point["query_us"]["mean"] == pytest.approx(sum(own) / len(own))
        assert point["queries"] == 20 and point["unfinished_queries"] == 0
    buffers = pyarrow.table(run.buffers).to_pylist()
    assert {row["switch"] for row in buffers} == {"switch0"}
    assert 0 < max(row["used_bytes"] for row in buffers) <= 400_000
    assert len(run.pauses) == 0


def test_mistakes_say_where_and_what_instead(small: dict[str, Any], folder: Path) -> None:
    with pytest.raises(cemark.ScenarioError) as raised:
        cemark.run("rtt-variatoin")
    assert "rtt-variation" in (raised.value.help or "")
    text = cemark.Scenario(small).text.splitlines()
    line = text.index("hosts = 4")
    Path("my.toml").write_text("\n".join([*text[:line], 'hosts = "four"', *text[line + 1 :]]))
    with pytest.raises(cemark.ScenarioError) as raised:
        cemark.run("my.toml")
    e = raised.value
    assert (e.file, e.line) == ("my.toml", line + 1) and e.column and e.message and e.help
    assert str(e).startswith(f"my.toml:{line + 1}:")
    for wrong, says in [
        ({"set": {"workload.laod": 0.5}}, "load"),
        ({"set": {"workload.load": []}}, "at least one"),
        ({"set": {"workload": {"load": 1}}}, "workload.KEY"),
        ({"precision": 5}, "0.05"),
        ({"seed": 1, "seeds": 2}, "one of them"),
        ({"markers": {"mine": object}}, "cemark.Marker"),
    ]:
        with pytest.raises(cemark.UserError) as user:
            cemark.run(small, progress=False, **wrong)
        assert says in str(user.value), (wrong, str(user.value))
    with pytest.raises(cemark.UserError, match="is no scenario"):
        cemark.run(3)  # type: ignore[arg-type]
    assert isinstance(e, ValueError) and isinstance(e, cemark.Error)


def test_warnings_are_warnings(small: dict[str, Any]) -> None:
    small["workload"][0] = {**small["workload"][0], "load": 0.5}
    small["switch"] = {"buffer": "20KB"}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cemark.run(small, seeds=1, progress=False)
    assert any(issubclass(w.category, cemark.ScenarioWarning) for w in said)
    assert all(w.filename == __file__ for w in said)


ROOT = Path(__file__).parents[2]
LONG = {"workload.flows": 2_000}


def test_ctrl_c_keeps_what_is_finished(small: dict[str, Any], folder: Path) -> None:
    stop = threading.Event()

    def press() -> None:
        points = folder / "long" / "points"
        while not stop.is_set():
            if points.is_dir() and any(points.glob("????????????????.parquet")):
                os.kill(os.getpid(), signal.SIGINT)
                return
            stop.wait(0.02)

    presser = threading.Thread(target=press)
    presser.start()
    try:
        with pytest.raises(KeyboardInterrupt, match="points are finished and kept in long"):
            cemark.run(small, set=LONG, out="long", jobs=1, progress=False)
    finally:
        stop.set()
        presser.join()
    kept = len(list((folder / "long" / "points").glob("????????????????.parquet")))
    assert 1 <= kept < 12


def test_python_runs_while_it_simulates(small: dict[str, Any]) -> None:
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.wait(0.001):
            counted += 1

    counter = threading.Thread(target=count)
    counter.start()
    try:
        few = {"workload.load": 0.5, "workload.flows": 1_000}
        cemark.run(small, set=few, seeds=1, progress=False)
    finally:
        stop.set()
        counter.join()
    # With the lock held it would not count at all between the first and the last point.
    assert counted > 5, "the lock of Python was held"


def resident() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_the_memory_of_a_run_is_returned(small: dict[str, Any]) -> None:
    def once() -> None:
        few = {"workload.load": 0.5, "workload.flows": 400}
        run = cemark.run(small, set=few, out="m", fresh=True, progress=False)
        assert len(run.flows) == 6 * 400

    once()
    gc.collect()
    before = resident()
    for _ in range(10):
        once()
    gc.collect()
    # What one run keeps is a few megabytes; ten runs must not add up.
    assert resident() - before < 30e6


def test_the_report_and_charts_are_files(small: dict[str, Any], folder: Path) -> None:
    run = cemark.run(small, progress=False)
    page = run.report(folder / "r.html")
    assert page.read_text().startswith("<!")
    charts = run.charts()
    assert any(name.startswith("comparison") for name in charts)
    chart = next(iter(charts.values()))
    assert chart.save(folder / "c.svg").read_text() == chart.svg
    assert chart.save(folder / "c.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(cemark.UserError, match=r"an \.svg, \.pdf or \.png file"):
        chart.save(folder / "c.jpg")
    assert run.plot("comparison")._repr_svg_().startswith("<svg")
    with pytest.raises(cemark.UserError, match="no chart called"):
        run.plot("nothing")
    with pytest.raises(cemark.UserError, match="queue-interval"):
        run.plot("queue")


def test_plots_use_what_is_there(small: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    run = cemark.run(small, progress=False)
    pytest.importorskip("altair")
    drawn = run.plot("fct").to_dict()
    assert len({row["scheme"] for row in drawn["data"]["values"]}) == 4
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    ours = run.plot("fct")
    assert ours._repr_svg_().startswith("<svg") and ours._repr_svg_() == run.plot("fct").svg
    with pytest.raises(cemark.UserError, match="altair is not installed"):
        run.plot("fct", library="altair")


def test_matplotlib_draws_the_shares(small: dict[str, Any], folder: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    run = cemark.run(small, progress=False)
    figure = run.plot("fct", library="matplotlib")
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "completion time [µs]")
    flows = run.flows.to_pandas()
    assert len(axes.lines) == 4
    for line in axes.lines:
        x, y = line.get_data()
        scheme, load = line.get_label().split(", load ")
        loads = flows["workload.load"].astype(float)
        of = flows[(flows["scheme"] == scheme) & (loads == float(load))]
        assert (x[0], x[-1], y[-1]) == (of["fct_us"].min(), of["fct_us"].max(), 1.0)
        assert list(y) == sorted(y) and y[0] == pytest.approx(1 / len(of))
    # The figure is the caller's: pyplot keeps none.
    assert pyplot.get_fignums() == []
    saved = run.plot("fct", folder / "m.pdf", library="matplotlib")
    assert saved.read_bytes().startswith(b"%PDF")


def test_a_plot_is_a_file(small: dict[str, Any], folder: Path) -> None:
    small["sweep"] = {}
    run = cemark.run(small, progress=False)
    for what in ("fct", "slowdown", "slowdown-by-size", "comparison"):
        svg = run.plot(what, folder / f"{what}.svg")
        assert svg == folder / f"{what}.svg" and svg.read_text().startswith("<svg")
        pdf = run.plot(what, folder / f"{what}.pdf").read_bytes()
        assert pdf.startswith(b"%PDF") and pdf == run.plot(what, "again.pdf").read_bytes()
        png = run.plot(what, f"{what}.png", width="241pt").read_bytes()
        # 241 pt are 3.347 inches of 300 pixels.
        assert png.startswith(b"\x89PNG") and int.from_bytes(png[16:20], "big") == 1004
        head, *rows = run.plot(what, f"{what}.csv").read_text().splitlines()
        assert "scheme" in head.split(",") and rows
    with pytest.raises(cemark.UserError, match=r"an \.svg, \.pdf or \.png file"):
        run.plot("fct", "fct.jpg")
    with pytest.raises(cemark.UserError, match="draws nothing here"):
        run.plot("fct", library="gnuplot")
    with pytest.raises(cemark.UserError, match="by cemark only"):
        run.plot("comparison", library="matplotlib")
    with pytest.raises(cemark.UserError, match="the unit is missing"):
        run.plot("fct", "fct.svg", width="241")
    with pytest.raises(cemark.UserError, match="width is that of a file"):
        run.plot("fct", width="241pt")
    with pytest.raises(OSError):
        run.plot("fct", "no/such/folder.svg")


LATER = ["numpy", "pandas", "pyarrow", "polars", "duckdb", "altair", "matplotlib", "tqdm", "ray",
         "json", "inspect", "subprocess", "cemark._native", "cemark._run"]


def test_importing_it_loads_little() -> None:
    """`python -X importtime -c "import cemark"` shows what that takes: a few milliseconds."""
    loaded = f"import sys, cemark; print([m for m in {LATER} if m in sys.modules])"
    # -I -S: without what other packages of this environment load at its start.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {loaded}"],
        capture_output=True,
        text=True,
    )
    assert done.stdout.split("\n")[0] == "[]", done.stderr


def test_help_names_arguments_not_options(small: dict[str, Any], folder: Path) -> None:
    from cemark._errors import in_python

    small["full"] = {"workload.flows": 60}
    cemark.run(small, out="a", seeds=1, progress=False)
    says: list[str] = []
    for wrong in (
        {"out": "a", "seeds": 1, "set": {"workload.flows": 51}},
        {"set": {"workload.load": 0.3, "workload[0].load": [0.4, 0.5]}},
        {"set": {"seeds": [1, 2]}, "seeds": 3},
        {"precision": 0.1, "set": {"seeds": 3}},
        {"seeds": 10**9},
        {"full": True, "set": {"full": 1}},
    ):
        with pytest.raises(cemark.Error) as raised:
            cemark.run(small, progress=False, **wrong)  # type: ignore[arg-type]
        says.append(str(raised.value))
        assert not (raised.value.file or "").startswith("--")
    assert not [text for text in says if "--" in text], says
    assert 'out="DIR"' in says[0] and "fresh=True" in says[0]
    loads = (
        "sweep: --set workload.load=0.5,0.9, or --set scheme.ECN#.k=10us; --jobs 1, --threads 2, "
        "--anyway"
    )
    assert in_python(loads) == (
        'sweep: set={"workload.load": [0.5, 0.9]}, or set={"scheme.ECN#.k": "10us"}; jobs=1, '
        "threads=2, anyway=True"
    )


def test_the_testbed_is_refused_without_an_executable(folder: Path) -> None:
    example = ROOT / "examples" / "testbed" / "long-flows.toml"
    refused = command("testbed", "run", str(example))
    assert refused.returncode == 2 and "cargo install --path crates/cli" in refused.stderr


def test_the_command_is_in_the_package(folder: Path) -> None:
    assert "ecn_sharp" in command("schemes").stdout
    wrong = command("run", "nothing-of-the-kind")
    assert wrong.returncode == 2 and "no built-in" in wrong.stderr
    assert command("--version").stdout.strip() == f"cemark {cemark.__version__}"


def test_a_sweep_is_drawn_at_chosen_values(small: dict[str, Any]) -> None:
    small["sweep"] = {"workload.load": [0.3, 0.6]}
    run = cemark.run(small, seeds=1, progress=False)
    chart = run.plot("slowdown-by-size", at={"load": 0.6})
    assert chart.name == "slowdown-by-size-load-0.6"
    assert run.plot("slowdown-by-size", at={"workload.load": "0.6"}).csv == chart.csv
    ports = run.plot("utilisation-by-port", at={"load": 0.3})
    assert ports.title == "Utilisation of each port, load 0.3" and ports.csv.count("\n") > 4
    # Without `at` each value of the axes has a chart, and a distribution a panel.
    with pytest.raises(cemark.UserError, match="2 charts of `slowdown-by-size`"):
        run.plot("slowdown-by-size")
    both = run.plot("fct", library="cemark").csv.splitlines()
    one = run.plot("fct", library="cemark", at={"load": 0.3}).csv.splitlines()
    assert 1 < len(one) < len(both)
    with pytest.raises(cemark.UserError, match="no point has load 0.5"):
        run.plot("fct", at={"load": 0.5})
    with pytest.raises(cemark.UserError, match="not the name of a metric"):
        run.plot("comparison-load-0.3", at={"load": 0.3})
    # A metric over the axes needs none.
    assert run.plot("short.mean").name == "short-mean-over-workload.load"
    summary = run.summary["ports"]
    assert {use["axes"]["workload.load"] for use in summary} == {"0.3", "0.6"}
    assert all(0 <= use["utilisation"] <= 1 for use in summary)
