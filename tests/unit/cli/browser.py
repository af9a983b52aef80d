"""Headless Chromium as tests of pages use it: open a file, look at elements, press keys, take pictures.

Speaks the DevTools protocol over a pipe (file descriptors 3 and 4, messages end with a zero byte), so that it
needs no library. What the page asked for, complained about or threw is in `requests` and `complaints`.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = next((p for p in (shutil.which(n) for n in ("chromium", "chromium-browser", "google-chrome")) if p), None)
MISSING = "Chromium is not installed (Debian: chromium)"
KEYS = {"Escape": 27, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Tab": 9, "/": 191}


class Browser:
    """One window. A context manager: the process and its profile are gone at the end."""

    def __enter__(self):
        self._profile = tempfile.TemporaryDirectory(prefix="qfs_browser_", ignore_cleanup_errors=True)
        read_commands, self._commands = os.pipe()
        self._answers, write_answers = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-extensions", "--hide-scrollbars",
                 "--force-device-scale-factor=1", f"--user-data-dir={self._profile.name}", "--remote-debugging-pipe"]
        self._process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{read_commands} 4>&{write_answers}', "sh", PROGRAM, *flags, "about:blank"],
            pass_fds=(read_commands, write_answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_commands)
        os.close(write_answers)
        self._buffer, self._number, self._session = b"", 0, None
        self.requests, self.complaints, self._loaded = [], [], False
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        os.close(self._commands)
        self._process.terminate()
        self._process.wait()
        os.close(self._answers)
        self._profile.cleanup()

    def open(self, path, fragment=""):
        """Opens a file and waits until it is loaded; seconds until the first paint with content."""
        self._loaded = False
        self.requests.clear()
        self._call("Page.navigate", url=f"file://{path}{fragment}")
        deadline = time.monotonic() + 60
        while not self._loaded and time.monotonic() < deadline:
            self._receive(1)
        for _ in range(100):
            paint = self.value("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
            if paint:
                return paint / 1000
            time.sleep(0.02)
        raise RuntimeError(f"{path}: nothing was painted")

    def value(self, expression):
        """The value of a JavaScript expression (a promise is waited for)."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def texts(self, selector):
        return self.value(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)")

    def go(self, fragment):
        """Changes the address as a link does, and waits for the view."""
        self.value("new Promise((done) => { addEventListener('hashchange', () => setTimeout(done), {once: true});"
                   f" location.hash = {json.dumps(fragment)}; }})")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            text = {"Enter": "\r", "/": "/"}.get(key, "")
            self._call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=KEYS[key],
                       **({"text": text} if text and kind == "keyDown" else {}))
        time.sleep(0.1)

    def type(self, text):
        self._call("Input.insertText", text=text)

    def size(self, width, height):
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        """"light" or "dark"."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def picture(self, path, whole=False):
        answer = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def _call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            answer = self._receive(1)
            if answer and answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
        raise RuntimeError(f"{method}: no answer")

    def _receive(self, seconds):
        """The next message; None when none came."""
        while b"\0" not in self._buffer:
            if not select.select([self._answers], [], [], seconds)[0]:
                return None
            more = os.read(self._answers, 1 << 20)
            if not more:
                raise RuntimeError(f"{PROGRAM} ended")
            self._buffer += more
        text, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(text)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, event, told):
        if event == "Page.loadEventFired":
            self._loaded = True
        elif event == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif event == "Log.entryAdded":
            self.complaints.append(told["entry"]["text"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(told["exceptionDetails"]))
