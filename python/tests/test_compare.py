# SPDX-License-Identifier: MIT OR Apache-2.0
"""Two runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cemark
import pytest


def test_two_runs_side_by_side(small: dict[str, Any], folder: Path) -> None:
    first = cemark.run(small, progress=False)
    second = cemark.run(
        small, set={"scheme.1.pst_target": "40us"}, out=folder / "second", progress=False
    )
    both = cemark.compare(first, second)
    assert not both.equal_results
    assert [s["key"] for s in both.settings] == ["scheme.1.pst_target"]
    assert (both.settings[0]["a"], both.settings[0]["b"]) == ("10us", "40us")
    rows = both.rows()
    assert all(row["paired"] for row in rows)
    verdicts: dict[str, set[str]] = {}
    for row in rows:
        verdicts.setdefault(row["scheme"], set()).add(row["verdict"])
    assert len(verdicts) == 2
    assert sorted(v == {"equal"} for v in verdicts.values()) == [False, True]
    assert {row["workload.load"] for row in rows} == {"0.5", "0.8"}
    assert all(len(line) <= 80 for line in both.text(80).splitlines())
    assert "scheme.1.pst_target: A 10us, B 40us" in str(both)
    same = cemark.compare(folder / "second", str(second.directory))
    assert same.equal_results and same.document["settings"] == []


def test_measures_are_a_frame(small: dict[str, Any]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    run = cemark.run(small, progress=False)
    rows = pyarrow.table(run.metrics).to_pylist()
    assert len(rows) == len(run.summary["measures"])
    means = [row for row in rows if row["metric"] == "overall.mean"]
    assert len(means) == 4
    for row in means:
        assert row["unit"] == "µs" and row["count"] == 150
        assert row["low"] < row["value"] < row["high"]
    tails = [row for row in rows if row["metric"] == "overall.p99"]
    assert all(row["largest_of"] == 50 and row["low"] is None for row in tails)


def test_runs_that_cannot_be_compared(small: dict[str, Any]) -> None:
    run = cemark.run(small, progress=False)
    with pytest.raises(cemark.UserError, match="there is no directory nowhere"):
        cemark.compare(run, "nowhere")
