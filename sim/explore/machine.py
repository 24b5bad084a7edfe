"""One node of a system as a table: from a local state and an input to the next local state and the sent messages.

The rule books and the engine are those of every page, unchanged: `Engine.perform` carries an action out on a state with
only this node and its input. A local state, a message and an outcome each become a small number. So every rule is
carried out once for each pair of a local state and an input.

A message has the snapshots that its sender had recorded ("red for S1"). A local state has the messages received before
and after its recording (sim/explore/local.py). Both decide the right contents of a snapshot (Dijkstra, EWD864a), and no
rule sees them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from sim.core.engine import Engine
from sim.core.fault_kinds import FAULT_KINDS
from sim.core.faults import may_happen
from sim.core.model import (
    APP,
    FAULTS,
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
from sim.explore.local import Local, Red, frozen
from sim.explore.numbers import Numbers, Token, Tokens
from sim.explore.packing import UNKNOWN, Ints, Keys, distinct

IMPOSSIBLE = -1  # in a table of outcomes
ROOM = 64  # local states and inputs for which a table has room at first


class Outcome(NamedTuple):
    """The outcome of an input: the next local state, the sent messages by column, the awaited events that happened."""

    local: int
    sent: tuple[tuple[int, tuple[int, ...]], ...]
    happened: frozenset[str | None]


class Machine:
    """One node: its local states, its inputs, and the table of outcomes, filled where it is asked for.

    An input is ("item", number), ("turn", place), ("deliver" or "hear", channel, token, overtaken tokens, traces),
    ("fire", name), ("start",), ("crash",), ("restart",), ("freeze",) or ("thaw",).
    """

    def __init__(
        self, engine: Engine, number: int, tokens: Tokens, bodies: Numbers, column_of: Mapping[int, int],
        *, records_again: bool = False,
    ) -> None:  # fmt: skip
        """`tokens` numbers all messages, `bodies` them without their colours; `column_of` says where a channel is.

        records_again: a process may crash, start again, and record a second time.
        """
        self.engine, self.number = engine, number
        self.tokens, self.bodies, self.column_of = tokens, bodies, column_of
        self.records_again = records_again
        self._held = Numbers()
        self.locals, self.inputs, self.outcomes = Numbers(itemgetter(0)), Numbers(), Numbers()
        self.table: Ints = np.full((ROOM, ROOM), UNKNOWN, np.int32)
        self.counts_events = any(re.fullmatch(r".+\.[0-9]+", label or "") for label in engine.awaited)  # such as P1.3
        self.judges_cuts = engine.algorithm.coordinated  # if not, no check asks which messages cross a cut
        self.executed: list[tuple[int, int]] = []  # the pairs for which a rule was carried out
        self.wanted: set[int] | None = None  # not None: no rule is carried out, but pairs that are missing are noted
        self.is_levelled = True  # whether each local state has one age, in all runs so far
        self.holds_one_age = True  # likewise, for every account
        self._kept: dict[int | None, Ints] = {}
        self._columns: set[int] = set()
        self._looked_at = 0

    def initial(self, process: Process) -> Local:
        """The local state in which a process begins."""
        return Local(process)

    def local(self, state: Local) -> int:
        """The number of a local state."""
        held = self._held.number(state.holds(counts_events=self.counts_events), None)
        number = self.locals.number((held, state.account), state)
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
        services = [process] * len(self.engine.services)
        if self.engine.has_faults:
            services.append(Process("the environment", self.engine.environment, None))
        state = State([process] * count, [[] for _ in self.engine.channels], services)
        state.timers = {(self.number, name): timer for name, timer in timers.items()}
        state.waiting = frozenset(range(len(self.engine.agenda)))
        return state

    def _action(self, process: Process, parts: Sequence[Any], state: State, before: Local) -> Action | None:
        """The action of an input, its messages put where the engine looks for them; None if it cannot happen now."""
        kind, *given = parts
        if kind in FAULT_KINDS:
            return self._if_it_may(FAULT_KINDS[kind].action(self.number), state)  # type: ignore[call-arg, arg-type]
        item = self.engine.agenda[given[0]] if kind == "item" else None
        if item is not None and type(item.action) in FAULTS:
            return self._if_it_may(item.action, state)
        if process.frozen:
            return None
        if kind == "start":
            return Start(self.number) if process.turn == 0 else None
        if kind == "fire":
            return Fire(before.timers[given[0]]) if given[0] in before.timers else None
        if item is not None:
            is_next = item.rank == process.position if item.after is None else item.number not in before.done
            is_free = process.alive and (not process.paused or type(item.action) is Initiate)
            return item.action if is_next and is_free else None
        if kind == "turn":
            options = self.engine.workload.options(process) if process.alive and not process.paused else ()
            return options[given[0]] if given[0] < len(options) else None
        channel: Channel = given[0]
        if channel in process.blocked:
            return None
        return self._delivery(kind, channel, given[1], given[2], state)

    @staticmethod
    def _if_it_may(fault: Any, state: State) -> Action | None:
        return fault if may_happen(state, fault) else None

    def _delivery(self, kind: str, channel: Channel, token: int, overtaken: Sequence[int], state: State) -> Action:
        messages = [self._message(channel, own) for own in (*overtaken, token)]
        if kind == "hear":
            state.control[channel] = tuple(messages)
            return Hear(messages[-1])
        state.queues[channel.number] = messages
        return Deliver(messages[-1])

    def _message(self, channel: Channel, token: int) -> Message:
        message = self.tokens.things[token].message
        label = message.receive_label
        return Message(0, channel, message.kind, message.body, message.snapshot, message.stamp, 0, None, label)

    def _outcome(
        self, before: Local, process: Process, state: State, sent: Sequence[Message], parts: Sequence[Any]
    ) -> Outcome:
        timers = {name: timer for (_, name), timer in state.timers.items()}
        account = (
            before.late, before.early, before.passed, before.discarded, before.stored, before.ended, before.torn
        )  # fmt: skip
        after = Local(process, timers, *account, before.done, before.age + 1)
        if before.process.alive and not process.alive:
            after.crashed(before.process, records_again=self.records_again)
        after.recorded(process.snapshots.keys() - before.process.snapshots.keys())
        if parts[0] == "item":
            item = self.engine.agenda[parts[1]]
            after.done |= {item.number} if item.after is not None and item.process == self.number else set()
        if parts[0] == "deliver" and self.judges_cuts:
            self._note_receipt(after, parts)
        by_column: dict[int, list[int]] = {}
        for message in sent:
            red = after.red if message.kind == APP and self.judges_cuts else frozenset()
            by_column.setdefault(self.column_of[message.channel.number], []).append(self.token(message, red))
        queues = tuple((column, tuple(own)) for column, own in sorted(by_column.items()))
        return Outcome(self.aged(after), queues, state.happened)

    def _note_receipt(self, after: Local, parts: Sequence[Any]) -> None:
        """Note an application message that has come, and the traces before it."""
        (message, red, _), *traces = (self.tokens.things[token] for token in (parts[2], *parts[4]))
        if message.kind == APP:
            lost = tuple((self.plain(own.message), own.red) for own in traces)
            body = self.plain(message)
            after.received(parts[1].number, lost, body, red, records_again=self.records_again)

    def aged(self, after: Local) -> int:
        """The number of a local state, which may have been reached by fewer or by more inputs before."""
        number = self.local(after)
        self.is_levelled &= self.locals.things[number].age == after.age
        self.holds_one_age &= self.locals.things[self.locals.first[number]].age == after.age
        return number

    def token(self, message: Message, red: Red) -> int:
        """The number of a message that is red for these parts."""
        return self.tokens.number(Token(message, red))

    def plain(self, message: Message) -> int:
        """The number of a message with this body, as a snapshot records it."""
        return self.bodies.number(frozen(message.body), message)
