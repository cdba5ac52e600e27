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
    for name in ("points", "flows", "queues", "goodput", "links"):
        file = run.directory / f"{name}.parquet"
        table = pyarrow.table(run.frame(name)) if file.exists() else None
        if table is None:
            assert len(run.frame(name)) == 0, name
            continue
        assert table.to_pylist() == parquet.read_table(file).to_pylist(), name
    assert len(run.links) > 0 and len(run.goodput) > 0


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
    for _ in range(5):
        once()
    gc.collect()
    # What one run keeps is a few megabytes; five runs must not add up.
    assert resident() - before < 30e6


def test_the_report_and_charts_are_files(small: dict[str, Any], folder: Path) -> None:
    run = cemark.run(small, progress=False)
    page = run.report(folder / "r.html")
    assert page.read_text().startswith("<!")
    charts = run.charts()
    assert any(name.startswith("comparison") for name in charts)
    svg = next(iter(charts.values())).save(folder / "c.svg")
    assert svg.read_text().startswith("<svg")
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
    assert run.plot("fct")._repr_svg_().startswith("<svg")


def test_importing_it_loads_little() -> None:
    """`python -X importtime -c "import cemark"` shows what that takes: tens of milliseconds."""
    loaded = "import sys, cemark; print('cemark._native' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"]


def test_the_command_is_in_the_package(folder: Path) -> None:
    assert "ecn_sharp" in command("schemes").stdout
    wrong = command("run", "nothing-of-the-kind")
    assert wrong.returncode == 2 and "no built-in" in wrong.stderr
    assert command("--version").stdout.strip() == f"cemark {cemark.__version__}"
