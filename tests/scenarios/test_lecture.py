"""The classic lecture example (Gupta; Kuper 2019) and its variants, compared with the published text."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sim.core.model import CHANNEL_CLOSED, MARKER, MARKER_RECEIVE, RECORD, Event, MessageReference
from sim.document import library
from sim.run.execution import run
from sim.theory.lattice import lattice
from tests.scenarios.tools import clocks_by_label, frontiers, run_of
from tests.sim.tools import bodies, only_snapshot


def test_lecture_has_the_times_of_the_published_figure() -> None:
    """M21@P1 and M12@P2 are nearly simultaneous in the figure; the text has M12 first, as the scenario does."""
    times = "A338 B403 I426 F460 G602 C670 H736 J751 D873 E1003 K1075"
    events = run_of("lecture").events
    assert {event.label: event.time for event in events if event.label} == {w[0]: float(w[1:]) for w in times.split()}
    arrivals = {event.channel: event.time for event in events if event.kind == MARKER_RECEIVE}
    measured = {"P1->P3": 529, "P3->P1": 766, "P3->P2": 843, "P1->P2": 970, "P2->P1": 967, "P2->P3": 1006}
    assert arrivals == pytest.approx(measured, abs=5)
    assert arrivals["P1->P2"] < arrivals["P2->P1"]


def test_lecture_clocks() -> None:
    expected = "A100 B200 C300 D431 E531 F210 G221 H231 I001 J002 K533"
    assert clocks_by_label(run_of("lecture").history) == {word[0]: word[1:] for word in expected.split()}


def test_lecture_frontiers() -> None:
    """Counted with the definition (a message received inside and sent outside), not with the lattice."""
    history = run_of("lecture").history
    cuts = frontiers(history)
    consistent = [cut for cut in cuts if history.violation(cut) is None]
    assert (len(cuts), len(consistent)) == (96, 31)
    assert [cut for cut in cuts if history.is_consistent(cut)] == consistent
    found = lattice(run_of("lecture").order)
    assert {tuple(cut.values()) for cut in consistent} == set(found)
    assert found[5, 3, 3] == 130


def in_words(event: Event) -> str:
    if event.kind == RECORD:
        return f"{event.process} records"
    return f"{event.channel} = {', '.join(json.loads(event.body or '[]')) or 'empty'}"


def test_lecture_recorded_state_grows_in_the_order_of_the_nine_pictures() -> None:
    """Picture 1 is the bare execution and picture 9 the finished cut; the others each add one step's rows."""
    pictures: dict[int, list[str]] = {}
    for event in run_of("lecture").events:
        if event.kind in (RECORD, CHANNEL_CLOSED):
            pictures.setdefault(event.step, []).append(in_words(event))
    assert list(pictures.values()) == [
        ["P1 records"],
        ["P3 records", "P1->P3 = empty"],
        ["P3->P1 = empty"],
        ["P2 records", "P3->P2 = empty"],
        ["P1->P2 = empty"],
        ["P2->P1 = H->D"],
        ["P2->P3 = empty"],
    ]


def test_the_two_nearly_simultaneous_markers_may_arrive_in_either_order() -> None:
    """M21@P1 before M12@P2, as measured on the figure: the same snapshot."""
    lecture = library.load("lecture")
    slower = {**lecture.delays, MessageReference(None, "P1->P2", MARKER, "S1"): 483.0}
    swapped = run(replace(lecture, delays=slower))
    closed = [event.channel for event in swapped.events if event.kind == CHANNEL_CLOSED]
    assert closed.index("P2->P1") < closed.index("P1->P2")
    assert only_snapshot(swapped).events == only_snapshot(run(lecture)).events
    assert bodies(only_snapshot(swapped)) == {"P2->P1": ["H->D"]}


def test_gupta_is_the_lecture_example_in_other_letters() -> None:
    letter = {"F": "E'", "G": "F", "H": "G", "I": "H", "J": "I", "K": "J"}
    lecture, gupta = run_of("lecture"), run_of("gupta")
    renamed = [event._replace(label=letter.get(event.label or "", event.label), body=None) for event in lecture.events]
    assert [event._replace(body=None, state_size=None) for event in gupta.events] == [
        event._replace(state_size=None) for event in renamed
    ]
    labels = [event.label for event in gupta.events if event.label]
    assert len(labels) == len(set(labels)) == 11
    assert (gupta.scenario.orientation, lecture.scenario.orientation) == ("right", "down")


def test_the_process_states_alone_hold_no_token() -> None:
    snapshot = only_snapshot(run_of("token_lost"))
    assert sum(local.state["token"] for local in snapshot.local.values()) == 0
    assert sum((message.body or {}).get("token", 0) for message in snapshot.recorded_messages) == 1
    assert snapshot.recorded_messages[0].channel == "P2->P1"
