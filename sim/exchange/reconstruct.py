"""The reconstruction of a scripted scenario from an event table, or from a window of it, to open, draw and edit it.

Running the scenario gives the same application events in the same order, and the same messages. A window may cut a
message off: a message that is not received inside the window is held; a receive whose send is before the window becomes
an internal event whose label says so. So does the receive of a copy. Events that a recovery has taken back are left
out.

Labels. A scenario needs unique labels and at most one send or receive per event. An event keeps its label, shortened if
necessary. Its process and index in the table follow if labels are equal: `flush (P2.17)`. If an event with several
partners becomes several events, their number follows as well: `flush (P2.17, 1 of 3)`. An event without a label is
called `(P2.17)`, unless it has the same number in the scenario.

Times. Events happen at the times of the table. If the scheduler would then change their order, simultaneous events are
spread out; if it still would, events happen at 1, 2, 3, ... The times of a window far from time 0 count from its start.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from sim.core.delays import HOLD
from sim.core.model import APP, APPLICATION_KINDS, RECEIVE, SEND, Event, MessageReference, label_of
from sim.core.scheduler import in_order
from sim.core.topology import Topology
from sim.document.scenario import Scenario, ScriptLine
from sim.document.toml_table import MOST_NUMBER, is_plain
from sim.document.validate import is_numbered
from sim.theory.surviving import is_gone, renumbered

MOST_LABEL = 60  # letters
_FAR = 100  # a window is far from time 0 if it begins later than this many times its length
_SPREAD = 0.7  # simultaneous events are spread over this part of the time to the next event


def reconstruct(events: Sequence[Event], processes: Sequence[str], name: str, *, reacts: bool = False) -> Scenario:
    """The scenario called `name`, with all `processes`, whose run has the application events in `events`.

    `events` holds rows of one run, in order. Snapshots are left out. `reacts`: the workload of the scenario reacts by
    itself, so the script leaves out each message that was sent in one step with another event.
    """
    return _Reconstruction(events, processes, reacts=reacts).scenario(name)


class _Reconstruction:
    """The application rows. Each becomes a script line, or the delivery of a message that a line sends."""

    def __init__(self, events: Sequence[Event], processes: Sequence[str], *, reacts: bool) -> None:
        self.processes = tuple(processes)
        self.rows = [event for event in _surviving(events) if event.kind in APPLICATION_KINDS]
        self.send_of = {row.message_id: number for number, row in enumerate(self.rows) if row.kind == SEND}
        self.receive_of = {
            row.message_id: number
            for number, row in enumerate(self.rows)
            if row.kind == RECEIVE and row.message_id in self.send_of
        }
        self.channels = list(dict.fromkeys(row.channel or "" for row in self.rows if row.kind == SEND))
        self.not_fifo = self._overtaken()
        self.cause_of = dict(_answers(self.rows)) if reacts else {}
        self.labels = list(_labels(self.rows, self.processes, self.receive_of))

    def scenario(self, name: str) -> Scenario:
        """See `reconstruct`."""
        times, story = self._times()
        lines: list[ScriptLine] = []
        delays: dict[MessageReference, float] = {}
        sent: Counter[str] = Counter()
        for number, row in enumerate(self.rows):
            if row.kind == SEND:
                channel = row.channel or ""
                receive = self.receive_of.get(row.message_id)
                sent[channel] += 1
                delays[MessageReference(None, channel, APP, None, sent[channel])] = (
                    HOLD if receive is None else times[receive] - times[number]
                )
                names = (self.labels[number], None if receive is None else self.labels[receive])
                target = channel.partition("->")[2]
                if number in self.cause_of:
                    continue
                lines.append(ScriptLine(row.process, times[number], None, target, _body(row, names), *names))
            elif row.message_id not in self.receive_of or row.kind != RECEIVE:
                lines.append(ScriptLine(row.process, times[number], None, None, _body(row), self.labels[number]))
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
        """The names of the channels on which a message overtakes another."""
        arrivals: dict[str, list[float]] = defaultdict(list)
        for row in self.rows:
            if row.kind == SEND:
                arrivals[row.channel or ""].append(self.receive_of.get(row.message_id, HOLD))
        return tuple(name for name, numbers in arrivals.items() if any(a > b for a, b in pairwise(numbers)))

    # ------------------------------------------------------------------ times

    def _times(self) -> tuple[list[float], str]:
        """A time for each row, and a story that names the source of the times."""
        times = [row.time for row in self.rows]
        story = f"Rows {self.rows[0].row} to {self.rows[-1].row} of a table of events." if self.rows else ""
        begin = min(times, default=0.0)
        if begin < 0 or begin > _FAR * (max(times, default=0.0) - begin):
            times = [time - begin for time in times]
            story += f" Its time {begin:g} is time 0 here."
        for candidate in map(self._with_causes, (times, _spread(times))):
            if self._keeps_order(candidate):
                return candidate, story
        numbers = [float(number) for number in range(1, len(self.rows) + 1)]
        return self._with_causes(numbers), f"{story} Time is the number of the row."

    def _with_causes(self, times: Sequence[float]) -> list[float]:
        """The times, but a message that is sent in one step with another event has the time of that event."""
        return [times[self.cause_of.get(number, number)] for number in range(len(times))]

    def _keeps_order(self, times: Sequence[float]) -> bool:
        """Whether the timed scheduler, with its rules for ties, carries out the rows in their order."""
        number_of = {name: number for number, name in enumerate(self.channels)}
        busy_until: dict[str, float] = defaultdict(float)
        due: dict[int, tuple[float, int, int, int]] = {}
        keys = []
        for number, row in enumerate(self.rows):
            if number not in self.cause_of:
                keys.append(due.pop(number, (times[number], 0, number, 0)))
            receive = self.receive_of.get(row.message_id) if row.kind == SEND else None
            if receive is not None:
                channel = row.channel or ""
                arrival = times[number] + (times[receive] - times[number])
                if channel not in self.not_fifo:
                    arrival = in_order(arrival, busy_until, channel)
                due[receive] = (arrival, 1, number_of[channel], number)
        return all(a < b for a, b in pairwise(keys)) and all(0 <= key[0] < MOST_NUMBER for key in keys)


def _answers(rows: Sequence[Event]) -> Iterator[tuple[int, int]]:
    """The sends that are part of the step of another event, each with the number of that event's row."""
    first: dict[int, int] = {}  # by step
    for number, row in enumerate(rows):
        if row.kind == SEND and row.step in first:
            yield number, first[row.step]
        first.setdefault(row.step, number)


