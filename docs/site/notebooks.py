# SPDX-License-Identifier: MIT OR Apache-2.0
"""Notebooks, run from top to bottom, as pages with what their cells answer."""

from __future__ import annotations

import html
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbclient
import nbformat

# Seeds of the notebook that sweeps ten thousand points: a fifth of them are enough for its page,
# and two for a check.
SEEDS = os.environ.get("CEMARK_SEEDS", "10")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def page(path: Path) -> str:
    """The text of the page. Ends the build for a notebook that has outputs before it runs, or no
    table and no chart after it has run."""
    notebook = nbformat.read(path, as_version=4)
    if any(cell.get("outputs") for cell in notebook.cells):
        sys.exit(f"{path}: the notebook has outputs; clear them before it is committed")
    with tempfile.TemporaryDirectory(prefix="cemark-site-") as folder:
        where = {"metadata": {"path": folder}}
        # Nothing of this terminal: pages are the same for every width of it.
        os.environ.pop("COLUMNS", None)
        os.environ["CEMARK_SEEDS"] = SEEDS
        nbclient.NotebookClient(notebook, timeout=600, resources=where).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    if not any("text/html" in output.get("data", {}) for output in outputs):
        sys.exit(f"{path}: no cell shows a table or a chart as HTML; end one with a run's table")
    parts = [_cell(cell) for cell in notebook.cells]
    short = any("CEMARK_SEEDS" in cell.source for cell in notebook.cells)
    form = f" with `CEMARK_SEEDS={SEEDS}`" if short else ""
    note = (
        f"\n\n*This page is a notebook, run{form} when the site was built:* "
        f"[`{path.name}`]({path.name}).\n"
    )
    head, _, rest = "\n\n".join(parts).partition("\n\n")
    return f"{head}{note}\n{rest}\n"


def title(path: Path) -> str:
    """The notebook's first heading."""
    text = "".join(c.source for c in nbformat.read(path, as_version=4).cells[:1])
    return next(line[2:] for line in text.splitlines() if line.startswith("# "))


def _cell(cell: Any) -> str:
    if cell.cell_type == "markdown":
        return re.sub(r"<!--.*?-->\n?", "", cell.source, flags=re.DOTALL).strip()
    shown = [text for output in cell.get("outputs", []) if (text := _output(output))]
    language = "c" if re.match(r"%%writefile \S+\.[ch]\n", cell.source) else "python"
    return "\n\n".join([f"```{language}\n{cell.source.strip()}\n```", *shown])


def _output(output: Any) -> str:
    if output.output_type == "stream":
        return _text(output.text) if output.name == "stdout" else ""
    data = output.get("data", {})
    if "image/svg+xml" in data:
        svg = "".join(data["image/svg+xml"])
        # An SVG of its own, so that its styles do not meet those of the page.
        return f'<div class="answer chart">{_image(svg)}</div>'
    if "text/html" in data:
        table = re.sub(r"<style.*?</style>", "", "".join(data["text/html"]), flags=re.DOTALL)
        table = re.sub(r"\n\s*", "\n", table).strip()
        return f'<div class="answer">{table}</div>'
    if "image/png" in data:
        png = "".join(data["image/png"].split())
        return f'<div class="answer"><img alt="A chart" src="data:image/png;base64,{png}"></div>'
    return _text("".join(data.get("text/plain", "")))


def _image(svg: str) -> str:
    import base64

    coded = base64.b64encode(svg.encode()).decode()
    found = re.search(r"<title>(.*?)</title>", svg, re.DOTALL)
    alt = html.escape(found[1] if found else "A chart")
    return f'<img alt="{alt}" src="data:image/svg+xml;base64,{coded}">'


def _text(text: str) -> str:
    lines = ANSI.sub("", text).rstrip().splitlines()
    # The last state of a line that was written several times, as bars of progress are.
    body = "\n".join(line.rsplit("\r", 1)[-1] for line in lines)
    return f"```text title=\"answer\"\n{body}\n```" if body else ""
