#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In a kernel that debian.sh boots: what qdiscs cost per packet, in instructions inside enqueue and
# dequeue. Fails if cemark with ECN# costs more than LIMIT hundredths of what codel costs.
set -euo pipefail
$LOAD
insmod "$MODULE/cemark_cost.ko"
file=/sys/kernel/debug/cemark_cost
ip link add d0 type dummy
ip link set d0 up
# Of a device, or of the loop alone.
count() {
  echo "$1" >$file
  read -r in out marked <$file
}
count ""
loop_in=$in loop_out=$out
echo "instructions per packet of 64 bytes, the loop's $(((loop_in + loop_out) / 100)) taken off"
printf '%-62s %8s %8s %6s %7s\n' qdisc enqueue dequeue sum marked
row() {
  tc qdisc replace dev d0 root $1
  count d0
  in=$((in - loop_in)) out=$((out - loop_out))
  sum=$((in + out))
  tc qdisc del dev d0 root
  printf '%-62s %5d.%02d %5d.%02d %6d %6d%%\n' "$1" $((in / 100)) $((in % 100)) \
    $((out / 100)) $((out % 100)) $((sum / 100)) $((marked / 320))
}
row "pfifo limit 1000"
row "codel ecn"
codel=$sum
row "cemark scheme ecn_sharp limit 4mb"
cemark=$sum
row "codel ecn ce_threshold 1us"
row "cemark scheme ecn_sharp ins_target 1us limit 4mb"
row "fq_codel ecn"
row "cemark scheme ecn_sharp queues 4 limit 4mb"
for scheme in "threshold k 1mb" "tcn threshold 10ms" red "mq_ecn k 1mb" "cedm k1 1mb k2 2mb" \
  "dynamic k 1mb" codel pie pi; do
  row "cemark scheme $scheme limit 4mb"
done
echo "cemark with ECN# costs $((cemark * 100 / codel)) % of codel (at most ${LIMIT:-125} %)"
[ $((cemark * 100)) -le $((codel * ${LIMIT:-125})) ]
