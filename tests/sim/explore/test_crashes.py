"""Every run with crashes: what the engine alone reaches, and what checks of a replayed run say of the same states."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from sim.core.errors import InputError
from sim.document import library
from sim.document.fault_rates import FaultRates
from sim.document.files import parse_toml
from sim.document.writing import dumps
from sim.explore.report import changed, complete_graph, exploration
from sim.explore.world import MayHappen
from sim.run.execution import run
from sim.verify.checks import verdicts_of
from tests.cases import each
from tests.sim.explore.comparison import differences
from tests.tools import check_none, thinned

ONE_CRASH, AND_BACK = MayHappen(crashes=1), MayHappen(crashes=1, restarts=True)


@pytest.mark.parametrize(
    ("sends", "states", "transitions"), [(1, 181, 386)],
)  # fmt: skip
def test_two_processes_and_one_crash(sends, states, transitions):
    """For any process that crashes and stays down: every complete snapshot is right."""
    done = exploration(complete_graph(2, sends), may=ONE_CRASH)
    assert (done.found.states, done.found.transitions, done.found.complete) == (states, transitions, True)
    assert done.shortest() == []


@pytest.mark.parametrize(
    ("sends", "crashes", "states", "transitions"), [(1, 1, 411, 826), (1, 2, 1_079, 2_647), (2, 1, 2_897, 6_888)],
)  # fmt: skip
def test_who_starts_again_may_record_anew_but_the_snapshot_is_not_complete_then(sends, crashes, states, transitions):
    """Else channel_states would fail in 6 steps: who forgot that it recorded sends before it records anew."""
    done = exploration(complete_graph(2, sends), may=MayHappen(crashes=crashes, restarts=True))
    assert (done.found.states, done.found.transitions, done.found.complete) == (states, transitions, True)
    assert done.shortest() == []


SECOND_PATH = {
    "one crash": (complete_graph(2, 1), ONE_CRASH),
    "one crash, no messages, three processes": (complete_graph(3, 0), ONE_CRASH),
    "who crashes may start again": (complete_graph(2, 1), AND_BACK),
    "two crashes": (complete_graph(2, 1), MayHappen(crashes=2, restarts=True)),
    "two messages each": (complete_graph(2, 2), AND_BACK),
    "a script": (library.load("two_banks"), AND_BACK),
}


LARGE = "crashes in every run of larger systems"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(own, marks=pytest.mark.long(LARGE)) if own.startswith("two ") else own for own in SECOND_PATH],
)
def test_the_plain_explorer_finds_the_same(name):
    scenario, may = SECOND_PATH[name]
    assert exploration(scenario, may=may).shortest() == []
    check_none(differences(scenario, may))


@pytest.mark.slow
@pytest.mark.parametrize("may", [ONE_CRASH, AND_BACK])
def test_where_processes_do_not_wait_for_each_other_it_is_the_same(may):
    check_none(differences(library.load("two_banks"), may, own_order=True))


@pytest.mark.parametrize("may", [ONE_CRASH, AND_BACK])
def test_one_state_stands_for_those_that_differ_in_names_with_crashes_too(may):
    every, some = (exploration(complete_graph(3, 0), symmetry=own, may=may).found for own in (False, True))
    assert some.pairs < every.pairs
    assert (some.states, some.transitions, some.snapshots) == (every.states, every.transitions, every.snapshots)


BROKEN_RULES = ["by_reference", "deaf_initiator", "fifo", "out_of_band", "slips_in", "two_markers"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "may"),
    [
        *product(BROKEN_RULES, [ONE_CRASH]),
        *thinned(product(BROKEN_RULES, [AND_BACK]), 2, "crashes, restarts and broken rules"),
    ],
)
def test_where_a_rule_is_broken_too_it_is_wrong_after_as_many_steps(rule, may):
    check_none(differences(changed(complete_graph(2, 1), rule, not_fifo=False), may))


@pytest.mark.parametrize("may", [ONE_CRASH, AND_BACK])
def test_a_broken_rule_is_found_with_a_crash_too(may):
    done = exploration(changed(complete_graph(2, 1), "deaf_initiator", not_fifo=False), may=may)
    for check, steps in done.shortest():
        execution = run(parse_toml(dumps(done.runs[check]), "wrong"))
        assert execution.steps == steps
        assert check in {own.check for own in verdicts_of(execution)["S1"] if own.holds is False}
    assert done.runs


@pytest.mark.parametrize("own_order", [False, True])
def test_faults_of_the_scenario_are_lines_of_the_world(own_order):
    check_none(differences(library.load("partition"), own_order=own_order))


@each(
    "scenario, may, complaint",
    [
        (complete_graph(2, 1), MayHappen(-1), "--crashes -1: give a number of crashes, 0 or more"),
        (complete_graph(2, 1), MayHappen(0, restarts=True), "--restarts: only a process that has crashed"),
        (library.load("crash"), ONE_CRASH, "--crashes: the scenario has faults of its own"),
        (
            replace(complete_graph(2, 1), fault_rates=FaultRates(crash=1)),
            ONE_CRASH,
            "--crashes: the scenario has faults",
        ),
        (replace(complete_graph(2, 1), algorithm="lai_yang"), ONE_CRASH, "--crashes: the rules of Lai-Yang do not"),
    ],
)
def test_bad_input_gets_one_sentence(scenario, may, complaint):
    with pytest.raises(InputError) as problem:
        exploration(scenario, may=may)
    assert str(problem.value).startswith(complaint)
