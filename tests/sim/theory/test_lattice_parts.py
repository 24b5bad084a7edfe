"""Parts of the lattice: each compared with its definition, by brute force."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.document import library
from sim.document.scenario import Scenario, ScriptLine
from sim.run.execution import run
from sim.theory import lattice_parts
from sim.theory.lattice import TooManyCuts, bottom, frontiers, lattice, successors, top
from sim.theory.lattice_parts import around, between, predecessors
from sim.theory.positions import Cut, Order
from tests.sim.strategies import scenarios
from tests.sim.tools import system
from tests.tools import examples


def small(scenario: Scenario) -> tuple[Order, list[Cut]]:
    order = run(scenario).order
    assume(frontiers(order) <= 1000)
    return order, list(lattice(order))


@pytest.mark.slow
@examples(15)
@given(scenarios())
def test_predecessors_are_successors_backwards(scenario: Scenario) -> None:
    order, cuts = small(scenario)
    ways = {(low, high) for low in cuts for high in successors(order, low)}
    assert {(low, high) for high in cuts for low in predecessors(order, high)} == ways


@examples(15)
@given(scenarios(), st.data())
def test_between_two_cuts_are_those_that_hold_the_one_and_lie_in_the_other(scenario: Scenario, data: Any) -> None:
    order, cuts = small(scenario)
    low = data.draw(st.sampled_from(cuts))
    high = data.draw(st.sampled_from([cut for cut in cuts if all(a <= b for a, b in zip(low, cut, strict=True))]))
    inside = [cut for cut in cuts if all(a <= b <= c for a, b, c in zip(low, cut, high, strict=True))]
    found = between(order, low, high, len(inside))
    assert sorted(found) == sorted(inside) and found == sorted(found, key=sum)
    with pytest.raises(TooManyCuts):
        between(order, low, high, len(inside) - 1)


@pytest.mark.slow
@examples(15)
@given(scenarios(), st.data())
def test_around_a_cut_are_the_nearest_ones(scenario: Scenario, data: Any) -> None:
    """One event more or less is one step of the way; the lattice is distributive, so the shortest way is the sum."""
    order, cuts = small(scenario)
    centre = data.draw(st.sampled_from(cuts))
    most = data.draw(st.integers(1, len(cuts)))
    found = around(order, centre, most)
    away = {cut: sum(abs(a - b) for a, b in zip(cut, centre, strict=True)) for cut in cuts}
    farthest = max(away[cut] for cut in found)
    assert sorted(found) == sorted(cut for cut in cuts if away[cut] <= farthest) and len(found) <= most
    assert len(found) == len(cuts) or sum(far <= farthest + 1 for far in away.values()) > most


def test_the_whole_lattice_is_between_its_ends() -> None:
    order = run(library.load("lecture")).order
    assert len(between(order, bottom(order), top(order), 31)) == 31
    assert between(order, (2, 1, 1), (2, 3, 1), 9) == [(2, 1, 1), (2, 2, 1), (2, 3, 1)]


def test_a_part_is_refused_while_its_next_level_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve processes of one event each: the second level has 12 cuts, the third 66."""
    names = [f"P{number}" for number in range(12)]
    order = run(system(" ".join(names), script=tuple(ScriptLine(name, 1.0) for name in names))).order
    asked = []
    monkeypatch.setattr(lattice_parts, "successors", lambda *given: asked.append(given) or successors(*given))
    with pytest.raises(TooManyCuts):
        between(order, bottom(order), top(order), 20)
    assert len(asked) == 2, "the bottom and the first of the 12"
    asked.clear()
    assert len(around(order, bottom(order), 20)) == 13
    assert len(asked) == 2


def test_of_many_processes_fewer_cuts_are_affordable(monkeypatch: pytest.MonkeyPatch) -> None:
    order = run(library.load("lecture")).order
    monkeypatch.setattr("sim.theory.lattice.MOST_COMPARED", 30 * 9)
    with pytest.raises(TooManyCuts, match="more than 30"):
        between(order, bottom(order), top(order), 31)
    assert len(around(order, bottom(order), 31)) <= 30
