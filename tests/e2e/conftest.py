"""A real browser against a real server. Every test fails on a console error or a request to the outside."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.hand import Hand
from tests.tools import QUICK_JAVA, ROOT, check_none, end, free_port

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

STARTUP_S = 60
PATIENCE_MS = 60_000  # other tests keep the machine busy


def _wait_until_healthy(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + STARTUP_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the app did not start:\n{log.read_text()}")


@contextmanager
def serving(script: str, log: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A Streamlit script on a free port of this machine, stopped again whatever happens: its address and process."""
    port = free_port()
    with running(["-m", "streamlit", "run", script, "--server.port", str(port)], port, log) as served:
        yield served


@contextmanager
def running(
    arguments: Sequence[str], port: int, log: Path, folder: Path = ROOT
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A Python that serves on a port, stopped again whatever happens: its address and process."""
    with log.open("wb") as output:
        server = subprocess.Popen([sys.executable, *arguments], cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_healthy(server, url, log)
            yield url, server
        finally:
            end(server)


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app, for all tests of a run."""
    with serving("app.py", tmp_path_factory.mktemp("app") / "server.log") as (url, _):
        yield url


@pytest.fixture(scope="session")
def app_with_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an app with a data root of its own, for the pages that write there: its Spark starts once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONSISTENT_CUT_DATA", str(tmp_path_factory.mktemp("data")))
        patch.setenv("JAVA_TOOL_OPTIONS", QUICK_JAVA)
        with serving("app.py", tmp_path_factory.mktemp("app") / "server.log") as (url, _):
            yield url


class Trouble:
    """What must not happen on a page: errors, and requests that leave this machine."""

    def __init__(self, page: sync_api.Page) -> None:
        self.found: list[str] = []
        page.on("console", lambda message: self._note(message.type == "error", f"console: {message.text}"))
        page.on("pageerror", lambda error: self._note(True, f"page error: {error.stack}"))
        page.on("request", lambda request: self._note(_is_outside(request.url), f"request to {request.url}"))
        page.on("websocket", lambda websocket: self._note(_is_outside(websocket.url), f"socket to {websocket.url}"))

    def _note(self, bad: bool, what: str) -> None:
        if bad:
            self.found.append(what)


def _is_outside(url: str) -> bool:
    address = urlsplit(url)
    return address.scheme in ("http", "https", "ws", "wss") and address.hostname != "127.0.0.1"


@pytest.fixture(scope="session")
def contexts(browser: sync_api.Browser) -> Iterator[dict[str, sync_api.BrowserContext]]:
    """One browser context per theme: its tabs share a cache, and each tab is a session of its own."""
    opened = {
        scheme: browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme=scheme)
        for scheme in ("light", "dark")
    }
    yield opened
    for context in opened.values():
        context.close()


@pytest.fixture
def color_scheme() -> str:
    """The browser's preference; a test that wants the dark theme overrides this."""
    return "light"


@pytest.fixture
def fresh_tab(
    contexts: dict[str, sync_api.BrowserContext], color_scheme: str, shared_explorer: ExplorerPage
) -> Iterator[ExplorerPage]:
    """A tab of the test's own in which it opens what it wants: a session of its own."""
    page = contexts[color_scheme].new_page()
    explorer = ExplorerPage(page, shared_explorer.url)
    yield explorer
    page.close()
    check_none(explorer.trouble.found)


@pytest.fixture
def fresh_explorer(fresh_tab: ExplorerPage) -> ExplorerPage:
    """The lecture example in a tab of the test's own."""
    fresh_tab.open()
    return fresh_tab


@pytest.fixture(scope="session")
def shared_explorer(contexts: dict[str, sync_api.BrowserContext], app_url: str) -> ExplorerPage:
    """A tab for many tests: opening one takes seconds."""
    explorer = ExplorerPage(contexts["light"].new_page(), app_url)
    explorer.open()
    return explorer


