#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Three policies beside each other in the environment of rtt-variation: thresholds that stay,
random ones, and a rule by hand that lowers them while queues are long.

    pip install 'cemark[rl]'
    python3 python/examples/policies.py
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import cemark
import numpy as np

Policy = Callable[[np.ndarray], np.ndarray]


def main() -> None:
    env = cemark.env(
        "rtt-variation",
        set={"workload.flows": 100, "workload.load": 0.5},
        parameters=["ins_target", "pst_target"],
        interval="500us",
    )
    env.action_space.seed(1)
    # The sixth number is the mean queue of the port with the longest one, over its buffer.
    longest = 5
    policies: dict[str, Policy] = {
        "fixed": lambda _: env.action(),
        "random": lambda _: env.action_space.sample(),
        "by hand": lambda seen: env.action() - np.float32(0.5 * (seen[longest] > 0.1)),
    }
    print(f"{'policy':<10}{'reward a step':>15}{'mean slowdown':>16}{'marks':>10}")
    for name, policy in policies.items():
        rewards, slowdowns, marks = [], [], 0
        for seed in (1, 2):
            seen, _ = env.reset(seed=seed)
            over = False
            while not over:
                seen, reward, over, _, info = env.step(policy(seen))
                rewards.append(reward)
                slowdowns += [time / ideal for _, time, ideal in info["interval"].flows]
                marks += int(info["interval"].marks.sum())
        mean, slow = statistics.fmean(rewards), statistics.fmean(slowdowns)
        print(f"{name:<10}{mean:>15.3f}{slow:>16.2f}{marks:>10}")


if __name__ == "__main__":
    main()
