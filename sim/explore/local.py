"""The local state of one node, with an account of the received messages that a correct snapshot has to contain.

Rules are pure, and read neither ids of messages nor counts of events. So two local states are one if they agree in all
else. Left out of the key: ids, labels, `index`, `inside`, `sent_index`. No rule sees the account, which is no part of
the state (sim/explore/numbers.py). It agrees with the snapshots in an event table (sim/run/snapshots.py). A process
that crashes discards a part that is not done; a part that is done outlives the crash; a second recording replaces the
first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sim.core.model import Channel, LocalSnapshot, Message, Process, Timer

PLAIN = {type(None), bool, int, float, str}
WHITE = -1  # the part of a sender that had not recorded
ANY_CHANNEL = -1

Red = frozenset[tuple[str, int]]  # the snapshots that a sender had recorded, each with the number of its part


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
        return Message, value.channel.number, value.kind, value.snapshot, frozen(value.body), frozen(value.stamp)
    if isinstance(value, (dict, Mapping)):
        return dict, frozenset([(frozen(key), frozen(own)) for key, own in value.items()])
    if isinstance(value, (set, frozenset)):
        return set, frozenset([frozen(own) for own in value])
    raise TypeError(f"a state holds {value!r}; plain data is needed, such as numbers, texts, lists and tables")


class Crossing(NamedTuple):
    """The body (its number) of a message that may cross a cut, and the part of its sender for which it is red."""

    body: int
    part: int
    is_lost: bool = False


def _crossing(name: str, traces: Iterable[tuple[int, Red]]) -> tuple[Crossing, ...]:
    """Messages that were lost, as a snapshot sees them."""
    return tuple(Crossing(body, dict(red).get(name, WHITE), is_lost=True) for body, red in traces)


def told(part: LocalSnapshot) -> Hashable:
    """The recording of a process as a key, without the number of its events."""
    return frozen((part.state, {channel: kept for channel, kept in part.kept.items() if kept}, part.closed, part.done))


@dataclass
class Local:
    """A local state: the process with its timers, and the account.

    A process numbers the parts that it records for a snapshot from 0; `discarded` says how many it has discarded, where
    that is known to matter: where it may record again. A message is red for a part if it is sent after that.

    late: the messages that came after it recorded, by snapshot and channel. early: the parts for which it received a
    red message before it recorded, by snapshot and channel. passed: by FIFO channel, the messages that were lost before
    one that came, each with the parts for which it is red. What comes to a process that is down came, too.
    stored: parts that it has completed and forgotten. ended: snapshots that it aborted before it forgot all. torn:
    snapshots of which it lost a part that was not done, where it may record again: they are never complete.
    """

    process: Process
    timers: dict[str, Timer] = field(default_factory=dict)
    late: dict[tuple[str, int], tuple[Crossing, ...]] = field(default_factory=dict)
    early: frozenset[tuple[str, int, int]] = frozenset()
    passed: dict[int, tuple[tuple[int, Red], ...]] = field(default_factory=dict)
    discarded: dict[str, int] = field(default_factory=dict)
    stored: dict[str, LocalSnapshot] = field(default_factory=dict)
    ended: frozenset[str] = frozenset()
    torn: frozenset[str] = frozenset()
    done: frozenset[int] = frozenset()  # agenda items that waited for an event and have been carried out
    age: int = 0  # the number of inputs that it took to come here, in one run

    @property
    def account(self) -> Hashable:
        """Equal for local states that no check can tell apart, if they hold the same."""
        if not (self.late or self.early or self.passed or self.discarded or self.stored or self.ended or self.torn):
            return None
        stored = frozenset((name, told(part)) for name, part in self.stored.items())
        messages = frozenset(self.late.items()), self.early, frozenset(self.passed.items())
        return messages, frozenset(self.discarded.items()), stored, self.ended, self.torn

    def holds(self, *, counts_events: bool) -> Hashable:
        """Equal for local states that no rule can tell apart: what the process holds."""
        own = self.process
        snapshots = frozenset((name, told(part)) for name, part in own.snapshots.items())
        timers = {name: (timer.after, timer.snapshot) for name, timer in self.timers.items()}
        fields = (
            own.state, own.turn, own.position, own.alive, own.frozen, own.paused, own.blocked, own.listening,
            own.aborted, own.memory, timers,
        )  # fmt: skip
        return frozen(fields), snapshots, self.done, own.index if counts_events else None

    # ------------------------------------------------------------------ its recordings

    def part(self, name: str) -> LocalSnapshot | None:
        """The recording of the process for a snapshot (None: none, or discarded)."""
        return self.process.snapshots.get(name, self.stored.get(name))

    def is_done(self, name: str) -> bool:
        """Whether its part of a snapshot is complete."""
        part = self.part(name)
        return part is not None and part.done and name not in self.ended | self.torn

    @property
    def red(self) -> Red:
        """The parts for which a message is red that it sends now."""
        return frozenset((name, self.discarded.get(name, 0)) for name in {*self.process.snapshots, *self.stored})

    # ------------------------------------------------------------------ what happens to it

    def crashed(self, before: Process, *, records_again: bool) -> None:
        """The process, which was `before`, has crashed: parts that are not done are discarded."""
        self.ended |= before.aborted
        for name, part in before.snapshots.items():
            if part.done:
                self.stored = {**self.stored, name: part}
            else:
                self._discard(name, records_again=records_again)
                if records_again:
                    self.torn |= {name}

    def recorded(self, names: Iterable[str]) -> None:
        """The process has recorded for these snapshots: earlier parts are discarded."""
        for name in names:
            if name in self.stored:
                self.stored = {key: part for key, part in self.stored.items() if key != name}
                self._discard(name, records_again=True)
            before = {channel: _crossing(name, traces) for channel, traces in self.passed.items()}
            self.late = {**self.late, **{(name, channel): own for channel, own in before.items() if own}}

    def _discard(self, name: str, *, records_again: bool) -> None:
        """Discard a part: messages that came after it are now before the next one."""
        late = ((channel, own) for (key, channel), came in self.late.items() if key == name for own in came)
        came = {(channel, own.part) for channel, own in late if not own.is_lost}
        self.late = {key: late for key, late in self.late.items() if key[0] != name}
        if records_again:
            self.early |= {(name, channel, part) for channel, part in came if part != WHITE}
            self.discarded = {**self.discarded, name: self.discarded.get(name, 0) + 1}

    def received(
        self, channel: int, traces: tuple[tuple[int, Red], ...], body: int, red: Red, *, records_again: bool
    ) -> None:
        """A message with this body (its number) has come, red for these parts.

        traces: those that were lost on the way and sent before it, likewise. records_again: a sender may discard its
        part, so that a red message is none in the end.
        """
        recorded = {*self.process.snapshots, *self.stored}
        if traces:
            self.passed = {**self.passed, channel: (*self.passed.get(channel, ()), *traces)}
        for name in recorded:
            came = [*_crossing(name, traces), Crossing(body, dict(red).get(name, WHITE))]
            more = tuple(own for own in came if records_again or own.part == WHITE)
            if more:
                self.late = {**self.late, (name, channel): (*self.late.get((name, channel), ()), *more)}
        where = channel if records_again else ANY_CHANNEL
        self.early |= {(name, where, part) for name, part in red if name not in recorded}
