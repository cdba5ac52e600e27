#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The table "Defaults, preset, kernel" and the figures of docs/hosts.md: the simulator's senders
without and with the options of Linux, and the kernel.

senders_table.py OUT [KERNEL]: runs senders.py in KERNEL (uml-hz1000) for every case, and the
example `senders` of cemark-transport for every set of options; 10 minutes. What OUT has of an
earlier run is kept. Prints the table, and writes OUT/senders.svg and
OUT/senders-incast.svg."""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]

# Name, flows, RTT in us, virtual ms, and what else the case sets.
CASES = [
    ("dctcp-1-1000", "DCTCP, 1 flow, RTT 1 ms", 1, 1000, 3000, {}),
    ("dctcp-2-1000", "DCTCP, 2 flows, RTT 1 ms", 2, 1000, 3000, {}),
    ("dctcp-8-1000", "DCTCP, 8 flows, RTT 1 ms", 8, 1000, 3000, {}),
    ("dctcp-1-100", "DCTCP, 1 flow, RTT 100 µs", 1, 100, 2000, {}),
    ("dctcp-2-100", "DCTCP, 2 flows, RTT 100 µs", 2, 100, 2000, {}),
    ("dctcp-8-100", "DCTCP, 8 flows, RTT 100 µs", 8, 100, 2000, {}),
    ("cubic-1-1000", "CUBIC, 1 flow, RTT 1 ms", 1, 1000, 4000, {"control": "cubic"}),
    ("cubic-2-1000", "CUBIC, 2 flows, RTT 1 ms", 2, 1000, 4000, {"control": "cubic"}),
    ("cubic-4-1000", "CUBIC, 4 flows, RTT 1 ms", 4, 1000, 4000, {"control": "cubic"}),
]
INCAST = {"flows": 16, "rtt": 100, "t": 2000, "bytes": 20000, "limit": 100}
# Flows begin this many us apart; means over the three.
GAPS = (20_000, 7_300, 33_000)

COLUMNS = [
    ("defaults", {}),
    ("ack-cwr", {"ack_cwr": "true"}),
    ("whole-segments", {"whole_segments": "true"}),
    ("prr", {"prr": "true"}),
    ("coarse-alpha", {"coarse_alpha": "true"}),
    ("cubic-hold", {"cubic_hold": "true"}),
    ("all (linux)", {"stack": "linux"}),
]


def kernel(out, name, kernel_name, **settings):
    """The output of senders.py, kept in a file."""
    kept = out / f"kern-{name}.txt"
    if not kept.exists():
        words = [f"{key.upper()}={value}" for key, value in settings.items()]
        done = subprocess.run(
            [HERE / "uml.sh", kernel_name, HERE / "senders.py", *words],
            capture_output=True, text=True, env={**os.environ, "SECONDS_MAX": "600"},
        )
        if done.returncode:
            raise SystemExit(f"{name}: {done.stdout[-500:]}{done.stderr[-500:]}")
        kept.write_text(done.stdout)
    return kept.read_text().splitlines()


def simulator(**settings):
    words = [f"{key}={value}" for key, value in settings.items()]
    done = subprocess.run(
        ["cargo", "run", "-q", "-p", "cemark-transport", "--example", "senders", "--", *words],
        capture_output=True, text=True, cwd=ROOT,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout.splitlines()


def samples(lines):
    """By flow: rows of ms, window, in flight, alpha, delivered, marked."""
    flows = {}
    for line in lines:
        words = line.split()
        if len(words) == 7 and words[0].isdigit():
            ms, flow, *rest = map(int, words)
            flows.setdefault(flow, []).append((ms, *rest))
    return flows


def mean_of(runs):
    keys = ("goodput_mbps", "wait_us", "marked")
    return {key: sum(run[key] for run in runs) / len(runs) for key in keys}


def shown(one):
    return f"{one['goodput_mbps']:.0f}, {one['wait_us']:.0f}, {one['marked']:.3f}"


def table(out, kernel_name):
    print("| case | kernel | simulator, defaults | simulator, preset |\n|---|---|---|---|")
    for name, title, flows, rtt, ms, more in CASES:
        warm = 1000 if rtt == 1000 else 500
        common = {"flows": flows, "rtt": rtt, "ms": ms, "warm": warm, **more}
        real = json.loads(kernel(out, name, kernel_name, samples=1, **common)[-1])
        cells = [shown(real)]
        for stack in ({}, {"stack": "linux"}):
            runs = [json.loads(simulator(gap=gap, **common, **stack)[-1]) for gap in GAPS]
            cells.append(shown(mean_of(runs)))
        print(f"| {title} | {' | '.join(cells)} |", flush=True)
    for size in (20, 100, 300, 1000):
        common = {"flows": 1, "rtt": 1000, "bytes": size * 1000}
        real = json.loads(kernel(out, f"size-{size}", kernel_name, repeat=3, **common)[-1])
        common.update(gap=0, warm=0, handshake="true")
        # The simulator's flow begins with its handshake of one RTT, the kernel's after it.
        ends = [json.loads(simulator(**common, **s)[-1])["last_ms"] - 1
                for s in ({}, {"stack": "linux"})]
        print(f"| one flow of {size} KB, RTT 1 ms | {real['last_ms']} ms | {ends[0]:.1f} ms | "
              f"{ends[1]:.1f} ms |", flush=True)
    for title, early, stack in (
        ("incast", 3, {"stack": "linux"}),
        ("incast without probes", 0, {"stack": "linux", "tlp": "false"}),
    ):
        real = json.loads(kernel(out, f"incast-{early}", kernel_name, early=early, **INCAST)[-1])
        common = {"gap": 0, "warm": 0, "handshake": "true", "ms": 5000, **INCAST}
        ends = [json.loads(simulator(**common, **s)[-1])["last_ms"] for s in ({}, stack)]
        print(f"| {title}: 16 × 20 KB into 100 packets | {real['last_ms']} ms | {ends[0]} ms | "
              f"{ends[1]} ms |")


class Svg:
    """Small panels of lines, text and nothing else."""

    def __init__(self, width, height):
        self.size = (width, height)
        self.parts = [f'<rect width="{width}" height="{height}" fill="#fff"/>']

    def text(self, x, y, text, anchor="start", weight="normal", size=11):
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" '
                          f'font-weight="{weight}">{text}</text>')

    def line(self, points, colour, width=1.0):
        kept = [p for i, p in enumerate(points)
                if not 0 < i < len(points) - 1 or points[i - 1][1] != p[1] or
                points[i + 1][1] != p[1]]
        path = " ".join(f"{x:.0f},{y:.1f}" for x, y in kept)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                          f'stroke-width="{width}"/>')

    def write(self, path):
        width, height = self.size
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                'font-family="sans-serif" fill="#222">\n<!-- SPDX-License-Identifier: MIT OR '
                'Apache-2.0 -->\n')
        path.write_text(head + "\n".join(self.parts) + "\n</svg>\n")


COLOURS = ("#1b5e9b", "#c2571a")
# Title, case, the column of the samples (0: rate of marks), first and last ms, largest value.
ROWS = [
    ("window, 1 flow", "dctcp-1-1000", 1, 1500, 1600, 26),
    ("in flight, 1 flow", "dctcp-1-1000", 2, 1500, 1600, 26),
    ("alpha, 1 flow", "dctcp-1-1000", 3, 1500, 1600, 512),
    ("marks/ms, 1 flow", "dctcp-1-1000", 0, 1500, 1600, 18),
    ("windows, 2 flows", "dctcp-2-1000", 1, 1500, 1600, 20),
    ("alpha, 2 flows", "dctcp-2-1000", 3, 1500, 1600, 512),
    ("CUBIC's window", "cubic-1-1000", 1, 2000, 2200, 40),
]


def panel(svg, box, flows, column, span, top):
    x, y, width, height = box
    svg.line([(x, y), (x, y + height), (x + width, y + height)], "#bbb")
    for flow, colour in zip(sorted(flows), COLOURS):
        rows = [r for r in flows[flow] if span[0] <= r[0] <= span[1]]
        if column == 0:
            values = [(b[0], b[5] - a[5]) for a, b in zip(rows, rows[1:])]
        else:
            values = [(r[0], r[column]) for r in rows]
        scale = width / (span[1] - span[0])
        svg.line([(x + (ms - span[0]) * scale, y + height - min(v, top) / top * height)
                  for ms, v in values], colour)


def figure(out, kernel_name):
    wide, high, left = 118, 62, 140
    svg = Svg(left + (len(COLUMNS) + 1) * (wide + 10), 40 + len(ROWS) * (high + 16))
    titles = [title for title, _ in COLUMNS] + ["kernel 6.12"]
    for i, title in enumerate(titles):
        svg.text(left + i * (wide + 10) + wide / 2, 20, title, "middle", "bold", 12)
    cases = {case[0]: case for case in CASES}
    for j, (title, name, column, first, last, top) in enumerate(ROWS):
        y = 32 + j * (high + 16)
        svg.text(left - 22, y + high / 2, title, "end")
        svg.text(left - 4, y + 9, str(top), "end", size=9)
        svg.text(left - 4, y + high, "0", "end", size=9)
        _, _, flows, rtt, ms, more = cases[name]
        for i, (_, options) in enumerate([*COLUMNS, ("", None)]):
            if options is None:
                lines = kernel(out, name, kernel_name)
            else:
                lines = simulator(flows=flows, rtt=rtt, ms=last + 1, samples="true",
                                  **more, **options)
            box = (left + i * (wide + 10), y, wide, high)
            panel(svg, box, samples(lines), column, (first, last), top)
        svg.text(left + wide, y + high + 11, f"{last - first} ms", "end", size=9)
    svg.write(out / "senders.svg")


INCAST_COLUMNS = [
    ("defaults", {}),
    ("rack", {"rack": "true"}),
    ("tlp", {"tlp": "true"}),
    ("tlp, rack", {"tlp": "true", "rack": "true"}),
    ("quick-acks", {"quick_acks": 16}),
    ("ect-control", {"ect_control": "true"}),
    ("all (linux)", {"stack": "linux"}),
]


def incast(out, kernel_name):
    """Segments delivered by all flows of the incast over time, up to 300 ms and up to 30."""
    wide, high, left = 118, 62, 140
    svg = Svg(left + (len(INCAST_COLUMNS) + 1) * (wide + 10), 40 + 2 * (high + 16))
    real = kernel(out, "incast-samples", kernel_name, samples=1, repeat=1, **INCAST)
    total = 16 * -(-20_000 // 1448)
    for i, (title, options) in enumerate([*INCAST_COLUMNS, ("kernel 6.12", None)]):
        svg.text(left + i * (wide + 10) + wide / 2, 20, title, "middle", "bold", 12)
        if options is None:
            flows = {0: [(0, 0, 0, 0, 0, 0), *samples(real)[0]]}
        else:
            lines = simulator(gap=0, warm=0, handshake="true", ms=300, samples="true", **INCAST,
                              **options)
            sums = {}
            for rows in samples(lines).values():
                for ms, *rest in rows:
                    old = sums.get(ms, (0,) * len(rest))
                    sums[ms] = tuple(a + b for a, b in zip(old, rest))
            flows = {0: [(0,) * 6, *((ms * 10, *rest) for ms, rest in sorted(sums.items()))]}
        last = flows[0][-1]
        for j, span in enumerate((3000, 300)):
            y = 32 + j * (high + 16)
            rows = {0: [*flows[0], (max(span, last[0]), *last[1:])]}
            panel(svg, (left + i * (wide + 10), y, wide, high), rows, 4, (0, span), total)
            if i == 0:
                svg.text(left - 22, y + high / 2, "delivered", "end")
                svg.text(left - 4, y + 9, str(total), "end", size=9)
                svg.text(left + wide, y + high + 11, f"{span // 10} ms", "end", size=9)
    svg.write(out / "senders-incast.svg")


def main():
    if len(sys.argv) < 2:
        raise SystemExit("senders_table.py OUT [KERNEL]")
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    kernel_name = sys.argv[2] if len(sys.argv) > 2 else "uml-hz1000"
    table(out, kernel_name)
    figure(out, kernel_name)
    incast(out, kernel_name)


if __name__ == "__main__":
    main()
