#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# namespaces.sh COMMAND...: runs a command in namespaces of its own: network, mounts and processes.
# All that it makes is gone with it.
set -euo pipefail
root=; [ "$(id -u)" = 0 ] || root="sudo -E"
exec $root unshare --mount --net --pid --fork --kill-child --mount-proc --propagation private \
  bash -c 'mount -t tmpfs run /run && mkdir /run/netns && mount -t sysfs sys /sys && exec "$@"' - \
  "$@"
