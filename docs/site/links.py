# SPDX-License-Identifier: MIT OR Apache-2.0
"""Whether every link of the built site leads somewhere, and whether a page asks another server."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself.
FETCHED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("use", "href"),
           ("source", "src"), ("object", "data")}
# Addresses for machines that fetch nothing: where a page is, what is before and after it.
NOT_FETCHED = {"canonical", "prev", "next", "alternate", "edit"}


class Page(HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "link" and set(given.get("rel", "").split()) & NOT_FETCHED:
            return
        for name in ("href", "src", "data"):
            if given.get(name) and tag != "base":
                self.links.append((given[name], (tag, name) in FETCHED))


def check(site: Path) -> list[str]:
    """What is wrong, one line each."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    wrong = []
    for path, page in sorted(pages.items()):
        name = path.relative_to(site)
        # The page for addresses that do not exist is shown at any of them.
        if name == Path("404.html"):
            continue
        for link, fetched in page.links:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if fetched:
                    wrong.append(f"{name}: fetches {link}")
                continue
            target = path
            if parts.path:
                target = (path.parent / unquote(parts.path)).resolve()
                if target.is_dir():
                    target = target / "index.html"
            if not target.is_file() or site.resolve() not in target.resolve().parents:
                wrong.append(f"{name}: {link} leads nowhere")
            elif parts.fragment and target.suffix == ".html":
                # `__` is what the theme itself switches.
                anchors = pages[site / target.resolve().relative_to(site.resolve())].anchors
                if unquote(parts.fragment) not in anchors and not parts.fragment.startswith("__"):
                    wrong.append(f"{name}: {link} names no place of that page")
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        for url in re.findall(r"(?:url\(|@import )[\"']?(https?:[^\"')]+)", text):
            wrong.append(f"{path.relative_to(site)}: fetches {url}")
    return wrong
