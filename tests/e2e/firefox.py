"""A Firefox without a window, spoken to in WebDriver BiDi (w3c.github.io/webdriver-bidi), as far as tests need it."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from tests.tools import end
from tests.waiting import budget_s, until


class Firefox:
    """One tab of Firefox. `errors` are the errors of its console so far."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._sent = 0
        self.errors: list[str] = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self._tab = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **params: Any) -> Any:
        """Send a command and return its result. Raises AssertionError with Firefox's own words if it fails."""
        self._sent += 1
        self._socket.send(json.dumps({"id": self._sent, "method": method, "params": params}))
        while True:
            told = json.loads(self._socket.recv(budget_s()))
            if told.get("method") == "log.entryAdded" and told["params"]["level"] == "error":
                self.errors.append(told["params"]["text"])
            if told.get("id") == self._sent:
                assert told["type"] == "success", f"{method}: {told.get('message')}"
                return told["result"]

    def resize(self, width: int, height: int) -> None:
        """Make the page this many pixels wide and high."""
        self.ask("browsingContext.setViewport", context=self._tab, viewport={"width": width, "height": height})

    def open(self, url: str) -> None:
        """Go to an address."""
        self.ask("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression: a text, a number, a truth value or null."""
        target = {"context": self._tab}
        told = self.ask("script.evaluate", expression=expression, target=target, awaitPromise=True)
        assert told["type"] == "success", told
        return told["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        until(lambda: self.evaluate(f"Boolean({condition})"), condition)

    def press(self, key: str) -> None:
        """Press and release a key: a letter, or a code point of WebDriver, as "\\ue014" for the right arrow."""
        strokes = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        self.ask("input.performActions", context=self._tab, actions=[{"type": "key", "id": "keys", "actions": strokes}])

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse at a point of the page, move it to another and release it."""
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        go = [{"type": "pointerMove", "x": round(x), "y": round(y)} for x, y in (start, middle, end)]
        press, release = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        actions = [go[0], press, *go[1:], release]
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self.ask("input.performActions", context=self._tab, actions=[mouse])

    def screenshot(self, file: Path) -> None:
        """Write what the page looks like as a PNG."""
        file.write_bytes(base64.b64decode(self.ask("browsingContext.captureScreenshot", context=self._tab)["data"]))


@contextmanager
def firefox(program: str, port: int, profile: Path) -> Iterator[Firefox]:
    """Start Firefox with an empty profile, listening on a port of this machine, and stop it whatever happens."""
    command = [program, "--headless", "--profile", str(profile), "--remote-debugging-port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with _connected(port) as socket:
            yield Firefox(socket)
    finally:
        end(process)


def _connected(port: int) -> ClientConnection:
    """The connection to a Firefox, as soon as it listens."""

    def connected() -> ClientConnection | None:
        try:
            return connect(f"ws://127.0.0.1:{port}/session", max_size=None)
        except (OSError, WebSocketException):
            return None

    return until(connected, "Firefox listens")
