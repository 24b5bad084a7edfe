"""Every step of an execution as a sentence, in the words of its algorithm and workload."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from sim.core.algorithm import BY_NOTHING
from sim.core.deadline import in_time
from sim.core.model import (
    APPLICATION_KINDS,
    BLOCKED,
    CHANNEL_CLOSED,
    COLLECTED,
    CONTROL_RECEIVE,
    CONTROL_SEND,
    CRASH,
    DECISION,
    FULL,
    INTERNAL,
    MARKER_CARRIED,
    MARKER_RECEIVE,
    MARKER_SEND,
    NOTED,
    OUTPUT,
    PAUSED,
    RECEIVE,
    RECORD,
    RECORDED,
    RESUMED,
    ROOM,
    SEND,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    STATE_CHANGED,
    TIMER,
    UNBLOCKED,
    Crash,
    Event,
    Initiate,
    Restart,
)
from sim.core.notation import has_label
from sim.explain import words
from sim.explain.faults import KINDS as FAULT_ROWS
from sim.explain.faults import sentences_of_faults
from sim.explain.rollbacks import KINDS as RECOVERY_ROWS
from sim.explain.rollbacks import arrival_words, clauses_of_recovery, output_words, sentences_of_recovery
from sim.explain.standstills import back_pressure_in_words, standstill_fields
from sim.explain.words import words_of
from sim.run.execution import Execution, Flight, once
from sim.run.rollbacks import events_inside
from sim.run.snapshots import Snapshot, snapshots_of
from sim.services.words import decision_words

START = "Nothing has happened yet: every process is in its initial state and every channel is empty."


APPLICATION_EVENT = "Application event"  # the badge of a step that carries out no rule of the algorithm
FAULT = "Fault"  # the badge of a step that is the world's


class StepText(NamedTuple):
    """The names of the clauses that a step carries out (empty: there is nothing to name), and its sentence."""

    rules: tuple[str, ...]
    sentence: str

    @property
    def badge(self) -> str:
        """What stands beside the sentence: the first of `rules`."""
        return self.rules[0] if self.rules else ""


def sentences(execution: Execution) -> list[str]:
    """One sentence for each step, from step 0, the initial state."""
    return [text.sentence for text in narrate(execution)]


def narrate(execution: Execution, first: int = 0, last: int | None = None) -> list[StepText]:
    """The texts of the steps `first` to `last`, both included. Step 0 is the initial state."""
    last = execution.steps if last is None else min(last, execution.steps)
    low, high = (bisect_left(execution.events, step, key=lambda event: event.step) for step in (first, last + 1))
    rows = {step: list(group) for step, group in groupby(execution.events[low:high], key=lambda event: event.step)}
    narrator = narrator_of(execution)
    return [narrator.step_text(step, rows.get(step, [])) for step in in_time(range(first, last + 1), every=1)]


@once
def narrator_of(execution: Execution) -> Narrator:
    """The narrator of an execution."""
    return Narrator(execution)


class Narrator:
    """Writes the texts of the steps of one execution."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self.algorithm = execution.engine.algorithm
        self.workload = execution.engine.workload
        self.words = words_of(execution)
        self.incoming: dict[str, list[str]] = {name: [] for name in execution.engine.nodes}
        for channel in execution.engine.channels:
            self.incoming[channel.target_name].append(channel.name)
        self.snapshots = {snapshot.id: snapshot for snapshot in snapshots_of(execution)}
        ending = {SNAPSHOT_ABORTED} if self.algorithm.closes_by == BY_NOTHING else {SNAPSHOT_ABORTED, SNAPSHOT_COMPLETE}
        # (process, snapshot) -> number of the row that ended it there
        self.ended: dict[tuple[str, str | None], int] = {}
        self.thrown: set[int] = set()  # the rows in which a process throws away what it has recorded
        recorded: set[tuple[str, str | None]] = set()
        for event in execution.events:
            if event.kind == RECORD:
                recorded.add((event.process, event.snapshot_id))
            elif event.kind == CRASH:
                recorded = {own for own in recorded if own[0] != event.process}
            elif event.kind == SNAPSHOT_ABORTED and (event.process, event.snapshot_id) in recorded:
                self.thrown.add(event.row)
            if event.kind in ending:
                self.ended.setdefault((event.process, event.snapshot_id), event.row)

    def step_text(self, step: int, rows: Sequence[Event]) -> StepText:
        """The text of a step, from its rows."""
        if step == 0:
            return StepText((), START)
        if not rows:
            return self._nothing(step)
        rules, parts = self._rules_and_sentences(rows)
        done = [name for name, snapshot in self.snapshots.items() if snapshot.completed == step]
        if done and not self.algorithm.coordinated:
            made, of = ("a copy", "for") if self.algorithm.records_once else ("the last copy", "of")
            which = f" {of} {words.listing(done)}" if len(self.snapshots) > 1 else ""
            parts.append(f"Everybody has made {made}{which}.")
        elif done:
            parts.append(f"Every process is done: {words.listing(done)} is complete.")
        return StepText(rules, " ".join(" ".join(parts).split()))  # one line, even if a message has several

    def _rules_and_sentences(self, rows: Sequence[Event]) -> tuple[tuple[str, ...], list[str]]:
        """The rules of a step, and its sentences: one per snapshot for the algorithm, and one per application event.

        The receive of a message comes first, unless the process recorded before it: then it is part of that sentence.
        """
        faults = [row for row in rows if row.kind in FAULT_ROWS]
        if faults:
            also, told = self._of_services(rows)
            return (FAULT, *also), sentences_of_faults(self.execution, faults) + told
        if any(row.kind in RECOVERY_ROWS for row in rows):
            return self._recovery(rows)
        outputs = output_words(self.execution, rows)
        if outputs:
            also, told = self._rules_and_sentences([row for row in rows if row.kind != OUTPUT])
            return also, told + outputs
        if not rows:
            return (APPLICATION_EVENT,), []
        events = [row for row in rows if row.kind in APPLICATION_KINDS]
        kept = [row for row in rows if row.kind == RECORDED and self._is_in_snapshot(row)]
        told_with_events = APPLICATION_KINDS | {MARKER_CARRIED, FULL, ROOM} | ({RECORDED} if events else set())
        own = [row for row in rows if row.kind not in told_with_events]
        ranked = sorted(own, key=lambda row: self._rank(own, row))
        is_answer = any(row.kind in (MARKER_RECEIVE, CONTROL_RECEIVE, TIMER) for row in own)
        control = [
            self._algorithm_text(list(group), events, is_answer=is_answer)
            for _, group in groupby(ranked, key=lambda row: self._rank(own, row))
        ]
        application = [self.application_event(row, kept) for row in events]
        algorithm = [part.sentence for part in control]
        rules = [rule for part in control for rule in part.rules]
        if events and kept:
            rules.append(self.algorithm.all_captions["kept"].rule)
        if any(row.kind == MARKER_CARRIED for row in rows):
            rules.append(self.algorithm.all_captions["carries"].rule)
        came_first = bool(events) and events[0].kind == RECEIVE and not _recorded_before(own, events[0])
        named = tuple(dict.fromkeys(filter(None, rules))) or (APPLICATION_EVENT,)
        back_pressure = [back_pressure_in_words(self.execution, row) for row in rows if row.kind in (FULL, ROOM)]
        return named, (application + algorithm if came_first else algorithm + application) + back_pressure

    def _recovery(self, rows: Sequence[Event]) -> tuple[tuple[str, ...], list[str]]:
        """A step in which the system goes back, or fences off what is left of a life that is over."""
        own = [row for row in rows if row.kind in RECOVERY_ROWS or row.kind == SNAPSHOT_ABORTED]
        others = [row for row in rows if row not in own]
        rules, told = self._rules_and_sentences(others) if others else ((), [])
        named = (rule for rule in rules if rule != APPLICATION_EVENT)
        clauses = dict.fromkeys((*clauses_of_recovery(own), *named))
        return tuple(clauses), sentences_of_recovery(self.execution, own) + told

    def _of_services(self, rows: Sequence[Event]) -> tuple[tuple[str, ...], list[str]]:
        """What services do in the step of a fault, of which they hear at once."""
        processes = self.execution.scenario.processes
        own = [row for row in rows if row.kind not in FAULT_ROWS and row.process not in processes]
        rules, told = self._rules_and_sentences(own) if own else ((), [])
        return rules, told

    def _rank(self, own: Sequence[Event], row: Event) -> int:
        """The place of a row's snapshot among those of the step. A row without a snapshot belongs to the first."""
        names = list(dict.fromkeys(other.snapshot_id for other in own if other.snapshot_id is not None))
        return names.index(row.snapshot_id) if row.snapshot_id in names else 0

    def _nothing(self, step: int) -> StepText:
        """The text of a step without rows: a service starts, or a process initiates without recording."""
        engine = self.execution.engine
        item = next((number for number, done in self.execution.step_of_item.items() if done == step), None)
        action = None if item is None else engine.agenda[item].action
        if isinstance(action, Crash | Restart):
            name, how = engine.processes[action.process], "down" if isinstance(action, Crash) else "up"
            return StepText((), f"{name} is {how} already: nothing happens.")
        if not isinstance(action, Initiate):
            return StepText((), "A service begins its work; nothing can be seen of it yet.")
        process = engine.nodes[action.process]
        snapshot = action.snapshot
        own = (row for row in self.execution.events if (row.process, row.snapshot_id) == (process, snapshot))
        before = [row.kind for row in own if row.step < step]
        if RECORD not in before:
            asked = self.algorithm.all_captions["asked"]
            return StepText(
                (asked.rule,) if asked.rule else (), asked.sentence.format(process=process, snapshot=snapshot)
            )
        why = "has given that snapshot up" if SNAPSHOT_ABORTED in before else "has already recorded for it"
        rule = self.algorithm.all_captions["initiates"].rule.format(title=self.algorithm.title)
        return StepText((rule,), f"{process} is asked to start {snapshot}, but it {why}: nothing happens.")

    def recorded(self, snapshot: Snapshot, channel: str) -> str:
        """The recorded state of a channel, such as <H->D> or <empty>."""
        return words.sequence([self.words.message(self._flight(own.id)) for own in snapshot.recorded_in(channel)])

    def _flight(self, message: int | None) -> Flight:
        return self.execution.flights[message or 0]

    # ------------------------------------------------------------------ application events

    def application_event(self, row: Event, kept: Sequence[Event] = ()) -> str:
        """The sentence of an application event; `kept` are the rows that keep messages for a snapshot meanwhile."""
        lead = f"{row.label}: " if has_label(row) else ""
        if row.kind == INTERNAL:
            return f"{lead}{row.process} {self.workload.internal_words(self.execution.body_of(row))}."
        flight = self._flight(row.message_id)
        what = self.words.message(flight)
        channel = self.words.channel(row.channel or "")
        sent = flight.send.label or ""
        stamp = self.words.stamp(flight)
        stamped = f", stamped {stamp}," if stamp else ""
        carried = "a message" if what == sent or what.startswith(f"{sent}->") else what
        if row.kind == SEND:
            return f"{lead}{row.process} sends {carried}{stamped} to {flight.channel.target_name} on {channel}."
        if carried != what and has_label(flight.send):
            carried = f"the message sent at {sent}"
        about = arrival_words(self.execution, row)
        source = flight.channel.source_name
        sentence = f"{lead}{row.process} receives {carried}{stamped} from {source} on {channel}{about}."
        snapshots = [own.snapshot_id or "" for own in kept if own.message_id == row.message_id]
        if snapshots:
            fields = {**self._fields(row, snapshots[0]), "snapshots": words.listing(snapshots), "stamp": stamp}
            sentence += f" {self.algorithm.all_captions['kept'].sentence.format(**fields)}"
        return sentence

    def _is_in_snapshot(self, row: Event) -> bool:
        """Whether the message recorded in `row` was not discarded later."""
        snapshot = self.snapshots[row.snapshot_id or ""]
        return any(message.id == row.message_id for message in snapshot.recorded_messages)

    # ------------------------------------------------------------------ the snapshot algorithm

    def _algorithm_text(self, rows: Sequence[Event], events: Sequence[Event], *, is_answer: bool) -> StepText:
        """The text of what the algorithm did for one snapshot in one step; `is_answer`: something came in this step."""
        first = rows[0]
        situation = self.algorithm.situation(self._situation(rows, events, is_answer=is_answer), rows)
        fields = self._fields(first, first.snapshot_id or "")
        came = next((row for row in events if row.kind == RECEIVE), None)
        if came is not None:
            flight = self._flight(came.message_id)
            fields |= {
                "message": self.words.message(flight), "source": flight.channel.source_name,
                "channel": self.words.channel(flight.channel.name), "stamp": self.words.stamp(flight),
            }  # fmt: skip
        nothing = self.algorithm.all_clauses["nothing"].format(**fields)
        clauses = words.clauses(list(self._clauses(rows, fields))) or nothing
        caption = self.algorithm.all_captions[situation]
        sentence = caption.sentence.format(**fields, clauses=clauses)
        return StepText((caption.rule.format(**fields),), self.words.begun(sentence))

    def _situation(self, rows: Sequence[Event], events: Sequence[Event], *, is_answer: bool) -> str:
        """The key of the caption: what happened to the process, and whether it recorded."""
        kinds = [row.kind for row in rows]
        came = {MARKER_RECEIVE: "marker", CONTROL_RECEIVE: "control", TIMER: "timer"}.get(kinds[0])
        if came is None and events:
            came = "message" if events[0].kind == RECEIVE else "own"
        if came is None and is_answer:
            came = "own"  # the answer to what came for another snapshot
        if came is None:
            return "starts" if rows[0].snapshot_id is None else "initiates"
        is_later = came == "message" and not _recorded_before(rows, events[0])  # it records what it has received
        if RECORD in kinds and came != "own" and not is_later:
            return f"{came}_records"
        ended = self.ended.get((rows[0].process, rows[0].snapshot_id), rows[0].row)
        return "marker_late" if came == "marker" and ended < rows[0].row else came

    def _fields(self, row: Event, snapshot: str) -> dict[str, str]:
        """The fields of a caption that depend on one row."""
        fields = {
            "process": self.words.node(row.process), "snapshot": snapshot,
            "title": self.algorithm.title, "marker": self.algorithm.marker,
            "of": f" of {snapshot}" if snapshot and len(self.snapshots) > 1 else "",
            "per": f" for {snapshot}" if snapshot and len(self.snapshots) > 1 else "",
            "control": self.algorithm.control_message,
            "source": self.words.node((row.channel or "").partition("->")[0]),
            "channel": self.words.channel(row.channel or ""),
            "timer": row.label or "", "message": "", "content": "", "stamp": "",
        }  # fmt: skip
        if row.kind == CONTROL_RECEIVE:
            fields["content"] = self.words.control(self._flight(row.message_id))
        return fields

    def _recorded_state(self, record: Event) -> str:
        inside = events_inside(self.execution, record)
        return self.words.state(self.execution.body_of(record), [event.label or "" for event in inside])

    def _clauses(self, rows: Sequence[Event], fields: dict[str, str]) -> Iterator[str]:
        """The clauses for what a process does for one snapshot in one step, without empty ones."""
        for key, more in self._clause_keys(rows):
            text = self.algorithm.all_clauses[key].format(**{**fields, **more})
            if text:
                yield text

    def _clause_keys(self, rows: Sequence[Event]) -> Iterator[tuple[str, dict[str, str]]]:
        """The keys of the clauses in order, each with the fields of that clause."""
        process, snapshot = rows[0].process, self.snapshots.get(rows[0].snapshot_id or "")
        by_kind: dict[str, list[Event]] = {}
        for row in rows:
            by_kind.setdefault(row.kind, []).append(row)
        on = {kind: [self.words.channel(row.channel or "") for row in own] for kind, own in by_kind.items()}
        closed = [row.channel or "" for row in by_kind.get(CHANNEL_CLOSED, ())]
        record = by_kind.get(RECORD, [None])[-1]
        if PAUSED in on:
            yield "pause", {}
        if record is not None:
            yield "record", {"state": self._recorded_state(record)}
        if STATE_CHANGED in on:
            yield "changed", {"state": self._recorded_state(by_kind[STATE_CHANGED][-1])}
        for row in by_kind.get(DECISION, ()):
            yield "decided", {"decision": decision_words(row.snapshot_id or "", self.execution.body_of(row))}
        if NOTED in on:
            yield "noted", {"note": self.algorithm.note_words(self.execution.body_of(by_kind[NOTED][-1]))}
        knows_first = self._knows_first([row.kind for row in rows])
        if knows_first:
            yield "collected", {}
        if RECORDED in on:
            kept = [self.words.message(self._flight(row.message_id)) for row in by_kind[RECORDED]]
            yield "overtaken", {"messages": words.listing(kept)}
        for name in closed:
            contents = self.recorded(snapshot, name) if snapshot is not None else ""
            is_empty = snapshot is None or not snapshot.channels.get(name)
            key = "close" if record is None else "empty" if is_empty else "close_at_once"
            yield key, {"channel": self.words.channel(name), "contents": contents}
        if MARKER_SEND in on:
            key = "markers" if len(on[MARKER_SEND]) > 1 else "marker"
            are_ahead = all(self.algorithm.goes_ahead(self.execution.body_of(row)) for row in by_kind[MARKER_SEND])
            yield f"{key}_ahead" if are_ahead else key, {"channels": words.listing(on[MARKER_SEND])}
        if CONTROL_SEND in on:
            yield "tells", self._control_fields(by_kind[CONTROL_SEND])
        opened = [self.words.channel(name) for name in self.incoming[process] if name not in closed]
        listens = self.algorithm.initiator_listens or snapshot is None or process not in snapshot.initiators
        if record is not None and opened and listens:
            yield "listens", {"channels": words.listing(opened)}
        for kind, key in ((BLOCKED, "block"), (UNBLOCKED, "unblock")):
            if kind in on:
                yield key, {"channels": words.listing(on[kind])}
        if RESUMED in on:
            yield "resume", standstill_fields(self.execution, by_kind[RESUMED][-1])
        if SNAPSHOT_COMPLETE in on:
            yield "done", {}
        for row in by_kind.get(SNAPSHOT_ABORTED, ()):
            yield "abort" if row.row in self.thrown else "ignore", {"snapshot": row.snapshot_id or ""}
        if COLLECTED in on and not knows_first:
            yield "collected", {}

    @staticmethod
    def _knows_first(kinds: Sequence[str]) -> bool:
        """Whether a process closes channels or tells others because it knows that every part is there."""
        follows = kinds[kinds.index(COLLECTED) :] if COLLECTED in kinds else ()
        return CHANNEL_CLOSED in follows or CONTROL_SEND in follows

    def _control_fields(self, rows: Sequence[Event]) -> dict[str, str]:
        """The fields for control messages sent. If their contents differ, `content` is the algorithm's word for all."""
        flights = [self._flight(row.message_id) for row in rows]
        contents = {self.words.control(flight) for flight in flights}
        targets = words.listing(list(dict.fromkeys(self.words.node(own.channel.target_name) for own in flights)))
        return {"targets": targets, "content": contents.pop() if len(contents) == 1 else self.algorithm.control}


def _recorded_before(rows: Sequence[Event], event: Event) -> bool:
    """Whether one of `rows` records the process's state before `event` of the same step."""
    return any(row.kind == RECORD and row.row < event.row for row in rows)
