"""Reasons must agree with what was recorded, and with the cut."""

from __future__ import annotations

import re
import string
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.algorithms.chandy_lamport import ChandyLamport
from sim.algorithms.lai_yang import LaiYang
from sim.core import algorithm_words
from sim.core.algorithm import ALGORITHMS, Graph
from sim.core.model import APP, MARKER_RECEIVE, RECORD
from sim.document import library
from sim.document.scenario import Scenario
from sim.edit.edits import apply_edit
from sim.explain import reasons
from sim.explain.reasons import Reason, as_told, explain, why_channel, why_state
from sim.run.execution import Execution, Flight, run
from sim.run.rollbacks import rollbacks_of
from sim.run.snapshots import GIVEN_UP, Snapshot, snapshots_of
from sim.theory.causality import History
from tests.bundled import small
from tests.cases import each
from tests.scenarios.test_not_fifo import lai_yang, plain_markers
from tests.sim.rule_books import Aligned, Barrier, Impatient, StopTheWorld, two
from tests.sim.strategies import edited, scenarios
from tests.sim.tools import only_snapshot, send, start, system
from tests.tools import examples

__all__ = ["plain_markers"]  # a fixture
BUNDLED = [library.load(name) for name in small()]
BY_MARKERS = scenarios() | st.sampled_from([s for s in BUNDLED if s.algorithm == ChandyLamport.name])
BY_RULE = {"recorded_by_rule", "left_out_by_rule"}


def application(execution: Execution, snapshot: Snapshot) -> list[tuple[Flight, Reason]]:
    found = reasons.reasons(execution, snapshot)
    return [(flight, found[flight.id]) for flight in execution.flights if flight.kind == APP]


@pytest.mark.slow
@examples(25)
@given(BY_MARKERS, st.data())
def test_the_reasons_agree_with_what_was_recorded(scenario: Scenario, data: Any) -> None:
    """And with the messages that cross the cut. Chandy-Lamport needs no case for a rule of its own.

    An edit may choose barriers that overtake: what they pass is recorded as well.
    """
    execution = run(scenario)
    made = data.draw(edited(execution, 2))
    execution = made[-1][2] if made else execution
    assume(not execution.scenario.breaks)  # an edit may take FIFO away from an algorithm that needs it
    assume(execution.engine.algorithm.coordinated)  # else no channel is recorded, as a rule of its own
    plan = execution.engine.plan
    assume(plan is None or (plan.channels and plan.fence and not plan.processes))  # else some are lost, or there twice
    history = History(execution.scenario.processes, execution.events)
    for snapshot in snapshots_of(execution):
        found = application(execution, snapshot)
        recorded = {message.id for message in snapshot.recorded_messages}
        assert {flight.id for flight, reason in found if reason.recorded} == recorded
        assert not {reason.case for _, reason in found} & BY_RULE
        if snapshot.status == "complete":
            crossing = {message for ids in history.in_channels(snapshot.frontier).values() for message in ids}
            assert {flight.id for flight, reason in found if reason.case in ("channel", "passed")} == crossing
            passed = {"passed"} if execution.engine.algorithm.overtakes else set()
            taken_back = {"taken_back"} if rollbacks_of(execution) else set()
            assert {reason.case for _, reason in found} <= {"channel", "state", "future"} | passed | taken_back


@examples(25)
@given(BY_MARKERS)
def test_the_two_deciding_steps_are_right(scenario: Scenario) -> None:
    """Each case claims an order of steps; the rows must have it."""
    execution = run(scenario)
    for snapshot in snapshots_of(execution):
        own = [event for event in execution.events if event.snapshot_id == snapshot.id]
        recorded = {event.process: event.step for event in own if event.kind == RECORD}
        marker = {event.channel: event.step for event in own if event.kind == MARKER_RECEIVE}
        for message, (case, _, first, second) in application(execution, snapshot):
            flight = as_told(execution, snapshot.id, message)
            send, receive = flight.send, flight.receive
            source, target = recorded.get(send.process), recorded.get(flight.channel.target_name)
            if case == "future":
                assert (first, second) == (source, send.step) and first < second
            elif case == "state":
                assert receive and (first, second) == (receive.step, target) and first < second
            elif case == "channel":
                assert receive and (first, second) == (target, marker[flight.channel.name])
                assert first < receive.step < second and source and send.step < source
            elif case in ("channel_open", "channel_waits"):
                assert receive and (first, second) == (target, None) and first < receive.step
                assert flight.channel.name not in marker and (source is None) == (case == "channel_waits")
            elif case == "unrecorded":
                assert receive and (first, second, target) == (receive.step, None, None)
            elif case == "held":
                assert receive is None and (first, second) == (source, None) and send.step < first
            elif case == "ended":
                assert snapshot.status in GIVEN_UP
            elif case == "taken_back":
                (back,) = [own for own in rollbacks_of(execution) if own.step == first]
                assert second is None and send.step < back.step < (source or execution.steps + 1)
            elif case in ("dropped", "lost_on_its_way", "not_put_back", "fenced_off"):
                assert receive is None and flight.lost and (first, second) == (flight.lost.step, None)
            else:
                assert case == "on_its_way" and receive is None and source is None


