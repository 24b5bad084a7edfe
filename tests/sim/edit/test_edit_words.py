"""Edits in words, and the effect of FIFO on them."""

from __future__ import annotations

from typing import Any

import pytest

from sim.core.delays import HOLD, DelayRule
from sim.core.model import MARKER, MessageReference
from sim.document import library
from sim.document.scenario import Scenario, SchedulerChoice
from sim.edit.edits import apply_edit
from sim.edit.words import consequence, describe_edit
from sim.run.execution import Execution, run
from sim.run.fifo import due, tries, waits_behind
from tests.sim.tools import send, start, system

M21 = {"channel": "P2->P1", "kind": "marker", "snapshot": "S1"}
H = {"label": "H"}


@pytest.fixture
def lecture() -> Execution:
    return run(library.load("lecture"))


def test_edits_in_words(lecture: Execution) -> None:
    by_hand = apply_edit(lecture, {"do": "manual", "after": 9}, 0)
    texts = [
        describe_edit(lecture, {"do": "delay", "message": M21, "delay": 20}),
        describe_edit(lecture, {"do": "hold", "message": H}),
        describe_edit(lecture, {"do": "release", "message": {"channel": "P1->P2", "ordinal": 2}}),
        describe_edit(lecture, {"do": "send", "process": "P1", "to": "P2", "at": 5, "body": ""}),
        describe_edit(lecture, {"do": "internal", "process": "P1", "at": 5.5}),
        describe_edit(lecture, {"do": "snapshot", "process": "P3"}),
        describe_edit(lecture, {"do": "change", "item": {"script": 4}, "at": 120}),
        describe_edit(lecture, {"do": "change", "item": {"script": 4}, "at": 120, "process": "P3"}),
        describe_edit(lecture, {"do": "change", "item": {"script": 4}, "to": "P3", "body": "50"}),
        describe_edit(lecture, {"do": "change", "item": {"script": 4}, "body": ""}),
        describe_edit(lecture, {"do": "change", "item": {"snapshots": 0}, "at": 120.5}),
        describe_edit(lecture, {"do": "delete", "item": {"script": 5}}),
        describe_edit(lecture, {"do": "delete", "item": {"snapshots": 0}}),
        describe_edit(lecture, {"do": "fifo", "channel": "P2->P1", "fifo": False}),
        describe_edit(lecture, {"do": "fifo", "channel": "P2->P1", "fifo": True}),
        describe_edit(lecture, {"do": "manual", "after": 9}),
        describe_edit(by_hand, {"do": "choose", "choice": "deliver P2->P1"}),
        describe_edit(by_hand, {"do": "choose", "choice": "act P1", "after": 1}),
        describe_edit(by_hand, {"do": "internal", "process": "P1", "at": 5.5}),
    ]
    assert texts == [
        "delay the marker of S1 on C21: 20 time units",
        "hold the message sent at H",
        "release message number 2 on C12",
        "P1 sends a message to P2 at 5",
        "an internal event of P1 at 5.5",
        "P3 starts a snapshot",
        "move H of P2 to 120",
        "move H of P2 to 120 on process P3",
        "send H of P2 to P3, body of H: 50",
        "body of H: none",
        "move the start of S1 at P1 to 120.5",
        "delete J",
        "delete the start of S1 at P1",
        "messages on C21 may overtake each other",
        "C21 is FIFO again",
        "choose every step from step 10 on",
        "choose: deliver H->D on C21",
        "choose: P1 sends B->F to P2",
        "an internal event of P1",
    ]
    assert MessageReference(None, "P1->P2", MARKER, "S1", 2).in_words() == "the marker number 2 of S1 on P1->P2"


def test_an_item_without_a_name_is_described_by_its_time_and_place() -> None:
    lines = (send("P1", "P2", 7), send("P2", "P1", 1, after="P2.1"))
    execution = run(system("P1 P2", script=lines))
    texts = [describe_edit(execution, {"do": "delete", "item": {"script": place}}) for place in (0, 1)]
    assert texts == ["delete the message of P1 to P2 at 7", "delete the message of P2 to P1 at 1 after P2.1"]
    moved = describe_edit(execution, {"do": "change", "item": {"script": 1}, "at": 2})
    assert moved == "move the message of P2 to P1 at 1 after P2.1 to 2 after P2.1"


# --------------------------------------------------------------------------- the effect of FIFO


def effect_of(execution: Execution, edit: dict[str, Any], now: float = 0) -> str | None:
    return consequence(execution, apply_edit(execution, edit, now), edit)


def test_a_message_with_a_short_delay_waits_behind_the_one_in_front(lecture: Execution) -> None:
    """H arrives at 873; the marker behind it is sent at 843 and asks to take 10."""
    assert effect_of(lecture, {"do": "delay", "message": M21, "delay": 10}) == (
        "The marker of S1 arrives at 873, not at 853: C21 is FIFO, and it waits behind H->D."
    )
    assert effect_of(lecture, {"do": "delay", "message": M21, "delay": 40}) is None


