# SPDX-License-Identifier: GPL-2.0
"""One flow over a WAN that loses Not-ECT packets: `virtual.sh gain.py [NAME=VALUE]...`.

CONTROL (cubic), RTT in us (6000), RATE in Mb/s (50), LOSS in per cent (1), VICTIMS: not-ect, or any.
FORM: none (no routers), literal, restore, protect, in-order. SHARE (0.1). SECONDS (20), of which the
first WARM (4) are not counted.. QUEUE: packets of the bottleneck (500). ECN=1: hosts
use ECN. The last line is JSON: goodput in Mb/s, and what the sender counted."""

import json
import os
import sys

from network import check, network, pair, run, stop
from traffic import Flow, drive, ecn

get = os.environ.get
CONTROL, FORM, VICTIMS = get("CONTROL", "cubic"), get("FORM", "literal"), get("VICTIMS", "not-ect")
RTT, RATE, LOSS = int(get("RTT", "6000")), float(get("RATE", "50")), float(get("LOSS", "1"))
SECONDS, WARM = float(get("SECONDS", "20")), float(get("WARM", "4"))
QUEUE, SHARE = int(get("QUEUE", "500")), get("SHARE", "0.1")
FORMS = {
    "literal": 'copies = "once"',
    "restore": 'copies = "restore"',
    "protect": 'copies = "protect"',
    "in-order": 'copies = "once"\nrelease = "in-order"\nhold = "%dus"' % (3 * RTT),
}


def wan():
    """The way to e2: losses, the bottleneck, and half of the round trip; back only the other half.
    The bottleneck is counted with the tunnel's headers, as it would be."""
    half = RTT // 2
    run("tc qdisc add dev p1 root netem delay %dus limit 100000" % half, "w")
    run("tc qdisc add dev p2 root handle 1: htb default 1 r2q 1000", "w")
    run(f"tc class add dev p2 parent 1: classid 1:1 htb rate {RATE}mbit burst 1600 cburst 1600 "
        "quantum 1600", "w")
    run(f"tc qdisc add dev p2 parent 1:1 handle 2: pfifo limit {QUEUE}", "w")
    # Losses before the bottleneck, and the delay behind it, at the device of e2.
    run("ip link add ifb0 type ifb", "w")
    run("ip -n w link set ifb0 up")
    run("tc qdisc add dev ifb0 root handle 1: prio bands 2 priomap" + " 1" * 16, "w")
    run(f"tc qdisc add dev ifb0 parent 1:1 handle 11: netem loss {LOSS}% limit 100000", "w")
    run("tc qdisc add dev ifb0 parent 1:2 handle 12: pfifo limit 100000", "w")
    victims = "match ip tos 0 0x03" if VICTIMS == "not-ect" else "match u32 0 0"
    run(f"tc filter add dev ifb0 parent 1: protocol ip u32 {victims} flowid 1:1", "w")
    run("tc qdisc add dev p1 ingress", "w")
    run("tc filter add dev p1 parent ffff: protocol ip u32 match u32 0 0 "
        "action mirred egress redirect dev ifb0", "w")
    run("ip link add ifb1 type ifb", "e2")
    run("ip -n e2 link set ifb1 up")
    run(f"tc qdisc add dev ifb1 root netem delay {RTT - half}us limit 100000", "e2")
    run("tc qdisc add dev out ingress", "e2")
    run("tc filter add dev out parent ffff: protocol ip u32 match u32 0 0 "
        "action mirred egress redirect dev ifb1", "e2")


def main():
    network()
    wan()
    ecn(int(get("ECN", "0")))
    routers = []
    if FORM != "none":
        # `tau` and `reorder` are those of the simulation.
        dcib = f'share = {SHARE}\ntau = "{RTT}us"\nreorder = "0s"\nacks = "named"\n' + FORMS[FORM]
        routers = pair(dcib=dcib)
    flow = Flow(5201, CONTROL)
    rows = drive([flow], SECONDS)
    said = flow.info()
    flow.close()
    counted = rows[round(WARM * 10):]
    goodput = sum(r[0] for r in counted) * 8 / (len(counted) * 0.1) / 1e6
    if os.environ.get("ROWS"):
        print([r[0] for r in rows])
    summary = {"goodput": round(goodput, 3), **said}
    if routers:
        near, far = stop(routers)
        summary |= {k: near[k] for k in ("selected", "resent", "flushed", "acks_unmatched")}
        summary |= {k: far[k] for k in ("twice", "late", "given_up")}
        check("the tunnel was used", near["handed_back"] < 10 and near["from_hosts"] > 1000, near)
    print(json.dumps(summary))


if __name__ == "__main__":
    sys.exit(main())
