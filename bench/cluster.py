"""Speed of a cluster: `python -m bench.cluster` prints the tables of docs/performance.md. All on this one machine.

`python -m bench.cluster --long` runs chaos as well, by the minute, until a thousand snapshots are complete.

The bank goes as fast as it can: every node sends whenever it may, and back-pressure alone slows it. The figures come
from the event logs, which all nodes write by one clock.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cluster.chaos import chaos
from cluster.control.supervisor import Supervisor
from cluster.model import Fault, NodeStatus, Snapshot, Status, Wish
from cluster.node.event_log import Entry, merged
from cluster.node.system import GRPC, TCP
from cluster.start.full_graph import of_nodes
from cluster.start.preparation import prepared
from cluster.start.wanted import Wanted
from sim.core.model import RECEIVE, SEND

NODES = (2, 4, 8, 16)
FAST = ("pace=0.002", "balance=1000000")
CALM = ("pace=2", "balance=1000")  # 50 messages a second from each node: no message waits
SECONDS = 5.0  # of a measurement
ROUNDS = 5  # of each comparison
KILLS = 10
LONG_S, LONG_SNAPSHOTS = 60.0, 1000
_POLL = 0.005


class Measured(NamedTuple):
    """The measures of a run: messages received a second, their seconds in transit, and the snapshots taken."""

    rate: float
    latencies: list[float]
    snapshots: Sequence[Snapshot]


def wanted(nodes: int, settings: Sequence[str], transport: str = TCP) -> Wanted:
    """A bank on `nodes` nodes, without delays."""
    scenario = of_nodes(nodes, "bank", settings=settings, retained=3)
    return Wanted(scenario, allows_faults=True, transport=transport)


def measured(own: Wanted, *, gap: float | None = None) -> Measured:
    """A cluster that runs for SECONDS after a warm-up, with a snapshot every `gap` seconds (None: none)."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        own.folder = Path(folder)
        with prepared(own, print) as supervisor:
            first, last = asyncio.run(_steady(supervisor, gap))
            entries = merged(supervisor.logs)
            snapshots = supervisor.store.registry.page(Status.COMPLETED, 10**6, None)
        received, latencies = _messages(entries, first, last, own.unit)
    return Measured(received / (last - first) / own.unit, latencies, snapshots)


async def _steady(supervisor: Supervisor, gap: float | None) -> tuple[float, float]:
    """Let it run. Returns when the measurement began and ended, in time units."""
    try:
        await supervisor.start()
        await asyncio.sleep(1.0)
        first = supervisor.services.site.now
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if gap is not None:
                await supervisor.trigger(Wish())
            await asyncio.sleep(min(gap or SECONDS, end - time.monotonic()))
        return first, supervisor.services.site.now
    finally:
        await supervisor.close()


def _messages(entries: Sequence[Entry], first: float, last: float, unit: float) -> tuple[int, list[float]]:
    """The number of messages received between two times, and the seconds that each of them took."""
    sent: dict[int, float] = {}
    took = []
    for entry in entries:
        for row in entry.rows:
            if row[2] == SEND:
                sent[row[5]] = entry.time
            elif row[2] == RECEIVE and first <= entry.time < last:
                took.append((entry.time - sent[row[5]]) * unit)
    return len(took), took


async def _recoveries(supervisor: Supervisor) -> list[float]:
    """Seconds from each of KILLS ends of a node until all nodes run again."""
    took = []
    try:
        await supervisor.start()
        for number in range(KILLS):
            own = await supervisor.trigger(Wish())
            while not supervisor.snapshot(own.id).status.is_final:
                await asyncio.sleep(_POLL)
            node = supervisor.present[number % len(supervisor.present)]
            before, began = supervisor.figures()["recoveries"], time.monotonic()
            await supervisor.inject(Fault("kill", node))
            while supervisor.figures()["recoveries"] == before or not _run(supervisor):
                await asyncio.sleep(_POLL)
            took.append(time.monotonic() - began)
    finally:
        await supervisor.close()
    return took


def _run(supervisor: Supervisor) -> bool:
    return all(node.status is NodeStatus.RUNNING for node in supervisor.nodes())


def _quantiles(values: Sequence[float], unit: float = 1000) -> str:
    """Median, 95 %, 99 % and the largest, as cells of a table, in milliseconds."""
    ranked = sorted(values)
    picked = [ranked[min(len(ranked) - 1, int(len(ranked) * part))] for part in (0.5, 0.95, 0.99, 1)]
    return " | ".join(f"{value * unit:,.1f}" for value in picked)


