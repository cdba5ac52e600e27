# SPDX-License-Identifier: GPL-2.0
"""Checks of port.py, one for each kind of fault that counters, changes, devices and frames have
had."""

import json
import time

import frames
import malformed
from network import PORT, check, flow, goodput, python, run, show, tc

SENDER = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(0, 1, {tos})
for i in range({count}):
    s.sendto(b'x' * {size}, ('10.7.3.2', 9))
"""
LOOP = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('127.0.0.1', 99))
s.settimeout(5)
s.sendto(bytes(30000), ('127.0.0.1', 99))
assert len(s.recv(65536)) == 30000
"""
# A packet of 4000 bytes that the device is to split, with an IP header that says it has 8 bytes.
UNSPLIT = """
import socket, struct
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('p3', 0))
s.setsockopt(263, 15, 1)
ip = struct.pack('!BBHHHBBHII', 0x42, 2, 3986, 1, 0, 64, 6, 0, 0x0a070301, 0x0a070302)
tcp = struct.pack('!HHIIBBHHH', 9, 9, 1, 1, 0x50, 16, 100, 0, 0)
frame = b'\\2' * 12 + b'\\x08\\0' + ip + tcp + bytes(3946)
for i in range(10):
    try:
        s.send(struct.pack('=BBHHHH', 1, 1, 54, 1000, 34, 16) + frame)
    except OSError:
        pass
"""
# A tap whose link becomes slower while it is up, as one that negotiates its speed again.
TAP = """
import fcntl, socket, struct, subprocess, time
def speed(megabits):
    # 65535: unknown, in both halves.
    command = struct.pack('=IIIHBBBBBBIIHBBIII', 2, 0, 0, megabits, 1, 0, 0, 0, 0, 0, 0, 0,
                          65535 * (megabits == 65535), 0, 0, 0, 0, 0)
    memory = ctypes.create_string_buffer(command)
    request = struct.pack('16sP', b'tap0', ctypes.addressof(memory))
    fcntl.ioctl(socket.socket(), 0x8946, request)
def shown():
    text = subprocess.run('tc -s -j qdisc show dev tap0'.split(), capture_output=True).stdout
    print(json.loads(text)[0]['rate_now'])
import ctypes, json
tap = open('/dev/net/tun', 'r+b', buffering=0)
fcntl.ioctl(tap, 0x400454ca, struct.pack('16sH22x', b'tap0', 0x1002))
speed(10000)
subprocess.run('ip link set tap0 up'.split(), check=True)
subprocess.run('tc qdisc replace dev tap0 root cemark scheme mq_ecn queues 2'.split(), check=True)
shown()
speed(1000)
for carrier in (0, 1):
    fcntl.ioctl(tap, 0x400454e2, struct.pack('=i', carrier))
    time.sleep(1.5)
shown()
speed(65535)
fcntl.ioctl(tap, 0x400454e2, struct.pack('=i', 0))
time.sleep(1.5)
shown()
"""


def fresh(options, dev=PORT):
    """A new qdisc with these options, whose counters are 0."""
    tc(f"qdisc del dev {dev} root", check=False)
    tc(f"qdisc add dev {dev} root handle 1: cemark {options}")


def send(count, size, tos=2, host="h1"):
    python(host, SENDER.format(count=count, size=size, tos=tos))


def shown(dev):
    return json.loads(tc(f"-s -j qdisc show dev {dev}").stdout)[0]


def reasons(one):
    return sum(one["drop_reasons"].values())


def stalls():
    """A change to a faster rate takes effect at once, whatever is owed at the old one."""
    waits = []
    for slow, fast in [("rate 1mbit shaper burst 1000000", "rate 100mbit burst 1"),
                       ("rate 64kbit shaper", "rate 100mbit"),
                       ("rate 8bit shaper burst 100000", "rate 1gbit burst 1"),
                       ("rate 8bit shaper", "shaper off")]:
        fresh("scheme tcn limit 4mb " + slow)
        send(60, 1400)
        before = shown(PORT)["qlen"]
        tc(f"qdisc change dev {PORT} root cemark {fast}")
        send(1, 1400)
        began = time.monotonic()
        while shown(PORT)["qlen"] and time.monotonic() < began + 5:
            time.sleep(0.001)
        waits.append((before, time.monotonic() - began))
    check("changes to a faster rate", all(t < 0.02 for _, t in waits),
          ", ".join(f"{n} and one more have left after {t * 1000:.0f} ms" for n, t in waits))


