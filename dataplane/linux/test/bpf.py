#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The eBPF marker with real senders, inside a test kernel: bpf.sh runs it.

One bottleneck, a class of HTB with a FIFO of 1000 packets, and four ways to mark in it: not at
all, `cemark bpf` in front of it, the qdisc `cemark` in the place of the FIFO, and that without
HTB. CEMARK is the program; RATE is in Mb/s (200), RTT in us (1000), MS are the virtual milliseconds
of a run (3000), of which the first WARM (1000) are not counted. ONLY: rows with one of these words,
which commas divide.

The wait is that of the real queue by Little's law, its mean backlog over its rate, where the
backlog is read every 1.7 ms. `ss -ti` is the mean of the smoothed round-trip times that this
command would show of the senders."""

import json
import os
import socket
import struct
import subprocess
import sys
import time

import senders
from senders import MODULE, RATE, RTT, run

CEMARK = os.environ.get("CEMARK", "")
ONLY = [word for word in os.environ.get("ONLY", "").split(",") if word]
MS, WARM = int(os.environ.get("MS", "3000")), int(os.environ.get("WARM", "1000"))
LEAF = 0x10001  # the parent 1:1
RTM_NEWQDISC, RTM_GETQDISC, NLMSG_DONE, TCA_STATS = 36, 38, 3, 3
NLM_F_REQUEST, NLM_F_DUMP = 1, 0x300

SENDERS = [("dctcp", 2), ("dctcp", 8), ("cubic", 4)]
# CUBIC takes 30 % off its window at each mark, so it needs a longer queue than DCTCP to keep a link
# busy.
SCHEMES = {
    "dctcp": {
        "ecn_sharp": {"ins_target": "300us", "pst_target": "100us", "pst_interval": "1200us"},
        "tcn": {"threshold": "300us"},
    },
    "cubic": {
        "ecn_sharp": {"ins_target": "1000us", "pst_target": "400us", "pst_interval": "1500us"},
        "tcn": {"threshold": "800us"},
    },
}
# Who marks, by which scheme, and the rate of the virtual queue in percent of RATE.
WAYS = [
    ("no marks", "", 0),
    ("ECN#, `cemark bpf` at 97 %", "ecn_sharp", 97),
    ("ECN#, `cemark bpf` at 99 %", "ecn_sharp", 99),
    ("ECN#, `cemark bpf` at 100 %", "ecn_sharp", 100),
    ("ECN#, qdisc `cemark`", "ecn_sharp", 0),
    ("TCN, `cemark bpf` at 99 %", "tcn", 99),
    ("TCN, qdisc `cemark`", "tcn", 0),
]


def backlog(nl):
    """Bytes that wait in the leaf, and bytes that it has sent."""
    nl.send(struct.pack("IHHII", 36, RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, 0, 0) +
            bytes(20))
    found = None
    while True:
        data = nl.recv(1 << 16)
        while data:
            length, kind = struct.unpack_from("IH", data)
            if kind == NLMSG_DONE:
                return found
            parent = struct.unpack_from("I", data, 28)[0]
            at = 36
            while kind == RTM_NEWQDISC and parent == LEAF and at < length:
                size, attribute = struct.unpack_from("HH", data, at)
                if attribute == TCA_STATS:
                    sent, _, _, _, _, _, _, waiting = struct.unpack_from("QIIIIIII", data, at + 4)
                    found = waiting, sent
                at += size + 3 & ~3
            data = data[length + 3 & ~3:]


def watch():
    """In sw: samples of the queue until the end, and the mean wait in us."""
    nl = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    time.sleep(WARM / 1000)
    begin, seen = time.monotonic(), []
    first = backlog(nl)[1]
    while (now := time.monotonic()) - begin < (MS - WARM) / 1000:
        waiting, sent = backlog(nl)
        seen.append(waiting)
        time.sleep(0.0017)
    rate = (sent - first) / (now - begin)
    print(round(sum(seen) / len(seen) / rate * 1e6, 1))


def queue(scheme, params, virtual):
    """The bottleneck, with this scheme in the qdisc, or in front of it if `virtual` is not 0."""
    subprocess.run(["ip", "netns", "exec", "sw", CEMARK, "bpf", "detach", "p2"],
                   capture_output=True)
    subprocess.run("tc -n sw qdisc del dev p2 root".split(), capture_output=True)
    run("tc qdisc add dev p2 root handle 1: htb default 1", "sw")
    run(f"tc class add dev p2 parent 1: classid 1:1 htb rate {RATE}mbit burst 1600b cburst 1600b "
        "quantum 1514", "sw")
    if scheme and not virtual:
        words = " ".join(f"{key} {value}" for key, value in params.items())
        run(f"tc qdisc add dev p2 parent 1:1 cemark scheme {scheme} rate {RATE}mbit {words} "
            "limit 1514000b", "sw")
        return
    run("tc qdisc add dev p2 parent 1:1 pfifo limit 1000", "sw")
    if virtual:
        words = " ".join(f"{key}={value}" for key, value in params.items())
        run(f"{CEMARK} bpf attach p2 --rate {RATE * virtual / 100:g}Mbps scheme {scheme} {words}",
            "sw")


def measure(control, flows):
    """Goodput in Mb/s, wait in the queue in us, marked share, RTT in us."""
    env = {**os.environ, "CONTROL": control, "FLOWS": str(flows), "MS": str(MS),
           "WARM": str(WARM)}
    me, them = os.path.abspath(__file__), os.path.abspath(senders.__file__)
    start = lambda netns, *words: subprocess.Popen(
        ["ip", "netns", "exec", netns, sys.executable, *words], env=env, stdout=subprocess.PIPE,
        text=True)
    receiver = start("h2", them, "receive")
    time.sleep(0.3)
    watcher, sender = start("sw", me, "watch"), start("h1", them, "send")
    lines = sender.communicate()[0].splitlines()
    wait = float(watcher.communicate()[0])
    receiver.kill()
    receiver.wait()
    _, acked, delivered, marked, rtt = lines[-1].split()
    goodput = int(acked) * 8 / (MS - WARM) / 1000
    return goodput, wait, int(marked) / int(delivered), int(rtt)


def check(rows):
    """What has to be true of every sender, so that the command fails where the marker does not
    work."""
    wrong = []
    for who, found in rows.items():
        none = found.get("no marks")
        for what, (goodput, wait, marked, _) in found.items():
            if what == "no marks":
                continue
            if not marked:
                wrong.append(f"{who}, {what}: no packet is marked")
            if none and wait > none[1] / 10:
                wrong.append(f"{who}, {what}: the wait is more than a tenth of that without marks")
            twin = found.get(what.split(",")[0] + ", qdisc `cemark`")
            if "99 %" in what and twin and goodput < 0.9 * twin[0]:
                wrong.append(f"{who}, {what}: goodput is below 90 % of that of the qdisc")
            if "99 %" in what and twin and wait > 1.1 * twin[1]:
                wrong.append(f"{who}, {what}: the wait is more than 1.1 times that of the qdisc")
    return wrong


def main():
    run("modprobe sch_cemark" if os.environ.get("LOAD") else f"insmod {MODULE}/sch_cemark.ko")
    senders.hosts()
    rows = {}
    print(f"{RATE} Mb/s, base RTT {RTT} us, Linux {os.uname().release}")
    print("| senders | who marks | goodput, Mb/s | wait, µs | marked | RTT, µs |\n"
          "|---|---|---|---|---|---|")
    for control, flows in SENDERS:
        who = f"{flows} {control.upper()}"
        for what, scheme, virtual in WAYS:
            if ONLY and not any(word in f"{who} {what}" for word in ONLY):
                continue
            queue(scheme, SCHEMES[control].get(scheme, {}), virtual)
            found = measure(control, flows)
            rows.setdefault(who, {})[what] = found
            goodput, wait, marked, rtt = found
            print(f"| {who} | {what} | {goodput:.1f} | {wait:.0f} | {marked:.3f} | {rtt} |",
                  flush=True)
            if virtual:
                shown = json.loads(run(f"{CEMARK} bpf show p2 --format json", "sw"))
                if shown["not_writable"] or shown["beyond_limit"]:
                    raise SystemExit(f"{who}, {what}: {shown}")
    wrong = check(rows)
    print("\n".join(wrong))
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(watch() if sys.argv[1:] == ["watch"] else int(main()))
