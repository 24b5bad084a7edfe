"""The local state of one node, with an account of what a correct snapshot has to say of the messages it received.

Rules are pure and may read neither ids of messages nor counts of events, so two local states are one if they agree in
all else. Left out of the key: ids, labels, `index`, `inside`, `sent_index`. No rule sees the account. It follows what a
person would put together from all rows (sim/run/snapshots.py): a process that crashes discards a part that is not done,
a part that is done outlives it, and a second recording takes the place of the first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

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
        return Message, value.kind, value.snapshot, frozen(value.body), frozen(value.stamp)
    if isinstance(value, (dict, Mapping)):
        return dict, frozenset([(frozen(key), frozen(own)) for key, own in value.items()])
    if isinstance(value, (set, frozenset)):
        return set, frozenset([frozen(own) for own in value])
    raise TypeError(f"a state holds {value!r}; plain data is needed, such as numbers, texts, lists and tables")


def told(part: LocalSnapshot) -> Hashable:
    """What a process recorded, without the number of its events."""
    return frozen((part.state, {channel: kept for channel, kept in part.kept.items() if kept}, part.closed, part.done))


@dataclass
class Local:
    """A local state: the process with its timers, and the account.

    A process numbers the parts that it records for a snapshot from 0; `discarded` says how many it has discarded, where
    that is known to matter: where it may record again. A message is red for a part if it is sent after that.

    late: the messages that came after it recorded, by snapshot and channel, each with the part of the sender for which
    it is red. early: the parts for which it received a red message before it recorded, by snapshot and channel.
    stored: parts that it has completed and forgotten. ended: snapshots that it aborted before it forgot all. torn:
    snapshots of which it lost a part that was not done, where it may record again: they are never complete.
    """

    process: Process
    timers: dict[str, Timer] = field(default_factory=dict)
    late: dict[tuple[str, int], tuple[tuple[int, int], ...]] = field(default_factory=dict)
    early: frozenset[tuple[str, int, int]] = frozenset()
    discarded: dict[str, int] = field(default_factory=dict)
    stored: dict[str, LocalSnapshot] = field(default_factory=dict)
    ended: frozenset[str] = frozenset()
    torn: frozenset[str] = frozenset()
    done: frozenset[int] = frozenset()  # agenda items that waited for an event and have been carried out
    age: int = 0  # the number of inputs that it took to come here, in one run

    def key(self, *, counts_events: bool) -> Hashable:
        """Equal for local states that no rule and no check can tell apart."""
        own = self.process
        snapshots = frozenset((name, told(part)) for name, part in own.snapshots.items())
        stored = frozenset((name, told(part)) for name, part in self.stored.items())
        timers = {name: (timer.after, timer.snapshot) for name, timer in self.timers.items()}
        fields = (
            own.state, own.turn, own.position, own.alive, own.paused, own.blocked, own.listening, own.aborted,
            own.memory, timers,
        )  # fmt: skip
        account = frozenset(self.late.items()), self.early, frozenset(self.discarded.items()), stored, self.ended
        return frozen(fields), snapshots, account, self.torn, self.done, own.index if counts_events else None

    # ------------------------------------------------------------------ what it has recorded

    def part(self, name: str) -> LocalSnapshot | None:
        """What the process recorded for a snapshot, and has not discarded."""
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

    def _discard(self, name: str, *, records_again: bool) -> None:
        """What came after that part was recorded is before the next one."""
        came = {(channel, part) for (own, channel), late in self.late.items() if own == name for _, part in late}
        self.late = {key: late for key, late in self.late.items() if key[0] != name}
        if records_again:
            self.early |= {(name, channel, part) for channel, part in came if part != WHITE}
            self.discarded = {**self.discarded, name: self.discarded.get(name, 0) + 1}

    def received(self, channel: int, body: int, red: Red, *, records_again: bool) -> None:
        """The process has received a message with this body (its number), red for these parts.

        records_again: a sender may discard its part, so that a red message is none in the end.
        """
        parts = dict(red)
        recorded = {*self.process.snapshots, *self.stored}
        late = {
            (name, channel): (*self.late.get((name, channel), ()), (body, parts.get(name, WHITE)))
            for name in recorded
            if records_again or name not in parts
        }
        if late:
            self.late = {**self.late, **late}
        where = channel if records_again else ANY_CHANNEL
        self.early |= {(name, where, part) for name, part in red if name not in recorded}
