"""The page Live under load: `python -m bench.watchers [--watchers 30] [--page 10]`.

First a fast cluster of eight processes, started in the app as a person starts one: how many messages a second its
processes receive without and with so many browsers that ask for frames as the page does, in turns; then with as many
that look back at random. What counts is the ratio within the same run.

Then, with `--page MINUTES`, the page itself in a real browser with such a cluster: the share of a core that all
processes of the browser take, and its memory and nodes, minute by minute. Nothing may grow.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import re
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import CDPSession, Page, sync_playwright

from bench.classroom import Gauge, problems_in
from bench.waits import at_rank
from tests.conftest import BROWSERS, FLAGS
from tests.e2e.conftest import serving

WATCHERS, ROUNDS, ROUND_S = 30, 4, 10.0
PROCESSES = 8
GAP_S = 0.5  # between two frames, as in assets/live/frames.js
PATIENCE_MS = 60_000


class Watchers:
    """Threads that ask for frames as the page does; some of them look back at random moments."""

    def __init__(self, address: str, count: int, *, back: bool) -> None:
        self._url, self._back = urlsplit(address), back
        self.waits: list[float] = []
        self.answers: Counter[int] = Counter()
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._watch, args=(number,), daemon=True) for number in range(count)]

    def __enter__(self) -> Watchers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _watch(self, number: int) -> None:
        draw = random.Random(number)
        connection = http.client.HTTPConnection(self._url.hostname or "", self._url.port or 80)
        while not self._over.wait(GAP_S * draw.uniform(0.8, 1.2)):
            end = f"&end={draw.uniform(5, 60):.1f}" if self._back else ""
            began = time.perf_counter()
            connection.request("GET", f"{self._url.path}?width=10&orientation={('right', 'down')[number % 2]}{end}")
            answer = connection.getresponse()
            answer.read()
            self.waits.append(1000 * (time.perf_counter() - began))
            self.answers[answer.status] += 1


def received(page: Page, address: str) -> tuple[float, int]:
    """The time of the cluster in seconds, and the messages that it has received until then."""
    found = page.request.get(f"{address}?width=2").json()
    return found["now"], found["messages"]


def rate(page: Page, address: str, seconds: float) -> float:
    """Messages received a second, from now on for so many seconds."""
    before = received(page, address)
    time.sleep(seconds)
    after = received(page, address)
    return (after[1] - before[1]) / (after[0] - before[0])


@contextmanager
def fast_cluster(page: Page, url: str) -> Iterator[str]:
    """A fast cluster of PROCESSES, started with the form; gives the address of its frames. The page stays open."""
    page.goto(f"{url}/live")
    page.wait_for_selector(".st-key-live-start button, .cc-live[data-state=ended]")
    if page.get_by_role("button", name="Start another").is_visible():
        page.get_by_role("button", name="Start another").click()
        page.wait_for_selector(".st-key-live-start button")
    page.get_by_role("slider", name="Processes").focus()
    for _ in range(PROCESSES - 4):
        page.keyboard.press("ArrowRight")
    page.locator(".st-key-live-speed input").click()
    page.get_by_role("option", name=re.compile("^Fast")).click()
    with page.expect_request(re.compile("/live/frames/"), timeout=PATIENCE_MS) as asked:
        page.locator(".st-key-live-start button").click()
    page.wait_for_selector(".cc-live[data-state=running]", timeout=PATIENCE_MS)
    yield asked.value.url.partition("?")[0]
    page.goto(f"{url}/live")
    page.get_by_role("button", name="Stop", exact=True).click()
    page.wait_for_selector(".cc-live[data-state=ended]", timeout=PATIENCE_MS)


def compare(page: Page, url: str, gauge: Gauge, count: int) -> None:
    """The cluster with and without watchers, in turns."""
    with fast_cluster(page, url) as address:
        page.goto("about:blank")
        time.sleep(5)
        for back in (False, True):
            alone, watched, shares, waits, answers = [], [], [], list[float](), Counter[int]()
            for _ in range(ROUNDS):
                alone.append(rate(page, address, ROUND_S))
                with Watchers(address, count, back=back) as watchers:
                    time.sleep(1)
                    cpu, began = gauge.cpu_s(), time.monotonic()
                    watched.append(rate(page, address, ROUND_S))
                    shares.append((gauge.cpu_s() - cpu) / (time.monotonic() - began))
                waits += watchers.waits
                answers += watchers.answers
            what = "look back at random" if back else "follow"
            print(f"{count} who {what}, {ROUNDS} rounds of {ROUND_S:g} s in turns")
            print(f"  messages a second                 {median(alone):8.0f} alone, {median(watched):8.0f} watched")
            ratio = median(b / a for a, b in zip(alone, watched, strict=True))
            print(f"  ratio, median of the rounds       {ratio:8.2f}")
            print(f"  the server's share of a core      {median(shares):8.2f}")
            print(f"  wait for a frame, median and p95  {median(waits):8.0f} ms, {at_rank(waits, 0.95):8.0f} ms")
            print(f"  answers                           {dict(answers)}")


# ------------------------------------------------------------------ the page itself


def browser_cpu_s() -> float:
    """CPU seconds of all processes of the browser that this process has started, and has not ended."""
    return sum(Gauge(process).cpu_s() for process in browser_processes())


def browser_memory_mb() -> float:
    """Their resident memory."""
    return sum(Gauge(process).memory_mb() for process in browser_processes())


def browser_processes() -> list[int]:
    """The processes of the browser among the descendants of this process."""
    parents, names = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text()
        except OSError:
            continue
        name, _, rest = fields.partition("(")[2].rpartition(")")
        names[int(folder.name)], parents[int(folder.name)] = name, int(rest.split()[1])

    def is_own(process: int) -> bool:
        while process > 1:
            if process == os.getpid():
                return True
            process = parents.get(process, 0)
        return False

    return [process for process, name in names.items() if name.startswith(("chrom", "headless")) and is_own(process)]


def in_page(session: CDPSession) -> dict[str, float]:
    """The heap of the page's JavaScript after a collection, in MB, and its DOM nodes."""
    session.send("HeapProfiler.collectGarbage")
    found: list[dict[str, Any]] = session.send("Performance.getMetrics")["metrics"]
    own = {metric["name"]: metric["value"] for metric in found}
    return {"heap": own["JSHeapUsedSize"] / 1e6, "nodes": own["Nodes"]}