def counters():
    """No counter of the port becomes less when queues are removed, and reasons are all drops."""
    fresh("scheme threshold k 0 rate 10mbit shaper queues 8 scheduler dwrr limit 20kb")
    send(50, 800, tos=7 * 4 + 2)
    time.sleep(0.1)
    send(50, 800, tos=5 * 4)
    time.sleep(0.2)
    before = show()[0]
    tc(f"qdisc change dev {PORT} root cemark queues 2")
    after = show()[0]
    keys = ["packets_sent", "bytes_sent", "waited_ns", "not_ect_sent", "packets", "drops"]
    lost = [key for key in keys if before[key] != after[key] or not before[key]]
    for nest in ("mark_reasons", "drop_reasons"):
        lost += [nest] if before[nest] != after[nest] or not sum(before[nest].values()) else []
    check("counters when queues are removed", not lost and reasons(after) == after["drops"],
          f"{after['packets_sent']} packets, {sum(after['mark_reasons'].values())} marks, "
          f"{after['drops']} drops before and after; less: {lost}")


def large_dumps():
    """Each qdisc of a dump in many parts has its queues, and so has the first, with the longest
    options."""
    tc(f"qdisc del dev {PORT} root", check=False)
    longest = "map " + " ".join(f"{value}:{31 - value % 32}" for value in range(64))
    longest = f"cemark scheme ecn_sharp queues 32 scheduler wrr {longest}"
    found = []
    for queues, root in ((1, longest), (64, "mq")):
        run(f"ip link add big numtxqueues {queues} type veth peer name bigp numrxqueues {queues}")
        run("ip link set big up")
        tc(f"qdisc replace dev big root handle 1: {root}")
        for i in range(1, queues + 1 if root == "mq" else 0):
            tc(f"qdisc add dev big parent 1:{i:x} cemark scheme pie queues 8")
        every = json.loads(tc("-s -j qdisc show dev big").stdout)
        found += [len(q["by_queue"]) for q in every if q["kind"] == "cemark"]
        run("ip link del big")
    check("statistics in large dumps", found == [8] * 65,
          f"{len(found)} qdiscs, queues of each: {sorted(set(found))}")
    # The first message of a dump is the shortest: here with all that the options may be.
    run("ip netns add lone", netns=None)
    own = " ".join(f"queue {i} scheme tcn threshold {i + 1}us" for i in range(32))
    run(f"tc qdisc add dev lo root handle 1: {longest} scheme cedm {own}", netns="lone")
    first = json.loads(run("tc -s -j qdisc show", netns="lone").stdout)[0]
    told = [one["parameters"]["threshold"] for one in first["options"]["own"]]
    length = malformed.first_of_dump("lone")
    whole = told == [(i + 1) * 1000 for i in range(32)] and len(first["options"]["map"]) > 60
    check("the longest options", 2500 < length < 4096 and whole and "packets_sent" in first,
          f"32 queues with parameters of their own, {length} bytes in the first message")
    run("ip netns del lone", netns=None)
    fresh("scheme tcn queues 32")
    tc(f"filter add dev {PORT} parent 1: protocol ip u32 match ip dport 9 0xffff flowid 1:20")
    send(5, 100)
    time.sleep(0.1)
    text = tc(f"-s class show dev {PORT}").stdout
    sent = text.split("class cemark 1:20 ")[1].split("Sent ")[1].split(" (")[0]
    check("classes", text.count("Sent ") == 32 and sent == "710 bytes 5 pkt",
          f"32 lines of what was sent; the last: {sent}")


def odd_devices():
    """Defaults of devices with MTUs that no link has are neither 0 nor wrapped around."""
    run("ip link set lo mtu 4294968")
    fresh("scheme mq_ecn queues 2", "lo")
    one = shown("lo")["options"]
    python("sw", LOOP)
    tc("qdisc del dev lo root")
    run("ip link set lo mtu 65536")
    check("an MTU of 4294968", one["limit"] == 2**32 - 1 and one["quanta"][0] == 4294982,
          f"limit {one['limit']}, quanta {one['quanta']}, a packet crosses")
    run("ip link add wg0 type wireguard")
    run("ip link set wg0 mtu 0")
    run("ip link set wg0 up")
    fresh("scheme mq_ecn queues 2", "wg0")
    one = shown("wg0")["options"]
    python("sw", "import socket\ns = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)\n"
           "s.sendto(b'E' + bytes(99), ('wg0', 0x800))", check=False)
    run("ip link set wg0 mtu 1420")
    python("sw", "import socket\ns = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)\n"
           "for i in range(3):\n s.sendto(b'E' + bytes(99), ('wg0', 0x800))")
    then = shown("wg0")
    run("ip link del wg0")
    check("an MTU of 0", one["quanta"] == [256, 256] and one["limit"] == 256000
          and then["options"]["quanta"] == [1420, 1420] and then["packets_sent"] >= 3,
          f"quanta {one['quanta']}, limit {one['limit']}; at an MTU of 1420 "
          f"{then['options']['quanta']}, {then['packets_sent']} packets sent")


