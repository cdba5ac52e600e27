#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Lines of `cemark export --as tc`, in a test kernel: `uml.sh uml exported.py CEMARK=PROGRAM`. `tc`
takes each line, shows its parameters, and takes what it shows as the same qdisc again."""

import json
import os
import re
import subprocess
import sys
import tomllib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from network import MODULE, check, run  # noqa: E402

CEMARK = os.environ["CEMARK"]
HERE = os.environ["HERE"]
SCENARIOS = os.path.join(HERE, "../../../scenarios")
# Classes with markers of their own, strict and weighted queues.
CLASSES = """
max-time = "1s"
[topology]
kind = "star"
hosts = 4
rate = "25Gbps"
delay = "2us"

[switch]
scheduler = "dwrr"

[[switch.class]]
name = "control"
dscp = [48]
queue = 0
strict = true

[[switch.class]]
name = "bulk"
dscp = [8, 10]
queue = 1
weight = 1

[[switch.class]]
name = "web"
dscp = [0]
queue = 2
weight = 3

[[workload]]
kind = "poisson"
class = "web"
sizes = "web-search"
load = 0.3
flows = 10

[transport]
control = "dctcp"

[[scheme]]
label = "TCN"
marker = "tcn"
threshold = "50us"
"""


def exported(scenario, label):
    """The command that cemark writes for a scheme of a scenario."""
    done = subprocess.run([CEMARK, "export", scenario, "--scheme", label, "--as", "tc", "--ports",
                           "port"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"cemark export {scenario} --scheme {label}: {done.stderr}")
    return done.stdout.strip()


def taken(line):
    """What the kernel has after a command of `tc`."""
    run(line, netns=None)
    text = run("tc qdisc show dev port", netns=None).stdout
    return text, json.loads(run("tc -j qdisc show dev port", netns=None).stdout)[0]


def values(words):
    """Times and lengths of a scheme by name: whole numbers."""
    return {name: int(value) for name, value in re.findall(r" (\w+) (\d+)(?:ns|b)(?= |$)", words)}


def wanted(line):
    """Values of the port's scheme, and of each queue that has a scheme of its own."""
    port, *own = re.split(r" queue (?=\d+ )", line)
    own = {int(words.split()[0]): values(words) for words in own}
    return {None: values(port.split(" queues ")[0]), **own}


def same(scenario, label):
    """One scheme: what is exported, what `tc` has, what `tc` takes again."""
    line = exported(scenario, label)
    text, found = taken(line)
    options = found["options"]
    has = {None: options.get("parameters", {})}
    for own in options.get("own", []):
        has[own["queue"]] = own.get("parameters", {})
    lacks = [(queue, name, value) for queue, all_ in wanted(line).items()
             for name, value in all_.items() if has.get(queue, {}).get(name) != value]
    shown = text.split(" root ", 1)[1].split(" ", 2)[2]
    again = taken(f"tc qdisc replace dev port root cemark {shown}")[1]["options"]
    holds = not lacks and again == options
    count = sum(map(len, wanted(line).values()))
    check(f"{os.path.basename(scenario)} {label}", holds,
          f"{count} values" if holds else f"{line}\n{text}\n{options}\n{lacks}\n{again}")
    return line


def main():
    run(f"insmod {MODULE}/sch_cemark.ko", netns=None)
    run("ip link add port type dummy", netns=None)
    run("ip link set port up", netns=None)
    for name in ["rtt-variation", "wide-area", "mixed-roce-tcp"]:
        path = os.path.join(SCENARIOS, f"{name}.toml")
        with open(path, "rb") as file:
            labels = [one["label"] for one in tomllib.load(file)["scheme"]]
        for label in labels:
            same(path, label)
    with open("/run/classes.toml", "w") as file:
        file.write(CLASSES)
    line = same("/run/classes.toml", "TCN")
    options = taken(line)[1]["options"]
    asked = {"48": 0, "8": 1, "10": 1, "0": 2}
    # DSCP n without an entry goes to queue n, and above the last queue to the last.
    queue = {dscp: options["map"].get(dscp, min(int(dscp), 2)) for dscp in asked}
    check("queues of DSCPs", queue == asked, f"{asked}")
    check("strict queues", options["strict"] == 1, f"{options['strict']}")


main()
