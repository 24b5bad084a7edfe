"""Every kind of edit: its effect, and the reasons for refusals."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import MARKER_RECEIVE, RECEIVE, SEND, Event, MessageReference
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario, SchedulerChoice, free_snapshot_id
from sim.document.writing import dumps
from sim.edit.edits import apply_edit
from sim.edit.items import read_body
from sim.run.execution import run
from sim.run.references import references
from sim.run.snapshots import snapshots_of
from sim.verify.expectations import unmet_expectations
from tests.cases import each
from tests.sim.strategies import scenarios
from tests.sim.tools import edited_by, failing, send, start, system
from tests.tools import check_none, examples

M12 = {"channel": "P1->P2", "kind": "marker", "snapshot": "S1"}


@pytest.fixture
def lecture() -> Scenario:
    return library.load("lecture")


def arrival(scenario: Scenario, label: str) -> float | None:
    """When the receive called `label` happens, if it does."""
    return next((e.time for e in run(scenario).events if e.label == label), None)


def marker_arrival(scenario: Scenario, channel: str) -> float | None:
    rows = run(scenario).events
    return next((e.time for e in rows if e.kind == MARKER_RECEIVE and e.channel == channel), None)


# --------------------------------------------------------------------------- each edit


def test_a_delay_counts_from_the_send(lecture: Scenario) -> None:
    """H is sent at 736."""
    edited = edited_by(lecture, {"do": "delay", "message": {"label": "H"}, "delay": 64}, 900)
    assert (arrival(lecture, "D"), arrival(edited, "D")) == (873, 800)


def test_a_delay_may_change_who_is_first(lecture: Scenario) -> None:
    """With a quick marker P2 records before G and H."""
    edited = edited_by(lecture, {"do": "delay", "message": M12, "delay": 20}, 0)
    (snapshot,) = snapshots_of(run(edited))
    assert snapshot.events == {"P1": ("A", "B"), "P2": ("F",), "P3": ("I",)}
    assert {name: [m.body for m in kept] for name, kept in snapshot.channels.items() if kept} == {"P3->P2": ["I->G"]}


def test_a_held_message_never_arrives_and_holds_back_later_ones(lecture: Scenario) -> None:
    """B -> F is held: the marker behind it on P1->P2 never arrives either."""
    edited = edited_by(lecture, {"do": "hold", "message": {"label": "B"}}, 0)
    assert arrival(edited, "F") is None and marker_arrival(edited, "P1->P2") is None
    assert marker_arrival(edited, "P1->P3") == marker_arrival(lecture, "P1->P3")


def test_release_lets_a_message_go_now_and_not_before(lecture: Scenario) -> None:
    held = edited_by(lecture, {"do": "hold", "message": {"label": "H"}}, 800)
    released = edited_by(held, {"do": "release", "message": {"label": "H"}}, 2000)
    assert arrival(released, "D") == 2000


def test_a_released_message_does_not_arrive_before_now_by_a_rounding_error() -> None:
    """8.41 + (63.65 - 8.41) is less than 63.65."""
    scenario = system("P1 P2", script=(send("P1", "P2", 8.41, label="a", receive_label="b"),))
    held = edited_by(scenario, {"do": "hold", "message": {"label": "a"}}, 10)
    arrived = arrival(edited_by(held, {"do": "release", "message": {"label": "a"}}, 63.65), "b")
    assert arrived is not None and arrived >= 63.65


def test_release_before_its_time_gives_the_message_its_usual_delay() -> None:
    """Sent at 1, it would arrive at 6; released at 3 it still does."""
    usual = system(
        "P1 P2", script=(send("P1", "P2", 1, label="a", receive_label="b"),), delay=DelayRule("fixed", 5.0, 5.0)
    )
    held = edited_by(usual, {"do": "hold", "message": {"label": "a"}}, 2)
    assert arrival(edited_by(held, {"do": "release", "message": {"label": "a"}}, 3), "b") == 6
    assert edited_by(held, {"do": "release", "message": {"label": "a"}}, 3) == usual


def test_send_internal_and_snapshot_happen_at_their_time_or_now(lecture: Scenario) -> None:
    edited = edited_by(lecture, {"do": "send", "process": "P2", "to": "P3", "at": 500, "body": "hello"}, 0)
    edited = edited_by(edited, {"do": "internal", "process": "P3"}, 900)
    edited = edited_by(edited, {"do": "snapshot", "process": "P2"}, 1200)
    rows = run(edited).events
    assert any((e.kind, e.time, e.channel, e.body) == (SEND, 500, "P2->P3", '"hello"') for e in rows)
    assert any((e.kind, e.time, e.process) == ("internal", 900, "P3") for e in rows)
    assert [(s.id, s.status) for s in snapshots_of(run(edited))] == [("S1", "complete"), ("S2", "complete")]


def test_an_edit_before_others_does_not_move_their_labels(lecture: Scenario) -> None:
    """A reference by label, or by channel and ordinal, still means the same message after a send before it."""
    edited = edited_by(lecture, {"do": "send", "process": "P3", "to": "P1", "at": 1}, 0)
    for scenario in (lecture, edited):
        moved = edited_by(scenario, {"do": "delay", "message": {"label": "H"}, "delay": 1000}, 0)
        assert arrival(moved, "D") == 1736


# --------------------------------------------------------------------------- refusals

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"do": "explode"}, "'explode'"),
    ({}, "None"),
    ({"do": "delay", "message": {"label": "H"}}, "delay"),
    ({"do": "delay", "message": {"label": "H"}, "delay": -1}, "at least 0"),
    ({"do": "delay", "message": {"label": "H"}, "delay": math.inf}, "delay"),
    ({"do": "delay", "message": {"label": "H"}, "delay": math.nan}, "delay"),
    ({"do": "delay", "message": {"label": "H"}, "delay": "5"}, "'5'"),
    ({"do": "delay", "message": {"label": "Z"}, "delay": 5}, "'Z'"),
    ({"do": "hold", "message": {"channel": "P1->P9"}}, "'P1->P9'"),
    ({"do": "hold", "message": {**M12, "snapshot": "S9"}}, "'S9'"),
    ({"do": "hold"}, "incomplete"),
    ({"do": "send", "process": "P1", "to": "P1"}, "itself"),
    ({"do": "send", "process": "P1", "to": "P9"}, "'P9'"),
    ({"do": "send", "process": "P1"}, "incomplete"),
    ({"do": "internal", "process": "P1", "at": -3}, "at least 0"),
    ({"do": "snapshot", "process": "P9"}, "'P9'"),
    ({"do": "snapshot", "process": "P1", "id": "S1"}, "twice"),
]  # fmt: skip


@each("edit, word", REFUSED)
def test_an_edit_that_is_refused_says_why(lecture: Scenario, edit: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError) as refusal:
        edited_by(lecture, edit, 100)
    assert word in str(refusal.value) and "\n" not in str(refusal.value)


MALFORMED: list[dict[str, Any]] = [
    {"do": ["delay"]},
    {"do": "hold", "message": "H"},
    {"do": "hold", "message": {}},
    {"do": "hold", "message": {"label": ["H"]}},
    {"do": "hold", "message": {"channel": "P1->P2", "ordinal": "1"}},
    {"do": "hold", "message": {"channel": "P1->P2", "ordinal": 0}},
    {"do": "hold", "message": {"channel": "P1->P2", "kind": "post"}},
    {"do": "hold", "message": {"label": "A"}},
    {"do": "snapshot", "process": "P1", "id": 5},
    {"do": "snapshot", "process": "P1", "id": ["S"]},
    {"do": "send", "process": ["P1"], "to": "P2"},
    {"do": "send", "process": "P1", "to": "P2", "body": {"a": None}},
    {"do": "send", "process": "P1", "to": "P2", "body": math.nan},
    {"do": "internal", "process": None},
    {"do": "snapshot", "process": "P1", "id": "\ud800"},  # half a character, which no file can hold
    {"do": "send", "process": "P1", "to": "P2", "body": "\ud800"},
    {"do": "send", "process": "P1", "to": "P2", "body": json.loads("[" * 900 + "]" * 900)},
]


@each("edit", MALFORMED)
def test_a_malformed_edit_is_refused_too(lecture: Scenario, edit: dict[str, Any]) -> None:
    """It may come from a forged link, and every accepted edit must fit into a link."""
    with pytest.raises(InputError):
        edited_by(lecture, edit, 100)


@each("body", ["9" * 5000, "[" * 900 + "]" * 900, '{"note":' + "[" * 900 + "]" * 900 + "}", "1e999"])
@each("workload", ["bank", "trade"])
def test_a_typed_body_never_crashes(workload: str, body: str) -> None:
    goods = {"goods": {"P1": {"cash": 5}}} if workload == "trade" else {}
    scenario = system("P1 P2", workload=workload, parameters=goods)
    with pytest.raises(InputError):
        edited_by(scenario, {"do": "send", "process": "P1", "to": "P2", "body": body}, 0)


def test_a_transfer_without_the_money_is_refused_and_so_is_one_that_makes_a_later_line_impossible() -> None:
    scenario = system("P1 P2", workload="bank", parameters={"balance": 10}, script=(send("P1", "P2", 5, 8, label="A"),))
    with pytest.raises(InputError, match="P1 has 10 and cannot send 11"):
        edited_by(scenario, {"do": "send", "process": "P1", "to": "P2", "at": 1, "body": 11}, 0)
    with pytest.raises(InputError, match=r"\(A\): P1 has 7 and cannot send 8"):
        edited_by(scenario, {"do": "send", "process": "P1", "to": "P2", "at": 1, "body": 3}, 0)
    with pytest.raises(InputError, match="whole amount"):
        edited_by(scenario, {"do": "send", "process": "P1", "to": "P2", "at": 1, "body": ""}, 0)


# --------------------------------------------------------------------------- words, bodies, references


def test_a_typed_body_is_read_as_the_workload_needs_it() -> None:
    scripted, bank = system("P1 P2"), system("P1 P2", workload="bank")
    assert [read_body(scripted, text) for text in ("5", " hi ", "  ", None)] == ["5", "hi", None, None]
    assert [read_body(bank, text) for text in ("5", "five", "[1", "", 7)] == [5, "five", "[1", None, 7]


def test_the_first_free_snapshot_id_fills_gaps() -> None:
    scenario = system("P1 P2", snapshots=(start("P1", 1), start("P1", 1, "S3"), start("P2", 1, "Z")))
    assert free_snapshot_id(scenario) == "S2"
    assert free_snapshot_id(system("P1 P2")) == "S1"


def test_a_message_that_the_run_does_not_contain_is_refused_with_what_it_contains(lecture: Scenario) -> None:
    for message, words in (
        ({"label": "h"}, "no message is sent at 'h' in this run; known: B, E, H, I"),
        ({"channel": "P1->P2", "ordinal": 7}, "no message number 7 on P1->P2 in this run; it carries 1 of them"),
        ({**M12, "ordinal": 2}, "no marker of 'S1' number 2 on P1->P2"),
        ({"channel": "P1-P2"}, "did you mean 'P1->P2'"),
    ):
        for do in ("delay", "hold", "release"):
            with pytest.raises(InputError) as refusal:
                edited_by(lecture, {"do": do, "message": message, "delay": 5}, 0)
            assert words in str(refusal.value)


def test_a_delay_in_a_file_for_no_message_of_the_run_stays(lecture: Scenario) -> None:
    unsent = MessageReference(None, "P3->P1", ordinal=9)
    idle = replace(lecture, delays={**lecture.delays, unsent: 5.0})
    assert edited_by(idle, {"do": "hold", "message": {"label": "H"}}, 0).delays[unsent] == 5


def test_an_edited_story_expects_no_outcome(lecture: Scenario) -> None:
    """The lecture expects 31 consistent cuts; with one more event it has another number."""
    edited = edited_by(lecture, {"do": "internal", "process": "P1"}, 1)
    assert lecture.expect
    check_none(unmet_expectations(run(edited)))


# --------------------------------------------------------------------------- properties


@examples(15)
@given(scenarios(schedulers=("timed",)), st.data())
def test_a_delay_moves_that_message_and_nothing_that_came_before(scenario: Scenario, data: Any) -> None:
    execution = run(scenario)
    known = references(execution)
    assume(known)
    number = data.draw(st.integers(0, len(known) - 1))
    edited = replace(scenario, delays={**scenario.delays, known[number]: 1000.0})
    sent = next(e for e in execution.events if e.message_id == number)
    assert before(run(edited).events, sent.time) == before(execution.events, sent.time)


def before(events: list[Event], time: float) -> list[Event]:
    """The rows before `time`, without the one column that a later row fills in."""
    return [e if e.kind == RECEIVE else e._replace(peer_index=None) for e in events if e.time < time]


# --------------------------------------------------------------------------- one message, several names


@each("given", [MessageReference(label="A"), MessageReference(label="P1.1"), MessageReference(None, "P1->P2")])
@each("named", [{"label": "A"}, {"label": "P1.1"}, {"channel": "P1->P2"}])
def test_an_edit_finds_its_message_under_whichever_name_a_delay_was_set(
    given: MessageReference, named: dict[str, Any]
) -> None:
    scenario = system("P1 P2", script=(send("P1", "P2", 1, label="A", receive_label="F"),), delays={given: 7.0})
    edited = edited_by(scenario, {"do": "delay", "message": named, "delay": 2}, 0)
    assert (arrival(scenario, "F"), arrival(edited, "F")) == (8, 3)
    assert len(edited.delays) == 1
    held = edited_by(edited, {"do": "hold", "message": named}, 0)
    assert arrival(edited_by(held, {"do": "release", "message": named}, 0), "F") == 2


def test_an_edit_that_the_scheduler_would_ignore_is_refused() -> None:
    for scheduler in (SchedulerChoice("manual", order=("act P1",)), SchedulerChoice("random")):
        scenario = system("P1 P2", script=(send("P1", "P2", 1, label="A"),), scheduler=scheduler)
        with pytest.raises(InputError, match=f"the {scheduler.kind} scheduler has no delays"):
            edited_by(scenario, {"do": "delay", "message": {"label": "A"}, "delay": 5}, 0)


def test_fifo_is_taken_away_from_a_channel_and_given_back() -> None:
    """Messages on C21 may then overtake the marker: the snapshot is wrong, and says so. The file keeps it."""
    lecture = run(library.load("lecture"))
    away = apply_edit(lecture, {"do": "fifo", "channel": "P2->P1", "fifo": False}, 0.0)
    assert (away.scenario.not_fifo, away.scenario.breaks) == (("P2->P1",), ("fifo",))
    late = apply_edit(away, {"do": "delay", "message": {"label": "H"}, "delay": 300}, 0.0)
    assert "S1:channel_states" in failing(late)
    assert parse_toml(dumps(late.scenario), "again", "") == replace(late.scenario, name="again")
    back = apply_edit(late, {"do": "fifo", "channel": "P2->P1", "fifo": True}, 0.0)
    assert (back.scenario.not_fifo, back.scenario.breaks) == ((), ()) and not failing(back)
    with pytest.raises(InputError, match="'P2->P9' is no channel of this run; did you mean"):
        apply_edit(lecture, {"do": "fifo", "channel": "P2->P9", "fifo": False}, 0.0)


def test_an_algorithm_that_needs_fifo_is_broken_on_purpose_where_a_channel_has_none() -> None:
    """It is chosen from a menu of the page, which cannot write `breaks` into a file."""
    free = run(library.load("lai_yang"))
    assert free.scenario.not_fifo and not free.scenario.breaks
    broken = apply_edit(free, {"do": "algorithm", "kind": "chandy_lamport"}, 0.0)
    assert (broken.scenario.not_fifo, broken.scenario.breaks) == (free.scenario.not_fifo, ("fifo",))
    assert apply_edit(broken, {"do": "algorithm", "kind": "lai_yang"}, 0.0).scenario.breaks == ()
    lecture = run(library.load("lecture"))
    assert apply_edit(lecture, {"do": "algorithm", "kind": "chandy_lamport"}, 0.0).scenario.breaks == ()
