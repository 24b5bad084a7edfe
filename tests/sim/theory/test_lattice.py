"""Cuts below and above, possibly and definitely: each compared with its definition, by brute force."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.core.deadline import Deadline, OutOfTime, within
from sim.document.scenario import Scenario, ScriptLine
from sim.run.execution import Execution, run
from sim.theory.lattice import (
    TooManyCuts,
    bottom,
    consistent_cuts,
    definitely,
    frontiers,
    lattice,
    linearizations,
    possibly,
    successors,
    top,
)
from sim.theory.lattice_parts import around, between
from sim.theory.positions import Cut, Order
from tests.cases import each
from tests.sim.strategies import scenarios
from tests.sim.tools import send, system
from tests.tools import examples


def small(scenario: Scenario) -> Execution:
    execution = run(scenario)
    assume(frontiers(execution.order) <= 3000)
    return execution


def linear_orders(order: Order) -> list[list[Cut]]:
    """Every path from bottom to top, one by one."""

    def from_here(path: list[Cut]) -> list[list[Cut]]:
        following = list(successors(order, path[-1]))
        return [whole for cut in following for whole in from_here([*path, cut])] or [path]

    return from_here([bottom(order)])


@pytest.mark.slow
@examples(15)
@given(scenarios(), st.data())
def test_the_greatest_cut_below_and_the_least_above_are_those_of_the_lattice(scenario: Scenario, data: Any) -> None:
    """Nothing answers in these systems, so every event is a position of its own."""
    execution = small(scenario)
    history, order = execution.history, execution.order
    chosen = {name: data.draw(st.integers(0, len(own)), label=name) for name, own in history.of.items()}
    cuts = [dict(zip(history.processes, cut, strict=True)) for cut in lattice(order)]
    inside = [cut for cut in cuts if all(cut[name] <= chosen[name] for name in chosen)]
    around = [cut for cut in cuts if all(cut[name] >= chosen[name] for name in chosen)]
    assert history.consistent_below(chosen) == max(inside, key=lambda cut: sum(cut.values()))
    assert history.consistent_above(chosen) == min(around, key=lambda cut: sum(cut.values()))


@pytest.mark.slow
@examples(15)
@given(scenarios(), st.data())
def test_possibly_and_definitely_by_brute_force(scenario: Scenario, data: Any) -> None:
    """Of a random set of cuts: whether some consistent cut is in it, and whether every linear order meets it."""
    order = small(scenario).order
    assume(linearizations(order) <= 300)
    cuts = list(lattice(order))
    chosen = data.draw(st.sets(st.sampled_from(cuts), max_size=len(cuts)))
    orders = linear_orders(order)
    assert len(orders) == linearizations(order)
    maybe, surely = possibly(order, chosen.__contains__), definitely(order, chosen.__contains__)
    assert maybe.holds == bool(chosen) and (maybe.cut in chosen) == maybe.holds
    assert surely.holds == all(chosen & {*order} for order in orders)
    if surely.holds:
        assert {*surely.barrier} <= chosen and not surely.avoiding
        assert all({*surely.barrier} & {*way} for way in orders), "no order avoids them"
    else:
        assert list(surely.avoiding) in orders and not chosen & {*surely.avoiding}


@pytest.mark.slow
def test_a_lattice_too_big_to_list_is_counted_all_the_same() -> None:
    """Three processes of 200 events without messages: 201 ** 3 cuts, all consistent."""
    names = ("P1", "P2", "P3")
    script = tuple(ScriptLine(name, float(time)) for name in names for time in range(1, 201))
    order = run(system(" ".join(names), script=script)).order
    assert consistent_cuts(order) == frontiers(order) == 201**3
    with pytest.raises(TooManyCuts):
        lattice(order)


@pytest.mark.slow
def test_counting_gives_up_in_time() -> None:
    names = [f"P{number}" for number in range(30)]
    order = run(system(" ".join(names), script=tuple(ScriptLine(name, 1.0) for name in names))).order
    with pytest.raises(TooManyCuts, match="more than") as refused:
        consistent_cuts(order, most=1000)
    assert 0 < refused.value.known < 2**30
    many = [f"P{number}" for number in range(250)]
    with pytest.raises(TooManyCuts):
        consistent_cuts(run(system(" ".join(many), script=tuple(ScriptLine(name, 1.0) for name in many))).order)


def test_a_predicate_of_the_bottom_holds_definitely_and_a_path_goes_up_by_single_events() -> None:
    order = run(system("P1 P2", script=(send("P1", "P2", 1), send("P2", "P1", 5)))).order
    assert definitely(order, lambda cut: cut == bottom(order)).holds
    never = definitely(order, lambda cut: False)
    assert never.avoiding[0] == bottom(order) and never.avoiding[-1] == top(order)
    assert all(sum(after) == sum(before) + 1 for before, after in pairwise(never.avoiding))
    assert not possibly(order, lambda cut: False).holds


def token_ring(count: int, rounds: int) -> Order:
    """One token goes round: at most a few cuts have the same number of events."""
    names = [f"P{number}" for number in range(count)]
    script = (
        send(names[number % count], names[(number + 1) % count], 3.0 * number + 1) for number in range(rounds * count)
    )
    order = run(system(" ".join(names), script=tuple(script))).order
    assert order.clocks
    return order


def never(cut: Cut) -> bool:
    return False


QUESTIONS: dict[str, Callable[[Order], Any]] = {
    "list": linearizations,
    "count": consistent_cuts,
    "possibly": lambda order: possibly(order, never),
    "definitely": lambda order: definitely(order, never),
    "between": lambda order: between(order, bottom(order), top(order), 10_000),
    "around": lambda order: around(order, bottom(order), 10_000),
}


@pytest.mark.slow
@each("processes, rounds", [(4, 4), (140, 3)])
@each("question", QUESTIONS)
def test_the_deadline_is_looked_at_again_and_again(question: str, processes: int, rounds: int) -> None:
    """Also in a narrow lattice of many processes."""
    order, looks = token_ring(processes, rounds), count()
    with within(Deadline(60.0, lambda: next(looks) < 12)), pytest.raises(OutOfTime):
        QUESTIONS[question](order)


def test_what_is_too_much_to_count_is_refused_before_it_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    order = token_ring(4, 4)
    events = sum(map(len, order.lines))
    monkeypatch.setattr("sim.theory.lattice._Bounds", None)
    for most, nested in ((4 * events - 1, 200), (10**6, 3)):
        monkeypatch.setattr("sim.theory.lattice.MOST_NESTED", nested)
        with pytest.raises(TooManyCuts) as refused:
            consistent_cuts(order, most)
        assert refused.value.known == events, "the run itself goes through one more"
