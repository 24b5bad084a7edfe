"""The scenario: a small and complete description of an execution.

Every action of a user is an edit of a scenario (sim/edit/edits.py). Running a scenario (sim/run/execution.py) is a pure
function. sim/document/files.py reads its file format; sim/document/validate.py checks that it makes sense.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from sim.core.algorithm import ALGORITHMS, Graph, SnapshotAlgorithm
from sim.core.broken_rule import BROKEN_RULES
from sim.core.chances import Chances
from sim.core.delays import DelayRule, Delays
from sim.core.engine import Engine
from sim.core.fault_kinds import FAULT_KINDS, PROCESS
from sim.core.model import (
    FAULTS,
    Action,
    AgendaItem,
    Channel,
    Copy,
    Fault,
    Initiate,
    Internal,
    Lose,
    MessageReference,
    Send,
    Slow,
    State,
)
from sim.core.network import Network
from sim.core.recovery import RecoveryPlan
from sim.core.scheduler import Manual, Random, Scheduler, Timed
from sim.core.tick import Tick
from sim.core.topology import EVERY_CHANNEL, Topology
from sim.core.workload import WORKLOADS, Workload
from sim.document.fault_rates import FaultRates, Outage
from sim.services.coordinator import coordinated
from sim.services.member import Member
from sim.services.settings import PARAMETERS, STORAGE, Settings, StorageSettings
from sim.services.storage import stored
from sim.services.storage_words import NAME as STORAGE_NAME
from sim.services.uploads import Uploader

SCHEDULERS = ("timed", "tick", "random", "manual")
ORIENTATIONS = ("down", "right")
STATUSES = ("complete", "recording", "aborted", "expired", "failed")
MOST_PROCESSES = 1_000
ITEM_KEYS = ("script", "snapshots", "faults")  # of what is planned, in the order of the agenda


@dataclass(frozen=True)
class ScriptLine:
    """A scripted event of a process, at time `at`, or `at` time units after the event labelled `after`.

    It is a send if `to` names a target, else an internal event. `label` and `receive_label` name its send (or internal
    event) and its receive. Errors name `where`, its place in a file.
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
    """A process (or service) initiates `snapshot` at time `at`, or `at` time units after the event labelled `after`.

    `type` is one of increments.TYPES: how it is stored (None: as the storage usually does).
    """

    snapshot: str
    process: str
    at: float = 0.0
    after: str | None = None
    type: str | None = None
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class FaultLine:
    """An action of the environment at time `at`, or `at` time units after the event labelled `after`.

    `kind` is one of FAULT_KINDS. A process crashes, starts again, is frozen or thawed, joins, leaves or becomes slow
    (by `factor`). Channels (by name) are severed or mended. A message is lost or copied: when it is sent, or at `at` if
    that is later.
    """

    kind: str
    process: str | None = None
    channels: tuple[str, ...] = ()
    at: float = 0.0
    after: str | None = None
    message: MessageReference | None = None
    factor: float = 1.0
    where: str = field(default="", compare=False)

    @property
    def about(self) -> Any:
        """The target of the fault: the name of a process, the reference of a message, or the names of channels."""
        return self.process or self.message or self.channels


@dataclass(frozen=True)
class NamedCut:
    """A cut that the story discusses. `frontier`: process -> label of its last event inside (missing: no event)."""

    name: str
    frontier: Mapping[str, str]
    text: str = ""


@dataclass(frozen=True)
class WalkStep:
    """One stop of a guided walk through Dijkstra's argument (diagrams/panels/proof/panel.py).

    `step` is shown then (None: the step on show), after `swaps` interchanges: a number, or "straight".
    """

    text: str
    step: int | None = None
    swaps: int | str = 0


@dataclass(frozen=True)
class SchedulerChoice:
    """A scheduler and its settings: `until` and `extra` for Tick, `order` for Manual (see `choice_name`)."""

    kind: str = "timed"
    until: int = 0
    extra: int | None = None
    order: tuple[str, ...] = ()

    @property
    def has_time(self) -> bool:
        """Whether delays decide when a message arrives. Without time, a message can only be held."""
        return self.kind in ("timed", "tick")


