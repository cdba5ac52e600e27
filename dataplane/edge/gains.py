# SPDX-License-Identifier: GPL-2.0
"""Tables of gain.py: `gains.py point` is one scenario with intervals, `gains.py grid` many without.
EDGE: the program `cemark-edge`. TIMES: repetitions of each row of the point (4)."""

import concurrent.futures
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
# Of a two-sided 95 % interval, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306}
SCRIPT = HERE / "virtual.sh"


def rows(**wanted):
    words = [f"{name}={value}" for name, value in wanted.items()]
    done = subprocess.run([SCRIPT, "gain.py", *words], capture_output=True, text=True,
                          env={**os.environ, "SECONDS_MAX": "3000"})
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not found:
        raise SystemExit(f"gain.py {' '.join(words)}: {done.stdout}{done.stderr}")
    return found


def shown(values):
    mean = statistics.mean(values)
    if len(values) < 2:
        return f"{mean:6.1f}"
    half = STUDENT[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:6.1f} ± {half:.1f}"


def point(pool):
    """6 ms, 50 Mb/s, 1 % of all packets or 10 % of the Not-ECT ones; examples/edge-routers.toml."""
    times = int(os.environ.get("TIMES", "4"))
    cases = [(form, victims, loss, control)
             for form, victims, loss in (("none", "any", 1), ("literal", "not-ect", 10),
                                         ("protect", "not-ect", 10), ("in-order", "not-ect", 10),
                                         ("literal", "any", 1))
             for control in ("reno", "cubic")]
    said = pool.map(lambda c: rows(FORM=c[0], VICTIMS=c[1], LOSS=c[2], CONTROL=c[3], TIMES=times,
                                   SECONDS=10), cases)
    print(f"goodput in Mb/s of {times} runs with 95 % intervals; of each run: retransmissions of "
          "the host, those that DSACK showed needless, copies sent")
    for (form, victims, loss, control), found in zip(cases, said):
        mean = lambda name: statistics.mean(r.get(name, 0) for r in found)
        copies = mean("resent") + mean("flushed")
        goodput = shown([r["goodput"] for r in found])
        print(f"{control:6} {form:9} {loss:3} % of {victims:8} {goodput}   {mean('retrans'):5.0f} "
              f"{mean('dsack_dups'):5.0f} {copies:5.0f}", flush=True)


def grid(pool):
    """Losses of 0 to 5 % of all, or ten times as much of the Not-ECT packets; round trips."""
    cases = [(rtt, loss, control, form) for rtt in (2000, 10000, 30000) for loss in (0, 0.5, 1, 5)
             for control in ("reno", "cubic") for form in ("none", "literal")]
    said = pool.map(lambda c: rows(
        RTT=c[0], LOSS=c[1] * (1 if c[3] == "none" else 10), CONTROL=c[2], FORM=c[3],
        VICTIMS="any" if c[3] == "none" else "not-ect", RATE=20, SECONDS=6, WARM=1), cases)
    found = {case: one[0]["goodput"] for case, one in zip(cases, said)}
    print("goodput in Mb/s of one run at 20 Mb/s: without routers, with the literal form")
    for rtt in (2000, 10000, 30000):
        for loss in (0, 0.5, 1, 5):
            cells = [f"{c} {found[rtt, loss, c, 'none']:5.1f} {found[rtt, loss, c, 'literal']:5.1f}"
                     for c in ("reno", "cubic")]
            print(f"{rtt // 1000:3} ms {loss:4} %   {'   '.join(cells)}", flush=True)


def main():
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in sys.argv[1:]:
            {"point": point, "grid": grid}[name](pool)


if __name__ == "__main__":
    main()
