#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Inside the kernel of test.sh: two DCTCP flows through the BPF qdisc at 200 Mb/s, base RTT 1 ms,
and what the qdisc has counted. Fails if a mark was not carried, or the wait is not short."""

import json
import os
import subprocess
import sys
import time

import senders
from senders import run

PINS = "/sys/fs/bpf"


def main():
    run(f"mount -t bpf bpf {PINS}")
    run("bpftool struct_ops register /test/qdisc.o")
    run(f"bpftool prog load /test/mark.o {PINS}/mark")
    senders.hosts()
    run("tc qdisc add dev p2 root cemark_bpf", "sw")
    # Not `ip netns exec`, which hides the pinned program.
    run(f"nsenter --net=/run/netns/sw bpftool net attach tcx_egress pinned {PINS}/mark dev p2")
    env = {**os.environ, "CONTROL": "dctcp"}
    start = lambda netns, role: subprocess.Popen(
        ["ip", "netns", "exec", netns, sys.executable, senders.__file__, role], env=env,
        stdout=subprocess.PIPE, text=True)
    receiver = start("h2", "receive")
    time.sleep(0.3)
    lines = start("h1", "send").communicate()[0].splitlines()
    receiver.kill()
    _, acked, delivered, marked, rtt = lines[-1].split()
    found = json.loads(run("bpftool -j map dump name cemark_pair"))[0]["formatted"]["value"]
    goodput = int(acked) * 8 / (senders.MS - senders.WARM) / 1000
    wait = found["waited"] / found["packets"] / 1000
    print(f"{senders.FLOWS} DCTCP, ECN# in a BPF qdisc: {goodput:.1f} Mb/s, wait {wait:.0f} us, "
          f"marked {int(marked) / int(delivered):.3f}, RTT {rtt} us; of {found['packets']} packets "
          f"{found['wanted']} were to be marked, {found['carried']} are, {found['owed']} are owed")
    print(run("tc -s qdisc show dev p2", "sw").strip())
    run("tc qdisc del dev p2 root", "sw")
    good = found["wanted"] == found["carried"] + found["owed"] and found["carried"] > 0
    return not (good and goodput > 170 and wait < 500)


if __name__ == "__main__":
    sys.exit(int(main()))
