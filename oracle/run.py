# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks the oracles against everything committed: `python3 oracle/run.py [STEM ...]`.

Every hand-worked case and every trace must be met exactly by the oracle's fixed-point rule. On the traces the ideal law sees the
same packets; `differ` is the share of its verdicts that are not the rule's, `marks` how many more or fewer it marks (share of all verdicts), `apart`
how far the states have ever been, each with the bound that the oracle's file states.
"""

import importlib
import sys
from fractions import Fraction
from pathlib import Path

import round_time
import traces
from vectors import Wrong, files, read, replay

ROOT = Path(__file__).resolve().parent.parent / "vectors"
ROW = "{:<16} {:>6} {:>9} {:>7} {:>8}  {:>9} {:>8}  {:>9} {:>8}  {:>9} {:>8} {}"


def check(stem):
    """One scheme: its rows of the table, and what is wrong."""
    lacking = [p for p in (f"oracle/{stem}.py", f"vectors/{stem}/trace.toml") if not (ROOT.parent / p).is_file()]
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
        kinds.setdefault(oracle.bounds(trace.get("params", {}), traces.queue(trace)), []).append(trace)
    for (kind, bounds), held in kinds.items():
        row, far = distance(stem, oracle, bounds, held)
        rows.append(ROW.format(stem + kind, *(("", "") if kind else (cases, judged)), *row))
        wrong += far
    return "\n".join(rows), wrong


def distance(stem, oracle, bounds, held):
    """The traces of one scheme that are held to the same bounds: how far its rule is from its law, and what is wrong."""
    wrong = []
    runs, packets, judgements, differ, more, gap = 0, 0, 0, 0, 0, 0
    for trace in held:
        port = traces.run(oracle, trace)
        got, want = (port.marks, f"{port.digest:016x}"), (trace["marks"], trace["digest"])
        if got != want:
            wrong.append(f"{stem}/trace.toml: {trace['name']}: {got}, wanted {want}")
        runs, packets = runs + 1, packets + trace["packets"]
        more += abs(port.marks - port.ideal)
        judgements, differ, gap = judgements + port.judgements, differ + port.differ, max(gap, port.gap)
    share = differ / judgements
    if share > bounds.DIFFER:
        wrong.append(f"{stem}: {differ} of {judgements} verdicts differ from the law's: more than {bounds.DIFFER}")
    if Fraction(more, judgements) > bounds.MARKS:
        wrong.append(f"{stem}: {more} marks of {judgements} verdicts more or fewer than the law's: more than {bounds.MARKS}")
    if gap > bounds.GAP:
        wrong.append(f"{stem}: {float(gap)} {bounds.UNIT} from the law: more than {bounds.GAP}")
    far = (f"{share:.2e}", f"{float(bounds.DIFFER):.1e}", f"{more / judgements:.2e}", f"{float(bounds.MARKS):.1e}", f"{float(gap):.2e}", f"{float(bounds.GAP):.1e}", bounds.UNIT)
    return (runs, packets, *far), wrong


def main(stems):
    print(ROW.format("scheme", "cases", "packets", "traces", "packets", "differ", "at most", "marks", "at most", "apart", "at most", "unit"))
    failed = []
    for stem in [s for s in stems if s != "round"] if stems else sorted(p.name for p in ROOT.iterdir() if p.is_dir()):
        row, wrong = check(stem)
        print(row, flush=True)
        failed += wrong
    if not stems or "round" in stems:
        (cases, events, runs, total, gap), wrong = round_time.check(ROOT / "round.toml")
        apart = (f"{float(gap):.2e}", f"{float(round_time.GAP):.1e}", "ns of the port's round")
        print(ROW.format("round", cases, events, runs, total, "", "", "", "", *apart), flush=True)
        failed += wrong
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
