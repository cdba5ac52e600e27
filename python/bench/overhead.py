# SPDX-License-Identifier: MIT OR Apache-2.0
"""CPU seconds (user and system) of `cemark.run` against those of the command, run by turns.

usage: python overhead.py PROGRAM [ROUNDS] [KEY=VALUE …]

PROGRAM is the command, built with the profile of the wheel: `cargo build -p cemark` makes
target/debug/cemark for a wheel of python/test.sh. The scenario is rtt-variation with one seed and
one load; KEY=VALUE changes it. Each run is a process of its own, begins with nothing on disk, and
writes the same files. The median of ROUNDS (5) is printed, and every digest must be the same.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

IN_PYTHON = """
import sys, cemark
changes = dict(word.split("=", 1) for word in sys.argv[2:])
print(cemark.run("rtt-variation", set=changes, seeds=1, out=sys.argv[1], progress=False).digest)
"""
IN_SHELL = ["run", "rtt-variation", "--seeds", "1", "--quiet", "--format", "json"]


def seconds(words: list[str], folder: str) -> tuple[float, str]:
    """CPU seconds of a process, and what it printed."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(words, stdout=out, stderr=subprocess.DEVNULL, cwd=folder)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: exit code {child.returncode}")
        out.seek(0)
        return used.ru_utime + used.ru_stime, out.read().decode()


def main() -> None:
    """Measures."""
    program = Path(sys.argv[1]).resolve()
    rest = sys.argv[2:]
    rounds = int(rest.pop(0)) if rest and rest[0].isdigit() else 5
    changes = rest or ["workload.load=0.9", "workload.flows=1000"]
    sets = [word for change in changes for word in ("--set", change)]
    command, python, digests = [], [], set()
    for number in range(rounds):
        with tempfile.TemporaryDirectory(prefix="cemark-overhead-") as folder:
            words = [str(program), *IN_SHELL, *sets, "--out", "a"]
            used, said = seconds(words, folder)
            command.append(used)
            digests.add(said.split('"digest":')[1].split('"')[1])
            words = [sys.executable, "-c", IN_PYTHON, "b", *changes]
            used, said = seconds(words, folder)
            python.append(used)
            digests.add(said.strip())
        print(f"{number + 1}  command {command[-1]:.2f} s  Python {python[-1]:.2f} s", flush=True)
    if len(digests) != 1:
        raise SystemExit(f"the digests differ: {digests}")
    ours, theirs = statistics.median(python), statistics.median(command)
    pairs = statistics.median(p / c for p, c in zip(python, command, strict=True))
    print(
        f"medians of {rounds}: command {theirs:.2f} s, Python {ours:.2f} s, "
        f"{100 * (ours / theirs - 1):+.1f} %; median of the pairs {100 * (pairs - 1):+.1f} %; "
        f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )


if __name__ == "__main__":
    main()
