"""The record of a run's snapshots after a step, as lines of a table with a cell for each snapshot."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from diagrams.panels.record.meters import Timeline
from diagrams.panels.record.panel import record_of
from diagrams.panels.record.timelines import NOT_YET
from diagrams.scene.composition import Scene
from diagrams.shapes import theme
from diagrams.shapes.grid import Cell

NOTHING = "–"
COUNTED = ("processes", "channels recording", "channels empty", "channels with messages")
PHASES = (("recording", "began"), ("complete", "completed"), ("aborted", "aborted"))  # with the step of each
NOT_BEGUN = "not begun"
STATE, RECORDING, EMPTY, MESSAGES = "state", "recording", "empty", "messages"
STYLES = {STATE: "", RECORDING: "italic", EMPTY: "", MESSAGES: "bold"}


class Value(NamedTuple):
    """The recorded state of a process or a channel, from a step on.

    `kind` is STATE (of a process), or that of the channel: RECORDING, EMPTY or MESSAGES.
    """

    since: int
    text: str
    kind: str


class Line(NamedTuple):
    """A line of the table: a name, and the cell of each snapshot."""

    name: str
    cells: list[Cell]


class Item:
    """A process or a channel: the values that each snapshot has of it, from the first on."""

    def __init__(self, name: str, values: Iterable[list[Value]]) -> None:
        self.name, self.values = name, list(values)

    def at(self, snapshot: int, step: int) -> Value | None:
        """The value of the snapshot with this number after `step`; None: nothing yet, or no more."""
        own = self.values[snapshot]
        place = bisect_right(own, step, key=lambda value: value.since)
        return own[place - 1] if place and own[place - 1].text else None

    def since(self, step: int) -> int:
        """The last step up to `step` at which something of it was recorded; 0 if nothing was."""
        return max((value.since for number in range(len(self.values)) if (value := self.at(number, step))), default=0)

    def cell(self, snapshot: int, step: int) -> Cell:
        """The cell of a snapshot; a value that is new at this step is marked."""
        value = self.at(snapshot, step)
        if value is None:
            return Cell(NOTHING, "", "@faint")
        return Cell(value.text, STYLES[value.kind], "@ink", "@band" if value.since == step else "")


def _process(recorded: Mapping[str, Any]) -> list[Value]:
    return [Value(step, "" if text == NOT_YET else text, STATE) for step, text in recorded["text"]]


def _channel(recorded: Mapping[str, Any]) -> list[Value]:
    texts, states = recorded["text"], recorded["state"]
    steps = sorted({step for step, _ in (*texts, *states)})
    at = [(step, _latest(texts, step), _latest(states, step)) for step in steps]
    return [Value(step, "" if state == "idle" else _short(text), state) for step, text, state in at]


def _latest(timeline: Timeline, step: int) -> str:
    """The value of a timeline at a step."""
    place = bisect_right(timeline, step, key=lambda pair: pair[0])
    return timeline[place - 1][1] if place else ""


def _short(told: str) -> str:
    """A channel's state without its name: "<…>" while it is open, "<3 …>" once a message has come."""
    value = told.partition(" = ")[2]
    if value == "...recording...":
        return "<…>"
    so_far = value.removesuffix(", ...recording...")
    return value if so_far == value else f"{so_far} …>"


class Record:
    """The contents of the table of a scene. `items` are the processes on show, and the channels between them."""

    def __init__(self, scene: Scene) -> None:
        self.snapshots = record_of(scene)
        self.processes = self._items("processes", "name", _process)
        self.channels = self._items("channels", "caption", _channel)
        at = dict(zip(scene.processes, self.processes, strict=False))
        self.on_show = [at[name] for lane in scene.layout.shown if (name := scene.lanes[lane]) in at]
        names = [item.name for item in self.on_show]
        ends = [(channel.source_name, channel.target_name) for channel in scene.execution.engine.channels]
        between = [
            item
            for item, (source, target) in zip(self.channels, ends, strict=False)
            if source in names and target in names
        ]
        self.items = [*self.on_show, *between]

    def _items(self, part: str, name: str, values: Callable[[Mapping[str, Any]], list[Value]]) -> list[Item]:
        """An item for each process or channel of the snapshots, which all have the same."""
        rows = zip(*(snapshot[part] for snapshot in self.snapshots), strict=True)
        return [Item(row[0][name], map(values, row)) for row in rows]

    def heading(self, snapshot: int, step: int) -> Cell:
        """The name of a snapshot with its phase at a step."""
        own = self.snapshots[snapshot]
        reached = [phase for phase, key in PHASES if own[key] is not None and own[key] <= step]
        phase = [NOT_BEGUN, *reached][-1]
        return self.heading_of(snapshot, own["ending"] if phase == "aborted" else phase)

    def heading_of(self, snapshot: int, phase: str) -> Cell:
        """The name of a snapshot with a phase."""
        return Cell(
            f"{self.snapshots[snapshot]['id']}: {phase}", "bold", "@ink", f"{theme.snapshot_colour(snapshot)}/0.22"
        )

    def seen(self, step: int, most: int) -> range:
        """The snapshots on show if only `most` have room; the last that has begun is among them."""
        begun = [
            number for number, own in enumerate(self.snapshots) if own["began"] is not None and own["began"] <= step
        ]
        end = min(len(self.snapshots), max(most, 1 + max(begun, default=0)))
        return range(end - most, end)

    def lines(self, step: int, snapshots: Sequence[int]) -> list[Line]:
        """The lines of all processes and channels."""
        return [Line(item.name, [item.cell(number, step) for number in snapshots]) for item in self.items]

    def counted(self, step: int, snapshots: Iterable[int]) -> list[Line]:
        """The lines with the numbers of recorded processes and channels."""
        found: list[list[str]] = []
        for number in snapshots:
            done = sum(item.at(number, step) is not None for item in self.processes)
            kinds = [value.kind for item in self.channels if (value := item.at(number, step))]
            counts = [str(kinds.count(kind)) for kind in (RECORDING, EMPTY, MESSAGES)]
            found.append([f"{done} of {len(self.processes)}", *counts])
        return [Line(name, [Cell(own[place]) for own in found]) for place, name in enumerate(COUNTED)]

    def latest(self, step: int, snapshots: Sequence[int], most: int) -> list[Line]:
        """The `most` processes and channels that were recorded last, with empty lines for the rest."""
        known = sorted((item for item in self.items if item.since(step)), key=lambda item: -item.since(step))[:most]
        lines = [Line(item.name, [item.cell(number, step) for number in snapshots]) for item in known]
        return [*lines, *(Line("", [Cell("")] * len(snapshots)) for _ in range(most - len(lines)))]
