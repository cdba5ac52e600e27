# SPDX-License-Identifier: GPL-2.0
"""What the routers promise, on this kernel, in namespaces that test.sh makes: `check.py NAME...`.
KILLS: how often a router is killed (6). SEED: of when and which."""

import fcntl
import os
import random
import signal
import socket
import sys
import time

from network import (HOST, OUTER, SCRATCH, SITE, TOWARDS, Router, check, inside, network, pair, run,
                     stop)
from traffic import Flow, drive, ecn

IP_MTU_DISCOVER, IP_PMTUDISC_DO, IP_MTU = 10, 2, 14
IPV6_MTU_DISCOVER, IPV6_MTU = 23, 24
F_SETPIPE_SZ = 1031
IP_RECVTOS, IPV6_RECVTCLASS, IPV6_TCLASS = 13, 66, 67


def megabits(rows):
    return sum(map(sum, rows)) * 8 / (len(rows) * 0.1) / 1e6


def both_versions():
    """TCP of both versions, through tunnels of both, both ways at once."""
    for outer in (4, 6):
        routers = pair(version=outer)
        for inner in (4, 6):
            flows = [Flow(5200 + site, source=site, version=inner, size=10_000_000)
                     for site in (1, 2)]
            drive(flows, 60)
            for flow in flows:
                check(f"10 MB of IPv{inner} in IPv{outer}", flow.done and not flow.error,
                      f"{flow.done:.2f} s" if flow.done else f"{flow.error}")
                flow.close()
        for counts in stop(routers):
            check("they took the tunnel", counts["from_hosts"] > 14_000
                  and counts["selected"] > 1000 and counts["handed_back"] < 20,
                  f"{counts['from_hosts']} packets")
            check("none was refused", not any(
                counts[f"refused_{why}"] for why in ("tag", "epoch", "form", "version")))


def fields():
    """The Traffic Class or TOS byte of each host's packet comes back to the bit."""
    for offload in ("false", "true"):
        routers = pair(tunnel=f"offload = {offload}", dcib="share = 0.5")
        for version in (4, 6):
            family = socket.AF_INET if version == 4 else socket.AF_INET6
            with inside("h2"):
                receiver = socket.socket(family, socket.SOCK_DGRAM)
            with inside("h1"):
                sender = socket.socket(family, socket.SOCK_DGRAM)
            receiver.bind((HOST[version][2], 5300))
            receiver.settimeout(20)
            if version == 4:
                receiver.setsockopt(socket.IPPROTO_IP, IP_RECVTOS, 1)
            else:
                receiver.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVTCLASS, 1)
            wrong = []
            for byte in range(256):
                level, name = ((socket.IPPROTO_IP, socket.IP_TOS) if version == 4
                               else (socket.IPPROTO_IPV6, IPV6_TCLASS))
                sender.setsockopt(level, name, byte)
                sender.sendto(bytes([byte] * 900), (HOST[version][2], 5300))
                data, said, _, _ = receiver.recvmsg(2000, 200)
                got = int.from_bytes(said[0][2], sys.byteorder)
                if got != byte or data != bytes([byte] * 900):
                    wrong.append((byte, got))
            check(f"256 bytes of IPv{version}, offload {offload}", not wrong, f"{wrong}")
            sender.close()
            receiver.close()
        near, _ = stop(routers)
        # Half of those with ECT(0) or Not-ECT.
        check("ECT(1) and CE are not selected", near["spared"] == 256 and
              100 <= near["selected"] <= 156, f"{near['selected']} selected")