@dataclass(frozen=True)
class Scenario:
    """A small and complete description of an execution. Equal scenarios give identical events.

    `initial` holds the states in which processes begin, by name, where these are not the workload's own. `absent` names
    the processes that are not there at first, and `not_fifo` the channels that are not FIFO;
    EVERY_CHANNEL as its only entry: none is. `breaks` names the rules that the run breaks on purpose
    (sim/core/broken_rule.py).
    `origin` is the name of its file; every error about the scenario begins with it.
    """

    name: str
    processes: tuple[str, ...]
    title: str = ""
    story: str = ""
    source: str = ""
    group: str = "My scenarios"
    orientation: str = "down"
    topology: Topology = field(default_factory=Topology)
    network: Network = field(default_factory=Network)
    absent: tuple[str, ...] = ()
    not_fifo: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    algorithm: str = "chandy_lamport"
    algorithm_parameters: Mapping[str, Any] = field(default_factory=dict)
    workload: str = "scripted"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    initial: Mapping[str, Any] = field(default_factory=dict)
    scheduler: SchedulerChoice = field(default_factory=SchedulerChoice)
    coordinator: Mapping[str, Any] | None = None
    storage: Mapping[str, Any] | None = None
    recovery: RecoveryPlan | None = None
    seed: int = 0
    delay: DelayRule = field(default_factory=DelayRule)
    marker_delay: DelayRule | None = None
    control_delay: DelayRule = field(default_factory=DelayRule)
    delays: Mapping[MessageReference, float] = field(default_factory=dict)
    script: tuple[ScriptLine, ...] = ()
    snapshots: tuple[Initiation, ...] = ()
    faults: tuple[FaultLine, ...] = ()
    fault_rates: FaultRates = field(default_factory=FaultRates)
    cuts: tuple[NamedCut, ...] = ()
    walk: tuple[WalkStep, ...] = ()
    expect: Mapping[str, Any] = field(default_factory=dict)
    origin: str = field(default="", compare=False)

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """The channels. Their order breaks ties between deliveries at the same time."""
        drawn_by = self.seed if self.topology.kind == "random" else 0
        not_fifo = (EVERY_CHANNEL,) if self.network.is_raw else self.not_fifo
        return _channels(self.topology, self.processes, drawn_by, not_fifo)

    def at(self, key: str) -> str:
        """`key` with the name of the file, as errors give it."""
        return f"{self.origin}: {key}" if self.origin else key

    def where(self, item: int) -> str:
        """The place of agenda item number `item` in the file, as errors give it."""
        key, number = self.place(item)
        return self.planned(item).where or self.at(f"{key}[{number + 1}]")

    def place(self, item: int) -> tuple[str, int]:
        """The key of agenda item number `item`, "script", "snapshots" or "faults", and its number there, from 0.

        The drawn faults have the numbers after those of [[faults]]: they would have them if they were written down.
        """
        for key in ITEM_KEYS:
            count = len(self.items(key))
            if item < count:
                return key, item
            item -= count
        raise IndexError(item)

    def planned(self, item: int) -> ScriptLine | Initiation | FaultLine:
        """The line of the scenario that agenda item number `item` comes from."""
        key, number = self.place(item)
        return self.items(key)[number]

    def items(self, key: str) -> tuple[ScriptLine | Initiation | FaultLine, ...]:
        """The items under one of ITEM_KEYS; the faults with those that are drawn."""
        found: tuple[ScriptLine | Initiation | FaultLine, ...]
        found = self.all_faults if key == "faults" else getattr(self, key)
        return found

    @cached_property
    def all_faults(self) -> tuple[FaultLine, ...]:
        """The lines of [[faults]], and then the faults drawn by [fault_rates], in order of time.

        Lines come before rates: a drawn outage that overlaps one of theirs is left out. If a line waits for an event,
        its time is unknown before the run, and no outage is drawn there.
        """
        drawn = [own for process in self.processes for own in self._drawn("crash", "restart", process)]
        if self.fault_rates.sever:
            drawn += (own for channel in self.channels for own in self._drawn("sever", "mend", channel.name))
        return (*self.faults, *sorted(drawn, key=lambda fault: fault.at))

    def written_down(self) -> Scenario:
        """The same run with every drawn fault of a process or channel as a line of [[faults]], for edits to change."""
        rates = FaultRates(lose=self.fault_rates.lose, copy=self.fault_rates.copy)
        return replace(self, faults=self.all_faults, fault_rates=rates)

    def _drawn(self, fails: str, heals: str, name: str) -> Iterator[FaultLine]:
        """The drawn faults of one process or channel, in order of time."""
        lines = [fault for fault in self.faults if name == fault.process or name in fault.channels]
        if any(fault.after is not None for fault in lines):
            return
        taken, rates = _outages(lines), self.fault_rates
        of_process = FAULT_KINDS[fails].about == PROCESS
        process, channels = (name, ()) if of_process else (None, (name,))
        for outage in rates.of_process(self.seed, name) if of_process else rates.of_channel(self.seed, name):
            if not any(outage.meets(*other) for other in taken):
                yield FaultLine(fails, process, channels, outage.begin)
                if outage.end < math.inf:
                    yield FaultLine(heals, process, channels, outage.end)

    def engine(self, *, has_faults: bool = False, is_raw: bool = False) -> Engine:
        """A new engine for this scenario; `has_faults`: faults may happen that it does not plan.

        is_raw: lost messages are not resent, even if the scenario has a FIFO layer.
        """
        workload, rules, absent = self._workload(), self.rule_book(), self.absent
        is_raw, has_faults = is_raw or self.network.is_raw, has_faults or self.fault_rates.meets_messages
        return Engine(
            self.processes, self.channels, workload, rules, self.agenda, absent, has_faults=has_faults, is_raw=is_raw,
            plan=self.recovery, has_logs=bool((self.storage or {}).get("offsets")),
        )  # fmt: skip

    @property
    def headline(self) -> str:
        """The title, with the rules that the run breaks on purpose, so that no file or picture misleads."""
        switches = [BROKEN_RULES[name].switch for name in self.breaks]
        return "; ".join([self.title, f"broken on purpose: {', '.join(switches)}"]) if switches else self.title

    @property
    def rules(self) -> type[SnapshotAlgorithm]:
        """The class of the rule book: the algorithm's with its options, or the broken one that `breaks` names."""
        own = broken_rules(self.breaks) or ALGORITHMS[self.algorithm]
        rules = own.with_options(self.algorithm_parameters)
        if self.has_storage:
            rules = stored(rules)  # type: ignore[arg-type]  # classes are hashable
        if self.coordinator is None:
            return rules
        is_eager = any(self.coordinator.get(key) for key in ("heartbeat", "interval"))
        return coordinated(rules, is_eager=is_eager)  # type: ignore[arg-type]  # classes are hashable

    @property
    def has_storage(self) -> bool:
        """Whether snapshots are stored. A recovery needs a storage: where none is described, it takes no time."""
        return self.storage is not None or self.recovery is not None

    def rule_book(self) -> SnapshotAlgorithm:
        """The rule book, with this graph and its parameters."""
        book = self.rules(Graph(self.processes, self.channels), **self.algorithm_parameters)
        if isinstance(book, Member):
            book.settings = self._settings()
        if isinstance(book, Uploader):
            book.storage = self.storage_settings()
        return book

    def storage_settings(self) -> StorageSettings:
        """The settings of the storage."""
        given = {name: (self.storage or {}).get(name, own.default) for name, own in STORAGE.items()}
        waits = self._workload().waits_for_commits
        return StorageSettings(
            **given,
            members=tuple(name for name in self.processes if name not in self.absent),
            seed=self.seed,
            tells=self.coordinator is not None or given["incremental"] or given["limit"] > 0 or waits,
            recovers=self.recovery is not None,
            types={start.snapshot: start.type for start in self.snapshots if start.type is not None},
        )

    def _settings(self) -> Settings:
        """The settings of the coordinator."""
        given = {name: (self.coordinator or {}).get(name, own.default) for name, own in PARAMETERS.items()}
        planned = [own.at for key in ITEM_KEYS for own in self.items(key)]
        tries = 1 + given["retries"]
        end = max(planned, default=0.0) + tries * (given["timeout"] + given["minimum_pause"])
        numbers = [int(own.snapshot[1:]) for own in self.snapshots if is_snapshot_number(own.snapshot)]
        return Settings(
            **{**given, "until": given["until"] or end},
            members=tuple(name for name in self.processes if name not in self.absent),
            numbered=max(numbers, default=0),
        )

    def _workload(self) -> Workload:
        workload = WORKLOADS[self.workload](self.processes, self.seed, **self.parameters)
        if self.initial:
            workload.begin_in(self.initial)
        return workload

    def delays_of_a_run(self) -> Delays:
        """The delays of one run of this scenario, to be asked for in the order of sending."""
        marker = self.marker_delay or self.delay
        rules = self.delay, marker, self.control_delay
        latency = {STORAGE_NAME: DelayRule("fixed", self.storage_settings().latency)} if self.has_storage else None
        return Delays(self.seed, *rules, self.delays, self.processes, self.network.resend, latency)

    def scheduler_for(self, engine: Engine, state: State) -> Scheduler:
        """A new scheduler of this scenario's kind, which starts in `state`."""
        delays = self.delays_of_a_run()
        choice = self.scheduler
        if choice.kind == "tick":
            return Tick(engine, state, delays, choice.until, choice.extra)
        if choice.kind == "random":
            return Random(engine, state, delays, self.seed)
        if choice.kind == "manual":
            return Manual(engine, state, delays, choice.order)
        rates = self.fault_rates
        chances = Chances(self.seed, rates.lose, rates.copy) if rates.meets_messages else None
        return Timed(engine, state, delays, chances)

    @cached_property
    def agenda(self) -> tuple[AgendaItem, ...]:
        """The script lines, the initiations, then the faults, drawn ones included.

        The timed items of each process are ranked by (time, number). So are the faults, except those that wait for
        their message.
        """
        workload = self._workload()
        services = [service.name for service in self.rules.services]
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
        for fault in self.all_faults:
            planned.append((_fault(fault, number_of, channel_of, len(planned)), fault.at, fault.after))
        return _ranked(planned, len(number_of))


