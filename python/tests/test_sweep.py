# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sweeps: on threads, on a Ray cluster, into stores."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import ray_cluster

import cemark


def test_on_threads_it_is_a_run(small: dict[str, Any]) -> None:
    loads = {"workload.load": [0.3, 0.6]}
    swept = cemark.sweep(small, set=loads, seeds=2, out="a", progress=False)
    run = cemark.run(small, set=loads, seeds=2, out="b", progress=False)
    assert ray_cluster.without_cost(swept) == ray_cluster.without_cost(run)
    assert len(swept.points) == 2 * 2 * 2


def test_arguments_that_exclude_each_other(small: dict[str, Any]) -> None:
    for wrong, says in [
        ({"on": "dask"}, 'on="ray"'),
        ({"address": "here:1"}, 'on="ray"'),
        ({"on": "ray", "jobs": 2}, "on=\"threads\""),
        ({"on": "ray", "threads": 2}, "threads= is for"),
        ({"on": "ray", "markers": {"mine": Step}}, "threads"),
        ({"out": "nothing-of-the-kind://x"}, "nothing-of-the-kind"),
    ]:
        with pytest.raises(cemark.UserError) as raised:
            cemark.sweep(small, progress=False, **wrong)
        assert says in str(raised.value), (wrong, str(raised.value))


class Step(cemark.Marker):
    def enqueue(self, at: Any) -> bool:
        return at.queue_bytes > 100_000


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_a_store_has_what_the_directory_has(
    small: dict[str, Any], folder: Path, kind: str
) -> None:
    fsspec = pytest.importorskip("fsspec")
    url = f"file://{folder}/store/a" if kind == "file" else "memory://store/a"
    run = cemark.sweep(small, out=url, progress=False)
    fs, root = fsspec.url_to_fs(url)
    files = {str(p)[len(root.rstrip("/")) :].lstrip("/") for p in fs.find(root)}
    here = {
        str(p.relative_to(run.directory))
        for p in run.directory.rglob("*")
        if p.is_file() and not p.name.startswith(".")
    }
    assert files == here and len(files) > 12
    for name in ("flows.parquet", "summary.json", "manifest.json"):
        assert fs.cat_file(f"{root}/{name}") == (run.directory / name).read_bytes()
    # Another machine, which has nothing: it takes the points from the store.
    run.directory.rename(folder / "elsewhere")
    again = cemark.sweep(small, out=url, progress=False)
    assert again.summary["cost"]["resumed"] == 12 and again.digest == run.digest
    # A point that was damaged in the store is simulated again, and is whole there afterwards.
    again.directory.rename(folder / "third")
    point = sorted(n for n in files if n.startswith("points/"))[0]
    whole = fs.cat_file(f"{root}/{point}")
    fs.pipe_file(f"{root}/{point}", whole[:-20] + bytes(20))
    third = cemark.sweep(small, out=url, progress=False)
    assert third.summary["cost"]["resumed"] == 11 and third.digest == run.digest
    stored = fs.cat_file(f"{root}/{point}")
    assert stored == (third.directory / point).read_bytes()
    for fresh in (False, True):
        with pytest.raises(cemark.UserError, match="another scenario"):
            cemark.sweep(small, seeds=1, out=url, fresh=fresh, progress=False)
    assert len(fs.ls(f"{root}/points")) == 12
    begun = cemark.sweep(small, out=url, fresh=True, progress=False)
    assert begun.summary["cost"]["resumed"] == 0 and begun.digest == run.digest
    assert len(fs.ls(f"{root}/points")) == 12


def test_without_a_cluster_it_says_how_to_start_one(folder: Path) -> None:
    pytest.importorskip("ray")
    Path("s.toml").write_text(cemark.Scenario(ray_cluster.plan(10)).text)
    words = [sys.executable, "-m", "cemark", "sweep", "s.toml", "--ray"]
    done = subprocess.run(
        ray_cluster.inside(words), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "ray start --head" in done.stderr and "no Ray cluster" in done.stderr
    assert not Path("runs").exists()


def test_the_command_sweeps_on_threads(folder: Path) -> None:
    Path("s.toml").write_text(cemark.Scenario(ray_cluster.plan(10)).text)
    words = [sys.executable, "-m", "cemark"]
    options = ["s.toml", "--quiet", "--format", "json"]
    said = [
        subprocess.run([*words, command, *options, "--out", command], capture_output=True)
        for command in ("run", "sweep")
    ]
    assert json.loads(said[0].stdout)["digest"] == json.loads(said[1].stdout)["digest"]
    wrong = subprocess.run(
        [*words, "sweep", "s.toml", "--out", "s3://b/c"], capture_output=True, text=True
    )
    assert wrong.returncode == 2 and "only --ray writes" in wrong.stderr


def test_a_cluster_loses_nothing() -> None:
    """200 points on two nodes, while a worker and then a node is killed. `cargo xtask proof ray`
    does it with 2,000."""
    pytest.importorskip("ray")
    script = Path(ray_cluster.__file__)
    words = [sys.executable, str(script), "200", "--more"]
    done = subprocess.run(
        ray_cluster.inside(words), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert "200 points, each once" in done.stdout
    print(done.stdout)
