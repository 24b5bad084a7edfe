"""Predicates on the state at a cut: what they may name, what they mean, and what is refused in one sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.core.deadline import Deadline, OutOfTime, within
from sim.core.errors import InputError
from sim.document import library
from sim.document.scenario import Scenario, ScriptLine, Topology
from sim.run.cut_states import states_at_cuts
from sim.run.execution import run
from sim.run.predicates import Predicates
from sim.theory.lattice import lattice
from tests.cases import each
from tests.sim.tools import send


def value(name: str, text: str, cut: tuple[int, ...]) -> bool:
    return Predicates(states_at_cuts(run(library.load(name)))).read(text)(cut)


@each(
    "name, text, cut",
    [
        ("lecture", "P1.events == 2 and P2.events == 0", (2, 0, 0)),
        ("lecture", "P1.last == 'B' and C12.messages == 1 and 'B->F' in C12.bodies", (2, 0, 0)),
        ("lecture", "channels.messages == 2 and processes.events == 3", (2, 0, 1)),
        ("lecture", 'process["P2"].last == "" and channel["P1->P2"].messages == C12.messages', (2, 0, 0)),
        ("lecture", "not (P1.events < 1) or 1 / P2.events == 1", (1, 0, 0)),
        ("lecture", "0 < P1.events <= 5", (5, 3, 1)),
        ("lecture", "C12.bodies[0] == 'B->F' and C12.messages == 1", (2, 0, 0)),
        ("widgets", "p1.state['cash'] == p1.cash", (1, 0)),
        ("never_occurred", "p.state == 'A' and q.state == 'D'", (0, 1)),
        ("widgets", "p1.cash + p2.cash + channels.cash == processes.cash + channels.cash", (1, 0)),
        ("two_banks", "channels.money == 50 and S1.money == 550", (1, 0)),
    ],
)
def test_what_holds_at_a_cut(name: str, text: str, cut: tuple[int, ...]) -> None:
    assert value(name, text, cut)
    assert not value(name, f"not ({text})", cut)


@each(
    "text, words",
    [
        ("", "the predicate is empty; write something such as"),
        ("P1.events ==", "is no predicate"),
        ("P1", "add a quantity, such as P1.events"),
        ("C12 == 1", "add a quantity, such as C12.messages"),
        ("P1.evnts == 1", "did you mean 'events'"),
        ("C12.size == 1", "known: messages, bodies"),
        ("P1.events[0] == 1", "P1.events has no parts"),
        ("P1.state['cash'] == 1", "no state of P1 has this part; its state has no parts"),
        ("C12.bodies[-1] == ''", "is no part of a predicate"),
        ("C12.bodies['a'] == ''", "name the message by its place, such as C12.bodies[0]"),
        ("P9.events == 1", "is no process and no channel of this run"),
        ("channels.events == 1", "no quantity of all channels"),
        ("__import__('os') == 1", "is no function here"),
        ("__import__('os').system('true')", "is no part of a predicate"),
        ("P1.__class__ == 1", "no quantity of the process P1"),
        ("P1.events.real == 1", "P1 has one name after it, such as P1.events; leave out 'real'"),
        ("channels.messages.x == 1", "such as channels.messages; leave out 'x'"),
        ('process["P1"].state.x == 1', 'process["P1"] has one name after it, such as process["P1"].events'),
        ('process["P1"] == 1', 'add a quantity, such as process["P1"].events'),
        ('channel["P1->P2"].a.b == 1', 'such as channel["P1->P2"].messages; leave out'),
        ('process["P 1"].events == 1', "is no process and no channel of this run"),
        ("[e for e in P1]", "is no part of a predicate"),
        ("(lambda: True)()", "is no part of a predicate"),
        ("P1.events if True else 1", "is no part of a predicate"),
        ("P1.events is 1", "is no part of a predicate"),
        ("f'{P1.events}' == 1", "is no part of a predicate"),
        ("P1.last[0] == 'A'", "P1.last has no parts"),
        ("1 == 1 and " * 30 + "1 == 1", "use at most 200"),
    ],
)
def test_anything_else_is_refused_in_one_sentence(text: str, words: str) -> None:
    with pytest.raises(InputError) as refused:
        value("lecture", text, (0, 0, 0))
    assert words in str(refused.value) and "\n" not in str(refused.value)


@each(
    "text, words",
    [
        ("P1.events", "says a value, not whether something holds"),
        ("P1.last < 3", "compare like with like"),
        ("P1.events and P2.events", "compare like with like"),
        ("P1.last * 3 == 1", "compare like with like"),
        ("P1.last * P1.events == ''", "compare like with like"),
        ("P1.last + P1.last == ''", "compare like with like"),
        ("C12.bodies * 2 + C12.bodies == 1", "compare like with like"),
        ("-(P1.events == 1) == 0", "compare like with like"),
        ("max(P1.last, P2.last) == 'A'", "compare like with like"),
        ("sqrt(P1.last) == 1", "compare like with like"),
    ],
)
def test_values_that_do_not_fit_are_refused_when_the_predicate_is_asked(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        value("lecture", text, (1, 1, 1))


def test_blanks_in_quotes_stay_as_they_are() -> None:
    assert value("lecture", "  P1.last  !=  'A  B'  and 'A  B' != 'A B' ", (1, 0, 0))


def test_a_part_that_is_undefined_makes_it_not_hold() -> None:
    assert not value("lecture", "10 ** 400 > P1.events", (0, 0, 0))
    assert not value("lecture", "1 / P2.events == 1", (0, 0, 0))
    assert not value("lecture", "sqrt(P2.events - 1) == 0", (0, 0, 0))


@each("name", library.names())
def test_the_examples_that_a_page_offers_are_predicates(name: str) -> None:
    predicates = Predicates(states_at_cuts(run(library.load(name))))
    empty = (0,) * len(predicates.processes)
    for text in predicates.examples():
        assert predicates.read(text)(empty) in (True, False)


@each("first", ['a "quoted" one', "if", "back\\slash", "ﬁ", "x" * 300, "channels"])
def test_the_examples_are_predicates_whatever_the_names(first: str) -> None:
    """Names with quotes, keywords, and names too long to be written; and what is written is what is meant."""
    script = (ScriptLine(first, 1.0), send(first, "P2", 2.0))
    scenario = Scenario("test", (first, "P2"), title="test", topology=Topology(), script=script)
    predicates = Predicates(states_at_cuts(run(scenario)))
    found = predicates.examples()
    assert [predicates.read(text)((1, 0)) for text in found if ".events == 1" in text] == [True] * (len(first) < 100)
    assert all(predicates.read(text)((0, 0)) is False for text in found)


def test_long_states_with_quotes_and_goods_with_a_blank_are_written_or_left_out() -> None:
    predicates = Predicates(states_at_cuts(run(library.load("never_occurred"))))
    state = 'a "state" ' * 8
    predicates.states = replace(predicates.states, local={"p": [state], "q": ["C"]})
    predicates.goods = ["gold coins"]
    found = predicates.examples()
    assert not any("gold" in text for text in found)
    assert [predicates.read(text)((0, 0)) for text in found if "p.state" in text] == [True]


def test_a_sum_over_channels_is_more_work_than_a_count_of_events() -> None:
    """Each time it is named; and channels on which nothing was sent are not looked at."""
    predicates = Predicates(states_at_cuts(run(library.load("hundred"))))
    once, twice, little = (
        predicates.read(text).work
        for text in (
            "channels.messages > 9",
            "channels.messages > 9 and channels.messages < 99",
            "P1.events > 9",
        )
    )
    assert twice == 2 * once > 100 * little > 0
    assert len(predicates.used) < len(predicates.channels)


def test_a_predicate_looks_at_the_deadline() -> None:
    holds = Predicates(states_at_cuts(run(library.load("lecture")))).read("P1.events == 1")
    with within(Deadline(0.0)), pytest.raises(OutOfTime):
        holds((0, 0, 0))


def test_what_is_conserved_adds_up_at_every_consistent_cut() -> None:
    execution = run(library.load("two_banks"))
    states = states_at_cuts(execution)
    for cut in lattice(execution.order):
        processes, channels = states.amounts(cut)
        assert processes["money"] + channels["money"] == 800
