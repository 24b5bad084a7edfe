"""Symmetry: processes that a scenario cannot tell apart are exchanged, and states that become one another count as one.

A renaming is a permutation of interchangeable processes, carried on to their channels and to all values that name them.
Two states that a renaming turns into each other have the same future but for those names. So one of them is explored
(C. N. Ip and D. L. Dill, "Better Verification Through Symmetry", 1996). The representative is the state that is least
column by column. It stands for as many states as there are different renamings of it.

Nothing is taken on trust: each execution of a rule is repeated under each renaming, and has to lead to the renamed
outcome. Rules that treat processes differently, such as draws by the name of a process, are refused.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.core.errors import InputError
from sim.core.model import Channel, Internal, Message, Process, Send
from sim.document.scenario import Scenario
from sim.explore.judging import Part, Recorded
from sim.explore.local import ANY_CHANNEL, Local, frozen
from sim.explore.machine import Outcome
from sim.explore.numbers import Numbers, Token
from sim.explore.packing import Ints, Keys
from sim.explore.space import Space

MOST_RENAMINGS = 120
CHUNK = 1 << 16  # keys that are renamed together, so that their columns stay in the processor's cache


class Renaming:
    """One permutation of processes: `places[p]` is the process that takes the place of process p."""

    def __init__(self, space: Space, places: Sequence[int]) -> None:
        self.space, self.places, engine = space, tuple(places), space.engine
        self._texts = {own: engine.nodes[place] for own, place in zip(engine.nodes, places, strict=False)}
        by_ends = {
            (channel.source, channel.target, place >= len(engine.channels)): channel
            for place, channel in enumerate(space.channels)
        }
        self._channels: dict[int, Channel] = {}
        for (source, target, is_control), channel in by_ends.items():
            other = self._channels[channel.number] = by_ends[places[source], places[target], is_control]
            self._texts[channel.name] = other.name
        moved = [space.column_of[self._channels[channel.number].number] for channel in space.channels]
        self.columns = [*places, *moved, space.at_order, space.at_happened]
        self._tables: list[Ints] = [np.zeros(0, np.int32)] * space.columns
        self._inputs: dict[tuple[int, int], int] = {}

    # ------------------------------------------------------------------ things

    def value(self, value: Any) -> Any:
        """A value of plain data in which processes and channels have their new names."""
        if isinstance(value, str):
            return self._texts.get(value, value)
        if isinstance(value, Mapping):
            return {self.value(key): self.value(own) for key, own in value.items()}
        if isinstance(value, Channel):
            return self._channels[value.number]
        if isinstance(value, Message):
            return self.message(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.value, value))
        if isinstance(value, list | tuple | set | frozenset):
            return type(value)(map(self.value, value))
        return value

    def message(self, own: Message) -> Message:
        """A message on the channel that takes the place of its own."""
        return Message(
            own.id, self._channels[own.channel.number], own.kind, self.value(own.body), own.snapshot,
            self.value(own.stamp), own.sent_index, own.label, own.receive_label,
        )  # fmt: skip

    def _process(self, own: Process) -> Process:
        initial: Local = self.space.machines[self.places[own.number]].locals.things[0]
        twin = initial.process.copy()
        twin.state, twin.memory = self.value(own.state), self.value(own.memory)
        twin.index, twin.position, twin.turn = own.index, own.position, own.turn
        twin.alive, twin.frozen, twin.paused = own.alive, own.frozen, own.paused
        twin.blocked, twin.aborted = self.value(own.blocked), own.aborted
        twin.snapshots = {name: self.value(part) for name, part in own.snapshots.items()}
        twin.listening = {self._channels[channel.number]: names for channel, names in own.listening.items()}
        return twin

    def _local(self, own: Local) -> Local:
        timers = {
            self.value(name): timer._replace(process=self.places[timer.process], name=self.value(timer.name))
            for name, timer in own.timers.items()
        }
        late = {
            (name, self._channels[channel].number): tuple(one._replace(body=self._body(one.body)) for one in came)
            for (name, channel), came in own.late.items()
        }
        passed = {
            self._channels[channel].number: tuple((self._body(body), red) for body, red in traces)
            for channel, traces in own.passed.items()
        }
        early = frozenset(
            (name, channel if channel == ANY_CHANNEL else self._channels[channel].number, part)
            for name, channel, part in own.early
        )
        stored = {name: self.value(part) for name, part in own.stored.items()}
        return Local(
            self._process(own.process), timers, late, early, passed, own.discarded, stored, own.ended, own.torn,
            own.done,
        )  # fmt: skip

    def part(self, own: Part) -> Part:
        """The recorded part of a process, renamed."""
        return Part(*map(self.value, own))

    # ------------------------------------------------------------------ their numbers

    def local(self, node: int, number: int) -> int:
        """The number of a local state of a node, at its substitute. The environment names no process that it moves."""
        if self.space.world is not None and node == self.space.world.number:
            return number
        table = self._tables[node]
        if number < len(table):
            return int(table[number])
        own: Local = self.space.machines[node].locals.things[number]
        return self.space.machines[self.places[node]].local(self._local(own))

    def _body(self, number: int) -> int:
        return self.space.machines[0].plain(self.message(self.space.bodies.things[number]))

    def _token(self, number: int) -> int:
        own: Token = self.space.tokens.things[number]
        return self.space.tokens.number(own._replace(message=self.message(own.message)))

    def _tokens(self, numbers: Sequence[int]) -> tuple[int, ...]:
        return tuple(map(self._token, numbers))

    def _content(self, column: int, number: int) -> int:
        nodes = len(self.places)
        tokens = self._tokens(self.space.contents[column - nodes].numbers.things[number])
        return self.space.contents[self.columns[column] - nodes].numbers.number(tokens, tokens)

    def table(self, column: int, size: int) -> Ints:
        """By number in a column: the number in the column that takes its place."""
        known = self._tables[column]
        if len(known) < size:
            if column < len(self.places):
                new = [self.local(column, number) for number in range(len(known), size)]
            elif column < self.space.at_order:
                new = [self._content(column, number) for number in range(len(known), size)]
            else:
                new = list(range(len(known), size))
            known = self._tables[column] = np.concatenate([known, np.array(new, np.int32)])
        return known

    def input(self, node: int, local: int, given: int) -> int | None:
        """The number of an input of a node, at the node that takes its place; None where that one has no such input."""
        machine = self.space.machines[node]
        kind, *parts = machine.inputs.things[given]
        if kind == "turn":
            return self._turn(node, local, parts[0])
        if (node, given) not in self._inputs:
            if kind in ("deliver", "hear"):
                channel, token, *others = parts
                parts = [self._channels[channel.number], self._token(token), *map(self._tokens, others)]
            elif kind == "lose":
                parts = [self._channels[parts[0].number], parts[1]]
            elif kind == "fire":
                parts = [self.value(parts[0])]
            self._inputs[node, given] = self.space.machines[self.places[node]].input(kind, *parts)
        return self._inputs[node, given]

    def _turn(self, node: int, local: int, place: int) -> int | None:
        """The input that is the renamed action: the options of two processes may be in a different order."""
        options, other = self.space.engine.workload.options, self.space.machines[self.places[node]]
        own = options(self.space.machines[node].locals.things[local].process)
        there = list(options(other.locals.things[self.local(node, local)].process))
        if place >= len(own):
            return other.input("turn", place)
        action = own[place]
        if isinstance(action, Send):
            action = replace(action, channel=self._channels[action.channel.number], body=self.value(action.body))
        elif isinstance(action, Internal):
            action = replace(action, process=self.places[action.process], body=self.value(action.body))
        return other.input("turn", there.index(action)) if action in there else None

    def outcome(self, node: int, own: Outcome) -> Outcome:
        """An outcome at a node, as the node that takes its place should have it."""
        sent = sorted((self.columns[column], self._tokens(tokens)) for column, tokens in own.sent)
        return Outcome(self.local(node, own.local), tuple(sent), own.happened)


class Symmetry:
    """The renamings of a system. The states into which they turn a state are its orbit."""

    def __init__(self, scenario: Scenario, space: Space) -> None:
        """Raises InputError if there are too many renamings."""
        self.space = space
        self.classes = interchangeable(scenario, space)
        count = math.prod(math.factorial(len(own)) for own in self.classes)
        if count > MOST_RENAMINGS:
            raise InputError(
                f"--symmetry: {max(map(len, self.classes))} processes can be exchanged in {count:,} ways, and at most "
                f"{MOST_RENAMINGS} are tried; take fewer processes"
            )
        self.renamings = [Renaming(space, places) for places in _permutations(len(space.machines), self.classes)]
        self._of = {renaming.places: renaming for renaming in self.renamings}
        self._looked_at = [0] * len(space.machines)
        self._checked: set[tuple[int, int, int]] = set()

    def in_words(self) -> str:
        """The interchangeable processes, in words."""
        names = self.space.engine.processes
        told = [f"{', '.join(names[own] for own in others)} are interchangeable" for others in self.classes]
        return "; ".join(told) or "no processes are interchangeable"

    def least(self, keys: Keys, *, with_accounts: bool = True) -> tuple[Keys, NDArray[np.int64]]:
        """The representatives of states, and the sizes of their orbits; without accounts, so are the representatives.

        Raises Wider where renaming brings new numbers that need more bits, InputError where the rules tell processes
        apart.
        """
        self.prepare()
        things = self.space.numbered_things if not with_accounts and self.space.has_accounts else []
        first = [np.array(own.first, np.int64) for own in things]
        parts = [self._least(keys[begin : begin + CHUNK], first) for begin in range(0, len(keys), CHUNK)]
        if not parts:
            return keys, np.zeros(0, np.int64)
        return np.concatenate([own for own, _ in parts]), np.concatenate([sizes for _, sizes in parts])

    def _least(self, keys: Keys, first: Sequence[Ints]) -> tuple[Keys, NDArray[np.int64]]:
        packing = self.space.packing
        columns = [packing.column(keys, place) for place in range(self.space.columns)]
        best, fixed = packing.words(columns), np.ones(len(keys), np.int64)
        for renaming in self.renamings[1:]:
            words = packing.words(self._renamed(renaming, columns, first))
            less, equal = np.zeros(len(keys), bool), np.ones(len(keys), bool)
            for word, other in zip(words, best, strict=True):
                less |= equal & (word < other)
                equal &= word == other
            best = [np.where(less, word, other) for word, other in zip(words, best, strict=True)]
            fixed = np.where(less, 1, fixed + equal)
        return packing.joined(best), len(self.renamings) // fixed

    def _renamed(self, renaming: Renaming, columns: Sequence[Ints], first: Sequence[Ints] = ()) -> list[Ints]:
        """Columns of renamed states. first: by column, of each number the first that holds the same; else as it is."""
        renamed = [columns[0]] * len(columns)
        for place, (column, size) in enumerate(zip(columns, self.space.sizes(), strict=True)):
            renamed[renaming.columns[place]] = renaming.table(place, size)[column]
        for place, own in enumerate(first):
            renamed[place] = own[renamed[place]]
        return renamed

    def images(self, key: int) -> list[int]:
        """The renamed states of a state, in the order of the renamings."""
        self.prepare()
        packing, keys = self.space.packing, np.array([key])
        columns = [packing.column(keys, place) for place in range(self.space.columns)]
        return [int(packing.packed(self._renamed(renaming, columns))[0]) for renaming in self.renamings]

    def after(self, first: Renaming, second: Renaming) -> Renaming:
        """One renaming, and then another one."""
        return self._of[tuple(second.places[place] for place in first.places)]

    def expanded(self, snapshots: Mapping[Recorded, float], parts: Numbers) -> Counter[Recorded]:
        """The recordings of all states, from those of the representatives."""
        found: Counter[Recorded] = Counter()
        known: dict[tuple[int, Hashable], Hashable] = {}
        for number, renaming in enumerate(self.renamings):
            for (name, *told), ways in snapshots.items():
                renamed = list(told)
                for place, own in zip(renaming.places, told, strict=False):
                    if (number, own) not in known:
                        known[number, own] = _told(renaming.part(parts.things[parts.of[own]]), parts)
                    renamed[place] = known[number, own]
                found[(name, *renamed)] += ways  # type: ignore[assignment]
        for recorded in found:
            found[recorded] /= len(self.renamings)  # type: ignore[assignment]
        return found

    # ------------------------------------------------------------------ tables, and whether they are sound

    def prepare(self) -> None:
        """Rename all that is known by now, with what that brings, and check it. Raises as `least` does."""
        sizes: list[int] = []
        while sizes != self.space.sizes():
            sizes = self.space.sizes()
            for renaming in self.renamings[1:]:
                for column, size in enumerate(sizes):
                    renaming.table(column, size)
            for machine in self.space.machines:
                begin, self._looked_at[machine.number] = self._looked_at[machine.number], len(machine.executed)
                for local, given in machine.executed[begin : self._looked_at[machine.number]]:
                    self._check(machine.number, local, given)
        self.space.check_room()

    def _check(self, node: int, local: int, given: int) -> None:
        """Raises InputError unless the renamed input to the renamed local state has the renamed outcome."""
        if (node, local, given) in self._checked:
            return
        self._checked.add((node, local, given))
        outcome = self.space.machines[node].outcome(local, given)
        for renaming in self.renamings[1:]:
            other = renaming.places[node]
            there, taken = renaming.local(node, local), renaming.input(node, local, given)
            found = self.space.machines[other].outcome(there, taken) if taken is not None else None
            if taken is None or found != (renaming.outcome(node, outcome) if outcome else None):
                raise InputError(self._complaint(node, other, given))
            self._checked.add((other, there, taken))

    def _complaint(self, node: int, other: int, given: int) -> str:
        names = self.space.engine.nodes
        what = str(self.space.machines[node].inputs.things[given][0])
        whom = f"{names[node]} and {names[other]}" if node != other else f"the processes that {names[node]} knows"
        return (
            f"--symmetry: the rules do not treat {whom} alike (at a step of the kind {what!r}), so one state cannot "
            "stand for others that differ in names; leave --symmetry out"
        )


def _told(part: Part, parts: Numbers) -> Hashable:
    told = part.told()
    parts.number(told, part)
    return told


def _permutations(nodes: int, classes: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """The permutations of each class, the identity first."""
    for choice in product(*(permutations(own) for own in classes)):
        places = list(range(nodes))
        for own, others in zip(classes, choice, strict=True):
            for process, other in zip(own, others, strict=True):
                places[process] = other
        yield tuple(places)


def interchangeable(scenario: Scenario, space: Space) -> list[list[int]]:
    """The processes that the scenario cannot tell apart, class by class; processes that are alone are left out.

    It names neither of two of them and plans no action of theirs; the graph is the same when they are exchanged, and so
    are their initial states.
    """
    engine = space.engine
    named = " ".join(_texts([
        scenario.algorithm_parameters, scenario.parameters,
        *((line.process, line.to, line.after, line.body, line.label, line.receive_label) for line in scenario.script),
        *((start.process, start.after, start.snapshot) for start in scenario.snapshots),
        *((fault.process, fault.channels, fault.after) for fault in scenario.faults),
    ]))  # fmt: skip
    classes: list[list[int]] = []
    acting = {item.process for item in engine.agenda}
    for number, name in enumerate(engine.processes):
        if name in named or number in acting:
            continue
        own = next((others for others in classes if _alike(space, others[0], number)), None)
        if own is None:
            classes.append([number])
        else:
            own.append(number)
    return [own for own in classes if len(own) > 1]


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value of plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from _texts(pair)
    elif isinstance(value, list | tuple):
        for own in value:
            yield from _texts(own)


def _alike(space: Space, first: int, second: int) -> bool:
    """Whether exchanging two processes leaves the graph and the initial states as they are."""
    places = list(range(len(space.machines)))
    places[first], places[second] = second, first
    edges = {(own.source, own.target): (own.fifo, own.capacity) for own in space.engine.channels}
    if any(edges.get((places[a], places[b])) != about for (a, b), about in edges.items()):
        return False
    renaming = Renaming(space, places)
    workload, names = space.engine.workload, space.engine.processes
    return all(
        frozen(renaming.value(workload.initial(name))) == frozen(workload.initial(names[places[number]]))
        for number, name in enumerate(names)
    )
