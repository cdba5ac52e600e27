#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What docs/netdev-qinq.md reports: frames with two VLAN tags cross a bridge, and codel of this
# kernel marks them at the port to b. Prints what arrives, from the inner tag on, and codel's count.
# Needs root, iproute2 and python3; in a test kernel: `uml.sh uml qinq.sh`.
set -e
ip netns add a
ip netns add b
for n in a b; do
  ip link add port-$n type veth peer name eth0 netns $n
  ip -n $n link set eth0 up
done
ip link add br0 type bridge
ip link set br0 up
for n in a b; do
  ip link set port-$n master br0
  ip link set port-$n up
done
tc qdisc add dev port-b root handle 1: htb default 1
tc class add dev port-b parent 1: classid 1:1 htb rate 10mbit burst 1600 cburst 1600
tc qdisc add dev port-b parent 1:1 codel ecn ce_threshold 1us
ip netns exec b python3 -c '
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind(("eth0", 0))
s.settimeout(2)
seen = {}
try:
    while True:
        frame = s.recv(2000)
        if frame[6:12] == b"\2\0\0\0\0\1":
            seen[frame[12:26].hex()] = seen.get(frame[12:26].hex(), 0) + 1
except TimeoutError:
    for start, count in seen.items():
        print(count, "frames: inner tag", start[:8], "type", start[8:12], "IPv4", start[12:])
' &
sleep 1
ip netns exec a python3 -c '
import socket, struct
ip = struct.pack("!BBHHHBBHII", 0x45, 2, 78, 1, 0, 64, 17, 0x63b2, 0x0a070102, 0x0a070109)
tags = bytes.fromhex("8100006481000065" "0800")
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
for i in range(50):
    s.send(b"\xff" * 6 + b"\2\0\0\0\0\1" + tags + ip + bytes(58))
'
wait
tc -s qdisc show dev port-b | grep -o 'ce_mark [0-9]*'
