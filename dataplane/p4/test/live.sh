#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# live.sh PROGRAM.spec LIVE [SECONDS]: a TCP flow of Linux through the program. Two network
# namespaces, between them a third with swx-live (LIVE), a bottleneck of 100 Mbit/s with a queue of
# 500 packets. Once with ECN, once without. Needs root; removes what it makes.
set -Eeuo pipefail
# A command that fails without a message is named.
trap 'echo "live.sh, line $LINENO: exit code $? of: $BASH_COMMAND" >&2' ERR
spec=$1 live=$2 seconds=${3:-4}
here=$(cd "$(dirname "$0")" && pwd)
id=cemark-p4-$$
snd=$id-a mid=$id-b rcv=$id-c
scratch=$(mktemp -d)
pids=()
clean() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for ns in "$snd" "$mid" "$rcv"; do ip netns del "$ns" 2>/dev/null || true; done
  rm -rf "$scratch"
}
trap clean EXIT

for ns in "$snd" "$mid" "$rcv"; do
  ip netns add "$ns"
  ip -n "$ns" link set lo up
done
ip -n "$mid" link add left type veth peer name eth0 netns "$snd"
ip -n "$mid" link add right type veth peer name eth0 netns "$rcv"
ip -n "$snd" addr add 10.9.0.1/24 dev eth0
ip -n "$rcv" addr add 10.9.0.2/24 dev eth0
for pair in "$snd eth0" "$rcv eth0" "$mid left" "$mid right"; do
  read -r ns dev <<<"$pair"
  ip netns exec "$ns" sysctl -q -w "net.ipv6.conf.$dev.disable_ipv6=1"
  # A packet has a checksum and the size that a link carries, as outside of a kernel.
  ip netns exec "$ns" ethtool -K "$dev" tx off rx off tso off gso off gro off >/dev/null
  ip -n "$ns" link set "$dev" up
done

counter() { ip netns exec "$1" nstat -asz "$2" | awk -v name="$2" '$1 == name { print $2 }'; }

fail() { echo "$1"; exit 1; }

# The switch has opened both interfaces. A busy machine may need seconds for it.
wait_until_ready() {
  local status=0
  for _ in $(seq 600); do
    if grep -q ready "$scratch/live"; then return; fi
    if ! kill -0 "$1" 2>/dev/null; then
      wait "$1" || status=$?
      fail "swx-live ended with exit code $status before it was ready"
    fi
    sleep 0.1
  done
  ps -o pid,stat,wchan:32,time,args -p "$1"
  fail "swx-live is not ready after a minute"
}

# A flow with tcp_ecn=$1: what the switch, the sender and the receiver saw.
flow() {
  local switch receiver ce_before echoed_before marked echoed
  for ns in "$snd" "$rcv"; do ip netns exec "$ns" sysctl -q -w net.ipv4.tcp_ecn="$1"; done
  ip netns exec "$mid" "$live" "$spec" left right 100 500 $((seconds + 20)) >"$scratch/live" &
  switch=$!
  pids+=("$switch")
  wait_until_ready "$switch"
  ce_before=$(counter "$rcv" IpExtInCEPkts)
  echoed_before=$(counter "$snd" TcpExtTCPDeliveredCE)
  ip netns exec "$rcv" python3 "$here/flow.py" receive >"$scratch/received" &
  receiver=$!
  pids+=("$receiver")
  ip netns exec "$snd" python3 "$here/flow.py" send 10.9.0.2 "$seconds" >"$scratch/sent"
  wait "$receiver" || fail "the receiver did not get what was sent"
  kill -TERM "$switch" 2>/dev/null || fail "swx-live ended before the flow did"
  wait "$switch"
  marked=$(($(counter "$rcv" IpExtInCEPkts) - ce_before))
  echoed=$(($(counter "$snd" TcpExtTCPDeliveredCE) - echoed_before))
  echo "tcp_ecn=$1: $(grep packets "$scratch/live")"
  echo "    $(cat "$scratch/sent") received-with-CE $marked delivered-CE $echoed"
  [ "$(awk '{ print $1 }' "$scratch/sent")" = "$(awk '{ print $1 }' "$scratch/received")" ] ||
    fail "the receiver got other bytes than were sent: $(cat "$scratch/received")"
  # dropped, decided to mark, mean wait, received with CE, delivered CE as the sender knows it.
  numbers=($(awk '/packets/ { print $4, $6 + $8, $10 }' "$scratch/live") "$marked" "$echoed")
}

flow 1
with=("${numbers[@]}")
flow 0
without=("${numbers[@]}")
[ "${with[3]}" -gt 0 ] || fail "the receiver saw no CE"
[ "${with[3]}" -le "${with[1]}" ] || fail "more packets have CE than the program marked"
[ "${with[4]}" -gt 0 ] || fail "the sender heard of no CE"
[ "${without[3]}" -eq 0 ] || fail "packets that are not ECN-capable have CE"
awk -v a="${with[2]}" -v b="${without[2]}" 'BEGIN { exit !(a < b) }' ||
  fail "the queue is not shorter with ECN"
