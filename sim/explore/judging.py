"""The checks of a snapshot, made at the step that completes it.

At that moment everything is decided: the recorded states, and the messages that crossed the cut. The order of checks is
that of sim/verify/checks.py, whose words they share; that code judges the run to which a violation leads once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.log import to_json
from sim.core.model import APP
from sim.explore.local import ANY_CHANNEL, Local, frozen
from sim.explore.numbers import Numbers
from sim.explore.packing import Ints, Keys, Ways, distinct, merged, packing_of
from sim.explore.space import Move, Space
from sim.explore.world import WorldLocal

COMPLETION, CONSISTENCY, CHANNEL_STATES, CONSERVATION = "completion", "consistency", "channel_states", "conservation"
NONE = -1  # a process that has not completed its part

Recorded = tuple[Hashable, ...]  # a snapshot: its id, then what each process recorded, with its incoming channels


class Part(NamedTuple):
    """The part of one process: its recorded state, and the bodies in each incoming channel that was not empty.

    bags: the channels that are not FIFO, so that the order of the bodies means nothing.
    """

    process: str
    state: Any
    channels: dict[str, list[Any]]
    bags: frozenset[str] = frozenset()

    def told(self) -> Hashable:
        """Equal for equal parts."""
        kept = frozenset(
            (channel, frozen(in_one_order(bodies) if channel in self.bags else bodies))
            for channel, bodies in self.channels.items()
        )
        return self.process, frozen(self.state), kept


def in_one_order(bodies: Iterable[Any]) -> list[Any]:
    """The bodies of a bag, in the order of their JSON."""
    return sorted(bodies, key=to_json)


def judged(algorithm: SnapshotAlgorithm) -> set[str]:
    """The checks that are made. If a process may record again, no check knows in time which messages cross the cut."""
    about_the_cut = set() if algorithm.records_once else {CONSISTENCY, CHANNEL_STATES}
    return {COMPLETION, CONSISTENCY, CHANNEL_STATES, CONSERVATION} & set(algorithm.checks) - about_the_cut


def _is_done(name: str, own: Local) -> bool:
    return own.is_done(name)


def _is_frozen(name: str, own: Local) -> bool:
    return own.process.frozen


def _is_over(name: str, own: Local) -> bool:
    return name in own.process.aborted or own.is_done(name)


def _discarded(name: str, own: Local) -> int:
    return own.discarded.get(name, 0)


def _early(channel: int, name: str, own: Local) -> int:
    """The parts for which a red message came too early on a channel, each as one bit."""
    parts = {part for other, where, part in own.early if other == name and where in (channel, ANY_CHANNEL)}
    return sum(1 << part for part in parts)


def _is_in_order(kept: Sequence[int], crossing: Sequence[tuple[int, bool]]) -> bool:
    """Whether messages are those that cross a cut, in their order; what is lost (the bool) may be among them or not."""
    reached = {0}
    for body, is_lost in crossing:
        further = {place + 1 for place in reached if kept[place : place + 1] == [body]}
        reached = further | (reached if is_lost else set())
    return len(kept) in reached


def _is_bag(kept: Sequence[int], crossing: Sequence[tuple[int, bool]]) -> bool:
    """The same where messages have no order."""
    there, lost = (Counter(body for body, own in crossing if own is is_lost) for is_lost in (False, True))
    found = Counter(kept)
    return there <= found <= there + lost


class Judge:
    """Looks at the steps of one level: what they complete, and what is wrong with it."""

    def __init__(self, space: Space) -> None:
        self.space, self.engine = space, space.engine
        self.names = space.snapshots
        self.checks = judged(space.engine.algorithm)
        self.parts = Numbers()
        self.parts.number(None, None)  # of who has recorded nothing
        self._kept: dict[tuple[str, str, int], NDArray[np.int64]] = {}
        self._right: dict[tuple[str, int, int, int, int], bool] = {}
        self._completed: dict[str, list[tuple[Keys, Ways]]] = {}  # states after a step that completes a snapshot
        self.snapshots: Counter[Recorded] = Counter()
        self.worst: dict[str, int] = {}
        self.wrong: Counter[str] = Counter()  # by check: the runs up to a step that completes a wrong snapshot

    def begin(self) -> None:
        """A new level: forget what the last one brought."""
        self.snapshots, self.worst, self.wrong, self._completed = Counter(), {}, Counter(), {}

    def look(self, move: Move, after: Keys, ways: Ways) -> None:
        """Note the snapshots that these steps complete; `ways` says how many runs lead to each step."""
        if move.node >= len(self.engine.processes) or not len(after):
            return
        column, next_locals = self.space.packing.column, self.space.machines[move.node].next_locals()[move.outcomes]
        for name in self.names:
            done = self._done(name, move.node)
            completes = done[next_locals] & ~done[move.locals]
            if not completes.any():
                continue
            ends = np.flatnonzero(completes.take(move.cases))
            for node in range(len(self.engine.processes)):
                ends = ends[self._done(name, node)[column(after[ends], node)]]
            if len(ends):
                self._completed.setdefault(name, []).append((after[ends], ways[ends]))

    def end(self, keys: Keys) -> None:
        """Judge what was looked at, and states that no step leaves: every snapshot is over in them."""
        for name, completed in sorted(self._completed.items()):
            self._judge(name, *merged(completed))
        for name in self.names:
            self._note(COMPLETION, keys[self._is_incomplete(name, keys)])

    def failing(self, keys: Keys, is_end: NDArray[np.bool_]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """For each snapshot and check: in which states it does not hold; `is_end` says which ones no step leaves."""
        for name in self.names:
            yield COMPLETION, is_end & self._is_incomplete(name, keys)
            complete = self.complete(name, keys)
            if complete.any():
                for check, wrong in self._wrong_in(name, keys[complete]):
                    fails = np.zeros(len(keys), bool)
                    fails[complete] = wrong
                    yield check, fails & (check in self.checks)

    def complete(self, name: str, keys: Keys) -> NDArray[np.bool_]:
        """In which states a snapshot is complete: also where a process has crashed whose part was done."""
        complete = np.ones(len(keys), bool)
        for node in range(len(self.engine.processes)):
            complete &= self._done(name, node)[self.space.packing.column(keys, node)]
        return complete

    def _is_incomplete(self, name: str, keys: Keys) -> NDArray[np.bool_]:
        """Whether a snapshot is not over everywhere, although no fault stands in its way."""
        in_the_way = self._in_the_world(keys, lambda world: world.takes_away or bool(world.severed))
        is_over = np.ones(len(keys), bool)
        for node in range(len(self.engine.processes)):
            in_the_way |= self._told("frozen", name, node, _is_frozen)[self.space.packing.column(keys, node)] > 0
            is_over &= self._told("over", name, node, _is_over)[self.space.packing.column(keys, node)] > 0
        return ~(in_the_way | is_over)

    def _in_the_world(self, keys: Keys, holds: Callable[[WorldLocal], bool]) -> NDArray[np.bool_]:
        """Whether something holds of the environment, state by state."""
        world = self.space.world
        if world is None:
            return np.zeros(len(keys), bool)
        held: NDArray[np.bool_] = np.array([holds(own) for own in world.locals.things])
        return held[self.space.packing.column(keys, world.number)]

    def _note(self, check: str, keys: Keys) -> None:
        if len(keys) and check in self.checks:
            self.worst.setdefault(check, int(keys[0]))

    def _told(self, what: str, name: str, node: int, value: Callable[[str, Local], int]) -> NDArray[np.int64]:
        """Something of each local state of a node, worked out once."""
        key = what, name, node
        known = self._kept.get(key, np.zeros(0, np.int64))
        new = self.space.machines[node].locals.things[len(known) :]
        if new:
            known = self._kept[key] = np.concatenate([known, np.array([value(name, own) for own in new], np.int64)])
        return known

    def _done(self, name: str, node: int) -> NDArray[np.bool_]:
        """By local state: whether a process has completed its part."""
        return self._told("done", name, node, _is_done) > 0

    def _judge(self, name: str, keys: Keys, ways: Ways) -> None:
        packing = self.space.packing
        self.count(name, [packing.column(keys, node) for node in range(len(self.engine.processes))], ways)
        for check, wrong in self._wrong_in(name, keys):
            self._note(check, keys[wrong])
            if check in self.checks and wrong.any():
                self.wrong[check] += float(ways[wrong].sum())  # type: ignore[assignment]

    def _wrong_in(self, name: str, keys: Keys) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """For each check: in which of these states, in which a snapshot is complete, it does not hold."""
        packing = self.space.packing
        columns = [packing.column(keys, node) for node in range(len(self.engine.processes))]
        sent = [self._told("discarded", name, node, _discarded)[column] for node, column in enumerate(columns)]
        orphan, wrong = np.zeros(len(keys), bool), np.zeros(len(keys), bool)
        for channel in self.engine.channels:
            number, target, part = channel.number, columns[channel.target], sent[channel.source]
            early = self._told(f"early {number}", name, channel.target, partial(_early, number))
            orphan |= (early[target] >> part & 1) > 0
            contents = packing.column(keys, self.space.column_of[number])
            wrong |= ~self._are_right(name, number, target, part, contents)
        yield CONSISTENCY, orphan
        yield CHANNEL_STATES, wrong
        yield CONSERVATION, self._lost(name, columns) & ~self._in_the_world(keys, lambda world: world.takes_away)

    def count(self, name: str, columns: Sequence[Ints], ways: Ways) -> None:
        """Count the runs to each recorded state; those differ in fewer things than the states of the system."""
        told = [self._told("part", name, node, self._part)[own] for node, own in enumerate(columns)]
        packing = packing_of([len(self.parts.things).bit_length()] * len(columns))
        keys, sums = merged([(packing.packed(told), ways)])
        numbers = np.stack([packing.column(keys, node) for node in range(len(columns))], axis=1)
        of = list(self.parts.of)
        for row, count in zip(numbers.tolist(), sums.tolist(), strict=True):
            self.snapshots[(name, *(of[number] for number in row))] += count

    def counted(self) -> dict[str, list[tuple[float, ...]]]:
        """The counts of this level, by snapshot: the number of runs, and by process a local state that recorded so."""
        first: dict[tuple[str, int, int], int] = {}
        for name in self.names:
            for node in range(len(self.engine.processes)):
                for local, part in enumerate(self._told("part", name, node, self._part).tolist()):
                    first.setdefault((name, node, part), local)
        found: dict[str, list[tuple[float, ...]]] = {}
        for (name, *told), ways in self.snapshots.items():
            locals_ = [first[str(name), node, self.parts.of[part]] for node, part in enumerate(told)]
            found.setdefault(str(name), []).append((ways, *locals_))
        return found

    def _part(self, name: str, own: Local) -> int:
        """The number of what a process recorded, with its incoming channels."""
        part = own.part(name)
        if part is None:
            return 0
        bags = frozenset(channel.name for channel in part.kept if not channel.fifo)
        kept = {channel.name: [message.body for message in messages] for channel, messages in part.kept.items()}
        held = {name: in_one_order(bodies) if name in bags else bodies for name, bodies in kept.items() if bodies}
        told = Part(own.process.name, part.state, held, bags & held.keys())
        return self.parts.number(told.told(), told)

    def _are_right(self, name: str, number: int, locals_: Ints, parts: Ints, contents: Ints) -> NDArray[np.bool_]:
        """Whether what was recorded of a channel is the channel at the cut, at some placing of the losses.

        By state: the local state of its target, the number of the part that its source has recorded, and its content.
        """
        of_a_part = (parts.astype(np.int64) << 24 | locals_) << 32 | contents
        different = distinct(of_a_part)
        triples = ((own >> 32 & 0xFFFFFF, own >> 56, own & 0xFFFFFFFF) for own in different.tolist())
        found = [self._is_right(name, number, *triple) for triple in triples]
        return np.array(found, bool)[np.searchsorted(different, of_a_part)]

    def _is_right(self, name: str, number: int, local: int, part: int, content: int) -> bool:
        key = name, number, local, part, content
        if key not in self._right:
            channel = self.engine.channels[number]
            machine = self.space.machines[channel.target]
            own: Local = machine.locals.things[local]
            recorded = own.part(name)
            assert recorded is not None
            kept = [machine.plain(message) for message in recorded.kept.get(channel, ())]
            queue = [self.space.tokens.things[token] for token in self.space.contents[number].numbers.things[content]]
            late = own.late.get((name, number), ())
            crossing = [(came.body, came.is_lost) for came in late if came.part != part]
            crossing += [
                (machine.plain(message), is_lost)
                for message, red, is_lost in queue
                if message.kind == APP and (name, part) not in red
            ]
            self._right[key] = (_is_in_order if channel.fifo else _is_bag)(kept, crossing)
        return self._right[key]

    def _lost(self, name: str, columns: Sequence[Ints]) -> NDArray[np.bool_]:
        """Whether the conserved goods in a snapshot are not as many as at first."""
        workload = self.engine.workload
        whole = sum((Counter(workload.measure(workload.initial(own))) for own in self.engine.processes), Counter[str]())
        lost = np.zeros(len(columns[0]), bool)
        for good in whole:
            amount = partial(self._amount, good)
            total = np.zeros(len(columns[0]), np.int64)
            for node, column in enumerate(columns):
                total += self._told(f"amount of {good}", name, node, amount)[column]
            lost |= total != whole[good]
        return lost

    def _amount(self, good: str, name: str, own: Local) -> int:
        part, workload = own.part(name), self.engine.workload
        if part is None:
            return 0
        bodies = [workload.measure_body(m.body).get(good, 0) for kept in part.kept.values() for m in kept]
        return workload.measure(part.state).get(good, 0) + sum(bodies)
