"""Dijkstra's interchanges: on random runs they end at the recorded state; without a consistent cut they get stuck."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.core.deadline import Deadline, OutOfTime, within
from sim.core.effects import Out
from sim.core.errors import InputError
from sim.core.model import Process
from sim.core.workload import WORKLOADS, Workload
from sim.document import library
from sim.document.scenario import Scenario, ScriptLine
from sim.edit.edits import apply_edit
from sim.run.execution import Execution, run
from sim.run.rearranged import SystemState, cut_of, recorded_state, state_after
from sim.run.snapshots import Snapshot, snapshots_of
from sim.theory.interchange import (
    ColouredAction,
    TooManySwaps,
    coloured_actions,
    forbidden,
    forbids,
    interchanges,
    inversions,
    rearranged,
)
from tests.scenarios.test_not_fifo import lai_yang
from tests.sim.strategies import scenarios
from tests.sim.tools import system
from tests.tools import examples


def with_cuts(execution: Execution) -> list[Snapshot]:
    return [own for own in snapshots_of(execution) if len(own.local) == len(execution.scenario.processes)]


def row_of(execution: Execution, snapshot: Snapshot) -> list[ColouredAction]:
    return coloured_actions(execution.history, cut_of(execution, snapshot))


def views(row: list[ColouredAction]) -> dict[str, list[tuple[int, int]]]:
    """What each process sees: its own actions, in their order."""
    found: dict[str, list[tuple[int, int]]] = {}
    for action in row:
        found.setdefault(action.process, []).append((action.first, action.last))
    return found


@examples(15)
@given(scenarios())
def test_the_swaps_end_at_the_recorded_state(scenario: Scenario) -> None:
    """Each lowers the inversions by one and keeps every view; in between is what a complete snapshot recorded."""
    execution = run(scenario)
    snapshots = with_cuts(execution)
    assume(snapshots)
    for snapshot in snapshots:
        row = row_of(execution, snapshot)
        assume(inversions(row) <= 400)
        consistent = execution.history.is_consistent(snapshot.frontier)
        now, seen = row, views(row)
        for place in interchanges(row):
            red, white = now[place], now[place + 1]
            assert red.is_red and not white.is_red and red.process != white.process and forbids(red, white) is None
            before, now = inversions(now), rearranged(now, [place])
            assert inversions(now) == before - 1 and views(now) == seen
        assert (inversions(now) == 0) == consistent == (not forbidden(row))
        if consistent and snapshot.completed is not None:
            white = [action for action in now if not action.is_red]
            assert now[: len(white)] == white
            assert state_after(execution, white) == recorded_state(execution, snapshot)
            assert state_after(execution, now) == final_state(execution)


def final_state(execution: Execution) -> SystemState:
    return state_after(execution, coloured_actions(execution.history, {}))


@examples(15)
@given(scenarios(), st.data())
def test_where_the_swaps_stop_no_pair_commutes(scenario: Scenario, data: st.DataObject) -> None:
    """For any cut, consistent or not."""
    history = run(scenario).history
    cut = {name: data.draw(st.integers(0, len(own)), label=name) for name, own in history.of.items()}
    row = coloured_actions(history, cut)
    assume(inversions(row) <= 400)
    end = rearranged(row, interchanges(row))
    for one, other in pairwise(end):
        assert not (one.is_red and not other.is_red) or forbids(one, other) is not None
    assert (inversions(end) == 0) == history.is_consistent(cut)
    in_order = sorted(history.violations(cut), key=lambda message: history.receives[message].row)
    assert [found.message for found in forbidden(row)] == in_order


def test_the_lecture_example_has_one_inversion_and_the_engine_meets_the_recorded_state() -> None:
    execution = run(library.load("lecture"))
    (snapshot,) = snapshots_of(execution)
    row = row_of(execution, snapshot)
    assert "".join(action.label for action in row if not action.is_red) == "ABIFGH"
    assert inversions(row) == 1 and list(interchanges(row)) == [[a.label for a in row].index("C")]
    assert [action.label for action in rearranged(row, interchanges(row))] == list("ABIFGHCJDEK")


def test_without_fifo_a_red_message_is_accepted_in_a_white_action() -> None:
    """Lai and Yang's run with plain markers: m3, sent after P1 records, reaches P2 before the marker."""
    execution = run(lai_yang("chandy_lamport", marker_arrives=6.5, breaks=("fifo",)))
    (snapshot,) = snapshots_of(execution)
    row = row_of(execution, snapshot)
    (found,) = forbidden(row)
    sent, accepted = execution.history.sends[found.message], execution.history.receives[found.message]
    assert (sent.label, found.sent, found.accepted) == ("m3", sent.step, accepted.step)
    end = rearranged(row, interchanges(row))
    assert inversions(end) > 0
    stuck = [(one, other) for one, other in pairwise(end) if one.is_red and not other.is_red]
    assert [forbids(*pair) for pair in stuck] == [found.message]


def test_a_snapshot_without_a_cut_is_refused_in_a_sentence() -> None:
    """P1's markers never arrive, so P1 alone records."""
    execution = run(library.load("lattice"))
    marker = {"channel": "p1->p2", "kind": "marker", "snapshot": "S1"}
    held = apply_edit(execution, {"do": "hold", "message": marker}, 0.0)
    (snapshot,) = snapshots_of(held)
    with pytest.raises(InputError, match="p2 has not recorded, so this snapshot has no cut"):
        cut_of(held, snapshot)


def test_very_many_swaps_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    execution = run(library.load("overlapping"))
    row = row_of(execution, snapshots_of(execution)[1])
    monkeypatch.setattr("sim.theory.interchange.MOST_SWAPS", inversions(row) - 1)
    with pytest.raises(TooManySwaps):
        next(interchanges(row))


class Tells(Workload):
    """An internal event and a send, in one action."""

    name = "test_tells"
    title = "Tells"

    def after_internal(self, process: Process, body: Any, out: Out) -> Any:
        out.send("P2")
        return "told"


def test_the_engine_carries_out_no_part_of_an_action(monkeypatch: pytest.MonkeyPatch) -> None:
    """P1 does two things in one step. A cut between them is no state between actions."""
    monkeypatch.setitem(WORKLOADS._found, Tells.name, Tells)
    execution = run(system("P1 P2", workload=Tells.name, script=(ScriptLine("P1", 1.0),)))
    assert state_after(execution, coloured_actions(execution.history, {"P1": 2})).processes["P1"] == "told"
    row = coloured_actions(execution.history, {"P1": 1})
    assert len(row) == 3
    with pytest.raises(InputError, match="step 1: the cut divides what P1 does in one step"):
        state_after(execution, row)


def test_the_engine_looks_at_the_deadline() -> None:
    execution = run(library.load("hundred"))
    row = coloured_actions(execution.history, {})
    assert state_after(execution, row) == final_state(execution)
    with within(Deadline(0.0)), pytest.raises(OutOfTime):
        state_after(execution, row)
