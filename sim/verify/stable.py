"""Stable properties of a run: what each snapshot says of them, and when they became true.

A property is stable if it goes on holding once it holds. Let a snapshot begin in state S0 and end in state S1, and
record the state S* (Chandy & Lamport 1985, section 5). S* can be reached from S0, and S1 from S*. So if the property
holds in S*, it holds in S1; if it does not hold in S*, it does not hold in S0.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from math import isqrt
from typing import Any

from sim.core.detector import Contents, Detector, Finding, States, detectors_for
from sim.core.errors import InputError
from sim.core.model import State
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution, once
from sim.run.snapshots import COMPLETE, Snapshot, snapshots_of
from sim.verify.checks import verdicts_of
from sim.verify.expectations import frontier_of


@dataclass(frozen=True)
class Answer:
    """The finding of a complete snapshot about a property.

    `finding` is that of the complete snapshot, `alone` the one that its process states alone would give. `began` and
    `ended` are the steps at which the snapshot began and was complete. Of a snapshot that fails a check, or whose
    states have changed since they were recorded, nothing follows: it `proves` nothing.
    """

    snapshot: str
    finding: Finding
    alone: Finding
    began: int
    ended: int
    proves: bool


@dataclass(frozen=True)
class Glance:
    """The finding of an observer who reads the process states at a cut of the story, and no channel.

    `whole` is the finding with the channels at that cut (None: the cut is not consistent). The last event inside the
    cut is that of step `at`.
    """

    cut: str
    finding: Finding
    whole: Finding | None
    at: int


@dataclass(frozen=True)
class Property:
    """A stable property of a run.

    `since` is the first step after which it holds (None: it never does; 0: from the beginning). `answers` are those of
    the complete snapshots, in the order in which they began; `glances` are at the cuts of the story.
    """

    detector: Detector
    since: int | None
    answers: tuple[Answer, ...]
    glances: tuple[Glance, ...]

    @property
    def found_by(self) -> Answer | None:
        """The first snapshot to be complete that shows the property, and keeps every check."""
        shown = (own for own in self.answers if own.finding.holds and own.proves)
        return min(shown, key=lambda own: own.ended, default=None)

    def to_json(self) -> dict[str, Any]:
        """This property as `python -m sim run --json` prints it."""
        found = self.found_by
        return {
            "property": self.detector.name,
            "since": self.since,
            "found_by": found and found.snapshot,
            "found_at": found and found.ended,
            "snapshots": [
                {
                    "id": own.snapshot,
                    "holds": own.finding.holds,
                    "why": own.finding.why,
                    "states_alone": own.alone.holds,
                    "waits": [list(edge) for edge in own.finding.waits],
                    "circle": list(own.finding.circle),
                    "began": own.began,
                    "ended": own.ended,
                }
                for own in self.answers
            ],
        }


@once
def properties_of(execution: Execution) -> list[Property]:
    """The stable properties that mean something in the workload of a run."""
    return [_property(execution, detector) for detector in detectors_for(execution.engine.workload)]


def _property(execution: Execution, detector: Detector) -> Property:
    complete = [own for own in snapshots_of(execution) if own.status == COMPLETE]
    verdicts = verdicts_of(execution)
    wrong = {own.id for own in complete if any(verdict.holds is False for verdict in verdicts[own.id])}
    wrong |= {own.id for own in complete if any(local.changes for local in own.local.values())}
    answers = tuple(_answer(detector, snapshot, snapshot.id not in wrong) for snapshot in complete)
    return Property(detector, _since(execution, detector), answers, tuple(_glances(execution, detector)))


def _answer(detector: Detector, snapshot: Snapshot, proves: bool) -> Answer:
    states = {name: local.state for name, local in snapshot.local.items()}
    contents = {name: [message.body for message in snapshot.recorded_in(name)] for name in snapshot.channels}
    assert snapshot.began is not None and snapshot.completed is not None
    whole, alone = detector.look(states, contents), detector.look(states, {})
    return Answer(snapshot.id, whole, alone, snapshot.began, snapshot.completed, proves)


def _since(execution: Execution, detector: Detector) -> int | None:
    """The first step after which the property holds in the real state of the system.

    As it goes on holding, it is looked for at a few steps of the run, and then between two of these.
    """
    if detector.look(*_real(execution.engine.initial(), execution)).holds:
        return 0
    apart, last = isqrt(execution.steps) + 1, execution.steps
    known = _first(execution, detector, {*range(apart, last, apart), last})
    return None if known is None else _first(execution, detector, set(range(max(1, known - apart + 1), known + 1)))


def _first(execution: Execution, detector: Detector, steps: Set[int]) -> int | None:
    """The first of these steps after which the property holds."""
    for step in execution.replay(copied=False):
        if step.number in steps and detector.look(*_real(step.state, execution)).holds:
            return step.number
    return None


def real_states(execution: Execution) -> Iterator[tuple[int, tuple[States, Contents]]]:
    """(step, process states and channel contents) after each step, from step 0 on; the next one changes them."""
    yield 0, _real(execution.engine.initial(), execution)
    for step in execution.replay(copied=False):
        yield step.number, _real(step.state, execution)


def _real(state: State, execution: Execution) -> tuple[States, Contents]:
    """The states of all processes that are up and the contents of all channels at one moment."""
    engine = execution.engine
    queues = {own.name: [message.body for message in engine.messages_in(state, own)] for own in engine.channels}
    return {process.name: process.state for process in state.processes if process.alive}, queues


def _glances(execution: Execution, detector: Detector) -> Iterator[Glance]:
    """The findings from process states alone at the cuts of the story."""
    at_cuts, history = states_at_cuts(execution), execution.history
    for named in execution.scenario.cuts:
        try:
            inside = frontier_of(execution, named)
        except InputError:  # an edit has taken away an event at which the cut ends
            continue
        processes = execution.scenario.processes
        cut = execution.order.at([inside.get(process, 0) for process in processes])
        there = ((process, at_cuts.state(process, count)) for process, count in zip(processes, cut, strict=False))
        states = {process: state for process, state in there if state is not None}
        contents = {name: [flight.body for flight in at_cuts.in_channel(name, cut)] for name in at_cuts.sent_on}
        whole = detector.look(states, contents) if history.is_consistent(inside) else None
        at = max((history.of[process][count - 1].step for process, count in inside.items() if count), default=0)
        yield Glance(named.name, detector.look(states, {}), whole, at)
