"""A coordinator that an edit adds, takes away, or tells something else: undone, in links and files, and refused."""

from __future__ import annotations

import math

import pytest

from diagrams.browser.payload import payload
from diagrams.panels.stored.coordinator import coordinator
from diagrams.scene.composition import compose
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.document import library
from sim.document.files import parse_toml
from sim.document.writing import dumps
from sim.edit.edits import apply_edit, checked_run, planned
from sim.edit.link import Shared, query_of, read_query
from sim.edit.words import describe_plan
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from sim.services.settings import PARAMETERS
from tests.cases import each

ON, OFF = {"do": "coordinator", "on": True}, {"do": "coordinator", "on": False}
COORDINATED = [name for name in library.names() if library.load(name).coordinator is not None]


def setting(name, *value):
    return {"do": "coordinator", "name": name, **dict(zip(["value"], value, strict=False))}


def statuses(scenario):
    return {own.id: own.status for own in snapshots_of(checked_run(scenario))}


def test_a_coordinator_is_added_and_taken_away():
    lecture = library.load("lecture")
    with_one = planned(lecture, ON, 0.0)
    assert with_one.coordinator == {} and statuses(with_one) == {"S1": "expired"}, "20 time units are too few"
    assert snapshots_of(checked_run(with_one))[0].decided is not None
    assert planned(with_one, ON, 0.0).coordinator == {}
    without = planned(with_one, OFF, 0.0)
    assert without.coordinator is None and without.snapshots == lecture.snapshots
    assert checked_run(without).events == run(lecture).events
    assert [describe_plan(lecture, edit) for edit in (ON, OFF)] == ["with a coordinator", "without a coordinator"]


@pytest.mark.parametrize("name", ["lecture", "two_initiators", "overlapping"])
def test_the_page_gives_it_time_enough_for_the_run(name):
    execution = run(library.load(name))
    timeout = coordinator(execution.scenario, execution.times[-1])["timeout"]
    after = planned(execution.scenario, {**ON, "timeout": timeout}, 0.0)
    assert set(statuses(after).values()) == {"complete"}
    assert coordinator(execution.scenario, 3.0)["timeout"] == 20


@each("name", COORDINATED)
def test_every_run_with_a_coordinator_can_do_without(name):
    """What only the coordinator starts has no delays then; what it was asked for is started by processes."""
    without = planned(library.load(name), OFF, 0.0)
    assert {start.process for start in without.snapshots} <= set(without.processes)
    assert not any(own.decided for own in snapshots_of(checked_run(without)))


def test_who_asked_the_coordinator_itself_has_a_process_start_it():
    text = 'processes = ["P1", "P2"]\n[coordinator]\n[[snapshots]]\nid = "S1"\nprocess = "coordinator"\nat = 1\n'
    without = planned(parse_toml(text, "asked"), OFF, 0.0)
    assert [start.process for start in without.snapshots] == ["P1"] and statuses(without) == {"S1": "complete"}


def test_a_setting_is_given_and_taken_away_and_the_others_stay():
    before = library.load("expired_and_retried")
    longer = planned(before, setting("timeout", 25), 0.0)
    assert longer.coordinator == {**before.coordinator, "timeout": 25}
    assert planned(longer, setting("timeout"), 0.0).coordinator == {"retries": 1, "minimum_pause": 5}
    once = planned(before, setting("retries", 0), 0.0)
    assert "retries" not in once.coordinator and statuses(once) == {"S1": "expired"}
    assert planned(before, setting("timeout", PARAMETERS["timeout"].default), 0.0).coordinator == {
        "retries": 1,
        "minimum_pause": 5,
    }
    assert before.coordinator["timeout"] == 10, "undo goes back to the scenario before"


def test_every_setting_has_words_in_the_list_of_edits():
    own = library.load("expired_and_retried")
    told = {name: describe_plan(own, setting(name, 4)) for name in PARAMETERS if name != "when_held"}
    assert all(words == f"{PARAMETERS[name].help}: 4" for name, words in told.items())
    assert describe_plan(own, setting("tolerable_failures")).endswith(": any number")
    assert describe_plan(own, setting("when_held", "stop")).endswith(": their senders stand still")


