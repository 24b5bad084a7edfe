"""The manual scheduler: the choices offered, their names, and edits of such a run."""

from __future__ import annotations

from typing import Any

import pytest

from sim.core.delays import HOLD, DelayRule
from sim.core.errors import InputError
from sim.core.model import RECEIVE, MessageReference
from sim.document import library
from sim.document.scenario import SchedulerChoice, ScriptLine
from sim.edit.edits import apply_edit
from sim.explain.choices import Enabled, all_choices, choices_made
from sim.run.execution import Execution, run
from tests.sim.tools import send, start, system


def edit(execution: Execution, do: str, **keys: Any) -> Execution:
    return apply_edit(execution, {"do": do, **keys}, 0)


def enabled_at(execution: Execution, step: int) -> list[Enabled]:
    return all_choices(execution, step, step)[0]


def names(execution: Execution) -> list[str]:
    """The choices at the end of the run."""
    return [enabled.choice for enabled in enabled_at(execution, execution.steps)]


@pytest.fixture
def lecture() -> Execution:
    return run(library.load("lecture"))


def test_the_user_chooses_after_a_given_step(lecture: Execution) -> None:
    """After step 9, H waits on P2->P1. The first nine steps do not change."""
    by_hand = edit(lecture, "manual", after=9)
    assert by_hand.scenario.scheduler.order == choices_made(lecture, 9)
    assert [(e.step, e.process, e.kind) for e in by_hand.events] == [
        (e.step, e.process, e.kind) for e in lecture.events if e.step <= 9
    ]
    assert enabled_at(by_hand, 9) == [
        Enabled("act P3", "P3 has its event J", None, "P3"),
        Enabled("act P1", "P1 sends E->K to P3", None, "P1"),
        Enabled("deliver P1->P2", "deliver the marker of S1 on C12", 2, "P2"),
        Enabled("deliver P2->P1", "deliver H->D on C21", 6, "P1"),
        Enabled("deliver P3->P1", "deliver the marker of S1 on C31", 4, "P1"),
        Enabled("deliver P3->P2", "deliver the marker of S1 on C32", 5, "P2"),
    ]
    assert Enabled("initiate S1 at P1", "P1 starts S1", None, "P1") in enabled_at(by_hand, 4)


def test_a_choice_at_an_earlier_step_branches(lecture: Execution) -> None:
    by_hand = edit(edit(lecture, "manual", after=9), "choose", choice="deliver P2->P1")
    assert [e.label for e in by_hand.events if e.step == 10 and e.index] == ["D"]
    branched = edit(by_hand, "choose", choice="act P3", after=2)
    assert branched.scenario.scheduler.order == (*by_hand.scenario.scheduler.order[:2], "act P3")


def test_a_choice_that_is_not_enabled_is_refused_with_those_that_are(lecture: Execution) -> None:
    with pytest.raises(InputError, match=r"choice 1, 'deliver P1->P2', is not enabled; enabled are: act P1"):
        edit(lecture, "choose", choice="deliver P1->P2", after=0)
    with pytest.raises(InputError, match="this run has 18 steps"):
        edit(lecture, "manual", after=19)
    with pytest.raises(InputError, match="choice: is missing"):
        edit(lecture, "choose", after=3)


def test_without_time_delays_are_forgotten_and_a_held_message_may_be_delivered() -> None:
    lines = (send("P1", "P2", 1, label="A"), send("P1", "P2", 2, label="B"))
    held = run(
        system(
            "P1 P2",
            script=lines,
            delays={MessageReference(label="A"): HOLD},
            delay=DelayRule("listed", values=(1.0, 2.0)),
        )
    )
    by_hand = edit(held, "manual")
    assert by_hand.scenario.delays == {} and names(by_hand) == ["deliver P1->P2"]
    more = edit(edit(by_hand, "send", process="P1", to="P2"), "choose", choice="act P1")
    assert more.steps == 3, "a listed delay for each of two messages is no bound any more"


def test_a_message_held_under_the_manual_scheduler_cannot_be_chosen() -> None:
    by_hand = edit(run(system("P1 P2", script=(send("P1", "P2", 1, label="A"),))), "manual", after=1)
    held = edit(by_hand, "hold", message={"label": "A"})
    assert names(by_hand) == ["deliver P1->P2"] and names(held) == []
    assert names(edit(held, "release", message={"label": "A"})) == ["deliver P1->P2"]


def test_items_added_under_the_manual_scheduler_come_last(lecture: Execution) -> None:
    by_hand = edit(lecture, "manual", after=9)
    added = edit(by_hand, "send", process="P3", to="P1", at=1, body="late")
    added = edit(edit(added, "internal", process="P3"), "snapshot", process="P2")
    assert added.events == by_hand.events
    assert [line.at for line in added.scenario.script[-2:]] == [752, 753] and added.scenario.snapshots[-1].at == 737
    assert names(added)[:3] == ["act P3", "act P1", "initiate S2 at P2"]
    for _ in range(3):
        added = edit(added, "choose", choice="act P3")
    assert [e.kind for e in added.events if e.step > 9] == ["internal", "send", "internal"]


def test_a_message_on_a_channel_that_is_not_fifo_is_named_by_its_place() -> None:
    lines = tuple(send("P1", "P2", n, f"m{n}") for n in (1, 2, 3))
    scenario = system("P1 P2", "P1->P2 P2->P1", script=lines, not_fifo=("P1->P2",), algorithm="lai_yang")
    by_hand = edit(run(scenario), "manual", after=0)
    for _ in lines:
        by_hand = edit(by_hand, "choose", choice="act P1")
    assert [(e.choice, e.words, e.message) for e in enabled_at(by_hand, 3)] == [
        ("deliver P1->P2", "deliver m1 on C12", 0),
        ("deliver P1->P2 #2", "deliver m2 on C12", 1),
        ("deliver P1->P2 #3", "deliver m3 on C12", 2),
    ]
    by_hand = edit(edit(by_hand, "choose", choice="deliver P1->P2 #2"), "choose", choice="deliver P1->P2 #2")
    assert [e.body for e in by_hand.events if e.kind == RECEIVE] == ['"m2"', '"m3"']
    assert names(by_hand) == ["deliver P1->P2"]


def test_lines_that_wait_and_turns_of_the_workload_have_names_of_their_own() -> None:
    lines = (ScriptLine("P1", 1, label="A"), *(ScriptLine("P1", 1, "A", label=name) for name in "BC"))
    scenario = system("P1 P2", script=lines, workload="bank", parameters={"transfers": 1})
    by_hand = edit(run(scenario), "manual", after=0)
    assert names(by_hand) == ["act P1", "turn P1", "turn P2"]
    by_hand = edit(by_hand, "choose", choice="act P1")
    assert names(by_hand) == ["act P1", "act P1 #2", "turn P1", "turn P2"]
    by_hand = edit(by_hand, "choose", choice="act P1 #2")
    assert [e.label for e in by_hand.events] == ["A", "C"]
    later = edit(edit(by_hand, "choose", choice="turn P1"), "internal", process="P1")
    assert later.events == edit(by_hand, "choose", choice="turn P1").events, "a new line renames no choice made"


def test_a_random_run_can_be_continued_by_hand() -> None:
    lines = tuple(send(f"P{1 + n % 3}", f"P{1 + (n + 1) % 3}", n) for n in range(9))
    at_random = run(system("P1 P2 P3", script=lines, snapshots=(start("P1", 2),), scheduler=SchedulerChoice("random")))
    assert edit(at_random, "manual").events == at_random.events
