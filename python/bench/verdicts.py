# SPDX-License-Identifier: MIT OR Apache-2.0
"""Verdicts a CPU second of each scheme of `cemark.marking`, on arrays, in one thread.

usage: python verdicts.py [PACKETS]

Packets are 1500 bytes each 1.2 us, that is 10 Gb/s. Their waits and lengths rise and fall between
nothing and 400 us or 500 KB, so that every branch of a scheme is taken. The fastest of five is
printed, with the share that is marked. A wheel of python/test.sh has every debug assertion; one of
`pip install ./python` has none.
"""

from __future__ import annotations

import sys
import time

import cemark
import numpy as np


def main() -> None:
    """Measures."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    now = np.arange(n, dtype=np.uint64) * 1_200
    wave = np.abs((np.arange(n) % 20_000) - 10_000) / 10_000
    wait = (wave * 400_000).astype(np.uint64)
    queue = (wave * 500_000).astype(np.uint32)
    random = np.random.default_rng(1).integers(0, 2**64, n, dtype=np.uint64)
    out = np.empty(n, dtype=np.uint8)
    print(f"{'scheme':14} {'hook':8} {'M verdicts a CPU second':>24} {'marked':>8}")
    for name, scheme in cemark.schemes().items():
        kind = cemark.marking.SCHEMES[name]
        best = 0.0
        for _ in range(5):
            marker = kind(rate="10Gbps")
            hook = "dequeue" if marker.hook == "dequeue" else "enqueue"
            more = {"sojourn": wait} if hook == "dequeue" else {}
            begin = time.thread_time()
            getattr(marker, hook)(
                now, queue_bytes=queue, round=20_000, packet_hash=random, out=out, **more
            )
            best = max(best, n / (time.thread_time() - begin))
        marked = np.count_nonzero(out) / n
        print(f"{scheme['name']:14} {hook:8} {best / 1e6:24.0f} {marked:8.1%}", flush=True)


if __name__ == "__main__":
    main()
