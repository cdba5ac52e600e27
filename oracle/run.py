# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks the oracles against everything committed: `python3 oracle/run.py [STEM ...]`.

The oracle's fixed-point rule must give the answers of every hand-worked case and of every trace. On
the traces the exact form, which rounds nothing, judges the same packets. `differ` is the share of
its verdicts that are not the rule's, `marks` the difference in marks as a share of all verdicts,
and `apart` the largest distance of their states, each with the bound that the oracle's file
states.
"""

import importlib
import sys
from fractions import Fraction
from pathlib import Path

import port
import round_time
import traces
from vectors import Wrong, files, read, replay

ROOT = Path(__file__).resolve().parent.parent / "vectors"
ROW = "{:<16} {:>6} {:>9} {:>7} {:>8}  {:>9} {:>8}  {:>9} {:>8}  {:>9} {:>8} {}"


def check(stem):
    """One scheme: its rows of the table, and the errors."""
    needed = (f"oracle/{stem}.py", f"vectors/{stem}/trace.toml")
    lacking = [p for p in needed if not (ROOT.parent / p).is_file()]
    if lacking:
        return f"{stem:<16} -", [f"{stem}: there is no {path}" for path in lacking]
    oracle = importlib.import_module(stem).Oracle
    wrong, cases, judged = [], 0, 0
    for path in files(ROOT / stem):
        for case in read(path)["case"]:
            try:
                judged += replay(oracle, case)
                cases += 1
            except Wrong as error:
                wrong.append(f"{stem}/{path.name}: {error}")
    rows, kinds = [], {}
    for trace in read(ROOT / stem / "trace.toml")["trace"]:
        bounds = oracle.bounds(trace.get("params", {}), traces.queue(trace))
        kinds.setdefault(bounds, []).append(trace)
    for (kind, bounds), held in kinds.items():
        row, far = distance(stem, oracle, bounds, held)
        rows.append(ROW.format(stem + kind, *(("", "") if kind else (cases, judged)), *row))
        wrong += far
    return "\n".join(rows), wrong


def distance(stem, oracle, bounds, held):
    """The traces of a scheme with the same bounds: their row of the table, and the errors."""
    wrong = []
    runs, packets, judgements, differ, more, gap = 0, 0, 0, 0, 0, 0
    for trace in held:
        port = traces.run(oracle, trace)
        got, want = (port.marks, f"{port.digest:016x}"), (trace["marks"], trace["digest"])
        if got != want:
            wrong.append(f"{stem}/trace.toml: {trace['name']}: {got}, wanted {want}")
        runs, packets = runs + 1, packets + trace["packets"]
        more += abs(port.marks - port.ideal)
        judgements, differ = judgements + port.judgements, differ + port.differ
        gap = max(gap, port.gap)
    share = differ / judgements
    if share > bounds.DIFFER:
        wrong.append(
            f"{stem}: {differ} of {judgements} verdicts differ from the exact form's: "
            f"more than {bounds.DIFFER}"
        )
    if Fraction(more, judgements) > bounds.MARKS:
        wrong.append(
            f"{stem}: {more} marks more or fewer than the exact form's, of {judgements} verdicts: "
            f"more than {bounds.MARKS}"
        )
    if gap > bounds.GAP:
        wrong.append(
            f"{stem}: {float(gap)} {bounds.UNIT} from the exact form: more than {bounds.GAP}"
        )
    far = [
        f"{measured:.2e} {float(most):.1e}".split()
        for measured, most in (
            (share, bounds.DIFFER), (more / judgements, bounds.MARKS), (float(gap), bounds.GAP),
        )
    ]
    return (runs, packets, *sum(far, []), bounds.UNIT), wrong


def main(stems):
    head = "scheme cases packets traces packets differ at_most marks at_most apart at_most unit"
    print(ROW.format(*(word.replace("_", " ") for word in head.split())))
    failed = []
    schemes = [s for s in stems if s not in ("round", "port")]
    if not stems:
        schemes = sorted(p.name for p in ROOT.iterdir() if p.is_dir())
    for stem in schemes:
        row, wrong = check(stem)
        print(row, flush=True)
        failed += wrong
    if not stems or "round" in stems:
        (cases, events, runs, total, gap), wrong = round_time.check(ROOT / "round.toml")
        apart = (f"{float(gap):.2e}", f"{float(round_time.GAP):.1e}", "ns of the port's round")
        print(ROW.format("round", cases, events, runs, total, "", "", "", "", *apart), flush=True)
        failed += wrong
    if not stems or "port" in stems:
        (runs, total), wrong = port.check(read(ROOT / "port.toml"))
        print(ROW.format("port", "", "", runs, total, *[""] * 7), flush=True)
        failed += wrong
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
