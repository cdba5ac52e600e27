#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Finds ECN#'s parameters for rtt-variation with Optuna, and says how far the rule of thumb, which
the scenario uses, is from them.

    pip install 'cemark[rl,tune]'
    python3 python/examples/tune_ecn_sharp.py --trials 25 --flows 200

The objective is the mean slowdown of flows: the completion time over that in an empty network, as a
geometric mean, since slowdowns range over factors. Every trial simulates the same seeds, so that
all meet the same flows, paths and base RTTs (common random numbers). The winner of a search is
lucky on the seeds that it was found on: it is confirmed on others, by differences seed by seed.
"""

from __future__ import annotations

import argparse
import math
import statistics

import cemark
import optuna

NAMES = ["ins_target", "pst_target", "pst_interval"]
# Quantiles of Student's t for 95 %, by degrees of freedom.
T95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}


def log_slowdown(env: cemark.MarkingEnv, action: object, seed: int) -> float:
    """Mean of the logarithms of all slowdowns of one run."""
    env.reset(seed=seed)
    logs: list[float] = []
    over = False
    while not over:
        _, _, over, _, info = env.step(action)
        logs += [math.log(time / ideal) for _, time, ideal in info["interval"].flows]
    return statistics.fmean(logs)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--trials", type=int, default=25)
    words.add_argument("--flows", type=int, default=200)
    words.add_argument("--load", type=float, default=0.5)
    words.add_argument("--seeds", type=int, default=3, help="seeds of the search")
    words.add_argument("--held-out", type=int, default=6, help="other seeds, which confirm (2-10)")
    words.add_argument("--seed", type=int, default=1, help="of the search itself")
    given = words.parse_args()
    env = cemark.env(
        "rtt-variation",
        set={"workload.flows": given.flows, "workload.load": given.load},
        scheme="ECN#",
        parameters=NAMES,
        # Values are set once, at the beginning of each run.
        interval="10ms",
        samples=1,
    )
    rule = env.action()
    seeds = range(1, given.seeds + 1)

    def action_of(trial: optuna.Trial) -> object:
        shares = {name: trial.suggest_float(name, -1.0, 1.0) for name in NAMES}
        return rule * 0 + [shares[name] for name in NAMES]

    def objective(trial: optuna.Trial) -> float:
        action = action_of(trial)
        return statistics.fmean(log_slowdown(env, action, seed) for seed in seeds)

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=given.seed))
    # The rule of thumb is the first trial.
    study.enqueue_trial(dict.fromkeys(NAMES, 0.0))
    study.optimize(objective, n_trials=given.trials)
    best = rule * 0 + [study.best_params[name] for name in NAMES]

    def shown(action: object) -> str:
        values = env.values(action)[0]
        return ", ".join(f"{name} {values[name] / 1000:.1f} us" for name in NAMES)

    print(f"rule of thumb   {shown(rule)}")
    print(f"best of {given.trials:<7} {shown(best)}")
    first = study.trials[0].value
    print(
        f"seeds of the search (1 to {given.seeds}): slowdown {math.exp(first):.3f} by the rule, "
        f"{math.exp(study.best_value):.3f} at best"
    )
    others = range(1001, 1001 + given.held_out)
    pairs = [(log_slowdown(env, rule, s), log_slowdown(env, best, s)) for s in others]
    gains = [after - before for before, after in pairs]
    mean = statistics.fmean(gains)
    half = T95[len(gains) - 1] * statistics.stdev(gains) / math.sqrt(len(gains))
    low, high = (100 * math.expm1(x) for x in (mean - half, mean + half))
    before = math.exp(statistics.fmean(b for b, _ in pairs))
    print(
        f"held-out seeds ({given.held_out}): slowdown {before:.3f} by the rule, "
        f"{before * math.exp(mean):.3f} with the best values: {100 * math.expm1(mean):+.1f} % "
        f"(95 % interval {low:+.1f} to {high:+.1f} %)"
    )
    if low <= 0 <= high:
        print("The interval contains zero: the rule of thumb is not shown to be worse.")


if __name__ == "__main__":
    main()
