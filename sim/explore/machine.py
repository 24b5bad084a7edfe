"""One node of a system as a table: in this local state, on this input, these rules lead to that state and send that.

The rule books and the engine are those of every page, unchanged: `Engine.perform` carries an action out on a state in
which only this node and its input are there. A local state, a message and an outcome each become a small number, so
every rule is carried out once for each pair of a local state and an input.

Rules are pure and may read neither ids of messages nor counts of events, so two local states are one if they agree in
all else. Left out of the key: ids, labels, `index`, `inside`, `sent_index`. A message is told with the snapshots that
its sender had recorded ("red for S1"), and a local state with the white messages that it received after it recorded:
both say what a snapshot should have recorded (Dijkstra, EWD864a), and no rule sees them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sim.core.engine import Engine
from sim.core.model import (
    APP,
    Action,
    Channel,
    Deliver,
    Fire,
    Hear,
    Initiate,
    Message,
    Process,
    Start,
    State,
    Timer,
)
from sim.core.workload import Refused
from sim.explore.packing import Ints, Keys, distinct

UNKNOWN, IMPOSSIBLE = -2, -1  # in a table of outcomes
PLAIN = {type(None), bool, int, float, str}
ROOM = 64  # local states and inputs for which a table has room at first


def frozen(value: Any) -> Hashable:
    """A value of plain data as one that can be a key; equal values give equal keys."""
    kind = type(value)
    if kind in PLAIN:
        return kind, value
    if isinstance(value, (tuple, list)):
        return tuple([frozen(own) for own in value])
    if kind is Channel:
        return Channel, value.number
    if kind is Message:
        return Message, value.kind, value.snapshot, frozen(value.body), frozen(value.stamp)
    if isinstance(value, (dict, Mapping)):
        return dict, frozenset([(frozen(key), frozen(own)) for key, own in value.items()])
    if isinstance(value, (set, frozenset)):
        return set, frozenset([frozen(own) for own in value])
    raise TypeError(f"a state holds {value!r}; plain data is needed, such as numbers, texts, lists and tables")


class Numbers:
    """Things that can be keys, each with a number, from 0 in the order in which they come."""

    def __init__(self) -> None:
        self.of: dict[Hashable, int] = {}
        self.things: list[Any] = []

    def number(self, key: Hashable, thing: Any) -> int:
        """The number of `thing`, whose key it is."""
        found = self.of.get(key)
        if found is None:
            found = self.of[key] = len(self.things)
            self.things.append(thing)
        return found


class Outcome(NamedTuple):
    """What an input leads to: the next local state; what is sent, by column; the awaited events that have happened."""

    local: int
    sent: tuple[tuple[int, tuple[int, ...]], ...]
    happened: frozenset[str | None]


@dataclass
class Local:
    """A local state: the process with its timers, and what it received.

    late: the white messages that came after it recorded, by snapshot and channel.
    """

    process: Process
    timers: dict[str, Timer] = field(default_factory=dict)
    late: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)
    orphans: frozenset[str] = frozenset()  # snapshots for which it received a red message before it recorded
    done: frozenset[int] = frozenset()  # agenda items that waited for an event and have been carried out
    age: int = 0  # the number of inputs that it took to come here, in one run

    def key(self, *, counts_events: bool) -> Hashable:
        """Equal for local states that no rule and no check can tell apart."""
        own = self.process
        snapshots = {
            name: (part.state, {channel: kept for channel, kept in part.kept.items() if kept}, part.closed, part.done)
            for name, part in own.snapshots.items()
        }
        timers = {name: (timer.after, timer.snapshot) for name, timer in self.timers.items()}
        fields = (
            own.state, own.turn, own.position, own.paused, own.blocked, snapshots, own.listening, own.aborted,
            own.memory, timers,
        )  # fmt: skip
        return (
            frozen(fields), frozenset(self.late.items()), self.orphans, self.done, own.index if counts_events else None
        )  # fmt: skip


class Machine:
    """One node: its local states, its inputs, and the table of outcomes, filled where it is asked for.

    An input is ("item", number), ("turn", place), ("deliver" or "hear", channel, token, overtaken tokens), ("fire",
    name) or ("start",).
    """

    def __init__(
        self, engine: Engine, number: int, tokens: Numbers, bodies: Numbers, column_of: Mapping[int, int]
    ) -> None:
        """`tokens` numbers all messages, `bodies` them without their colours; `column_of` says where a channel is."""
        self.engine, self.number = engine, number
        self.tokens, self.bodies, self.column_of = tokens, bodies, column_of
        self.locals, self.inputs, self.outcomes = Numbers(), Numbers(), Numbers()
        self.table: Ints = np.full((ROOM, ROOM), UNKNOWN, np.int32)
        self.counts_events = any(re.fullmatch(r".+\.[0-9]+", label or "") for label in engine.awaited)  # such as P1.3
        self.judges_cuts = engine.algorithm.coordinated  # if not, nobody asks which messages cross a cut
        self.executed: list[tuple[int, int]] = []  # the pairs for which a rule was carried out
        self.wanted: set[int] | None = None  # not None: no rule is carried out, but pairs that are missing are noted
        self.is_levelled = True  # whether each local state has one age, in all runs so far
        self._kept: dict[int | None, Ints] = {}
        self._columns: set[int] = set()
        self._looked_at = 0

    def local(self, state: Local) -> int:
        """The number of a local state."""
        number = self.locals.number(state.key(counts_events=self.counts_events), state)
        if number >= len(self.table):
            more = np.full_like(self.table, UNKNOWN)
            self.table = np.concatenate([self.table, more])
        return number

    def input(self, *parts: Hashable) -> int:
        """The number of an input."""
        number = self.inputs.number(parts, parts)
        if number >= self.table.shape[1]:
            self.table = np.concatenate([self.table, np.full_like(self.table, UNKNOWN)], axis=1)
        return number

    def outcomes_of(self, locals_: Ints, inputs: Ints | int) -> Ints:
        """The outcomes of pairs, element by element; IMPOSSIBLE where a local state does not take the input."""
        found = self._looked_up(locals_, inputs)
        missing = np.flatnonzero(found == UNKNOWN)
        if len(missing):
            given_to = np.broadcast_to(inputs, locals_.shape)
            pairs = distinct(locals_[missing].astype(np.int64) << 32 | given_to[missing])
            if self.wanted is not None:
                self.wanted.update(pairs.tolist())
                found[missing] = IMPOSSIBLE
                return found
            self.fill(pairs)
            found = self._looked_up(locals_, inputs)
        return found

    def fill(self, pairs: Keys) -> None:
        """Fill the table for pairs: a local state in the upper 32 bits, an input in the lower ones."""
        for pair in pairs.tolist():
            local, given = pair >> 32, pair & 0xFFFFFFFF
            outcome = self._carried_out(local, given)  # may make the table larger
            self.table[local, given] = outcome

    def _looked_up(self, locals_: Ints, inputs: Ints | int) -> Ints:
        found: Ints = self.table.ravel().take(locals_.astype(np.int64) * self.table.shape[1] + inputs)
        return found

    def outcome(self, local: int, given: int) -> Outcome | None:
        """The outcome of one pair; None where the local state does not take the input."""
        number = int(self.outcomes_of(np.array([local], np.int32), np.array([given], np.int32))[0])
        return None if number == IMPOSSIBLE else self.outcomes.things[number]

    # ------------------------------------------------------------------ outcomes in columns

    def next_locals(self) -> Ints:
        """By outcome: the next local state."""
        return self._column(None, lambda outcome: outcome.local)

    def columns_sent(self) -> list[int]:
        """The columns of the channels on which any outcome so far sends something."""
        for outcome in self.outcomes.things[self._looked_at :]:
            self._columns.update(column for column, _ in outcome.sent)
        self._looked_at = len(self.outcomes.things)
        return sorted(self._columns)

    def batches(self, column: int, numbers: Numbers) -> Ints:
        """By outcome: the number of the batch of messages that it sends on a channel; 0 for none."""
        return self._column(column, lambda outcome: numbers.number(batch := dict(outcome.sent).get(column, ()), batch))

    def _column(self, key: int | None, value: Callable[[Outcome], int]) -> Ints:
        """Something of each outcome, worked out once."""
        known = self._kept.get(key, np.zeros(0, np.int32))
        new = self.outcomes.things[len(known) :]
        if new:
            known = self._kept[key] = np.concatenate([known, np.array([value(own) for own in new], np.int32)])
        return known

    # ------------------------------------------------------------------ one execution of a rule

    def _carried_out(self, local: int, given: int) -> int:
        self.executed.append((local, given))
        before: Local = self.locals.things[local]
        parts = self.inputs.things[given]
        process = before.process.copy()
        state = self._alone(process, before.timers)
        action = self._action(process, parts, state, before)
        if action is None:
            return IMPOSSIBLE
        try:
            sent = self.engine.perform(state, action, [])
        except Refused:
            return IMPOSSIBLE
        outcome = self._outcome(before, process, state, sent, parts)
        return self.outcomes.number(outcome, outcome)

    def _alone(self, process: Process, timers: Mapping[str, Timer]) -> State:
        """A state in which only this node is."""
        count = len(self.engine.processes)
        state = State([process] * count, [[] for _ in self.engine.channels], [process] * len(self.engine.services))
        state.timers = {(self.number, name): timer for name, timer in timers.items()}
        state.waiting = frozenset(range(len(self.engine.agenda)))
        return state

    def _action(self, process: Process, parts: Sequence[Any], state: State, before: Local) -> Action | None:
        """The action of an input, its messages put where the engine looks for them; None if it cannot happen now."""
        kind, *given = parts
        if kind == "start":
            return Start(self.number) if process.turn == 0 else None
        if kind == "fire":
            return Fire(before.timers[given[0]]) if given[0] in before.timers else None
        if kind == "item":
            item = self.engine.agenda[given[0]]
            is_next = item.rank == process.position if item.after is None else item.number not in before.done
            is_free = not process.paused or type(item.action) is Initiate
            return item.action if is_next and is_free else None
        if kind == "turn":
            options = () if process.paused else self.engine.workload.options(process)
            return options[given[0]] if given[0] < len(options) else None
        channel: Channel = given[0]
        if channel in process.blocked:
            return None
        return self._delivery(kind, channel, given[1], given[2], state)

    def _delivery(self, kind: str, channel: Channel, token: int, overtaken: Sequence[int], state: State) -> Action:
        messages = [self._message(channel, own) for own in (*overtaken, token)]
        if kind == "hear":
            state.control[channel] = tuple(messages)
            return Hear(messages[-1])
        state.queues[channel.number] = messages
        return Deliver(messages[-1])

    def _message(self, channel: Channel, token: int) -> Message:
        message, _ = self.tokens.things[token]
        label = message.receive_label
        return Message(0, channel, message.kind, message.body, message.snapshot, message.stamp, 0, None, label)

    def _outcome(
        self, before: Local, process: Process, state: State, sent: Sequence[Message], parts: Sequence[Any]
    ) -> Outcome:
        timers = {name: timer for (_, name), timer in state.timers.items()}
        after = Local(process, timers, before.late, before.orphans, before.done, before.age + 1)
        if parts[0] == "item" and self.engine.agenda[parts[1]].after is not None:
            after.done |= {parts[1]}
        if parts[0] == "deliver":
            self._receive(after, parts[1], parts[2])
        by_column: dict[int, list[int]] = {}
        for message in sent:
            is_coloured = message.kind == APP and self.judges_cuts
            red = frozenset(process.snapshots) if is_coloured else frozenset()
            by_column.setdefault(self.column_of[message.channel.number], []).append(self.token(message, red))
        queues = tuple((column, tuple(own)) for column, own in sorted(by_column.items()))
        number = self.local(after)
        self.is_levelled &= self.locals.things[number].age == after.age
        return Outcome(number, queues, state.happened)

    def _receive(self, after: Local, channel: Channel, token: int) -> None:
        """Note what a correct snapshot has to say of a message that was received: it is in no process's state."""
        message, red = self.tokens.things[token]
        if message.kind != APP or not self.judges_cuts:
            return
        recorded = frozenset(after.process.snapshots)
        after.orphans |= red - recorded
        late = {
            (name, channel.number): (*after.late.get((name, channel.number), ()), self.plain(message))
            for name in recorded - red
        }
        if late:
            after.late = {**after.late, **late}

    def token(self, message: Message, red: frozenset[str]) -> int:
        """The number of a message whose sender had recorded these snapshots."""
        label = message.receive_label if message.receive_label in self.engine.awaited else None
        return self.tokens.number((frozen(message), red, label), (message, red))

    def plain(self, message: Message) -> int:
        """The number of a message whatever its colour, as a snapshot records it."""
        return self.bodies.number(frozen(message), message)
