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
from sim.run.execution import run
from sim.theory.causality import Clock, History
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
from tests.cases import each
from tests.sim.strategies import scenarios
from tests.sim.tools import send, system
from tests.tools import examples


def small(scenario: Scenario) -> History:
    history = run(scenario).history
    assume(frontiers(history) <= 3000)
    return history


def linear_orders(history: History) -> list[list[Clock]]:
    """Every path from bottom to top, one by one."""

    def from_here(path: list[Clock]) -> list[list[Clock]]:
        following = list(successors(history, path[-1]))
        return [whole for cut in following for whole in from_here([*path, cut])] or [path]

    return from_here([bottom(history)])


@pytest.mark.slow
@examples(15)
@given(scenarios(), st.data())
def test_the_greatest_cut_below_and_the_least_above_are_those_of_the_lattice(scenario: Scenario, data: Any) -> None:
    history = small(scenario)
    chosen = {name: data.draw(st.integers(0, len(own)), label=name) for name, own in history.of.items()}
    cuts = [dict(zip(history.processes, cut, strict=True)) for cut in lattice(history)]
    inside = [cut for cut in cuts if all(cut[name] <= chosen[name] for name in chosen)]
    around = [cut for cut in cuts if all(cut[name] >= chosen[name] for name in chosen)]
    assert history.consistent_below(chosen) == max(inside, key=lambda cut: sum(cut.values()))
    assert history.consistent_above(chosen) == min(around, key=lambda cut: sum(cut.values()))


@examples(15)
@given(scenarios())
def test_every_cut_of_the_lattice_passes_the_test_by_clocks_and_the_test_by_messages(scenario: Scenario) -> None:
    history = small(scenario)
    for cut in lattice(history):
        frontier = dict(zip(history.processes, cut, strict=True))
        assert history.is_consistent(frontier) and history.violations(frontier) == []


@pytest.mark.slow
@examples(15)
@given(scenarios(), st.data())
def test_possibly_and_definitely_by_brute_force(scenario: Scenario, data: Any) -> None:
    """Of a random set of cuts: whether some consistent cut is in it, and whether every linear order meets it."""
    history = small(scenario)
    assume(linearizations(history) <= 300)
    cuts = list(lattice(history))
    chosen = data.draw(st.sets(st.sampled_from(cuts), max_size=len(cuts)))
    orders = linear_orders(history)
    assert len(orders) == linearizations(history)
    maybe, surely = possibly(history, chosen.__contains__), definitely(history, chosen.__contains__)
    assert maybe.holds == bool(chosen) and (maybe.cut in chosen) == maybe.holds
    assert surely.holds == all(chosen & {*order} for order in orders)
    if surely.holds:
        assert surely.cut in chosen and not surely.avoiding
    else:
        assert list(surely.avoiding) in orders and not chosen & {*surely.avoiding}


@pytest.mark.slow
def test_a_lattice_too_big_to_list_is_counted_all_the_same() -> None:
    """Three processes of 200 events without messages: 201 ** 3 cuts, all consistent."""
    names = ("P1", "P2", "P3")
    script = tuple(ScriptLine(name, float(time)) for name in names for time in range(1, 201))
    history = run(system(" ".join(names), script=script)).history
    assert consistent_cuts(history) == frontiers(history) == 201**3
    with pytest.raises(TooManyCuts):
        lattice(history)


@pytest.mark.slow
def test_counting_gives_up_in_time() -> None:
    names = [f"P{number}" for number in range(30)]
    history = run(system(" ".join(names), script=tuple(ScriptLine(name, 1.0) for name in names))).history
    with pytest.raises(TooManyCuts, match="more than") as refused:
        consistent_cuts(history, most=1000)
    assert 0 < refused.value.known < 2**30
    many = [f"P{number}" for number in range(250)]
    with pytest.raises(TooManyCuts):
        consistent_cuts(run(system(" ".join(many), script=tuple(ScriptLine(name, 1.0) for name in many))).history)


def test_a_predicate_of_the_bottom_holds_definitely_and_a_path_goes_up_by_single_events() -> None:
    history = run(system("P1 P2", script=(send("P1", "P2", 1), send("P2", "P1", 5)))).history
    assert definitely(history, lambda cut: cut == bottom(history)).holds
    never = definitely(history, lambda cut: False)
    assert never.avoiding[0] == bottom(history) and never.avoiding[-1] == top(history)
    assert all(sum(after) == sum(before) + 1 for before, after in pairwise(never.avoiding))
    assert not possibly(history, lambda cut: False).holds


def token_ring(count: int, rounds: int) -> History:
    """One token goes round: at most a few cuts have the same number of events."""
    names = [f"P{number}" for number in range(count)]
    script = (
        send(names[number % count], names[(number + 1) % count], 3.0 * number + 1) for number in range(rounds * count)
    )
    history = run(system(" ".join(names), script=tuple(script))).history
    assert history.clocks
    return history


def never(cut: Clock) -> bool:
    return False


QUESTIONS: dict[str, Callable[[History], Any]] = {
    "list": linearizations,
    "count": consistent_cuts,
    "possibly": lambda history: possibly(history, never),
    "definitely": lambda history: definitely(history, never),
    "between": lambda history: between(history, bottom(history), top(history), 10_000),
    "around": lambda history: around(history, bottom(history), 10_000),
}


@pytest.mark.slow
@each("processes, rounds", [(4, 4), (140, 3)])
@each("question", QUESTIONS)
def test_the_deadline_is_looked_at_again_and_again(question: str, processes: int, rounds: int) -> None:
    """Also in a narrow lattice of many processes."""
    history, looks = token_ring(processes, rounds), count()
    with within(Deadline(60.0, lambda: next(looks) < 12)), pytest.raises(OutOfTime):
        QUESTIONS[question](history)


def test_what_is_too_much_to_count_is_refused_before_it_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    history = token_ring(4, 4)
    events = sum(map(len, history.of.values()))
    monkeypatch.setattr("sim.theory.lattice._Bounds", None)
    for most, nested in ((4 * events - 1, 200), (10**6, 3)):
        monkeypatch.setattr("sim.theory.lattice.MOST_NESTED", nested)
        with pytest.raises(TooManyCuts) as refused:
            consistent_cuts(history, most)
        assert refused.value.known == events, "the run itself goes through one more"