def test_messages_behind_a_late_message_are_named(lecture: Execution) -> None:
    assert effect_of(lecture, {"do": "delay", "message": H, "delay": 500}) == (
        "The marker of S1 on C21, which is FIFO, now arrives behind H->D."
    )
    assert effect_of(lecture, {"do": "delay", "message": H, "delay": 1}) is None
    assert effect_of(lecture, {"do": "hold", "message": H}) == (
        "The marker of S1 on C21, which is FIFO, never arrives: it is behind H->D."
    )


def test_a_new_message_behind_a_late_one_is_described(lecture: Execution) -> None:
    """The marker on C12 is on its way from 492 to 967."""
    new = {"do": "send", "process": "P1", "to": "P2", "at": 560}
    assert (
        effect_of(lecture, new) == "P1.3 arrives at 967, not at 660: C12 is FIFO, and it waits behind the marker of S1."
    )
    assert effect_of(lecture, {**new, "at": 900}) is None


def test_messages_behind_a_held_message_never_arrive(lecture: Execution) -> None:
    held = apply_edit(lecture, {"do": "hold", "message": H}, 0)
    assert effect_of(held, {"do": "delay", "message": M21, "delay": 500}) == (
        "The marker of S1 never arrives: C21 is FIFO, and it waits behind H->D, which is held."
    )
    assert effect_of(held, {"do": "release", "message": H}, 1500) is None, "the marker waits behind it as before"


def four_in_a_row(**fields: Any) -> Scenario:
    lines = tuple(send("P1", "P2", n, label=name) for n, name in enumerate("GHKL", start=1))
    return system("P1 P2", "P1->P2 P2->P1", script=lines, **fields)


@pytest.mark.parametrize("kind", ["timed", "tick"])
def test_a_message_in_front_and_the_messages_behind_are_described(kind: str) -> None:
    """G is late. H, with an even longer delay, does not wait for G, but K and L wait for H."""
    scenario = four_in_a_row(delays={MessageReference(label="G"): 20.0}, scheduler=SchedulerChoice(kind))
    execution = run(scenario)
    assert waits_behind(execution) == {1: 0, 2: 0, 3: 0}
    assert effect_of(execution, {"do": "delay", "message": H, "delay": 50}) == (
        "K and L on C12, which is FIFO, now arrive behind H."
    )
    text = effect_of(execution, {"do": "delay", "message": H, "delay": 3})
    assert (
        text is not None and text.startswith("H arrives at 2") and text.endswith("C12 is FIFO, and it waits behind G.")
    )
    assert effect_of(execution, {"do": "hold", "message": {"label": "K"}}) == (
        "L on C12, which is FIFO, never arrives: it is behind K."
    )


def test_moving_a_send_or_snapshot_names_the_messages_that_it_delays() -> None:
    execution = run(four_in_a_row(delays={MessageReference(label="G"): 20.0}, snapshots=(start("P1", 40),)))
    assert effect_of(execution, {"do": "change", "item": {"script": 0}, "at": 2.5}) is None, (
        "H is in front now, K and L wait"
    )
    late = apply_edit(execution, {"do": "change", "item": {"script": 0}, "at": 30}, 0)
    assert waits_behind(late) == {4: 3}
    assert effect_of(late, {"do": "change", "item": {"script": 0}, "at": 1}) == (
        "H, K and L on C12, which is FIFO, now arrive behind G."
    )
    assert effect_of(execution, {"do": "change", "item": {"snapshots": 0}, "at": 10}) == (
        "The marker of S1 on C12, which is FIFO, now arrives behind G."
    )


def test_where_channels_are_not_fifo_nothing_waits() -> None:
    scenario = four_in_a_row(not_fifo=("P1->P2",), algorithm="lai_yang", delays={MessageReference(label="G"): 20.0})
    assert waits_behind(run(scenario)) == {}
    assert effect_of(run(scenario), {"do": "hold", "message": H}) is None


def test_every_message_has_the_delay_it_was_given() -> None:
    delays = {
        MessageReference(label="G"): 20.0,
        MessageReference(None, "P1->P2", ordinal=3): HOLD,
        MessageReference(label="P1.4"): 7.0,
    }
    execution = run(four_in_a_row(delays=delays, delay=DelayRule("fixed", 2.0)))
    assert [last.delay for last in tries(execution)] == [20, 2, HOLD, 7]
    assert [due(execution, flight) for flight in execution.flights] == [21, 4, HOLD, 11]
    ticked = run(four_in_a_row(delays=delays, delay=DelayRule("fixed", 2.5), scheduler=SchedulerChoice("tick")))
    assert [due(ticked, flight) for flight in ticked.flights] == [22, 6, HOLD, 12]
