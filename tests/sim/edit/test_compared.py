"""One scenario under several algorithms: it runs, or is refused with what helps; an edit of one run goes to all."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES
from sim.core.errors import InputError
from sim.core.model import CONTROL, MessageReference
from sim.document import library
from sim.document.fault_rates import FaultRates
from sim.document.scenario import Scenario
from sim.edit.compared import Compared, all_compared, carried_over, check_names, compared, under
from sim.edit.edits import apply_edit, checked_run, is_plan, planned
from sim.edit.link import Shared, query_of, read_query
from sim.edit.words import describe_edit, describe_plan
from sim.run.execution import run
from tests.cases import each
from tests.sim.strategies import edited, scenarios
from tests.tools import check_none, examples

OWN = ("algorithm", "algorithm_parameters", "breaks")
MARKER = MessageReference(channel="P1->P2", kind="marker", snapshot="S1")


# ------------------------------------------------------------------ it runs, or is refused


def wrong_with(own: Compared, scenario: Scenario) -> str:
    """What is wrong with an answer; "" if nothing is."""
    if (own.execution is None) == (own.refused is None):
        return "it has either a run or a refusal"
    if own.execution is not None:
        return "" if own.execution.scenario.algorithm == own.algorithm else "it is the run of another algorithm"
    if not own.refused or "\n" in own.refused or "Traceback" in own.refused:
        return f"{own.refused!r} is no sentence"
    if own.remedy is None:
        return ""
    if not own.remedy.words or own.remedy.words.endswith("."):
        return f"{own.remedy.words!r} are no words for a button"
    after = compared(planned(scenario, own.remedy.edit, 0.0), own.algorithm)
    has_helped = after.execution is not None or (after.refused != own.refused and after.remedy is not None)
    return "" if has_helped else f"{own.remedy.words} does not help: {after.refused}"


@pytest.mark.slow
@each("name", library.names())
def test_every_algorithm_runs_a_bundled_scenario_or_says_why_not_and_every_remedy_helps(name: str) -> None:
    scenario = library.load(name)
    found = all_compared(scenario, [*ALGORITHMS])
    assert [own.algorithm for own in found] == [*ALGORITHMS]
    assert [own.title for own in found] == [ALGORITHMS[own.algorithm].title for own in found]
    check_none(f"{own.algorithm}: {wrong}" for own in found if (wrong := wrong_with(own, scenario)))
    assert next(own for own in found if own.algorithm == scenario.algorithm).execution is not None


@pytest.mark.slow
def test_remedies_one_after_the_other_lead_to_a_run() -> None:
    """For each refusal of a bundled scenario, at most three of them."""
    stuck = []
    for name in library.names():
        for algorithm in ALGORITHMS:
            scenario = library.load(name)
            for _ in range(4):
                own = compared(scenario, algorithm)
                if own.execution is not None or own.remedy is None:
                    break
                edit = own.remedy.edit
                scenario = planned(scenario, edit, 0.0)
                algorithm_is_set = edit["do"] == "algorithm"
                assert not algorithm_is_set or scenario.algorithm == algorithm
            if own.execution is None:
                stuck.append((name, algorithm, own.refused))
    assert [(name, algorithm) for name, algorithm, _ in stuck if compared(library.load(name), algorithm).remedy] == []


@pytest.mark.parametrize(
    ("name", "algorithm", "remedy"),
    [
        ("crash_during_commit", "mattern", {"do": "coordinator", "on": False}),
        ("crash_during_recovery", "lai_yang", {"do": "no_faults"}),
        ("lost_and_copied", "chandy_lamport", {"do": "network", "layer": "fifo"}),
    ],
)
def test_the_remedy_takes_away_what_stands_in_the_way(name: str, algorithm: str, remedy: dict[str, Any]) -> None:
    own = compared(library.load(name), algorithm)
    assert own.remedy is not None and own.remedy.edit == remedy


def test_with_its_own_algorithm_a_scenario_is_as_it_is() -> None:
    for name in library.names():
        scenario = library.load(name)
        assert under(scenario, scenario.algorithm) is scenario


def test_a_refusal_of_the_run_itself_is_told_and_no_other_scenario_is_run() -> None:
    tried: list[Scenario] = []

    def refuse(scenario: Scenario) -> Any:
        tried.append(scenario)
        raise InputError("it takes too long")

    own = compared(library.load("lecture"), "lai_yang", refuse)
    assert (own.execution, own.refused, own.remedy) == (None, "it takes too long", None)
    assert [scenario.algorithm for scenario in tried] == ["lai_yang"]


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        ([], "no algorithm is named; name one or more, such as chandy_lamport,lai_yang"),
        (["lai_yan"], "there is no algorithm 'lai_yan'; did you mean 'lai_yang'"),
        (["mattern", "lai_yang", "mattern"], "the algorithm mattern is named twice; name each once"),
    ],
)
def test_names_are_checked(names: list[str], complaint: str) -> None:
    for check in (check_names, lambda own: all_compared(library.load("lecture"), own)):
        with pytest.raises(InputError) as problem:
            check(names)
        assert str(problem.value).startswith(complaint)


# ------------------------------------------------------------------ an edit of one run goes to all


@pytest.mark.slow
@examples(12)
@given(scenarios(("timed", "random")), st.data())
def test_an_edit_of_the_scenarios_own_run_gives_the_edited_scenario(scenario: Scenario, data: st.DataObject) -> None:
    before = data.draw(st.sampled_from([*ALGORITHMS]).map(lambda name: _runnable(scenario, name)))
    for _, _, after in data.draw(edited(run(before), 4)):
        assert carried_over(before, before, after.scenario) == after.scenario
        before = after.scenario


def _runnable(scenario: Scenario, algorithm: str) -> Scenario:
    """Under the algorithm, if it can run it."""
    try:
        return checked_run(under(scenario, algorithm)).scenario
    except InputError:
        return scenario


@pytest.mark.slow
@examples(15)
@given(scenarios(("timed", "random")), st.sampled_from([*ALGORITHMS]), st.data())
def test_an_edit_of_another_algorithms_run_leaves_what_is_the_algorithms_own(
    scenario: Scenario, algorithm: str, data: st.DataObject
) -> None:
    """And changes all else as there: under that algorithm the scenario is then what the edit has made of it."""
    before = _runnable(scenario, algorithm)
    for edit, _, after in data.draw(edited(run(before), 1)):
        found = carried_over(scenario, before, after.scenario)
        if before.algorithm == scenario.algorithm:
            continue
        assert [getattr(found, name) for name in OWN] == [getattr(scenario, name) for name in OWN]
        for own in fields(Scenario):
            had, has, now = (getattr(one, own.name) for one in (before, after.scenario, found))
            if own.name not in (*OWN, "delays"):
                assert now == (getattr(scenario, own.name) if has == had else has), (edit, own.name)
        assert _shared(found) == _shared(after.scenario if after.scenario.delays != before.delays else scenario)
        assert _of_control(found) == _of_control(scenario)


def _shared(scenario: Scenario) -> dict[MessageReference, float]:
    return {reference: delay for reference, delay in scenario.delays.items() if reference.kind != CONTROL}


def _of_control(scenario: Scenario) -> dict[MessageReference, float]:
    return {reference: delay for reference, delay in scenario.delays.items() if reference.kind == CONTROL}


def test_a_send_in_one_run_is_in_the_runs_of_all() -> None:
    scenario = library.load("lecture")
    other = checked_run(under(scenario, "lai_yang"))
    after = apply_edit(other, {"do": "send", "process": "P1", "to": "P2", "at": 500.0, "body": "new"}, 0.0)
    found = carried_over(scenario, other.scenario, after.scenario)
    assert found.algorithm == "chandy_lamport" and len(found.script) == len(scenario.script) + 1
    for own in all_compared(found, ["chandy_lamport", "lai_yang", "mattern", "stop_the_world"]):
        assert own.execution is not None
        assert any(event.kind == "send" and event.body == '"new"' for event in own.execution.events)


@pytest.mark.parametrize(
    "edit",
    [{"do": "algorithm", "kind": "lai_yang"}, {"do": "parameter", "name": "collect", "value": True}, {"do": "break"}],
)
def test_what_an_edit_says_of_another_algorithm_changes_nothing_of_this_one(edit: dict[str, Any]) -> None:
    scenario = under(library.load("lecture"), "mattern")
    other = under(scenario, "chandy_lamport")
    rule = next(name for name in BROKEN_RULES if BROKEN_RULES[name].of == "chandy_lamport")
    after = replace(other, breaks=(rule,)) if edit["do"] == "break" else planned(other, edit, 0.0)
    assert [getattr(after, name) for name in OWN] != [getattr(other, name) for name in OWN]
    found = carried_over(scenario, other, after)
    assert [getattr(found, name) for name in OWN] == [getattr(scenario, name) for name in OWN]


def test_the_initiations_of_another_algorithm_stay_there_unless_the_edit_changes_them() -> None:
    """Stop-the-world is started by its coordinator. An edit of a message there leaves P1 as the initiator here."""
    scenario = library.load("lecture")
    other = checked_run(under(scenario, "stop_the_world"))
    assert other.scenario.snapshots != scenario.snapshots
    after = apply_edit(other, {"do": "hold", "message": {"label": "H"}}, 0.0)
    assert carried_over(scenario, other.scenario, after.scenario).snapshots == scenario.snapshots


def test_delays_of_control_messages_stay_with_their_algorithm() -> None:
    control = MessageReference(channel="P1->P2", kind=CONTROL, snapshot="S1")
    base = under(library.load("lecture"), "mattern")
    mattern = replace(base, delays={**base.delays, control: 7.0})
    before = under(mattern, "chandy_lamport")
    assert control not in before.delays
    after = replace(before, delays={**before.delays, MARKER: 3.0})
    assert carried_over(mattern, before, after).delays == {**mattern.delays, MARKER: 3.0}
    lai_yang = under(mattern, "lai_yang")
    edit = replace(lai_yang, delays={**lai_yang.delays, control: 2.0})
    assert carried_over(mattern, lai_yang, edit).delays == mattern.delays, "what Lai and Yang's counts take is theirs"
    freed = replace(mattern, delays=base.delays)
    assert carried_over(mattern, mattern, freed) == freed, "a delay that is taken away in the own run is gone"


# ------------------------------------------------------------------ the edit that takes all faults away


def test_no_faults_leaves_no_line_and_no_rate_and_all_processes_are_there() -> None:
    edit = {"do": "no_faults"}
    assert is_plan(edit)
    for name in ("crash", "joins", "lost_and_copied", "recovery"):
        scenario = library.load(name)
        assert scenario.all_faults or scenario.absent
        after = planned(scenario, edit, 0.0)
        assert not after.all_faults and not after.absent
        given = {"faults": scenario.faults, "fault_rates": scenario.fault_rates, "absent": scenario.absent}
        assert replace(after, **given) == replace(scenario, expect=after.expect, walk=after.walk, origin=after.origin)


def test_no_faults_takes_the_rates_away_as_well() -> None:
    rates = FaultRates(lose=0.5)
    scenario = replace(library.load("lecture"), fault_rates=rates)
    assert planned(scenario, {"do": "no_faults"}, 0.0).fault_rates == FaultRates()


def test_no_faults_is_told_in_words_and_nothing_fails_then() -> None:
    edit = {"do": "no_faults"}
    execution = run(library.load("crash"))
    assert "crash" in {event.kind for event in execution.events}
    after = apply_edit(execution, edit, 0.0)
    assert not {"crash", "restart", "lost"} & {event.kind for event in after.events}
    assert describe_plan(execution.scenario, edit) == describe_edit(execution, edit) == "nothing fails"


def test_who_misspells_it_is_told() -> None:
    with pytest.raises(InputError, match="no_faults"):
        apply_edit(run(library.load("crash")), {"do": "no_fault"}, 0.0)


def test_no_faults_survives_a_link() -> None:
    shared = Shared(scenario="crash", edits=(({"do": "no_faults"}, 4.0),))
    again = read_query(dict(parse_qsl(urlencode(query_of(shared)))))
    ((edit, now),) = again.edits
    assert (edit, now) == ({"do": "no_faults"}, 4.0)
    assert not planned(again.base(), edit, now).all_faults
