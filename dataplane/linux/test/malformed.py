# SPDX-License-Identifier: GPL-2.0
"""Malformed netlink messages for the qdisc: valid ones with random damage."""

import ctypes
import random
import socket
import struct

from network import inside

NLM_F = {"request": 1, "ack": 4, "replace": 0x100, "create": 0x400}
RTM_NEWQDISC, NESTED = 36, 0x8000
SCHEMES = [b"ecn_sharp", b"red", b"tcn", b"pie", b"mq_ecn", b"cedm", b"nothing", b"", b"x" * 40]


def attribute(kind, payload):
    size = 4 + len(payload)
    return struct.pack("=HH", size, kind) + payload + b"\0" * (-size % 4)


def params(draw):
    body = b""
    for _ in range(draw.randint(0, 20)):
        name = draw.choice([b"ins_target", b"k", b"kmin", b"kmax", b"weight", b"pmax", b"zz"])
        value = draw.choice([0, 1, 1000, 65536, 1 << 31, 1 << 32, (1 << 64) - 1])
        one = attribute(2, name + b"\0") + attribute(3, struct.pack("=Q", value))
        body += attribute(draw.choice([1, 1, 1, 0, 9]) | draw.choice([0, NESTED]), one)
    return body


def own(draw):
    """What queues have of their own, with and without damage."""
    body = b""
    for _ in range(draw.choice([0, 1, 1, 2, 40])):
        one = b""
        if draw.random() < 0.9:
            one += attribute(2, struct.pack("=I", draw.choice([0, 1, 2, 3, 8, 1 << 31, 2**32 - 1])))
        for _ in range(draw.randint(0, 4)):
            kind = draw.choice([1, 3, 3, 4, 5, 6, 7])
            if kind == 3:
                payload = draw.choice([*SCHEMES, b"none", b"default"]) + draw.choice([b"\0", b""])
            elif kind == 4:
                payload = params(draw)
                kind |= draw.choice([NESTED, NESTED, 0])
            else:
                payload = draw.choice([struct.pack("=I", draw.choice([0, 1, 2, 3, 1514, 1 << 31])),
                                       struct.pack("=Q", 1), b"", b"\1"])
            one += attribute(kind, payload)
        one = one[:len(one) - draw.choice([0, 0, 0, 0, 1, 5])]
        body += attribute(draw.choice([1, 1, 1, 1, 0, 2]) | draw.choice([NESTED, NESTED, 0]), one)
    return body


def option(draw):
    kind = draw.choice([*range(22), *[20] * 5])
    if kind == 2:
        payload = draw.choice(SCHEMES) + draw.choice([b"\0", b""])
    elif kind == 3:
        payload = params(draw)
    elif kind == 8:
        payload = b"".join(attribute(draw.choice([7, 7, 1]), struct.pack("=I", draw.choice(
            [0, 1, 1514, 1 << 31]))) for _ in range(draw.randint(0, 40)))
    elif kind == 20:
        payload = own(draw)
        kind |= draw.choice([NESTED, NESTED, 0])
    elif kind == 10:
        payload = bytes(draw.randrange(80) for _ in range(draw.randint(0, 140)))
    else:
        payload = draw.choice([
            struct.pack("=I", draw.choice([0, 1, 2, 3, 5, 31, 32, 33, 1514, 1 << 31, 2**32 - 1])),
            struct.pack("=Q", draw.choice([0, 1, 7, 8, 10**9, 10**12, 2**63, 2**64 - 1])),
            b"", b"\1", b"\1\2\3",
        ])
    return attribute(kind | draw.choice([0, 0, NESTED]), payload)


def message(draw, index, number):
    body = b""
    if draw.random() < 0.9:
        body += attribute(2, draw.choice(SCHEMES[:6]) + b"\0")
    body += b"".join(option(draw) for _ in range(draw.randint(0, 6)))
    options = attribute(2 | draw.choice([NESTED, NESTED, 0]), body)
    tcm = struct.pack("=BxxxiIII", 0, index, 0x10000, 0xFFFFFFFF, 0)
    whole = bytearray(tcm + attribute(1, b"cemark\0") + options)
    if draw.random() < 0.4:
        # Damage behind the name of the qdisc, so that the message still reaches it.
        for _ in range(draw.randint(1, 6)):
            whole[draw.randrange(32, len(whole))] = draw.randrange(256)
    flags = NLM_F["request"] | NLM_F["ack"] | NLM_F["replace"] | NLM_F["create"]
    return struct.pack("=IHHII", 16 + len(whole), RTM_NEWQDISC, flags, number, 0) + bytes(whole)