@examples(25)
@given(scenarios() | st.sampled_from(BUNDLED))
def test_a_reason_of_a_step_speaks_of_nothing_later(scenario: Scenario) -> None:
    """And the last one is the reason at the end of the run. "Closed (step 7)" used to be said at step 4."""
    execution = run(scenario)
    for snapshot in snapshots_of(execution):
        told = reasons.reasons_over_steps(execution, snapshot, execution.flights)
        assert [over[-1][1] for over in told] == reasons.reasons(execution, snapshot)
        for flight, over in zip(execution.flights, told, strict=True):
            assert over[0][0] == flight.send.step
            for step, reason in over:
                said = reasons.in_words(execution, snapshot, flight, reason)
                assert all(int(other) <= step for other in re.findall(r"step (\d+)", said)), (step, said)


def test_what_is_known_of_a_message_grows_with_the_steps() -> None:
    execution = run(library.load("lecture"))
    snapshot, flight = only_snapshot(execution), execution.flights[by_label(execution)["H"]]
    (over,) = reasons.reasons_over_steps(execution, snapshot, [flight])
    assert [(step, reason.case, reason.recorded) for step, reason in over] == [
        (9, "on_its_way", False), (12, "held", False), (13, "channel_open", True), (15, "channel", True),
    ]  # fmt: skip


@each("name, message, wanted", [
    ("recovery_without_channels", "30",
     "30 is lost: sent at a (step 1), before P1 recorded; a recovery (step 14) took back that P2 received it, and did "
     "not put it back into C12."),
    ("recovery_without_channels", "20",
     "20 is in no recorded state: P2 sent it at b (step 8), and a recovery (step 12) took that back before P2 recorded "
     "for S2."),
    ("recovery_without_fence", "30", "30 is part of P2's state: received at step 15, before P2 recorded (step 17)."),
    ("recovery_without_fence", "50",
     "50 is in no recorded state: P1 sent it at c (step 9), and a recovery (step 12) took that back before P1 recorded "
     "for S2."),
])  # fmt: skip
def test_a_snapshot_after_a_recovery_knows_what_its_own_life_knows(name: str, message: str, wanted: str) -> None:
    execution = run(library.load(name))
    own = next(flight for flight in execution.flights if str(flight.body) == message)
    assert explain(execution, snapshots_of(execution)[1], own.id) == wanted


def test_what_is_fenced_off_is_not_on_its_way() -> None:
    """The marker of S2 is sent before the recovery and comes after it."""
    scenario = library.load("recovery")
    execution = run(replace(scenario, snapshots=(*scenario.snapshots, start("P1", 10.5, "S2"))))
    second = snapshots_of(execution)[1]
    (marker,) = [own for own in execution.flights if own.is_marker and own.send.snapshot_id == second.id]
    assert explain(execution, second, marker.id) == (
        "The marker of S2 is of an earlier epoch: it came to P2 after a recovery, and was fenced off (step 18). "
        "What is fenced off changes nothing."
    )


def test_nothing_is_decided_of_a_message_until_its_snapshot_is_aborted(register: Any) -> None:
    execution = run(two(register(Impatient)))
    snapshot = only_snapshot(execution)
    flights = [flight for flight in execution.flights if flight.kind == APP]
    for over in reasons.reasons_over_steps(execution, snapshot, flights):
        assert [reason.case for _, reason in over] in (["unfinished", "ended"], ["ended"])


@examples(20)
@given(scenarios() | st.sampled_from(BUNDLED))
def test_every_reason_is_one_line_with_all_fields_filled_in(scenario: Scenario) -> None:
    execution = run(scenario)
    for snapshot in snapshots_of(execution):
        texts = [explain(execution, snapshot, flight.id) for flight in execution.flights]
        texts += [why_state(execution, snapshot, process) for process in scenario.processes]
        texts += [why_channel(execution, snapshot, channel.name) for channel in scenario.channels]
        for sentence in texts:
            assert sentence.endswith(".") and "None" not in sentence and "{" not in sentence


