# SPDX-License-Identifier: MIT OR Apache-2.0
"""Replays golden vectors (`vectors/README.md`) against an oracle."""

import tomllib

from common import QUEUE, At, Queue

PACKET = {"now", "want"}
LOOKS = {"sojourn", "queue", "port", "pool", "limit", "round", "pkt", "salt", "ecn", "intent"}


class Wrong(Exception):
    """An answer that differs from the vector."""


def view(step, now):
    return At(now, **{k: v for k, v in step.items() if k in LOOKS})


def judge(marker, step, now):
    at = view(step, now)
    hook = marker.hook()
    if hook == "both":
        hook = step["hook"]
    return marker.dequeue(at) if hook == "dequeue" else marker.enqueue(at)


def expect(what, got, want):
    if got != want:
        raise Wrong(f"{what}: {got}, wanted {want}")


def train(marker, step):
    marks, times = [], [step["from"] + n * step["gap"] for n in range(step["packets"])]
    for now in times:
        while marker.next_wake() is not None and marker.next_wake() <= now:
            marker.wake(view(step, marker.next_wake()))
        if judge(marker, step, now) != "pass":
            marks.append(now)
    if "first" in step:
        expect("first marks", marks[: len(step["first"])], step["first"][: len(marks)])
    if "total" in step:
        expect("number of marks", len(marks), step["total"])
    if "all_from" in step:
        marked = set(marks)
        unmarked = [t for t in times if t not in marked]
        start = times[times.index(unmarked[-1]) + 1] if unmarked else times[0]
        expect("all marked from", start, step["all_from"])
    return len(times)


def replay(oracle, case):
    """Replays a case and returns the number of packets that it judged."""
    queue = Queue(**{k: v for k, v in case.items() if k in QUEUE})
    marker = oracle(case.get("params", {}), queue)
    judged = 0
    for number, step in enumerate(case["steps"], 1):
        try:
            if "now" in step:
                due = marker.next_wake()
                expect("a timer that is overdue", due is not None and due < step["now"], False)
                expect("verdict", judge(marker, step, step["now"]), step["want"])
                judged += 1
            elif "from" in step:
                judged += train(marker, step)
            elif "emptied" in step:
                marker.emptied(step["emptied"])
            elif "wake" in step:
                expect("timer", marker.next_wake(), step["wake"])
                marker.wake(view(step, step["wake"]))
            elif "sleeps" in step:
                expect("sleeps", marker.next_wake() is None, step["sleeps"])
            else:
                marker.tune(step["retune"], queue)
        except Wrong as wrong:
            raise Wrong(f"{case['name']}: step {number}: {wrong}") from None
    return judged


def files(folder):
    """The files of a scheme with hand-worked cases: all except the traces."""
    return [f for f in sorted(folder.glob("*.toml")) if f.name != "trace.toml"]


def read(path):
    with path.open("rb") as file:
        return tomllib.load(file)
