"""The sessions of bench.classroom: students without a browser, and real tabs; and what is measured of them."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Page
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from bench.waits import HANDLE, WATCH, path
from sim.document import library
from sim.edit.link import Shared
from tests.e2e.conftest import Trouble
from views.explore.session import ExploreSession

THINKING_S = (2.0, 4.0)
PATIENCE_S = 60
BURST = 3  # edits that are made at once now and then, faster than the server answers
EDITS = {"delay": 6, "hold": 2, "release": 2, "send": 2, "internal": 2, "snapshot": 1, "undo": 3}  # how often
ANOTHER_AFTER = 50  # edits, after which a student opens another scenario: what one run keeps for undo has an end
BODIES = {"amount": "1", "token": "token", "goods": '{"cash": 1}'}  # a word of the page's hint -> what is typed

# Refusals of edits that users may well try; any other refusal is a bug in the page or in this benchmark.
EXPECTED = re.compile(r"cannot send|has no|already|knows no delays|list of choices|holds no|nobody owns|it carries")


@dataclass
class Ending:
    """A session without a browser at its end: all that it sent, and the run that the page then showed."""

    scenario: str
    entries: list[dict[str, Any]]
    link: str
    edits: list[str]

    def problem(self) -> str | None:
        """The difference from a session that makes the same edits here, in words (None: there is none)."""
        session = ExploreSession()
        session.open(Shared(scenario=self.scenario))
        session.absorb(self.entries)
        while session.unfinished:  # an answer takes as many as it has time for
            session.absorb(self.entries)
        if (session.link(), session.data()["edits"]) == (self.link, self.edits):
            return None
        return f"begun on {self.scenario}: the link at the end is not the one that {len(self.entries)} edits make"


@dataclass
class Findings:
    """The measurements of all sessions."""

    opened: list[float] = field(default_factory=list)  # ms
    edits: list[float] = field(default_factory=list)  # ms
    in_tabs: list[float] = field(default_factory=list)  # ms
    sent: int = 0
    acknowledged: int = 0
    bytes_received: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)


def now_ms() -> float:
    """A clock in milliseconds."""
    return time.perf_counter() * 1000


class Student:
    """One session without a browser: it keeps the outbox as assets/explore/run/outbox.js does."""

    def __init__(self, connection: ClientConnection, findings: Findings, scenario: str, seed: int) -> None:
        self.connection = connection
        self.findings = findings
        self.query = f"scenario={scenario}"
        self.random = random.Random(seed)
        self.data: dict[str, Any] = {"ack": -1}
        self.widget = ""
        self.fragment = ""
        self.page = ""
        self.entries: list[dict[str, Any]] = []  # all that were sent
        self.waiting: list[dict[str, Any]] = []  # those of them that are not acknowledged

    @property
    def sent(self) -> int:
        """The number of the last entry."""
        return len(self.entries)

    async def open(self) -> None:
        """Opens the page, as a browser does."""
        start = now_ms()
        await self._rerun()
        await self._until_acknowledged(0)
        self.findings.opened.append(now_ms() - start)

    async def work_until(self, end: float) -> None:
        """Repeats until `end`: think, edit, wait for the answer."""
        while True:
            thinking = self.random.uniform(*THINKING_S)
            if time.monotonic() + thinking > end:
                return
            await asyncio.sleep(thinking)
            for _ in range(BURST if self.random.random() < 0.05 else 1):
                await self.make(edit := self.any_edit())
                if edit["do"] == "restore":  # further edits need the other scenario
                    break
            start = now_ms()
            await self._until_acknowledged(self.sent)
            self.findings.edits.append(now_ms() - start)
            self._note_refusal()

    def any_edit(self) -> dict[str, Any]:
        """A random edit that is possible in the current scene; after many of them another scenario."""
        if self.sent % ANOTHER_AFTER == ANOTHER_AFTER - 1:
            return {"do": "restore", "link": f"scenario={self.random.choice(library.names())}"}
        scene, choose = self.data["scene"], self.random.choice
        do = self.random.choices([*EDITS], [*EDITS.values()])[0]
        if do in ("delay", "hold", "release"):
            fitting = [message for message in scene["messages"] if message["held"] == (do == "release")]
            if fitting:
                edit = {"do": do, "message": choose(fitting)["reference"]}
                return {**edit, "delay": self.random.randint(1, 60)} if do == "delay" else edit
            do = "undo"
        if do == "undo":
            return {"do": do}
        at = round(self.random.uniform(0, scene["steps"][-1]["time"]), 2)
        if do == "send":
            channel = choose(scene["channels"])
            body = next((text for hint, text in BODIES.items() if hint in scene["body_hint"]), "hello")
            return {"do": do, "process": channel["source"], "to": channel["target"], "body": body, "at": at}
        return {"do": do, "process": choose(scene["processes"]), "at": at}

    async def make(self, edit: dict[str, Any]) -> None:
        """Puts an edit into the outbox and sends the whole outbox to the server."""
        step = self.data["scene"]["steps"][0]
        entry = {"seq": self.sent + 1, "step": 0, "time": step["time"], "revision": self.data["revision"], "edit": edit}
        self.entries.append(entry)
        self.waiting.append(entry)
        await self._rerun()

    async def _rerun(self) -> None:
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self.query
        state.page_script_hash = self.page
        if self.waiting:
            widget = state.widget_states.widgets.add()
            widget.id = self.widget
            widget.json_value = json.dumps({"outbox": self.waiting})
            state.fragment_id = self.fragment
        await self.connection.send(message.SerializeToString())

    async def _until_acknowledged(self, ack: int) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while self.data["ack"] < ack:
                content = await self.connection.recv()
                assert isinstance(content, bytes)
                self.findings.bytes_received += len(content)
                self._take(ForwardMsg.FromString(content))

    def _take(self, message: ForwardMsg) -> None:
        if message.HasField("new_session"):
            self.page = message.new_session.page_script_hash
        element = message.delta.new_element
        if element.HasField("exception"):
            self.findings.errors.append(f"the page shows an exception: {element.exception.message}")
        if not element.HasField("bidi_component"):
            return
        component = element.bidi_component
        self.widget, self.fragment = component.id, message.delta.fragment_id
        data = json.loads(component.bytes or component.json)
        if "session" in self.data and data["session"] != self.data["session"]:
            self.findings.errors.append("a session was lost and begun anew")
        self.data = data
        self.waiting = [entry for entry in self.waiting if entry["seq"] > data["ack"]]

    def _note_refusal(self) -> None:
        notice = self.data["notice"]
        if notice is None or notice["level"] != "error" or notice["seq"] != self.sent:
            return
        self.findings.refused[re.sub(r"\d+(\.\d+)?", "0", notice["text"])] += 1
        if not EXPECTED.search(notice["text"]):
            self.findings.errors.append(f"refused: {notice['text']}")


async def student(url: str, findings: Findings, number: int, starts: asyncio.Barrier, seconds: float) -> None:
    """A whole session without a browser. All sessions start their work at the same time."""
    names = library.names()
    scenario = names[number % len(names)]
    address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
    try:
        async with connect(address, subprotocols=[Subprotocol("streamlit")], max_size=None) as connection:
            one = Student(connection, findings, scenario, seed=number)
            await one.open()
            await starts.wait()
            await one.work_until(time.monotonic() + seconds)
            findings.sent += one.sent
            findings.acknowledged += one.data["ack"]
            findings.endings.append(Ending(scenario, one.entries, one.data["link"], one.data["edits"]))
            await starts.wait()
    except asyncio.BrokenBarrierError:
        pass  # the session that aborted it has noted the error
    except Exception as problem:
        findings.errors.append(f"session {number} on {scenario}: {problem!r}")
        await starts.abort()


async def tab(page: Page, url: str, findings: Findings, starts: asyncio.Barrier, seconds: float) -> None:
    """A whole session in a real tab: steps with keys, drags arrow heads."""
    sockets: list[Any] = []
    try:
        trouble = Trouble(page)
        page.on("websocket", lambda socket: sockets.append(socket))
        await page.goto(url)
        await page.wait_for_selector(".cc[data-ready=true] .cc-diagram .main-svg", timeout=PATIENCE_S * 1000)
        await starts.wait()
        end = time.monotonic() + seconds
        made = 0
        while time.monotonic() < end:
            await page.evaluate("document.activeElement.blur()")  # a handle that has the focus takes keys as edits
            for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight"):
                await page.keyboard.press(key)
            await edit_in_tab(page, back=made % 2 == 1)
            findings.in_tabs.append(await page.evaluate("window.benchWait"))
            made += 1
            await asyncio.sleep(random.uniform(*THINKING_S))
        findings.sent += made
        acknowledged = int(await page.locator(".cc").get_attribute("data-ack") or 0)
        if acknowledged < made:
            findings.errors.append(f"a tab made {made} edits, of which {acknowledged} are acknowledged")
        findings.acknowledged += min(made, acknowledged)
        findings.errors += trouble.found + ["a tab lost its connection"] * (len(sockets) - 1)
        await starts.wait()
    except asyncio.BrokenBarrierError:
        pass
    except Exception as problem:
        findings.errors.append(f"a tab: {problem!r}")
        await starts.abort()


async def edit_in_tab(page: Page, back: bool) -> None:
    """Drags an arrow head, or adds an internal event if there is none to drag."""
    handle = await page.evaluate(HANDLE)
    if handle:
        await page.mouse.move(handle["x"], handle["y"])
        await page.mouse.down()
        for x, y in path(handle, back):
            await page.mouse.move(x, y)
        await page.evaluate(WATCH, ["pointerup", "answered"])
        await page.mouse.up()
    else:
        await page.get_by_role("tab", name="Change").click()
        await page.evaluate(WATCH, ["click", "answered"])
        await page.get_by_role("button", name="Add", exact=True).click()
