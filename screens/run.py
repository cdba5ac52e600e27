#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Looks at reports in a browser: as wide as on a desk, a tablet and a phone, light, dark, printed.

    python3 screens/run.py [--program PATH] [--out DIR] [--keep DIR] [PAGE.html …]

It takes a picture of each, and fails if anything does not fit, is cut off, overlaps, is too small
or too pale, if a page asks the network for anything, prints an error, or is larger than 5 MB. It
uses what a page offers: links of the grid lead to charts, the legend hides a scheme, the pointer
and the keys read values, a table is copied as CSV. First it proves on pages with one fault each
that it would notice.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import time

from browser import Browser

HERE = pathlib.Path(__file__).parent
FAULTS = (HERE / "faults.js").read_text()
USE = (HERE / "use.js").read_text()
WIDTHS = (1280, 768, 390)
# A4 without the margins of the style sheet, at 96 px an inch.
PAPER = 703
MOST_BYTES = 5_000_000
# Sheets of paper that a printed page fills at most.
MOST_PRINTED = 40
OPEN_ALL = "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
# Resize observers and fonts have had their turn.
SETTLED = "document.fonts.ready.then(() => new Promise((done) => setTimeout(done, 60)))"

# The command that makes each page. SWEEP-N.toml has the first N axes of sweep.toml.
REPORTS = {
    "run": ["run", "screens/one.toml"],
    "seed": ["run", "screens/one.toml", "--seed", "1"],
    "precision": ["run", "screens/one.toml", "--precision", "40", "--set", "workload.flows=200"],
    "schemes": ["run", "screens/many.toml"],
    "pauses": ["run", "screens/pauses.toml"],
    "sweep-1": ["run", "SWEEP-1.toml"],
    "sweep-2": ["run", "SWEEP-2.toml"],
    "sweep-3": ["run", "SWEEP-3.toml"],
    "figure": ["figure", "ecnsharp-20", "--quick"],
    "figure-schemes": ["figure", "cedm-parts", "--quick"],
    "formulas": ["figure", "mqecn-numbers", "--quick"],
}
# Pages of papers, each drawn from the run of one of the reports above.
PAPERS = {"paper": ("ecnsharp", "figure"), "paper-schemes": ("cedm", "figure-schemes"),
          "closed-forms": ("mqecn", "formulas")}

# Pages with one fault each: a word of what must be found, and the body.
FAULTY = {
    "the page is": "<div style='width:3000px;height:1em'>wide</div>",
    "leaves its box": "<div style='width:5em'><p style='white-space:nowrap'>a sentence that is "
                      "far too long for it</p></div>",
    "is cut off": "<p style='width:9em;overflow:hidden;white-space:nowrap'>a sentence that is far "
                  "too long</p>",
    "px high in": "<p style='width:9em;height:1em;overflow:hidden'>a sentence that is far too "
                  "long for one line</p>",
    "without a hint": "<div class='scroll' style='width:90px;overflow:auto'><p style='width:"
                      "500px'>wide</p></div>",
    "outside its chart": "<svg role='img' aria-label='x' viewBox='0 0 99 40' width='99'><text "
                         "x='80' y='20'>leaves it</text></svg>",
    "overlap in a chart": "<svg role='img' aria-label='x' viewBox='0 0 99 40' width='99'><text "
                          "x='5' y='20'>one</text><text x='12' y='22'>two</text></svg>",
    "letters of": "<svg role='img' aria-label='x' viewBox='0 0 99 40' width='99'><text font-size="
                  "'10' x='5' y='20'>small</text></svg>",
    "no description": "<svg viewBox='0 0 99 40' width='99'><path d='M0 0h9'/></svg>",
    "a contrast of": "<p style='color:#aaa'>pale</p>",
    "on its tile": "<svg role='img' aria-label='x' viewBox='0 0 99 40' width='99'><g><rect width="
                   "'90' height='40' fill='#555'/><text x='9' y='20'>9</text></g></svg>",
    "leads nowhere": "<div class='glance'><a href='#nowhere'>better</a></div>",
    "does not hide": "<div class='chart'><div class='legend'><button data-k='1' aria-pressed="
                     "'true'>a</button></div><svg aria-hidden='true'><g data-k='1'/></svg></div>",
    "no value": "<div class='chart'><svg aria-hidden='true' width='99' height='40'><g class='plot' "
                "data-box='0 0 99 40'></g></svg></div>",
    "is not CSV": "<div class='scroll'><table><tr><td>1</table></div><button class='copy'>Copy"
                  "</button>",
    "keeps its unit": "<div class='scroll'><table><tbody><tr><td>1</table></div><button "
                      "class='copy' onclick=\"navigator.clipboard.writeText("
                      "'a\\r\\n1.5 µs\\r\\n')\">Copy</button>",
    "asks the network": "<img src='http://127.0.0.1:9/picture.png' alt=''>",
    "prints an error": "<script>throw new Error('broken')</script>",
    "bytes": f"<!--{'x' * MOST_BYTES}-->",
}
CLEAN = "<p>A page without a fault.</p><svg role='img' aria-label='x' viewBox='0 0 99 40'>" \
    "<text x='5' y='20'>one</text><text x='60' y='20'>two</text></svg>"


