# SPDX-License-Identifier: MIT OR Apache-2.0
"""The environment of Gymnasium: its contract, its seeds, and what an action does."""

from __future__ import annotations

import gc
import threading
from typing import Any

import cemark
import numpy as np
import pytest

pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env

PORTS = "switch0->host*"


def make(small: dict[str, Any], **more: Any) -> Any:
    return cemark.env(small, ports=PORTS, interval="500us", **more)


def episode(env: Any, action: Any, seed: int) -> tuple[float, list[Any], int]:
    env.reset(seed=seed)
    total, seen, flows, ended = 0.0, [], 0, False
    while not ended:
        observation, reward, ended, cut, info = env.step(action)
        total += reward
        flows += len(info["interval"].flows)
        seen.append(observation)
        assert not cut
    return total, seen, flows


@pytest.mark.parametrize("per_port", [False, True])
def test_it_passes_the_checks_of_gymnasium(small: dict[str, Any], per_port: bool) -> None:
    env = make(small, per_port=per_port)
    check_env(env, skip_render_check=True)
    env.close()


def test_a_seed_gives_the_same_episode_and_another_one_another(small: dict[str, Any]) -> None:
    env = make(small)
    middle = env.action()
    first, seen, flows = episode(env, middle, 5)
    again, same, _ = episode(env, middle, 5)
    assert first == again and all(np.array_equal(a, b) for a, b in zip(seen, same, strict=True))
    assert flows == 50
    assert episode(env, middle, 6)[0] != first


def test_the_middle_of_the_ranges_is_the_scenario(small: dict[str, Any]) -> None:
    env = make(small)
    run = cemark.run(small, set={"workload.load": 0.5}, seed=3, progress=False)
    env.reset(seed=3)
    times, ended = [], False
    while not ended:
        _, _, ended, _, info = env.step(env.action())
        times += [time for _, time, _ in info["interval"].flows]
    mean = [p for p in run.summary["points"] if p["scheme"] == "ECN#"][0]["fct_us"]["all"]["mean"]
    assert np.mean(times) == pytest.approx(mean, rel=1e-9)


def test_lower_thresholds_make_shorter_queues(small: dict[str, Any]) -> None:
    env = make(small, parameters={"ins_target": ("5us", "5ms"), "pst_target": ("5us", "5ms")})
    means = {}
    for name, action in {"low": [-1, -1], "high": [1, 1]}.items():
        env.reset(seed=1)
        lengths, ended = [], False
        while not ended:
            _, _, ended, _, info = env.step(np.array(action, dtype=np.float32))
            lengths.append(float(info["interval"].mean_bytes.max()))
        means[name] = np.mean(lengths)
    assert means["low"] < 0.7 * means["high"]


def test_actions_and_values_are_inverse(small: dict[str, Any]) -> None:
    env = make(small, parameters={"ins_target": ("20us", "1ms"), "pst_target": ("5us", "100us")})
    action = env.action(ins_target="60us", pst_target="10us")
    assert env.values(action) == [{"ins_target": 60_000, "pst_target": 10_000}]
    assert env.values(np.array([-9, 9]))[0] == {"ins_target": 20_000, "pst_target": 100_000}


def test_a_reward_of_ones_own_and_an_end(small: dict[str, Any]) -> None:
    env = make(small, reward=lambda seen: -float(seen.drops.sum()) - 1, steps=3)
    env.reset(seed=1)
    ends = [env.step(env.action())[1:4] for _ in range(3)]
    assert [cut for _, _, cut in ends] == [False, False, True]
    assert all(reward <= -1 for reward, _, _ in ends)


def test_what_is_wrong_is_said(small: dict[str, Any]) -> None:
    for more, wanted in [
        ({"scheme": "CoDel"}, "no scheme"),
        ({"parameters": ["k"]}, "no parameter"),
        ({"parameters": {"ins_target": ("1ms", "1us")}}, "empty"),
        ({"parameters": {"ins_target": (1, 2)}}, "no unit"),
    ]:
        with pytest.raises(cemark.UserError, match=wanted):
            make(small, **more)
    with pytest.raises(cemark.UserError, match="no port"):
        cemark.env(small, ports="leaf*")
    env = make(small)
    with pytest.raises(cemark.UserError, match="reset"):
        env.step(env.action())
    env.reset(seed=1)
    env.close()
    with pytest.raises(cemark.UserError, match="reset"):
        env.step(env.action())
    with pytest.raises(cemark.UserError, match="outside"):
        env.action(ins_target="9s")


def test_one_that_is_forgotten_leaves_no_thread(small: dict[str, Any]) -> None:
    before = threading.active_count()
    env = make(small)
    env.reset(seed=1)
    env.step(env.action())
    del env
    gc.collect()
    assert threading.active_count() == before