def watch_page(page: Page, url: str, minutes: int) -> None:
    """The cost of the page by the minute."""
    with fast_cluster(page, url) as address:
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        page.wait_for_timeout(5_000)
        print(f"the page, {minutes} minutes")
        print("  minute   events/s   share of a core   memory MB   JS heap MB   DOM nodes")
        for minute in range(1, minutes + 1):
            cpu, began, before = browser_cpu_s(), time.monotonic(), received(page, address)
            page.wait_for_timeout(60_000)
            share = (browser_cpu_s() - cpu) / (time.monotonic() - began)
            after = received(page, address)
            events = 2 * (after[1] - before[1]) / (after[0] - before[0])  # each message is sent and received
            own, memory = in_page(session), browser_memory_mb()
            told = f"{memory:11.0f} {own['heap']:12.1f} {own['nodes']:11.0f}"
            print(f"  {minute:6} {events:10,.0f} {share:17.2f} {told}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Runs the benchmark. Returns 1 if the server's log has an exception."""
    parser = argparse.ArgumentParser(prog="bench.watchers", description=__doc__, allow_abbrev=False)
    parser.add_argument("--watchers", type=int, default=WATCHERS, help="0: leave this part out")
    parser.add_argument("--page", type=int, default=0, metavar="MINUTES", help="measure the page for so long")
    given = parser.parse_args(arguments)
    executable = next(filter(None, map(shutil.which, BROWSERS)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ["CONSISTENT_CUT_DATA"] = str(Path(folder) / "data")
        log = Path(folder) / "server.log"
        with serving("app.py", log) as (url, server):
            browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            if given.watchers:
                compare(page, url, Gauge(server.pid), given.watchers)
            if given.page:
                page.close()
                watch_page(browser.new_page(viewport={"width": 1280, "height": 720}), url, given.page)
            browser.close()
        problems = list(problems_in(log.read_text()))
    print(*problems, sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
