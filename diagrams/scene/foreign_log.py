"""What a scene of a foreign log knows of the log around it: the scene is a window of one execution."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Waiting:
    """What a channel holds when a window begins: `count` messages, the first of which have `names`.

    They are in the order of their receipt. The window receives the first of them: `received` says for each how many of
    the receiver's events in the window a cut has inside when it has the receipt inside.
    """

    caption: str
    count: int
    names: Sequence[str]
    received: Sequence[int]


@dataclass(frozen=True)
class ForeignLog:
    """The log around a window.

    before: how many events each process has before the window.
    numbers: the numbers that the events of the scene have in the log, by process. An event with several partners is
        several events of the scene, which have one number.
    waiting: what the channels hold when the window begins, by name.
    later: the ids, in the scene, of messages that are received after the window.
    unknown: the captions of channels, by name, of which the log does not say what is in them.
    exact: whether the log tells of every message; else a channel may hold more.
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
        """As JSON; what belongs to processes is in their order."""
        return {
            "before": list(self.before.values()),
            "numbers": [list(own) for own in self.numbers.values()],
            "waiting": {name: vars(waiting) for name, waiting in self.waiting.items()},
            "unknown": dict(self.unknown),
            "exact": self.exact,
        }
