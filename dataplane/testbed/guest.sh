#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Inside the test kernel: loads the qdisc and lets the program CEMARK run the lab in the directory
# LAB. Its record is written there too.
set -euo pipefail
insmod "$MODULE/sch_cemark.ko"
mkdir -p /run/lab
mount -t hostfs none /run/lab -o "$LAB"
"$CEMARK" testbed agent /run/lab/lab.json /run/lab/record.json