def follows():
    """Defaults follow the MTU and the link; what the user has set does not."""
    run("ip link add d0 type dummy")
    run("ip link set d0 up")
    fresh("scheme mq_ecn queues 2", "d0")
    fixed = "quanta 3000 6000 limit 100000 memory 300000"
    seen = []
    for options in ("", fixed):
        tc(f"qdisc change dev d0 root cemark scheme mq_ecn {options}")
        for mtu in (9000, 1500):
            run(f"ip link set d0 mtu {mtu}")
            one = shown("d0")["options"]
            seen.append((*one["quanta"], one["limit"], one["memory"]))
    run("ip link del d0")
    check("changes of the MTU", seen == [
        (9014, 9014, 9014000, 36056000), (1514, 1514, 1514000, 6056000),
        (3000, 6000, 100000, 300000), (3000, 6000, 100000, 300000)],
        f"quanta, limit, memory at 9000 and 1500: {seen[:2]}; set by the user: {seen[2]}")
    run("modprobe tun", check=False)
    rates = python("sw", TAP).stdout.split()
    check("a link of another speed", rates == ["10000000000", "1000000000", "1000000000"],
          f"rate in bit/s: {', then '.join(rates)} when it is down")


def received():
    return int(run("cat /sys/class/net/eth0/statistics/rx_packets", netns="h3").stdout)


def trains():
    """Packets that stay whole count as those of the wire, and one that cannot be split has a
    reason."""
    said = []
    for gso in ("split", "keep"):
        fresh(f"scheme tcn threshold 200us rate 100mbit shaper gso {gso}")
        before = received()
        goodput(flow("h1", 1))
        one = show()[0]
        arrived = received() - before
        marks = sum(one["mark_reasons"].values())
        said.append(f"{gso}: {one['packets_sent']} sent in {arrived}, {marks} marks")
        if one["packets"] != one["packets_sent"] or not 0 < marks <= one["packets_sent"] or \
                (gso == "split" and abs(arrived - one["packets_sent"]) > 5):
            check("segments", False, f"{said[-1]}; {one['packets']} by tc's count")
    check("segments", True, "; ".join(said))
    fresh("scheme tcn")
    python("sw", UNSPLIT)
    one = show()[0]
    # Linux 6.19 and newer count the four packets of the wire that each would be.
    check("packets that cannot be split", one["drop_reasons"]["split"] in (10, 40)
          and one["drops"] == reasons(one), f"{one['drop_reasons']}")
    tc(f"filter add dev {PORT} parent 1: protocol ip matchall action skbedit priority 1 drop")
    send(7, 100)
    one = show()[0]
    check("packets that a filter drops", one["drop_reasons"]["filter"] == 7
          and reasons(one) == one["drops"], f"{one['drop_reasons']}")


def memory():
    """Small packets are refused before they take more memory than they may."""
    fresh("scheme tcn rate 1mbit shaper limit 10mb memory 200kb")
    send(2000, 10)
    one = show()[0]
    check("memory", one["drop_reasons"]["memory"] > 1000 and not one["drop_reasons"]["limit"]
          and 150_000 < one["memory_now"] <= 204_800 and one["drops"] == reasons(one),
          f"{one['qlen']} packets and {one['memory_now']} bytes of memory wait, "
          f"{one['drop_reasons']['memory']} refused")
    tc(f"qdisc change dev {PORT} root cemark scheme tcn rate 1gbit memory 400kb")
    time.sleep(0.1)
    one = show()[0]
    check("memory of an empty queue", one["memory_now"] == 0 and one["qlen"] == 0, "0 bytes")
    fresh("scheme tcn limit 4294967295")
    one = show()[0]["options"]
    check("memory by default", one["memory"] == 128 << 20, f"{one['memory']} bytes at most")


CHECKS = [stalls, counters, large_dumps, odd_devices, follows, trains, memory, frames.frames]
