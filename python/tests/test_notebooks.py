# SPDX-License-Identifier: MIT OR Apache-2.0
"""The notebooks run from top to bottom."""

from __future__ import annotations

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # "Ten thousand points" says that this makes 400 of them.
    monkeypatch.setenv("CEMARK_SEEDS", "2")
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "committed without outputs"
    where = {"metadata": {"path": folder}}
    nbclient.NotebookClient(notebook, timeout=300, resources=where).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("text/html" in output.get("data", {}) for output in shown)