def _fault(line: FaultLine, number_of: Mapping[str, int], channel_of: Mapping[str, Channel], item: int) -> Fault:
    """The action of a fault's line, as agenda item number `item`."""
    if line.kind == "slow":
        return Slow(number_of[line.process or ""], line.factor, item)
    about: Any = line.message or tuple(channel_of[name] for name in line.channels)
    if line.process is not None:
        about = number_of[line.process]
    kind: Any = FAULT_KINDS[line.kind].action
    fault: Fault = kind(about, item)
    return fault


def _outages(lines: Iterable[FaultLine]) -> list[Outage]:
    """When lines say that one process is down, frozen or absent, or one channel severed."""
    found: list[Outage] = []
    for fault in sorted(lines, key=lambda own: own.at):
        is_down, kind = bool(found) and found[-1].end == math.inf, FAULT_KINDS[fault.kind]
        if not is_down:  # a line that mends several channels may be about one that is not severed
            found.append(Outage(fault.at, math.inf if kind.begins else fault.at))
        elif kind.needs:
            found[-1] = Outage(found[-1].begin, fault.at)
    return found


def broken_rules(breaks: Iterable[str]) -> type[SnapshotAlgorithm] | None:
    """The rule book among some broken rules (None: there is none)."""
    rules = (BROKEN_RULES[name] for name in breaks if name in BROKEN_RULES)
    return next((rule for rule in rules if issubclass(rule, SnapshotAlgorithm)), None)


