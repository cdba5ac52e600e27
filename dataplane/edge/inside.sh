#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The script SCRIPT, as the test kernel's only work.
exec python3 -u "$SCRIPT"
