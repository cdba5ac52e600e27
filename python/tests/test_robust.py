# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a program may do with the package: threads, processes, signals, pickles, nonsense. No panic
of ours reaches Python, and nothing hangs."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import cemark

LIST = """
max-time = "1ms"
[topology]
kind = "star"
hosts = 8
[[workload]]
kind = "list"
file = "flows.parquet"
[[scheme]]
marker = "tcn"
"""


def _digest(plan: dict[str, Any], out: str) -> str:
    digest: str = cemark.run(plan, out=out, progress=False).digest
    return digest


def test_two_runs_at_once(small: dict[str, Any]) -> None:
    alone = _digest(small, "alone")
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(_digest, small, f"at-once-{i}") for i in range(3)]
        assert {f.result(timeout=120) for f in futures} == {alone}


def test_two_runs_in_one_directory(small: dict[str, Any]) -> None:
    def run(_: int) -> str:
        try:
            return _digest(small, "shared")
        except cemark.UserError as e:
            return str(e)

    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(run, range(2), timeout=120))
    alone = _digest(small, "alone")
    assert alone in said and all(s == alone or "another cemark" in s for s in said), said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_after_a_fork(small: dict[str, Any]) -> None:
    alone = _digest(small, "parent")
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        jobs = [pool.apply_async(_digest, (small, f"child-{i}")) for i in range(2)]
        assert [job.get(timeout=120) for job in jobs] == [alone, alone]


def test_pickles_and_copies(small: dict[str, Any]) -> None:
    plan = cemark.Scenario(small).with_({"workload.load": 0.5}, seeds=1)
    for again in (pickle.loads(pickle.dumps(plan)), copy.copy(plan), copy.deepcopy(plan)):
        assert again.text == plan.text and again.digest == plan.digest
    run = cemark.run(plan, progress=False)
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(run)
    error = cemark.UserError("what", help="how")
    assert str(copy.copy(error)) == str(error)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_a_run_in_a_thread(folder: Path) -> None:
    """The main thread gets the signal; a run in another one ends when the process does."""
    Path("long.py").write_text(
        """
import threading, cemark
plan = {"topology": {"kind": "star", "hosts": 16}, "seeds": list(range(1, 200)),
        "workload": [{"kind": "poisson", "sizes": "web-search", "load": 0.8, "flows": 20000}],
        "scheme": [{"marker": "tcn"}]}
def work():
    cemark.run(plan, progress=False, anyway=True)
thread = threading.Thread(target=work, daemon=True)
thread.start()
print("begun", flush=True)
try:
    thread.join()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    )
    child = subprocess.Popen(
        [sys.executable, "long.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    out, said = child.communicate(timeout=60)
    assert out == "interrupted\n" and "panicked" not in said, said


def test_a_damaged_list_raises_and_never_panics(folder: Path) -> None:
    # One flow, as pyarrow writes it.
    data = Path(__file__).parents[2] / "crates/cli/tests/data/flows.parquet"
    whole = data.read_bytes()
    Path("s.toml").write_text(LIST)
    good = 0
    for at in range(0, len(whole), 3):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << at % 8
        Path("flows.parquet").write_bytes(bytes(flipped))
        try:
            cemark.Scenario.builtin("s.toml").points  # noqa: B018
            good += 1
        except cemark.ScenarioError:
            pass
    assert good > 0


def test_nonsense_raises_what_python_raises(small: dict[str, Any], folder: Path) -> None:
    for wrong in (
        {"seed": -1},
        {"seeds": 2**70},
        {"seeds": 0},
        {"jobs": 0},
        {"jobs": -1},
        {"threads": 2**70},
        {"precision": float("nan")},
        {"out": "a\0b"},
        {"set": {"\0": 1}},
        {"set": {"workload.load": "\ud800"}},
        {"set": {"workload.load": float("inf")}},
        {"set": {"workload.load": []}},
    ):
        with pytest.raises((cemark.Error, TypeError, ValueError, OverflowError)):
            cemark.run(small, progress=False, **wrong)  # type: ignore[arg-type]
    nested: Any = 1
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises((cemark.Error, RecursionError)):
        cemark.run({"a": nested}, progress=False)


def test_progress_from_many_threads(small: dict[str, Any]) -> None:
    """An exception in one thread is that thread's own."""
    raised: list[BaseException] = []

    def broken() -> None:
        class Marker:
            def enqueue(self, packet: object) -> bool:
                raise RuntimeError("mine")

        try:
            cemark.run(small, out="broken", markers={"mine": lambda q: Marker()}, progress=False)
        except BaseException as e:
            raised.append(e)

    thread = threading.Thread(target=broken)
    thread.start()
    digest = _digest(small, "whole")
    thread.join(timeout=120)
    assert not thread.is_alive() and digest
    assert len(raised) == 1 and isinstance(raised[0], cemark.Error | RuntimeError)
