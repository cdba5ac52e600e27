# SPDX-License-Identifier: MIT OR Apache-2.0
"""Looks at the built site in Chromium, wide and as a phone: no page may be wider than the screen,
ask another server for anything or print an error, and the search must find a word.

usage: look.py SITE PICTURES
"""

from __future__ import annotations

import base64
import functools
import http.server
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "screens"))
from browser import Browser  # noqa: E402

WIDTHS = (1280, 390)
PAGES = [
    "", "docs/", "docs/scenarios/", "docs/formats/", "docs/python/", "docs/schemes/ecn_sharp/",
    "api/", "api/theory/", "ARCHITECTURE/", "examples/", "examples/own_marker.c/",
]
SETTLED = "document.fonts.ready.then(() => new Promise((done) => setTimeout(done, 150)))"
WIDTH = "document.documentElement.scrollWidth"
OPEN = """
(document.querySelector('.md-search__button') || document.querySelector('[for=__search]')).click();
new Promise((done) => setTimeout(done, 1000))
"""
FOUND = """
(async () => {
  // The search is in a tree of its own below its element.
  const linked = (tree) => [...tree.querySelectorAll('*')].some((e) =>
    (e.shadowRoot && linked(e.shadowRoot)) ||
    (tree !== document && e.tagName === 'A' && e.textContent.toLowerCase().includes('sojourn')));
  for (let i = 0; i < 100; i++) {
    await new Promise((done) => setTimeout(done, 100));
    if (linked(document)) return true;
  }
  return false;
})()
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    """Looks at pages and keeps pictures of them."""
    site, pictures = Path(sys.argv[1]), Path(sys.argv[2])
    pictures.mkdir(parents=True, exist_ok=True)
    notebooks = sorted((site / "python" / "notebooks").glob("*/index.html"))
    pages = PAGES + [f"{p.parent.relative_to(site)}/" for p in notebooks]
    serve = functools.partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}/"
    wrong: list[str] = []
    browser = Browser()
    try:
        for page in pages:
            for width in WIDTHS:
                where = f"{page or 'README'} at {width} px"
                browser.open(home + page, width)
                browser.evaluate(SETTLED)
                if (wide := browser.evaluate(WIDTH)) > width:
                    wrong.append(f"{where}: the page is {wide} px wide")
                for event in browser.events:
                    method, said = event.get("method"), event.get("params", {})
                    if method == "Network.requestWillBeSent":
                        url = said["request"]["url"]
                        if not url.startswith((home, "data:", "blob:")):
                            wrong.append(f"{where}: asks for {url}")
                    elif method == "Runtime.exceptionThrown":
                        wrong.append(f"{where}: {said['exceptionDetails']['text']}")
                    elif method == "Log.entryAdded" and said["entry"]["level"] == "error":
                        wrong.append(f"{where}: {said['entry']['text']} {said['entry'].get('url')}")
                name = page.strip("/").replace("/", "-") or "README"
                browser.picture(pictures / f"{name}-{width}.png")
        browser.open(home, WIDTHS[0])
        browser.evaluate(SETTLED)
        browser.evaluate(OPEN)
        browser.call("Input.insertText", text="sojourn")
        if not browser.evaluate(FOUND):
            wrong.append("the search does not find `sojourn`")
        shot = browser.call("Page.captureScreenshot")
        (pictures / "search.png").write_bytes(base64.b64decode(shot["data"]))
    finally:
        browser.close()
        server.shutdown()
    if wrong:
        raise SystemExit("\n".join([*wrong, f"{len(wrong)} faults; pictures in {pictures}"]))
    print(f"{len(pages)} pages at {WIDTHS[0]} and {WIDTHS[1]} px, 0 faults; pictures in {pictures}")


if __name__ == "__main__":
    main()
