# SPDX-License-Identifier: MIT OR Apache-2.0
"""The JSON schema for editors takes every scenario of the repository and finds mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
GOOD = """
max_time = "1ms"
[topology]
kind = "star"
hosts = 3
[[workload]]
kind = "long"
pattern = "pairs"
pairs = [[0, 1]]
[transport]
init_window = 4
[[scheme]]
marker = "red"
kmin = "20us"
"""


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft7Validator:
    words = [sys.executable, "-m", "cemark", "check", "--schema"]
    printed = subprocess.run(words, capture_output=True, text=True, check=True)
    document = json.loads(printed.stdout)
    jsonschema.Draft7Validator.check_schema(document)
    return jsonschema.Draft7Validator(document)


def mistakes(schema: jsonschema.Draft7Validator, scenario: Any) -> list[str]:
    return [error.message for error in schema.iter_errors(scenario)]


FOLDERS = ("scenarios", "examples", "crates/scenario/tests/corpus/good")
SCENARIOS = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.toml"))]


@pytest.mark.parametrize("path", SCENARIOS, ids=[path.stem for path in SCENARIOS])
def test_every_scenario_fits(schema: jsonschema.Draft7Validator, path: Path) -> None:
    assert mistakes(schema, tomllib.loads(path.read_text())) == []


def free(value: Any, calibration: dict[str, Any]) -> Any:
    """The value with each `"$name"` replaced by that of figures/calibration.toml."""
    if isinstance(value, str) and value.startswith("$"):
        return calibration[value[1:]]["value"]
    if isinstance(value, list):
        return [free(item, calibration) for item in value]
    if isinstance(value, dict):
        return {key: free(item, calibration) for key, item in value.items()}
    return value


def test_the_scenario_part_of_every_figure_fits(schema: jsonschema.Draft7Validator) -> None:
    calibration = tomllib.loads((ROOT / "figures/calibration.toml").read_text())
    figures = 0
    for path in sorted((ROOT / "figures").glob("*.toml")):
        figure = tomllib.loads(path.read_text())
        if "row" not in figure:
            continue
        beside = ("row", "variant", "quick", "full", "why")
        scenario = {key: value for key, value in figure.items() if key not in beside}
        assert mistakes(schema, free(scenario, calibration)) == [], path.name
        figures += 1
    assert figures > 20


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("max_time", "max_tim"),
        ('"1ms"', '"1mss"'),
        ('"star"', '"stra"'),
        ("hosts = 3", "hosts = 1"),
        ("hosts = 3", 'hosts = "3"'),
        ("hosts = 3", "host = 3"),
        ("init_window", "initial-window"),
        ("[[workload]]", "[[workloads]]"),
        ('kind = "long"', "count = 1"),
        ('"red"', '"rde"'),
        ("kmin", "kmni"),
        ('marker = "red"', 'label = "x"'),
        ("[transport]", "[transport]\nsack = 1"),
        ("[transport]", "[transport]\ng = 2"),
        ("[transport]", '[switch]\nbuffer = "1us"\n[transport]'),
    ],
)
def test_mistakes_are_found(schema: jsonschema.Draft7Validator, right: str, wrong: str) -> None:
    assert mistakes(schema, tomllib.loads(GOOD)) == []
    assert right in GOOD
    assert mistakes(schema, tomllib.loads(GOOD.replace(right, wrong, 1))) != []