def one_own(*attributes):
    return attribute(1 | NESTED, b"".join(attribute(*a) for a in attributes))


def u32(value):
    return struct.pack("=I", value)


# Entries by queue that `tc` does not send, for a port with one queue, and the answer to each.
OWN = [
    (one_own((3, b"tcn\0")), "sch_cemark: an entry by queue names no queue"),
    (one_own((2, u32(0))), "sch_cemark: an entry by queue names no queue"),
    (one_own((2, u32(1 << 31))), "sch_cemark: there is no queue 31; there are queues 0 to 0"),
    (one_own((2, u32(1)), (3, b"tcn\0"), (3, b"red\0")), "sch_cemark: queue 0 has two schemes"),
    (one_own((2, u32(1)), (3, b"tcn\0")) * 2, "sch_cemark: queue 0 has two schemes"),
    (one_own((2, u32(1)), (5, u32(0))), "sch_cemark: queue 0: its quantum is 0: 1 byte or more"),
    (one_own((2, u32(1)), (3, b"nothing\0")), "sch_cemark: no scheme has this name"),
    (attribute(2 | NESTED, b""), "Unknown attribute type"),
    (attribute(0 | NESTED, b""), "Unknown attribute type"),
    (one_own((2, u32(1)), (6, u32(3))), "integer out of range"),
    (one_own((2, u32(1)), (5, b"\1")), "invalid attribute length"),
    (one_own((2, u32(1)), (7, u32(1))), "Unknown attribute type"),
    (one_own((2, u32(1)), (4, b"")), "NLA_F_NESTED is missing"),
    (one_own((2, u32(1)), (3, b"tcn\0"), (4 | NESTED, attribute(
        1 | NESTED, attribute(2, b"kmin\0") + attribute(3, struct.pack("=Q", 1))))),
     "sch_cemark: queue 0: tcn has no parameter kmin"),
]


def refusal(device, netns, entries, _):
    """The text with which the kernel refuses these entries by queue."""
    with inside(netns), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
        index = socket.if_nametoindex(device)
        s.setsockopt(270, 11, 1)  # the text comes with the answer
        s.bind((0, 0))
        s.settimeout(10)
        tcm = struct.pack("=BxxxiIII", 0, index, 0x10000, 0xFFFFFFFF, 0)
        options = attribute(2, b"tcn\0") + attribute(20 | NESTED, entries)
        whole = tcm + attribute(1, b"cemark\0") + attribute(2 | NESTED, options)
        flags = NLM_F["request"] | NLM_F["ack"]
        s.send(struct.pack("=IHHII", 16 + len(whole), RTM_NEWQDISC, flags, 1, 0) + whole)
        answer = s.recv(65536)
    error, length = struct.unpack_from("=iI", answer, 16)
    at = 20 + (16 if struct.unpack_from("=H", answer, 6)[0] & 0x100 else length)
    while error and at < len(answer):
        size, kind = struct.unpack_from("=HH", answer, at)
        if kind == 1:
            return answer[at + 4:at + size].rstrip(b"\0").decode()
        at += size + -size % 4
    return f"error {error} without a text"


def first_of_dump(netns):
    """Bytes of the first message of a dump of qdiscs that begins a socket; 0: it has no qdisc."""
    with inside(netns), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
        s.bind((0, 0))
        s.settimeout(10)
        s.send(struct.pack("=IHHII", 36, 38, 0x301, 1, 0) + bytes(20))
        length, kind = struct.unpack_from("=IH", s.recv(65536))
    return length if kind == RTM_NEWQDISC else 0


def storm(device, netns, count):
    """Sends the messages. Returns their number and that of the errors."""
    draw, errors = random.Random(1), 0
    with open(f"/run/netns/{netns}") as f:
        if ctypes.CDLL(None, use_errno=True).setns(f.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), "setns")
    index = socket.if_nametoindex(device)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
        s.bind((0, 0))
        s.settimeout(10)
        for number in range(1, count + 1):
            s.send(message(draw, index, number))
            while True:
                answer = s.recv(65536)
                kind, _, sequence = struct.unpack_from("=HHI", answer, 4)
                if kind == 2 and sequence == number:
                    break
            errors += struct.unpack_from("=i", answer, 16)[0] != 0
    return count, errors
