"""An event table, or a window of one, told again as a scripted scenario, so that it can be opened, drawn and edited.

Running the scenario gives the same application events, process by process and overall in the same order, and the same
messages. Where a window cuts a message off, what is known is told: a message received after the window, or never, is
held; a receipt of one sent before it becomes an internal event that says so.

Names. An event keeps its label, cut short if it is long. What a scenario needs and a log need not have is that names
differ, and that an event is one send, one receive or neither. So where labels are alike, or an event has several
partners and becomes several events, the process and index it had stand behind its label, such as `flush (P2.17)` or
`flush (P2.17, 1 of 3)`; an event without a label is called `(P2.17)`, unless that is its place here as well.

Times. Events happen at the times of the table, or where the scheduler would then order them otherwise, a little apart,
or as a last resort at 1, 2, 3, ... A window that begins long after time 0 is told from its own beginning.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from sim.delays import HOLD, Address
from sim.model import APP, APPLICATION_KINDS, RECEIVE, SEND, Event, label_of
from sim.scenario import Scenario, ScriptLine
from sim.scheduler import in_order
from sim.tables import MOST_NUMBER, is_plain
from sim.topology import Topology

MOST_LABEL = 60  # letters
_FAR = 100  # times as far from time 0 as the window is long: then its times would be long numbers that look alike
_SPREAD = 0.7  # of the time between two moments, taken by events that happen at the first


def retell(events: Sequence[Event], processes: Sequence[str], name: str) -> Scenario:
    """The scenario called `name`, of all `processes`, whose run has the application events among `events`.

    `events` are rows of one run, in their order. Snapshots are not told again.
    """
    return _Retold(events, processes).scenario(name)


class _Retold:
    """The rows that are told: each is a script line, or the delivery of a message that a line sends."""

    def __init__(self, events: Sequence[Event], processes: Sequence[str]) -> None:
        self.processes = tuple(processes)
        self.rows = [event for event in events if event.kind in APPLICATION_KINDS]
        self.send_of = {row.message_id: place for place, row in enumerate(self.rows) if row.kind == SEND}
        self.receive_of = {
            row.message_id: place
            for place, row in enumerate(self.rows)
            if row.kind == RECEIVE and row.message_id in self.send_of
        }
        self.channels = list(dict.fromkeys(row.channel or "" for row in self.rows if row.kind == SEND))
        self.not_fifo = self._overtaken()
        self.labels = list(_labels(self.rows, self.processes, self.receive_of))

    def scenario(self, name: str) -> Scenario:
        """See `retell`."""
        times, story = self._times()
        lines: list[ScriptLine] = []
        delays: dict[Address, float] = {}
        sent: Counter[str] = Counter()
        for place, row in enumerate(self.rows):
            if row.kind == SEND:
                channel = row.channel or ""
                receive = self.receive_of.get(row.message_id)
                sent[channel] += 1
                delays[Address(None, channel, APP, None, sent[channel])] = (
                    HOLD if receive is None else times[receive] - times[place]
                )
                names = (self.labels[place], None if receive is None else self.labels[receive])
                target = channel.partition("->")[2]
                lines.append(ScriptLine(row.process, times[place], None, target, _body(row, names), *names))
            elif row.message_id not in self.receive_of or row.kind != RECEIVE:
                lines.append(ScriptLine(row.process, times[place], None, None, _body(row), self.labels[place]))
        edges = tuple((source, target) for source, _, target in (name.partition("->") for name in self.channels))
        return Scenario(
            name,
            self.processes,
            title=name,
            story=story,
            topology=Topology("listed", channels=edges),
            not_fifo=self.not_fifo,
            delays=delays,
            script=tuple(lines),
        )

    def _overtaken(self) -> tuple[str, ...]:
        """The channels on which a message arrives before one that was sent before it."""
        arrivals: dict[str, list[float]] = defaultdict(list)
        for row in self.rows:
            if row.kind == SEND:
                arrivals[row.channel or ""].append(self.receive_of.get(row.message_id, HOLD))
        return tuple(name for name, places in arrivals.items() if any(a > b for a, b in pairwise(places)))

    # ------------------------------------------------------------------ times

    def _times(self) -> tuple[list[float], str]:
        """When each row happens, and what the story says of it."""
        times = [row.time for row in self.rows]
        story = f"Rows {self.rows[0].row} to {self.rows[-1].row} of a table of events." if self.rows else ""
        begin = min(times, default=0.0)
        if begin < 0 or begin > _FAR * (max(times, default=0.0) - begin):
            times = [time - begin for time in times]
            story += f" Its time {begin:g} is time 0 here."
        for candidate in (times, _spread(times)):
            if self._keeps_order(candidate):
                return candidate, story
        return [float(place) for place in range(1, len(self.rows) + 1)], f"{story} Time is the number of the row."

    def _keeps_order(self, times: Sequence[float]) -> bool:
        """Whether a timed scheduler carries out the rows in their order: by time, lines before deliveries, ..."""
        number_of = {name: number for number, name in enumerate(self.channels)}
        busy_until: dict[str, float] = defaultdict(float)
        due: dict[int, tuple[float, int, int, int]] = {}
        keys = []
        for place, row in enumerate(self.rows):
            keys.append(due.pop(place, (times[place], 0, place, 0)))
            receive = self.receive_of.get(row.message_id) if row.kind == SEND else None
            if receive is not None:
                channel = row.channel or ""
                arrival = times[place] + (times[receive] - times[place])
                if channel not in self.not_fifo:
                    arrival = in_order(arrival, busy_until, channel)
                due[receive] = (arrival, 1, number_of[channel], place)
        return all(a < b for a, b in pairwise(keys)) and all(0 <= key[0] < MOST_NUMBER for key in keys)


def _spread(times: Sequence[float]) -> list[float]:
    """Rows of one moment a little apart, in their order, before the next moment."""
    moments = sorted(set(times))
    gaps = [b - a for a, b in pairwise(moments)]
    typical = median(gaps) if gaps else 1.0
    gap_after = dict(zip(moments, [*gaps, typical], strict=False))
    count = Counter(times)
    seen: Counter[float] = Counter()
    found = []
    for time in times:
        room = min(gap_after[time], typical) * _SPREAD
        found.append(time + room * seen[time] / count[time])
        seen[time] += 1
    return found


# --------------------------------------------------------------------------- names and bodies


def _labels(
    rows: Sequence[Event], processes: Sequence[str], received: Mapping[int | None, int]
) -> Iterator[str | None]:
    """What each row's event is called here (None: by its place)."""
    texts = [_text(row) for row in rows]
    partners = Counter((row.process, row.index) for row in rows)
    uses = Counter(
        text for text, _, _ in {(text, row.process, row.index) for text, row in zip(texts, rows, strict=True)}
    )
    part: Counter[tuple[str, int | None]] = Counter()
    here: Counter[str] = Counter()
    taken: set[str] = set()
    for row, text in zip(rows, texts, strict=True):
        event = (row.process, row.index)
        here[row.process] += 1
        part[event] += 1
        notes = [label_of(row.process, row.index or 0, None)]
        if partners[event] > 1:
            notes.append(f"{part[event]} of {partners[event]}")
        if row.kind == RECEIVE and row.message_id not in received:
            notes.append(f"receives on {row.channel} what was sent before")
        is_bare = len(notes) == 1
        if is_bare and not text and here[row.process] == row.index:
            yield None
            continue
        label = text
        if not is_bare or not text or uses[text] > 1 or _is_numbered(text, processes):
            label = f"{text} ({', '.join(notes)})".strip()
        while label in taken:
            label += "'"
        taken.add(label)
        yield label


def _text(row: Event) -> str:
    """The event's own label, not too long; empty where it has none but its place."""
    label = (row.label or "").strip()
    if label == label_of(row.process, row.index or 0, None):
        return ""
    return label if len(label) <= MOST_LABEL else label[: MOST_LABEL - 1] + "…"


def _is_numbered(text: str, processes: Sequence[str]) -> bool:
    """Whether a scenario takes it for the name of an event without a label, as it would P1.3."""
    process, _, index = text.rpartition(".")
    return process in processes and index.isascii() and index.isdigit()


def _body(row: Event, names: tuple[str | None, str | None] = (None, None)) -> Any:
    """The body as a value that a scenario can hold, else its JSON as text. `names`: of a message's two events."""
    value = None if row.body is None else json.loads(row.body)
    if value is None:
        return {} if all(names) else None  # where both have names, these would be its body
    fits = isinstance(value, str | int | float | dict | list) and not isinstance(value, bool) and is_plain(value)
    return value if fits and not (isinstance(value, int) and abs(value) >= MOST_NUMBER) else row.body