@pytest.fixture
def explorer(shared_explorer: ExplorerPage) -> Iterator[ExplorerPage]:
    """The lecture example, unedited, at its initial state, in a tab that other tests used before."""
    shared_explorer.start_over()
    yield shared_explorer
    found, shared_explorer.trouble.found = shared_explorer.trouble.found, []
    check_none(found)


@pytest.fixture
def hand(explorer: ExplorerPage) -> Iterator[Hand]:
    """A hand on the lecture example, at its last step."""
    hand = Hand(explorer)
    explorer.press("End")
    yield hand
    explorer.page.keyboard.press("Escape")


class ExplorerPage:
    """What a person does on the Explore page, in their words."""

    def __init__(self, page: sync_api.Page, url: str) -> None:
        self.page = page
        self.url = url
        self.root = page.locator(".cc")
        self.trouble = Trouble(page)
        page.set_default_timeout(PATIENCE_MS)

    def open(self, query: str = "") -> None:
        """Go to the page and wait for the diagram."""
        self.page.goto(self.url + query)
        self.page.wait_for_selector(".cc[data-ready=true] .cc-diagram .main-svg")

    def start_over(self) -> None:
        """Undo all that a test has done on this page."""
        self.page.set_viewport_size({"width": 1280, "height": 720})  # a test that failed half-way has left another
        self.page.bring_to_front()  # Chromium closes dialogs by Escape in the tab that is seen
        for view in ("presenting", "predicting"):
            if self.page.locator(f".cc[data-{view}]").count():
                self.press("Escape")  # so has it left the presenter view, or Predict
        self.tab("Change")
        if self.edits():
            self.edit("Reset")
        if self.page.locator(".cc-orientation").get_attribute("data-orientation") != "down":
            self.turn()  # so has it left time running to the right
        self.tab("Record")
        self.press("Home")

    @property
    def step(self) -> int:
        """The number of the step on show."""
        return int(self.root.get_attribute("data-step") or -1)

    @property
    def last(self) -> int:
        """The number of the last step."""
        return int(self.page.locator(".cc-slider").get_attribute("max") or -1)

    def press(self, key: str) -> None:
        """Press a key with nothing particular in focus, and let the step be drawn."""
        self.page.keyboard.press(key)
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def tab(self, name: str) -> None:
        """Turn to a tab of the panel."""
        self.page.get_by_role("tab", name=name).click()

    def record(self) -> tuple[dict[str, str], dict[str, str]]:
        """The last step's record of the chosen snapshot: states of the processes, states of the channels."""
        self.tab("Record")
        self.press("End")
        card = ".cc-card:not([hidden])"
        names = self.page.locator(f"{card} dt").all_inner_texts()
        states = self.page.locator(f"{card} dd").all_inner_texts()
        rows = self.page.locator(f"{card} .cc-channels li").all_inner_texts()
        channels = dict(row.split(" = ", 1) for row in rows)
        return dict(zip(names, states, strict=True)), channels

    def choose(self, channel: str, kind: str) -> None:
        """Choose the first message of a kind on a channel, from the list, at the initial state."""
        self.tab("Record")
        self.press("Home")
        self.tab("Change")
        row = self.page.locator(f".cc-messages label:has(.cc-{kind})").filter(has_text=channel)
        row.first.click()

    def delay(self, channel: str, kind: str, delay: float) -> None:
        """Give a message another delay."""
        self.choose(channel, kind)
        self.page.get_by_label("Delay").fill(str(delay))
        self.edit("Apply")

    def edit(self, button: str) -> None:
        """Press a button that submits an edit, and wait until Python has answered."""
        self.page.get_by_role("button", name=button, exact=True).click()
        self.page.wait_for_selector(".cc:not([data-pending])")

    def turn(self) -> None:
        """Let time run the other way, and wait for the diagram that Python draws."""
        self.page.locator(".cc-orientation").click()
        self.page.wait_for_selector(".cc:not([data-pending])")

    def edits(self) -> list[str]:
        """The edits so far, in words."""
        return self.page.locator(".cc-edits:not(.cc-none) li").all_inner_texts()
