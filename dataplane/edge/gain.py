# SPDX-License-Identifier: GPL-2.0
"""One flow over a WAN that loses packets, in virtual time: `virtual.sh gain.py [NAME=VALUE]...`.

CONTROL (cubic), RTT in us (6000), RATE in Mb/s (50), LOSS in per cent (1), VICTIMS: any, or
not-ect. FORM: none (no routers), literal, restore, protect, in-order. SHARE (0.1). SECONDS (14), of
which the first WARM (2) are not counted. QUEUE: packets of the bottleneck (500). ECN=1: hosts use
ECN. TIMES: repetitions (1), each with losses of its own. Each line is JSON: goodput in Mb/s, and
what sender and routers counted."""

import json
import os

from network import check, network, pair, run, stop
from traffic import Flow, drive, ecn

get = os.environ.get
RTT = int(get("RTT", "6000"))
FORMS = {
    "literal": 'copies = "once"',
    "restore": 'copies = "restore"',
    "protect": 'copies = "protect"',
    "in-order": f'copies = "once"\nrelease = "in-order"\nhold = "{3 * RTT}us"',
}


def wan(rate, queue):
    """On the way to e2 losses, then the bottleneck, and behind it half of the round trip; the other
    half on the way back. The bottleneck counts the tunnel's headers too."""
    half = RTT // 2
    run(f"tc qdisc add dev p1 root netem delay {half}us limit 100000", "w")
    run("tc qdisc add dev p2 root handle 1: htb default 1 r2q 1000", "w")
    run(f"tc class add dev p2 parent 1: classid 1:1 htb rate {rate}mbit burst 1600 cburst 1600 "
        "quantum 1600", "w")
    run(f"tc qdisc add dev p2 parent 1:1 handle 2: pfifo limit {queue}", "w")
    run("ip link add ifb0 type ifb", "w")
    run("ip -n w link set ifb0 up")
    run("tc qdisc add dev ifb0 root handle 1: prio bands 2 priomap" + " 1" * 16, "w")
    run("tc qdisc add dev ifb0 parent 1:1 handle 11: netem limit 100000", "w")
    run("tc qdisc add dev ifb0 parent 1:2 handle 12: pfifo limit 100000", "w")
    behind("w", "p1", "ifb0")
    run("ip link add ifb1 type ifb", "e2")
    run("ip -n e2 link set ifb1 up")
    run(f"tc qdisc add dev ifb1 root netem delay {RTT - half}us limit 100000", "e2")
    behind("e2", "out", "ifb1")


def behind(netns, device, ifb):
    """What arrives at a device goes through the queues of another first."""
    run(f"tc qdisc add dev {device} ingress", netns)
    run(f"tc filter add dev {device} parent ffff: protocol ip u32 match u32 0 0 "
        f"action mirred egress redirect dev {ifb}", netns)


def losses(percent, victims):
    run("tc filter del dev ifb0 parent 1:", "w", check=False)
    match = "match ip tos 0 0x03" if victims == "not-ect" else "match u32 0 0"
    run(f"tc filter add dev ifb0 parent 1: protocol ip u32 {match} flowid 1:1", "w")
    run(f"tc qdisc change dev ifb0 parent 1:1 handle 11: netem loss {percent}% limit 100000", "w")


def routers(form, share="0.1"):
    """The pair, with `tau`, `reorder` and `acks` as the simulation has them."""
    if form == "none":
        return []
    return pair(dcib=f'share = {share}\ntau = "{RTT}us"\nreorder = "0s"\nacks = "named"\n'
                + FORMS[form])


def transfer(control, seconds, warm, port, tick=None):
    """Goodput of one flow in Mb/s, and what its sender counted."""
    flow = Flow(port, control)
    rows = drive([flow], seconds, tick=tick)
    said = flow.info()
    flow.close()
    counted = rows[round(warm * 10):]
    return sum(r[0] for r in counted) * 8 / (len(counted) * 0.1) / 1e6, said


def main():
    network()
    wan(get("RATE", "50"), get("QUEUE", "500"))
    ecn(int(get("ECN", "0")))
    form = get("FORM", "literal")
    for n in range(int(get("TIMES", "1"))):
        losses(0, "any")
        both = routers(form, get("SHARE", "0.1"))
        losses(get("LOSS", "1"), get("VICTIMS", "any"))
        goodput, said = transfer(get("CONTROL", "cubic"), float(get("SECONDS", "14")),
                                 float(get("WARM", "2")), 5201 + n)
        row = {"goodput": round(goodput, 3), **said}
        if both:
            near, far = stop(both)
            row |= {k: near[k] for k in ("selected", "resent", "flushed")}
            row |= {k: far[k] for k in ("twice", "late", "given_up")}
            check("the tunnel was used", near["handed_back"] < 10 < near["selected"])
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
