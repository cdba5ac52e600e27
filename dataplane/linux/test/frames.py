# SPDX-License-Identifier: GPL-2.0
"""Frames that a bridge forwards and floods: with VLAN tags, with shared data, and with headers that
are not what they say. A mark changes the ECN field and the checksum of the IP header, in one copy,
and nothing else."""

import json
import socket
import struct
import threading
import time

from network import check, inside, run, tc

TAGS = ["", "8100", "8100 8100", "88a8 8100", "8100 8100 8100"]
EACH = 20


def checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(ecn, version=4):
    header = bytearray(struct.pack("!BBHHHBBHII", version << 4 | 5, 46 << 2 | ecn, 78, 1, 0, 64, 17,
                                   0, 0x0A070102, 0x0A070109))
    header[10:12] = struct.pack("!H", checksum(header))
    return bytes(header) + struct.pack("!HHHH", 9, 9, 58, 0) + b"x" * 50


def ipv6(ecn):
    return struct.pack("!IHBB", 6 << 28 | (46 << 2 | ecn) << 20, 58, 17, 64) + bytes(32) + \
        struct.pack("!HHHH", 9, 9, 58, 0) + b"x" * 50


def ethernet(tags, kind, payload):
    """To all, so that a bridge floods it: each port has a copy with the same data."""
    stack = b"".join(struct.pack("!HH", int(tag, 16), 100 + i) for i, tag in
                     enumerate(tags.split()))
    return b"\xff" * 6 + b"\2\0\0\0\0\1" + stack + struct.pack("!H", kind) + payload


def cases():
    """Frames as they are sent and as a port that marks each packet sends them on."""
    for tags in TAGS:
        for kind, packet in ((0x800, ipv4), (0x86DD, ipv6)):
            for ecn in (0, 1, 2, 3):
                yield ethernet(tags, kind, packet(ecn)), ethernet(tags, kind,
                                                                  packet(3 if ecn else 0))
    for tags in TAGS:
        # A header that its type does not announce, and frames that end inside of it.
        odd = [(0x800, ipv4(2, version=7)), (0x800, ipv6(2)), (0x86DD, ipv4(2)),
               (0x800, ipv4(2)[:12]), (0x86DD, ipv6(2)[:30]), (0x806, ipv4(2))]
        for kind, payload in odd:
            frame = ethernet(tags, kind, payload)
            yield frame, frame


def listen(netns, found):
    """Collects the frames that arrive, with the tag that the kernel has taken off."""
    with inside(netns), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as s:
        s.bind(("eth1", 0))
        s.setsockopt(263, 8, 1)
        s.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)
        s.settimeout(0.5)
        try:
            while True:
                frame, said, _, sender = s.recvmsg(65536, 256)
                if sender[2] == 4 or frame[6:12] != b"\2\0\0\0\0\1":
                    continue
                status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", said[0][2][:20])
                if status & 0x10:
                    frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
                found.append(frame)
        except TimeoutError:
            return


def frames():
    run("ip link add name br0 type bridge")
    run("ip link set br0 up")
    for i in (1, 2, 3):
        run(f"ip link add b{i} netns sw type veth peer name eth1 netns h{i}", netns=None)
        run(f"ip link set b{i} master br0")
        run(f"ip link set b{i} up")
        run(f"ip -n h{i} link set eth1 up", netns=None)
    # Each packet is marked here, and none at the port to h2.
    tc("qdisc add dev b3 root handle 1: cemark scheme threshold k 0 queues 4")
    sent = list(cases()) * EACH
    arrived = {host: [] for host in ("h2", "h3")}
    threads = [threading.Thread(target=listen, args=one) for one in arrived.items()]
    [t.start() for t in threads]
    time.sleep(0.2)
    with inside("h1"), socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind(("eth1", 0))
        for frame, _ in sent:
            s.send(frame)
    [t.join() for t in threads]
    one = json.loads(tc("-s -j qdisc show dev b3").stdout)[0]
    run("ip link del br0")
    [run(f"ip link del b{i}") for i in (1, 2, 3)]
    for host, wanted, what in (("h2", [f for f, _ in sent], "as they were sent"),
                               ("h3", [f for _, f in sent], "with marks where IP allows them")):
        wrong = [(f"{g.hex()} for {w.hex()}") for g, w in zip(arrived[host], wanted) if g != w]
        check(f"flooded frames at {host}", not wrong and len(arrived[host]) == len(wanted),
              wrong[0] if wrong else f"{len(arrived[host])} of {len(wanted)} {what}, with "
              f"{len(TAGS)} stacks of tags")
    marks = sum(one["mark_reasons"].values())
    # Those of IPv4 and IPv6 with three of the four ECN fields, and no others, which hosts may send.
    check("marks of frames", marks == len(TAGS) * 2 * 3 * EACH and one["memory_now"] == 0,
          f"{marks} marked, {one['not_ect_sent']} not ECN-capable")
