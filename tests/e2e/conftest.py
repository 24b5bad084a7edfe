"""A real browser against a real server. Every test fails on a console error or a request to the outside."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.e2e.hand import Hand
from tests.tools import QUICK_JAVA, ROOT, check_none, end, free_port
from tests.waiting import budget_s, until

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

DRAWN = ".cc[data-ready=true] .cc-diagram .main-svg"
HEALTH = "/_stcore/health"
ROOM = {"width": 1280, "height": 720}  # of every tab when a test begins
HAS_FAILED = pytest.StashKey[bool]()


def patience_ms(seconds: float = 60) -> float:
    """How long to wait for something that takes far less on an idle machine: this machine is busy."""
    return budget_s(seconds) * 1000


def is_healthy(url: str) -> bool:
    """Whether the app at this address answers."""
    try:
        with urllib.request.urlopen(url + HEALTH, timeout=budget_s(1)):
            return True
    except OSError:
        return False


def _wait_until_healthy(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    until(lambda: is_healthy(url) or server.poll() is not None, "the app answers or ends")
    assert server.poll() is None, f"the app did not start:\n{log.read_text()}"


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
        page.on("console", lambda message: self._note(message.type == "error", _told(message)))
        page.on("pageerror", lambda error: self._note(True, f"page error: {error.stack}"))
        page.on("request", lambda request: self._note(_is_outside(request.url), f"request to {request.url}"))
        page.on("websocket", lambda websocket: self._note(_is_outside(websocket.url), f"socket to {websocket.url}"))

    def _note(self, bad: bool, what: str) -> None:
        if bad:
            self.found.append(what)


def _told(message: sync_api.ConsoleMessage) -> str:
    return f"console: {message.text} ({message.location['url']})"


def _is_outside(url: str) -> bool:
    address = urlsplit(url)
    return address.scheme in ("http", "https", "ws", "wss") and address.hostname != "127.0.0.1"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Notes that a test has failed: the tabs that it leaves half-way are loaded again."""
    report = yield
    if report.failed:
        item.stash[HAS_FAILED] = True
    return report


@pytest.fixture(scope="session")
def contexts(browser: sync_api.Browser) -> Iterator[dict[str, sync_api.BrowserContext]]:
    """One browser context per theme: its tabs share a cache, and each tab is a session of its own."""
    opened = {scheme: browser.new_context(viewport=ROOM, color_scheme=scheme) for scheme in ("light", "dark")}
    yield opened
    for context in opened.values():
        context.close()


@pytest.fixture
def color_scheme() -> str:
    """The browser's preference; a test that wants the dark theme overrides this."""
    return "light"


@pytest.fixture(scope="session")
def tabs(contexts: dict[str, sync_api.BrowserContext], app_url: str) -> Callable[[str], SharedTab]:
    """The one tab of each theme, for all tests of a worker: loading the page takes seconds."""
    return cache(lambda scheme: SharedTab(contexts[scheme].new_page(), app_url, scheme))


@pytest.fixture
def tab(tabs: Callable[[str], SharedTab], color_scheme: str, request: pytest.FixtureRequest) -> Iterator[SharedTab]:
    """A tab as the test before has left it: the test opens a run in it, to which it goes without loading the page."""
    shared = tabs(color_scheme)
    shared.rest()
    yield shared
    shared.leave(request.node.stash.get(HAS_FAILED, False))


@pytest.fixture
def fresh_tab(
    tabs: Callable[[str], SharedTab], color_scheme: str, request: pytest.FixtureRequest
) -> Iterator[SharedTab]:
    """A tab that remembers nothing: what the test opens first is loaded, and is a session of its own."""
    shared = tabs(color_scheme)
    shared.rest()
    shared.forget()
    yield shared
    shared.leave(request.node.stash.get(HAS_FAILED, False))


@pytest.fixture
def own_tab(contexts: dict[str, sync_api.BrowserContext], color_scheme: str, app_url: str) -> Iterator[ExplorerPage]:
    """A tab of the test's own, for what cannot be undone in one."""
    own = ExplorerPage(contexts[color_scheme].new_page(), app_url)
    yield own
    own.page.close()
    check_none(own.trouble.found)


@pytest.fixture
def fresh_explorer(fresh_tab: SharedTab) -> SharedTab:
    """The lecture example in a session of its own."""
    fresh_tab.open()
    return fresh_tab