@each(
    "wrong, told",
    [
        (setting("timeout", 0), "coordinator.timeout: expected a number of at least 0.1, not 0"),
        (setting("timeout", -1), "timeout: expected a finite number of at least 0, not -1"),
        (setting("interval", 0.05), "coordinator.interval: expected 0 (none) or a number of at least 0.1, not 0.05"),
        (setting("retries", 1.5), "retries: expected a whole number, not 1.5"),
        (setting("missed", 1), "missed: expected a whole number of at least 2, not 1"),
        (setting("most_concurrent", 0), "most_concurrent: expected a whole number of at least 1, not 0"),
        (setting("when_held", "wait"), 'coordinator.when_held: expected "fail" or "stop", not \'wait\''),
        (setting("speed", 3), "name: "),
        ({**ON, "timeout": -3}, "timeout: expected a finite number of at least 0, not -3"),
        ({"do": "coordinator", "on": 1}, "on: expected true or false, not 1"),
    ],
)
def test_a_bad_value_is_refused_in_one_sentence(wrong, told):
    execution = run(library.load("expired_and_retried"))
    with pytest.raises(InputError) as refused:
        apply_edit(execution, wrong, 0.0)
    assert str(refused.value).startswith(told) and "\n" not in str(refused.value)


def test_without_a_coordinator_no_setting_is_changed():
    with pytest.raises(InputError, match="name: this run has no coordinator; add one first"):
        planned(library.load("lecture"), setting("timeout", 5), 0.0)


@each("kind", [name for name in ALGORITHMS if not ALGORITHMS[name].allows_coordinator])
def test_an_algorithm_that_allows_none_has_none(kind):
    scenario = planned(library.load("lecture"), {"do": "algorithm", "kind": kind}, 0.0)
    with pytest.raises(InputError, match="do not support a coordinator yet"):
        checked_run(planned(scenario, ON, 0.0))
    told = coordinator(scenario, 5.0)
    assert told["refused"].startswith(f"The rules of {scenario.rules.title} do not work with a coordinator")
    assert (told["is_on"], told["settings"]) == (False, [])


def test_nor_has_one_with_options():
    """The reason says what can have one; the words of other algorithms are never those of this one."""
    collecting = planned(library.load("lecture"), {"do": "parameter", "name": "collect", "value": True}, 0.0)
    assert coordinator(collecting, 5.0)["of_others"] == "the default settings do"
    assert coordinator(library.load("lai_yang"), 5.0)["of_others"] == "those of Chandy-Lamport do"
    assert coordinator(collecting, 5.0)["refused"] and not coordinator(library.load("lecture"), 5.0)["refused"]


def test_links_and_files_keep_it():
    edits = ((ON, 0.0), (setting("timeout", 3.5), 0.0), (setting("tolerable_failures", 2), 0.0))
    shared = Shared(scenario="lecture", edits=edits)
    again = read_query(query_of(shared))
    assert again == shared
    scenario = again.base()
    for edit, now in again.edits:
        scenario = planned(scenario, edit, now)
    assert scenario.coordinator == {"timeout": 3.5, "tolerable_failures": 2}
    assert parse_toml(dumps(scenario), scenario.name).coordinator == scenario.coordinator


def test_the_page_has_a_field_for_each_with_the_value_of_the_run():
    told = payload(compose(run(library.load("expired_and_retried"))), ())["coordinator"]
    assert told["is_on"] and not told["refused"]
    fields = {own["name"]: own for own in told["settings"]}
    assert list(fields) == list(PARAMETERS)
    assert {name: own["value"] for name, own in fields.items()} == {
        name: {"timeout": 10, "retries": 1, "minimum_pause": 5}.get(
            name, None if own.default == math.inf else own.default
        )
        for name, own in PARAMETERS.items()
    }
    assert [value for value, _ in fields["when_held"]["options"]] == ["fail", "stop"]
    assert all(own["words"] for own in told["settings"])
