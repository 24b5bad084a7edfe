"""The log around a scene of a foreign log; the scene is a window of one execution."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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
