"""All states of a system, level by level: a state is one row of small numbers, packed into a key.

A column for each node holds its local state, one for each channel its content, one the script's progress where its
lines keep their order, one the awaited events that have happened. A level is stepped by table look-ups; its new states
are those whose keys are not among the sorted keys seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import gt

import numpy as np
from numpy.typing import NDArray

from sim.core.engine import Engine
from sim.core.model import MARKER, Channel
from sim.explore.machine import IMPOSSIBLE, UNKNOWN, Local, Machine, Numbers, Outcome
from sim.explore.packing import Change, Collapsed, Ints, Keys, Packing, distinct, packing_of, wider

FIRST_BITS = 1  # of a column


class Contents:
    """The contents of one channel, each with a number; 0 is empty. Tables say what happens to them."""

    def __init__(self, tokens: Numbers, channel: Channel, *, overtakes: bool) -> None:
        self.tokens, self.channel, self.overtakes = tokens, channel, overtakes
        self.numbers, self.batches = Numbers(), Numbers()
        self.numbers.number((), ())
        self.batches.number((), ())
        self._appended: Ints = np.full((1, 1), UNKNOWN, np.int32)
        self.wanted: set[int] | None = None  # not None: nothing gets a number, but pairs that are missing are noted

    def appended(self, contents: Ints, batches: Ints) -> Ints:
        """The contents with a batch of messages at their ends, element by element."""
        self._make_room()
        found = self._looked_up(contents, batches)
        missing = np.flatnonzero(found == UNKNOWN)
        if len(missing):
            pairs = distinct(contents[missing].astype(np.int64) << 32 | batches[missing])
            if self.wanted is not None:
                self.wanted.update(pairs.tolist())
                found[missing] = 0
                return found
            self.fill(pairs)
            found = self._looked_up(contents, batches)
        return found

    def fill(self, pairs: Keys) -> None:
        """Fill the table for pairs: a content in the upper 32 bits, a batch in the lower ones."""
        self._make_room()
        for pair in pairs.tolist():
            content, batch = pair >> 32, pair & 0xFFFFFFFF
            whole = (*self.numbers.things[content], *self.batches.things[batch])
            self._appended[content, batch] = self.numbers.number(whole, whole)

    def _make_room(self) -> None:
        known = len(self.numbers.things), len(self.batches.things)
        if any(map(gt, known, self._appended.shape)):
            more = np.full((2 * known[0], 2 * known[1]), UNKNOWN, np.int32)
            more[: self._appended.shape[0], : self._appended.shape[1]] = self._appended
            self._appended = more

    def _looked_up(self, contents: Ints, batches: Ints) -> Ints:
        found: Ints = self._appended.ravel().take(contents.astype(np.int64) * self._appended.shape[1] + batches)
        return found

    def deliveries(self, content: int) -> list[tuple[int, tuple[int, ...], int]]:
        """What may be delivered: a token, the tokens that it overtakes, and the content that is left."""
        queue: tuple[int, ...] = self.numbers.things[content]
        found = []
        for place, token in enumerate(queue):
            if place == 0 or not self.channel.fifo or self._passes(queue, place):
                left = queue[:place] + queue[place + 1 :]
                found.append((token, queue[:place], self.numbers.number(left, left)))
        return found

    def _passes(self, queue: Sequence[int], place: int) -> bool:
        """Whether the message at a place is the first marker, of an algorithm whose markers overtake."""
        kinds = [self.tokens.things[token][0].kind for token in queue[: place + 1]]
        return self.overtakes and kinds[-1] == MARKER and MARKER not in kinds[:-1]


@dataclass
class Move:
    """Some states of a level that one node leaves in the same way: their places in it, their keys, and the outcomes."""

    node: int
    places: NDArray[np.int64]
    keys: Keys
    given: Ints  # the inputs
    outcomes: Ints
    locals: Ints  # of the node, before
    place: int | None = None  # the column of the channel on which a message is delivered
    before: Ints | None = None  # its contents
    after: Ints | None = None  # what is left of them
    order: bool = False  # whether the script goes on by one


class Space:
    """The states of one system, and the steps between them."""

    def __init__(self, engine: Engine, *, own_order: bool) -> None:
        """`own_order`: only each process's own lines of the script keep their order."""
        self.engine = engine
        nodes = len(engine.nodes)
        control = [] if not engine.algorithm.uses_control else [
            engine.control_channel(source, target)
            for source in range(nodes) for target in engine.nodes if engine.number_of[target] != source
        ]  # fmt: skip
        self.channels: list[Channel] = [*engine.channels, *control]
        self.column_of = {channel.number: nodes + place for place, channel in enumerate(self.channels)}
        self.tokens, self.bodies, self.happened = Numbers(), Numbers(), Numbers()
        self.happened.number(frozenset(), frozenset())
        self.machines = [Machine(engine, number, self.tokens, self.bodies, self.column_of) for number in range(nodes)]
        overtakes = engine.algorithm.overtakes
        self.contents = [Contents(self.tokens, channel, overtakes=overtakes) for channel in self.channels]
        self.is_control = [place >= len(engine.channels) for place in range(len(self.channels))]
        timed = sorted((item.time, item.number) for item in engine.agenda if item.after is None)
        self.order = [] if own_order else [number for _, number in timed]
        self.columns = nodes + len(self.channels) + 2
        self.at_order, self.at_happened = self.columns - 2, self.columns - 1
        widths = [FIRST_BITS] * (self.columns - 2)
        widths += [len(self.order).bit_length(), 2 if engine.awaited else 0]
        self.packing = packing_of(widths)
        self._delivered: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def initial(self) -> Keys:
        """The one state at which all runs begin."""
        state = self.engine.initial()
        for machine, process in zip(self.machines, [*state.processes, *state.services], strict=True):
            assert machine.local(Local(process)) == 0
        return self.packing.packed([np.zeros(1, np.int32)] * self.columns)

    # ------------------------------------------------------------------ one level

    def successors(self, keys: Keys) -> Iterator[tuple[Move, Keys]]:
        """For each kind of step: the states that take it, and where it leads, key by key."""
        starting = self._moves_of_starts(keys)
        if starting:
            yield from ((move, self._after(move)) for move in starting)
            return
        for node in range(len(self.machines)):
            for move in self._moves(node, keys):
                yield move, self._after(move)

    def _moves_of_starts(self, keys: Keys) -> list[Move]:
        every = np.arange(len(keys))
        nodes = [start.process for start in self.engine.starts]
        moves = [
            self._taken(node, every, keys, self.packing.column(keys, node), self.machines[node].input("start"))
            for node in nodes
        ]
        return [move for move in moves if len(move.keys)]

    def _taken(self, node: int, places: NDArray[np.int64], keys: Keys, locals_: Ints, given: int) -> Move:
        """Of the states at some places those in which a node takes an input."""
        outcomes = self.machines[node].outcomes_of(locals_, given)
        taken = np.flatnonzero(outcomes != IMPOSSIBLE)
        inputs = np.full(len(taken), given, np.int32)
        return Move(node, places[taken], keys[taken], inputs, outcomes[taken], locals_[taken])

    def _moves(self, node: int, keys: Keys) -> Iterator[Move]:
        machine, every, locals_ = self.machines[node], np.arange(len(keys)), self.packing.column(keys, node)
        for item in self.engine.agenda:
            if item.process == node:
                yield from self._items(node, every, keys, locals_, item.number)
        for place in range(self._most_options(machine)):
            yield self._taken(node, every, keys, locals_, machine.input("turn", place))
        for name in sorted({name for local in machine.locals.things for name in local.timers}):
            yield self._taken(node, every, keys, locals_, machine.input("fire", name))
        for place, channel in enumerate(self.channels):
            if channel.target == node:
                yield from self._deliveries(node, keys, locals_, place)

    def _most_options(self, machine: Machine) -> int:
        if machine.number >= len(self.engine.processes):
            return 0
        options = self.engine.workload.options
        return max(len(options(local.process)) for local in machine.locals.things)

    def _items(self, node: int, places: NDArray[np.int64], keys: Keys, locals_: Ints, number: int) -> Iterator[Move]:
        item = self.engine.agenda[number]
        if item.after is not None:
            known = np.array([item.after in labels for labels in self.happened.things])
            places = places[known[self.packing.column(keys, self.at_happened)]]
        elif self.order:
            places = places[self.packing.column(keys, self.at_order) == self.order.index(number)]
        move = self._taken(node, places, keys[places], locals_[places], self.machines[node].input("item", number))
        move.order = bool(self.order) and item.after is None
        yield move

    def _deliveries(self, node: int, keys: Keys, locals_: Ints, place: int) -> Iterator[Move]:
        column = len(self.machines) + place
        contents = self.packing.column(keys, column)
        for rank in range(self._longest(place)):
            given, left = self._tables(node, place, rank)
            inputs = given[contents]
            some = np.flatnonzero(inputs >= 0)
            if not len(some):
                return
            inputs = inputs[some]
            outcomes = self.machines[node].outcomes_of(locals_[some], inputs)
            taken = np.flatnonzero(outcomes != IMPOSSIBLE)
            some = some[taken]
            before = contents[some]
            yield Move(
                node, some, keys[some], inputs[taken], outcomes[taken], locals_[some], column, before, left[before]
            )

    def _longest(self, place: int) -> int:
        contents = self.contents[place]
        return max(len(self._delivered_of(place, content)) for content in range(len(contents.numbers.things)))

    def _delivered_of(self, place: int, content: int) -> list[tuple[int, int]]:
        """The inputs that a content offers to its target, with what is left of it."""
        key = place, content
        if key not in self._delivered:
            channel = self.channels[place]
            kind = "hear" if self.is_control[place] else "deliver"
            machine = self.machines[channel.target]
            self._delivered[key] = [
                (machine.input(kind, channel, token, overtaken), left)
                for token, overtaken, left in self.contents[place].deliveries(content)
            ]
        return self._delivered[key]

    def _tables(self, node: int, place: int, rank: int) -> tuple[Ints, Ints]:
        """By content: the input of the delivery with this rank, and the content that it leaves (-1: there is none)."""
        known = len(self.contents[place].numbers.things)
        offered = [self._delivered_of(place, content) for content in range(known)]
        pairs = [own[rank] if rank < len(own) else (IMPOSSIBLE, IMPOSSIBLE) for own in offered]
        table = np.array(pairs, np.int32).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def _after(self, move: Move) -> Keys:
        """The keys to which a move leads."""
        if not len(move.keys):
            return move.keys
        changes = list(self._changes(move))
        self.check_room()
        return self.packing.changed(move.keys, changes)

    def _changes(self, move: Move) -> Iterator[Change]:
        """What a move changes, each column once."""
        machine, keys, every = self.machines[move.node], move.keys, slice(None)
        yield Change(move.node, every, machine.next_locals()[move.outcomes] - move.locals)
        if move.place is not None:
            assert move.before is not None and move.after is not None
            yield Change(move.place, every, move.after - move.before)
        if move.order:
            yield Change(self.at_order, every, np.ones(len(keys), np.int32))
        for column in machine.columns_sent():
            yield from self._sent(keys, column, machine, move.outcomes)
        if self.engine.awaited:
            yield from self._noticed(keys, machine.outcomes.things, move.outcomes)

    def _sent(self, keys: Keys, column: int, machine: Machine, outcomes: Ints) -> Iterator[Change]:
        contents = self.contents[column - len(self.machines)]
        batches = machine.batches(column, contents.batches)[outcomes]
        some = np.flatnonzero(batches)
        if len(some):
            before = self.packing.column(keys[some], column)
            yield Change(column, some, contents.appended(before, batches[some]) - before)

    def _noticed(self, keys: Keys, known: Sequence[Outcome], outcomes: Ints) -> Iterator[Change]:
        for outcome in np.unique(outcomes).tolist():
            labels = known[outcome].happened
            if labels:
                own = outcomes == outcome
                before = self.packing.column(keys[own], self.at_happened)
                sets = [self.happened.things[number] | labels for number in range(len(self.happened.things))]
                after = np.array([self.happened.number(found, found) for found in sets], np.int32)[before]
                yield Change(self.at_happened, own, after - before)

    # ------------------------------------------------------------------ tables that workers share

    @property
    def tables(self) -> list[Machine | Contents]:
        """The tables that are filled where they are asked for, column by column."""
        return [*self.machines, *self.contents]

    def settle(self) -> None:
        """Number all that a step from any known state asks for but for `tables`. Raises Wider."""
        none, before = np.zeros(0, np.int64), None
        while before != self.numbered():
            before = self.numbered()
            for _ in self.successors(none):
                pass
            for machine in self.machines:
                for column in machine.columns_sent():
                    machine.batches(column, self.contents[column - len(self.machines)].batches)
                for labels in {outcome.happened for outcome in machine.outcomes.things}:
                    for own in list(self.happened.things):
                        self.happened.number(own | labels, own | labels)
        self.check_room()

    def numbered(self) -> list[int]:
        """How many things of each kind have a number."""
        kinds = [kind for machine in self.machines for kind in (machine.locals, machine.inputs, machine.outcomes)]
        kinds += [kind for contents in self.contents for kind in (contents.numbers, contents.batches)]
        return [len(kind.things) for kind in (*kinds, self.happened, self.tokens)]

    # ------------------------------------------------------------------ room in a key

    def sizes(self) -> list[int]:
        """How many numbers each column has by now."""
        sizes = [len(machine.locals.things) for machine in self.machines]
        sizes += [len(contents.numbers.things) for contents in self.contents]
        return [*sizes, len(self.order) + 1, len(self.happened.things)]

    def check_room(self) -> None:
        """Raises Wider where a column needs more bits."""
        needed = [(size - 1).bit_length() for size in self.sizes()]
        if any(bits > width for bits, width in zip(needed, self.packing.widths, strict=True)):
            raise Wider

    def wider(self) -> tuple[Packing | Collapsed, Callable[[Keys], Keys]]:
        """A packing with the bits that all columns need, and what turns keys of the present one into its keys."""
        old, columns = self.packing, range(self.columns)
        new = packing_of(wider(old.widths, [(size - 1).bit_length() for size in self.sizes()]))
        return new, lambda keys: new.packed(old.column(keys, place) for place in columns)


class Wider(Exception):
    """A column needs more bits: widen the packing, and do this level again."""
