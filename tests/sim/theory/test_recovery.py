"""The recovery line: oracle runs, and brute force over all combinations of copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.core.delays import HOLD, DelayRule
from sim.core.model import MessageReference
from sim.core.recovery_line import Recovery, Rollback
from sim.document.scenario import Scenario, ScriptLine
from sim.run.execution import run
from sim.theory.causality import History
from sim.theory.recovery_line import recovery_line
from tests.cases import each
from tests.sim.strategies import scenarios
from tests.sim.tools import send, system
from tests.tools import examples

Copies = Mapping[str, Sequence[int]]
NO_COPIES: Copies = {}


def in_turn() -> History:
    """P1, P2, P1, P2, P1 send each other a message in turn; the last one does not arrive."""
    turns = [("P1", "P2"), ("P2", "P1")]
    script = tuple(send(*turns[at % 2], at, label=f"m{at + 1}") for at in range(5))
    delays = {MessageReference(label="m5"): HOLD}
    scenario = system("P1 P2", script=script, delay=DelayRule("fixed", 0.5), delays=delays)
    return History(scenario.processes, run(scenario).events)


def test_the_domino_effect_goes_back_to_the_beginning() -> None:
    """The last copies are (4, 3). P2's fourth event is the send of what P1 receives as its fourth, and so on."""
    found = recovery_line(in_turn(), {"P1": [2, 4], "P2": [1, 3]})
    assert found.first == {"P1": 4, "P2": 3}
    assert found.rollbacks == (
        Rollback("P1", 4, 2, 3), Rollback("P2", 3, 1, 2), Rollback("P1", 2, 0, 1), Rollback("P2", 1, 0, 0)
    )  # fmt: skip
    assert found.line == {"P1": 0, "P2": 0}
    assert [tuple(cut.values()) for cut in found.cuts()] == [(4, 3), (2, 3), (2, 1), (0, 1), (0, 0)]


@each(
    "copies, line, rollbacks",
    [
        ({"P1": [2, 4], "P2": [2, 4]}, (4, 4), 0),  # each copy after a send: nothing is received that is not sent
        ({"P1": [2, 4], "P2": [1, 2, 3]}, (2, 2), 2),  # a copy more is of use
        ({"P1": [1], "P2": [4]}, (1, 0), 1),  # m3 is unsent, and there is no copy between m1 and m3
        (NO_COPIES, (0, 0), 0),
    ],
)
def test_other_copies_of_the_same_run(copies: Copies, line: tuple[int, int], rollbacks: int) -> None:
    found = recovery_line(in_turn(), copies)
    assert (tuple(found.line.values()), len(found.rollbacks)) == (line, rollbacks)


FAILED = st.sets(st.sampled_from(("P1", "P2", "P3", "P4")))


@pytest.mark.slow
@examples(15)
@given(scenarios(), FAILED, st.data())
def test_each_rollback_is_forced_whoever_fails(scenario: Scenario, failed: set[str], data: Any) -> None:
    """That the line is the greatest one is for tests/reference to say."""
    history = History(scenario.processes, run(scenario).events)
    copies = {
        name: data.draw(st.lists(st.integers(0, len(own)), max_size=4), label=name) for name, own in history.of.items()
    }
    found = recovery_line(history, copies, failed)
    assert history.is_consistent(found.line)
    assert all(found.line[name] == len(history.of[name]) and name not in failed for name in found.kept)
    check_rollbacks(history, copies, found)
    total = recovery_line(history, copies)
    assert total.is_total and all(total.line[name] <= found.line[name] for name in total.line)


def check_rollbacks(history: History, copies: Copies, found: Recovery) -> None:
    """Each leads to a copy, is forced by a message received inside and sent outside, and the last leads to the line."""
    cuts = found.cuts()
    assert (cuts[0], cuts[-1]) == (found.first, found.line)
    for rollback, before, after in zip(found.rollbacks, cuts, cuts[1:], strict=False):
        assert rollback.message in history.violations(before)
        assert history.receives[rollback.message].process == rollback.process
        assert rollback.end < rollback.start == before[rollback.process]
        assert after == {**before, rollback.process: rollback.end}
        assert rollback.end in {0, *copies.get(rollback.process, ())}


@examples(15)
@given(scenarios(), st.data())
def test_if_every_state_is_copied_it_is_the_greatest_consistent_cut_inside_the_last_ones(
    scenario: Scenario, data: Any
) -> None:
    history = History(scenario.processes, run(scenario).events)
    last = {name: data.draw(st.integers(0, len(own)), label=name) for name, own in history.of.items()}
    copies = {name: range(count + 1) for name, count in last.items()}
    assert recovery_line(history, copies).line == history.consistent_below(last)


@pytest.mark.slow
@examples(15)
@given(scenarios(), st.data())
def test_a_failure_further_back_finds_no_later_line(scenario: Scenario, data: Any) -> None:
    """With a copy less the line is the same or lies before it."""
    history = History(scenario.processes, run(scenario).events)
    copies = {
        name: data.draw(st.lists(st.integers(0, len(own)), max_size=4), label=name) for name, own in history.of.items()
    }
    whole = recovery_line(history, copies).line
    name = data.draw(st.sampled_from(history.processes))
    assume(copies[name])
    fewer = recovery_line(history, {**copies, name: copies[name][1:]}).line
    assert all(fewer[process] <= whole[process] for process in fewer)


def test_what_never_arrives_makes_nobody_go_back() -> None:
    scenario = system(
        "P1 P2",
        script=(send("P1", "P2", 1, label="m"), ScriptLine("P2", 2)),
        delays={MessageReference(label="m"): HOLD},
    )
    history = History(scenario.processes, run(scenario).events)
    assert recovery_line(history, {"P2": [1]}) == Recovery(("P1", "P2"), {"P1": 0, "P2": 1}, (), {"P1": 0, "P2": 1}, ())
