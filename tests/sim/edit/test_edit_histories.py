"""Random edits, one after another: every run is valid, undo works, and the edits can be shared."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.errors import InputError
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario, SchedulerChoice
from sim.document.writing import dumps
from sim.edit.edits import apply_edit
from sim.edit.link import Shared, query_of, read_query
from sim.edit.words import consequence, describe_edit
from sim.explain.choices import all_choices, choices_made
from sim.explain.narration import narrate
from sim.run.execution import Execution, run
from sim.run.fifo import due, waits_behind
from sim.run.stops import freed_at
from tests.bundled import small
from tests.sim.strategies import edited, edits, scenarios
from tests.sim.tools import verdicts
from tests.tools import examples

SCENARIOS = scenarios(schedulers=("timed", "tick", "random")) | st.sampled_from(small()).map(library.load)


def versions(scenario: Scenario, data: Any, most: int = 5) -> list[Execution]:
    """The run of `scenario` and those of a few edits made to it."""
    execution = run(scenario)
    return [execution, *(after for _, _, after in data.draw(edited(execution, most)))]


@pytest.mark.slow
@examples(20)
@given(SCENARIOS, st.data())
def test_undoing_edits_one_by_one_gives_the_earlier_scenarios(scenario: Scenario, data: Any) -> None:
    execution = run(scenario)
    history, written = [scenario], [dumps(scenario)]
    for _, _, after in data.draw(edited(execution)):
        history.append(after.scenario)
        written.append(dumps(after.scenario))
    while history:
        before = history.pop()
        assert dumps(before) == written.pop()
        assert run(before).events == run(parse_toml(dumps(before), before.name)).events
    assert scenario == parse_toml(dumps(scenario), scenario.name) and run(scenario).events == execution.events


@pytest.mark.slow
@examples(20)
@given(SCENARIOS, st.data())
def test_an_edited_scenario_survives_link_and_file(scenario: Scenario, data: Any) -> None:
    """A link holds the first scenario and the edits; a file holds the last scenario."""
    execution = run(scenario)
    made = data.draw(edited(execution))
    shared = Shared(toml=dumps(scenario), name=scenario.name, edits=tuple((edit, now) for edit, now, _ in made), step=3)
    again = read_query(query_of(shared))
    assert again == shared
    replayed = run(again.base())
    for edit, now in again.edits:
        replayed = apply_edit(replayed, edit, now)
    last = made[-1][2] if made else execution
    assert replayed.scenario == last.scenario == parse_toml(dumps(last.scenario), scenario.name)
    assert replayed.events == last.events


@examples(20)
@given(SCENARIOS, st.data())
def test_every_edit_has_words_and_breaks_no_check(scenario: Scenario, data: Any) -> None:
    """A message that is never delivered may leave a snapshot incomplete; no other check may fail."""
    execution = run(scenario)
    expected = set(scenario.expect.get("fails", []))
    for edit, _, after in data.draw(edited(execution)):
        assert describe_edit(execution, edit)
        sentence = consequence(execution, after, edit)
        assert sentence is None or sentence.endswith(".")
        if not expected and not after.scenario.breaks:
            fails = {v.check for row in verdicts(after).values() for v in row if v.holds is False}
            gives_up = {"one_outcome"} if after.scenario.algorithm_parameters.get("time_to_live") else set()
            assert fails <= {"completion"} | gives_up
        execution = after


@pytest.mark.slow
@examples(15)
@given(SCENARIOS, st.data())
def test_choosing_the_actions_of_a_run_by_hand_gives_the_same_run(scenario: Scenario, data: Any) -> None:
    execution = versions(scenario, data, 2)[-1]
    by_hand = apply_edit(execution, {"do": "manual", "after": execution.steps}, 0)
    rows = [event._replace(time=0.0) for event in execution.events]
    assert [event._replace(time=0.0) for event in by_hand.events] == rows
    assert by_hand.scenario.scheduler == SchedulerChoice("manual", order=choices_made(execution, execution.steps))
    enabled = all_choices(by_hand)
    assert len(enabled) == by_hand.steps + 1
    for step, choice in enumerate(by_hand.scenario.scheduler.order):
        names = [other.choice for other in enabled[step]]
        assert choice in names and len(set(names)) == len(names)
    assert all_choices(by_hand, 2, 3) == enabled[2:4]


@pytest.mark.slow
@examples(15)
@given(scenarios(), st.data())
def test_every_enabled_action_can_be_chosen(scenario: Scenario, data: Any) -> None:
    """A choice that is offered is accepted, and delivers the message that it names."""
    execution = apply_edit(run(scenario), {"do": "manual", "after": 4 if run(scenario).steps > 4 else 0}, 0)
    after = data.draw(st.integers(0, execution.steps))
    for enabled in all_choices(execution, after, after)[0]:
        chosen = apply_edit(execution, {"do": "choose", "choice": enabled.choice, "after": after}, 0)
        assert chosen.steps == after + 1
        rows = [event for event in chosen.events if event.step == after + 1]
        assert all(event.process == enabled.process for event in rows)
        if enabled.message is not None:
            assert rows[0].message_id == enabled.message


@examples(15)
@given(SCENARIOS, st.data())
def test_a_message_comes_when_it_is_due_or_waits_behind_another(scenario: Scenario, data: Any) -> None:
    """Under the timed scheduler, a message is late only if it waits behind another, or until it is let in."""
    execution = versions(scenario, data, 3)[-1]
    waits, freed = waits_behind(execution), freed_at(execution)
    for flight in execution.flights:
        if flight.id in waits:
            front = execution.flights[waits[flight.id]]
            assert front.channel is flight.channel and front.id < flight.id and front.id not in waits
        elif execution.scenario.scheduler.kind == "timed":
            came = None if flight.receive is None else flight.receive.time
            assert came in (None, due(execution, flight)) or flight.id in freed


@examples(15)
@given(SCENARIOS, st.data())
def test_any_range_of_steps_has_the_texts_of_the_whole_run(scenario: Scenario, data: Any) -> None:
    execution = versions(scenario, data, 2)[-1]
    first = data.draw(st.integers(0, execution.steps))
    last = data.draw(st.integers(first, execution.steps + 3))
    assert narrate(execution, first, last) == narrate(execution)[first : last + 1]


REASONS = (
    "cannot reach", "is not enabled", "twice", "there is no channel", "to itself", "would delete", "cannot send",
    "holds no token", "give one of them a time", "a message's body", "a transfer's body", "a message of this workload",
    "are initiated by sources", "cannot both start", "does nothing else until it has it", "holds", "does not hold",
    "does not manage", "is passive and sends nothing", "no process owns", "is a whole number of at least 1",
    "a record of this workload", "is passed on a whole number of times", "the fault of this run is", "holds no token",
    "do not allow for a crash", "is severed already", "only what is severed can be mended", "is down already",
    "the tick scheduler", "a channel here is not FIFO", "is not stored", "do not allow for a recovery",
)  # fmt: skip


@examples(20)
@given(SCENARIOS, st.data())
def test_an_edit_that_is_refused_says_why_and_leaves_the_run_as_it_was(scenario: Scenario, data: Any) -> None:
    execution = run(scenario)
    before = repr(execution.scenario), execution.events
    edit, now = data.draw(edits(execution))
    try:
        apply_edit(execution, edit, now)
    except InputError as refusal:
        assert any(reason in str(refusal) for reason in REASONS), refusal
    assert (repr(execution.scenario), run(execution.scenario).events) == before
