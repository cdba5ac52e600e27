#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The first process of a test kernel, whose root is the host's, read-only. Runs the script RUN.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C HOME=/root TMPDIR=/run/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs run /run
mount -t debugfs debugfs /sys/kernel/debug
mkdir -p /run/netns /run/tmp
ip link set lo up
. "$VARIABLES"
"$RUN"
echo "@@exit $?"
exec halt -f -p
