# SPDX-License-Identifier: GPL-2.0
"""Hosts and a switch in a test kernel, and what its checks share."""

import contextlib
import ctypes
import itertools
import json
import os
import subprocess
import sys
import time

MODULE = os.environ["MODULE"]
PORT = "p3"


def run(line, check=True, netns="sw"):
    words = line.split()
    if netns:
        words = ["ip", "netns", "exec", netns, *words]
    done = subprocess.run(words, capture_output=True, text=True)
    if check and done.returncode:
        raise SystemExit(f"{line}: {done.stderr or done.stdout}")
    return done


def python(netns, code, check=True):
    """Runs a script in a namespace."""
    done = subprocess.run(["ip", "netns", "exec", netns, "python3", "-c", code],
                          capture_output=True, text=True)
    if check and done.returncode:
        raise SystemExit(f"python3: {done.stderr}")
    return done


@contextlib.contextmanager
def inside(netns):
    """This thread in a namespace, for the sockets that it makes."""
    setns = ctypes.CDLL(None, use_errno=True).setns
    with open("/proc/thread-self/ns/net") as back, open(f"/run/netns/{netns}") as there:
        if setns(there.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), "setns")
        try:
            yield
        finally:
            setns(back.fileno(), 0x40000000)


def tc(line, check=True):
    return run("tc " + line, check)


def start(line, netns):
    return subprocess.Popen(
        ["ip", "netns", "exec", netns, *line.split()],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )


def show():
    found = json.loads(tc(f"-s -j qdisc show dev {PORT}").stdout)
    return [one for one in found if one["kind"] == "cemark"]


def network():
    """Hosts h1 and h2 send to h3 through the switch sw, whose port to h3 is p3."""
    run("dmesg -c", netns=None)
    run(os.environ.get("LOAD", f"insmod {MODULE}/sch_cemark.ko"), netns=None)
    run("ip netns add sw", netns=None)
    run("ip link set lo up")
    run("sysctl -qw net.ipv4.ip_forward=1")
    for i in (1, 2, 3):
        run(f"ip netns add h{i}", netns=None)
        run(f"ip link add p{i} netns sw numtxqueues 4 type veth peer name eth0 netns h{i}",
            netns=None)
        run(f"ip -n sw addr add 10.7.{i}.1/24 dev p{i}", netns=None)
        run(f"ip -n h{i} addr add 10.7.{i}.2/24 dev eth0", netns=None)
        run(f"ip -n sw link set p{i} up", netns=None)
        run(f"ip -n h{i} link set eth0 up", netns=None)
        run(f"ip -n h{i} route add default via 10.7.{i}.1", netns=None)
        run("sysctl -qw net.ipv4.tcp_ecn=1 net.ipv4.tcp_no_metrics_save=1", netns=f"h{i}")
    run("tc qdisc add dev eth0 root netem delay 200us limit 20000", netns="h3")
    # At 8 bit/s an answer to a question for this address would take a minute.
    address = run("cat /sys/class/net/eth0/address", netns="h3").stdout.strip()
    run(f"ip neigh replace 10.7.3.2 lladdr {address} dev {PORT} nud permanent")


PORTS = itertools.count(5201)


def flow(host, seconds, dscp=0, control="dctcp", streams=1):
    port = next(PORTS)
    start(f"iperf3 -s -1 -p {port}", "h3")
    while not run(f"ss -Hltn sport = :{port}", netns="h3").stdout:
        time.sleep(0.05)
    return start(
        f"iperf3 -J -c 10.7.3.2 -p {port} -t {seconds} -C {control} -S {dscp * 4} -P {streams}",
        host,
    )


def goodput(process):
    """Mb/s received, and segments sent again."""
    text = process.communicate()[0]
    try:
        end = json.loads(text)["end"]
    except ValueError:
        raise SystemExit(f"iperf3: {text}") from None
    return end["sum_received"]["bits_per_second"] / 1e6, end["sum_sent"]["retransmits"]


def check(what, holds, said):
    print(f"{'ok  ' if holds else 'WRONG'} {what}: {said}", flush=True)
    if not holds:
        sys.exit(1)
