# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compare ECN marking schemes packet by packet on simulated data-centre fabrics.

>>> import cemark
>>> run = cemark.run("rtt-variation", set={"workload.load": [0.5, 0.9]}, seeds=3)
>>> run.table                     # the paired comparison with intervals
>>> run.flows.to_pandas()         # every flow
>>> cemark.theory.threshold(rate="25Gbps", rtt="40us")

docs/python.md is the guide, docs/scenarios.md describes scenarios.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# What is imported here is imported by everyone: the rest comes when it is first used.
_PLACES = {
    "run": "_run",
    "sweep": "_sweep",
    "compare": "_compare",
    "Comparison": "_compare",
    "Run": "_run",
    "Table": "_run",
    "Frame": "_run",
    "Chart": "_plot",
    "Scenario": "_scenario",
    "schemes": "_schemes",
    "env": "_env",
    "Interval": "_env",
    "MarkingEnv": "_env",
    "Error": "_errors",
    "UserError": "_errors",
    "ScenarioError": "_errors",
    "MachineError": "_errors",
    "MarkerError": "_errors",
    "ScenarioWarning": "_errors",
    "Marker": "_marker",
    "Param": "_marker",
    "CompiledMarker": "_marker",
    "compile_marker": "_marker",
    "__version__": "_native",
}
_MODULES = ("marking", "theory")

if TYPE_CHECKING:
    from . import marking, theory
    from ._compare import Comparison, compare
    from ._env import Interval, MarkingEnv, env
    from ._errors import (
        Error,
        MachineError,
        MarkerError,
        ScenarioError,
        ScenarioWarning,
        UserError,
    )
    from ._marker import CompiledMarker, Marker, Param, compile_marker
    from ._native import __version__
    from ._plot import Chart
    from ._run import Frame, Run, Table, run
    from ._scenario import Scenario
    from ._schemes import schemes
    from ._sweep import sweep

__all__ = [
    "Chart",
    "Comparison",
    "CompiledMarker",
    "Error",
    "Frame",
    "Interval",
    "MachineError",
    "Marker",
    "MarkerError",
    "MarkingEnv",
    "Param",
    "Run",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "Table",
    "UserError",
    "__version__",
    "compare",
    "compile_marker",
    "env",
    "marking",
    "run",
    "schemes",
    "sweep",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = importlib.import_module(f"{__name__}.{name}")
    elif name in _PLACES:
        value = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES, *_MODULES])
