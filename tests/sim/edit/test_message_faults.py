"""Edits by which messages are lost and copied, processes become slow, and the network changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.core.errors import InputError
from sim.core.model import MARKER, MessageReference
from sim.core.network import Network
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine, Scenario
from sim.document.writing import dumps
from sim.edit.another_algorithm import remedy_of_order
from sim.edit.edits import apply_edit
from sim.edit.words import describe_edit
from sim.run.execution import run
from tests.sim.tools import edited_by, send, start, system

H = {"label": "H"}
LOSE_H = {"do": "fault", "kind": "lose", "message": H}
MARKER_12 = {"channel": "P1->P2", "kind": "marker", "snapshot": "S1"}


def base() -> Scenario:
    return system(
        "P1 P2", script=(send("P1", "P2", 1, 30, label="H"), send("P1", "P2", 5, 1)), snapshots=(start("P1", 3),)
    )


def words(edit: dict[str, object]) -> str:
    return describe_edit(run(base()), edit)


def test_a_message_is_lost_copied_and_not_any_more() -> None:
    lost = edited_by(base(), LOSE_H, 0.0)
    assert lost.faults == (FaultLine("lose", message=MessageReference(label="H")),)
    later = edited_by(lost, {**LOSE_H, "kind": "copy", "at": 1.5}, 0.0)
    assert later.faults[1] == FaultLine("copy", at=1.5, message=MessageReference(label="H"))
    assert parse_toml(dumps(later), later.name).faults == later.faults
    assert edited_by(later, {"do": "delete", "item": {"faults": 0}}, 0.0).faults == later.faults[1:]
    moved = edited_by(later, {"do": "change", "item": {"faults": 1}, "at": 1.75}, 0.0)
    assert moved.faults[1].at == 1.75


def test_a_marker_is_lost() -> None:
    lost = edited_by(base(), {"do": "fault", "kind": "lose", "message": MARKER_12}, 0.0)
    assert lost.faults == (FaultLine("lose", message=MessageReference(None, "P1->P2", MARKER, "S1")),)
    assert parse_toml(dumps(lost), lost.name).faults == lost.faults
    assert edited_by(lost, {"do": "delete", "item": {"snapshots": 0}}, 0.0).faults == ()


def test_with_its_send_the_loss_of_a_message_goes_too() -> None:
    for label in ("H", "P1.1"):
        lost = edited_by(base(), {**LOSE_H, "message": {"label": label}}, 0.0)
        assert edited_by(lost, {"do": "delete", "item": {"script": 0}}, 0.0).faults == ()
    other = edited_by(base(), {**LOSE_H, "message": {"label": "P1.2"}}, 0.0)
    assert edited_by(other, {"do": "delete", "item": {"script": 0}}, 0.0).faults == other.faults


def test_a_slow_process_and_another_factor() -> None:
    slow = edited_by(base(), {"do": "fault", "kind": "slow", "process": "P2", "factor": 3, "at": 0.5}, 0.0)
    assert slow.faults == (FaultLine("slow", "P2", at=0.5, factor=3),)
    assert edited_by(slow, {"do": "change", "item": {"faults": 0}, "factor": 5}, 0.0).faults[0].factor == 5
    with pytest.raises(InputError, match="factor: expected a number above 0"):
        edited_by(slow, {"do": "change", "item": {"faults": 0}, "factor": 0}, 0.0)
    with pytest.raises(InputError, match="factor"):
        edited_by(edited_by(base(), LOSE_H, 0.0), {"do": "change", "item": {"faults": 0}, "factor": 5}, 0.0)


def test_a_raw_network_breaks_fifo_on_purpose_and_the_layer_keeps_it_again() -> None:
    raw = edited_by(base(), {"do": "network", "layer": "raw"}, 0.0)
    assert raw.network == Network("raw") and raw.breaks == ("fifo",)
    remedy = remedy_of_order(raw)
    assert remedy is not None and remedy.words == "Put a FIFO layer over the network"
    assert edited_by(raw, remedy.edit, 0.0) == replace(base(), expect={})
    assert edited_by(raw, {"do": "algorithm", "kind": "lai_yang"}, 0.0).breaks == ()
    assert edited_by(base(), {"do": "network", "resend": 2.5}, 0.0).network == Network("fifo", 2.5)


def test_the_words_of_the_edits() -> None:
    assert words(LOSE_H) == "the message sent at H is lost"
    assert words({**LOSE_H, "kind": "copy", "at": 1.5}) == "the message sent at H is copied at 1.5"
    assert words({**LOSE_H, "message": MARKER_12}) == "the marker of S1 on P1->P2 is lost"
    slow = {"do": "fault", "kind": "slow", "process": "P2", "at": 4}
    assert words({**slow, "factor": 3}) == "P2 takes 3 times as long from 4 on"
    assert words({**slow, "factor": 1}) == "P2 goes at its usual pace from 4 on"
    assert words({"do": "network", "layer": "raw"}).startswith("a raw network: lost messages stay lost")
    assert words({"do": "network", "resend": 2}) == "a FIFO layer resends lost messages after 2"
    lost = run(edited_by(base(), LOSE_H, 0.0))
    assert describe_edit(lost, {"do": "delete", "item": {"faults": 0}}) == "delete the loss of the message sent at H"


def test_bad_edits_get_one_sentence() -> None:
    for edit, complaint in {
        "message": ({"do": "fault", "kind": "lose"}, "message: is missing"),
        "label": ({**LOSE_H, "message": {"label": "Q"}}, "'Q' is not the label of a send; a loss names the send"),
        "layer": ({"do": "network", "layer": "wet"}, "layer: 'wet' is unknown"),
    }.values():
        with pytest.raises(InputError, match=complaint):
            apply_edit(run(base()), edit, 0.0)


def test_an_edit_of_the_shipped_scenario_makes_it_whole() -> None:
    whole = run(edited_by(library.load("lost_and_copied"), {"do": "network", "layer": "fifo"}, 0.0))
    assert [process.state for process in whole.final.processes] == [795, 205]


def test_without_its_coordinator_a_run_loses_no_marker_of_what_only_that_starts() -> None:
    lose = {"do": "fault", "kind": "lose", "message": {**MARKER_12, "snapshot": "S2"}}
    with_one = edited_by(base(), {"do": "coordinator", "on": True, "timeout": 20}, 0.0)
    lost = edited_by(edited_by(with_one, lose, 0.0), {"do": "fault", "kind": "lose", "message": MARKER_12}, 0.0)
    assert len(lost.faults) == 2
    alone = edited_by(lost, {"do": "coordinator", "on": False}, 0.0)
    assert [own.message and own.message.snapshot for own in alone.faults] == ["S1"]
