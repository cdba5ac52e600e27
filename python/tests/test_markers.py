# SPDX-License-Identifier: MIT OR Apache-2.0
"""Markers: the catalogue's on arrays, and those of the user."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cemark

np = pytest.importorskip("numpy")

ROOT = Path(__file__).parents[2]


def test_ecn_sharp_marks_what_waits() -> None:
    marker = cemark.marking.EcnSharp(ins_target="220us", rate="10Gbps")
    now = np.arange(1, 6, dtype=np.uint64) * np.uint64(1_000)
    waits = np.array([0, 219_000, 220_000, 221_000, 500_000], dtype=np.uint64)
    verdicts = marker.dequeue(now, sojourn=waits)
    assert verdicts.dtype == np.uint8
    assert list(verdicts) == [0, 0, 0, 1, 1] or list(verdicts) == [0, 0, 1, 1, 1]
    assert marker.hook == "dequeue"


def test_every_class_is_a_scheme() -> None:
    assert set(cemark.marking.SCHEMES) == set(cemark.schemes())
    for name, made in cemark.marking.SCHEMES.items():
        assert getattr(cemark.marking, made.__name__) is made
        assert made().hook in ("enqueue", "dequeue", "both"), name
        assert "Parameters:" in (made.__doc__ or "")


def test_arrays_of_any_kind_are_judged() -> None:
    step = functools.partial(cemark.marking.Threshold, k="30KB")
    queue = [10_000, 29_000, 31_000, 90_000]
    times = [1, 2, 3, 4]
    expected = list(step().enqueue(times, queue_bytes=queue))
    assert expected[0] == 0 and expected[-1] == 1
    for kind in (np.int64, np.float64, np.uint32):
        assert list(step().enqueue(times, queue_bytes=np.array(queue, kind))) == expected
    out = np.full(4, 99, np.uint8)
    assert step().enqueue(times, queue_bytes=queue, out=out) is out
    assert list(out) == expected
    with pytest.raises(cemark.UserError, match="not all of 4 packets"):
        step().enqueue(times, queue_bytes=[1, 2])
    with pytest.raises(cemark.UserError, match="kk"):
        cemark.marking.Threshold(kk="30KB")
    with pytest.raises(AttributeError, match="EcnSharp"):
        cemark.marking.EcnSharpp()


@pytest.mark.parametrize("scheme", ["tcn", "codel", "ecn_sharp"])
def test_the_state_is_kept_between_calls(scheme: str) -> None:
    """All packets at once are judged as one packet at a time."""
    made = cemark.marking.SCHEMES[scheme]
    random = np.random.default_rng(1)
    n = 10_000
    now = np.cumsum(random.integers(0, 2_000, n)).astype(np.uint64)
    # Long enough for those that wait an interval for it.
    waits = np.where(np.arange(n) < n // 2, 400_000, random.integers(0, 400_000, n))
    waits = waits.astype(np.uint64)
    lengths = random.integers(0, 300_000, n).astype(np.uint32)
    whole = made().dequeue(now, sojourn=waits, queue_bytes=lengths)
    one = made()
    parts = [
        one.dequeue(now[i : i + 1], sojourn=waits[i : i + 1], queue_bytes=lengths[i : i + 1])[0]
        for i in range(n)
    ]
    assert list(whole) == parts and 0 < np.count_nonzero(whole) < n


class Step(cemark.Marker):
    """DCTCP-RED, once more."""

    def __init__(self, queue: Any, limit: int = 100_000) -> None:
        super().__init__(queue)
        self.limit = limit

    def enqueue(self, at: Any) -> bool:
        return at.queue_bytes + at.pkt_bytes > self.limit


class Silent(cemark.Marker):
    def dequeue(self, at: Any) -> None:
        assert at.now >= at.sojourn and at.pkt_bytes > 0 and self.queue.rate == 10**10


class Broken(cemark.Marker):
    def dequeue(self, at: Any) -> bool:
        if at.now > 2_000_000:
            raise ZeroDivisionError("an idea that does not work")
        return False


class Odd(cemark.Marker):
    def enqueue(self, at: Any) -> Any:
        return 7


class Idle(cemark.Marker):
    pass


def test_a_marker_in_python_decides_as_the_same_one_in_rust(small: dict[str, Any]) -> None:
    few = {"workload.flows": 20, "workload.load": 0.5}
    run = cemark.run(small, set=few, markers={"mine": Step}, seeds=1, progress=False)
    flows = run.flows.to_pandas()
    assert set(flows["scheme"]) == {"DCTCP-RED", "ECN#", "mine"}
    fct = {name: list(part["fct_us"]) for name, part in flows.groupby("scheme", observed=True)}
    assert fct["mine"] == fct["DCTCP-RED"] != fct["ECN#"]
    other = {"mine": functools.partial(Step, limit=20_000)}
    less = cemark.run(small, set=few, markers=other, seeds=1, progress=False)
    assert less.directory != run.directory
    silent = cemark.run(small, set=few, markers={"none": Silent}, seeds=1, progress=False)
    counted = [p["marks"] for p in silent.summary["points"] if p["scheme"] == "none"]
    assert counted == [0]


class Swept(cemark.Marker):
    """DCTCP-RED with a parameter."""

    k = cemark.Param("bytes", "65pkt", max="1MB", doc="Queue length that is not marked.")
    on = cemark.Param("flag", default=True)
    form = cemark.Param(("step", "never"), "step")

    def enqueue(self, at: Any) -> bool:
        return self.on and self.form == "step" and at.queue_bytes + at.pkt_bytes > self.k


def test_parameters_of_a_class_are_swept_and_drawn(small: dict[str, Any], folder: Path) -> None:
    few = {"workload.flows": 20, "workload.load": 0.5}
    swept = {**few, "scheme.mine.k": ["20KB", "100000B"]}
    run = cemark.run(small, set=swept, markers={"mine": Swept}, seeds=1, progress=False)
    marks = {
        (p["scheme"], p["axes"]["scheme.mine.k"]): p["marks"] for p in run.summary["points"]
    }
    assert marks["mine", "20KB"] > marks["mine", "100000B"] == marks["DCTCP-RED", "20KB"] > 0
    # The command draws the run without the class.
    words = [sys.executable, "-m", "cemark", "plot", run.directory, "--out", folder / "plots"]
    subprocess.run(words, check=True, capture_output=True)
    assert "mine" in (folder / "plots" / "comparison.csv").read_text()
    never = {**few, "scheme.mine.form": "never"}
    other = cemark.run(small, set=never, markers={"mine": Swept}, seeds=1, progress=False)
    assert [p["marks"] for p in other.summary["points"] if p["scheme"] == "mine"] == [0]
    with pytest.raises(cemark.ScenarioError, match="out of range"):
        cemark.run(small, set={"scheme.mine.k": "2MB"}, markers={"mine": Swept})
    # A scenario may name the class.
    named = {**small, "scheme": [*small["scheme"], {"marker": "python:mine", "label": "M"}]}
    run = cemark.run(named, set=few, markers={"mine": Swept}, seeds=1, progress=False)
    assert [p["scheme"] for p in run.summary["points"]].count("M") == 1
    with pytest.raises(cemark.ScenarioError, match="a marker in Python"):
        cemark.run(named)


def test_the_page_about_own_markers_works_as_it_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "own-marker.md").read_text()
    fabric = page.split("<<'END'\n")[1].split("END\n")[0]
    (folder / "fabric.toml").write_text(fabric.replace("flows = 200", "flows = 40"))
    (folder / "page.py").write_text(page.split("```python\n")[1].split("```")[0])
    monkeypatch.chdir(folder)
    done = subprocess.run(
        [sys.executable, "page.py"], check=True, capture_output=True, text=True
    )
    assert "first" in done.stdout


def test_machine_code_of_a_scenario_needs_leave(small: dict[str, Any], folder: Path) -> None:
    source = folder / "mine.c"
    source.write_text((ROOT / "examples" / "own_marker.c").read_text())
    made = cemark.compile_marker(source)
    marker = {"marker": f"c:{made.path}", "label": "mine", "low": "20pkt"}
    named = {**small, "scheme": [*small["scheme"], marker]}
    few = {"workload.flows": 20, "workload.load": 0.5}
    with pytest.raises(cemark.UserError, match="machine code"):
        cemark.run(named, set=few, seeds=1, progress=False)
    run = cemark.run(named, set=few, seeds=1, progress=False, allow_native=True)
    assert "mine" in str(run.table)


def test_a_marker_that_fails_says_where(small: dict[str, Any]) -> None:
    with pytest.raises(cemark.MarkerError, match="broken.*dequeue at") as raised:
        cemark.run(small, markers={"broken": Broken}, progress=False)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    with pytest.raises(cemark.MarkerError, match="answers True to mark"):
        cemark.run(small, markers={"odd": Odd}, progress=False)
    with pytest.raises(cemark.UserError, match="judges no packets"):
        cemark.run(small, markers={"idle": Idle}, progress=False)


def test_a_marker_in_c_is_compiled_and_run(small: dict[str, Any], folder: Path) -> None:
    source = folder / "own_marker.c"
    source.write_text((ROOT / "examples" / "own_marker.c").read_text())
    made = cemark.compile_marker(source)
    assert made.path == folder / "own_marker.so"
    run = cemark.run(small, markers={"C": made}, seeds=1, progress=False)
    assert "C" in str(run.table)
    source.write_text("int main(void) { return x; }\n")
    with pytest.raises(cemark.UserError, match="does not compile"):
        cemark.compile_marker(source)
    with pytest.raises(cemark.UserError, match="no such file"):
        cemark.compile_marker("no.c")
