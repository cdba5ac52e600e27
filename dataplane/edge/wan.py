# SPDX-License-Identifier: GPL-2.0
"""WANs of several kinds, in virtual time: `virtual.sh wan.py [ONLY=NAME] [PROOF=1]`. Few
seconds each, so that differences are large or not judged; gain.py measures. PROOF: gains are judged
too."""

import os

import gain
from gain import losses, routers, run, stop, transfer
from network import check, network
from traffic import ecn


def forms():
    """Reno, CUBIC and BBR over a WAN that loses 2 % of all packets, or as much of the Not-ECT ones,
    without the pair and with its forms."""
    rates = {}
    port = 5300
    for form, victims, percent in (("none", "any", 2), ("literal", "not-ect", 20),
                                   ("in-order", "not-ect", 20)):
        losses(0, "any")
        both = routers(form)
        losses(percent, victims)
        for control in ("reno", "cubic", "bbr"):
            rates[form, control], _ = transfer(control, 1.5, 0.2, port)
            port += 1
        if both:
            near, far = stop(both)
            check(f"{form}: the pair serves and sends copies", near["serving"] == 1
                  and near["handed_back"] < 10 and near["resent"] > 10, f"{near['resent']} copies")
            check(f"{form}: hosts get no packet that no host has sent",
                  far["to_hosts"] <= near["from_hosts"] - near["handed_back"],
                  f"{far['to_hosts']} of {near['from_hosts']}")
    for (form, control), rate in rates.items():
        print(f"     {control} {form}: {rate:.1f} Mb/s")
    # So short a transfer by itself says little.
    plain, literal = (sum(rates[form, c] for c in ("reno", "cubic"))
                      for form in ("none", "literal"))
    said = f"{literal / plain:.2f}"
    if os.environ.get("PROOF"):
        check("Reno and CUBIC gain from the literal form", literal > 1.05 * plain, said)
    else:
        print(f"     Reno and CUBIC gain from the literal form: {said}")
    check("BBR does not care for such losses", rates["none", "bbr"] > 10)


def marking():
    """A bottleneck with RED and ECN, which drops Not-ECT packets and marks others."""
    losses(0, "any")
    run("tc qdisc del dev p2 parent 1:1 handle 2:", "w", check=False)
    run("tc qdisc add dev p2 parent 1:1 handle 2: red limit 400000 min 20000 max 60000 avpkt 1000 "
        "burst 30 probability 0.1 bandwidth 20mbit ecn", "w")
    for mode in (0, 1):
        ecn(mode)
        both = routers("literal")
        rate, said = transfer("cubic", 2, 0.5, 5320 + mode)
        near, far = stop(both)
        check(f"hosts {'with' if mode else 'without'} ECN over RED", rate > 12, f"{rate:.1f} Mb/s")
        # Hosts with ECN answer to marks, so that RED hardly drops.
        check("copies take the place of what RED drops", near["resent"] > 3 or mode,
              f"{near['resent']}")
        taken = (far["marks_passed"], far["marks_taken"])
        check("its marks are passed to hosts that use ECN, and taken from others",
              taken[1 - mode] > 0 == taken[mode], f"{taken}")
    ecn(0)
    run("tc qdisc del dev p2 parent 1:1 handle 2:", "w")
    run("tc qdisc add dev p2 parent 1:1 handle 2: pfifo limit 500", "w")


def own_port():
    """The bottleneck is the router's own WAN port, with RED: the qdisc drops, and no socket."""
    losses(0, "any")
    run("tc qdisc add dev out root handle 1: htb default 1 r2q 1000", "e1")
    run("tc class add dev out parent 1: classid 1:1 htb rate 15mbit burst 1600 cburst 1600 "
        "quantum 1600", "e1")
    run("tc qdisc add dev out parent 1:1 handle 2: red limit 400000 min 20000 max 60000 avpkt 1000 "
        "burst 30 probability 0.1 bandwidth 15mbit ecn", "e1")
    both = routers("literal")
    rate, _ = transfer("cubic", 2, 0.5, 5350)
    near, far = stop(both)
    run("tc qdisc del dev out root", "e1")
    check("the own port is full", 9 < rate < 15, f"{rate:.1f} Mb/s")
    check("its qdisc drops selected packets, which copies replace", near["resent"] > 3
          and far["marks_taken"] > 0, f"{near['resent']} copies")
    check("and the sockets drop none", near["to_peer_dropped"] == 0)


def acknowledging():
    """Router ACKs are lost, doubled and reordered, and so are the hosts'."""
    losses(0, "any")
    both = routers("literal")
    losses(10, "not-ect")
    run("tc qdisc change dev p1 root netem delay 3ms 1ms loss 10% duplicate 5% limit 100000", "w")
    rate, _ = transfer("cubic", 2, 0.5, 5330)
    run("tc qdisc replace dev p1 root netem delay 3ms limit 100000", "w")
    near, far = stop(both)
    check("lost, doubled and reordered router ACKs", rate > 8 and near["peer_losses"] == 0,
          f"{rate:.1f} Mb/s")
    check("doubled ones are refused", near["refused_replay"] > 10, f"{near['refused_replay']}")
    check("what a lost one lets be sent again arrives once", far["twice"] > 3
          and far["to_hosts"] <= near["from_hosts"] - near["handed_back"], f"{far['twice']}")


def clearing():
    """A path that clears the ECN field."""
    losses(0, "any")
    run("tc qdisc add dev out clsact", "e1")
    both = routers("literal")
    run("tc filter add dev out egress protocol ip prio 1 u32 match ip protocol 17 0xff "
        "action pedit munge ip tos set 0 retain 0x3 pipe csum ip4h", "e1")
    rate, _ = transfer("cubic", 2, 0.5, 5340)
    serving = both[1].counts()["serving"]
    near, _ = stop(both)
    check("a path that clears the field is noticed", near["off"] == 1, near["plain_because"])
    check("and the flow continues plainly", rate > 15 and not near["serving"], f"{rate:.1f} Mb/s")
    check("the other direction keeps the tunnel", serving == 1)
    run("tc qdisc del dev out clsact", "e1")


def main():
    network()
    gain.wan("20", "500")
    ecn(0)
    for test in (forms, marking, own_port, acknowledging, clearing):
        if os.environ.get("ONLY", test.__name__) == test.__name__:
            print(f"== {test.__name__}", flush=True)
            test()


if __name__ == "__main__":
    main()
