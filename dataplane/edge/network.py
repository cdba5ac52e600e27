# SPDX-License-Identifier: GPL-2.0
"""Two sites and a WAN in namespaces: host h1, router e1, WAN w, router e2, host h2. The WAN knows
the prefixes of both sites, so that plain forwarding works too."""

import ctypes
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

EDGE = os.environ["EDGE"]
SCRATCH = Path(os.environ.get("SCRATCH", "/run/edge"))
WORDS = {1: "near", 2: "far"}
# Address on the WAN of each router, and of the WAN towards it.
OUTER = {4: {1: "192.0.2.1", 2: "198.51.100.1"}, 6: {1: "fd00:a::1", 2: "fd00:b::1"}}
TOWARDS = {4: {1: "192.0.2.254", 2: "198.51.100.254"}, 6: {1: "fd00:a::fe", 2: "fd00:b::fe"}}
HOST = {4: {1: "10.1.0.2", 2: "10.2.0.2"}, 6: {1: "fd00:1::2", 2: "fd00:2::2"}}
SITE = {4: {1: "10.1.0.0/24", 2: "10.2.0.0/24"}, 6: {1: "fd00:1::/64", 2: "fd00:2::/64"}}
GATE = {4: {1: "10.1.0.1", 2: "10.2.0.1"}, 6: {1: "fd00:1::1", 2: "fd00:2::1"}}
LENGTH = {4: 24, 6: 64}


def run(line, netns=None, check=True):
    words = line.split() if isinstance(line, str) else line
    if netns:
        words = ["ip", "netns", "exec", netns, *words]
    done = subprocess.run(words, capture_output=True, text=True)
    if check and done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr or done.stdout}")
    return done.stdout


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


def link(one, device, other, far_device):
    run(f"ip link add {device} netns {one} type veth peer name {far_device} netns {other}")
    for netns, name in ((one, device), (other, far_device)):
        run(f"ip -n {netns} link set {name} up")


def addresses(netns, device, table, site):
    for version in (4, 6):
        dad = "" if version == 4 else " nodad"
        run(f"ip -n {netns} addr add {table[version][site]}/{LENGTH[version]} dev {device}{dad}")


def network(offload=False):
    """Builds all of it. `offload`: hosts and routers make trains of segments."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    for netns in ("h1", "e1", "w", "e2", "h2"):
        run(f"ip netns add {netns}")
        run(f"ip -n {netns} link set lo up")
        for setting in (
            "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0",
            "net.ipv6.conf.all.accept_dad=0", "net.ipv6.conf.default.accept_dad=0",
            # Two hosts that remember nothing of earlier connections.
            "net.ipv4.tcp_no_metrics_save=1",
        ):
            run(["sysctl", "-qw", setting], netns)
        if netns[0] != "h":
            run("sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1", netns)
    for site in (1, 2):
        link(f"h{site}", "eth0", f"e{site}", "in")
        link(f"e{site}", "out", "w", f"p{site}")
        addresses(f"h{site}", "eth0", HOST, site)
        addresses(f"e{site}", "in", GATE, site)
        addresses(f"e{site}", "out", OUTER, site)
        addresses("w", f"p{site}", TOWARDS, site)
    for site in (1, 2):
        other = 3 - site
        for version in (4, 6):
            ip = "ip" if version == 4 else "ip -6"
            run(f"{ip} route add default via {GATE[version][site]}", f"h{site}")
            run(f"{ip} route add {OUTER[version][site]} via {TOWARDS[version][site]}", f"e{site}",
                check=False)
            run(f"{ip} route add {SITE[version][site]} via {OUTER[version][site]}", "w")
            for far in (SITE[version][other], OUTER[version][other]):
                run(f"{ip} route add {far} via {TOWARDS[version][site]} metric 100", f"e{site}")
    if not offload:
        for netns, device in ends():
            run(f"ip -n {netns} link set {device} gso_max_segs 1")
            if shutil.which("ethtool"):
                run(f"ethtool -K {device} tso off gso off gro off", netns)


def ends():
    for site in (1, 2):
        yield f"h{site}", "eth0"
        yield f"e{site}", "in"
        yield f"e{site}", "out"
        yield "w", f"p{site}"


def write_key():
    path = SCRATCH / "key"
    path.touch(mode=0o600)
    path.write_text("00112233445566778899aabbccddeeff\n")
    return path


class Router:
    """A router of a site: the program with a file of its own. `dead`: longer than a busy machine
    keeps a program from running."""

    def __init__(self, site, version=4, tunnel="", dcib="", port=4790, stats="100ms",
                 dead="3s"):
        self.site = site
        self.file = SCRATCH / f"e{site}.toml"
        self.out = SCRATCH / f"e{site}.out"
        self.err = SCRATCH / f"e{site}.err"
        outer = {v: (f"{a}" if v == 4 else f"[{a}]") for v, a in
                 ((v, OUTER[v][site]) for v in (4, 6))}[version]
        peer = {v: (f"{a}" if v == 4 else f"[{a}]") for v, a in
                ((v, OUTER[v][3 - site]) for v in (4, 6))}[version]
        self.file.write_text(f"""\
[tunnel]
local = "{outer}:{port}"
peer = "{peer}:{port}"
key = "{write_key()}"
routes = ["{SITE[4][3 - site]}", "{SITE[6][3 - site]}"]
dead = "{dead}"
{tunnel}
[dcib]
{dcib}
[stats]
every = "{stats}"
prometheus = "{SCRATCH / f'e{site}.prom'}"
""")
        self.process = None
        self.err.write_text("")
        self.out.write_text("")

    def start(self, pipe=None, **environment):
        """`pipe`: for both outputs instead of files."""
        self.began = self.out.stat().st_size
        with open(pipe or self.out, "a") as out, open(pipe or self.err, "a") as err:
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", f"e{self.site}", EDGE, WORDS[self.site], str(self.file),
                 "--stats", "json"],
                stdout=out, stderr=err, env=os.environ | environment,
            )
        return self

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()

    def said(self):
        return self.err.read_text()

    def counts(self):
        """The last report of the process that was started last."""
        lines = self.out.read_text()[self.began:].splitlines()
        for line in reversed(lines):
            with contextlib.suppress(ValueError):
                return json.loads(line)
        return {}

    def wait(self, **wanted):
        """Until the last report has these values."""
        for _ in range(300):
            counts = self.counts()
            if all(counts.get(name) == value for name, value in wanted.items()):
                return counts
            if self.process.poll() is not None:
                raise SystemExit(f"e{self.site} has ended: {self.said()}")
            time.sleep(0.05)
        raise SystemExit(f"e{self.site}: {wanted} does not come: {counts} {self.said()}")


def pair(**options):
    routers = [Router(site, **options).start() for site in (1, 2)]
    for router in routers:
        router.wait(serving=1)
    return routers


def stop(routers):
    for router in routers:
        if router.process.poll() is not None:
            raise SystemExit(f"e{router.site} has ended by itself: {router.said()}")
        router.stop()
    return [router.counts() for router in routers]


def check(what, holds, said=""):
    print(f"{'ok  ' if holds else 'WRONG'} {what}{': ' if said else ''}{said}", flush=True)
    if not holds:
        sys.exit(1)
