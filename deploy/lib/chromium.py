"""Controls a headless Chromium through its DevTools pipe, for the scripts that take pictures.

Needs chromium (deploy/lib/install-packages test).
"""
import base64
import json
import os
import subprocess
import tempfile
import time

OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-prefers-reduced-motion",
           "--remote-debugging-pipe"]  # fmt: skip
WAIT_SECONDS_MAX = 60


class Chromium:
    """A browser with one tab. Use it in a with statement."""

    def __enter__(self):
        commands, events = os.pipe(), os.pipe()
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # Chromium reads commands from descriptor 3, and writes responses to 4.
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec chromium "$@" 3<&%d 4>&%d' % (commands[0], events[1]), "sh", *OPTIONS,
             f"--user-data-dir={self.profile.name}"], pass_fds=(commands[0], events[1]), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)  # fmt: skip
        os.close(commands[0])
        os.close(events[1])
        self.commands, self.responses = commands[1], os.fdopen(events[0], "rb")
        self.number, self.session = 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=WAIT_SECONDS_MAX)
        os.close(self.commands)
        self.responses.close()
        self.profile.cleanup()

    def call(self, method, **parameters):
        """Runs a command and returns its result. Skips events."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        data = b""
        while byte := self.responses.read(1):
            if byte != b"\0":
                data += byte
                continue
            response = json.loads(data)
            data = b""
            if response.get("id") == self.number:
                if "error" in response:
                    raise RuntimeError(f"chromium: {method}: {response['error']}")
                return response["result"]
        raise RuntimeError("chromium ended")

    def open(self, url, width, height, dark=False):
        """Opens an address in a window of a fixed size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])  # fmt: skip
        self.call("Page.navigate", url=url)
        self.wait("document.readyState == 'complete'")

    def evaluate(self, expression):
        """Returns the value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"chromium: {expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, condition, seconds_max=WAIT_SECONDS_MAX):
        """Waits until a JavaScript expression is true."""
        until = time.monotonic() + seconds_max
        while not self.evaluate(f"Boolean({condition})"):
            if time.monotonic() > until:
                shown = self.evaluate("document.body.innerText")
                raise RuntimeError(f"chromium: timed out after {seconds_max} s: {condition}\n{shown}")
            time.sleep(0.1)

    def picture(self, width, height):
        """Returns a PNG of the upper left part of the window."""
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        return base64.b64decode(self.call("Page.captureScreenshot", clip=clip)["data"])