def noticed(browser, url):
    """What the page did that no report may do."""
    found = []
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            asked = params["request"]["url"]
            if asked != url and not asked.startswith("data:"):
                found.append(f"asks the network for {asked}")
        elif method == "Runtime.exceptionThrown":
            found.append(f"prints an error: {params['exceptionDetails']['text']}")
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            found.append(f"prints an error: {params['entry']['text']}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            found.append("prints an error to the console")
    return found


def look(browser, page, width, dark=False, media="screen", save=None):
    """The faults of a page at a width; `save` is where its picture goes."""
    url = page.resolve().as_uri()
    browser.open(url, width, dark, media)
    if media == "print":
        browser.evaluate(OPEN_ALL)
    browser.evaluate(SETTLED)
    found = browser.evaluate(FAULTS)
    if save:
        browser.picture(save)
    # What is folded away is looked at too.
    browser.evaluate(OPEN_ALL)
    browser.evaluate(SETTLED)
    found += [f for f in browser.evaluate(FAULTS) if f not in found]
    if media == "screen":
        found += browser.evaluate(USE)
    size = page.stat().st_size
    if size > MOST_BYTES:
        found.append(f"has {size} bytes, more than {MOST_BYTES}")
    return found + noticed(browser, url)


def prove(browser, out):
    """Pages with one fault each must fail, and a page without one must not."""
    page = out / "faulty.html"
    frame = "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' " \
        "content='width=device-width'><title>x</title><body>{}</body></html>"
    for word, body in FAULTY.items():
        page.write_text(frame.format(body))
        found = look(browser, page, 390)
        if not any(word in fault for fault in found):
            raise SystemExit(f"a page with this fault passed: {word}\nfound: {found}")
    page.write_text(frame.format(CLEAN))
    found = look(browser, page, 390)
    if found:
        raise SystemExit(f"a page without a fault failed: {found}")
    page.unlink()
    print(f"{len(FAULTY)} pages with one fault each fail, one without passes")


def sweeps(out):
    """Scenarios with the first axes of the sweep: paths by the words of the table above."""
    begin, axes = (HERE / "sweep.toml").read_text().split("[sweep]\n")
    axes, end = axes.split("\n\n")
    lines = axes.splitlines()
    paths = {}
    for many in range(1, len(lines) + 1):
        path = out / f"sweep-{many}.toml"
        path.write_text("\n".join([f"{begin}[sweep]", *lines[:many], "", end]))
        paths[f"SWEEP-{many}.toml"] = path
    return paths


def reports(program, out):
    """Makes the reports; a second run finds them there and only writes the page again."""
    pages = {}
    paths = sweeps(out)
    for name, words in REPORTS.items():
        where = out / "runs" / name
        command = [program, *(paths.get(word, word) for word in words), "--out", where]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = sorted(where.glob("**/report.html"), key=lambda p: p.stat().st_mtime)
        # A figure whose quick run differs from what is expected ends with 1 and has its page.
        if done.returncode > 1 or not found:
            raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
        pages[name] = found[-1]
    for name, (paper, report) in PAPERS.items():
        where = out / "runs" / name
        command = [program, "figure", "--paper", paper, "--from", out / "runs" / report,
                   "--out", where]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        pages[name] = where / f"{paper}.html"
    return pages


def pictures(folder):
    return [*folder.glob("*.png"), *folder.glob("*.pdf")]


def keep(out, where):
    """Copies the pictures to a folder that outlives the tree; those of an earlier run go."""
    where.mkdir(parents=True, exist_ok=True)
    for old in pictures(where):
        old.unlink()
    for picture in pictures(out):
        shutil.copy(picture, where)
    print(f"the pictures are kept in {where}")


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("--program", default="target/release/cemark", help="the built program")
    args.add_argument("--out", type=pathlib.Path, default=pathlib.Path("target/screens"),
                      help="folder of the runs and the pictures")
    args.add_argument("--keep", type=pathlib.Path, help="copy the pictures to this folder as well")
    args.add_argument("pages", nargs="*", type=pathlib.Path,
                      help="reports to look at [default: those of small runs of its own]")
    args = args.parse_args()
    start = time.monotonic()
    args.out.mkdir(parents=True, exist_ok=True)
    for old in pictures(args.out):
        old.unlink()
    pages = {p.parent.name: p for p in args.pages} or reports(args.program, args.out)
    made = time.monotonic()
    browser = Browser()
    wrong = 0
    try:
        prove(browser, args.out)
        for name, page in pages.items():
            views = [(w, dark, "screen", f"{name}-{w}-{'dark' if dark else 'light'}")
                     for w in WIDTHS for dark in (False, True)]
            for width, dark, media, view in [*views, (PAPER, True, "print", f"{name}-print")]:
                found = look(browser, page, width, dark, media, args.out / f"{view}.png")
                if media == "print":
                    # As a reader prints it, with the parts that the page itself opens.
                    browser.open(page.resolve().as_uri(), width, dark, media)
                    browser.evaluate(SETTLED)
                    sheets = browser.pdf(args.out / f"{view}.pdf")
                    if sheets > MOST_PRINTED:
                        found.append(f"fills {sheets} sheets, more than {MOST_PRINTED}")
                for fault in found:
                    print(f"{view}: {fault}")
                wrong += len(found)
    finally:
        browser.close()
        if args.keep:
            keep(args.out, args.keep)
    print(f"{len(pages)} pages in {args.out}: {wrong} faults, {made - start:.0f} s for the runs, "
          f"{time.monotonic() - made:.0f} s for the pictures")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
