"""All states of a system, level by level: a state is one row of small numbers, packed into a key.

A column for each node holds its local state, and one for each channel its content. One holds the script's progress if
its lines keep their order, and one the awaited events that have happened. A level is stepped by table look-ups. If runs
to a state may have different lengths, its new states are those whose keys are not among the sorted keys seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from sim.core.engine import Engine
from sim.core.errors import InputError
from sim.core.model import APP, MARKER, Channel, Copy, Initiate, Join, Leave, Lose
from sim.explore.contents import Contents
from sim.explore.local import Red
from sim.explore.machine import IMPOSSIBLE, Machine
from sim.explore.numbers import Numbers, Tokens
from sim.explore.packing import Bits, Change, Collapsed, Ints, Keys, Packing, classes, packing_of, wider
from sim.explore.world import NO_FAULTS, OF_BOTH, MayHappen, World, may_record_again
from sim.services.member import Member
from sim.services.uploads import Uploader

FIRST_BITS = 1  # of a column
NO_CASE = -1
NOTHING: Mapping[int, Ints] = {}  # added to no column


@dataclass
class Move:
    """Some states of a level that one node leaves in the same way.

    Those in which the node has the same local state and the same input are one case: few cases stand for many states.
    places: of the states, in the level. cases: of each state, its case. Then, by case: the local state before, the
    input, and the outcome. more: by case, what is added to the other columns.
    """

    node: int
    places: Keys
    cases: Keys
    locals: Ints
    given: Ints
    outcomes: Ints
    more: dict[int, Ints]


class Level:
    """States that are stepped together: their keys, and their columns, each taken out once."""

    def __init__(self, packing: Packing | Collapsed, keys: Keys) -> None:
        self.packing, self.keys = packing, keys
        self._columns: dict[int, Keys] = {}

    def column(self, place: int) -> Keys:
        """The numbers in a column."""
        if place not in self._columns:
            self._columns[place] = self.packing.column(self.keys, place)
        return self._columns[place]


class Space:
    """The states of one system, and the steps between them."""

    def __init__(self, engine: Engine, *, own_order: bool, may: MayHappen = NO_FAULTS) -> None:
        """`own_order`: only each process's own lines of the script keep their order.

        may: the faults that may happen at any moment; the engine has been made for them. Raises InputError for what
        cannot be explored.
        """
        if isinstance(engine.algorithm, Member):
            raise InputError("coordinator: exploration does not support a coordinator yet; remove it")
        if engine.plan is not None:
            raise InputError("recovery: exploration does not support recoveries yet; remove it")
        if isinstance(engine.algorithm, Uploader):
            raise InputError("storage: exploration does not support a storage yet; remove it")
        if engine.absent or any(isinstance(item.action, Join | Leave) for item in engine.agenda):
            what = "faults: exploration does not support processes that join or leave yet"
            raise InputError(f"{what}; remove these faults")
        if any(isinstance(item.action, Lose | Copy) for item in engine.agenda):
            what = "faults: exploration does not support messages that the scenario loses or copies yet"
            raise InputError(f"{what}; remove these faults, or give --losses instead")
        self.engine, self.may = engine, may
        control = [] if not engine.algorithm.uses_control else [
            engine.control_channel(source, target)
            for source in range(len(engine.nodes)) for target in engine.nodes if engine.number_of[target] != source
        ]  # fmt: skip
        nodes = len(engine.nodes) + engine.has_faults
        self.channels: list[Channel] = [*engine.channels, *control]
        self.column_of = {channel.number: nodes + place for place, channel in enumerate(self.channels)}
        self.snapshots = sorted({own.action.snapshot for own in engine.agenda if hasattr(own.action, "snapshot")})
        again = self.may_record_again = may_record_again(engine, may)
        self.tokens = Tokens(engine.awaited, self._leaves_trace)
        self.bodies, self.happened = Numbers(), Numbers()
        self.happened.number(frozenset(), frozenset())
        shared = self.tokens, self.bodies, self.column_of
        self.machines = [Machine(engine, own, *shared, records_again=again) for own in range(len(engine.nodes))]
        self.world = World(engine, *shared, may) if engine.has_faults else None
        if self.world is not None:
            self.machines.append(self.world)
        self.contents = [Contents(self.tokens, channel, engine.algorithm) for channel in self.channels]
        self.is_control = [place >= len(engine.channels) for place in range(len(self.channels))]
        timed = sorted((item.time, item.number) for item in engine.agenda if item.after is None)
        self.order = [] if own_order else [number for _, number in timed]
        self.columns = nodes + len(self.channels) + 2
        self.at_order, self.at_happened = self.columns - 2, self.columns - 1
        widths = [FIRST_BITS] * (self.columns - 2)
        widths += [len(self.order).bit_length(), 2 if engine.awaited else 0]
        self.packing = packing_of(widths)
        self._delivered: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._lost: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def _leaves_trace(self, red: Red) -> bool:
        """Whether a check asks for a lost message: not if every snapshot was recorded before it, once and for all."""
        if not self.engine.algorithm.coordinated:
            return False
        return self.may_record_again or {name for name, _ in red} < {*self.snapshots}

    def initial(self) -> Keys:
        """The one state at which all runs begin."""
        state = self.engine.initial()
        for machine, process in zip(self.machines, [*state.processes, *state.services], strict=True):
            assert machine.local(machine.initial(process)) == 0
        return self.packing.packed([np.zeros(1, np.int32)] * self.columns)

    # ------------------------------------------------------------------ one level

    @property
    def is_levelled(self) -> bool:
        """Whether each local state has one age: then every run to a state has as many steps as its nodes are old."""
        return all(machine.is_levelled for machine in self.machines)

    def successors(self, keys: Keys) -> Iterator[tuple[Move, Keys]]:
        """For each kind of step: the states that take it, and where it leads, key by key."""
        level = Level(self.packing, keys)
        starting = [move for move in self._starts(level) if len(move.places)]
        nodes = range(len(self.engine.nodes))
        others = chain.from_iterable(self._moves(node, level) for node in nodes)
        for move in starting or chain(others, self._faults(level)):
            yield move, self._after(level, move)

    def _starts(self, level: Level) -> Iterator[Move]:
        for start in self.engine.starts:
            locals_, kinds = self._locals(level, start.process)
            yield self._taken(start.process, locals_, kinds, self.machines[start.process].input("start"))

    def _locals(self, level: Level, node: int) -> tuple[Keys, Keys]:
        """The different local states of a node in a level, and which of them each state has."""
        return classes(level.column(node), len(self.machines[node].locals.things))

    def _taken(
        self, node: int, locals_: Keys, kinds: Keys, given: int | Ints, more: Mapping[int, Ints] = NOTHING
    ) -> Move:
        """The move of the states in which a node takes an input.

        kinds: of each state, its kind. By kind: the local state, the input if they are not all the same (IMPOSSIBLE:
        there is none), and what is added to other columns.
        """
        inputs = np.broadcast_to(np.asarray(given), locals_.shape)
        there = np.flatnonzero(inputs != IMPOSSIBLE)
        outcomes = self.machines[node].outcomes_of(locals_[there], inputs[there])
        there, outcomes = there[outcomes != IMPOSSIBLE], outcomes[outcomes != IMPOSSIBLE]
        case_of = np.full(len(locals_), NO_CASE)
        case_of[there] = np.arange(len(there))
        cases = case_of.take(kinds)
        places = np.flatnonzero(cases != NO_CASE)
        more = {column: own[there] for column, own in more.items()}
        return Move(node, places, cases.take(places), locals_[there], inputs[there], outcomes, more)

    def _moves(self, node: int, level: Level) -> Iterator[Move]:
        machine = self.machines[node]
        locals_, kinds = self._locals(level, node)
        stopped = self._stopped(node, level)
        for item in self.engine.agenda:
            if item.process == node:
                move = self._item(node, level, item.number)
                yield move if isinstance(item.action, Initiate) else _unless(stopped, move)
        for place in range(self._most_options(machine)):
            yield _unless(stopped, self._taken(node, locals_, kinds, machine.input("turn", place)))
        for name in sorted({name for local in machine.locals.things for name in local.timers}):
            yield self._taken(node, locals_, kinds, machine.input("fire", name))
        for place, channel in enumerate(self.channels):
            if channel.target == node:
                is_stopped = None if self.is_control[place] else stopped
                severed = self._severed(level, channel)
                for move in self._from_channel(node, level, locals_, kinds, place, self._delivered_of):
                    yield _unless(severed, _unless(is_stopped, move, self._goes_ahead))

    def _stopped(self, node: int, level: Level) -> Bits | None:
        """Whether a channel of a process is full, by state of a level (None: it is not in any state)."""
        stopped = None
        for place, channel in enumerate(self.channels):
            if channel.source == node and channel.capacity is not None:
                things = self.contents[place].numbers.things
                full = np.array([self._count(queue) >= channel.capacity for queue in things])
                own = full[level.column(len(self.machines) + place)]
                stopped = own if stopped is None else stopped | own
        return stopped

    def _severed(self, level: Level, channel: Channel) -> Bits | None:
        """Whether a channel is severed, by state of a level (None: it is not in any state)."""
        if self.world is None:
            return None
        severed = np.array([channel in local.severed for local in self.world.locals.things])
        return severed[level.column(self.world.number)] if severed.any() else None

    def _count(self, queue: Sequence[int]) -> int:
        things = (self.tokens.things[token] for token in queue)
        return sum(own.message.kind == APP and not own.is_lost for own in things)

    def _goes_ahead(self, node: int, given: int) -> bool:
        """Whether an input delivers a marker that goes ahead, which also comes to a process that stands still."""
        _, _, token, *_ = self.machines[node].inputs.things[given]
        own = self.tokens.things[token].message
        return own.kind == MARKER and bool(self.engine.algorithm.goes_ahead(own.body))

    def _most_options(self, machine: Machine) -> int:
        if machine.number >= len(self.engine.processes):
            return 0
        options = self.engine.workload.options
        return max((len(options(own.process)) for own in machine.locals.things if own.process.alive), default=0)

    def _item(self, node: int, level: Level, number: int) -> Move:
        item, places = self.engine.agenda[number], self._planned(level, number)
        locals_, kinds = classes(level.column(node).take(places), len(self.machines[node].locals.things))
        more = {self.at_order: np.ones(len(locals_), np.int64)} if self.order and item.after is None else {}
        move = self._taken(node, locals_, kinds, self.machines[node].input("item", number), more)
        move.places = places.take(move.places)
        return move

    def _planned(self, level: Level, number: int) -> Keys:
        """The places of the states in which it is the turn of an agenda item, or its event has happened."""
        item = self.engine.agenda[number]
        may = np.ones(len(level.keys), bool)
        if item.after is not None:
            may = np.array([item.after in labels for labels in self.happened.things])[level.column(self.at_happened)]
        elif self.order:
            may = level.column(self.at_order) == self.order.index(number)
        return np.flatnonzero(may)

    def _faults(self, level: Level) -> Iterator[Move]:
        """The moves of the environment: planned faults, and those that may happen at any moment."""
        if self.world is None:
            return
        for item in self.engine.agenda:
            if isinstance(item.action, OF_BOTH):
                yield self._fault(item.action.process, level, self._planned(level, item.number), "item", item.number)
            elif item.process == self.world.number:
                yield self._item(self.world.number, level, item.number)
        for kind in self.may.kinds:
            for node in range(len(self.engine.processes)):
                yield self._fault(node, level, np.arange(len(level.keys)), kind)
        if self.may.losses:
            yield from self._losses(level)

    def _losses(self, level: Level) -> Iterator[Move]:
        """A message is lost on its way, also on a channel that is severed. Control messages never are."""
        assert self.world is not None
        locals_, kinds = self._locals(level, self.world.number)
        for place in range(len(self.engine.channels)):
            yield from self._from_channel(self.world.number, level, locals_, kinds, place, self._lost_of)

    def _fault(self, node: int, level: Level, places: Keys, kind: str, *item: int) -> Move:
        """The move in which a process crashes, starts again, freezes or thaws: a step of it and the environment."""
        assert self.world is not None
        machine, world = self.machines[node], self.world
        known, column = len(world.locals.things), level.column(world.number).take(places)
        pairs, kinds = classes(level.column(node).take(places) * known + column, len(machine.locals.things) * known)
        locals_, before = np.divmod(pairs, known)
        outcomes = world.outcomes_of(before, world.input(kind, *item))
        is_possible = outcomes != IMPOSSIBLE
        inputs = np.where(is_possible, machine.input(kind, *item), IMPOSSIBLE)
        after = before.copy()
        after[is_possible] = world.next_locals()[outcomes[is_possible]]
        more = {world.number: after - before}
        if self.order and item and self.engine.agenda[item[0]].after is None:
            more[self.at_order] = np.ones(len(pairs), np.int64)
        move = self._taken(node, locals_, kinds, inputs, more)
        move.places = places.take(move.places)
        return move

    def _from_channel(
        self, node: int, level: Level, locals_: Keys, kinds: Keys, place: int,
        offered_of: Callable[[int, int], list[tuple[int, int]]],
    ) -> Iterator[Move]:  # fmt: skip
        """The moves of a node with a message of a channel: the inputs that a content offers to it, one by one."""
        column, known = len(self.machines) + place, len(self.contents[place].numbers.things)
        pairs, kinds = classes(kinds * known + level.column(column), len(locals_) * known)
        locals_, contents = locals_[pairs // known], pairs % known
        there = np.flatnonzero(np.bincount(contents, minlength=known)).tolist()
        offered = {content: offered_of(place, content) for content in there}  # only these: others bring numbers
        for rank in range(max(map(len, offered.values()), default=0)):
            given, left = self._tables(offered, rank, known)
            inputs = given[contents]
            yield self._taken(node, locals_, kinds, inputs, {column: left[contents] - contents})

    def _delivered_of(self, place: int, content: int) -> list[tuple[int, int]]:
        """The inputs that a content offers to its target, with the content that is left."""
        key = place, content
        if key not in self._delivered:
            channel = self.channels[place]
            kind = "hear" if self.is_control[place] else "deliver"
            machine = self.machines[channel.target]
            self._delivered[key] = [
                (machine.input(kind, channel, *offered), left)
                for *offered, left in self.contents[place].deliveries(content)
            ]
        return self._delivered[key]

    def _lost_of(self, place: int, content: int) -> list[tuple[int, int]]:
        """The inputs that a content offers to the environment, with the content that is left."""
        key = place, content
        if key not in self._lost:
            assert self.world is not None
            self._lost[key] = [
                (self.world.input("lose", self.channels[place], rank), left)
                for rank, left in self.contents[place].losses(content)
            ]
        return self._lost[key]

    @staticmethod
    def _tables(offered: Mapping[int, Sequence[tuple[int, int]]], rank: int, known: int) -> tuple[Ints, Ints]:
        """By content: the input with this rank, and the content that it leaves (-1: there is none)."""
        table = np.full((known, 2), IMPOSSIBLE, np.int32)
        for content, own in offered.items():
            if rank < len(own):
                table[content] = own[rank]
        return table[:, 0], table[:, 1]

    def _after(self, level: Level, move: Move) -> Keys:
        """The keys to which a move leads."""
        keys = level.keys.take(move.places)
        if not len(keys):
            return keys
        changes = list(self._changes(level, move))
        self.check_room()
        return self.packing.changed(keys, changes)

    def _changes(self, level: Level, move: Move) -> Iterator[Change]:
        """The changes of a move, each column of a state once."""
        machine = self.machines[move.node]
        own = {move.node: machine.next_locals()[move.outcomes] - move.locals}
        yield Change(slice(None), move.cases, own | move.more)
        for column in machine.columns_sent():
            yield from self._sent(level, move, column)
        if self.engine.awaited:
            yield from self._noticed(level, move)

    def _sent(self, level: Level, move: Move, column: int) -> Iterator[Change]:
        contents = self.contents[column - len(self.machines)]
        batches = self.machines[move.node].batches(column, contents.batches)[move.outcomes]
        if not batches.any():
            return
        places, cases = move.places, move.cases
        some: Keys | slice = slice(None)
        if not batches.all():
            some = sending = np.flatnonzero((batches != 0).take(cases))
            places, cases = places.take(sending), cases.take(sending)
        count = len(contents.batches.things)
        pairs = level.column(column).take(places) * count + batches.take(cases)
        pairs, kinds = classes(pairs, len(contents.numbers.things) * count)
        before, added = np.divmod(pairs, count)
        yield Change(some, kinds, {column: contents.appended(before, added) - before})

    def _noticed(self, level: Level, move: Move) -> Iterator[Change]:
        known = self.machines[move.node].outcomes.things
        happened = [known[outcome].happened for outcome in move.outcomes.tolist()]
        before = level.column(self.at_happened).take(move.places)
        for labels in dict.fromkeys(filter(None, happened)):
            some = np.flatnonzero(np.array([own == labels for own in happened]).take(move.cases))
            sets = [own | labels for own in self.happened.things]
            after = np.array([self.happened.number(own, own) for own in sets])
            yield Change(some, before.take(some), {self.at_happened: after - np.arange(len(after))})

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
            for place, contents in enumerate(self.contents):
                for content in range(len(contents.numbers.things)):
                    self._delivered_of(place, content)
                    if self.may.losses and not self.is_control[place]:
                        self._lost_of(place, content)
            for machine in self.machines:
                for column in machine.columns_sent():
                    machine.batches(column, self.contents[column - len(self.machines)].batches)
                for labels in {outcome.happened for outcome in machine.outcomes.things}:
                    for own in list(self.happened.things):
                        self.happened.number(own | labels, own | labels)
        self.check_room()

    def numbered(self) -> list[int]:
        """The number of numbered things of each kind."""
        kinds = [kind for machine in self.machines for kind in (machine.locals, machine.inputs, machine.outcomes)]
        kinds += [kind for contents in self.contents for kind in (contents.numbers, contents.batches)]
        return [len(self.tokens.things), *(len(kind.things) for kind in (*kinds, self.happened))]

    # ------------------------------------------------------------------ states without their accounts

    @property
    def holds_one_age(self) -> bool:
        """Whether each local state has one age, for every account: then all runs to a state are equally long."""
        return all(machine.holds_one_age for machine in self.machines)

    @property
    def numbered_things(self) -> list[Numbers]:
        """By column of a node or a channel: what its numbers stand for."""
        return [*(machine.locals for machine in self.machines), *(contents.numbers for contents in self.contents)]

    @property
    def has_accounts(self) -> bool:
        """Whether two pairs so far may have the same state."""
        return any(numbers.has_accounts for numbers in self.numbered_things)

    def without_accounts(self, keys: Keys) -> Keys:
        """Keys that are equal for pairs with the same state: in each column, the first number that holds the same."""
        changes = []
        for column, numbers in enumerate(self.numbered_things):
            if numbers.has_accounts:
                first = np.array(numbers.first, np.int64)
                own = self.packing.column(keys, column)
                changes.append(Change(slice(None), own, {column: first - np.arange(len(first))}))
        return self.packing.changed(keys, changes) if changes else keys

    # ------------------------------------------------------------------ room in a key

    def sizes(self) -> list[int]:
        """The number of numbers in each column so far."""
        sizes = [len(numbers.things) for numbers in self.numbered_things]
        return [*sizes, len(self.order) + 1, len(self.happened.things)]

    def check_room(self) -> None:
        """Raises Wider if a column needs more bits."""
        needed = [(size - 1).bit_length() for size in self.sizes()]
        if any(bits > width for bits, width in zip(needed, self.packing.widths, strict=True)):
            raise Wider

    def wider(self) -> tuple[Packing | Collapsed, Callable[[Keys], Keys]]:
        """A packing with the bits that all columns need, and what turns keys of the present one into its keys."""
        old, columns = self.packing, range(self.columns)
        new = packing_of(wider(old.widths, [(size - 1).bit_length() for size in self.sizes()]))
        return new, lambda keys: new.packed(old.column(keys, place) for place in columns)


def _unless(
    stopped: Bits | None, move: Move, is_exempt: Callable[[int, int], bool] = lambda node, given: False
) -> Move:
    """A move without the states in which its node stands still, but for the cases whose input is exempt from that."""
    if stopped is None or not len(move.places):
        return move
    exempt = np.array([is_exempt(move.node, given) for given in move.given.tolist()])
    kept = np.flatnonzero(~stopped.take(move.places) | exempt.take(move.cases))
    move.places, move.cases = move.places.take(kept), move.cases.take(kept)
    return move


class Wider(Exception):
    """A column needs more bits: widen the packing, and do this level again."""