# The fields that sim/explain/reasons.py fills in, by kind of case.
OF_MESSAGES = {
    "message", "send", "receive", "sent", "received", "source", "target", "channel", "snapshot", "first", "second",
    "stamp", "marker", "control",
}  # fmt: skip
OF_PROCESSES = {
    "process", "snapshot", "step", "source", "channel", "message", "content", "stamp", "marker", "algorithm",
}  # fmt: skip
OF_CHANNELS = {"channel", "target", "snapshot", "held", "first", "second", "marker", "algorithm"}
FIELDS = {
    **dict.fromkeys(("not_recorded", "initiated", "by_marker", "by_message", "by_control", "by_rule"), OF_PROCESSES),
    **dict.fromkeys(("never_recorded", "still_recorded", "empty_at_once", "recorded_until"), OF_CHANNELS),
    **dict.fromkeys(BY_RULE, OF_MESSAGES | {"algorithm"}),
}


@each("name", [*ALGORITHMS])
def test_a_browser_can_fill_the_cases_in(name: str) -> None:
    """Templates have only known, named fields, without format, index or attribute."""
    algorithm = ALGORITHMS[name](Graph((), ()))
    for case, template in algorithm.all_reasons.items():
        fields = list(string.Formatter().parse(template))
        assert all(not spec and conversion is None for _, name, spec, conversion in fields if name)
        assert set(re.findall(r"\{(.*?)\}", template)) <= FIELDS.get(case, OF_MESSAGES), case


@each("name", [*ALGORITHMS])
def test_an_algorithm_replaces_only_known_words(name: str) -> None:
    """A misspelt key would never be used. Only `situation` gives captions keys of an algorithm's own."""
    algorithm = ALGORITHMS[name]
    assert set(algorithm.captions) <= {*algorithm_words.CAPTIONS, *algorithm.situations}
    assert set(algorithm.clauses) <= set(algorithm_words.CLAUSES)
    assert set(algorithm.reasons) <= set(algorithm_words.REASONS)


# --------------------------------------------------------------------------- the lecture


def by_label(execution: Execution) -> dict[str | None, int]:
    return {flight.send.label: flight.id for flight in execution.flights}


def test_the_lecture_in_words() -> None:
    execution = run(library.load("lecture"))
    snapshot, ids = only_snapshot(execution), by_label(execution)
    assert explain(execution, snapshot, ids["H"]) == (
        "C21 holds H->D: sent at H (step 9), before P2 recorded; received at D (step 13), after P1 recorded (step 5) "
        "and before C21 was closed (step 15)."
    )
    assert explain(execution, snapshot, ids["B"]) == (
        "B->F is part of P2's state: received at F (step 4), before P2 recorded (step 12)."
    )
    assert "sent it at E (step 16), after P1 recorded (step 5)" in explain(execution, snapshot, ids["E"])
    assert [explain(execution, snapshot, n).partition(":")[0] for n in (2, 3)] == [
        "This marker of S1 told P2 that everything sent before it had come. So P2 closed C12 (step 14), which it had "
        "recorded since step 12. A marker is in no recorded state.",
        "This marker of S1 was P3's first",
    ]
    assert [why_state(execution, snapshot, process) for process in execution.scenario.processes] == [
        "P1 started S1 at step 5: it recorded before any marker came to it. "
        "Its last event inside is B (step 2); the first outside is C (step 8).",
        "P2's first marker of S1 came from P3 on C32 at step 12: it recorded. "
        "Its last event inside is H (step 9); none is outside.",
        "P3's first marker of S1 came from P1 on C13 at step 6: it recorded. "
        "Its last event inside is I (step 3); the first outside is J (step 10).",
    ]
    assert [why_channel(execution, snapshot, channel) for channel in ("P2->P1", "P1->P3", "P1->P2")] == [
        "P1 recorded C21 from its own recording (step 5) until it was closed by the marker on it (step 15). "
        "In between came H->D.",
        "C13 is empty: P3's first marker came on it (step 6), so all that was sent before the marker had been received "
        "before P3 recorded.",
        "P2 recorded C12 from its own recording (step 12) until it was closed by the marker on it (step 14). "
        "In between came nothing.",
    ]


