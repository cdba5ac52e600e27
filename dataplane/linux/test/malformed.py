# SPDX-License-Identifier: GPL-2.0
"""Malformed netlink messages for the qdisc: valid ones with random damage."""

import ctypes
import random
import socket
import struct

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


def option(draw):
    kind = draw.randint(0, 21)
    if kind == 2:
        payload = draw.choice(SCHEMES) + draw.choice([b"\0", b""])
    elif kind == 3:
        payload = params(draw)
    elif kind == 8:
        payload = b"".join(attribute(draw.choice([7, 7, 1]), struct.pack("=I", draw.choice(
            [0, 1, 1514, 1 << 31]))) for _ in range(draw.randint(0, 40)))
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
