"""Every step of an execution as a sentence, in the words of its algorithm and workload."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from sim.core.deadline import in_time
from sim.core.model import (
    APPLICATION_KINDS,
    CONTROL_RECEIVE,
    FULL,
    INTERNAL,
    MARKER_CARRIED,
    MARKER_RECEIVE,
    OUTPUT,
    RECEIVE,
    RECORD,
    RECORDED,
    ROOM,
    SEND,
    SNAPSHOT_ABORTED,
    TIMER,
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
from sim.explain.rule_narration import RuleNarrator, recorded_before
from sim.explain.standstills import back_pressure_in_words
from sim.explain.words import words_of
from sim.run.execution import Execution, once
from sim.run.flights import Flight
from sim.run.snapshots import snapshots_of

NO_VIEW = "No process can see all of them at the same instant."
APPLICATION_EVENT = "Application event"  # the badge of a step that carries out no rule of the algorithm
FAULT = "Fault"  # the badge of a step that the environment takes
_NUMBERS = ("", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")


class StepText(NamedTuple):
    """The names of the clauses that a step carries out (empty: there is nothing to name), and its sentence."""

    rules: tuple[str, ...]
    sentence: str

    @property
    def badge(self) -> str:
        """The label beside the sentence: the first of `rules`."""
        return self.rules[0] if self.rules else ""


def start_words(execution: Execution) -> str:
    """The sentence of step 0: what there is to see in this run."""
    names, algorithm = execution.scenario.processes, execution.engine.algorithm
    if len(names) == 1:
        return f"{names[0]} works alone."
    count = _NUMBERS[len(names)] if len(names) < len(_NUMBERS) else f"{len(names)}"
    begin = f"{count} processes send each other messages."
    if not snapshots_of(execution):
        return begin
    if not algorithm.coordinated:
        return f"{begin} Each of them saves checkpoints on its own."
    return f"{begin} {NO_VIEW}"


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
        self.snapshots = {snapshot.id: snapshot for snapshot in snapshots_of(execution)}
        self.rules = RuleNarrator(execution, self.snapshots)

    def step_text(self, step: int, rows: Sequence[Event]) -> StepText:
        """The text of a step, from its rows."""
        if step == 0:
            return StepText((), start_words(self.execution))
        if not rows:
            return self._nothing(step)
        rules, parts = self._rules_and_sentences(rows)
        done = [name for name, snapshot in self.snapshots.items() if snapshot.completed == step]
        if done and not self.algorithm.coordinated:
            made, of = ("a copy", "for") if self.algorithm.records_once else ("its last checkpoint", "of")
            which = f" {of} {words.listing(done)}" if len(self.snapshots) > 1 else ""
            parts.append(f"Every process has made {made}{which}.")
        elif done:
            parts.append(f"Every process is done: {words.listing(done)} {'is' if len(done) == 1 else 'are'} complete.")
        return StepText(rules, " ".join(" ".join(parts).split()))  # one line, even if a message has several

    def _rules_and_sentences(self, rows: Sequence[Event]) -> tuple[tuple[str, ...], list[str]]:
        """The rules of a step, and its sentences: one per snapshot for the algorithm, and one per application event.

        The receive of a message comes first, unless the process recorded before it: then the algorithm comes first.
        """
        faults = [row for row in rows if row.kind in FAULT_ROWS]
        if faults:
            also, further = self._of_services(rows)
            return (FAULT, *also), sentences_of_faults(self.execution, faults) + further
        if any(row.kind in RECOVERY_ROWS for row in rows):
            return self._recovery(rows)
        outputs = output_words(self.execution, rows)
        if outputs:
            also, further = self._rules_and_sentences([row for row in rows if row.kind != OUTPUT])
            return also, further + outputs
        if not rows:
            return (APPLICATION_EVENT,), []
        events = [row for row in rows if row.kind in APPLICATION_KINDS]
        kept = [row for row in rows if row.kind == RECORDED and self._is_in_snapshot(row)]
        said_with_events = APPLICATION_KINDS | {MARKER_CARRIED, FULL, ROOM} | ({RECORDED} if events else set())
        own = [row for row in rows if row.kind not in said_with_events]
        ranked = sorted(own, key=lambda row: self._rank(own, row))
        is_answer = any(row.kind in (MARKER_RECEIVE, CONTROL_RECEIVE, TIMER) for row in own)
        control = [
            self.rules.caption(list(group), events, is_answer=is_answer)
            for _, group in groupby(ranked, key=lambda row: self._rank(own, row))
        ]
        application = [self.application_event(row, kept) for row in events]
        algorithm = [part.sentence for part in control]
        rules = [part.rule for part in control]
        if events and kept:
            rules.append(self.algorithm.all_captions["kept"].rule)
        if any(row.kind == MARKER_CARRIED for row in rows):
            rules.append(self.algorithm.all_captions["carries"].rule)
        came_first = bool(events) and events[0].kind == RECEIVE and not recorded_before(own, events[0])
        named = tuple(dict.fromkeys(filter(None, rules))) or (APPLICATION_EVENT,)
        back_pressure = [back_pressure_in_words(self.execution, row) for row in rows if row.kind in (FULL, ROOM)]
        return named, (application + algorithm if came_first else algorithm + application) + back_pressure

    def _recovery(self, rows: Sequence[Event]) -> tuple[tuple[str, ...], list[str]]:
        """The rules and sentences of a step in which the system goes back, or fences off a message of an old epoch."""
        own = [row for row in rows if row.kind in RECOVERY_ROWS or row.kind == SNAPSHOT_ABORTED]
        others = [row for row in rows if row not in own]
        rules, further = self._rules_and_sentences(others) if others else ((), [])
        named = (rule for rule in rules if rule != APPLICATION_EVENT)
        clauses = dict.fromkeys((*clauses_of_recovery(own), *named))
        return tuple(clauses), sentences_of_recovery(self.execution, own) + further

    def _of_services(self, rows: Sequence[Event]) -> tuple[tuple[str, ...], list[str]]:
        """The rules and sentences of services in the step of a fault, of which they hear at once."""
        processes = self.execution.scenario.processes
        own = [row for row in rows if row.kind not in FAULT_ROWS and row.process not in processes]
        return self._rules_and_sentences(own) if own else ((), [])

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
            return StepText((), f"{name} is already {how}, so nothing happens.")
        if not isinstance(action, Initiate):
            return StepText((), "A service begins its work, which does not show yet.")
        process = engine.nodes[action.process]
        snapshot = action.snapshot
        own = (row for row in self.execution.events if (row.process, row.snapshot_id) == (process, snapshot))
        before = [row.kind for row in own if row.step < step]
        if RECORD not in before:
            asked = self.algorithm.all_captions["asked"]
            return StepText(
                (asked.rule,) if asked.rule else (), asked.sentence.format(process=process, snapshot=snapshot)
            )
        why = "has abandoned that snapshot" if SNAPSHOT_ABORTED in before else "has already recorded for it"
        rule = self.algorithm.all_captions["initiates"].rule.format(title=self.algorithm.title)
        return StepText((rule,), f"{process} is asked to start {snapshot}, but it {why}, so nothing happens.")

    def _flight(self, message: int | None) -> Flight:
        return self.execution.flights[message or 0]

    # ------------------------------------------------------------------ application events

    def application_event(self, row: Event, kept: Sequence[Event] = ()) -> str:
        """The sentence of an application event. `kept` holds the rows of its step that record messages."""
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
            fields = {**self.rules.fields(row, snapshots[0]), "snapshots": words.listing(snapshots), "stamp": stamp}
            sentence += f" {self.algorithm.all_captions['kept'].sentence.format(**fields)}"
        return sentence

    def _is_in_snapshot(self, row: Event) -> bool:
        """Whether the message recorded in `row` was not discarded later."""
        snapshot = self.snapshots[row.snapshot_id or ""]
        return any(message.id == row.message_id for message in snapshot.recorded_messages)
