# SPDX-License-Identifier: GPL-2.0
"""TCP flows between the two hosts, from one process, which makes each socket in its namespace."""

import random
import selectors
import socket
import struct
import time

from network import HOST, inside, run

TCP_INFO = 11
# Fields of struct tcp_info: its bytes, and the place of each.
FIELDS = {"retrans": 100, "dsack_dups": 216, "reord_seen": 220, "rcv_ooopack": 224}


def ecn(mode):
    """Whether hosts ask for ECN: 1, or 0."""
    for site in (1, 2):
        run(f"sysctl -qw net.ipv4.tcp_ecn={mode}", f"h{site}")


class Flow:
    """Endless, or of this many bytes. The receiver compares each byte with what was sent.
    `segment`: bytes of a segment at most."""

    def __init__(self, port, control="cubic", source=1, version=4, size=None, segment=None):
        family = socket.AF_INET if version == 4 else socket.AF_INET6
        target = 3 - source
        with inside(f"h{target}"):
            listener = socket.socket(family)
        with inside(f"h{source}"):
            self.sender = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST[version][target], port))
        listener.listen()
        for one in (listener, self.sender):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
            if segment:
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
        self.sender.settimeout(30)
        self.sender.connect((HOST[version][target], port))
        self.receiver, _ = listener.accept()
        listener.close()
        self.sent = 0
        self.received = 0
        self.left = size
        self.done = None
        self.error = None
        for one in (self.sender, self.receiver):
            one.setblocking(False)

    def info(self):
        """What the sender's kernel has counted."""
        raw = self.sender.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 280)
        return {name: struct.unpack_from("I", raw, at)[0] for name, at in FIELDS.items()
                if len(raw) >= at + 4}

    def close(self):
        self.sender.close()
        self.receiver.close()


# All flows send these bytes again and again.
PERIOD = 1 << 18
BYTES = random.Random(7).randbytes(PERIOD) * 2
CHUNK = memoryview(BYTES)


def drive(flows, seconds, every=0.1, tick=None):
    """Runs flows for this long, or until all have ended. Returns bytes received by each flow in
    each interval. `tick` is called after each of these."""
    watch = selectors.DefaultSelector()
    for flow in flows:
        watch.register(flow.sender, selectors.EVENT_WRITE, flow)
        watch.register(flow.receiver, selectors.EVENT_READ, flow)
    began = time.monotonic()
    rows, last, n = [], [0] * len(flows), 1
    buffer = bytearray(PERIOD)
    left = len(flows)
    while left:
        now = time.monotonic() - began
        if now >= n * every:
            rows.append([f.received - b for f, b in zip(flows, last)])
            last = [f.received for f in flows]
            n += 1
            if tick:
                tick(now)
        if now >= seconds:
            break
        for key, _ in watch.select(min(n * every, seconds) - now):
            flow = key.data
            try:
                if key.fileobj is flow.receiver:
                    got = flow.receiver.recv_into(buffer)
                    at = flow.received % PERIOD
                    if buffer[:got] != BYTES[at:at + got]:
                        raise OSError(f"other bytes than were sent, after {flow.received}")
                    flow.received += got
                    if not got:
                        watch.unregister(flow.receiver)
                        flow.done = time.monotonic() - began
                        left -= 1
                else:
                    at = flow.sent % PERIOD
                    most = PERIOD if flow.left is None else min(PERIOD, flow.left)
                    took = flow.sender.send(CHUNK[at:at + most])
                    flow.sent += took
                    if flow.left is not None:
                        flow.left -= took
                    if flow.left == 0:
                        flow.sender.shutdown(socket.SHUT_WR)
                        watch.unregister(flow.sender)
            except BlockingIOError:
                pass
            except OSError as error:
                flow.error = error
                for one in (flow.sender, flow.receiver):
                    if one in watch.get_map():
                        watch.unregister(one)
                left -= 1
    watch.close()
    return rows
