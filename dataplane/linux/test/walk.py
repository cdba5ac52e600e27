#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What any local user may do with the qdisc, in a test kernel: `uml.sh uml-debug walk.py`. A user
without privileges makes devices in namespaces of its own, with MTUs that no link has, puts the
qdisc on them with each scheme and scheduler, also with schemes of their own for queues, sends
packets, and changes MTU, settings and the schemes of queues while they wait. PART: one of PART
combinations is tried (1). The kernel has to survive it without a line in its log, and no value in
force may be 0."""

import ctypes
import fcntl
import itertools
import json
import os
import random
import shutil
import socket
import struct
import subprocess
import sys

DEVICES = ["wireguard", "dummy", "lo", "veth", "vlan"]
MTUS = [0, 68, 65535, 4294968]
SCHEMES = ["threshold", "red", "tcn", "codel", "ecn_sharp", "mq_ecn", "cedm", "dynamic", "pie",
           "pi", "cedm_sharp", "wred"]
SCHEDULERS = ["scheduler fifo", "scheduler dwrr queues 3", "scheduler wrr queues 32 strict 2",
              "scheduler sp queues 2"]
# One of each follows the number of the combination, so that all of them meet.
RATES = ["", "rate 8bit", "rate 10mbit shaper", "rate 8bit shaper", "rate 400gbit shaper 0.0001%",
         "rate 1000tbit shaper", "rate 1000tbit", "shaper burst 1"]
LIMITS = ["", "", "limit 4294967295", "limit 1", "memory 1", "memory 4294967295 limit 1000000"]
OTHERS = ["", "gso keep", "not_ect drop", "round_idle 1ns", "by priority", "quantum 1",
          "quantum 4294967295"]
# What queues have of their own: {} is a scheme.
OWN = ["", "queue 0 none", "queue 1 scheme {}", "queue 1 scheme {} quantum 1 queue 0 none",
       "queue 0 scheme {} not_ect drop", "queue 1 not_ect drop queue 0 scheme {} quantum 65535"]
# Changes while packets wait.
CHANGES = ["queue 0 none", "queue 1 scheme {}", "queue 0 scheme {} queue 1 default",
           "queue 0 default queue 1 none", "scheme {}", "not_ect forward queue 1 scheme {}",
           "queue 1 quantum 9000", "queues 2", "", "queue 0 scheme {} not_ect drop"]
MAKE = {"wireguard": "dev0 type wireguard", "dummy": "dev0 type dummy",
        "veth": "dev0 type veth peer name dev1", "vlan": "link base name dev0 type vlan id 5"}


def command(line):
    done = subprocess.run(line.split(), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{line}: {done.stderr}")
    return done


def packets():
    """ECN-capable and not, of IPv4 and IPv6, short and long, and of no protocol."""
    for size in (0, 80, 1300, 9000):
        for ecn in (0, 2):
            yield 0x800, struct.pack("!BBHHHBBHII", 0x45, ecn, 20 + size, 1, 0, 64, 17, 0,
                                     0x0A090901, 0x0A090902) + bytes(size)
            yield 0x86DD, struct.pack("!IHBB", 6 << 28 | ecn << 20, size, 59, 64) + bytes(32 + size)
    yield 0x88B5, bytes(60)


def send(sender, dev):
    """How many were taken: a packet longer than the MTU is refused before it reaches the qdisc."""
    taken = 0
    for kind, packet in packets():
        for priority in (0, 1):
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, priority)
            try:
                sender.sendto(packet, (dev, kind, 0, 0, b"\2\0\0\0\0\1"))
                taken += 1
            except OSError:
                pass
    return taken


def set_mtu(dev, mtu):
    """Whether the device takes it. A program for each change would take most of the time."""
    try:
        with socket.socket() as s:
            fcntl.ioctl(s, 0x8922, struct.pack("16si12x", dev.encode(), mtu))
    except OSError:
        return False
    return True


def values(dev):
    """Those in force, all of them."""
    one = json.loads(command(f"tc -s -j qdisc show dev {dev} root").stdout)[0]
    options = one["options"]
    return [one["rate_now"], options["limit"], options["memory"], *options.get("quanta", [1])]


def drawn(draw, texts, scheduler):
    """One of the texts with a scheme in it; "" if the scheduler has one queue."""
    return draw.choice(texts).format(draw.choice(SCHEMES)) if "queues" in scheduler else ""


def attempt(number, sender, dev, mtu, scheme, scheduler):
    """Attaches at one MTU and sends, there and at others. Returns how many packets were taken."""
    draw = random.Random(number)
    options = " ".join([f"scheme {scheme}", scheduler, RATES[number % len(RATES)],
                        LIMITS[number % len(LIMITS)], OTHERS[number % len(OTHERS)],
                        drawn(draw, OWN, scheduler)])
    command(f"tc qdisc add dev {dev} root cemark {options}")
    taken = send(sender, dev)
    for then in (1500, mtu):
        set_mtu(dev, then)
        change = drawn(draw, CHANGES, scheduler)
        if change:
            command(f"tc qdisc change dev {dev} root cemark {change}")
            options += f", then {change}"
        taken += send(sender, dev)
    if not all(values(dev)):
        raise SystemExit(f"{dev}, MTU {mtu}, {options}: in force {values(dev)}")
    command(f"tc qdisc change dev {dev} root cemark rate 1gbit shaper off")
    set_mtu(dev, 1500)
    taken += send(sender, dev)
    if not all(values(dev)):
        raise SystemExit(f"{dev}, MTU {mtu}, then 1500, {options}: in force {values(dev)}")
    command(f"tc qdisc del dev {dev} root")
    set_mtu(dev, mtu)
    return taken


def without_privileges():
    """From here on: user 65534, who is root in namespaces of its own."""
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(4, 1, 0, 0, 0)  # it may write its own maps
    if libc.unshare(0x10000000 | 0x40000000):
        raise OSError(ctypes.get_errno(), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", "0 65534 1"), ("gid_map", "0 65534 1")):
        with open(f"/proc/self/{name}", "w") as f:
            f.write(text)


def walk(part):
    draw = random.Random(1)
    every = list(itertools.product(DEVICES, MTUS, SCHEMES, SCHEDULERS))
    chosen = set(draw.sample(range(len(every)), len(every) // part))
    command("ip link set lo up")
    command("ip link add base mtu 10000000 type dummy")
    command("ip link set base up")
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
    tried = taken = 0
    refused = []
    for kind, group in itertools.groupby(enumerate(every), lambda one: one[1][:2]):
        device, mtu = kind
        dev = "lo" if device == "lo" else "dev0"
        if device != "lo":
            command("ip link add " + MAKE[device])
            command(f"ip link set {dev} up")
        if not set_mtu(dev, mtu):
            refused.append(f"{device} {mtu}")
        else:
            for number, (_, _, scheme, scheduler) in group:
                if number in chosen:
                    taken += attempt(number, sender, dev, mtu, scheme, scheduler)
                    tried += 1
        if device != "lo":
            command(f"ip link del {dev}")
    print(f"{tried} combinations of device, MTU, scheme and scheduler, {taken} packets; no such "
          f"MTU: {', '.join(refused)}", flush=True)
    if tried < len(chosen) // 2 or taken < 50 * tried:
        raise SystemExit("that is less than was to be tried")


def main():
    command("dmesg -c")
    for line in os.environ.get("LOAD", f"insmod {os.environ['MODULE']}/sch_cemark.ko").split(";"):
        command(line)
    # The user may not read the folder in which they are.
    if "TC_LIB_DIR" in os.environ:
        shutil.copytree(os.environ["TC_LIB_DIR"], "/run/tc")
        os.environ["TC_LIB_DIR"] = "/run/tc"
    child = os.fork()
    if not child:
        try:
            without_privileges()
            walk(int(os.environ.get("PART", "1")))
        except BaseException as e:
            print(f"WRONG {e!r}", flush=True)
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = [line for line in command("dmesg").stdout.splitlines()
            if not any(known in line for known in
                       ("out-of-tree module", "module verification failed", "wireguard: ",
                        "link becomes ready", ": mtu less than", ": mtu greater than"))]
    print("WRONG" if said else "ok  ", "kernel log:", "\n".join(said) or "no line", flush=True)
    return bool(said) or status


if __name__ == "__main__":
    sys.exit(main())