def too_large():
    """Hosts learn how large a packet may be; a path that loses large ones silently is noticed."""
    routers = pair()
    for version, most in ((4, 1436), (6, 1436)):
        # What an earlier tunnel took.
        run(f"ip -{version} route flush cache", "h1")
        family = socket.AF_INET if version == 4 else socket.AF_INET6
        with inside("h1"):
            sender = socket.socket(family, socket.SOCK_DGRAM)
        sender.connect((HOST[version][2], 9))
        if version == 4:
            sender.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        else:
            sender.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, IP_PMTUDISC_DO)
        learned = 0
        for _ in range(20):
            try:
                sender.send(bytes(1500 - (28 if version == 4 else 48)))
            except OSError:
                pass
            time.sleep(0.05)
            learned = (sender.getsockopt(socket.IPPROTO_IP, IP_MTU) if version == 4
                       else sender.getsockopt(socket.IPPROTO_IPV6, IPV6_MTU))
            if learned == most:
                break
        check(f"packet too big for IPv{version}", learned == most, f"a host learns {learned}")
        sender.close()
    # The sockets of the routers ignore what the WAN says of its limit, as anybody may say it.
    flow = Flow(5210)
    rows = drive([flow], 1)
    run("ip -n w link set p2 mtu 1300")
    rows = drive([flow], 7)
    check("a flow survives a path that becomes narrow", megabits(rows[-10:]) > 10,
          f"{megabits(rows[-10:]):.0f} Mb/s in the last second")
    near = routers[0].wait(mtu=1200)
    check("the tunnel takes packets of up to 1200 bytes", near["serving"] == 1)
    routes = run("ip -6 route", "e1")
    check("IPv6, which needs 1280, is forwarded plainly", "fd00:2::/64 dev dcib0" not in routes)
    run("ip -n w link set p2 mtu 1500")
    routers[0].wait(mtu=1436)
    check("and all of it again by the tunnel", "fd00:2::/64 dev dcib0" in run("ip -6 route", "e1"))
    flow.close()
    stop(routers)


