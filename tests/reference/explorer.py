"""Every run of a small system: its states, and what the definition says of its snapshots. Plain, and slow.

A *state* is what every process and every channel holds, and what the environment may still do. That is all a rule can
see, and all that the future depends on. It has nothing of the past: not which messages were sent before a recording,
nor what was recorded and then forgotten in a crash, nor how many events there were. A channel that is not FIFO holds a
bag, unless a rule looks at what a marker overtakes.

A verdict is about a run, not about a state. So a second search has whole pasts in the place of states: what each
process did, in its order, and what was lost. Runs that differ in nothing else have the same partial order, and the
definition (tests/reference/verdicts.py) says of each past what it says of any event table.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sim.core.engine import Engine
from sim.core.log import Log
from sim.core.model import LOST, Action, Channel, Crash, Event, Freeze, Lose, Message, Process, Restart, State, Thaw
from sim.core.rules import ROW_WIDTH
from sim.document.scenario import Scenario
from tests.reference.verdicts import Judged

NEVER = (None, None)  # a message that no row names


class Environment(NamedTuple):
    """What may still fail: so many crashes, freezes, and losses of messages on their way.

    Who is down may restart, and who is frozen be thawed.
    """

    crashes: int = 0
    restarts: bool = False
    losses: int = 0
    freezes: int = 0
    thaws: bool = False

    def after(self, action: Action) -> Environment:
        """What may fail after an action."""
        is_crash, is_loss, is_freeze = (type(action) is kind and action.item is None for kind in (Crash, Lose, Freeze))
        return self._replace(
            crashes=self.crashes - is_crash, losses=self.losses - is_loss, freezes=self.freezes - is_freeze
        )

    def actions(self, state: State) -> Iterator[Action]:
        """What may fail now. Of several markers of a snapshot in a channel a loss can only name the first."""
        for process in state.processes:
            if process.alive and self.crashes:
                yield Crash(process.number)
            elif not process.alive and self.restarts:
                yield Restart(process.number)
            if process.frozen and self.thaws:
                yield Thaw(process.number)
            elif process.alive and not process.frozen and self.freezes:
                yield Freeze(process.number)
        if self.losses:
            yield from map(Lose, dict.fromkeys(message.names[-1] for queue in state.queues for message in queue))


class System:
    """A scenario as a graph of states. `own_order`: of the script only each process's own lines keep their order."""

    def __init__(self, scenario: Scenario, left: Environment, *, own_order: bool = False) -> None:
        self.scenario, self.left, self.own_order = scenario, left, own_order
        self.engine: Engine = scenario.engine(has_faults=any(left), is_raw=left.losses > 0)
        agenda = self.engine.agenda
        self.order = [number for _, number in sorted((own.time, own.number) for own in agenda if own.after is None)]
        self.counts_events = any(label and label.rpartition(".")[2].isdigit() for label in self.engine.awaited)
        self.snapshots = sorted({own.action.snapshot for own in agenda if hasattr(own.action, "snapshot")})

    def actions(self, state: State, left: Environment) -> Iterator[Action]:
        """All that may happen next: what the engine allows, a line of the script only in its turn, and faults."""
        done = sum(own.position for own in [*state.processes, *state.services])
        for action in self.engine.enabled(state):
            is_timed = action.item is not None and self.engine.agenda[action.item].after is None
            if self.own_order or not is_timed or self.order[done] == action.item:
                yield action
        if not any(self.engine.is_enabled(state, start) for start in self.engine.starts):
            yield from left.actions(state)

    # ------------------------------------------------------------------ a state

    def holds(self, state: State, left: Environment) -> Hashable:
        """The state of the system: equal if every process and channel holds the same, and the same may still fail."""
        nodes = [self._node(own) for own in [*state.processes, *state.services]]
        queues = [self._queue(own, state.queues[own.number]) for own in self.engine.channels]
        control = [(own.name, [self._message(one) for one in queue]) for own, queue in state.control.items()]
        timers = [(*key, timer.after, timer.snapshot) for key, timer in state.timers.items()]
        severed = frozenset(own.name for own in state.severed)
        script = state.happened, state.waiting
        return plain((nodes, queues, {*map(plain, control)}, {*timers}, severed, state.slowed, script, left))

    def _node(self, own: Process) -> Any:
        parts = {
            name: (
                part.state,
                {channel: queue for channel, queue in part.kept.items() if queue},
                frozenset(channel.name for channel in part.closed),
                part.done,
            )
            for name, part in own.snapshots.items()
        }
        listening = {channel.name: names for channel, names in own.listening.items()}
        blocked = frozenset(channel.name for channel in own.blocked)
        turn = 0 if own.number == self.engine.environment else own.turn  # the world counts its faults: nobody sees that
        does = own.state, turn, own.position, own.alive, own.frozen, own.paused
        notes = own.memory, own.coordination
        return does, parts, listening, blocked, own.aborted, notes, own.index if self.counts_events else None

    def _queue(self, channel: Channel, queue: list[Message]) -> Any:
        messages = [plain(self._message(own)) for own in queue]
        return messages if channel.fifo or self.engine.algorithm.overtakes else Counter(messages)

    def _message(self, own: Message) -> Any:
        awaited = own.receive_label if own.receive_label in self.engine.awaited else None
        return own.kind, own.snapshot, own.body, own.stamp, awaited


