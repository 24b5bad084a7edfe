"""Every run, as the explorer and as the plain one find it: the same states, steps, snapshots and wrong runs.

A state holds nothing of the past, so the counts here are smaller than those of pairs of a state and an account.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES
from sim.core.errors import InputError
from sim.document.scenario import Initiation, Scenario
from sim.explore.report import changed, complete_graph, exploration
from sim.explore.world import NO_FAULTS, MayHappen
from tests.cases import each
from tests.sim.explore.comparison import differences, plain_counts
from tests.tools import check_none, pairs, thinned

MAY = [
    NO_FAULTS, MayHappen(losses=1), MayHappen(losses=2), MayHappen(crashes=1), MayHappen(crashes=1, restarts=True),
    MayHappen(crashes=1, restarts=True, losses=1), MayHappen(freezes=1),
]  # fmt: skip
SIZES = [(2, 0), (2, 1), (3, 0)]
LARGE = [*SIZES, (2, 2)]
ONE = complete_graph(2, 1)
OVERLAPPING = replace(ONE, snapshots=(Initiation("S1", "P1"), Initiation("S2", "P2")))
TWO_INITIATORS = replace(ONE, snapshots=(Initiation("S1", "P1"), Initiation("S1", "P2")))
SOME, MANY = 800, 1_500  # pairs of a state and an account: of larger systems not every past is judged


def different(
    scenario: Scenario, algorithm: str | None, may: MayHappen, *, most: int, not_fifo: bool = False
) -> Iterator[str]:
    """Differences; none where it is refused, or larger than `most` pairs."""
    try:
        own = changed(scenario, algorithm, not_fifo=not_fifo)
        found = exploration(own, may=may, most_states=most).found
    except InputError:
        return
    if found.complete:
        yield from differences(own, may)


def test_the_counts_that_differed_from_another_program() -> None:
    """It counted 457, 1,505 and 1,782: colours of messages, and how many of each colour came, were in its states.

    So were colours, and on which side of a recording a message came, in ours: 565, 1,491 and 1,688. Neither merged
    different states; both had the past in them.
    """
    systems = {
        "restarts": (ONE, MayHappen(crashes=1, restarts=True)),
        "two losses": (complete_graph(2, 2), MayHappen(losses=2)),
        "not FIFO": (changed(complete_graph(2, 2), None, not_fifo=True), NO_FAULTS),
    }
    found = {name: exploration(scenario, may=may).found for name, (scenario, may) in systems.items()}
    assert {name: (own.states, own.transitions) for name, own in found.items()} == {
        "restarts": (411, 826), "two losses": (1_213, 3_573), "not FIFO": (346, 829),
    }  # fmt: skip
    assert found["not FIFO"].pairs == 1_688
    for name, (scenario, may) in systems.items():
        assert plain_counts(scenario, may) == (found[name].states, found[name].transitions), name


@pytest.mark.slow
def test_every_algorithm_with_any_faults() -> None:
    for algorithm, not_fifo, size, may in pairs(ALGORITHMS, [False, True], SIZES, MAY):
        check_none(different(complete_graph(*size), algorithm, may, most=SOME, not_fifo=not_fifo))


@pytest.mark.long("every run of all algorithms with all faults, beside the plain explorer")
@pytest.mark.parametrize("may", MAY)
def test_all_of_them(may: MayHappen) -> None:
    for algorithm, not_fifo, size in product(ALGORITHMS, [False, True], LARGE):
        check_none(different(complete_graph(*size), algorithm, may, most=MANY, not_fifo=not_fifo))


@pytest.mark.slow
@pytest.mark.parametrize(
    "rule", thinned(BROKEN_RULES, 8, "every run of broken rules with a loss, beside the plain explorer")
)
def test_a_broken_rule_with_a_loss(rule: str) -> None:
    """By which messages, not by how many: a snapshot that is wrong is not excused by a loss elsewhere."""
    check_none(different(ONE, rule, MayHappen(losses=1), most=MANY))


@pytest.mark.long("every run of broken rules with all faults, beside the plain explorer")
@pytest.mark.parametrize("may", MAY)
@pytest.mark.parametrize("base", [ONE, OVERLAPPING, TWO_INITIATORS])
def test_every_broken_rule(base: Scenario, may: MayHappen) -> None:
    for rule in BROKEN_RULES:
        check_none(different(base, rule, may, most=MANY))


def test_notes_of_messages_on_two_channels_are_two_states() -> None:
    """The rule keeps messages in its notes: those of one channel were taken for those of another one."""
    assert exploration(changed(complete_graph(3, 1), "backwards", not_fifo=False)).found.states == 21_676


def test_a_loss_excuses_no_other_message() -> None:
    """In 40 of these runs as many more messages were recorded as were lost, but they were others."""
    found = exploration(changed(ONE, "slips_in", not_fifo=False), may=MayHappen(losses=1)).found
    assert found.wrong == {"consistency": 114, "channel_states": 90}


@each("may", [MayHappen(losses=1), MayHappen(losses=2)])
def test_what_crosses_the_cut_and_is_lost_may_be_recorded_or_not(may: MayHappen) -> None:
    assert exploration(changed(ONE, "unaligned_barriers", not_fifo=False), may=may).shortest() == []