def test_messages_that_have_not_arrived_are_explained_too() -> None:
    """P1 starts; its markers and H are held: P2 and P3 never record, and the channels into P1 stay open."""
    execution = run(library.load("lecture"))
    for channel in ("P1->P2", "P1->P3"):
        message = {"channel": channel, "kind": "marker", "snapshot": "S1"}
        execution = apply_edit(execution, {"do": "hold", "message": message}, 0)
    (snapshot,), ids = snapshots_of(execution), by_label(execution)
    found = reasons.reasons(execution, snapshot)
    assert {label: found[ids[label]].case for label in "BIHE"} == {
        "B": "unrecorded", "I": "unrecorded", "H": "channel_waits", "E": "future",
    }  # fmt: skip
    assert [reason.case for flight, reason in zip(execution.flights, found, strict=True) if flight.is_marker] == [
        "marker_held", "marker_held",
    ]  # fmt: skip
    held = apply_edit(execution, {"do": "hold", "message": {"label": "H"}}, 0)
    assert explain(held, only_snapshot(held), ids["H"]) == (
        "H->D is on its way in C21: sent at H (step 8) and not received. P2 has not recorded for S1."
    )
    assert why_state(held, only_snapshot(held), "P2") == (
        "P2 has not recorded for S1: no marker of it has made P2 record."
    )
    assert why_channel(execution, snapshot, "P2->P1") == (
        "P1 records C21 from its own recording (step 5) on. No marker has closed it, and H->D has come so far."
    )
    assert why_channel(execution, snapshot, "P1->P2") == "C12 is not recorded: P2 has not recorded for S1."


def test_markers_of_overlapping_snapshots_are_kept_apart() -> None:
    execution = run(library.load("overlapping"))
    one, two = snapshots_of(execution)
    for flight in execution.flights:
        if flight.is_marker:
            cases = [reasons.reasons(execution, snapshot)[flight.id].case for snapshot in (one, two)]
            assert cases.count("other_marker") == 1


# --------------------------------------------------------------------------- other rules


@pytest.mark.parametrize(("arrives", "message", "case"), [(4.5, "m2", "overtaken"), (6.5, "m3", "orphan")])
def test_on_a_channel_that_is_not_fifo_the_rule_says_what_goes_wrong(
    plain_markers: str, arrives: float, message: str, case: str
) -> None:
    execution = run(lai_yang(plain_markers, marker_arrives=arrives))
    snapshot = only_snapshot(execution)
    assert reasons.reasons(execution, snapshot)[by_label(execution)[message]].case == case
    text = explain(execution, snapshot, by_label(execution)[message])
    assert ("The marker overtook it" in text) == (case == "overtaken")


def test_a_message_that_overtakes_the_marker_is_recorded_though_it_belongs_to_the_future(plain_markers: str) -> None:
    """Both start at once; m is sent after P1 recorded, and comes before P1's marker. n comes after it, or never."""
    lines = (send("P1", "P2", 0.5, label="n"), send("P1", "P2", 2, label="m"))
    scenario = system(
        "P1 P2", script=lines, snapshots=(start("P1", 1), start("P2", 1)), algorithm=plain_markers, not_fifo=("P1->P2",)
    )
    execution = run(scenario)
    for message, delay in (({"label": "n"}, 20), ({"channel": "P1->P2", "kind": "marker", "snapshot": "S1"}, 10)):
        execution = apply_edit(execution, {"do": "delay", "message": message, "delay": delay}, 0)
    cases = {f.send.label: reason.case for f, reason in application(execution, only_snapshot(execution))}
    assert cases == {"n": "overtaken", "m": "early"}
    lost = apply_edit(execution, {"do": "hold", "message": {"label": "n"}}, 0)
    assert reasons.reasons(lost, only_snapshot(lost))[by_label(lost)["n"]].case == "lost"


@each("algorithm", [LaiYang, Barrier, StopTheWorld, Impatient, Aligned])
def test_other_algorithms_are_explained_too(algorithm: Any, register: Any) -> None:
    """With any algorithm, reasons agree with what was recorded, and everything has a sentence."""
    lines = tuple(send(f"P{1 + n % 2}", f"P{1 + (n + 1) % 2}", n, f"m{n}") for n in range(8))
    channels = "P1->P2" if algorithm is Aligned else "P1->P2 P2->P1"
    used = tuple(line for line in lines if f"{line.process}->{line.to}" in channels)
    name = algorithm.name if algorithm is LaiYang else register(algorithm)
    execution = run(system("P1 P2", channels, script=used, snapshots=(start("P1", 2.5),), algorithm=name))
    (snapshot,) = snapshots_of(execution)
    recorded = {message.id for message in snapshot.recorded_messages}
    found = reasons.reasons(execution, snapshot)
    assert {flight.id for flight, reason in zip(execution.flights, found, strict=True) if reason.recorded} == recorded
    sentences = [explain(execution, snapshot, flight.id) for flight in execution.flights]
    sentences += [why_state(execution, snapshot, process) for process in ("P1", "P2")]
    sentences += [why_channel(execution, snapshot, channel.name) for channel in execution.engine.channels]
    assert all(sentence.endswith(".") and "None" not in sentence for sentence in sentences)
