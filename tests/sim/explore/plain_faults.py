"""The plain explorer where processes may crash and messages be lost: whole states, each with a diary of its rows.

A crash takes from a process what a check still asks for, so a state of the engine is not enough. The diary says what a
reader of all rows would know by now: the parts that count, and for each message whether it was sent and received after
them. Nothing in it is taken from the local states of sim/explore.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from sim.core.engine import Engine
from sim.core.model import (
    APP,
    CHANNEL_CLOSED,
    CRASH,
    RECEIVE,
    RECORD,
    RECORDED,
    SEND,
    SNAPSHOT_COMPLETE,
    STATE_CHANGED,
    Action,
    Crash,
    Lose,
    Restart,
    State,
)
from sim.core.rules import ROW_WIDTH
from sim.document.scenario import Scenario
from sim.explore.local import frozen
from sim.explore.search import Explored
from sim.explore.world import MayHappen
from tests.sim.explore.plain import actions, key_of


class Found(NamedTuple):
    """What it finds. of_engine: the states without their diaries. wrong: the fewest steps after which a check fails."""

    states: int
    transitions: int
    of_engine: frozenset[Hashable]
    snapshots: Counter[Hashable]
    wrong: dict[str, int]


class Part(NamedTuple):
    """What a process has recorded so far; `number` says how many of its parts are lost or out of date."""

    number: int
    state: Any
    kept: Mapping[str, tuple[Any, ...]] = MappingProxyType({})
    closed: frozenset[str] = frozenset()
    done: bool = False


@dataclass
class Diary:
    """What the rows so far say of the snapshots.

    again: whether a process may record a second time. If not, a part that is lost ends its snapshot: nobody asks what
    came after it, who else has lost one, nor for messages that were sent and received after a part.

    parts: those that count, by snapshot and process. lost: how many did once. torn: whose part was lost before it was
    done. after: the messages received after the part of the receiver, by snapshot and channel: body, and the part of
    the sender after which it was sent, if any. before: those parts, for messages received before the receiver recorded.
    sent_after: likewise for messages on their way, by id.
    """

    again: bool
    parts: dict[tuple[str, str], Part] = field(default_factory=dict)
    lost: Counter[tuple[str, str]] = field(default_factory=Counter)
    torn: set[tuple[str, str]] = field(default_factory=set)
    after: dict[tuple[str, str], tuple[tuple[Any, int | None], ...]] = field(default_factory=dict)
    before: set[tuple[str, str, int]] = field(default_factory=set)
    sent_after: dict[int, dict[str, int]] = field(default_factory=dict)

    def next(self, rows: list[Any]) -> Diary:
        """The diary with the rows of one more step. This one does not change."""
        twin = Diary(*(type(own)(own) for own in vars(self).values()))
        for process, _, kind, channel, _, message, _, body, snapshot in zip(*[iter(rows)] * ROW_WIDTH, strict=True):
            own = twin.parts.get((snapshot, process))
            if kind == CRASH:
                for name, part in twin._of(process).items():
                    if not part.done:
                        twin.torn.add((name, process))
                        twin._lose(name, process)
            elif kind == RECORD:
                if own is not None:
                    twin._lose(snapshot, process)
                twin.parts[snapshot, process] = Part(twin.lost[snapshot, process], body)
            elif kind == SEND:
                twin.sent_after[message] = {name: part.number for name, part in twin._of(process).items()}
            elif kind == RECEIVE:
                twin._receive(process, channel, body, twin.sent_after[message])
            elif kind == RECORDED:
                kept = {**own.kept, channel: (*own.kept.get(channel, ()), body)}
                twin.parts[snapshot, process] = own._replace(kept=kept)
            elif kind == CHANNEL_CLOSED:
                twin.parts[snapshot, process] = own._replace(closed=own.closed | {channel})
            elif kind == SNAPSHOT_COMPLETE:
                twin.parts[snapshot, process] = own._replace(done=True)
            elif kind == STATE_CHANGED:
                twin.parts[snapshot, process] = own._replace(state=body)
        return twin

    def _of(self, process: str) -> dict[str, Part]:
        return {name: part for (name, own), part in self.parts.items() if own == process}

    def _lose(self, snapshot: str, process: str) -> None:
        """A part counts no more: what came after it came before the next one."""
        del self.parts[snapshot, process]
        self.lost[snapshot, process] += 1
        for name, channel in list(self.after):
            if name == snapshot and channel.endswith(f"->{process}"):
                came = self.after.pop((name, channel))
                self.before |= {(name, channel, part) for _, part in came if part is not None and self.again}

    def _receive(self, process: str, channel: str, body: Any, sent_after: dict[str, int]) -> None:
        held = self._of(process)
        for name in held:
            self.after[name, channel] = (*self.after.get((name, channel), ()), (body, sent_after.get(name)))
        self.before |= {(name, channel, part) for name, part in sent_after.items() if name not in held}

    def key(self, state: State) -> Hashable:
        """Equal for diaries that no check tells apart."""
        ways = [[sorted(self.sent_after[own.id].items()) for own in q if own.kind == APP] for q in state.queues]
        parts = {key: part[1:] for key, part in self.parts.items()}
        if self.again:
            return frozen((parts, +self.lost, self.torn, self.after, self.before, ways))
        after = {key: [body for body, part in came if part is None] for key, came in self.after.items()}
        return frozen((parts, {key: came for key, came in after.items() if came}, self.before, ways))

    # ------------------------------------------------------------------ what is complete, and what is wrong with it

    def complete(self, processes: Collection[str]) -> dict[str, list[Part]]:
        """The complete snapshots, with the parts of all processes."""
        found = {name: [self.parts.get((name, own)) for own in processes] for name, _ in self.parts}
        torn = {name for name, _ in self.torn}
        return {
            name: [part for part in parts if part is not None]
            for name, parts in found.items()
            if name not in torn and all(part is not None and part.done for part in parts)
        }

    def wrong(self, engine: Engine, state: State, name: str, lost: int) -> Iterator[str]:
        """The checks on the cut that do not hold of a complete snapshot, when so many messages have been lost.

        What was recorded may have been lost since.
        """
        for channel in engine.channels:
            source, target = (self.parts[name, own] for own in channel.name.split("->"))
            if (name, channel.name, source.number) in self.before:
                yield "consistency"
            way = [
                (own.body, self.sent_after[own.id].get(name)) for own in state.queues[channel.number] if own.kind == APP
            ]
            came = [*self.after.get((name, channel.name), ()), *way]
            kept, crossed = target.kept.get(channel.name, ()), [own for own, part in came if part != source.number]
            left = iter(kept)
            if not (all(body in left for body in crossed) and len(kept) - len(crossed) <= lost):
                yield "channel_states"


class Left(NamedTuple):
    """How many crashes and losses may still happen."""

    crashes: int
    losses: int

    def after(self, action: Action) -> Left:
        """How many may after an action."""
        return Left(self.crashes - isinstance(action, Crash), self.losses - isinstance(action, Lose))


def explored_with_faults(scenario: Scenario, may: MayHappen, *, own_order: bool = False) -> Found:
    """All states, level by level, each with the number of runs that lead to it."""
    engine = scenario.engine(has_faults=True, is_raw=True)
    first, diary, left = engine.initial(), Diary(may.restarts), Left(may.crashes, may.losses)
    alone = of_engine_key(engine, first, left)
    level = {(alone, diary.key(first)): (first, left, diary, 1)}
    seen, of_engine, transitions, depth = set(level), {alone}, 0, 0
    snapshots, wrong = Counter[Hashable](), dict[str, int]()
    while level:
        reached: dict[Hashable, tuple[State, Left, Diary, int]] = {}
        depth += 1
        for state, left, diary, ways in level.values():
            for action in (*actions(engine, state, own_order=own_order), *faults(state, left, may)):
                successor, rows = engine.step(state, action)
                now, still = diary.next(rows), left.after(action)
                transitions += 1
                alone = of_engine_key(engine, successor, still)
                of_engine.add(alone)
                key = alone, now.key(successor)
                reached[key] = successor, still, now, ways + (reached[key][3] if key in reached else 0)
                for name in set(now.complete(engine.processes)) - set(diary.complete(engine.processes)):
                    snapshots[name, *told(now, engine.processes, name)] += ways
                    for check in now.wrong(engine, successor, name, may.losses - still.losses):
                        wrong.setdefault(check, depth)
        level = {key: own for key, own in reached.items() if key not in seen}
        seen |= set(level)
    return Found(len(seen), transitions, frozenset(of_engine), snapshots, wrong)


def faults(state: State, left: Left, may: MayHappen) -> Iterator[Action]:
    """What may fail at any moment: who is up may crash as long as crashes are left, who is down may start again.

    Every message that is on its way may be lost, once for each name: of several markers of a snapshot the first.
    """
    for process in state.processes:
        if process.alive and left.crashes:
            yield Crash(process.number)
        elif not process.alive and may.restarts:
            yield Restart(process.number)
    if left.losses:
        yield from map(Lose, dict.fromkeys(message.names[-1] for queue in state.queues for message in queue))


def of_engine_key(engine: Engine, state: State, left: Left) -> Hashable:
    """A state of the engine with the faults that are left, and how many of the scenario's own have happened.

    These and who is down say all that the world, the last service, counts.
    """
    *services, world = state.services
    alone = State([*state.processes, *services], state.queues, [])
    alone.control, alone.timers = state.control, state.timers
    alone.happened, alone.waiting = state.happened, state.waiting
    return left, world.position, key_of(engine, alone)


def told(diary: Diary, processes: Collection[str], name: str) -> Iterator[Hashable]:
    """What a complete snapshot has recorded, as the explorer tells it."""
    for process in processes:
        part = diary.parts[name, process]
        kept = frozenset((channel, tuple(map(frozen, bodies))) for channel, bodies in part.kept.items())
        yield process, frozen(part.state), kept


def whole_states(found: Explored) -> Iterator[Hashable]:
    """The states of an exploration, put together as the engine has them, without what sim/explore adds."""
    space = found.space
    engine, nodes = space.engine, len(space.machines)
    for key in (np.array([key]) for level in found.levels for key in level):
        numbers = [int(space.packing.column(key, place)[0]) for place in range(space.columns)]
        *locals_, world = (machine.locals.things[own] for machine, own in zip(space.machines, numbers, strict=False))
        contents = [own.numbers.things[at] for own, at in zip(space.contents, numbers[nodes:], strict=False)]
        ways = [[space.tokens.things[token][0] for token in tokens] for tokens in contents]
        state = State([own.process for own in locals_], ways[: len(engine.channels)], [world.process])
        of_control = zip(space.channels[len(engine.channels) :], ways[len(engine.channels) :], strict=True)
        state.control = {channel: tuple(way) for channel, way in of_control if way}
        state.timers = {(at, name): own for at, local in enumerate(locals_) for name, own in local.timers.items()}
        state.happened = space.happened.things[numbers[space.at_happened]]
        done = frozenset().union(*(own.done for own in locals_))
        state.waiting = frozenset(own.number for own in engine.agenda if own.after is not None) - done
        yield of_engine_key(engine, state, Left(world.crashes, world.losses))
