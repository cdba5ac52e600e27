#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Linux's senders over one marking queue: `uml.sh uml senders.py [NAME=VALUE]...`.

CONTROL (dctcp), FLOWS (1), RATE in Mb/s (200), RTT in us (1000), T: the threshold of TCN in us
(240), MS: virtual milliseconds (2000), of which the first WARM (500) are not counted. BYTES: each
flow sends so much, all at once, REPEAT times (an incast), into LIMIT packets; 0: flows are endless.
EARLY: sysctl tcp_early_retrans (0: no tail loss probes). OFFLOADS=1: TSO, GSO and GRO. SAMPLES=1
prints the state of each sender in every millisecond: ms, flow, window, in flight, alpha of 1024,
delivered, delivered with CE. Of an incast it prints sums over all flows, as flow 0, in tenths of a
millisecond.

The last line is a summary in JSON: goodput in Mb/s, the mean wait in the queue in us, the share of
packets marked, and for an incast the mean time in ms until the last flow has ended."""

import json
import os
import selectors
import shutil
import socket
import struct
import subprocess
import sys
import time

MODULE = os.environ.get("MODULE", "")
CONTROL = os.environ.get("CONTROL", "dctcp")
FLOWS = int(os.environ.get("FLOWS", "1"))
RATE = int(os.environ.get("RATE", "200"))
RTT = int(os.environ.get("RTT", "1000"))
T = int(os.environ.get("T", "240"))
MS = int(os.environ.get("MS", "2000"))
WARM = int(os.environ.get("WARM", "500"))
BYTES = int(os.environ.get("BYTES", "0"))
REPEAT = int(os.environ.get("REPEAT", "5"))
LIMIT = int(os.environ.get("LIMIT", "1000"))
EARLY = os.environ.get("EARLY", "3")
SAMPLES = os.environ.get("SAMPLES") == "1"
OFFLOADS = os.environ.get("OFFLOADS") == "1"

TCP_INFO, TCP_CC_INFO, TCP_CONGESTION = 11, 26, 13
PORT = 5201


def run(line, netns=None):
    words = line.split()
    if netns:
        words = ["ip", "netns", "exec", netns, *words]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{line}: {done.stderr or done.stdout}")
    return done.stdout


def hosts():
    """h1 sends to h2 through the switch sw. The round trip is that of the ACKs."""
    run("ip netns add sw")
    run("sysctl -qw net.ipv4.ip_forward=1", "sw")
    for i in (1, 2):
        run(f"ip netns add h{i}")
        run(f"ip link add p{i} netns sw type veth peer name eth0 netns h{i}")
        run(f"ip -n sw addr add 10.7.{i}.1/24 dev p{i}")
        run(f"ip -n h{i} addr add 10.7.{i}.2/24 dev eth0")
        run(f"ip -n sw link set p{i} up")
        run(f"ip -n h{i} link set eth0 up" + ("" if OFFLOADS else " gso_max_segs 1"))
        run(f"ip -n h{i} route add default via 10.7.{i}.1")
        for setting in ("tcp_ecn=1", "tcp_no_metrics_save=1", f"tcp_early_retrans={EARLY}"):
            run(f"sysctl -qw net.ipv4.{setting}", f"h{i}")
        # Without it `gso_max_segs` has to do: it keeps TCP from making longer packets.
        if not OFFLOADS and shutil.which("ethtool"):
            run("ethtool -K eth0 tso off gso off gro off", f"h{i}")
            run(f"ethtool -K p{i} tso off gso off gro off", "sw")
    run(f"tc qdisc add dev eth0 root netem delay {RTT}us limit 100000", "h2")


def network():
    """The hosts, and the queue between them."""
    run(f"insmod {MODULE}/sch_cemark.ko")
    hosts()
    run(f"tc qdisc add dev p2 root cemark scheme tcn threshold {T}us rate {RATE}mbit "
        f"shaper 100% burst 1514b limit {LIMIT * 1514}b", "sw")


def queue():
    found = json.loads(run("tc -s -j qdisc show dev p2", "sw"))
    return next(one for one in found if one["kind"] == "cemark")


def receive():
    """In h2: takes everything, and closes when the sender does."""
    listener = socket.create_server(("10.7.2.2", PORT), backlog=1000)
    # It decides whether SYN-ACKs and ACKs are ECN-capable.
    listener.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, CONTROL.encode())
    watch = selectors.DefaultSelector()
    listener.setblocking(False)
    watch.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in watch.select():
            if key.fileobj is listener:
                peer, _ = listener.accept()
                watch.register(peer, selectors.EVENT_READ)
            elif not key.fileobj.recv(1 << 20):
                watch.unregister(key.fileobj)
                key.fileobj.close()


def connect(nonblocking=True):
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, CONTROL.encode())
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.setblocking(not nonblocking)
    s.connect_ex(("10.7.2.2", PORT))
    return s


def sample(s):
    """Window, packets in flight, alpha, delivered, delivered with CE, bytes acknowledged, and the
    smoothed round-trip time in us: what `ss -ti` shows."""
    info = s.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 240)
    word = lambda at: struct.unpack_from("I", info, at)[0]
    alpha = 0
    if CONTROL == "dctcp":
        cc = s.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 16)
        alpha = struct.unpack_from("I", cc, 4)[0] if len(cc) >= 8 else 0
    in_flight = word(24) - word(28) - word(32) + word(36)
    acked = struct.unpack_from("Q", info, 120)[0]
    return word(80), in_flight, alpha, word(192), word(196), acked, word(68)


def totals(flows):
    """Sums over all flows: bytes acknowledged, segments delivered, those of them with CE."""
    seen = [sample(s) for s in flows]
    return [sum(one[i] for one in seen) for i in (5, 3, 4)]


def endless():
    """In h1: flows without end, staggered by 20 ms. Prints what came after WARM: bytes
    acknowledged, segments delivered, those with CE, and the mean of the round-trip times."""
    watch = selectors.DefaultSelector()
    flows, piece = [], bytes(1 << 16)
    start = time.monotonic()
    begun, tick, rtts = None, 0, []
    while tick < MS:
        if len(flows) < FLOWS and tick >= 20 * len(flows):
            s = connect()
            watch.register(s, selectors.EVENT_WRITE)
            flows.append(s)
        wait = start + (tick + 1) / 1000 - time.monotonic()
        for key, _ in watch.select(max(wait, 0.0)):
            try:
                key.fileobj.send(piece)
            except BlockingIOError:
                pass
        if time.monotonic() - start < (tick + 1) / 1000:
            continue
        tick += 1
        if SAMPLES:
            for i, s in enumerate(flows):
                print(tick, i, *sample(s)[:5], flush=False)
        if tick == WARM:
            begun = totals(flows)
            print("@warm", flush=True)
        if tick > WARM and tick % 10 == 0:
            rtts += [sample(s)[6] for s in flows]
    done = [b - a for a, b in zip(begun, totals(flows))]
    print("@done", *done, round(sum(rtts) / len(rtts)), flush=True)


def print_sums(since, seen):
    """Of all flows as one: in tenths of a millisecond, sums of what `sample` returns."""
    window, in_flight, marked = (sum(one[i] for one in seen) for i in (0, 1, 4))
    # Not the kernel's count of segments, which has SYNs and what SACKs reported.
    acked = sum(-(-one[5] // 1448) for one in seen)
    print(int(since * 10_000), 0, window, in_flight, 0, acked, marked)


def incast():
    """In h1: all flows begin at once, REPEAT times, on fresh connections."""
    times = []
    for _ in range(REPEAT):
        flows = [connect(nonblocking=False) for _ in range(FLOWS)]
        time.sleep(0.5)
        start = time.monotonic()
        for s in flows:
            s.sendall(bytes(BYTES))
        left = list(flows)
        while left:
            # Nothing is in flight when everything is acknowledged.
            seen = {s: sample(s) for s in flows}
            left = [s for s in left if seen[s][5] < BYTES]
            if SAMPLES:
                print_sums(time.monotonic() - start, list(seen.values()))
            if left:
                time.sleep(0.0002)
        times.append((time.monotonic() - start) * 1000)
        for s in flows:
            s.close()
        time.sleep(0.5)
    print("@done", sum(times) / len(times), " ".join(f"{t:.1f}" for t in times), flush=True)


def main():
    network()
    me = os.path.abspath(__file__)
    receiver = subprocess.Popen(["ip", "netns", "exec", "h2", sys.executable, me, "receive"])
    time.sleep(0.2)
    sender = subprocess.Popen(["ip", "netns", "exec", "h1", sys.executable, me, "send"],
                              stdout=subprocess.PIPE, text=True)
    before, answer = queue(), {"control": CONTROL, "flows": FLOWS, "rtt_us": RTT, "t_us": T}
    for line in sender.stdout:
        words = line.split()
        if words[0] == "@warm":
            before = queue()
        elif words[0] == "@done" and BYTES:
            answer.update(last_ms=round(float(words[1]), 1), each_ms=words[2:])
        elif words[0] == "@done":
            answer["goodput_mbps"] = round(int(words[1]) * 8 / (MS - WARM) / 1000, 1)
        else:
            print(line, end="")
    after = queue()
    sent = max(after["packets_sent"] - before["packets_sent"], 1)
    marks = sum(after["mark_reasons"].values()) - sum(before["mark_reasons"].values())
    answer["wait_us"] = round((after["waited_ns"] - before["waited_ns"]) / sent / 1000, 1)
    answer["marked"] = round(marks / sent, 3)
    answer["drops"] = after["drop_reasons"]["limit"] - before["drop_reasons"]["limit"]
    print(json.dumps(answer))
    receiver.kill()
    return sender.wait()


if __name__ == "__main__":
    role = sys.argv[1] if len(sys.argv) > 1 else ""
    if role == "receive":
        receive()
    elif role == "send":
        incast() if BYTES else endless()
    else:
        sys.exit(main())