def throughput() -> None:
    """Prints messages a second by the number of nodes, over each transport."""
    print("\n| nodes, each joined with each | over TCP, messages/s | of each | over gRPC | of each | gRPC : TCP |")
    print("|---|---|---|---|---|---|")
    for nodes in NODES:
        tcp, over_grpc = (measured(wanted(nodes, FAST, transport)).rate for transport in (TCP, GRPC))
        cells = f"{tcp:,.0f} | {tcp / nodes:,.0f} | {over_grpc:,.0f} | {over_grpc / nodes:,.0f} | {over_grpc / tcp:.2f}"
        print(f"| {nodes} | {cells} |", flush=True)


def cost_of_snapshots() -> None:
    """Prints the throughput with a snapshot each second and without; the two take turns."""
    print("\n| nodes, transport | messages/s without | with a snapshot each second | ratio (median of rounds) |")
    print("|---|---|---|---|")
    for nodes, transport in ((4, TCP), (8, TCP), (4, GRPC)):
        own = wanted(nodes, FAST, transport)
        pairs = [(measured(own).rate, measured(own, gap=1.0).rate) for _ in range(ROUNDS)]
        without, with_them = (statistics.median(own) for own in zip(*pairs, strict=True))
        ratio = statistics.median(own / other for other, own in pairs)
        print(f"| {nodes}, {transport} | {without:,.0f} | {with_them:,.0f} | {ratio:.2f} |", flush=True)


def times() -> None:
    """Prints the latencies of messages and the durations of snapshots."""
    print("\n| ms | median | 95 % | 99 % | longest |\n|---|---|---|---|---|")
    calm, busy = ("at 50 a second from each node", CALM, 0.1), ("as fast as it goes", FAST, 1.0)
    for nodes, transport in ((4, TCP), (8, TCP), (4, GRPC)):
        for words, settings, gap in (calm, busy):
            own = measured(wanted(nodes, settings, transport), gap=gap)
            durations = [found.duration for found in own.snapshots if found.duration is not None]
            where = f"{nodes} nodes, {transport}, {words}"
            print(f"| a message, {where} | {_quantiles(own.latencies)} |")
            print(f"| a snapshot, {where} ({len(durations)} of them) | {_quantiles(durations, 1)} |", flush=True)


def recoveries() -> None:
    """Prints the durations of recoveries."""
    print("\n| from kill -9 to all nodes running, ms | median | 95 % | 99 % | longest |\n|---|---|---|---|---|")
    for nodes, transport in ((4, TCP), (8, TCP), (4, GRPC)):
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            own = wanted(nodes, CALM, transport)
            own.folder = Path(folder)
            with prepared(own, print) as supervisor:
                took = asyncio.run(_recoveries(supervisor))
        print(f"| {nodes} nodes, {transport}, {KILLS} kills | {_quantiles(took)} |", flush=True)


def long_chaos() -> bool:
    """Prints the results of chaos, minute by minute, until LONG_SNAPSHOTS snapshots are complete.

    Returns False if one of them is wrong.
    """
    complete, seed = 0, 0
    while complete < LONG_SNAPSHOTS:
        seed += 1
        own = Wanted(of_nodes(4, "bank", settings=["pace=2"], retained=20), delay=(0.005, 0.03))
        report = chaos(own, LONG_S, seed, snapshots_per_second=3 * LONG_SNAPSHOTS / LONG_S)
        complete += report.snapshots.get(Status.COMPLETED, 0)
        print(f"\n{LONG_S:g} s of chaos on 4 nodes, seed {seed}:")
        print(*report.lines(), sep="\n", flush=True)
        if report.wrong:
            return False
    return True


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.cluster")
    parser.add_argument("--long", action="store_true", help="chaos as well, until a thousand snapshots are complete")
    parser.add_argument("--only-long", action="store_true", help="nothing but that")
    chosen = parser.parse_args()
    print(f"{os.cpu_count()} processors, Python {sys.version.split()[0]}")
    if not chosen.only_long:
        throughput()
        cost_of_snapshots()
        times()
        recoveries()
    if chosen.long or chosen.only_long:
        sys.exit(0 if long_chaos() else 1)
