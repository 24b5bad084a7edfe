"""The document: a small, plain and complete description of an execution.

Everything a user does is an edit of a Scenario (sim/edit/edits.py); running one (sim/run/execution.py) is a
pure function. How it is written down is in sim/document/files.py, what makes one sensible in sim/document/validate.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from sim.core.algorithm import ALGORITHMS, Graph, SnapshotAlgorithm
from sim.core.delays import DelayRule, Delays, MessageReference
from sim.core.engine import Engine
from sim.core.model import Action, AgendaItem, Channel, Initiate, Internal, Send, State
from sim.core.scheduler import Manual, Random, Scheduler, Timed
from sim.core.tick import Tick
from sim.core.topology import Topology
from sim.core.workload import WORKLOADS, Workload

SCHEDULERS = ("timed", "tick", "random", "manual")
ORIENTATIONS = ("down", "right")
STATUSES = ("complete", "recording", "aborted")
MOST_PROCESSES = 1_000
EVERY_CHANNEL = "all"  # as the only entry of `not_fifo`: no channel is FIFO


@dataclass(frozen=True)
class ScriptLine:
    """Something a process does at a time, or `at` time units after the event labelled `after`.

    A send when `to` names a target, else an internal event. `label` and `receive_label` name the
    line's events. `where` is where it was written, for errors.
    """

    process: str
    at: float = 0.0
    after: str | None = None
    to: str | None = None
    body: Any = None
    label: str | None = None
    receive_label: str | None = None
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class Initiation:
    """A process (or a service) starts `snapshot` at a time, or `at` time units after the event labelled `after`."""

    snapshot: str
    process: str
    at: float = 0.0
    after: str | None = None
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class NamedCut:
    """A cut the story discusses: per process its last event inside (missing: none)."""

    name: str
    frontier: Mapping[str, str]
    text: str = ""


@dataclass(frozen=True)
class SchedulerChoice:
    """Which scheduler, and its settings: `until` and `extra` of Tick, `order` of Manual (see `choice_name`)."""

    kind: str = "timed"
    until: int = 0
    extra: int | None = None
    order: tuple[str, ...] = ()

    @property
    def has_time(self) -> bool:
        """Whether a delay decides when a message arrives; else it can only be held."""
        return self.kind in ("timed", "tick")


@dataclass(frozen=True)
class Scenario:
    """A small, plain and complete execution-to-be. Equal scenarios give identical events.

    `origin` opens every error about it: the file it was read from.
    """

    name: str
    processes: tuple[str, ...]
    title: str = ""
    story: str = ""
    source: str = ""
    group: str = "My scenarios"
    orientation: str = "down"
    topology: Topology = field(default_factory=Topology)
    not_fifo: tuple[str, ...] = ()
    algorithm: str = "chandy_lamport"
    algorithm_parameters: Mapping[str, Any] = field(default_factory=dict)
    workload: str = "scripted"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    scheduler: SchedulerChoice = field(default_factory=SchedulerChoice)
    seed: int = 0
    delay: DelayRule = field(default_factory=DelayRule)
    marker_delay: DelayRule | None = None
    control_delay: DelayRule = field(default_factory=DelayRule)
    delays: Mapping[MessageReference, float] = field(default_factory=dict)
    script: tuple[ScriptLine, ...] = ()
    snapshots: tuple[Initiation, ...] = ()
    cuts: tuple[NamedCut, ...] = ()
    expect: Mapping[str, Any] = field(default_factory=dict)
    origin: str = field(default="", compare=False)

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """The channels in their listed order."""
        drawn_by = self.seed if self.topology.kind == "random" else 0
        return _channels(self.topology, self.processes, drawn_by, self.not_fifo)

    def at(self, key: str) -> str:
        """`key` of this document, as an error names it."""
        return f"{self.origin}: {key}" if self.origin else key

    def where(self, item: int) -> str:
        """Where agenda item number `item` was written: script lines first, then initiations."""
        lines = len(self.script)
        if item < lines:
            return self.script[item].where or self.at(f"script[{item + 1}]")
        return self.snapshots[item - lines].where or self.at(f"snapshots[{item - lines + 1}]")

    def engine(self) -> Engine:
        """The rules of this scenario's system."""
        return Engine(self.processes, self.channels, self._workload(), self.rule_book(), self.agenda)

    def rule_book(self) -> SnapshotAlgorithm:
        """The snapshot algorithm, made for this graph with these parameters."""
        return ALGORITHMS[self.algorithm](Graph(self.processes, self.channels), **self.algorithm_parameters)

    def _workload(self) -> Workload:
        return WORKLOADS[self.workload](self.processes, self.seed, **self.parameters)

    def delays_of_a_run(self) -> Delays:
        """Where a run of this scenario takes the delay of each message from, in the order of sending."""
        marker = self.marker_delay or self.delay
        return Delays(self.seed, self.delay, marker, self.control_delay, self.delays, self.processes)

    def scheduler_for(self, engine: Engine, state: State) -> Scheduler:
        """The scheduler this scenario asks for, about to choose its first action."""
        delays = self.delays_of_a_run()
        choice = self.scheduler
        if choice.kind == "tick":
            return Tick(engine, state, delays, choice.until, choice.extra)
        if choice.kind == "random":
            return Random(engine, state, delays, self.seed)
        if choice.kind == "manual":
            return Manual(engine, state, delays, choice.order)
        return Timed(engine, state, delays)

    @cached_property
    def agenda(self) -> tuple[AgendaItem, ...]:
        """Script lines, then initiations; each process's timed ones ranked by (time, this order)."""
        workload = self._workload()
        services = [service.name for service in ALGORITHMS[self.algorithm].services]
        number_of = {name: number for number, name in enumerate([*self.processes, *services])}
        channel_of = {channel.name: channel for channel in self.channels}
        planned: list[tuple[Action, float, str | None]] = []
        for line in self.script:
            action: Action
            if line.to is None:
                action = Internal(number_of[line.process], line.body, line.label, len(planned))
            else:
                channel = channel_of[f"{line.process}->{line.to}"]
                body = workload.body_of(line.body, line.label, line.receive_label)
                action = Send(channel, body, line.label, line.receive_label, len(planned))
            planned.append((action, line.at, line.after))
        for start in self.snapshots:
            action = Initiate(number_of[start.process], start.snapshot, len(planned))
            planned.append((action, start.at, start.after))
        return _ranked(planned)


