#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The grid of docs/hosts.md: senders of Linux and of the simulator with the options of Linux
(`stack=linux`), over one queue that marks (TCN).

hosts_grid.py OUT [KERNEL]: runs senders.py in KERNEL (uml-hz1000) and the example `senders` of
cemark-transport for every point, and `cemark run` for points with offloads; 25 minutes. What OUT
has of the kernel of an earlier run is kept. Prints the table. A value beyond its bound has an
exclamation mark. The exit code is 1 if fewer rows are within every bound than WITHIN says."""

import json
import pathlib
import subprocess
import sys

from senders_table import GAPS, HERE, INCAST, ROOT, kernel, mean_of, simulator

# Largest difference from the kernel, in percent of the kernel's value.
BOUNDS = {"goodput_mbps": 3, "wait_us": 10, "marked": 15}
COMPLETION, LOSSY = 5, 20
# senders.py looks this often, in ms, whether a flow has ended.
LOOK = 0.2
# Rows within every bound.
WITHIN = 43


def endless():
    """Name and settings of the points without end."""
    for flows in (1, 2, 4, 8):
        for rtt in (100, 1000, 10_000):
            for t in (240, 1000):
                yield f"DCTCP, {flows}", {"flows": flows, "rtt": rtt, "t": t, "ms": 4000,
                                          "warm": 1000, "control": "dctcp"}
    for flows in (2, 4):
        for rtt in (100, 1000, 10_000):
            for t in (240, 1000):
                yield f"CUBIC, {flows}", {"flows": flows, "rtt": rtt, "t": t, "ms": 10_000,
                                          "warm": 1000, "control": "cubic"}


def ending():
    """Name, settings of both, settings of the kernel, those of the simulator, and the bound."""
    for size in (2, 20, 100, 300, 1000, 5000):
        for rtt in (100, 1000):
            both = {"flows": 1, "rtt": rtt, "t": 240, "bytes": size * 1000}
            yield f"{size} KB", both, {"repeat": 3}, {}, COMPLETION
    for flows, size in ((8, 20), (16, 2)):
        both = {**INCAST, "flows": flows, "bytes": size * 1000}
        yield f"incast of {flows} x {size} KB", both, {}, {}, COMPLETION
    yield "incast of 16 x 20 KB", INCAST, {}, {}, LOSSY
    yield "incast of 16 x 20 KB without probes", INCAST, {"early": 0}, {"tlp": "false"}, LOSSY


def offloaded(flows):
    """`cemark run` with TSO: goodput, wait and share of marked packets at a round trip of 1 ms."""
    words = ["cargo", "run", "-q", "--release", "--", "run", "examples/linux-hosts.toml", "--quiet",
             "--format", "json", "--seeds", "3", "--out", "/dev/shm/cemark-hosts", "--fresh",
             "--set", f"workload.count={flows}"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise SystemExit(done.stderr)
    points = [p for p in json.loads(done.stdout)["points"] if p["scheme"] == "linux"]
    runs = []
    for point in points:
        port, goodput = point["hottest_port"], point["long_goodput_bps"] / 1e6
        # The mean over packets, by Little's law: the port samples over time.
        bytes_us = goodput / 8 * 1514 / 1448
        runs.append({"goodput_mbps": goodput, "wait_us": port["queue_mean_bytes"] / bytes_us,
                     "marked": port["marks"] / port["packets"]})
    return mean_of(runs)


def named(settings):
    return "-".join(str(value) for value in settings.values())


def cell(real, ours, bound, exact=0.0):
    """The difference in percent, and whether it is beyond the bound; `exact` is the resolution of
    the measurement."""
    off = 100 * (ours / real - 1) if real else 0.0
    beyond = abs(off) > bound and abs(ours - real) > exact
    return f"{off:+.1f} %{' !' if beyond else ''}", beyond


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    name = sys.argv[2] if len(sys.argv) > 2 else "uml-hz1000"
    for script in ("kernel.sh", "module.sh"):
        subprocess.run([HERE / script, name], check=True, stdout=sys.stderr)
    rows = within = 0
    print("| senders | RTT, µs | T, µs | goodput, Mb/s | | wait, µs | | marked | |")
    print("|---|---|---|---|---|---|---|---|---|")
    tso = [(f"DCTCP, {n}, with TSO", {"flows": n, "rtt": 1000, "t": 240, "ms": 4000, "warm": 1000,
                                      "offloads": 1}) for n in (1, 2, 4, 8)]
    for title, settings in [*endless(), *tso]:
        real = json.loads(kernel(out, named(settings), name, **settings)[-1])
        if "offloads" in settings:
            ours = offloaded(settings["flows"])
        else:
            runs = [json.loads(simulator(gap=gap, stack="linux", **settings)[-1]) for gap in GAPS]
            ours = mean_of(runs)
        cells, bad = [], False
        for key, bound in BOUNDS.items():
            text, beyond = cell(real[key], ours[key], bound)
            cells += [f"{real[key]}", text]
            bad |= beyond
        rows, within = rows + 1, within + (not bad)
        place = f"{title} | {settings['rtt']} | {settings['t']}"
        print(f"| {place} | {' | '.join(cells)} |", flush=True)
    print("\n| flows that end | RTT, µs | last ACK, ms | |\n|---|---|---|---|")
    for title, both, of_kernel, of_simulator, bound in ending():
        known = named(both) + "".join(f"-{k}{v}" for k, v in of_kernel.items())
        real = json.loads(kernel(out, known, name, **both, **of_kernel)[-1])["last_ms"]
        common = {"gap": 0, "warm": 0, "handshake": "true", "ms": 5000, "stack": "linux"}
        ours = json.loads(simulator(**common, **both, **of_simulator)[-1])["last_ms"]
        # The simulator's flows begin with their handshake, the kernel's after it.
        ours -= both["rtt"] / 1000
        text, beyond = cell(real, ours, bound, LOOK + 1e-9)
        rows, within = rows + 1, within + (not beyond)
        print(f"| {title} | {both['rtt']} | {real} | {text} |", flush=True)
    print(f"\n{within} of {rows} rows are within every bound")
    return int(within < WITHIN)


if __name__ == "__main__":
    sys.exit(main())