@pytest.fixture
def explorer(tab: SharedTab) -> SharedTab:
    """The lecture example, unedited, at its initial state, in a tab that other tests used before."""
    tab.start_over()
    return tab


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
        page.set_default_timeout(patience_ms())

    def load(self, query: str = "") -> None:
        """Load the page and wait for the diagram."""
        self.page.goto(self.url + query)
        self.page.wait_for_selector(DRAWN)

    def open(self, query: str = "") -> None:
        """Go to the page and wait for the diagram."""
        self.load(query)

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
        card = ".cc-card[data-snapshot]:not([hidden])"
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

    def until_closed(self, dialog: sync_api.Locator) -> None:
        """Wait until a dialog is gone, and has given back the focus: until then it keeps the keys that are pressed."""
        dialog.wait_for(state="hidden")
        self.page.wait_for_function("!document.activeElement?.closest('[role=dialog]')")

    def turn(self) -> None:
        """Let time run the other way, and wait for the diagram that Python draws."""
        self.page.locator(".cc-orientation").click()
        self.page.wait_for_selector(".cc:not([data-pending])")

    def edits(self) -> list[str]:
        """The edits so far, in words."""
        return self.page.locator(".cc-edits:not(.cc-none) li").all_inner_texts()


# What the browser's Back does with an entry of its history; and whether the run that it names is on show.
GO_BACK = """(address) => {
  history.pushState({}, "", address);
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}"""
IS_SHOWN = """([scenario, step]) => {
  const { scene, pending, step: shown } = document.querySelector(".cc")?.dataset ?? {};
  const last = Number(document.querySelector(".cc-slider")?.max);
  return scene === scenario && pending === undefined && Number(shown) === Math.min(step, last);
}"""
EXPLORES = """() => {
  const root = location.pathname === "/" ? document.querySelector(".cc[data-ready=true]") : null;
  return root?.dataset.scene ?? null;
}"""  # the scenario on the page Explore; null on another page
NAMED = {"scenario", "step", "edits", "tab", "cut"}  # what Back can bring back
FRAME = [".cc", ".cc-body", ".cc-stage", ".cc-diagram", ".cc-panel"]  # what only the style sheet lays out
LAID_OUT = """(frame) => frame.filter((name) => {
  const style = document.querySelector(name)?.style;
  return style?.height || style?.width;
}).map((name) => `the test has left ${name} with a size of its own`)"""


class SharedTab(ExplorerPage):
    """A tab for many tests, one after the other: nothing of a test is left to the next one but a loaded page."""

    def __init__(self, page: sync_api.Page, url: str, scheme: str) -> None:
        super().__init__(page, url)
        self.scheme = scheme

    def rest(self) -> None:
        """Have the size and the theme of a tab in which nothing has happened."""
        self.page.set_default_timeout(patience_ms())
        sync_api.expect.set_options(timeout=patience_ms())
        if self.page.viewport_size != ROOM:
            self.page.set_viewport_size(ROOM)
        self.page.emulate_media(color_scheme=self.scheme)
        self.page.bring_to_front()  # Chromium closes dialogs by Escape in the tab that is seen

    def forget(self) -> None:
        """Leave the app, and empty the storage of the tab and of the browser."""
        self.page.goto(self.url + HEALTH)
        self.page.evaluate("sessionStorage.clear(); localStorage.clear()")

    def leave(self, has_failed: bool) -> None:
        """End a test: its routes go, and its page where it failed. Fails on what a later test would stumble over."""
        self.page.unroute_all(behavior="ignoreErrors")
        found, self.trouble.found = self.trouble.found + self.page.evaluate(LAID_OUT, FRAME), []
        if has_failed:
            self.forget()
        check_none(found)

    def open(self, query: str = "") -> None:
        """Go to a run: as Back does where another run is on show, else by loading the page."""
        asked = {"scenario": "lecture", **dict(parse_qsl(urlsplit(query).query))}
        shown = self.page.evaluate(EXPLORES)
        if shown is None or urlsplit(query).path.strip("/") or not set(asked) <= NAMED:
            self.load(query)
            return
        self.leave_views()
        if shown == asked["scenario"]:
            other = "lecture" if shown == "two_banks" else "two_banks"
            self.go_back_to({"scenario": other})  # the page forgets what of the run was on show
        self.go_back_to(asked)
        if "tab" not in asked:
            self.tab("Record")
        self.press("Shift")  # a key that does nothing: what is on show now is drawn

    def go_back_to(self, asked: dict[str, str]) -> None:
        """Have the page show another run, as the browser's Back does."""
        self.page.evaluate(GO_BACK, f"/?{urlencode(asked)}")
        self.page.wait_for_function(IS_SHOWN, arg=[asked["scenario"], int(asked.get("step", 0))])

    def leave_views(self) -> None:
        """Close a dialog, and leave the presenter view or Predict."""
        for dialog in self.page.get_by_role("dialog").locator("visible=true").all():
            self.page.keyboard.press("Escape")
            self.until_closed(dialog)
        for view in ("presenting", "predicting"):
            if self.page.locator(f".cc[data-{view}]").count():
                self.press("Escape")

    def start_over(self) -> None:
        """Show the lecture example as it was opened, whatever is on show."""
        if self.page.evaluate(EXPLORES) != "lecture":
            self.open("/?scenario=lecture")
        self.leave_views()
        self.tab("Change")
        if self.edits():
            self.edit("Reset")
        if self.page.locator(".cc-orientation").get_attribute("data-orientation") != "down":
            self.turn()  # a test has left time running to the right
        self.tab("Record")
        self.press("Home")
