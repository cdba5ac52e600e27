# SPDX-License-Identifier: MIT OR Apache-2.0
"""A scenario that takes milliseconds, and a folder of its own for each test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SMALL: dict[str, Any] = {
    "title": "A star of four hosts",
    "topology": {"kind": "star", "hosts": 4, "rate": "10Gbps"},
    "workload": [{"kind": "poisson", "sizes": "web-search", "load": 0.5, "flows": 50}],
    "scheme": [
        {"marker": "threshold", "k": "100KB"},
        {"marker": "ecn_sharp", "ins_target": "60us", "pst_target": "10us"},
    ],
    "sweep": {"workload.load": [0.5, 0.8]},
    "seeds": [1, 2, 3],
}


@pytest.fixture
def small() -> dict[str, Any]:
    """Two schemes, two loads, three seeds: twelve points."""
    return {name: part for name, part in SMALL.items()}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs go into a folder that is removed."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