def plain(value: Any) -> Hashable:
    """A value as one that can be a key; equal values give equal keys."""
    if isinstance(value, Mapping):
        return dict, frozenset((plain(key), plain(own)) for key, own in value.items())
    if isinstance(value, set | frozenset):
        return set, frozenset(map(plain, value))
    if isinstance(value, list | tuple):
        return list, tuple(map(plain, value))
    if isinstance(value, Channel):
        return value.name
    if isinstance(value, Message):
        return value.channel.name, value.kind, value.snapshot, plain(value.body), plain(value.stamp)
    return type(value), value


# ------------------------------------------------------------------ all states


class States(NamedTuple):
    """All states that can be reached, by the fewest steps that lead there; and how many steps lead on from them."""

    depths: dict[Hashable, int]
    transitions: int

    @property
    def per_depth(self) -> list[int]:
        """The number of states by depth."""
        found = Counter(self.depths.values())
        return [found[depth] for depth in sorted(found)]


def states_of(system: System) -> States:
    """Visit every state once."""
    first = system.engine.initial()
    level = {system.holds(first, system.left): (first, system.left)}
    depths, transitions, depth = dict.fromkeys(level, 0), 0, 0
    while level:
        depth += 1
        after: dict[Hashable, tuple[State, Environment]] = {}
        for state, left in level.values():
            for action in system.actions(state, left):
                successor, _ = system.engine.step(state, action)
                transitions += 1
                key = system.holds(successor, left.after(action))
                if key not in depths:
                    depths[key] = depth
                    after[key] = successor, left.after(action)
        level = after
    return States(depths, transitions)


# ------------------------------------------------------------------ all pasts


class Recorded(NamedTuple):
    """What a complete snapshot recorded: its id, and as JSON the states of the processes and the channels' bodies."""

    snapshot: str
    processes: str
    channels: str


