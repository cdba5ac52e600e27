# SPDX-License-Identifier: MIT OR Apache-2.0
"""Slowdown by size and distributions, computed a second time from ``flows.parquet``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import cemark

np = pytest.importorskip("numpy")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

# Student's t of 2 and of 4 degrees of freedom, 97.5 %.
T = {3: 4.3027, 5: 2.7764}
SHARES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


@pytest.fixture
def run(small: dict[str, Any], folder: Path) -> cemark.Run:
    """One load, three seeds of 2,000 flows: 200 in a decile."""
    small["sweep"] = {}
    few = {"workload.flows": 2_000, "workload.load": 0.6}
    return cemark.run(small, set=few, out="r", progress=False)


def nearest_rank(values: Any, share: float) -> float:
    """The least value with at least this share of all values at or below it."""
    ordered = np.sort(values)
    return float(ordered[math.ceil(share * len(ordered) - 1e-9) - 1])


def by_hand(file: Path, bounds: list[int] | None) -> list[dict[str, Any]]:
    """Rows of ``slowdown_by_size``, from the file."""
    flows = parquet.read_table(file)
    columns = {name: flows[name].to_numpy() for name in ("seed", "bytes", "slowdown")}
    schemes = np.array(flows["scheme"].to_pylist())
    sizes = columns["bytes"]
    if bounds is None:
        bounds = [int(nearest_rank(sizes, tenth / 10)) for tenth in range(1, 11)]
    else:
        bounds = [*bounds, int(sizes.max())]
    rows = []
    for scheme in dict.fromkeys(schemes):
        for above, up_to in zip([0, *bounds], bounds):
            inside = (sizes > above) & (sizes <= up_to)
            if not inside.any():
                continue
            row: dict[str, Any] = {"scheme": scheme, "above_bytes": above, "up_to_bytes": up_to}
            row["median_bytes"] = int(nearest_rank(sizes[inside], 0.5))
            here = inside & (schemes == scheme) & ~np.isnan(columns["slowdown"])
            row["flows"] = int(here.sum())
            for name, share in SHARES.items():
                seeds = [
                    columns["slowdown"][here & (columns["seed"] == seed)]
                    for seed in np.unique(columns["seed"])
                ]
                known = all(len(s) * (1 - share) >= 1 - 1e-9 or share == 0.5 for s in seeds)
                values = [nearest_rank(s, share) for s in seeds] if known else []
                mean = low = high = None
                if values:
                    mean = float(np.mean(values))
                    half = T[len(values)] * float(np.std(values, ddof=1)) / math.sqrt(len(values))
                    low, high = mean - half, mean + half
                row.update({
                    f"slowdown_{name}": mean,
                    f"slowdown_{name}_low": low,
                    f"slowdown_{name}_high": high,
                })
            rows.append(row)
    return rows


@pytest.mark.parametrize("bounds", [None, [10_000, 100_000, 1_000_000]])
def test_slowdown_by_size_is_that_of_the_file(run: cemark.Run, bounds: list[int] | None) -> None:
    expected = by_hand(run.directory / "flows.parquet", bounds)
    found = pyarrow.table(run.slowdown_by_size(bounds)).to_pylist()
    assert len(found) == len(expected) == (20 if bounds is None else 8)
    assert any(row["slowdown_p99"] is not None for row in found)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.keys() == theirs.keys()
        for name, value in theirs.items():
            if isinstance(value, float):
                assert ours[name] == pytest.approx(value, rel=1e-4 if "_low" in name or
                                                   "_high" in name else 1e-12), (name, ours)
            else:
                assert ours[name] == value, (name, ours)


def test_summary_chart_and_table_have_equal_numbers(run: cemark.Run) -> None:
    table = pyarrow.table(run.slowdown_by_size()).to_pylist()
    summary = [
        (s["scheme"], b["up_to_bytes"], b["flows"], (b["p95"] or {}).get("mean"))
        for s in run.summary["slowdown_by_size"]
        for b in s["buckets"]
    ]
    assert summary == [
        (r["scheme"], r["up_to_bytes"], r["flows"], r["slowdown_p95"]) for r in table
    ]
    head, *lines = run.plot("slowdown-by-size").csv.splitlines()
    assert head == "panel,scheme,flow size [bytes],slowdown,low,high"
    drawn = [line.split(",") for line in lines if line.startswith("p95,")]
    assert [(c[1], int(c[2]), float(c[3])) for c in drawn] == [
        (r["scheme"], r["median_bytes"], r["slowdown_p95"]) for r in table
    ]


def test_distributions_are_those_of_the_file(run: cemark.Run) -> None:
    flows = parquet.read_table(run.directory / "flows.parquet").to_pandas()
    for what, column in (("fct", "fct_us"), ("slowdown", "slowdown")):
        head, *lines = run._ran.distribution_chart(what, {}).csv().splitlines()
        assert head.startswith("scheme,") and "share of flows" in head
        for scheme, values in flows.groupby("scheme", observed=True)[column]:
            here = [line.split(",") for line in lines if line.split(",")[0] == scheme]
            assert 90 <= len(here) <= 100
            ordered = np.sort(values.dropna())
            for _, value, share in here:
                up_to = np.searchsorted(ordered, float(value), "right")
                assert float(share) == up_to / len(ordered)


def test_mistakes_of_buckets_are_answered(run: cemark.Run) -> None:
    with pytest.raises(cemark.UserError, match="rising"):
        run.slowdown_by_size(["1MB", "10KB"])
    with pytest.raises(cemark.UserError, match="is not a length"):
        run.slowdown_by_size(["10us"])
    with pytest.raises(cemark.UserError, match="has no buckets"):
        run.plot("fct", buckets=["10KB"])
    chart = run.plot("slowdown-by-size", buckets=["100KB", 1_000_000])
    assert len([line for line in chart.csv.splitlines() if line.startswith("p50,")]) == 2 * 3


def test_one_seed_has_no_band(small: dict[str, Any], folder: Path) -> None:
    small["sweep"] = {}
    run = cemark.run(small, seeds=1, progress=False)
    chart = run.plot("slowdown-by-size")
    head, *lines = chart.csv.splitlines()
    assert "interval" not in chart.svg and head == "panel,scheme,flow size [bytes],slowdown"
    # Five flows of a bucket have no 95th percentile.
    assert {line.split(",")[0] for line in lines} == {"p50"}
