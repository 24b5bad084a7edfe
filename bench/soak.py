"""The soak of bench.classroom: beside the class a tab runs ensembles, Spark is killed, and the memory is watched."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from playwright.async_api import Page, TimeoutError

from bench.sessions import PATIENCE_S
from bench.waits import median
from pipeline.store import catalog
from tests.e2e.conftest import Trouble
from tests.pipeline.spark.processes import command_of, descendants

BETWEEN_KILLS_S = (30.0, 120.0)
RUNS = 500  # of each combination; there are COMBINATIONS in the form as it opens
COMBINATIONS = 20
LONGEST_ENSEMBLE_S = 600
POLL_S = 1.0
WARM_UP = 0.1  # of the time: opening pages and starting Spark takes memory that stays
MOST_GROWTH = 1.25  # of the median memory, from the first quarter after the warm-up to the last

HEADING = f"in {RUNS * COMBINATIONS:,} snapshots"


@dataclass
class Soak:
    """The work beside the class, for `seconds`; `seed` decides when Spark is killed.

    killed: the times of the kills, in seconds from the start. memory: pairs of seconds from the start and MB.
    ensembles: the seconds that each took on the page. reported: the problems that the page reported; reporting: those
    that it reports now. errors: events that must not happen.
    """

    seconds: float
    seed: int = 0
    killed: list[float] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)
    ensembles: list[float] = field(default_factory=list)
    reported: Counter[str] = field(default_factory=Counter)
    reporting: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)

    async def go_on(self, page: Page, url: str, server: int, memory_mb: Callable[[], float]) -> None:
        """All of it at the same time; the last ensemble may end later than `seconds`."""
        start = time.monotonic()
        await asyncio.gather(self._run(page, url, start), self._kill(server, start), self._watch(memory_mb, start))

    async def _watch(self, memory_mb: Callable[[], float], start: float) -> None:
        while (now := time.monotonic() - start) < self.seconds:
            self.memory.append((now, memory_mb()))
            await asyncio.sleep(POLL_S)

    async def _kill(self, server: int, start: float) -> None:
        """Kill Spark at random times: its server or the Java below it, as soon as there is one."""
        chance = random.Random(self.seed)
        due = chance.uniform(*BETWEEN_KILLS_S) / 2
        while (now := time.monotonic() - start) < self.seconds:
            found = sorted(processes_of_spark(server)) if now >= due else []
            if found:
                os.kill(chance.choice(found), signal.SIGKILL)
                self.killed.append(now)
                due = now + chance.uniform(*BETWEEN_KILLS_S)
            await asyncio.sleep(POLL_S)

    async def _run(self, page: Page, url: str, start: float) -> None:
        """Run one ensemble after the other in a tab, and go on with each that Spark's end has stopped."""
        trouble = Trouble(page)
        try:
            await page.goto(f"{url}/ensembles")
            while time.monotonic() - start < self.seconds:
                await self._ensemble(page)
        except Exception as problem:
            shown = " ".join((await page.locator(".st-key-cut-results").inner_text()).split())
            self.errors.append(f"the tab with the ensembles: {problem!r}; the page says: {shown}")
        self.errors += trouble.found

    async def _ensemble(self, page: Page) -> None:
        field = page.get_by_label("Runs of each", exact=True)
        await field.fill(str(RUNS), timeout=PATIENCE_S * 1000)
        await field.press("Enter")
        await page.get_by_text(f"{RUNS * COMBINATIONS:,} runs", exact=True).first.wait_for(timeout=PATIENCE_S * 1000)
        begun, known = time.monotonic(), len(complete())
        await page.get_by_role("button", name="Run", exact=True).click()
        async with asyncio.timeout(LONGEST_ENSEMBLE_S):
            while not await self._has_charts(page) or len(complete()) == known:
                await asyncio.sleep(POLL_S)
        self.ensembles.append(time.monotonic() - begun)

    async def _has_charts(self, page: Page) -> bool:
        """Whether the page shows the results of an ensemble. Where it offers to go on, it is told to."""
        reporting = set(await page.locator(".cut-error").all_inner_texts())
        self.reported.update(reporting - self.reporting)
        self.reporting = reporting
        for name in ("Go on", "Try again"):
            button = page.get_by_role("button", name=name, exact=True)
            if await button.count() and await button.is_enabled():
                with suppress(TimeoutError):  # the page has gone on by itself meanwhile, and the button is gone
                    await button.click(timeout=POLL_S * 1000)
        return await page.get_by_role("heading", name=HEADING).count() > 0

    def conclude(self) -> None:
        """Notes ensembles that are incomplete, and memory that has grown."""
        whole = complete()
        self.errors += [f"{entry.name} is incomplete" for entry in catalog.entries() if entry.name not in whole]
        if not self.ensembles:
            self.errors.append("no ensemble was completed")
        first, last, slope = self.trend()
        if last > MOST_GROWTH * first:
            self.errors.append(f"the memory grew from {first:.0f} to {last:.0f} MB, by {slope:.1f} MB a minute")

    def trend(self) -> tuple[float, float, float]:
        """The median memory of the first and of the last quarter after the warm-up (MB), and the slope (MB/min)."""
        warm = [(at, memory) for at, memory in self.memory if at >= WARM_UP * self.seconds]
        quarter = max(1, len(warm) // 4)
        first, last = (median([memory for _, memory in part]) for part in (warm[:quarter], warm[-quarter:]))
        if len(warm) < 2:
            return first, last, float("nan")
        return first, last, 60 * statistics.linear_regression(*zip(*warm, strict=True)).slope

    def report(self) -> Iterator[str]:
        """The rows of the table in docs/performance.md."""
        first, last, slope = self.trend()
        yield f"| Spark killed | {len(self.killed)} times, at {', '.join(f'{at:.0f}' for at in self.killed)} s |"
        took = f"median {median(self.ensembles):.0f} s, longest {max(self.ensembles, default=0):.0f} s"
        yield f"| ensembles of {RUNS * COMBINATIONS:,} runs, from click to charts | {len(self.ensembles)}: {took} |"
        grew = f"{first:.0f}, {last:.0f} MB, {slope:+.1f} MB a minute"
        yield f"| memory of the app: first quarter, last quarter, slope | {grew} |"
        for text, times in self.reported.most_common():
            yield f"| the page with the ensembles said, {times} times | {text} |"
        for text, times in Counter(self.errors).most_common():
            yield f"| ERROR, {times} times | {text} |"


def complete() -> set[str]:
    """The names of the ensembles of which every run is there."""
    entries = [entry for entry in catalog.entries() if entry.status == "complete"]
    return {entry.name for entry in entries if entry.rows.get("runs") == RUNS * COMBINATIONS}


def processes_of_spark(app: int) -> Iterator[int]:
    """Spark's server below the app, and its Java."""
    for process in descendants(app):
        words = command_of(process)
        if words[:1] and (words[0].endswith("/java") or any(word.endswith("spark/server.py") for word in words)):
            yield process
