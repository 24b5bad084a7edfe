"""A cluster under random faults, and its audit: kills, partitions, delays and losses, while snapshots are taken.

The faults are drawn from a seed: their kinds, their targets and the gaps between them. When the time is over, all of
them are undone, the nodes begin nothing more, and the last messages arrive. Then the audit must find no mistake.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, NodeStatus, Problem, Snapshot, Status, Wish
from cluster.node.system import live
from cluster.replay.audit import Audit, audit
from cluster.replay.event_table import write_table
from cluster.replay.scenario import table
from cluster.start.preparation import prepared
from cluster.start.wanted import Wanted
from sim.core.errors import InputError
from sim.document.scenario import Scenario
from sim.run.snapshots import COMPLETE

GAP = 0.6  # seconds between two faults, on average
SHARES = {"kill": 2, "freeze": 2, "sever": 3, "delay": 3, "lose": 2}  # the weight of each kind
SEVERED = (0.1, 0.8)  # seconds until a severed channel is mended
HEARTBEAT = 0.15  # seconds from one to the next, unless an option says it: after 1.2 s a frozen node counts as gone
FROZEN = (0.3, 3.0)  # seconds until a frozen node is thawed
SLOWEST = 60.0  # milliseconds: the longest delay that is injected
MOST_LOST = 0.3  # of the frames on a channel
CALM = 30.0  # seconds at the end until all nodes run, and no message is in transit
SNAPSHOTS_PER_SECOND = 20.0
MOST_UNDER_WAY = 8
_POLL = 0.02


class Planned(NamedTuple):
    """A fault, and its time in seconds since the beginning."""

    at: float
    fault: Fault


@dataclass(frozen=True)
class Report:
    """The outcome of a run.

    `faults` counts the injected faults by kind, and `snapshots` the snapshots by Status. `recoveries` holds the seconds
    that each recovery took. `is_drained`: no message was in transit at the end. `still_there` are the ids of the nodes'
    processes that remain.
    """

    faults: dict[str, int]
    recoveries: tuple[float, ...]
    snapshots: dict[str, int]
    is_drained: bool
    still_there: tuple[int, ...]
    audit: Audit
    logs: Path

    @property
    def wrong(self) -> list[str]:
        """The mistakes that were found, a sentence each."""
        found = self.audit.wrong
        if not self.is_drained:
            found.append(f"messages were still in transit {CALM:g} s after the end")
        if self.still_there:
            found.append(f"processes that still run: {', '.join(map(str, self.still_there))}")
        return found

    def document(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        own = self.audit
        counts = ("sent", "received", "put_back", "lost", "duplicated", "out_of_order", "unfounded", "left")
        return {
            "faults": self.faults, "recoveries": list(self.recoveries), "snapshots": self.snapshots,
            "messages": own.messages, "recorded": own.recorded, **{name: own.total(name) for name in counts},
            "still_running": list(self.still_there), "wrong": self.wrong,
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        """Yield the report in words, line by line."""
        own = self.audit
        yield f"faults: {_counted(self.faults)}"
        times = ", ".join(f"{took:.2f} s" for took in self.recoveries)
        yield f"recoveries: {len(self.recoveries)}" + (f", which took {times}" if times else "")
        yield f"snapshots: {_counted(self.snapshots)}"
        yield f"messages received: {own.messages}, of which {own.total('received')} remain after the recoveries"
        yield f"messages recorded in channels: {own.recorded}; put back by recoveries: {own.total('put_back')}"
        counts = {what: own.total(what.replace(" ", "_")) for what in ("lost", "duplicated", "out of order")}
        yield ", ".join(f"{what}: {count}" for what, count in counts.items())
        yield f"left in channels: {own.total('left')}; nodes still running: {len(self.still_there)}"
        yield from (f"wrong: {problem}" for problem in self.wrong)
        if not self.wrong:
            complete = own.statuses.get(COMPLETE, 0)
            yield f"the audit is exact, at the end and at each of {complete} snapshots"


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def plan(seed: int, seconds: float, processes: Sequence[str], channels: Sequence[str]) -> list[Planned]:
    """Return the faults of a run of `seconds`, in time order. The same seed gives the same faults."""
    draw = random.Random(f"chaos {seed}")
    found: list[Planned] = []
    at = draw.expovariate(1 / GAP)
    while at < seconds:
        kind = draw.choices([*SHARES], [*SHARES.values()])[0]
        some = tuple(draw.sample([*channels], draw.randint(1, max(1, len(channels) // 2))))
        if kind == "kill":
            found.append(Planned(at, Fault("kill", draw.choice(processes))))
        elif kind == "freeze":
            node = draw.choice(processes)
            found.append(Planned(at, Fault("freeze", node)))
            found.append(Planned(at + draw.uniform(*FROZEN), Fault("thaw", node)))
        elif kind == "sever":
            found.append(Planned(at, Fault("sever", channels=some)))
            found.append(Planned(at + draw.uniform(*SEVERED), Fault("mend", channels=some)))
        elif kind == "delay":
            low, high = sorted(draw.uniform(0, SLOWEST) for _ in range(2))
            found.append(Planned(at, Fault("delay", channels=some, low=low, high=high)))
        else:
            found.append(Planned(at, Fault("lose", channels=some, share=draw.uniform(0, MOST_LOST))))
        at += draw.expovariate(1 / GAP)
    return sorted(found, key=lambda own: own.at)


def chaos(
    wanted: Wanted, seconds: float, seed: int, *, snapshots_per_second: float = SNAPSHOTS_PER_SECOND,
    say: Callable[[str], None] = lambda text: None,
) -> Report:  # fmt: skip
    """Run the cluster `wanted` under faults for `seconds`. With a folder, an event table is written there.

    Raises InputError if the cluster cannot be started, or its algorithm does not support recovery.
    """
    if wanted.folder is not None and (wanted.folder / "logs").exists():
        raise InputError(f"--out: {wanted.folder} has the run of a cluster already; name a new folder")
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        patience = wanted.patience
        scenario = live(wanted.scenario, wanted.unit, has_coordinator=wanted.has_coordinator, patience=patience)
        if scenario.coordinator is not None:
            patience = patience._replace(heartbeat=patience.heartbeat or HEARTBEAT)
        wanted = replace(
            wanted, scenario=_overlapping(scenario), patience=patience, allows_faults=True,
            folder=wanted.folder or Path(folder),
        )  # fmt: skip
        with prepared(wanted, say) as supervisor:
            if not supervisor.system.takes_back:
                title = supervisor.system.scenario.rules.title
                raise InputError(f"--algorithm: {title} does not support recovery; use chandy_lamport")
            run = _Run(supervisor, 1 / snapshots_per_second)
            asyncio.run(run.run(plan(seed, seconds, supervisor.system.processes, run.channels), seconds))
            logs, scenario = supervisor.logs, supervisor.system.scenario
        events = table(logs)
        assert wanted.folder is not None
        write_table(logs, wanted.folder)
        return Report(
            dict(run.faults), tuple(run.recoveries), run.snapshots, run.is_drained, run.still_there(),
            audit(events, scenario), logs,
        )  # fmt: skip


def _overlapping(scenario: Scenario) -> Scenario:
    """Return the scenario with several snapshots under way at a time, unless it sets their number itself."""
    if scenario.coordinator is None:
        return scenario
    return replace(scenario, coordinator={"most_concurrent": MOST_UNDER_WAY, **scenario.coordinator})


class _Run:
    """One run of chaos."""

    def __init__(self, supervisor: Supervisor, gap: float) -> None:
        """`gap`: seconds between two requests for a snapshot."""
        self.supervisor, self._gap = supervisor, gap
        self.channels = [channel.name for channel in supervisor.system.engine.channels]
        self.faults: Counter[str] = Counter()
        self.recoveries: list[float] = []
        self.snapshots: dict[str, int] = {}
        self.is_drained = False
        self._pids: set[int] = set()

    async def run(self, planned: Sequence[Planned], seconds: float) -> None:
        """Carry out the run. Raises the failure of the controller, if there is one."""
        own = self.supervisor
        try:
            await own.start()
            asking, watching = asyncio.ensure_future(self._ask()), asyncio.ensure_future(self._watch())
            try:
                await self._harm(planned, seconds)
            finally:
                asking.cancel()
            await self._calm()
            watching.cancel()
        finally:
            await own.close()
        if own.failure is not None:
            raise own.failure
        self.snapshots = {status: count for status in Status if (count := len(own.store.registry.page(status, 10**9)))}

    async def _harm(self, planned: Sequence[Planned], seconds: float) -> None:
        began = time.monotonic()
        for at, fault in planned:
            if at >= seconds or not await self._waits_until(began + at):
                break
            with suppress(Problem):  # such as a node that is down already
                await self.supervisor.inject(fault)
                self.faults[fault.kind] += 1
        await self._waits_until(began + seconds)

    async def _waits_until(self, moment: float) -> bool:
        """Wait until `moment`. Returns False if the controller fails meanwhile."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, moment - time.monotonic())):
                await self.supervisor.ended.wait()
        return not self.supervisor.ended.is_set()

    async def _ask(self) -> None:
        """Ask for snapshots, for ever; at most MOST_UNDER_WAY of them are under way."""
        while True:
            if len(self._under_way) < MOST_UNDER_WAY:
                with suppress(Problem):  # while the system is rolled back
                    await self.supervisor.trigger(Wish())
            await asyncio.sleep(self._gap)

    @property
    def _under_way(self) -> Sequence[Snapshot]:
        return self.supervisor.store.registry.running()

    async def _watch(self) -> None:
        """Note recoveries and the ids of the nodes' processes, for ever."""
        seen = 0.0
        while True:
            self._pids |= {node.pid for node in self.supervisor.nodes() if node.pid is not None}
            figures = self.supervisor.figures()
            if figures["recoveries"] != seen:
                seen = figures["recoveries"]
                self.recoveries.append(figures["last_recovery_seconds"])
            await asyncio.sleep(_POLL)

    async def _calm(self) -> None:
        """Undo all faults, and wait until all nodes run and no message is in transit."""
        for fault in (
            *(Fault("thaw", name) for name in self.supervisor.present),
            *map(Fault, ("mend", "delay", "lose")),
        ):
            with suppress(Problem):  # such as a node that has just ended
                await self.supervisor.inject(fault)
        end = time.monotonic() + CALM
        while time.monotonic() < end and not self.supervisor.ended.is_set():
            if not self._under_way and all(node.status is NodeStatus.RUNNING for node in self.supervisor.nodes()):
                self.is_drained = await self.supervisor.drain(end - time.monotonic())
                if self.is_drained:
                    break
            await asyncio.sleep(_POLL)

    def still_there(self) -> tuple[int, ...]:
        """Return the ids of the nodes' processes that still run."""
        return tuple(pid for pid in sorted(self._pids) if _runs(pid))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
