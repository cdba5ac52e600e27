# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pages of the Python package, from the docstrings and signatures of the installed one.

The classes of `cemark.marking` and the functions of `cemark.theory` are made when the package is
imported, so a reader of its source would not find them.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

import cemark

# Words at the end of a line below which an indented list follows.
LISTS = ("Inputs:", "Outputs:", "Parameters:")
ROLE = re.compile(r":(?:class|meth|func|data|attr):`~?([^`]+)`")


def pages() -> dict[str, str]:
    """Each page of the package by its path."""
    package = [
        "# The package `cemark`\n\nWhat the package has, from its docstrings. "
        "The [guide](../docs/python.md) shows how to use it.\n",
        "| name | what it is |\n|---|---|",
    ]
    bodies = []
    for name in cemark.__all__:
        value = getattr(cemark, name)
        if inspect.ismodule(value):
            package.append(f"| [`cemark.{name}`]({name}.md) | {_first(value)} |")
        elif callable(value):
            package.append(f"| [`{name}`](#{_anchor(name)}) | {_first(value)} |")
            bodies.append(_entry(name, value, f"cemark.{name}"))
    made = {"api/index.md": "\n".join(package) + "\n\n" + "\n".join(bodies)}
    for name in cemark.__all__:
        value = getattr(cemark, name)
        if inspect.ismodule(value):
            made[f"api/{name}.md"] = _module(name, value)
    return made


def _module(name: str, module: Any) -> str:
    listed = getattr(module, "__all__", None) or dir(module)
    values = [(n, getattr(module, n)) for n in listed if not n.startswith("_")]
    ours = [
        (n, v)
        for n, v in values
        if callable(v) and str(getattr(v, "__module__", "")).startswith(module.__name__)
    ]
    body = "\n".join(_entry(n, v, f"cemark.{name}.{n}") for n, v in ours)
    return f"# `cemark.{name}`\n\n{_text(inspect.getdoc(module) or '')}\n\n{body}"


def _anchor(name: str) -> str:
    return name.lower()


def _entry(name: str, value: Any, path: str) -> str:
    head = f"## `{name}` {{ #{_anchor(name)} }}\n\n"
    parts = [head, _signature(value, path), _text(_doc(value))]
    if inspect.isclass(value):
        for member, what in vars(value).items():
            if member.startswith("_") and member != "__init__":
                continue
            entry = _member(name, member, what)
            if entry:
                parts.append(entry)
    return "\n".join(parts) + "\n"


def _member(owner: str, name: str, what: Any) -> str:
    inner = what.__func__ if isinstance(what, (classmethod, staticmethod)) else what
    # Markdown would read `__` as bold type.
    anchor = f"{{ #{_anchor(owner)}.{_anchor(name).strip('_')} }}"
    if isinstance(what, property):
        doc = _text(inspect.getdoc(what) or "")
        return f"### `{owner}.{name}` {anchor}\n\n{doc}\n"
    # A docstring of its own, not one of `object`.
    if not inspect.isfunction(inner) or not inner.__doc__:
        return ""
    shown = owner if name == "__init__" else name
    title = f"{owner}(…)" if name == "__init__" else f"{owner}.{name}"
    return f"### `{title}` {anchor}\n\n{_signature(inner, shown, True)}\n{_text(_doc(inner))}\n"


def _signature(value: Any, shown: str, method: bool = False) -> str:
    """A block of code with the signature, one argument on each line where it is long."""
    if inspect.isclass(value):
        bases = [b.__name__ for b in value.__bases__ if b is not object]
        of = f"({', '.join(bases)})" if bases else ""
        return f"```python\nclass {shown}{of}\n```\n"
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    given = list(signature.parameters.values())
    if method and given and given[0].name in ("self", "cls"):
        signature = signature.replace(parameters=given[1:])
    # Types are shown as they are written; defaults that are texts keep their quotes.
    text = re.sub(r"(: |-> )(['\"])(.*?)\2", r"\1\3", str(signature))
    text = text.replace("cemark.theory.", "")
    line = f"{shown}{text}"
    if len(line) > 88:
        inside, _, returned = text[1:].rpartition(")")
        arguments = re.split(r", (?![^\[]*\])", inside)
        wrapped = "".join(f"    {a},\n" for a in arguments)
        line = f"{shown}(\n{wrapped}){returned}"
    return f"```python\n{line}\n```\n"


def _doc(value: Any) -> str:
    return inspect.getdoc(value) or ""


def _first(value: Any) -> str:
    first = _text(_doc(value)).split("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=\.) |: ``", first)[0].replace("|", "\\|")


def _text(doc: str) -> str:
    """A docstring as Markdown: roles, blocks of code behind `::`, examples with `>>>`, and lists of
    inputs."""
    doc = ROLE.sub(lambda m: f"`{m[1]}`", doc).replace("``", "`")
    out: list[str] = []
    block: list[str] = []
    opened = False

    def flush() -> None:
        if block:
            body = textwrap.dedent("\n".join(block)).strip("\n")
            is_list = bool(out) and out[-1].endswith(LISTS)
            language = "text" if is_list else "python"
            out.extend(["", f"```{language}", body, "```", ""])
            block.clear()

    for line in doc.splitlines():
        inside = line.startswith("    ") and (opened or bool(block))
        if line.startswith((">>>", "...")) or inside or (block and not line.strip()):
            block.append(line)
            continue
        flush()
        opened = line.endswith(("::", *LISTS)) or (opened and not line.strip())
        out.append(line[:-1] if line.endswith("::") else line)
    flush()
    return "\n".join(out) + "\n"
