# SPDX-License-Identifier: MIT OR Apache-2.0
"""A store is neither emptied nor broken by files of others or by damage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cemark
from cemark import _native
from cemark._store import DOCUMENTS, MANIFEST, Mirror

pytest.importorskip("fsspec")


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def store(small: dict[str, Any], folder: Path) -> Path:
    """A store with a finished run of twelve points, which no directory has."""
    run = cemark.sweep(small, out=f"file://{folder}/store", progress=False)
    run.directory.rename(folder / "elsewhere")
    return folder / "store"


def test_a_refused_run_changes_nothing_in_the_store(small: dict[str, Any], store: Path) -> None:
    before = contents(store)
    url = f"file://{store}"
    for changes, fresh in [
        ({"set": {"workload.load": 0.1}}, True),
        ({"seeds": 1}, True),
        ({"seeds": 1}, False),
    ]:
        with pytest.raises(cemark.Error):
            cemark.sweep(small, out=url, fresh=fresh, progress=False, **changes)
        assert contents(store) == before, changes
    # What `fresh` throws away goes when the run has its directory, not before.
    digest = cemark.Scenario(small)._source().described()[2]
    mirror = Mirror(url, store.parent / "mine", digest, True)
    mirror.stop()
    assert contents(store) == before


def test_a_directory_that_is_locked_leaves_the_store_as_it_is(
    small: dict[str, Any], store: Path
) -> None:
    fcntl = pytest.importorskip("fcntl")
    cemark.sweep(small, out=f"file://{store}", progress=False)
    before = contents(store)
    (directory,) = Path("runs").iterdir()
    with open(directory / ".cemark-lock", "r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(cemark.UserError, match="another cemark"):
            cemark.sweep(small, out=f"file://{store}", fresh=True, progress=False)
    assert contents(store) == before


@pytest.mark.parametrize("damage", [b"", b"[]", b"{", b"null", b"\xff\xfe", b'{"a": 1}\n'])
def test_a_damaged_manifest_is_written_again(
    small: dict[str, Any], store: Path, damage: bytes
) -> None:
    (store / MANIFEST).write_bytes(damage)
    with pytest.warns(UserWarning, match="is damaged: it is written again"):
        run = cemark.sweep(small, out=f"file://{store}", progress=False)
    assert run.summary["cost"]["resumed"] == 12
    assert (store / MANIFEST).read_bytes() == (run.directory / MANIFEST).read_bytes()


def test_a_flipped_bit_of_the_manifest_is_noticed(small: dict[str, Any], store: Path) -> None:
    whole = (store / MANIFEST).read_bytes()
    for at in range(0, len(whole), 97):
        flipped = bytearray(whole)
        flipped[at] ^= 1
        assert _native.scenario_of(bytes(flipped)) is None, at
    assert _native.scenario_of(whole) is not None


def test_a_manifest_of_somebody_else_stays(small: dict[str, Any], folder: Path) -> None:
    (folder / "theirs").mkdir()
    (folder / "theirs" / MANIFEST).write_text('{"scenario_digest": "theirs"}')
    before = contents(folder / "theirs")
    for fresh in (False, True):
        with pytest.raises(cemark.UserError, match="not written by cemark"):
            cemark.sweep(small, out=f"file://{folder}/theirs", fresh=fresh, progress=False)
    assert contents(folder / "theirs") == before


def test_only_what_a_run_leaves_is_copied(small: dict[str, Any], folder: Path) -> None:
    (folder / "secret.key").write_text("secret")
    first = cemark.sweep(small, out=f"file://{folder}/a", progress=False)
    (first.directory / "notes").symlink_to(folder / "secret.key")
    (first.directory / "mine.txt").write_text("mine")
    (first.directory / "points" / f"{0:016x}.parquet").symlink_to(folder / "secret.key")
    cemark.sweep(small, out=f"file://{folder}/b", progress=False)
    names = set(contents(folder / "b"))
    assert {name for name in names if "/" not in name} <= {MANIFEST, *DOCUMENTS}
    assert len([name for name in names if name.startswith("points/")]) == 12
    assert b"secret" not in contents(folder / "b").values()


def test_the_documents_are_those_of_a_run(small: dict[str, Any], folder: Path) -> None:
    run = cemark.run(small, set={"measure.goodput-interval": "1ms"}, progress=False)
    files = {p.name for p in run.directory.iterdir() if p.is_file() and p.name[0] != "."}
    assert files - {MANIFEST} <= set(DOCUMENTS) and len(files) > 5
