"""Changing and deleting script lines and initiations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim.core.delays import HOLD
from sim.core.errors import InputError
from sim.core.model import MessageReference
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import NamedCut, Scenario, ScriptLine
from sim.document.writing import dumps
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from sim.verify.expectations import frontier_of
from tests.cases import each
from tests.sim.tools import edited_by, send, start, summary, system

A, H, J = {"script": 0}, {"script": 4}, {"script": 5}  # of the lecture's lines A, B, I, C, H, J, E
S1 = {"snapshots": 0}


@pytest.fixture
def lecture() -> Scenario:
    return library.load("lecture")


def times(scenario: Scenario) -> dict[str | None, float]:
    return {event.label: event.time for event in run(scenario).events if event.label}


def change(scenario: Scenario, item: dict[str, int], **changes: Any) -> Scenario:
    return edited_by(scenario, {"do": "change", "item": item, **changes}, 0)


def delete(scenario: Scenario, item: dict[str, int]) -> Scenario:
    return edited_by(scenario, {"do": "delete", "item": item}, 0)


def test_a_change_keeps_all_other_fields(lecture: Scenario) -> None:
    moved = change(lecture, H, at=120, to=None, body=None)
    assert moved.script[4] == replace(lecture.script[4], at=120.0)
    assert (times(moved)["H"], times(moved)["D"]) == (120, 257), "its delay goes with it"
    assert change(moved, H, at=736).script == lecture.script


def test_a_message_gets_another_target_another_body_another_sender(lecture: Scenario) -> None:
    assert "873 P3 receive D" in summary(change(lecture, H, to="P3"))
    bodied = change(lecture, H, body="hello")
    assert [m.body for m in snapshots_of(run(bodied))[0].recorded_messages] == ["hello"]
    assert change(bodied, H, body="").script[4].body is None
    assert "736 P3 send H" in summary(change(lecture, H, process="P3"))


def test_a_time_after_an_event_keeps_its_meaning() -> None:
    lines = (ScriptLine("P1", 5, label="A"), ScriptLine("P2", 3, "A", label="B"))
    assert times(change(system("P1 P2", script=lines), {"script": 1}, at=10))["B"] == 15


def test_a_snapshot_may_start_at_another_time_and_process(lecture: Scenario) -> None:
    (snapshot,) = snapshots_of(run(change(lecture, S1, at=340, process="P2")))
    assert (snapshot.initiators, snapshot.events["P1"]) == (("P2",), ("A", "B"))
    assert change(lecture, S1, at=340).snapshots[0].process == "P1"


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"do": "change"}, "the edit is incomplete; name the item"),
    ({"do": "change", "item": H}, "give one of at, to, body, process"),
    ({"do": "change", "item": {"script": 7}, "at": 1}, "item.script: there is no number 7; this scenario has 7"),
    ({"do": "delete", "item": {"snapshots": 1}}, "item.snapshots: there is no number 1; this scenario has 1"),
    ({"do": "delete", "item": {"script": -1}}, "at least 0"),
    ({"do": "delete", "item": {"script": "1"}}, "a whole number"),
    ({"do": "delete", "item": {"script": 1, "snapshots": 0}}, 'expected {"script": n}, {"snapshots": n} or'),
    ({"do": "delete", "item": [1]}, "item: expected a table"),
    ({"do": "delete", "item": {}}, 'expected {"script": n}'),
    ({"do": "change", "item": A, "to": "P2"}, "an internal event has no receiver"),
    ({"do": "change", "item": S1, "body": "x"}, "the start of a snapshot has only a time and a process"),
    ({"do": "change", "item": H, "at": -1}, "at least 0"),
    ({"do": "change", "item": H, "at": "soon"}, "a number"),
    ({"do": "change", "item": H, "to": "P2"}, "sends a message to itself"),
    ({"do": "change", "item": H, "to": "P9"}, "'P9' is no process"),
    ({"do": "change", "item": H, "process": ["P1"]}, "process"),
    ({"do": "change", "item": H, "body": {"a": None}}, "expected texts"),
]  # fmt: skip


@each("edit, words", REFUSED)
def test_an_impossible_change_is_refused_in_a_sentence(lecture: Scenario, edit: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as refusal:
        edited_by(lecture, edit, 0)
    assert words in str(refusal.value) and "\n" not in str(refusal.value)


def test_a_change_that_takes_the_money_away_is_refused() -> None:
    scenario = system("P1 P2", workload="bank", parameters={"balance": 10}, script=(send("P1", "P2", 5, 8),))
    with pytest.raises(InputError, match="P1 has 10 and cannot send 11"):
        change(scenario, {"script": 0}, body="11")
    assert change(scenario, {"script": 0}, body="10").script[0].body == 10


# --------------------------------------------------------------------------- deleting


def test_a_deleted_item_does_not_happen_and_nothing_else_changes(lecture: Scenario) -> None:
    without = delete(lecture, H)
    assert set(times(lecture)) - set(times(without)) == {"H", "D"}
    assert MessageReference(label="H") not in without.delays and len(without.delays) == len(lecture.delays) - 1


def test_a_cut_that_ends_at_a_deleted_event_goes_with_it_and_the_file_is_still_good(lecture: Scenario) -> None:
    """One of the two cuts of the lecture ends at J."""
    without = delete(lecture, J)
    assert [cut.name for cut in without.cuts] == ["After B, F and I"]
    assert parse_toml(dumps(without), "lecture") == without
    wrong = replace(lecture, cuts=(NamedCut("wrong", {"P1": "Z"}),))
    with pytest.raises(InputError, match="there is no such event"):
        parse_toml(dumps(wrong), "lecture")


def test_a_cut_at_an_event_that_moved_to_another_process_cannot_be_drawn_but_stays(lecture: Scenario) -> None:
    moved = change(lecture, J, process="P1")
    assert moved.cuts == lecture.cuts
    with pytest.raises(InputError, match="has no such event in this run"):
        frontier_of(run(moved), moved.cuts[1])


@each("after", ["A", "F", "P1.1", "P2.1"])
def test_an_event_that_another_waits_for_is_not_deleted(after: str) -> None:
    lines = (send("P1", "P2", 1, label="A", receive_label="F"), ScriptLine("P2", 3, after, label="B"))
    with pytest.raises(InputError, match=f"delete: B waits for {after}, which this would delete"):
        delete(system("P1 P2", script=lines), {"script": 0})
    assert delete(system("P1 P2", script=lines), {"script": 1}).script == lines[:1]


def test_an_initiation_that_waits_is_named() -> None:
    scenario = system("P1 P2", script=(ScriptLine("P1", 1, label="A"),), snapshots=(start("P2", 0, after="A"),))
    with pytest.raises(InputError, match="the start of S1 at P2 waits for A"):
        delete(scenario, {"script": 0})


def test_the_delays_of_messages_behind_a_deleted_one_stay_theirs() -> None:
    """Three messages without names: the delay of the second is forgotten with it, that of the third is not."""
    lines = tuple(send("P1", "P2", at) for at in (1, 2, 3))
    delays = {MessageReference(None, "P1->P2", ordinal=n): 10.0 * n for n in (1, 2, 3)}
    without = delete(system("P1 P2", script=lines, delays=delays), {"script": 1})
    assert without.delays == {
        MessageReference(None, "P1->P2", ordinal=1): 10.0,
        MessageReference(None, "P1->P2", ordinal=2): 30.0,
    }
    assert summary(without, "receive") == ["11 P2 receive P2.1", "33 P2 receive P2.2"]


def test_the_delay_of_a_message_that_was_never_sent_goes_with_its_line() -> None:
    lines = (send("P1", "P2", 1, label="A", receive_label="F"), send("P2", "P1", 0, after="F", label="B"))
    delays = {MessageReference(label="A"): HOLD, MessageReference(label="B"): 5.0}
    assert delete(system("P1 P2", script=lines, delays=delays), {"script": 1}).delays == {
        MessageReference(label="A"): HOLD
    }


def test_deleting_the_last_initiation_of_a_snapshot_deletes_its_delays(lecture: Scenario) -> None:
    without = delete(lecture, S1)
    assert snapshots_of(run(without)) == [] and all(reference.snapshot is None for reference in without.delays)
    two = edited_by(lecture, {"do": "snapshot", "process": "P2", "id": "S1", "at": 500}, 0)
    assert delete(two, S1).delays == lecture.delays, "P2 still starts it"


def test_an_initiator_that_is_needed_to_reach_everyone_cannot_be_deleted() -> None:
    scenario = system("P1 P2", "P1->P2", snapshots=(start("P1", 1), start("P2", 1)))
    with pytest.raises(InputError, match="S1 cannot reach P1 from P2"):
        delete(scenario, S1)
