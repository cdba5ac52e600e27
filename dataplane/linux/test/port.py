#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The qdisc under traffic, in a test kernel: `uml.sh uml port.py`. Prints one line for each check
and fails with the first that is wrong. SECONDS: of virtual time under traffic and changes. ONLY:
names of the functions that check."""

import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import faults  # noqa: E402
import malformed  # noqa: E402
from network import PORT, check, flow, goodput, network, run, show, tc  # noqa: E402

SECONDS = float(os.environ.get("SECONDS", "2"))


def refused():
    """Refused options name the mistake and leave the old root in place."""
    tc(f"qdisc replace dev {PORT} root handle 1: cemark scheme ecn_sharp")
    before = tc(f"qdisc show dev {PORT}").stdout
    for options, says in [
        ("scheme red kmin 100kb kmax 50kb", "kmax (51200) is below kmin (102400)"),
        ("ins_target 2s", "write 0ns to 1s"),
        ("ins_target 200", "a time with its unit"),
        ("ins_targt 200us", 'what is "ins_targt"'),
        ("weight 0.1", "differs between schemes"),
        ("scheme tcn ins_target 1us", "neither an option nor a parameter of tcn"),
        ("scheme ecn", "no scheme is called"),
        ("queues 33", "write 1 to 32"),
        ("scheduler fifo queues 2", "fifo has one queue"),
        ("queues 2 strict 3", "strict is 3, and there are 2 queues"),
        ("queues 2 quanta 1514 1514 1514", "more quanta than queues"),
        ("queues 2 map 46:2", "queues 0 to 1"),
        ("limit 0", "write 1b to 4294967295b"),
        ("rate 4bit", "8 bit/s or more"),
        ("shaper 101%", "0% to 100%"),
        ("queues 4 queue 4 none", "there is no queue 4; there are queues 0 to 3"),
        ("queue 1 none", "there is no queue 1; there are queues 0 to 0"),
        ("queue 32 none", "write 0 to 31"),
        ("queues 2 queue 1 scheme tcn scheme red", "queue 1 has two schemes: write tcn or red"),
        ("queues 2 queue 1 scheme tcn queue 0 none queue 1 none", "queue 1 has two schemes"),
        ("queues 2 queue 1 scheme tcn kmin 1", "neither an option nor a parameter of tcn"),
        ("queues 2 queue 1 kmin 1kb", "queue 1: kmin differs between schemes"),
        ("queues 2 queue 1 mean_pkt 1kb", "queue 1: ecn_sharp has no parameter mean_pkt"),
        ("scheme wred queues 2 queue 1 threshold 1us", "queue 1: \"threshold\" is neither"),
        ("queues 2 queue 1 scheme red kmin 2kb kmax 1kb", "queue 1: kmax (1024) is below kmin"),
        ("queues 2 queue 1 quantum 0", "write 1b to"),
        ("queues 2 queue 1 limit 10kb", "limit is an option of the port: write it before queue 1"),
        ("queues 2 queue 1 not_ect perhaps", "write one of: forward drop default"),
        ("queues 2 queue 1 none kmin 1kb", "neither an option nor a parameter of none"),
        ("queues 32 " + " ".join(f"queue {i} scheme red kmin {i} kmax 9kb" for i in range(32)),
         "bytes, at most 1920: give queues equal words"),
    ]:
        done = tc(f"qdisc replace dev {PORT} root cemark {options}", check=False)
        if done.returncode == 0 or says not in done.stderr:
            check("refused", False, f"{options}: {done.stderr}")
    check("refused options", tc(f"qdisc show dev {PORT}").stdout == before,
          "30 commands, 30 messages, the old root is in place")
    said = [malformed.refusal(PORT, "sw", *case) for case in malformed.OWN]
    check("refused entries by queue", said == [text for _, text in malformed.OWN]
          and tc(f"qdisc show dev {PORT}").stdout == before, f"{len(said)} texts; {said}")
    done = tc(f"qdisc add dev {PORT} parent 1:1 handle 9: cemark", check=False)
    check("no scheme", done.returncode != 0, done.stderr.strip().splitlines()[0])


def what_it_shows():
    """A device that the kernel configures under a lock of its own is asked for its rate (Linux
    7.2); what `tc qdisc show` prints can be given back."""
    run("ip link add d0 type dummy")
    tc("qdisc add dev d0 root cemark scheme ecn_sharp")
    said = json.loads(tc("-s -j qdisc show dev d0").stdout)[0]["rate_now"]
    check("rate of a device that has none", said == 10_000_000_000, f"{said} bit/s")
    run("ip link del d0")
    tc(f"qdisc replace dev {PORT} root handle 1: cemark scheme mq_ecn k 32000 shape ramp pmax 2% "
       "queues 5 scheduler wrr strict 2 quanta 1514 3028 by priority map 7:0 6:1 rate 1gbit "
       "shaper 97% burst 9kb not_ect drop gso keep round_beta 0.5 round_idle 3us")
    first = tc(f"-d qdisc show dev {PORT}").stdout
    words = first.split("refcnt ")[1].split(maxsplit=1)[1]
    tc(f"qdisc del dev {PORT} root")
    tc(f"qdisc add dev {PORT} root handle 1: cemark {words}")
    check("shown options", tc(f"-d qdisc show dev {PORT}").stdout == first, "given back, the same")
    given_back()


def given_back():
    """Words of queues, in the form of people and in that with all details."""
    tc(f"qdisc replace dev {PORT} root handle 1: cemark scheme red kmin 9kb kmax 30kb pmax 30% "
       "queues 6 quantum 3000 not_ect drop queue 1 scheme red kmin 8kb queue 3 scheme wred "
       "min 100kb max 400kb quantum 4542 queue 0 none queue 4 not_ect forward queue 5 pmax 40%")
    for flag in ("", "-d"):
        first = tc(f"{flag} qdisc show dev {PORT}").stdout
        words = first.split("refcnt ")[1].split(maxsplit=1)[1]
        tc(f"qdisc replace dev {PORT} root cemark scheme tcn queues 8 quantum 1 not_ect forward")
        tc(f"qdisc replace dev {PORT} root cemark {words}")
        if tc(f"{flag} qdisc show dev {PORT}").stdout != first:
            check("shown queues", False, f"{words} gives {tc(f'qdisc show dev {PORT}').stdout}")
    options = json.loads(tc(f"-s -j qdisc show dev {PORT}").stdout)[0]["options"]
    own = {one.pop("queue"): one for one in options["own"]}
    params = {queue: one.get("parameters", {}) for queue, one in own.items()}
    check("shown queues", sorted(own) == [0, 1, 3, 4, 5] and own[0]["scheme"] == "none"
          and own[3]["scheme"] == "wred" and (params[3]["min"], params[3]["max"]) ==
          (102400, 409600) and own[4] == {"not_ect": "forward"} and params[1]["kmin"] == 8192
          and params[1]["kmax"] == 22500 and abs(params[1]["pmax"] - 0.1) < 1e-4
          and (params[5]["kmin"], params[5]["kmax"]) == (9216, 30720)
          and options["quanta"] == [3000, 3000, 3000, 4542, 3000, 3000],
          f"given back, the same; {words.split('gso ')[1].strip()}")
    # What all queues get replaces what queues have of their own.
    tc(f"qdisc change dev {PORT} root cemark queue 4 default queue 3 default")
    two = json.loads(tc(f"-j qdisc show dev {PORT}").stdout)[0]["options"]["own"]
    tc(f"qdisc change dev {PORT} root cemark scheme red not_ect drop")
    none = json.loads(tc(f"-j qdisc show dev {PORT}").stdout)[0]["options"].get("own", [])
    check("schemes of all queues", [one["queue"] for one in two] == [0, 1, 5] and not none,
          "a queue follows the port again, then all do")


def schemes():
    """Every scheme of the catalogue holds the queue of two DCTCP flows and marks."""
    helped = tc(f"qdisc add dev {PORT} root cemark help", check=False).stderr
    names = helped.split("SCHEME :=")[1].replace("|", " ").split()
    low = {"threshold": "k 15000", "red": "kmin 6000 kmax 15000 weight 1", "tcn": "threshold 200us",
           "codel": "target 100us interval 1ms", "ecn_sharp": "ins_target 300us pst_target 150us",
           "mq_ecn": "k 15000", "cedm": "k1 6000 k2 20000", "dynamic": "k 15000",
           "pie": "target 200us t_update 1ms max_burst 0ms mark_ecnth 100%",
           "pi": "qref 10000 interval 500us",
           "cedm_sharp": "k1 6000 k2 20000 pst_target 150us", "wred": "min 6000 max 15000"}
    for name in names:
        tc(f"qdisc del dev {PORT} root", check=False)
        tc(f"qdisc add dev {PORT} root handle 1: cemark scheme {name} {low[name]} rate 100mbit "
           "shaper")
        rate, again = goodput(flow("h1", 1, streams=2))
        one = show()[0]
        marks = sum(one["mark_reasons"].values())
        wait = one["wait_mean_ns"] / 1000
        check(name, rate > 80 and marks > 50 and wait < 4000 and again == 0,
              f"{rate:.1f} Mb/s, {marks} marks of {one['packets_sent']} packets, mean wait "
              f"{wait:.0f} us, {again} sent again")


def thresholds():
    """The statistics name the threshold that is in force."""
    for options, key, wanted in [
        ("tcn threshold 240us", "threshold_ns", 240_000),
        ("ecn_sharp ins_target 210us", "threshold_ns", 210_000),
        ("threshold k 30000 count_self off", "threshold_bytes", 30_000),
        ("dynamic offset 100000 floor 1000 count_self off limit 400000", "threshold_bytes",
         300_000),
        ("pie", "threshold_ns", None),
    ]:
        tc(f"qdisc del dev {PORT} root", check=False)
        tc(f"qdisc add dev {PORT} root handle 1: cemark scheme {options}")
        said = show()[0].get(key)
        if said != wanted:
            check(options, False, f"{key} is {said}, wanted: {wanted}")
    tc(f"qdisc del dev {PORT} root", check=False)
    tc(f"qdisc add dev {PORT} root handle 1: cemark scheme mq_ecn k 20000 count_self off "
       "queues 8 scheduler dwrr rate 100mbit shaper")
    before = [queue["threshold_bytes"] for queue in show()[0]["by_queue"]]
    flows = [flow("h1", 1, 1, streams=2), flow("h2", 1, 2, streams=2)]
    time.sleep(0.7)
    seen = []
    for _ in range(20):
        time.sleep(0.005)
        seen.append(show()[0]["by_queue"][1]["threshold_bytes"])
    shown = tc(f"-s qdisc show dev {PORT}").stdout
    [f.communicate() for f in flows]
    middle = sorted(seen)[10]
    check("thresholds in force", before == [20_000] * 8 and 8_000 < middle < 12_500
          and "threshold" in shown,
          f"MQ-ECN: 20000 bytes when idle, {middle} (median) while two queues of eight are busy")


def by_queue():
    """A queue with a scheme of its own marks by that, and the others by theirs; a change of one
    queue leaves the others and their state alone."""
    tc(f"qdisc del dev {PORT} root", check=False)
    tc(f"qdisc add dev {PORT} root handle 1: cemark scheme tcn threshold 300us rate 100mbit shaper "
       "queues 4 scheduler dwrr limit 500kb queue 3 scheme wred min 6000 max 15000 queue 0 none")
    before = [queue.get("threshold_ns", queue.get("threshold_bytes"))
              for queue in show()[0]["by_queue"]]
    flows = [flow("h1", 1, 0), flow("h2", 1, 3), flow("h2", 1, 1)]
    [goodput(f) for f in flows]
    queues = show()[0]["by_queue"]
    marks = [sum(queue["mark_reasons"].values()) for queue in queues]
    sent = [queue["packets_sent"] for queue in queues]
    check("schemes of queues", before[:3] == [None, 300_000, 300_000] and marks[0] == 0
          and marks[1] > 20 and marks[3] > 20 and min(sent[0], sent[1], sent[3]) > 1000,
          f"thresholds {before}, packets {sent}, marks {marks}")
    tc(f"qdisc change dev {PORT} root cemark queue 2 threshold 100us queue 3 min 20kb max 20kb")
    now = [queue.get("threshold_ns", queue.get("threshold_bytes"))
           for queue in show()[0]["by_queue"]]
    options = json.loads(tc(f"-j qdisc show dev {PORT}").stdout)[0]["options"]
    check("a change of a queue", now[1:3] == [300_000, 100_000]
          and [one["queue"] for one in options["own"]] == [0, 2, 3]
          and options["parameters"]["threshold"] == 300_000, f"thresholds {now}")
    # CoDel's state in queue 1, which marks ever faster, survives changes of queue 0.
    tc(f"qdisc replace dev {PORT} root cemark scheme tcn threshold 1s queue 1 scheme codel "
       "target 1us interval 10ms min_bytes 0")
    flows = [flow("h1", 1, 1), flow("h2", 1, 0)]
    time.sleep(0.3)
    was = show()[0]["by_queue"][1]["mark_reasons"]["persistent"]
    others = ["queue 0 scheme red", "queue 0 none", "threshold 1ms", "queue 1 interval 10ms"]
    for change in others * 20:
        tc(f"qdisc change dev {PORT} root cemark {change}")
        time.sleep(0.005)
    kept = show()[0]["by_queue"][1]["mark_reasons"]["persistent"] - was
    was += kept
    for _ in range(40):
        tc(f"qdisc change dev {PORT} root cemark queue 1 none")
        tc(f"qdisc change dev {PORT} root cemark queue 1 scheme codel target 1us interval 10ms "
           "min_bytes 0")
        time.sleep(0.009)
    new = show()[0]["by_queue"][1]["mark_reasons"]["persistent"] - was
    [f.communicate() for f in flows]
    check("the state of a queue", kept > 5 and new < kept / 2,
          f"{kept} marks of CoDel while other queues change, {new} while its own scheme does")


def non_ect():
    """What becomes of packets that are to be marked and are not ECN-capable, by queue."""
    faults.fresh("scheme threshold k 0 queues 3 queue 1 not_ect drop queue 2 none not_ect drop")
    for dscp in (0, 1, 2):
        faults.send(10, 100, tos=dscp * 4)
    time.sleep(0.1)
    queues = show()[0]["by_queue"]
    said = [(queue["not_ect_sent"], queue["drop_reasons"]["not_ect"]) for queue in queues]
    check("not ECN-capable, by queue", said[0][0] >= 10 and not said[0][1]
          and said[1:] == [(0, 10), (0, 0)],
          f"sent unmarked and dropped: {said}")


def mq_ecn_by_queue():
    """MQ-ECN in one queue sees the round of all queues, whatever their schemes, and keeps its
    threshold in a strict queue."""
    tc(f"qdisc del dev {PORT} root", check=False)
    tc(f"qdisc add dev {PORT} root handle 1: cemark none queues 4 scheduler dwrr strict 1 "
       "rate 100mbit shaper limit 500kb queue 2 scheme mq_ecn k 20000 count_self off "
       "queue 0 scheme mq_ecn k 20000 count_self off queue 1 scheme tcn threshold 300us")
    flows = [flow("h1", 1, 1, streams=2), flow("h2", 1, 2, streams=2)]
    time.sleep(0.7)
    seen, strict = [], set()
    for _ in range(20):
        time.sleep(0.005)
        queues = show()[0]["by_queue"]
        seen.append(queues[2]["threshold_bytes"])
        strict.add(queues[0]["threshold_bytes"])
    [f.communicate() for f in flows]
    middle = sorted(seen)[10]
    check("MQ-ECN beside TCN", 8_000 < middle < 12_500 and strict == {20_000},
          f"{middle} bytes (median) of 20000 beside a busy queue of TCN, {strict} in a strict one")


def shares():
    """Schedulers divide the link as they should."""
    for options, low, high, what in [
        ("queues 2 quanta 1514 3028 scheduler dwrr", 1.9, 2.1, "DWRR 1:2"),
        ("queues 2 quanta 1514 4542 scheduler wrr", 2.85, 3.15, "WRR 1:3"),
        ("queues 2 quantum 1514 scheduler dwrr", 0.97, 1.03, "DWRR 1:1"),
        ("queues 2 scheduler sp", 0, 0.1, "strict priority"),
        ("queues 2 scheduler dwrr strict 1", 0, 0.1, "strict above DWRR"),
    ]:
        tc(f"qdisc del dev {PORT} root", check=False)
        tc(f"qdisc add dev {PORT} root handle 1: cemark scheme tcn threshold 500us rate 100mbit "
           f"shaper {options}")
        flows = [flow("h1", 1, 0), flow("h2", 1, 1)]
        time.sleep(0.2)
        was = [queue["bytes_sent"] for queue in show()[0]["by_queue"]]
        time.sleep(0.7)
        now = show()[0]
        sent = [queue["bytes_sent"] - w for queue, w in zip(now["by_queue"], was)]
        # A starved connection ends late, and with no result.
        [f.kill() for f in flows]
        ratio = sent[1] / max(sent[0], 1)
        check(what, low <= ratio <= high,
              f"the second queue sends {ratio:.3f} times the first, round time "
              f"{now.get('round_ns', 0)} ns")


def idle():
    """What the qdiscs of an idle port count as waiting, which is nothing."""
    time.sleep(0.5)
    found = json.loads(tc(f"-s -j qdisc show dev {PORT}").stdout)
    return [(q["kind"], q["qlen"], q["backlog"]) for q in found if q["qlen"] or q["backlog"]]


def parents():
    """Below HTB, with packets dropped at departure, and below mq; the parents count right."""
    tc(f"qdisc del dev {PORT} root", check=False)
    tc(f"qdisc add dev {PORT} root handle 1: htb default 1")
    tc(f"class add dev {PORT} parent 1: classid 1:1 htb rate 100mbit burst 3kb cburst 3kb "
       "quantum 3028")
    tc(f"qdisc add dev {PORT} parent 1:1 handle 10: cemark scheme tcn threshold 50us not_ect drop "
       "rate 100mbit")
    run("sysctl -qw net.ipv4.tcp_ecn=0", netns="h1")
    rate, again = goodput(flow("h1", 1, control="cubic", streams=2))
    run("sysctl -qw net.ipv4.tcp_ecn=1", netns="h1")
    one = show()[0]
    left = idle()
    check("below HTB, not ECN-capable", one["drop_reasons"]["not_ect"] > 20 and again > 0
          and not left,
          f"{one['drop_reasons']['not_ect']} dropped at departure, {again} sent again, "
          f"{rate:.0f} Mb/s, counted as waiting when idle: {left}")
    rate, again = goodput(flow("h1", 1, streams=2))
    left = idle()
    check("below HTB, segments split", rate > 60 and not left,
          f"{rate:.0f} Mb/s, {sum(show()[0]['mark_reasons'].values())} marks, counted as waiting "
          f"when idle: {left}")
    tc(f"qdisc del dev {PORT} root")
    tc(f"qdisc add dev {PORT} root handle 1: mq")
    for i in (1, 2, 3, 4):
        tc(f"qdisc add dev {PORT} parent 1:{i} cemark scheme ecn_sharp rate 100mbit shaper")
    rate, _ = goodput(flow("h1", 1, streams=4))
    sent = [q["packets_sent"] for q in show()]
    check("below mq", len(sent) == 4 and sum(sent) > 1000, f"packets by queue: {sent}")


def changes():
    """Options and the MTU change under traffic, and no packet is lost."""
    tc(f"qdisc del dev {PORT} root", check=False)
    tc(f"qdisc add dev {PORT} root handle 1: cemark scheme ecn_sharp rate 100mbit shaper "
       "limit 4mb queues 4")
    flows = [flow("h1", SECONDS, 1), flow("h2", SECONDS, 3)]
    draw, n, until = random.Random(1), 0, time.monotonic() + SECONDS
    while time.monotonic() < until:
        options = draw.choice([
            "ins_target %dus" % draw.randint(150, 400), "scheme tcn threshold 300us",
            "scheme ecn_sharp", "scheme mq_ecn k 20000", "scheme pie target 300us mark_ecnth 100%",
            "scheme cedm k1 9000 k2 30000", "queues %d scheduler dwrr" % draw.randint(1, 32),
            "queues 4 scheduler wrr strict 1", "queues 3 strict 0 scheduler sp",
            "quantum %d" % draw.randint(1, 9000), "limit %dkb" % draw.randint(2000, 4000),
            "by priority", "by dscp", "gso keep", "gso split", "shaper 90%", "shaper 99.5%",
            "memory 100mb", "rate 120mbit", "rate 100mbit", "queue 3 none", "queue 3 default",
            "queue 3 scheme tcn threshold 300us queue 1 scheme red",
            "queue 1 scheme pie target 300us mark_ecnth 100%", "queue 1 default queue 3 none",
            "queue 1 quantum %d" % draw.randint(1, 9000), "queue 3 scheme mq_ecn k 20000",
            "queue 3 threshold 400us", "scheme ecn_sharp queue 1 scheme codel queue 3 scheme wred",
        ])
        done = tc(f"qdisc change dev {PORT} root cemark {options}", check=False)
        if done.returncode and "what is" not in done.stderr and "strict is" not in done.stderr \
                and "no parameter" not in done.stderr and "there is no queue" not in done.stderr:
            check("changes", False, f"{options}: {done.stderr}")
        if n % 8 == 0:
            run(f"ip link set {PORT} mtu {draw.choice([1500, 3000, 9000])}")
        n += 1
        time.sleep(0.005)
    both = [goodput(f) for f in flows]
    left, one = idle(), show()[0]
    reasons = one["drop_reasons"]
    drops = sum(reasons.values())
    check("changes under traffic", drops == 0 and not left and one["memory_now"] == 0
          and sum(r for r, _ in both) > 60,
          f"{n} changes in {SECONDS:.0f} s, {drops} drops {reasons}, "
          f"{both[0][1] + both[1][1]} sent again, {both[0][0] + both[1][0]:.0f} Mb/s")


def life():
    """Attach, detach, link down, device and namespace removal, under traffic."""
    until, n = time.monotonic() + SECONDS, 0
    flows = [flow("h1", SECONDS, 1), flow("h2", SECONDS, 0)]
    while time.monotonic() < until:
        tc(f"qdisc replace dev {PORT} root handle 1: cemark scheme ecn_sharp queues 3 "
           "rate 100mbit shaper")
        time.sleep(0.01)
        if n % 3 == 0:
            run(f"ip link set {PORT} down")
            run(f"ip link set {PORT} up")
        tc(f"qdisc replace dev {PORT} root handle 2: pfifo limit 100")
        time.sleep(0.002)
        n += 1
    [f.communicate() for f in flows]
    tc(f"qdisc replace dev {PORT} root handle 1: cemark scheme pie rate 100mbit shaper")
    busy = run("rmmod sch_cemark", check=False, netns=None)
    check("unload while in use", busy.returncode != 0, busy.stderr.strip())
    flows = [flow("h1", 1)]
    time.sleep(0.3)
    run(f"ip link del {PORT}")
    flows[0].kill()
    for _ in range(50):
        if run("rmmod sch_cemark", check=False, netns=None).returncode == 0:
            break
        time.sleep(0.1)
    else:
        check("unload", False, "the module stays in use")
    check("attach, link down, device removed, unload", True, f"{n} times under traffic")


def log():
    """Nothing but lines that are expected: of the module's origin, of links and bridges, and of
    HTB, which takes a child that drops all that it holds for one that is not work-conserving; and
    the kernel's complaints of damaged messages."""
    said = [line for line in run("dmesg", netns=None).stdout.splitlines()
            if not any(known in line for known in
                       ("out-of-tree module", "module verification failed", "netem: version",
                        "non-work-conserving", "link becomes ready", "SYN flooding",
                        "] netlink: ", "] br0: port ", "promiscuous mode", "allmulticast mode",
                        "wireguard: ", "bridge: filtering via "))]
    check("kernel log", not said, "\n".join(said) or "no line")


def leaks():
    path = "/sys/kernel/debug/kmemleak"
    if not os.path.exists(path):
        return
    for _ in range(2):
        with open(path, "w") as f:
            f.write("scan")
        time.sleep(6)
    with open(path) as f:
        text = f.read()
    check("kmemleak", "cemark" not in text, "nothing of cemark" if "cemark" not in text else text)


def damaged():
    """Damaged messages get an answer, and the kernel survives them."""
    n, errors = malformed.storm(PORT, "sw", int(os.environ.get("MESSAGES", "10000")))
    check("malformed messages", errors > n // 2, f"{n} sent, {errors} refused, every one answered")


def main():
    """All checks, those of the environment variable ONLY, or with SHORT all but the slowest."""
    checks = [refused, what_it_shows, thresholds, schemes, shares, by_queue, non_ect,
              mq_ecn_by_queue, parents, *faults.CHECKS, changes, damaged, life, leaks, log]
    only = os.environ.get("ONLY", "").split()
    slow = [schemes, shares] if os.environ.get("SHORT") else []
    network()
    for one in checks:
        if one.__name__ in only or (not only and one not in slow):
            one()


main()
