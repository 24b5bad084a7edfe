"""Dijkstra's interchanges: on random runs they end at the recorded state; without a consistent cut they get stuck."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.core.errors import InputError
from sim.document import library
from sim.document.files import load
from sim.document.scenario import Scenario
from sim.edit.edits import apply_edit
from sim.exchange.interchange_report import interchange_report
from sim.explain.actions import action_in_words
from sim.run.execution import Execution, run
from sim.run.rearranged import ColouredRun
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
from tests.cases import each
from tests.reference.test_verdicts import CASES
from tests.scenarios.test_not_fifo import lai_yang
from tests.sim.strategies import scenarios
from tests.tools import examples


def with_cuts(execution: Execution) -> list[Snapshot]:
    return [own for own in snapshots_of(execution) if len(own.local) == len(execution.scenario.processes)]


def row_of(execution: Execution, snapshot: Snapshot) -> list[ColouredAction]:
    return ColouredRun(execution, snapshot).row


def labels(execution: Execution, row: list[ColouredAction]) -> str:
    return "".join(action_in_words(execution, action).label for action in row)


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
            own = ColouredRun(execution, snapshot)
            assert own.met == own.recorded


@examples(15)
@given(scenarios(), st.data())
def test_where_the_swaps_stop_no_pair_commutes(scenario: Scenario, data: st.DataObject) -> None:
    """For any cut, consistent or not."""
    execution = run(scenario)
    history = execution.history
    cut = {name: data.draw(st.integers(0, len(own)), label=name) for name, own in history.of.items()}
    row = coloured_actions(execution.order, execution.order.at(tuple(cut.values())))
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
    assert labels(execution, [action for action in row if not action.is_red]) == "ABIFGH"
    assert inversions(row) == 1 and list(interchanges(row)) == [labels(execution, row).index("C")]
    assert labels(execution, rearranged(row, interchanges(row))) == "ABIFGHCJDEK"


def test_without_fifo_a_red_message_is_accepted_in_a_white_action() -> None:
    """Lai and Yang's run with plain markers: m3, sent after P1 records, reaches P2 before the marker."""
    execution = run(lai_yang("chandy_lamport", marker_arrives=6.5, breaks=("fifo",)))
    (snapshot,) = snapshots_of(execution)
    row = row_of(execution, snapshot)
    (found,) = forbidden(row)
    sent, accepted = execution.history.sends[found.message], execution.history.receives[found.message]
    assert (sent.label, found.red.step, found.white.step) == ("m3", sent.step, accepted.step)
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
        ColouredRun(held, snapshot)


def test_very_many_swaps_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    execution = run(library.load("overlapping"))
    row = row_of(execution, snapshots_of(execution)[1])
    monkeypatch.setattr("sim.theory.interchange.MOST_SWAPS", inversions(row) - 1)
    with pytest.raises(TooManySwaps):
        next(interchanges(row))


@each("name", ["overtaking", "recorded_again_after_a_crash", "lost_after_it_was_recorded"])
def test_cases_in_which_the_run_passes_through_the_snapshot(name: str) -> None:
    """A bag on a channel that is not FIFO; a crash is carried out, too; what is lost later was there."""
    assert interchange_report(run(load(CASES / f"{name}.toml")))["passes_through_snapshot"]
