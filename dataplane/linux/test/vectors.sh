#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In a test kernel: the golden vectors and random packets, on the code of the loaded module.
# EXAMPLE: the program of crates/conformance/examples/kernel.rs. DECISIONS: per scheme.
set -e
insmod "$MODULE/sch_cemark.ko"
insmod "$MODULE/cemark_test.ko"
"$EXAMPLE" "${DECISIONS:-10000}"