def killed():
    """Either router is killed under load, at random: no connection is lost."""
    kills, seed = int(os.environ.get("KILLS", "6")), int(os.environ.get("SEED", "1"))
    draw = random.Random(seed)
    routers = pair(dead="500ms")
    flows = [Flow(5400 + i, control, source=1 + i % 2, version=4 + 2 * (i // 2 % 2))
             for i, control in enumerate(["cubic", "reno", "cubic", "reno"])]
    long, moving, noticed = 0, 0, 0
    for n in range(kills):
        which = draw.randrange(2)
        router, other = routers[which], routers[1 - which]
        # At any point of its life: long in service, or just starting.
        drive(flows, draw.choice([0.05, 0.3, 0.8]) * draw.random())
        router.stop(signal.SIGKILL)
        dead = [2.5, 0.05, 0.3][n % 3]
        rows = drive(flows, dead)
        if dead < 1:
            router.start()
            continue
        long += 1
        # Hosts that have waited double their wait.
        moved = list(map(sum, zip(*rows[-15:])))
        for _ in range(10):
            if not all(moved):
                more = drive(flows, 0.5)
                moved = [m + sum(column) for m, column in zip(moved, zip(*more))]
        moving += all(moved)
        starts = other.counts().get("peer_starts", 0)
        router.start()
        for _ in range(100):
            drive(flows, 0.1)
            if other.counts().get("peer_starts", 0) > starts:
                noticed += 1
                break
    for router in routers:
        router.wait(serving=1)
    before = [f.received for f in flows]
    drive(flows, 2)
    lost = [f.error for f in flows if f.error]
    check(f"{kills} kills, none of {len(flows)} connections lost", not lost, f"{lost}")
    moved = [f.received - b for f, b in zip(flows, before)]
    check("all continue", all(m > 100_000 for m in moved),
          f"{[m // 1000 for m in moved]} KB in 2 s")
    check("each connection moves while one is dead", moving == long > 0,
          f"{moving} of {long} times")
    check("starts of the other are noticed", noticed == long, f"{noticed} of {long}")
    stop(routers)
    for flow in flows:
        flow.close()


def checksum(data):
    total = sum(int.from_bytes(data[i:i + 2], "big") for i in range(0, len(data), 2))
    total = (total & 0xffff) + (total >> 16)
    return ~((total & 0xffff) + (total >> 16)) & 0xffff


def datagram(source, target, port, payload):
    """An IPv4 packet of UDP from a router that the sender is not."""
    udp = (port.to_bytes(2, "big") * 2 + (8 + len(payload)).to_bytes(2, "big") + b"\0\0" + payload)
    head = bytearray(b"\x45\x02" + (20 + len(udp)).to_bytes(2, "big") + bytes(4) + b"\x40\x11\0\0" +
                     socket.inet_aton(source) + socket.inet_aton(target))
    head[10:12] = checksum(head).to_bytes(2, "big")
    return bytes(head) + udp


def ended():
    """A router is told to end: the other one forwards plainly at once."""
    routers = pair(dead="500ms")
    flow = Flow(5450)
    drive([flow], 0.5)
    asked = []

    def end(_):
        if not asked:
            asked.append(routers[1].process.send_signal(signal.SIGTERM))
    rows = drive([flow], 1.5, every=0.05, tick=end)
    routers[1].process.wait()
    empty = max(map(len, "".join("." if sum(row) else "_" for row in rows).split(".")))
    check("no silence after the end of a router", empty <= 3 and flow.error is None,
          f"{empty} of {len(rows)} intervals of 50 ms without data in a row")
    check("it has said so", "does not hear" in routers[0].said())
    flow.close()
    routers[0].stop()


def flooded():
    """An attacker floods the port with forged datagrams that bear the peer's address."""
    routers = pair()
    flow = Flow(5220)
    calm = megabits(drive([flow], 1.5)[5:])
    with inside("w"):
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    draw = random.Random(1)
    junk = []
    for n in range(64):
        kind = bytes([0x11 + n % 3, 4, 0, n % 4])
        body = kind + draw.randbytes(12) + draw.randbytes(36 + n)
        junk += [datagram(OUTER[4][1], OUTER[4][2], 4790 + n % 4, body)]
    sent = 0
    ended = time.monotonic() + 2

    def flood(_):
        nonlocal sent
        if time.monotonic() < ended:
            for one in junk * 8:
                raw.sendto(one, (OUTER[4][2], 0))
            sent += len(junk) * 8
    rows = drive([flow], 2, every=0.02, tick=flood)
    rate = sum(map(sum, rows)) * 8 / (len(rows) * 0.02) / 1e6
    counts = stop(routers)
    far = counts[1]
    check("forged datagrams are refused and counted", sent * 0.1 < far["refused_tag"] <= sent,
          f"{far['refused_tag']} of {sent}")
    near = counts[0]
    copies = near["resent"] + near["flushed"]
    said = {name: near[name] for name in ("resent", "flushed", "selected", "acks_unmatched")}
    # A copy that is sent has two router ACKs, for itself and for the packet that was late.
    check("and free nothing, flush nothing, deliver nothing", near["peer_losses"] == 0
          and far["peer_losses"] == 0 and flow.error is None and rate > calm / 20
          and far["to_hosts"] <= near["from_hosts"] and copies <= near["selected"]
          and near["acks_unmatched"] <= 2 * copies,
          f"{rate:.0f} Mb/s under the flood, {calm:.0f} before, {said}")
    flow.close()


def reports():
    """JSON lines, and a file for Prometheus."""
    routers = pair()
    flow = Flow(5230, size=1_000_000)
    drive([flow], 5)
    flow.close()
    label = '{end="near",device="dcib0"}'
    written, counts = 0, {}
    for _ in range(200):
        time.sleep(0.05)
        counts = routers[0].counts()
        text = (SCRATCH / "e1.prom").read_text()
        rows = dict(line.split() for line in text.splitlines() if not line.startswith("#"))
        written = float(rows["cemark_edge_selected_total" + label])
        if written == counts["selected"] > 50:
            break
    check("Prometheus has what JSON has", written == counts["selected"] > 50,
          f"{counts['selected']} selected")
    stop(routers)


def until(holds, seconds=15):
    """Whether it holds within so much time."""
    for _ in range(seconds * 20):
        if holds():
            return True
        time.sleep(0.05)
    return False


def repaired():
    """Routes that others change come back, and routes of others stay."""
    routers = pair()

    def there():
        return all("dcib0" in run(f"ip -{v} route show {SITE[v][2]} metric 5", "e1")
                   for v in (4, 6))
    check("the tunnel has its routes", there())
    run(f"ip route del {SITE[4][2]} dev dcib0 metric 5", "e1")
    run(f"ip -6 route del {SITE[6][2]} dev dcib0 metric 5", "e1")
    check("routes that somebody takes away come back", not there() and until(there))
    run("ip -n e1 link set dcib0 down")
    run("ip -n e1 link set dcib0 up")
    check("and after the device was down", until(there))
    stop(routers)
    foreign = f"{SITE[4][2]} via {TOWARDS[4][1]} dev out metric 5"
    run(f"ip route add {foreign}", "e1")
    routers = [Router(site).start() for site in (1, 2)]
    check("a router ends where another device has its route", until(
        lambda: routers[0].process.poll() == 1), routers[0].said().splitlines()[-1])
    check("and says so", "another device has a route" in routers[0].said())
    left = run(f"ip route show {SITE[4][2]} metric 5", "e1")
    check("and leaves it", f"via {TOWARDS[4][1]}" in left)
    run(f"ip route del {foreign}", "e1")
    routers[1].stop()


def blocked():
    """Full pipes do not stop a router. systemd gets signs of life."""
    fifo, manager = SCRATCH / "fifo", str(SCRATCH / "notify")
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, F_SETPIPE_SZ, 4096)
    signs = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    signs.bind(manager)
    signs.setblocking(False)
    routers = [Router(1).start(fifo, NOTIFY_SOCKET=manager), Router(2).start()]
    routers[1].wait(serving=1)
    flow = Flow(5260)
    drive([flow], 1.5)
    rows = drive([flow], 1)
    check("a router continues while its outputs are full", megabits(rows) > 10
          and "dcib0" in run(f"ip route show {SITE[4][2]}", "e1")
          and routers[1].counts()["peer_losses"] == 0, f"{megabits(rows):.0f} Mb/s")
    flow.close()
    lives = 0
    while True:
        try:
            lives += signs.recv(100) == b"WATCHDOG=1"
        except BlockingIOError:
            break
    check("the service manager gets signs of life", lives >= 4, f"{lives}")
    routers[0].process.terminate()
    check("and it ends when it is told to", routers[0].process.wait(30) == 0)
    routers[1].stop()


def rates():
    """Packets a second and processor time a packet, with and without offload."""
    for offload in ("false", "true"):
        routers = pair(tunnel=f"offload = {offload}")
        flow = Flow(5240)
        drive([flow], 1)
        used = [cpu(r) for r in routers]
        packets = routers[0].counts()["from_hosts"]
        rows = drive([flow], 4)
        used = [cpu(r) - u for r, u in zip(routers, used)]
        time.sleep(0.2)
        near = stop(routers)[0]
        packets = near["from_hosts"] - packets
        rate = megabits(rows)
        check("packets of the device and datagrams come in trains", (offload == "true")
              == (near["from_hosts"] > 2 * near["from_hosts_trains"]),
              f"{near['from_hosts'] / near['from_hosts_trains']:.1f} and "
              f"{near['to_peer'] / near['to_peer_trains']:.1f}")
        # A packet that was not selected because the memory was full counts as well.
        selected = near["selected"] + near["stalled_full"]
        check("each packet is selected by itself", selected / near["from_hosts"] > 0.099
              and near["selected"] / near["from_hosts"] < 0.101,
              f"{near['selected']} of {near['from_hosts']}, {near['stalled_full']} without room")
        print(f"offload {offload}: {rate:.0f} Mb/s, near {used[0] / packets * 1e6:.2f} us and far "
              f"{used[1] / packets * 1e6:.2f} us of a processor a packet, "
              f"{rate / (max(used) / 4) / 1000:.1f} Gb/s a core", flush=True)
        check("the receiver has what was sent", flow.error is None, f"{flow.error}")
        flow.close()


def trains():
    """Trains are split: what arrives is what was sent, with segments of any size."""
    routers = pair(tunnel="offload = true")
    for n, segment in enumerate((200, 1400)):
        for version in (4, 6):
            flow = Flow(5250 + n, version=version, size=4_000_000, segment=segment)
            drive([flow], 60)
            check(f"4 MB in segments of {segment} bytes of IPv{version}",
                  flow.done is not None and not flow.error,
                  f"{flow.done:.2f} s" if flow.done else f"{flow.received}, {flow.error}")
            flow.close()
    near, _ = stop(routers)
    saved = near["from_hosts"] - near["from_hosts_trains"]
    check("packets came in trains, and none was dropped", saved > 1000
          and not near["from_hosts_unsplit"], f"{saved} reads saved")
    check("the tunnel took them", near["handed_back"] < 20 and near["selected"] > 2000,
          f"{near['selected']} of {near['from_hosts']} selected")


def cpu(router):
    """Seconds that the program has used. Its parent, `ip`, has become the program."""
    with open(f"/proc/{router.process.pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def main():
    names = sys.argv[1:]
    network(offload=names in (["rates"], ["trains"]))
    ecn(0)
    for name in names:
        print(f"== {name}", flush=True)
        globals()[name]()


if __name__ == "__main__":
    main()
