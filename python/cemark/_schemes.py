# SPDX-License-Identifier: MIT OR Apache-2.0
"""The catalogue of marking schemes."""

from __future__ import annotations

import json
from typing import Any

from . import _native


class Schemes(dict[str, dict[str, Any]]):
    """Every scheme by name. A notebook shows it as a table."""

    def __repr__(self) -> str:
        width = max(len(name) for name in self)
        return "\n".join(f"{name:{width}}  {s['doc']}" for name, s in self.items())


def schemes() -> Schemes:
    """Every marking scheme by name, with title, paper and parameters: the same as
    ``cemark schemes --format json``."""
    return Schemes((s["name"], s) for s in json.loads(_native.schemes()))
