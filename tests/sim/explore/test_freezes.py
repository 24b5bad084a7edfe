"""Every run in which processes are frozen and thawed at any moment. Without time, a frozen process is a slow one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES
from sim.core.errors import InputError
from sim.core.model import FROZEN, THAWED
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.document.writing import dumps
from sim.explore.graph import state_graph
from sim.explore.replay import by_hand
from sim.explore.report import Exploration, changed, complete_graph, exploration
from sim.explore.world import MayHappen
from sim.run.execution import run
from tests.cases import each
from tests.sim.explore.comparison import differences
from tests.sim.tools import rows_of
from tests.tools import check_none, thinned

ONCE, TWICE = MayHappen(freezes=1), MayHappen(freezes=2)


def found(done: Exploration) -> tuple[set[str], set[str]]:
    """The snapshots that can be recorded, and the checks that fail in some run."""
    return {f"{own.id} {own.processes} {own.channels}" for own in done.recorded}, {*done.found.worst}


SOME_BROKEN_RULES = thinned(BROKEN_RULES, 8, "every run of broken rules with freezes, beside those without")


@pytest.mark.slow
@pytest.mark.parametrize("rules", [*ALGORITHMS, *SOME_BROKEN_RULES])
def test_the_same_snapshots_are_recorded_and_the_same_checks_fail(rules):
    for size, may, own_order in ((2, 0), TWICE, True), ((2, 1), ONCE, False), ((3, 0), ONCE, False):
        try:
            scenario = changed(complete_graph(*size), rules, not_fifo=False)
            without = exploration(scenario, own_order=own_order, most_states=300)
        except InputError:
            continue
        if without.found.complete:
            assert found(exploration(scenario, own_order=own_order, may=may)) == found(without)


def test_so_it_is_with_a_script() -> None:
    scenario = library.load("two_banks")
    assert found(exploration(scenario, may=ONCE)) == found(exploration(scenario))


@pytest.mark.slow
def test_a_freeze_meets_crashes_and_losses() -> None:
    for may in (MayHappen(crashes=1, freezes=1), MayHappen(crashes=1, restarts=True, losses=1, freezes=1)):
        check_none(differences(complete_graph(2, 0), may))


def test_one_state_stands_for_those_that_differ_in_names() -> None:
    every, some = (exploration(complete_graph(3, 0), symmetry=own, may=ONCE).found for own in (False, True))
    assert some.pairs < every.pairs
    assert (some.states, some.transitions, some.snapshots) == (every.states, every.transitions, every.snapshots)


def test_a_run_with_a_freeze_opens_as_a_scenario() -> None:
    done = exploration(complete_graph(2, 0), may=ONCE)
    nodes, edges = state_graph(done.found)
    frozen = next(edge for edge in edges if edge.words == "P2 is frozen" and edge.source == 0)
    thawed = next(edge for edge in edges if edge.source == frozen.target and edge.words == "P2 is thawed")
    assert nodes[frozen.target].processes["P2"].endswith("is frozen")
    execution = run(parse_toml(dumps(by_hand(done.scenario, (frozen.action, thawed.action))), "wrong"))
    assert [row.kind for row in rows_of(execution, FROZEN, THAWED)] == [FROZEN, THAWED]


def test_nothing_is_lost_so_every_check_is_made() -> None:
    assert not any("that lose" in line for line in exploration(complete_graph(2, 0), may=ONCE).in_words())


def test_what_is_frozen_for_good_is_no_snapshot_that_is_wrong() -> None:
    """As with a channel that is never mended: the environment is in the way. The plain explorer says so too."""
    text = dumps(library.load("two_banks")) + '\n[[faults]]\nkind = "freeze"\nprocess = "S2"\nat = 2.5\n'
    assert list(_alone(parse_toml(text, "frozen"))) == []


def _alone(scenario: Scenario) -> Iterator[str]:
    yield from differences(scenario)
    yield from exploration(scenario).found.worst


@each(
    "scenario, may, complaint",
    [
        (complete_graph(2, 1), MayHappen(freezes=-1), "--freezes -1: give a number of freezes, 0 or more"),
        (library.load("crash"), ONCE, "--freezes: the scenario has faults of its own; take them out, or leave --fr"),
    ],
)
def test_bad_input_gets_one_sentence(scenario: Scenario, may: MayHappen, complaint: str) -> None:
    with pytest.raises(InputError) as problem:
        exploration(scenario, may=may)
    assert str(problem.value).startswith(complaint)