def _surviving(events: Sequence[Event]) -> Iterator[Event]:
    """The rows that no recovery has taken back, numbered without gaps. An event without a label has its new name."""
    for before, event in zip(events, renumbered(events), strict=True):
        if is_gone(event):
            continue
        if before.index is not None and before.label == label_of(event.process, before.index, None):
            event = event._replace(label=label_of(event.process, event.index or 0, None))
        yield event


def _spread(times: Sequence[float]) -> list[float]:
    """`times` with simultaneous rows spread out, in their order, before the next time."""
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
    """The label of each row's event in the scenario (None: no label)."""
    texts = [_text(row) for row in rows]
    partners = Counter((row.process, row.index) for row in rows)
    uses = Counter(
        text for text, _, _ in {(text, row.process, row.index) for text, row in zip(texts, rows, strict=True)}
    )
    part: Counter[tuple[str, int | None]] = Counter()
    here: Counter[str] = Counter()
    taken: set[str] = set()
    sends = {(row.process, row.index) for row in rows if row.kind == SEND}
    for row, text in zip(rows, texts, strict=True):
        event = (row.process, row.index)
        here[row.process] += 1
        part[event] += 1
        notes = [label_of(row.process, row.index or 0, None)]
        if partners[event] > 1:
            notes.append(f"{part[event]} of {partners[event]}")
        if row.kind == RECEIVE and row.message_id not in received:
            is_copy = ((row.channel or "").partition("->")[0], row.peer_index) in sends
            notes.append(f"receives {'a copy' if is_copy else 'what was sent before'} on {row.channel}")
        is_bare = len(notes) == 1
        if is_bare and not text and here[row.process] == row.index:
            yield None
            continue
        label = text
        if not is_bare or not text or uses[text] > 1 or is_numbered(processes, text):
            label = f"{text} ({', '.join(notes)})".strip()
        while label in taken:
            label += "'"
        taken.add(label)
        yield label


def _text(row: Event) -> str:
    """The label of the event, shortened to MOST_LABEL; empty if it has none or only its number."""
    label = (row.label or "").strip()
    if label == label_of(row.process, row.index or 0, None):
        return ""
    return label if len(label) <= MOST_LABEL else label[: MOST_LABEL - 1] + "…"


def _body(row: Event, names: tuple[str | None, str | None] = (None, None)) -> Any:
    """The body as a value, or as JSON text if no scenario can hold the value. `names`: labels of send and receive."""
    value = None if row.body is None else json.loads(row.body)
    if value is None:
        return {} if all(names) else None  # None would become the two labels
    fits = isinstance(value, str | int | float | dict | list) and not isinstance(value, bool) and is_plain(value)
    return value if fits and not (isinstance(value, int) and abs(value) >= MOST_NUMBER) else row.body
