# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scenarios, schemes and theories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cemark


def test_a_scenario_is_changed_without_changing_it(small: dict[str, Any]) -> None:
    s = cemark.Scenario(small, name="mine")
    t = s.with_({"workload.load": 0.3}, seeds=1)
    assert s.axes == t.axes == ["workload.load"]
    assert (len(s.points()), len(t.points())) == (12, 2)
    assert s.name == "mine" and s.title == "A star of four hosts"
    assert s.digest != t.digest and t.schemes == ["DCTCP-RED", "ECN#"]
    assert t.with_(seed=7).points()[0]["seed"] == 7
    assert "0.3" in t.text and "scenario" not in repr(s)


def test_files_texts_and_dicts_are_the_same(small: dict[str, Any], folder: Path) -> None:
    text = cemark.Scenario(small).text
    Path("my.toml").write_text(text)
    made = [
        cemark.Scenario(small),
        cemark.Scenario.from_text(text),
        cemark.Scenario.from_file("my.toml"),
        cemark.Scenario.builtin("my.toml"),
    ]
    assert len({s.digest for s in made}) == 1
    with pytest.raises(cemark.UserError, match="cannot be read"):
        cemark.Scenario.from_file("no.toml")
    with pytest.raises(cemark.ScenarioError) as raised:
        cemark.Scenario.from_text("[topology\n", name="broken").digest
    assert raised.value.file == "broken.toml"


def test_precision_is_a_fraction() -> None:
    s = cemark.Scenario.builtin("rtt-variation").with_(precision=0.05)
    assert s._command() == ["cemark", "run", "rtt-variation", "--precision", "5"]
    assert "precision" not in str(s.with_(seeds=3)._command())


def test_schemes_have_parameters() -> None:
    schemes = cemark.schemes()
    assert len(schemes) == 13
    assert "ecn_sharp_lab" in schemes  # a research scheme
    names = [p["name"] for p in schemes["ecn_sharp"]["parameters"]]
    assert "ins_target" in names and "ECN#" in schemes["ecn_sharp"]["title"]


def test_theories_give_numbers() -> None:
    k = cemark.theory.threshold(rate="25Gbps", rtt="40us")
    assert k["K"] == k["BDP"] == pytest.approx(125_000)
    assert k["K [packets]"] == pytest.approx(125_000 / 1500)
    assert cemark.theory.threshold(lambda_=0.5)["K"] == pytest.approx(62_500)
    assert "lambda C d" in repr(k)
    with pytest.raises(cemark.UserError, match="no input of threshold"):
        cemark.theory.threshold(rates="25Gbps")
    with pytest.raises(AttributeError, match="threshold"):
        cemark.theory.treshold()
    for name, form in cemark.theory.FORMS.items():
        assert len(form()) > 0, name
        assert "Inputs:" in (form.__doc__ or "")
