#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What MQ-ECN's shaper costs and gives: `uml.sh uml-hz1000 shaper.py [NAME=VALUE]...`.

Two DCTCP flows leave a host through its qdisc and then cross a link of RATE Mb/s (200) that has a
FIFO of its own, as a network card has, and does not mark. The qdisc marks, and sends as fast as it
can or at a percentage of RATE. Prints goodput in Mb/s, the mean wait before the link in us, and the
share of segments that were marked."""

import subprocess
import sys

import bpf
import senders
from senders import MODULE, RATE, RTT, run

WAYS = [
    ("no shaper", ""),
    ("shaper at 100 %", "shaper 100%"),
    ("shaper at 99.5 %, the default", "shaper"),
    ("shaper at 99 %", "shaper 99%"),
]


def main():
    run(f"insmod {MODULE}/sch_cemark.ko")
    senders.hosts()
    bpf.queue("", {}, 0)
    print(f"{RATE} Mb/s, base RTT {RTT} us\n"
          "| the host's qdisc | goodput, Mb/s | wait before the link, µs | marked |\n"
          "|---|---|---|---|")
    goodputs = []
    for what, shaper in WAYS:
        subprocess.run("tc -n h1 qdisc del dev eth0 root".split(), capture_output=True)
        run("tc qdisc add dev eth0 root cemark scheme mq_ecn k 6KB queues 4 quantum 1514 "
            f"rate {RATE}mbit {shaper}", "h1")
        goodput, wait, marked, _ = bpf.measure("dctcp", 2)
        goodputs.append(goodput)
        print(f"| {what} | {goodput:.1f} | {wait:.0f} | {marked:.3f} |", flush=True)
    # The cost is the share of the rate that is given up.
    return not 0.99 < goodputs[2] / goodputs[0] < 1


if __name__ == "__main__":
    sys.exit(int(main()))
