# SPDX-License-Identifier: MIT OR Apache-2.0
"""The repository's documents as pages of the site, in the folders that they have there.

A link to a document leads to its page. A link to any other file leads to a page that shows the
file, and one to a folder to a list of its files, so that the site needs no other server.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path, PurePosixPath

# Documents of packages, which say where the documents are.
NO_PAGE = re.compile(r"^(crates/.*|python/README)\.md$")
# Larger files are not shown in full.
LARGEST = 60_000
LANGUAGES = {
    ".rs": "rust", ".c": "c", ".h": "c", ".py": "python", ".sh": "bash", ".toml": "toml",
    ".p4": "c", ".cff": "yaml", ".ipynb": "json",
}
IMAGES = (".svg", ".png")
# The end of a link: its text may have begun on an earlier line.
LINK = re.compile(r"\]\(([^()\s]+)\)")


class Broken(Exception):
    """A link that leads nowhere."""


def tracked(root: Path) -> list[str]:
    """Every file of the repository, also those that are not yet added."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    out = subprocess.run(words, cwd=root, check=True, capture_output=True, text=True).stdout
    return sorted({name for name in out.splitlines() if (root / name).is_file()})


def page_of(document: str) -> str:
    """The page of a document: that of a folder is called index."""
    path = PurePosixPath(document)
    return str(path.with_name("index.md")) if path.name == "README.md" else document


class Stage:
    """Pages that are being written."""

    def __init__(self, root: Path, out: Path) -> None:
        self.root, self.out = root, out
        self.files = tracked(root)
        self.folders = {str(p) for name in self.files for p in PurePosixPath(name).parents} - {"."}
        self.documents = [n for n in self.files if n.endswith(".md") and not NO_PAGE.match(n)]
        self.broken: list[str] = []
        # Pages that are written elsewhere, by the file that they show.
        self.made: dict[str, str] = {}
        self._shown: set[str] = set()

    def write(self, page: str, text: str) -> None:
        """Writes a page."""
        to = self.out / page
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")

    def documents_in(self) -> None:
        """Writes the page of every document."""
        for name in self.documents:
            text = (self.root / name).read_text(encoding="utf-8")
            self.write(page_of(name), self.linked(text, name))

    def linked(self, text: str, name: str) -> str:
        """The text of the document ``name`` with links that lead to pages."""
        parts, fence = [], None
        for line in text.splitlines(keepends=True):
            mark = re.match(r"\s*(```+|~~~+)", line)
            if mark and fence is None:
                fence = mark[1]
            elif mark and fence is not None and line.strip().startswith(fence):
                fence = None
            elif fence is None and "](" in line:
                line = self._line(line, name)
            parts.append(line)
        return _lists("".join(parts))

    def _line(self, line: str, name: str) -> str:
        return LINK.sub(lambda m: f"]({self._to(m[1], name)})", line)

    def _to(self, address: str, name: str) -> str:
        if "://" in address or address.startswith(("#", "mailto:")):
            return address
        path, hash_, anchor = address.partition("#")
        folder = PurePosixPath(name).parent
        target = _normal(folder / path)
        try:
            page = self._page(target)
        except Broken:
            self.broken.append(f"{name}: [{address}] leads to no file of the repository")
            return address
        here = PurePosixPath(page_of(name)).parent
        return _relative(here, page) + hash_ + anchor

    def _page(self, target: str) -> str:
        if target in self.made:
            return self.made[target]
        if target in self.documents:
            return page_of(target)
        if target in self.folders:
            readme = f"{target}/README.md"
            return page_of(readme) if readme in self.documents else self._folder(target)
        if target not in self.files:
            raise Broken
        if target.endswith(IMAGES):
            to = self.out / target
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes((self.root / target).read_bytes())
            return target
        return self._file(target)

    def _folder(self, folder: str) -> str:
        page = f"{folder}/index.md"
        if page not in self._shown:
            self._shown.add(page)
            below = [name for name in self.files if name.startswith(f"{folder}/")]
            items = []
            for name in below:
                inside = name[len(folder) + 1 :]
                linked = "/" not in inside and not name.endswith(IMAGES)
                target = _relative(PurePosixPath(folder), self._page(name)) if linked else ""
                items.append(f"- [`{inside}`]({target})" if linked else f"- `{inside}`")
            head = f"{_head(f'{folder}/')}Files of the repository.\n\n"
            self.write(page, head + "\n".join(items))
        return page

    def _file(self, name: str) -> str:
        page = f"{name}.md"
        if page not in self._shown:
            self._shown.add(page)
            text = (self.root / name).read_text(encoding="utf-8", errors="replace")
            note = ""
            if len(text) > LARGEST:
                kept = text[:LARGEST].rsplit("\n", 1)[0]
                left = text.count("\n") - kept.count("\n")
                note = f"\n\nThe repository has {left} more lines of this file.\n"
                text = kept
            fence = "`" * (max(map(len, re.findall("`+", text)), default=2) + 1)
            fence = max(fence, "```", key=len)
            language = LANGUAGES.get(PurePosixPath(name).suffix, "text")
            self.write(page, f"{_head(name)}{fence}{language}\n{text.rstrip()}\n{fence}\n{note}")
        return page


def _head(title: str) -> str:
    """The top of a page that shows a file: the search leaves it out."""
    return f"---\ntitle: {title}\nsearch:\n  exclude: true\nhide:\n  - toc\n---\n\n# `{title}`\n\n"


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            if not parts:
                return "outside of the repository"
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _relative(folder: PurePosixPath, page: str) -> str:
    ours, theirs = [p for p in folder.parts if p != "."], page.split("/")
    while ours and len(theirs) > 1 and ours[0] == theirs[0]:
        ours, theirs = ours[1:], theirs[1:]
    return "/".join([*[".."] * len(ours), *theirs])


def _lists(text: str) -> str:
    """Python's Markdown wants an empty line before a list, and four columns for what is inside."""
    out: list[str] = []
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        item = re.match(r"( *)([-*]|\d+\.) ", line)
        before = out[-1] if out else ""
        if not fenced and item and before.strip() and not re.match(r" *([-*]|\d+\.) |  ", before):
            out.append("")
        out.append(line)
    return "\n".join(out) + "\n"
