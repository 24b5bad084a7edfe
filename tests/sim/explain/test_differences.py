"""What two runs of one scenario under two algorithms differ in."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.document import library
from sim.document.scenario import Scenario
from sim.edit.compared import under
from sim.edit.edits import apply_edit, checked_run
from sim.explain.differences import differences
from sim.run.execution import Execution, run
from tests.cases import each
from tests.sim.strategies import scenarios
from tests.tools import examples


def under_all(scenario: Scenario) -> dict[str, Execution]:
    found = {}
    for algorithm in ALGORITHMS:
        try:
            found[algorithm] = checked_run(under(scenario, algorithm))
        except InputError:
            continue
    return found


def count(sentences: tuple[str, ...], word: str) -> int:
    """How many messages come later, or are more, by the sentences."""
    found = [re.match(rf"(\d+) messages? (?:comes? )?{word}\b", text) for text in sentences]
    return sum(int(own[1]) for own in found if own)


def times(execution: Execution) -> dict[tuple[str, int], tuple[float, float | None]]:
    """When each message was sent and received, by channel and number, from the event table alone."""
    came = {row.message_id: row.time for row in execution.table if row.kind == "receive"}
    numbers: dict[str, int] = {}
    found = {}
    for row in execution.table:
        if row.kind == "send":
            name = row.channel or ""
            numbers[name] = numbers.get(name, 0) + 1
            found[name, numbers[name]] = (row.time, came.get(row.message_id))
    return found


def test_equal_runs_have_no_difference() -> None:
    for name in library.names():
        scenario = library.load(name)
        assert differences(run(scenario), run(scenario), "itself") == ((), ())


def test_a_message_that_is_late_is_listed() -> None:
    """H leaves at 736, and takes 137 time units; another one takes 200."""
    lecture = run(library.load("lecture"))
    (number,) = [flight.id for flight in lecture.flights if flight.send.label == "H"]
    slow = apply_edit(lecture, {"do": "delay", "message": {"label": "H"}, "delay": 200}, 0.0)
    found = differences(slow, lecture, "the lecture")
    assert found.messages == (number,)
    assert "1 message comes later than with the lecture, by 63" in found.sentences
    back = differences(lecture, slow, "the slow one")
    assert back.messages == (number,)
    assert "1 message comes earlier than with the slow one, by 63" in back.sentences


def test_a_message_that_is_never_received_or_is_not_there_is_listed() -> None:
    lecture = run(library.load("lecture"))
    held = apply_edit(lecture, {"do": "hold", "message": {"label": "H"}}, 0.0)
    (number,) = [flight.id for flight in lecture.flights if flight.send.label == "H"]
    assert differences(held, lecture, "it").messages == (number,)
    more = apply_edit(lecture, {"do": "send", "process": "P1", "to": "P2", "at": 990.0, "body": "x"}, 0.0)
    new = max(flight.id for flight in more.flights if flight.kind == "app" and flight.send.time == 990.0)
    assert new in differences(more, lecture, "it").messages
    assert "1 message more than with it" in differences(more, lecture, "it").sentences
    assert "1 message fewer than with it" in differences(lecture, more, "it").sentences


def test_what_is_recorded_differently_is_told() -> None:
    """Chandy and Lamport's markers are slow: they have H->D in C21; Lai and Yang's snapshot has I->G in C32."""
    own, other = (checked_run(under(library.load("lecture"), name)) for name in ("lai_yang", "chandy_lamport"))
    (sentence,) = differences(own, other, "Chandy-Lamport").sentences
    assert sentence == "C21 records nothing, not [H->D]; C32 records [I->G], not nothing"


@each("name", ["barriers", "unaligned", "stop_the_world", "lai_yang"])
def test_the_messages_are_those_of_the_event_tables_and_counts_are_symmetric(name: str) -> None:
    runs = under_all(library.load(name))
    for one in runs.values():
        for other in runs.values():
            check(one, other)


@examples(12)
@given(scenarios(("timed", "tick")), st.sampled_from([*ALGORITHMS]))
def test_the_same_of_random_runs(scenario: Scenario, algorithm: str) -> None:
    try:
        check(checked_run(under(scenario, algorithm)), run(scenario))
    except InputError:
        return


def check(one: Execution, other: Execution) -> None:
    """The messages by the event tables; what comes later here comes earlier there."""
    here, there = times(one), times(other)
    found, back = differences(one, other, "it"), differences(other, one, "it")
    assert len(found.messages) == sum(there.get(key) != own for key, own in here.items())
    both = [(own[1], there[key][1]) for key, own in here.items() if key in there]
    moved = [mine - theirs for mine, theirs in both if mine is not None and theirs is not None]
    later, earlier = (sum(sign * by > 1e-9 for by in moved) for sign in (1, -1))
    assert (count(found.sentences, "later"), count(found.sentences, "earlier")) == (later, earlier)
    assert (count(back.sentences, "earlier"), count(back.sentences, "later")) == (later, earlier)
    more, fewer = (sum(key not in b for key in a) for a, b in ((here, there), (there, here)))
    assert (count(found.sentences, "more"), count(found.sentences, "fewer")) == (more, fewer)
    assert (count(back.sentences, "fewer"), count(back.sentences, "more")) == (more, fewer)
