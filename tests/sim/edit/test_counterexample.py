"""Breaking a rule by an edit, and the smallest counterexample to it."""

from __future__ import annotations

import pytest

from sim.core.broken_rule import BROKEN_RULES
from sim.core.errors import InputError
from sim.core.model import MessageReference
from sim.document import library
from sim.document.files import parse_toml
from sim.document.writing import dumps
from sim.edit.counterexample import _candidates, harm, smallest_counterexample
from sim.edit.edits import Edit, apply_edit
from sim.edit.words import describe_edit
from sim.run.execution import Execution, run
from sim.run.references import references
from tests.cases import each
from tests.sim.tools import failing


def broken(scenario: str, rule: str) -> Execution:
    return apply_edit(run(library.load(scenario)), {"do": "break", "rule": rule}, 0.0)


@pytest.mark.slow
@each("rule", list(BROKEN_RULES))
def test_its_scenario_shows_every_broken_rule_after_one_edit_at_most(rule: str) -> None:
    """The same edits harm nothing where the rule is kept: the rule is to blame."""
    execution = broken(BROKEN_RULES[rule].shown_by, rule)
    if harm(execution):
        return
    found = smallest_counterexample(execution)
    assert found is not None and failing(found.execution)
    if found.edit.get("message", {}).get("kind") != "control":
        kept = apply_edit(found.execution, {"do": "break", "rule": rule, "on": False}, 0.0)
        assert not failing(kept)


@each("rule", list(BROKEN_RULES))
def test_a_broken_rule_is_switched_on_and_off(rule: str) -> None:
    opened = run(library.load("two_banks"))
    on = apply_edit(opened, {"do": "break", "rule": rule}, 0.0)
    assert rule in on.scenario.breaks
    assert describe_edit(opened, {"do": "break", "rule": rule}).startswith("broken: ")
    off = apply_edit(on, {"do": "break", "rule": rule, "on": False}, 0.0)
    assert (off.scenario.breaks, off.scenario.not_fifo, off.scenario.algorithm_parameters) == ((), (), {})
    assert off.events == opened.events


@each("rule", list(BROKEN_RULES))
def test_a_broken_run_is_saved_and_read_again(rule: str) -> None:
    execution = broken("two_banks", rule)
    again = run(parse_toml(dumps(execution.scenario), "two_banks"))
    assert again.events == execution.events


def test_one_broken_rule_replaces_another() -> None:
    second = apply_edit(broken("two_banks", "slips_in"), {"do": "break", "rule": "one_flag"}, 0.0)
    assert second.scenario.breaks == ("one_flag",) and not second.scenario.algorithm_parameters


def test_channels_that_are_not_fifo_and_broken_rules_go_together() -> None:
    both = apply_edit(broken("two_banks", "fifo"), {"do": "break", "rule": "one_flag"}, 0.0)
    assert both.scenario.breaks == ("fifo", "one_flag")


def test_another_algorithm_breaks_nothing() -> None:
    other = apply_edit(broken("two_banks", "one_flag"), {"do": "algorithm", "kind": "lai_yang"}, 0.0)
    assert other.scenario.breaks == ()


def test_no_edit_is_offered_where_no_rule_is_broken() -> None:
    assert smallest_counterexample(run(library.load("lecture"))) is None


def test_a_rule_of_another_algorithm_is_refused() -> None:
    with pytest.raises(InputError, match="'one_flag' breaks a rule of Chandy-Lamport, and this run follows those of"):
        apply_edit(run(library.load("lai_yang")), {"do": "break", "rule": "one_flag"}, 0.0)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(InputError, match="rule"):
        apply_edit(run(library.load("lecture")), {"do": "break", "rule": "one_flags"}, 0.0)


def test_the_smallest_edits_of_the_lecture_example_and_of_two_banks() -> None:
    """A marker that overtakes the 50 by as little as possible; a transfer between the recording and the marker."""
    found = {}
    for rule in ("fifo", "slips_in", "records_late"):
        execution = broken("two_banks", rule)
        counterexample = smallest_counterexample(execution)
        assert counterexample is not None
        found[rule] = describe_edit(execution, counterexample.edit), harm(counterexample.execution)[0][1]
    assert found == {
        "fifo": ("delay the marker of audit on C12: 40 time units", "C12 recorded [], but [50] crosses the cut"),
        "slips_in": (
            "S1 sends 50 to S2 at 36",
            "the message sent at step 3 on C12 is received inside the cut, but sent outside it",
        ),
        "records_late": ("S1 sends 50 to S2 at 36", "C12 recorded [], but [50] crosses the cut"),
    }


@pytest.mark.parametrize("rule", ["records_late", "slips_in"])
def test_no_edit_is_offered_where_a_check_fails_already(rule: str) -> None:
    execution = broken("star", rule)
    assert harm(execution) and smallest_counterexample(execution) is None


@pytest.mark.parametrize("rule", ["one_flag", "freezes"])
def test_a_broken_rule_that_needs_a_second_snapshot_gets_one_at_once(rule: str) -> None:
    execution = broken("star", rule)
    found = smallest_counterexample(execution)
    assert BROKEN_RULES[rule].needs_snapshots and found is not None
    assert describe_edit(execution, found.edit) == "Hub starts a snapshot at 11"


def test_a_message_more_is_smaller_than_a_long_delay_and_a_snapshot_larger_than_either() -> None:
    execution = broken("lecture", "fifo")
    length = execution.times[-1]
    edits = list(_candidates(execution, BROKEN_RULES["fifo"]))
    flights = dict(zip(references(execution), execution.flights, strict=True))

    def change(edit: Edit) -> float:
        if edit["do"] != "delay":
            return {"send": length / 4, "snapshot": length / 2}[edit["do"]]
        flight = flights[MessageReference(**edit["message"])]
        assert flight.receive is not None
        return abs(flight.send.time + edit["delay"] - flight.receive.time)

    assert {edit["do"] for edit in edits} == {"delay", "send", "snapshot"}
    assert [change(edit) for edit in edits] == sorted(change(edit) for edit in edits)


def test_delays_that_are_tried_are_round_and_move_the_message_past_another_event_of_its_receiver() -> None:
    """The times of this run have many digits."""
    execution = broken("star", "backwards")
    flights = dict(zip(references(execution), execution.flights, strict=True))
    delays = [edit for edit in _candidates(execution, BROKEN_RULES["backwards"]) if edit["do"] == "delay"]
    assert sum(edit["delay"] == round(edit["delay"], 1) for edit in delays) > 0.9 * len(delays)
    for edit in delays:
        flight = flights[MessageReference(**edit["message"])]
        assert flight.receive is not None
        arrival = flight.send.time + edit["delay"]
        low, high = sorted((arrival, flight.receive.time))
        others = [event for event in execution.events if event is not flight.receive]
        at = [event.time for event in others if event.process == flight.receive.process]
        assert edit["delay"] > 0 and any(low <= time <= high for time in at)
