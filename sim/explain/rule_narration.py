"""The sentence on the rules that a step carries out: the algorithm's captions and clauses, filled in from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sim.core.algorithm import BY_NOTHING
from sim.core.algorithm_words import Caption
from sim.core.model import (
    BLOCKED,
    CHANNEL_CLOSED,
    COLLECTED,
    CONTROL_RECEIVE,
    CONTROL_SEND,
    CRASH,
    DECISION,
    MARKER_RECEIVE,
    MARKER_SEND,
    NOTED,
    PAUSED,
    RECEIVE,
    RECORD,
    RECORDED,
    RESUMED,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    STATE_CHANGED,
    TIMER,
    UNBLOCKED,
    Event,
)
from sim.explain import words
from sim.explain.standstills import standstill_fields
from sim.explain.words import words_of
from sim.run.execution import Execution
from sim.run.flights import Flight
from sim.run.rollbacks import events_inside
from sim.run.snapshots import Snapshot
from sim.services.words import decision_words


class RuleNarrator:
    """Writes the sentences on what the algorithm of one execution does for its `snapshots`, which are given by id."""

    def __init__(self, execution: Execution, snapshots: Mapping[str, Snapshot]) -> None:
        self.execution = execution
        self.algorithm = execution.engine.algorithm
        self.words = words_of(execution)
        self.snapshots = snapshots
        self.incoming: dict[str, list[str]] = {name: [] for name in execution.engine.nodes}
        for channel in execution.engine.channels:
            self.incoming[channel.target_name].append(channel.name)
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

    def caption(self, rows: Sequence[Event], events: Sequence[Event], *, is_answer: bool) -> Caption:
        """The rule that the algorithm carried out for one snapshot in one step, and its sentence.

        `events` holds the application events of the step. `is_answer`: a marker, control message or timer came in it.
        """
        first = rows[0]
        situation = self.algorithm.situation(self._situation(rows, events, is_answer=is_answer), rows)
        fields = self.fields(first, first.snapshot_id or "")
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
        return Caption(caption.rule.format(**fields), self.words.begun(sentence))

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
        is_later = came == "message" and not recorded_before(rows, events[0])  # it records what it has received
        if RECORD in kinds and came != "own" and not is_later:
            return f"{came}_records"
        ended = self.ended.get((rows[0].process, rows[0].snapshot_id), rows[0].row)
        return "marker_late" if came == "marker" and ended < rows[0].row else came

    def fields(self, row: Event, snapshot: str) -> dict[str, str]:
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
        """The state in a row `record`, in words."""
        inside = events_inside(self.execution, record)
        return self.words.state(self.execution.body_of(record), [event.label or "" for event in inside])

    def _clauses(self, rows: Sequence[Event], fields: dict[str, str]) -> Iterator[str]:
        """The clauses on the work of a process for one snapshot in one step, without empty ones."""
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
            contents = self._recorded(snapshot, name) if snapshot is not None else ""
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

    def _recorded(self, snapshot: Snapshot, channel: str) -> str:
        """The recorded state of a channel, such as <H->D> or <empty>."""
        return words.sequence([self.words.message(self._flight(own.id)) for own in snapshot.recorded_in(channel)])

    def _flight(self, message: int | None) -> Flight:
        return self.execution.flights[message or 0]


def recorded_before(rows: Sequence[Event], event: Event) -> bool:
    """Whether one of `rows` records the process's state before `event` of the same step."""
    return any(row.kind == RECORD and row.row < event.row for row in rows)
