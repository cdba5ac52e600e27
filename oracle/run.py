# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks the oracles against everything committed: `python3 oracle/run.py [STEM ...]`."""

import importlib
import sys
import time
from pathlib import Path

from vectors import Wrong, files, read, replay

ROOT = Path(__file__).resolve().parent.parent / "vectors"
# Shown by tests of their own, in the crate.
ELSEWHERE = {("ecn_sharp", "arithmetic")}


def main(stems):
    stems = stems or sorted(p.name for p in ROOT.iterdir() if p.is_dir())
    failed = 0
    for stem in stems:
        oracle = importlib.import_module(stem).Oracle
        begun, judged, cases = time.perf_counter(), 0, 0
        for path in files(ROOT / stem):
            for case in read(path)["case"]:
                try:
                    judged += replay(oracle, case)
                    cases += 1
                except Wrong as wrong:
                    failed += 1
                    print(f"{stem}/{path.name}: {wrong}", file=sys.stderr)
        print(stem, cases, judged, f"{time.perf_counter() - begun:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
