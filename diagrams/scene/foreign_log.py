"""A foreign log around a scene, which is a window of one execution, and predicates at the cuts of the window.

A predicate counts the events and messages before the window too: `P1.events` is the log's own number, and
`C12.messages` counts the messages that were sent before the window. `P1.last` is "" if the last event inside lies
before the window. States and bodies are not in a log.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sim.core.errors import InputError, brief
from sim.core.notation import captions
from sim.run.cut_states import CutStates
from sim.run.predicates import Predicates, Quantity
from sim.theory.expressions import Path
from sim.theory.positions import Cut


@dataclass(frozen=True)
class Waiting:
    """The contents of a channel when a window begins: `count` messages, the first of which have `names`.

    They are in the order of their receipt, and the window receives the first of them. `received` gives for each the
    number of the receiver's events inside the smallest cut with that receipt.
    """

    caption: str
    count: int
    names: Sequence[str]
    received: Sequence[int]


@dataclass(frozen=True)
class ForeignLog:
    """The log around a window.

    before: the number of events of each process before the window.
    numbers: the numbers that the events of the scene have in the log, by process. An event with several partners is
        several events of the scene, which have one number.
    waiting: the contents of the channels when the window begins, by name.
    later: the ids, in the scene, of messages that are received after the window.
    unknown: the captions, by name, of channels whose contents are not in the log.
    exact: whether the log holds every message; else a channel may hold more.
    """

    before: Mapping[str, int]
    numbers: Mapping[str, Sequence[int]]
    waiting: Mapping[str, Waiting]
    later: Collection[int]
    unknown: Mapping[str, str]
    exact: bool

    def in_numbers(self, frontier: Sequence[int]) -> list[int]:
        """A cut in the log's numbers; `frontier` counts events of the scene, by process in their order."""
        return [
            self.numbers[name][inside - 1] if inside else before
            for (name, before), inside in zip(self.before.items(), frontier, strict=True)
        ]

    def plain(self) -> dict[str, Any]:
        """The log as JSON; lists by process are in the order of the processes."""
        return {
            "before": list(self.before.values()),
            "numbers": [list(own) for own in self.numbers.values()],
            "waiting": {name: vars(waiting) for name, waiting in self.waiting.items()},
            "unknown": dict(self.unknown),
            "exact": self.exact,
        }


class LogPredicates(Predicates):
    """The reader of predicates on the window of a log."""

    def __init__(self, states: CutStates, log: ForeignLog) -> None:
        super().__init__(states)
        self.log = log
        self.channels = list(dict.fromkeys([*self.channels, *log.waiting, *log.unknown]))
        self.channel_called = {called: name for name, called in captions(self.processes, self.channels).items()}

    def examples(self) -> list[str]:
        """Example predicates that make sense in this window."""
        first = self.processes[0]
        events = f"{self._written(first)}.events == {self.log.before[first] + 1}"
        if not self.log.exact or self.log.unknown:
            return [events]
        return [f"{events} and channels.messages == 0", "channels.messages >= 2"]

    def quantity(self, path: Path) -> Quantity:
        """The value at each cut of the quantity at `path`. Raises InputError if there is none."""
        found = super().quantity(path)
        match path:
            case ("process", name, "events") | (name, "events") if name in self.processes:
                rank = self.processes.index(name)
                return lambda cut: self.log.in_numbers(self.states.order.inside(cut))[rank]
            case ("processes", "events"):
                return lambda cut: sum(self.log.in_numbers(self.states.order.inside(cut)))
            case ("channel", name, "messages") if name in self.channels:
                return self._messages([name])
            case (called, "messages") if called in self.channel_called:
                return self._messages([self.channel_called[called]])
            case ("channels", "messages"):
                return self._messages(self.channels)
            case (*_, "last"):
                return found
        raise InputError(f"{brief(path[-1])} is not in a log; ask for events, last or messages")

    def _messages(self, names: list[str]) -> Quantity:
        """The number of messages in some channels. Raises InputError if the log does not hold every message."""
        unknown = [self.log.unknown[name] for name in names if name in self.log.unknown]
        if unknown or not self.log.exact:
            where = unknown[0] if unknown else "a channel"
            raise InputError(
                f"this log does not hold every message, so the number in {where} is unknown; ask for events or last"
            )
        return lambda cut: sum(self._held(name, cut) for name in names)

    def _held(self, name: str, cut: Cut) -> int:
        """The number of messages in a channel: those left from before the window, and those sent in it."""
        inside = self.states.order.inside(cut)[self.processes.index(name.partition("->")[2])]
        waiting = self.log.waiting.get(name)
        left = waiting.count - sum(place <= inside for place in waiting.received) if waiting else 0
        return left + (len(self.states.in_channel(name, cut)) if name in self.states.sent_on else 0)
