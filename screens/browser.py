# SPDX-License-Identifier: MIT OR Apache-2.0
"""Chromium without a window, driven over a pipe with its DevTools protocol."""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """One tab. Commands wait for their answer; what the page does meanwhile is kept in `events`."""

    def __init__(self):
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if program is None:
            raise SystemExit("chromium is not installed: apt-get install chromium")
        self.profile = tempfile.mkdtemp(prefix="cemark-screens-")
        from_us, self.write = os.pipe()
        self.read, to_us = os.pipe()

        def numbered():
            # Chromium reads commands from descriptor 3 and answers on 4.
            one, two = os.dup(from_us), os.dup(to_us)
            os.dup2(one, 3)
            os.dup2(two, 4)

        options = "--headless=new --no-sandbox --disable-gpu --hide-scrollbars --no-first-run"
        self.process = subprocess.Popen(
            [program, *options.split(), "--disable-background-networking", "--disable-sync",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=numbered, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.rest, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.read, 1 << 20)
            if not more:
                raise SystemExit("chromium has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        """Until the page has sent this event."""
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.message())

    def open(self, url, width, dark=False, media="screen"):
        """Loads a page as a screen of this width shows it. Below 640 px that is a phone."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=width < 640)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        # Events of the page before must not count for this one.
        self.call("Page.navigate", url="about:blank")
        self.evaluate("new Promise((done) => setTimeout(done, 20))")
        self.events = []
        self.call("Page.navigate", url=url)
        self.wait("Page.loadEventFired")

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"script: {result['exceptionDetails']}")
        return result["result"].get("value")

    def picture(self, path):
        """The whole page, not only what fits the screen."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, path):
        """The page on paper; returns the number of sheets."""
        answer = self.call("Page.printToPDF", preferCSSPageSize=True)
        data = base64.b64decode(answer["data"])
        path.write_bytes(data)
        return len(re.findall(rb"/Type\s*/Page[^s]", data))

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