@lru_cache(maxsize=64)
def _channels(
    topology: Topology, processes: tuple[str, ...], seed: int, not_fifo: tuple[str, ...]
) -> tuple[Channel, ...]:
    """Most edits leave the graph as it is, and so do most seeds."""
    number_of = {name: number for number, name in enumerate(processes)}
    some_fifo = not_fifo != (EVERY_CHANNEL,)
    return tuple(
        Channel(number, number_of[a], number_of[b], f"{a}->{b}", some_fifo and f"{a}->{b}" not in not_fifo)
        for number, (a, b) in enumerate(topology.edges(processes, seed))
    )


def _ranked(planned: list[tuple[Action, float, str | None]]) -> tuple[AgendaItem, ...]:
    rank_of: dict[int, int] = {}
    next_rank: dict[int, int] = {}
    actors = [a.channel.source if isinstance(a, Send) else a.process for a, _, _ in planned]  # type: ignore[union-attr]
    for number in sorted(range(len(planned)), key=lambda n: (planned[n][1], n)):
        if planned[number][2] is None:
            rank_of[number] = next_rank.get(actors[number], 0)
            next_rank[actors[number]] = rank_of[number] + 1
    return tuple(
        AgendaItem(number, actors[number], action, time, after, rank_of.get(number))
        for number, (action, time, after) in enumerate(planned)
    )