@lru_cache(maxsize=64)
def _channels(
    topology: Topology, processes: tuple[str, ...], seed: int, not_fifo: tuple[str, ...]
) -> tuple[Channel, ...]:
    """Cached, because most edits do not change the graph."""
    number_of = {name: number for number, name in enumerate(processes)}
    some_fifo, free = not_fifo != (EVERY_CHANNEL,), frozenset(not_fifo)
    found = []
    for number, (a, b) in enumerate(topology.edges(processes, seed)):
        name = f"{a}->{b}"
        is_fifo = some_fifo and name not in free
        found.append(Channel(number, number_of[a], number_of[b], name, is_fifo, topology.capacity_of(name)))
    return tuple(found)


def _ranked(planned: list[tuple[Action, float, str | None]], world: int) -> tuple[AgendaItem, ...]:
    """The agenda. `world` is the number of whom faults are planned for."""
    rank_of: dict[int, int] = {}
    next_rank: dict[int, int] = {}
    actors = [
        world if type(a) in FAULTS else a.channel.source if isinstance(a, Send) else a.process  # type: ignore[union-attr]
        for a, _, _ in planned
    ]
    for number in sorted(range(len(planned)), key=lambda n: (planned[n][1], n)):
        action, _, after = planned[number]
        if after is None and not isinstance(action, Lose | Copy):
            rank_of[number] = next_rank.get(actors[number], 0)
            next_rank[actors[number]] = rank_of[number] + 1
    return tuple(
        AgendaItem(number, actors[number], action, time, after, rank_of.get(number))
        for number, (action, time, after) in enumerate(planned)
    )


def is_snapshot_number(name: str) -> bool:
    """Whether a name is one of S1, S2, ..., which a coordinator gives."""
    return name[:1] == "S" and name[1:].isascii() and name[1:].isdigit() and len(name) < 9


def free_snapshot_id(scenario: Scenario) -> str:
    """The first of S1, S2, ... that is not in use."""
    taken = {start.snapshot for start in scenario.snapshots}
    return next(f"S{n}" for n in range(1, len(taken) + 2) if f"S{n}" not in taken)
