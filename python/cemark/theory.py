# SPDX-License-Identifier: MIT OR Apache-2.0
"""The papers' closed forms, one function each: ``threshold(rate="25Gbps", rtt="40us")``.

Inputs are numbers or texts with units, as ``cemark theory`` takes them; each has a default. Every
function returns a :class:`Result`: numbers in base units (bytes, seconds, packets) by name;
``math.inf`` where the formula has no bound.
``help(cemark.theory.threshold)`` shows inputs, outputs and the place in the paper.
"""

from __future__ import annotations

import inspect
import json
import keyword
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import _native


class Result(Mapping[str, float]):
    """What a theory gives. A name that has several units has one entry for each, such as
    ``K [B]`` and ``K [packets]``; the bare name is the first of them."""

    def __init__(self, name: str, source: str, outputs: list[dict[str, Any]]) -> None:
        self.name = name
        self.source = source
        self.outputs = outputs
        self._values: dict[str, float] = {}
        twice = [o["name"] for o in outputs]
        for o in outputs:
            once = twice.count(o["name"]) == 1
            self._values[o["name"] if once else f"{o['name']} [{o['unit']}]"] = o["value"]

    def __getitem__(self, name: str) -> float:
        if name in self._values:
            return self._values[name]
        for o in self.outputs:
            if o["name"] == name:
                value: float = o["value"]
                return value
        raise KeyError(f"{name}; there are {', '.join(self._values)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        lines = [f"{self.name} ({self.source})"]
        width = max(len(o["name"]) for o in self.outputs)
        lines += [
            f"  {o['name']:{width}}  {o['value']:.6g} {o['unit']}".rstrip() + f"   {o['formula']}"
            for o in self.outputs
        ]
        return "\n".join(lines)


def _word(name: str) -> str:
    """An input as Python takes it: `lambda_`, since `lambda` is a word of the language."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _function(form: dict[str, Any]) -> Callable[..., Result]:
    def theory(**inputs: object) -> Result:
        given = {name.rstrip("_"): value for name, value in inputs.items() if value is not None}
        words = [f"{name}={value}" for name, value in given.items()]
        answer = json.loads(_native.theory(form["name"], words))
        for output in answer["columns"][0]["outputs"]:
            if output.pop("unlimited", False):
                output["value"] = math.inf
        return Result(answer["name"], answer["source"], answer["columns"][0]["outputs"])

    kind = inspect.Parameter.KEYWORD_ONLY
    theory.__name__ = theory.__qualname__ = form["name"]
    theory.__module__ = __name__
    theory.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(_word(i["name"]), kind, default=i["default"]) for i in form["inputs"]],
        return_annotation=Result,
    )
    inputs = "\n".join(f"    {_word(i['name'])}: {i['doc']}" for i in form["inputs"])
    outputs = "\n".join(
        f"    {o['name']}{' [' + o['unit'] + ']' if o['unit'] else ''} = {o['formula']}"
        for o in form["outputs"]
    )
    theory.__doc__ = (
        f"{form['doc']}\n\n{form['source']}\n\nInputs:\n{inputs}\n\nOutputs:\n{outputs}\n"
    )
    return theory


FORMS: dict[str, Callable[..., Result]] = {
    form["name"]: _function(form) for form in json.loads(_native.theories())
}
"""Every theory by name."""

globals().update({n: f for n, f in FORMS.items() if n.isidentifier() and not keyword.iskeyword(n)})


def __getattr__(name: str) -> Callable[..., Result]:
    raise AttributeError(
        f"there is no theory called `{name}`; there are {', '.join(sorted(FORMS))}"
    )



def __dir__() -> list[str]:
    return sorted(["FORMS", "Result", *FORMS])
