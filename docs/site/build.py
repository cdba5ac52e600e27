# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the site: pages of the documents, of the package and of the notebooks, then their links
are checked. `docs/site/build.sh` installs what this needs.

usage: build.py FOLDER [--without-notebooks]
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import links
from stage import Stage, page_of

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# The order of pages. Every page of docs/ is in one of these; schemes, notebooks and the package's
# pages follow from what there is.
START = ["README.md", "docs/README.md", "docs/install.md", "docs/glossary.md"]
USE = [
    "docs/scenarios.md", "docs/output.md", "docs/own-marker.md", "docs/speed.md",
    "docs/cluster.md", "docs/formats.md",
    "docs/transports.md", "docs/hosts.md", "docs/classes.md", "docs/pfc.md", "docs/dcib.md",
    "docs/testbed.md",
]
DEPLOY = [
    "docs/dataplane.md", "docs/linux.md", "docs/netdev-qinq.md", "docs/edge.md", "docs/p4.md",
    "dataplane/p4/README.md",
]
EVIDENCE = [
    "docs/operators.md", "docs/doctor.md", "docs/export.md", "docs/search.md",
    "docs/trust.md", "docs/figures.md", "docs/findings.md", "docs/questions.md",
    "bench/README.md", "vectors/README.md", "oracle/README.md", "workloads/README.md",
]
DEVELOP = [
    "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/release.md",
    "docs/site/README.md",
]
# The notebook to begin with; the others follow by name.
FIRST_NOTEBOOK = "in_ten_minutes"


def heading(path: Path) -> str:
    """The first heading of a document, without marks."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return re.sub(r"[`*]", "", line[2:]).strip()
    raise SystemExit(f"{path}: it has no heading `# …`")


def navigation(stage: Stage, notebooks: dict[str, str], api: dict[str, str]) -> list[object]:
    """The pages in order, with their titles."""

    def entries(names: list[str]) -> list[object]:
        return [{heading(ROOT / n): page_of(n)} for n in names]

    schemes = [n for n in stage.documents if n.startswith("docs/schemes/")]
    named = {*START, *USE, *DEPLOY, *EVIDENCE, *DEVELOP, *schemes, "docs/python.md"}
    missing = [n for n in stage.documents if n not in named and n.startswith("docs/")]
    gone = [n for n in named if n not in stage.documents]
    if missing or gone:
        raise SystemExit(
            f"docs/site/build.py: no place in the navigation for {missing}; no file for {gone}. "
            "Write them into one of the lists at the top, or take them out."
        )
    python: list[object] = [{"Guide": "docs/python.md"}]
    python += [{title: page} for page, title in notebooks.items()]
    python += [
        {"Package" if p == "api/index.md" else f"cemark.{Path(p).stem}": p} for p in api
    ]
    return [
        {"cemark": "index.md"},
        {"Start": entries(START[1:])},
        {"Simulate": entries(USE)},
        {"Python": python},
        {"Schemes": entries(schemes)},
        {"Deploy": entries(DEPLOY)},
        {"Evidence": entries(EVIDENCE)},
        {"Develop": entries(DEVELOP)},
    ]


def main() -> None:
    """Builds into the folder that is named."""
    out = Path(sys.argv[1])
    pages = out / "pages"
    shutil.rmtree(out, ignore_errors=True)
    stage = Stage(ROOT, pages)
    if "--without-notebooks" not in sys.argv[2:]:
        found = [n for n in stage.files if re.match(r"python/notebooks/[^/]*\.ipynb$", n)]
        found.sort(key=lambda n: FIRST_NOTEBOOK not in n)
        stage.made = {name: f"{name.removesuffix('.ipynb')}.md" for name in found}
    stage.documents_in()
    titles: dict[str, str] = {}
    if stage.made:
        import notebooks

        for name, page in stage.made.items():
            path = ROOT / name
            stage.write(page, stage.linked(notebooks.page(path), name))
            shutil.copy(path, pages / name)
            titles[page] = notebooks.title(path)
            print(f"ran {name}")
    import api

    made = api.pages()
    for page, text in made.items():
        stage.write(page, text)
    if stage.broken:
        raise SystemExit("\n".join(stage.broken))
    shutil.copy(HERE / "style.css", pages / "style.css")
    nav = navigation(stage, titles, made)
    settings = (HERE / "zensical.toml").read_text(encoding="utf-8")
    # TOML's inline tables are JSON with `=`, for texts without control characters.
    text = re.sub(r'("(?:[^"\\]|\\.)*"): ', r"\1 = ", json.dumps(nav, ensure_ascii=False))
    settings = settings.replace("[project]\n", f"[project]\nnav = {text}\n", 1)
    (out / "zensical.toml").write_text(settings, encoding="utf-8")
    zensical = Path(sys.executable).with_name("zensical")
    subprocess.run([zensical, "build", "--clean", "--strict"], cwd=out, check=True)
    html = out / "html"
    wrong = links.check(html)
    if wrong:
        raise SystemExit("\n".join([*wrong, f"{len(wrong)} broken links"]))
    number = sum(1 for _ in html.rglob("*.html"))
    size = sum(p.stat().st_size for p in html.rglob("*") if p.is_file()) / 1e6
    print(f"{html}: {number} pages, {size:.1f} MB, no broken link, nothing from another server")


if __name__ == "__main__":
    main()
