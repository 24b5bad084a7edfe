"""The diagram for a prediction: it gives nothing away, and has all that the rules need."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from diagrams.browser.payload import payload
from diagrams.figure.shafts import SHORT
from diagrams.panels.predict.question import QuestionScene, positions, question
from diagrams.scene.composition import Scene, compose
from diagrams.scene.positions import kept_apart, positions_of_steps
from sim.core.model import APP, RECEIVED, RECORD
from sim.document import library
from sim.document.scenario import ORIENTATIONS, Scenario
from sim.edit.edits import apply_edit
from sim.run.execution import run
from tests.cases import each
from tests.sim.strategies import scenarios

TELLING = ("records", "white", "red for", "@stamped", "diamond", "@mark", "waits behind", "held", "@tint", "consistent")


def arrows(scene: Scene, snapshot: str | None = None) -> list[dict[str, Any]]:
    """The arrows of a snapshot (None: the messages) in the question: ids, ends (lane, position) and hover texts."""
    found = []
    for trace in question(scene, "down")["data"]:
        meta = trace.get("meta", {})
        if "messages" in meta and meta.get("snapshots", [None]) == [snapshot]:
            points = list(zip(trace["x"], trace["y"], strict=True))
            ends = [points[at : at + 2] for at in range(0, len(points), meta["stride"])]
            texts = trace["text"][:: meta["stride"]]
            found += [
                {"id": number, "ends": both, "text": text}
                for number, both, text in zip(meta["messages"], ends, texts, strict=True)
            ]
    return found


def check(scene: Scene) -> None:
    """All that is drawn of a snapshot begins where it starts, or lies straight across its receiver's line."""
    at = positions(scene)
    for snapshot in scene.snapshots:
        rows = [row for row in scene.execution.events if (row.kind, row.snapshot_id) == (RECORD, snapshot.id)]
        first = {row.process: row.step for row in reversed(rows)}
        starts = {(name, first[name]) for name in snapshot.initiators if name in first}
        drawn = {arrow["id"]: arrow for arrow in arrows(scene, snapshot.id)}
        for flight in (own for own in scene.flights if own.kind != APP and own.send.snapshot_id == snapshot.id):
            if (flight.send.process, flight.send.step) in starts:
                assert drawn[flight.id]["ends"][0][1] == pytest.approx(at[flight.send.step], abs=1e-3)
            elif flight.receive is None:
                assert flight.id not in drawn
            else:
                (tail, tail_at), (head, head_at) = drawn[flight.id]["ends"]
                assert tail_at == head_at == pytest.approx(at[flight.receive.step], abs=1e-3)
                assert head == flight.channel.target
                side = 1 if flight.channel.source > flight.channel.target else -1
                assert tail - head == pytest.approx(SHORT * side)
                assert "sent" not in drawn[flight.id]["text"]
    of_none = [own for own in scene.flights if own.kind != APP and own.send.snapshot_id is None]
    known = [own.id for own in scene.flights if own.kind == APP or (own in of_none and own.receive is not None)]
    assert sorted(arrow["id"] for arrow in arrows(scene)) == known


@pytest.mark.slow
@given(scenarios())
def test_what_a_process_sends_when_it_records_is_not_seen_to_leave_it(scenario: Scenario) -> None:
    check(compose(run(scenario)))


@pytest.mark.slow
@each("name", library.names)
def test_nothing_in_the_question_tells_the_outcome(name: str) -> None:
    scene = compose(run(library.load(name)))
    check(scene)
    for orientation in ORIENTATIONS:
        drawn = json.dumps(question(scene, orientation))
        assert [word for word in TELLING if word in drawn] == []
        assert '"open"' not in drawn and "(1)" not in drawn


def test_dots_lie_at_their_steps_and_bars_do_not_end_at_the_cut() -> None:
    """In the run, a long row of internal events is drawn as one bar on each side of a recording."""
    script = tuple({"do": "internal", "process": "P2", "at": 842 + number / 8} for number in range(16))
    execution = run(library.load("lecture"))
    for edit in script:
        execution = apply_edit(execution, edit, 0.0)
    scene = compose(execution)
    counts = [dot.count for dot in scene.dots if dot.count > 1]
    assert len(counts) == 2
    texts = [text for trace in question(scene, "down")["data"] for text in trace.get("text", []) if text]
    assert [text for text in texts if f"{sum(counts)} internal events" in text]


def test_an_edit_leaves_no_ghost_of_a_marker() -> None:
    before = run(library.load("lecture"))
    marker = {"channel": "P3->P2", "kind": "marker", "snapshot": "S1"}
    after = apply_edit(before, {"do": "delay", "message": marker, "delay": 400}, 0.0)
    drawn = question(compose(after), "down")
    assert not any("ghost" in trace.get("meta", {}) for trace in drawn["data"])


def test_a_message_that_never_comes_does_not_say_what_it_waits_for() -> None:
    execution = run(library.load("lecture"))
    marker = {"channel": "P1->P3", "kind": "marker", "snapshot": "S1"}
    scene = compose(apply_edit(execution, {"do": "hold", "message": marker}, 0.0))
    drawn = json.dumps(question(scene, "down"))
    assert "never comes" in drawn and "waits behind" not in drawn


def test_every_channel_on_which_a_marker_comes_is_named() -> None:
    scene = compose(run(library.load("lecture")))
    texts = {text.strip() for trace in question(scene, "down")["data"] for text in trace.get("text", []) if text}
    assert {"C21", "C31", "C32", "C23"} <= texts


@pytest.mark.slow
def test_a_window_on_a_long_run_asks_nothing() -> None:
    scene = compose(run(library.load("hundred")))
    assert payload(scene, ("right",))["questions"].keys() == {"right"}
    assert payload(scene.window(100, 200), ("right",))["questions"] == {}


@given(scenarios())
def test_where_steps_lie_does_not_tell_in_which_of_them_a_process_records(scenario: Scenario) -> None:
    """The positions are the same without all rows that a recording adds to the step of a receipt."""
    scene = compose(run(scenario))
    events = scene.execution.events
    told = {event.step for event in events if event.kind in RECEIVED}
    known = [event for event in events if event.kind in RECEIVED or event.step not in told]
    apart = kept_apart(known, positions_of_steps(scene.times), is_outcome_known=False)
    assert apart == positions(scene)


def test_dots_lie_at_those_positions() -> None:
    scene = compose(run(library.load("lecture")))
    asked = QuestionScene(scene)
    assert {dot.position for dot in asked.dots} <= set(positions(scene))
    assert [dot.position for dot in asked.dots] == [positions(scene)[dot.step] for dot in scene.dots]
