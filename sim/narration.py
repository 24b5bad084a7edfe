"""Every step in plain words that name the rule."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from sim import words
from sim.execution import Execution, Flight
from sim.model import (
    APPLICATION_KINDS,
    CHANNEL_CLOSED,
    INTERNAL,
    MARKER_RECEIVE,
    MARKER_SEND,
    RECORD,
    SEND,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    Event,
)
from sim.snapshots import Snapshot, snapshots_of

START = "Nothing has happened yet: every process is in its initial state and every channel is empty."


class Told(NamedTuple):
    """A step told: the rule it follows, and the sentence."""

    rule: str
    sentence: str


def sentences(execution: Execution) -> list[str]:
    """One sentence for each step, from 0 (the initial state) on."""
    return [told.sentence for told in narrate(execution)]


def narrate(execution: Execution, first: int = 0, last: int | None = None) -> list[Told]:
    """The steps `first` to `last` told, both included; from 0 (the initial state) to the end where not given."""
    last = execution.steps if last is None else min(last, execution.steps)
    low, high = (bisect_left(execution.events, step, key=lambda event: event.step) for step in (first, last + 1))
    rows = {step: list(group) for step, group in groupby(execution.events[low:high], key=lambda event: event.step)}
    narrator = Narrator(execution)
    return [narrator.tell(step, rows.get(step, [])) for step in range(first, last + 1)]


class Narrator:
    """Tells the steps of one execution, each by itself."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self.caption = words.captions(execution.scenario.processes, execution.engine.channels)
        self.incoming: dict[str, list[str]] = {name: [] for name in execution.scenario.processes}
        for channel in execution.engine.channels:
            self.incoming[channel.target_name].append(channel.name)
        self.snapshots = {snapshot.id: snapshot for snapshot in snapshots_of(execution)}
        self.recorders: dict[int, list[str]] = {}  # message id -> snapshots that record it
        for snapshot in self.snapshots.values():
            for message in snapshot.recorded_messages:
                self.recorders.setdefault(message.id, []).append(snapshot.id)

    def tell(self, step: int, rows: Sequence[Event]) -> Told:
        """The sentence of a step from its rows."""
        if step == 0:
            return Told("", START)
        if not rows:
            return self._nothing(step)
        own = [row for row in rows if row.kind not in APPLICATION_KINDS]
        events = [row for row in rows if row.kind in APPLICATION_KINDS]
        parts = [self._control(own, causes=events)] if own else []
        if events:
            parts.append(Told("Application event", " ".join(map(self._one, events))))
        told = Told(parts[0].rule, " ".join(part.sentence for part in parts))
        done = [name for name, snapshot in self.snapshots.items() if snapshot.completed == step]
        if done:
            told = told._replace(sentence=f"{told.sentence} Every process is done: {words.listing(done)} is complete.")
        return told._replace(sentence=" ".join(told.sentence.split()))  # one line, whatever a message says

    def _nothing(self, step: int) -> Told:
        action = next(action for number, _, action in self.execution.initiations if number == step)
        process = self.execution.engine.processes[action.process]
        return Told(
            "Initiating twice does nothing",
            f"{process} was to start {action.snapshot}, but has already recorded for it: nothing happens.",
        )

    def name(self, flight: Flight) -> str:
        """What a message carries, or its name."""
        return words.body(flight.body, flight.send.label or "")

    def recorded(self, snapshot: Snapshot, channel: str) -> str:
        """The recorded state of a channel, such as <H->D> or <empty>."""
        messages = snapshot.channels.get(channel, ())
        return words.sequence([self.name(self.execution.flights[message.id]) for message in messages])

    # ------------------------------------------------------------------ application events

    def _one(self, row: Event) -> str:
        lead = "" if row.label == f"{row.process}.{row.index}" else f"{row.label}: "
        if row.kind == INTERNAL:
            return f"{lead}{row.process} has an internal event."
        flight = self.execution.flights[row.message_id or 0]
        what = self.name(flight)
        channel = self.caption[row.channel or ""]
        sent = flight.send.label or ""
        carried = "a message" if what == sent or what.startswith(f"{sent}->") else what
        if row.kind == SEND:
            return f"{lead}{row.process} sends {carried} to {flight.channel.target_name} on {channel}."
        if carried != what and "." not in sent:
            carried = f"the message sent at {sent}"
        sentence = f"{lead}{row.process} receives {carried} from {flight.channel.source_name} on {channel}."
        recorders = self.recorders.get(flight.id, [])
        if recorders:
            sentence += f" {row.process} is recording {channel} for {words.listing(recorders)}, "
            sentence += "so this message is part of the channel's state."
        return sentence

    # ------------------------------------------------------------------ the snapshot algorithm

    def _control(self, rows: Sequence[Event], causes: Sequence[Event]) -> Told:
        first, process = rows[0], rows[0].process
        own = [row for row in rows if row.snapshot_id == first.snapshot_id]
        of = f" of {first.snapshot_id}" if len(self.snapshots) > 1 else ""
        records = any(row.kind == RECORD for row in own)
        clauses = words.clauses(self._clauses(own, records)) or "changes nothing"
        if first.kind != MARKER_RECEIVE and causes:
            return Told(f"Rule of {self.execution.engine.algorithm.title}", f"{process} {clauses}{of}.")
        if first.kind != MARKER_RECEIVE:
            return Told("Marker-sending rule", f"{process} starts snapshot {first.snapshot_id}: it {clauses}.")
        source = (first.channel or "").partition("->")[0]
        if records:
            rule = "Marker-receiving rule, first marker"
            return Told(rule, f"{process} receives its first marker{of}, from {source}: it {clauses}.")
        rule = "Marker-receiving rule, not the first marker"
        return Told(rule, f"{process} receives the marker{of} from {source}, not its first: it {clauses}.")

    def _recorded_state(self, rows: Sequence[Event]) -> str:
        record = next(row for row in rows if row.kind == RECORD)
        inside = self.execution.history.of[record.process][: record.index]
        return words.state(self.execution.body_of(record), [event.label or "" for event in inside])

    def _clauses(self, rows: Sequence[Event], records: bool) -> list[str]:
        clauses = []
        process = rows[0].process
        snapshot = self.snapshots.get(rows[0].snapshot_id or "")
        closed = [row.channel or "" for row in rows if row.kind == CHANNEL_CLOSED]
        markers = [self.caption[row.channel or ""] for row in rows if row.kind == MARKER_SEND]
        if records and snapshot is not None:
            clauses.append(f"records its state {self._recorded_state(rows)}")
            clauses += [f"marks {self.caption[name]} empty" for name in closed]
        elif snapshot is not None:
            clauses += [
                f"stops recording {self.caption[name]}, whose state is {self.recorded(snapshot, name)}"
                for name in closed
            ]
        if markers:
            clauses.append(f"sends {'markers' if len(markers) > 1 else 'a marker'} on {words.listing(markers)}")
        opened = [self.caption[name] for name in self.incoming[process] if name not in closed]
        if records and opened:
            clauses.append(f"starts recording {words.listing(opened)}")
        if any(row.kind == SNAPSHOT_COMPLETE for row in rows):
            clauses.append("has done its part")
        if any(row.kind == SNAPSHOT_ABORTED for row in rows):
            clauses.append("throws its recording away")
        return clauses
