"""A class at work: `python -m bench.classroom [--sessions 30] [--seconds 120] [--soak]`.

One server and thirty sessions, each with an edit every two to four seconds. Thirty browsers would measure how fast this
machine draws, so all but two of the sessions speak Streamlit's protocol and draw nothing; the two are real tabs that
step and drag. It reports waits, lost edits and errors, and the server's CPU time and memory.

With `--soak` (20 minutes, if `--seconds` does not say) one tab more runs ensembles in a row, and Spark is killed at
random: bench/soak.py. No ensemble may stay incomplete, and the memory has to stay flat.

The exit status is 1 for any error: an exception in the server's log, a lost edit, an unexpected refusal, or an error in
a tab. It is 1 also if a session's last run differs from the run that its edits make.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import async_playwright

from bench.sessions import Ending, Findings, student, tab
from bench.soak import Soak
from bench.waits import at_rank, median
from tests.conftest import BROWSERS, FLAGS
from tests.e2e.conftest import serving

SESSIONS_KEPT_S = 125  # Streamlit keeps a lost session for two minutes, in case its browser reconnects
SECONDS, SOAK_SECONDS = 120, 1200


@dataclass
class Gauge:
    """CPU and memory of the server, from /proc."""

    process: int

    def cpu_s(self) -> float:
        """CPU seconds since the server's start."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        """The resident memory now."""
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process}/status").read_text())
        return int(found[1]) / 1024 if found else float("nan")


async def lesson(
    url: str, gauge: Gauge, sessions: int, tabs: int, seconds: float, soak: Soak | None = None
) -> tuple[Findings, dict[str, float]]:
    """Runs the class, and the soak beside it. Returns the measurements, and the server's CPU time and memory."""
    await student(url, Findings(), 0, asyncio.Barrier(1), 0)  # so that the server has imported everything
    findings, cost = Findings(), {"memory before": gauge.memory_mb()}
    starts = asyncio.Barrier(sessions + 1)
    executable = next(filter(None, map(shutil.which, BROWSERS)))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=FLAGS)
        size = {"width": 1280, "height": 720}
        contexts = [await browser.new_context(viewport=size) for _ in range(tabs + (soak is not None))]
        pages = [await context.new_page() for context in contexts]
        tasks = [asyncio.create_task(tab(page, url, findings, starts, seconds)) for page in pages[:tabs]]
        others = range(sessions - tabs)
        tasks += [asyncio.create_task(student(url, findings, number, starts, seconds)) for number in others]
        try:
            await starts.wait()
            cost["memory, all open"], cpu, start = gauge.memory_mb(), gauge.cpu_s(), time.monotonic()
            if soak is not None:
                tasks.append(asyncio.create_task(soak.go_on(pages[-1], url, gauge.process, gauge.memory_mb)))
            await starts.wait()
            cost["CPU, share of a core"] = (gauge.cpu_s() - cpu) / (time.monotonic() - start)
            cost["memory, at the end"] = gauge.memory_mb()
        except asyncio.BrokenBarrierError:
            pass  # the session that aborted it has noted the error
        await asyncio.gather(*tasks)
        await browser.close()
    await asyncio.sleep(5)
    cost["memory, 5 s after"] = gauge.memory_mb()
    return findings, cost


async def afterwards(url: str, gauge: Gauge) -> float:
    """The memory after Streamlit has dropped the sessions, which it does when a new one comes."""
    await asyncio.sleep(SESSIONS_KEPT_S)
    await student(url, Findings(), 0, asyncio.Barrier(1), 0)
    await asyncio.sleep(2)
    return gauge.memory_mb()


def problems_in(log: str) -> Iterator[str]:
    """The last line of each exception in a server's log."""
    for block in log.split("Traceback (most recent call last):")[1:]:
        yield "server: " + next((line for line in block.splitlines()[1:] if line and line[0] != " "), "an exception")


def waits(what: str, times: list[float]) -> str:
    """A line of the report on waits, in ms."""
    return f"  {what:34}{len(times):6} times, median {median(times):6.0f} ms, p95 {at_rank(times, 0.95):6.0f} ms"


def report(findings: Findings, cost: dict[str, float], sessions: int) -> None:
    """Prints the measurements."""
    print(waits("opening the page, all at once", findings.opened))
    print(waits("edit to answer, at the client", findings.edits))
    print(waits("edit to repainted, in real tabs", findings.in_tabs))
    print(f"  edits sent {findings.sent}, acknowledged {findings.acknowledged}")
    print(f"  received by the clients without a browser: {findings.bytes_received / 1e6:.0f} MB")
    for what, value in cost.items():
        print(f"  {what:34}{value:8.2f}" if "CPU" in what else f"  {what:34}{value:8.0f} MB")
    if "memory, at the end" in cost:
        each = (cost["memory, at the end"] - cost["memory before"]) / sessions
        print(f"  memory per session                {each:8.1f} MB")
    for text, times in findings.refused.most_common():
        print(f"  refused {times} times: {text}")
    for text, times in Counter(findings.errors).most_common():
        print(f"  ERROR, {times} times: {text}")


def main(arguments: list[str] | None = None) -> int:
    """Runs the benchmark. Returns 1 if there were errors."""
    parser = argparse.ArgumentParser(prog="bench.classroom", description=__doc__, allow_abbrev=False)
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--tabs", type=int, default=2, help="how many of the sessions are real browser tabs")
    parser.add_argument("--seconds", type=float, help=f"default: {SECONDS}, with --soak {SOAK_SECONDS}")
    parser.add_argument("--soak", action="store_true", help="run ensembles beside the class, and kill Spark at random")
    parser.add_argument("--seed", type=int, default=0, help="decides when --soak kills Spark")
    parser.add_argument("--no-afterwards", action="store_true", help="do not wait until sessions are forgotten")
    given = parser.parse_args(arguments)
    seconds = given.seconds or (SOAK_SECONDS if given.soak else SECONDS)
    soak = Soak(seconds, given.seed) if given.soak else None
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CONSISTENT_CUT_DATA"] = str(Path(folder) / "data")
        log = Path(folder) / "server.log"
        with serving("app.py", log) as (url, server):
            gauge = Gauge(server.pid)
            findings, cost = asyncio.run(lesson(url, gauge, given.sessions, given.tabs, seconds, soak))
            if not given.no_afterwards:
                cost["memory, sessions forgotten"] = asyncio.run(afterwards(url, gauge))
        findings.errors += problems_in(log.read_text())
        if soak is not None:
            soak.conclude()
    with ProcessPoolExecutor() as pool:
        findings.errors += filter(None, pool.map(Ending.problem, findings.endings))
    if findings.sent != findings.acknowledged:
        findings.errors.append(f"{findings.sent - findings.acknowledged} edits were lost")
    print(f"{given.sessions} sessions, {given.tabs} of them in a browser, {seconds:g} s")
    report(findings, cost, given.sessions)
    if soak is not None:
        print(*soak.report(), sep="\n")
    return 1 if findings.errors or (soak is not None and soak.errors) else 0


if __name__ == "__main__":
    sys.exit(main())