@dataclass(frozen=True)
class Past:
    """One run up to a state: what each process did, and what was lost; and the state to which that has led.

    lines: by process, its rows. lost: the messages lost on their way. names: by id, a message as the channel and its
    number in it. rows, ends: the rows of all steps, and how many values they were after each step.
    """

    state: State
    left: Environment
    lines: Mapping[str, tuple[Hashable, ...]]
    lost: frozenset[Hashable] = frozenset()
    names: Mapping[Any, tuple[Any, ...]] = field(default_factory=lambda: {None: NEVER})
    rows: tuple[Any, ...] = ()
    ends: tuple[int, ...] = ()

    @property
    def key(self) -> Hashable:
        """Equal for runs that have the same partial order."""
        return frozenset(self.lines.items()), self.lost

    def then(self, system: System, action: Action) -> Past:
        """The past with one more step."""
        state, rows = system.engine.step(self.state, action)
        lines, lost, names = dict(self.lines), set(self.lost), dict(self.names)
        for process, index, kind, channel, _, message, label, body, snapshot in zip(
            *[iter(rows)] * ROW_WIDTH, strict=True
        ):
            if message not in names:
                names[message] = channel, sum(name[0] == channel for name in names.values())
            row = index, kind, channel, names[message], label, snapshot, plain(body)
            if kind == LOST and type(action) is Lose:
                lost.add(row)
            else:
                lines[process] = (*lines.get(process, ()), row)
        every = (*self.rows, *rows)
        return Past(state, self.left.after(action), lines, frozenset(lost), names, every, (*self.ends, len(every)))

    def table(self) -> list[Event]:
        """The event table."""
        log = Log()
        log.rows, log.ends, log.times = list(self.rows), list(self.ends), [float(own) for own in range(len(self.ends))]
        return log.events()


@dataclass
class Verdicts:
    """What the definition says of all runs.

    recorded: the number of runs up to the step that completes each snapshot. wrong_ways: likewise, by check, of those
    of which it does not hold. wrong: for each check that does not hold in some run, the fewest steps after which it
    does not.
    """

    recorded: Counter[Recorded] = field(default_factory=Counter)
    wrong_ways: Counter[str] = field(default_factory=Counter)
    wrong: dict[str, int] = field(default_factory=dict)


def verdicts_of(system: System) -> Verdicts:
    """Go through all pasts, and judge each snapshot where it is completed. What no step leaves is judged as it is."""
    found = Verdicts()
    first = system.engine.initial()
    level = {frozenset[Any](): (Past(first, system.left, {}), 1)}
    depth = 0
    while level:
        depth += 1
        after: dict[Any, tuple[Past, int]] = {}
        for past, ways in level.values():
            actions = [*system.actions(past.state, past.left)]
            if not actions:
                _note_end(system, past, depth - 1, found)
            for action in actions:
                then = past.then(system, action)
                after[then.key] = then, ways + after.get(then.key, (then, 0))[1]
                _note_completed(system, past, then, depth, ways, found)
        level = after
    return found


def _note_completed(system: System, past: Past, then: Past, depth: int, ways: int, found: Verdicts) -> None:
    """Judge the snapshots that a step completes."""
    begin = (len(past.rows) // ROW_WIDTH, len(then.rows) // ROW_WIDTH)
    kinds = then.rows[2::ROW_WIDTH][slice(*begin)]
    if "snapshot_complete" not in kinds:
        return
    table = then.table()
    for name in system.snapshots:
        judged = Judged(system.scenario, table, name)
        if judged.status != "complete" or Judged(system.scenario, table[: begin[0]], name).status == "complete":
            continue
        found.recorded[_recorded(judged)] += ways
        for check, holds in judged.verdicts().items():
            if holds is False and check != "completion":
                found.wrong.setdefault(check, depth)
                found.wrong_ways[check] += ways


def _recorded(judged: Judged) -> Recorded:
    states = {name: judged._state(name) for name in judged.members}
    channels = {name: [json.loads(body) for body in judged.recorded(name)] for name in judged.channels}
    return Recorded(judged.snapshot, *(json.dumps(own, sort_keys=True) for own in (states, channels)))


def _note_end(system: System, past: Past, depth: int, found: Verdicts) -> None:
    """Whether a snapshot is over where nothing happens any more: not asked where a fault stood in its way."""
    kinds = set(past.rows[2::ROW_WIDTH])
    if past.state.severed or kinds & {"crash", LOST} or any(own.frozen for own in past.state.processes):
        return
    table = past.table()
    for name in system.snapshots:
        if Judged(system.scenario, table, name).status == "recording":
            found.wrong.setdefault("completion", depth)
