#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares the tables of the documents with what their commands print today.

A block that follows a line `<!-- printed by: cemark run roce-100g -->` consists of lines that this
command prints, in their order; others may be left out between them. Every point is simulated
again.

  docs/printed.py                        every such block: 19 minutes with linking
  docs/printed.py docs/schemes/wred.md   those of some documents

CEMARK is the program [default: a release build of this checkout].
"""

import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINE = re.compile(r"^<!-- printed by: ", re.M)
BLOCK = re.compile(r"^<!-- printed by: cemark (.+) -->\n\n```\w*\n(.*?)^```$", re.M | re.S)


def documents(names):
    if names:
        return [Path(name).resolve() for name in names]
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.split()]


def built():
    """The program of this checkout, built once for all blocks."""
    build = ["cargo", "build", "--release", "--quiet", "--locked", "--package", "cemark"]
    subprocess.run(build, cwd=ROOT, check=True)
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "cemark"


def printed(program, words):
    """The lines that the command prints on standard output."""
    with tempfile.TemporaryDirectory() as runs:
        args = [program, *shlex.split(words), "--quiet", "--fresh", "--out", f"{runs}/run"]
        done = subprocess.run(args, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"cemark {words}: exit code {done.returncode}")
    return [line.rstrip() for line in done.stdout.splitlines()]


def missing(block, lines):
    """The lines of the block that are not in `lines`, each behind the one before it."""
    at, absent = 0, []
    for line in block:
        if line in lines[at:]:
            at = lines.index(line, at) + 1
        else:
            absent.append(line)
    return absent


def main():
    program = os.environ.get("CEMARK") or built()
    blocks = failed = 0
    for path in documents(sys.argv[1:]):
        text = path.read_text()
        if len(BLOCK.findall(text)) < len(LINE.findall(text)):
            sys.exit(f"{path}: a line `<!-- printed by: ... -->` has no block after an empty line")
        for match in BLOCK.finditer(text):
            blocks += 1
            words = match[1]
            block = [line.rstrip() for line in match[2].splitlines() if line.strip()]
            lines = printed(program, words)
            absent = missing(block, lines)
            place = f"{os.path.relpath(path, ROOT)}: cemark {words}"
            if not absent:
                print(f"ok       {place}: {len(block)} lines")
                continue
            failed += 1
            print(f"differs  {place}: {len(absent)} of {len(block)} lines are not printed")
            print("\n".join(difflib.unified_diff(block, lines, "document", "command", lineterm="")))
    if not blocks:
        sys.exit("there is no block with a line `<!-- printed by: cemark ... -->`")
    sys.exit(failed > 0)


main()
