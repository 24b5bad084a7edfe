"""Processes that a scenario cannot tell apart: one state of each orbit is explored, and all are counted."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.algorithm import ALGORITHMS, ALL
from sim.core.broken_rule import BROKEN_RULES
from sim.core.errors import InputError
from sim.core.topology import Topology
from sim.document import library
from sim.document.scenario import Scenario
from sim.explore import packing
from sim.explore.replay import replayed
from sim.explore.report import Exploration, changed, complete_graph, exploration
from sim.explore.search import path_to
from sim.explore.space import Space
from sim.explore.symmetry import Renaming, interchangeable
from sim.run.execution import run
from sim.verify.checks import verdicts_of
from tests.cases import each
from tests.sim import rule_books
from tests.sim.tools import system
from tests.tools import thinned


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processes", "sends", "states", "transitions"),
    [(2, 3, 1_900, 4_340), (3, 1, 21_385, 72_907), (4, 0, 2_536, 13_207), (5, 0, 755_402, 7_033_961)],
)
def test_representatives_stand_for_the_states_that_there_are(processes, sends, states, transitions):
    """The first three are agreed by SPIN, TLC and separate programs; the last is what comes out without symmetry."""
    found = exploration(complete_graph(processes, sends), symmetry=True).found
    assert found.complete and (found.states, found.transitions) == (states, transitions)
    assert found.pairs < states or processes == 2


@pytest.mark.slow
def test_three_processes_with_two_messages_each():
    found = exploration(complete_graph(3, 2), symmetry=True).found
    assert (found.states, found.transitions) == (2_176_299, 9_369_665)
    assert found.pairs == 1_088_574


def same(scenario: Scenario, *, own_order: bool = False) -> Exploration:
    """Explores with and without symmetry: all but the representatives has to be the same."""
    plain, quick = (exploration(scenario, own_order=own_order, symmetry=own) for own in (False, True))
    assert (quick.found.states, quick.found.transitions) == (plain.found.states, plain.found.transitions)
    assert quick.shortest() == plain.shortest()
    documents = [own.to_json() for own in (quick, plain)]
    assert [own.pop("explored") for own in documents] == [quick.found.pairs, plain.found.pairs]
    assert documents[0] == documents[1]
    return quick


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "bits"),
    thinned(
        product([*ALGORITHMS, rule_books.Barrier.name], [packing.BITS, 10]), 5, "renamed states of every algorithm"
    ),
)
def test_nothing_else_changes_for_any_rule_book(register, monkeypatch, algorithm, bits):
    """Not even the number of ways to each snapshot. Memory and stamps name channels; control channels are renamed."""
    register(rule_books.Barrier)
    monkeypatch.setattr(packing, "BITS", bits)
    done = same(changed(complete_graph(3, 1), algorithm, not_fifo=False))
    # Where snapshots begin at sources, the graph is not symmetric; where all start one, each has a place in the script.
    is_symmetric = done.scenario.topology.kind == "complete" and ALGORITHMS[algorithm].initiators != ALL
    assert not is_symmetric or done.found.pairs < 0.51 * done.found.states


@pytest.mark.slow
def test_a_star_is_symmetric_in_its_leaves():
    leaves = tuple(edge for leaf in "BCD" for edge in (("A", leaf), (leaf, "A")))
    star = replace(complete_graph(4, 1), processes=("A", "B", "C", "D"), topology=Topology("listed", channels=leaves))
    star = replace(star, snapshots=(replace(star.snapshots[0], process="A"),))
    done = same(star)
    assert done.found.symmetry.in_words() == "B, C, D are interchangeable"
    assert done.found.pairs < done.found.states / 4


def classes(scenario: Scenario) -> list[list[int]]:
    return interchangeable(scenario, Space(scenario.engine(), own_order=False))


def test_processes_that_the_scenario_names_are_not_interchangeable():
    assert classes(complete_graph(4, 1)) == [[1, 2, 3]]
    assert classes(replace(complete_graph(4, 1), topology=Topology("ring"))) == []
    assert classes(library.load("lecture")) == []
    bank = system("P1 P2 P3 P4", workload="bank", parameters={"balance": {"P1": 5, "P2": 5}})
    assert classes(bank) == [[2, 3]]
    ring = system("P1 P2 P3 P4", workload="token_ring")
    assert classes(ring) == [[1, 2, 3]], "the first has the token"


def test_without_interchangeable_processes_every_state_is_explored():
    done = same(library.load("lecture"))
    assert done.found.pairs == done.found.states
    assert any("no processes are interchangeable" in line for line in done.in_words())


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "not_fifo"), [("fifo", True), ("deaf_initiator", False), ("out_of_band", False)])
def test_a_violation_is_replayed_as_a_run_of_the_scenario(rule, not_fifo):
    """The run goes through states that were not explored, in names of its own."""
    done = same(changed(complete_graph(3, 1), rule, not_fifo=not_fifo))
    assert done.runs
    for check, scenario in done.runs.items():
        execution = run(scenario)
        assert execution.steps == dict(done.shortest())[check]
        assert check in {verdict.check for verdict in verdicts_of(execution)["S1"] if verdict.holds is False}


@pytest.mark.slow
def test_a_run_leads_to_every_representative():
    """Three processes are exchanged, so it matters in which order renamings follow each other."""
    scenario = complete_graph(4, 0)
    found = exploration(scenario, symmetry=True).found
    for depth, level in enumerate(found.levels):
        for key in level.tolist()[::20]:
            execution = run(replayed(scenario, found.space, path_to(found, depth, key)))
            assert execution.steps == depth


class Favourite(ChandyLamport):
    """Each process that receives a marker tells the same process."""

    name = "test_favourite"

    def on_marker(self, process, marker, out):
        super().on_marker(process, marker, out)
        if process.number != 1:
            out.tell(self.graph.processes[1], "seen", marker.snapshot)

    def on_control(self, process, message, out):
        process.memory = message.body


def test_rules_that_tell_processes_apart_are_refused(register):
    """A process that is told something, draws by the name of a process, and the order of the neighbours."""
    bank = replace(complete_graph(3, 1), workload="bank", parameters={"transfers": 1})
    favourite = replace(complete_graph(3, 1), algorithm=register(Favourite))
    for scenario in (bank, favourite, changed(complete_graph(3, 1), "lost_marker", not_fifo=False)):
        with pytest.raises(InputError, match=r"--symmetry: the rules do not treat .* alike .*; leave --symmetry out"):
            exploration(scenario, symmetry=True)


@pytest.mark.slow
@each("rule", lambda: [name for name in BROKEN_RULES if name != "fifo"])
def test_a_broken_rule_is_explored_alike_or_refused(rule):
    try:
        same(changed(complete_graph(3, 0), rule, not_fifo=False))
    except InputError as refused:
        assert "--symmetry" in str(refused)


def test_too_many_renamings_are_refused():
    with pytest.raises(InputError, match="--symmetry: 7 processes can be exchanged in 5,040 ways, and at most 120"):
        exploration(complete_graph(8, 0), symmetry=True)


def test_a_renaming_renames_whatever_names_a_process():
    space = Space(complete_graph(3, 1).engine(), own_order=False)
    renaming = Renaming(space, (0, 2, 1))
    channel, other = (space.engine.channel_to(0, name) for name in ("P2", "P3"))
    assert renaming.value({"P1->P2": [("P2", 2), {"P3"}], channel: frozenset({other})}) == {
        "P1->P3": [("P3", 2), {"P2"}], other: frozenset({channel}),
    }  # fmt: skip
