"""The verdicts on a snapshot, as of its completion: what comes later in the table is not read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from sim.core.algorithm import BY_NOTHING
from sim.core.log import to_json
from sim.core.model import Event
from sim.document.scenario import Scenario
from tests.reference.definition import Cut, Element, Meaning

ENDS = ("crash", "leave")
GIVEN_UP = ("aborted", "expired", "failed")
RECORDING = ("record", "snapshot_aborted")


class Judged:
    """One snapshot in the event table of a scenario: who takes part, whether it is complete, its cut, the verdicts."""

    def __init__(self, scenario: Scenario, table: Sequence[Event], snapshot: str) -> None:
        self.scenario, self.table, self.snapshot = scenario, table, snapshot
        self.engine = scenario.engine()
        self.algorithm = self.engine.algorithm
        self.after = table[-1].row + 1 if table else 0  # the number of the row after the last one
        self.all_rows = [row for row in table if row.snapshot_id == snapshot]
        self.end = self._end()
        self.rows = [row for row in self.all_rows if row.row < self.end]
        self.meaning = Meaning(scenario, table, self.end)

    # ------------------------------------------------------------------ who takes part, and whether all is there

    @cached_property
    def _begun(self) -> Mapping[str, Any] | None:
        """What a coordinator noted when it began."""
        notes = (json.loads(row.body or "null") for row in self.all_rows if row.kind == "noted")
        return next((note for note in notes if isinstance(note, dict) and "among" in note), None)

    @cached_property
    def members(self) -> list[str]:
        """Whom a coordinator named; else who is present at the first recording."""
        names = self.scenario.processes
        if self._begun is not None:
            return [name for name in names if name in self._begun["among"]]
        first = next((row.row for row in self.all_rows if row.kind == "record"), self.after)
        present = {name: name not in self.scenario.absent for name in names}
        present |= {
            row.process: row.kind == "join" for row in self.table if row.row < first and row.kind in ("join", "leave")
        }
        return [name for name in names if present[name]]

    @cached_property
    def channels(self) -> list[str]:
        """The channels between two members."""
        return [own.name for own in self.engine.channels if {*own.name.split("->")} <= {*self.members}]

    def _end(self) -> int:
        """The number of the row after the last `snapshot_complete` of a member; of the last row: it is not complete."""
        done = [row.row for row in self.all_rows if row.kind == "snapshot_complete" and row.process in self.members]
        for row in reversed(done):
            if self._is_complete(row + 1):
                return row + 1
        return self.after

    def _is_complete(self, end: int) -> bool:
        """Whether everything is there before a row, and no part of it was lost or given up."""
        if any(row.kind == "snapshot_aborted" and row.row < end for row in self.all_rows):
            return False
        parts = {name: self._part(name, end) for name in self.members}
        if not all(parts.values()) or not parts or self.is_torn(end):
            return False
        if not all(any(row.kind == "snapshot_complete" for row in part) for part in parts.values()):
            return False
        closed = {row.channel for part in parts.values() for row in part if row.kind == "channel_closed"}
        return self.algorithm.closes_by == BY_NOTHING or closed >= {*self.channels}

    def _part(self, name: str, end: int) -> list[Event]:
        """What a process has recorded last, and not lost or discarded: its rows from that recording on."""
        found: list[Event] = []
        is_done = False
        for row in (own for own in self.table if own.row < end):
            if row.process != name:
                continue
            is_own = row.snapshot_id == self.snapshot
            is_taken_back = row.kind == "restore" and bool(found) and (found[0].index or 0) > (row.index or 0)
            if (is_own and row.kind in RECORDING) or (row.kind in ENDS and not is_done) or is_taken_back:
                found, is_done = [], False
            if is_own and (found or row.kind == "record"):
                found.append(row)
                is_done = is_done or row.kind == "snapshot_complete"
        return found

    def is_torn(self, end: int) -> bool:
        """Whether a member left, or crashed before its part was done."""
        ends = (row for row in self.table if row.row < end and row.kind in ENDS and row.process in self.members)
        for row in ends:
            part = self._part(row.process, row.row)
            is_done = any(own.kind == "snapshot_complete" for own in part)
            if (part and not is_done) or (row.kind == "leave" and self._has_begun(row.row)):
                return True
        return False

    def _has_begun(self, end: int) -> bool:
        return any(row.kind == "record" and row.row < end for row in self.all_rows)

    @cached_property
    def status(self) -> str:
        """complete, recording, aborted; with a coordinator what that has decided."""
        decided = [json.loads(row.body or "{}")["outcome"] for row in self.all_rows if row.kind == "decision"]
        if decided:
            return str(decided[0])
        if self._begun is None and self._is_complete(self.end):
            return "complete"
        return "aborted" if any(row.kind == "snapshot_aborted" for row in self.rows) else "recording"

    # ------------------------------------------------------------------ the cut

    @cached_property
    def parts(self) -> dict[str, list[Event]]:
        """What each member has recorded."""
        found = {name: self._part(name, self.end) for name in self.members}
        return {name: part for name, part in found.items() if part}

    @cached_property
    def positions(self) -> Cut:
        """The positions inside: of members those before their recording; of others those that causality requires."""
        lines, causes = self.meaning.lines, self.meaning.causes
        inside: set[Element] = set()
        for name, (record, *_) in self.parts.items():
            before = (own for own in lines[name] if self._last_index(own) <= (record.index or 0))
            inside |= {own for own in before if own.events or own.row < record.row}
        for own in reversed(self.meaning.elements):  # effects come before their causes
            is_other = own.process is not None and own.process not in self.members
            if is_other and any(own in causes[other] for other in inside):
                inside |= {other for other in lines[own.process or ""] if other <= own}
        return frozenset(inside)

    def _last_index(self, element: Element) -> int:
        return max((self.meaning.at[row].index or 0 for row in element.events), default=0)

    def divided(self) -> list[Element]:
        """The steps of which the recorded cut has some events inside and some outside: there are none."""
        at = self.meaning.at
        return [
            own
            for name, (record, *_) in self.parts.items()
            for own in self.meaning.lines[name]
            if own.events and (at[own.events[0]].index or 0) <= (record.index or 0) < self._last_index(own)
        ]

    @cached_property
    def placed(self) -> list[Cut]:
        """The cut at each placing of the losses and copies."""
        return [*self.meaning.placings(self.positions)]

    @cached_property
    def right(self) -> list[Cut]:
        """The placings at which the recorded channels are those of the cut."""
        recorded = {name: self.recorded(name) for name in self.channels}
        states = ((cut, self.meaning.channels_at(cut)) for cut in self.placed)
        return [cut for cut, found in states if all(found[name] == own for name, own in recorded.items())]

    def recorded(self, channel: str) -> list[str]:
        """The bodies that were recorded in a channel: its state where it was closed, else one row for each."""
        rows = [row for row in self.parts.get(channel.partition("->")[2], []) if row.channel == channel]
        bodies = [row.body or "null" for row in rows if row.kind == "recorded"]
        for row in rows:
            if row.kind == "channel_closed":
                bodies = [to_json(body) for body in json.loads(row.body or "[]")]
        return self.meaning.ordered(channel, bodies)

    # ------------------------------------------------------------------ the verdicts

    def verdicts(self) -> dict[str, bool | None]:
        """Whether each check holds; None: it cannot decide."""
        found = {
            "completion": self.status == "complete",
            "one_marker": self._one_marker(),
            "consistency": self._is_consistent() if len(self.parts) == len(self.members) else None,
            "channel_states": bool(self.right) if self.status == "complete" else None,
            "conservation": self._is_conserved() if self.status == "complete" else None,
        }
        return {check: None if self.status in GIVEN_UP else holds for check, holds in found.items()}

    def _one_marker(self) -> bool | None:
        rows = self.rows
        sent = Counter(row.channel for row in rows if row.kind in ("marker_send", "marker_carried"))
        least = 1 if self.status == "complete" else 0
        crashes = {row.process: row.row for row in self.meaning.table if row.kind == "crash"}  # the last one of each
        recorded = (row for row in rows if row.kind == "record")
        forgetful = {row.process for row in recorded if row.row < crashes.get(row.process, 0)}
        judged = [name for name in self.channels if name.partition("->")[0] not in forgetful]
        if not all(least <= sent[name] <= 1 for name in judged):
            return False
        return True if all(least <= sent[name] <= 1 for name in self.channels) else None

    def _is_consistent(self) -> bool:
        """Whether the cut has the causes of all that it has, at some placing."""
        return any(self.meaning.is_consistent(cut) for cut in self.placed)

    def _is_conserved(self) -> bool | None:
        """Whether all goods of the members are in what was recorded, but for what the network lost and copied."""
        cut = [*self.right, *self.placed][0]
        if any(own.kind in ENDS and own.process in self.members for own in cut) or self._has_dealings(cut):
            return None
        workload = self.engine.workload
        found: Counter[str] = Counter()
        for name in self.members:
            found.subtract(workload.measure(workload.initial(name)))
            found.update(workload.measure(self._state(name)))
        bodies = [body for name in self.channels for body in self.recorded(name)]
        bodies += [self._body(own) for own in cut if own.kind == "loses"]
        for body in bodies:
            found.update(workload.measure_body(json.loads(body)))
        for own in cut:
            found.subtract(workload.measure_body(json.loads(self._body(own))) if own.kind == "copies" else {})
        return not any(found.values())

    def _body(self, element: Element) -> str:
        return self.meaning.at[element.row].body or "null"

    def _state(self, name: str) -> Any:
        """What a process has recorded, as it was at last: some rules record no copy."""
        states = [row.body for row in self.parts[name] if row.kind in ("record", "state_changed")]
        return json.loads(states[-1] or "null")

    def _has_dealings(self, cut: Cut) -> bool:
        """Whether a message goes inside the cut between a member and somebody else."""
        rows = [self.meaning.at[number] for own in cut for number in own.events]
        ends = [{*(row.channel or "").split("->")} for row in rows if row.channel is not None]
        members = {*self.members}
        return any(own & members and own - members for own in ends)


def verdicts_from_table(table: Sequence[Event], scenario: Scenario) -> dict[str, dict[str, bool | None]]:
    """By snapshot of a scenario, whether each check holds that its algorithm declares."""
    engine = scenario.engine()
    asked = dict.fromkeys([own.snapshot for own in scenario.snapshots])
    asked |= dict.fromkeys(row.snapshot_id for row in table if row.snapshot_id is not None)
    declared = {*engine.algorithm.checks}
    if not any(engine.workload.measure(engine.workload.initial(name)) for name in scenario.processes):
        declared -= {"conservation"}
    found = {name: Judged(scenario, table, name).verdicts() for name in asked}
    return {name: {check: holds for check, holds in own.items() if check in declared} for name, own in found.items()}
