# SPDX-License-Identifier: MIT OR Apache-2.0
"""A copy of a run directory in a store that fsspec knows: S3, GCS, a file system, memory. Each
finished point is copied once, when it has its name; the tables and the report follow at the end."""

from __future__ import annotations

import os
import stat
import threading
import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from . import _native
from ._errors import MachineError, UserError

POINTS = "points"
MANIFEST = "manifest.json"
DOCUMENTS = (
    "buffers.parquet",
    "flows.parquet",
    "goodput.parquet",
    "links.parquet",
    "pauses.parquet",
    "metrics.parquet",
    "points.parquet",
    "queues.parquet",
    "report.html",
    "summary.json",
)
"""What a finished run leaves beside its manifest and its points (docs/output.md)."""

_LOOK = 1.0
"""Seconds between two looks at the directory."""

_WRITERS = 8
"""Files that are written at the same time: a store answers after tens of milliseconds."""


def is_url(out: object) -> bool:
    """Whether this names a store, not a folder."""
    return isinstance(out, str) and "://" in out


def _opened(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise UserError(
            f"{url}: fsspec is not installed, which writes to stores",
            help="pip install 'cemark[ray]', and what the store needs: s3fs for s3://, gcsfs for "
            "gs://",
        ) from None
    try:
        fs, path = fsspec.url_to_fs(url)
    except (ImportError, ValueError) as e:
        raise UserError(
            f"{url}: {e}", help="s3:// needs s3fs, gs:// needs gcsfs: pip install them"
        ) from None
    return fs, str(path).rstrip("/")


class Mirror:
    """Brings what a store has of a run into its directory, and copies what comes there into the
    store, from a thread, until it is closed."""

    def __init__(self, url: str, directory: str | os.PathLike[str], digest: str, fresh: bool):
        self.url = url
        self._fs, self._root = _opened(url)
        self._dir = Path(directory)
        # What the store has, by the file of the directory that it was copied from or to: a point
        # that was damaged is written again, and then copied again.
        self._copied: dict[str, tuple[int, int]] = {}
        # Points that the run replaces, until it has begun.
        self._old: set[str] = set()
        self._failed: BaseException | None = None
        self._closed = threading.Event()
        try:
            self._fetch(digest, fresh)
        except OSError as e:
            raise MachineError(f"{url} cannot be read: {e}", help="try the same again") from e
        self._before = self._stamp(MANIFEST)
        self._thread = threading.Thread(target=self._watch, name="cemark-store", daemon=True)
        self._thread.start()

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _fetch(self, digest: str, fresh: bool) -> None:
        """What the store has and the directory has not. Nothing in the store changes."""
        if (self._dir / POINTS).is_symlink():
            raise UserError(
                f"{self._dir / POINTS} is a symbolic link",
                help="make a link of the run directory instead, or start in another folder",
            )
        manifest, names = self._read(MANIFEST), self._listed()
        there = None if manifest is None else _native.scenario_of(manifest)
        if there is not None and there != digest:
            raise self._another(there, digest)
        if fresh or there is None:
            ours = self._ours(names, digest)
            if manifest is not None and there is None:
                self._damaged(bool(ours))
                manifest = None
            if fresh:
                self._old = ours
                return
        if manifest is not None and not (self._dir / MANIFEST).exists():
            self._bring(MANIFEST, manifest)
        here = {path.name for path in self._dir.glob(f"{POINTS}/*.parquet")}
        for name, data in self._all(sorted(names - here)):
            if data is not None:
                self._bring(f"{POINTS}/{name}", data)
        for name in (f"{POINTS}/{name}" for name in names):
            stamp = self._stamp(name)
            if stamp is not None:
                self._copied[name] = stamp

    def _another(self, there: str, digest: str) -> UserError:
        return UserError(
            f"{self.url} holds a run of another scenario ({there}, not {digest})",
            help="choose another folder in the store",
        )

    def _ours(self, names: set[str], digest: str) -> set[str]:
        """The points in the store that are whole and of this scenario. One of another scenario is
        refused."""
        ours = set()
        for name, data in self._all(sorted(names)):
            there = None if data is None else _native.scenario_of(data)
            if there == digest:
                ours.add(name)
            elif there is not None:
                raise self._another(there, digest)
        return ours

    def _damaged(self, ours: bool) -> None:
        """What a manifest means that is not as cemark wrote it."""
        if not ours:
            raise UserError(
                f"{self._at(MANIFEST)} is damaged or was not written by cemark, and no point of "
                "this scenario is beside it",
                help="choose another folder in the store, or move that file aside",
            )
        warnings.warn(
            f"{self._at(MANIFEST)} is damaged: it is written again, and the points that check out "
            "are kept",
            stacklevel=2,
        )

    def _all(self, names: Iterable[str]) -> Iterable[tuple[str, bytes | None]]:
        """Points of the store by name, with their content, some at a time."""
        wanted = list(names)
        with ThreadPoolExecutor(_WRITERS) as pool:
            for at in range(0, len(wanted), _WRITERS):
                some = wanted[at : at + _WRITERS]
                read = pool.map(self._read, [f"{POINTS}/{name}" for name in some])
                yield from zip(some, read, strict=True)

    def _stamp(self, name: str) -> tuple[int, int] | None:
        """What changes when a file of the directory is written again; nothing where there is no
        file, or a link to one."""
        try:
            found = (self._dir / name).lstat()
        except FileNotFoundError:
            return None
        return (found.st_mtime_ns, found.st_ino) if stat.S_ISREG(found.st_mode) else None

    def _begun(self) -> bool:
        """Whether the run has the directory: its manifest is written after every check and under
        the directory's lock."""
        stamp = self._stamp(MANIFEST)
        return stamp is not None and stamp != self._before

    def _remove_old(self) -> None:
        """Removes what ``fresh`` throws away."""
        if self._old and self._begun():
            self._fs.rm([self._at(f"{POINTS}/{name}") for name in sorted(self._old)])
            self._old = set()

    def _read(self, name: str) -> bytes | None:
        try:
            data: bytes = self._fs.cat_file(self._at(name))
        except FileNotFoundError:
            return None
        return data

    def _listed(self) -> set[str]:
        """The points that the store has."""
        try:
            found = self._fs.ls(self._at(POINTS), detail=False)
        except FileNotFoundError:
            return set()
        names = {str(path).rsplit("/", 1)[-1] for path in found}
        return {name for name in names if _is_point(name)}

    def _bring(self, name: str, data: bytes) -> None:
        """Puts a file into the directory, whole or not at all."""
        path = self._dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".cemark-tmp-{path.name}")
        part.write_bytes(data)
        part.replace(path)

    def _content(self, name: str) -> bytes:
        """A file of the directory. A link that took its place meanwhile is not followed."""
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(self._dir / name, flags), "rb") as file:
            return file.read()

    def _copy(self, name: str) -> None:
        """Writes to the store. An object has its name when it is whole; in a file system it gets
        its name then."""
        data, to = self._content(name), self._at(name)
        self._fs.makedirs(to.rsplit("/", 1)[0], exist_ok=True)
        protocol = self._fs.protocol
        if "file" in ((protocol,) if isinstance(protocol, str) else protocol):
            part = f"{to}.part"
            self._fs.pipe_file(part, data)
            os.replace(part, to)
        else:
            self._fs.pipe_file(to, data)

    def _copy_points(self) -> None:
        if not self._begun():
            return
        self._remove_old()
        names = (f"{POINTS}/{p.name}" for p in self._dir.glob(f"{POINTS}/*.parquet"))
        stamps = {n: self._stamp(n) for n in names if _is_point(n.rsplit("/", 1)[-1])}
        new = [(n, s) for n, s in stamps.items() if s is not None and self._copied.get(n) != s]
        with ThreadPoolExecutor(_WRITERS) as pool:
            copies = pool.map(self._copy, [name for name, _ in new])
            for (name, stamp), _ in zip(new, copies, strict=True):
                self._copied[name] = stamp

    def _watch(self) -> None:
        try:
            begun = False
            while not self._closed.wait(_LOOK):
                if not begun and self._begun():
                    self._remove_old()
                    self._copy(MANIFEST)
                    begun = True
                self._copy_points()
        except BaseException as e:  # shown by the thread that closes
            self._failed = e

    def stop(self) -> None:
        """Copies the points that are finished, and ends the thread."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._thread.join()
        if self._failed is None:
            try:
                self._copy_points()
            except Exception as e:
                self._failed = e
        if self._failed is not None:
            raise MachineError(
                f"{self.url} cannot be written: {self._failed}",
                help=f"everything is in {self._dir}: the same call copies what is missing",
            ) from self._failed

    def close(self) -> None:
        """Ends the thread, and copies all that a finished run leaves. The manifest, which then
        holds the digest of the results, comes last."""
        self.stop()
        try:
            kept = [name for name in DOCUMENTS if self._stamp(name) is not None]
            with ThreadPoolExecutor(_WRITERS) as pool:
                list(pool.map(self._copy, kept))
            self._copy(MANIFEST)
        except OSError as e:
            raise MachineError(
                f"{self.url} cannot be written: {e}",
                help=f"everything is in {self._dir}: the same call copies what is missing",
            ) from e


def _is_point(name: str) -> bool:
    stem, _, end = name.partition(".")
    return end == "parquet" and len(stem) == 16 and all(c in "0123456789abcdef" for c in stem)
