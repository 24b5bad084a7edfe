"""Golden tests of every bundled scenario: its declared outcome, its texts, and whether its diagram can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from sim.__main__ import main
from sim.core.algorithm import BY_NOTHING
from sim.core.errors import InputError
from sim.core.model import (
    CONTROL_RECEIVE,
    CONTROL_SEND,
    COPIED,
    DROPPED,
    LOST,
    MARKER_SEND,
    RESENT,
    RESTORE,
    SEND,
    THAWED,
    TIMER,
    UNBLOCKED,
    UP,
)
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.document.writing import dumps
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from sim.verify.expectations import unmet_expectations
from sim.verify.stable import properties_of
from tests.bundled import small
from tests.cases import each
from tests.tools import check_none

NAMES = library.names()
MOST_MESSAGES = 60
MOST_WORDS = 140  # of a story
NO_DOT = (COPIED, DROPPED, LOST, RESENT, CONTROL_SEND, CONTROL_RECEIVE, TIMER)
LEAST_GAP = 0.019  # of the time shown: closer events overlap in a diagram

every_scenario = each("name", NAMES)


@cache
def execution_of(name: str) -> Execution:
    return run(library.load(name))


def expected_snapshots(scenario: Scenario) -> dict[str, Any]:
    snapshots: dict[str, Any] = scenario.expect.get("snapshots", {})
    return snapshots


def test_the_scenarios_of_the_story_are_there() -> None:
    promised = {
        "lecture", "gupta", "token_lost", "tutorial", "never_occurred", "single_token", "two_banks", "two_banks_early",
        "widgets", "phones", "lattice", "two_initiators", "ring", "star", "overlapping", "hundred",
    }  # fmt: skip
    assert promised <= set(NAMES)


@every_scenario
def test_ends_as_declared(name: str) -> None:
    check_none(unmet_expectations(execution_of(name)))


def test_unmet_expectations_are_shown_in_full() -> None:
    sentences = [f"S1: P{number} recorded {'nothing at all, ' * 20}expected 17" for number in range(30)]
    with pytest.raises(pytest.fail.Exception) as failure:
        check_none(sentences)
    assert str(failure.value).strip().splitlines() == sentences


@every_scenario
def test_has_a_title_a_group_a_source_and_a_story(name: str) -> None:
    scenario = library.load(name)
    assert scenario.title not in ("", name), "a title of its own"
    assert scenario.group != Scenario("", ()).group, "a group of the gallery, which may be a new one"
    assert scenario.source
    sentences = re.findall(r"[.!?](?:\s|$)", scenario.story)
    assert len(sentences) >= 2 and len(scenario.story.split()) <= MOST_WORDS, scenario.story


@every_scenario
def test_declares_every_process_and_every_channel(name: str) -> None:
    """A channel not named must be empty, so `channels` has to be there even where all are.

    Of a snapshot that does not complete, the processes are those that have recorded.
    """
    execution = execution_of(name)
    scenario = execution.scenario
    assert scenario.expect
    assert set(scenario.expect.get("cuts", {})) == {cut.name for cut in scenario.cuts}
    assert set(expected_snapshots(scenario)) == {snapshot.id for snapshot in snapshots_of(execution)}
    has_states = any(process.state is not None for process in execution.engine.initial().processes)
    recorded = {snapshot.id: set(snapshot.local) for snapshot in snapshots_of(execution)}
    for snapshot, wanted in expected_snapshots(scenario).items():
        assert set(wanted) <= {"status", "processes", "states", "channels"}
        assert "channels" in wanted
        assert set(wanted["channels"]) <= {channel.name for channel in scenario.channels}
        tables = [key for key in ("processes", "states") if key in wanted]
        assert "states" in tables or not has_states or not recorded[snapshot]
        for key in tables:
            assert set(wanted[key]) == recorded[snapshot], key


def wrong(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return [*value, "wrong"] if isinstance(value, list) else f"wrong {value}"


def broken(expected: Any) -> Iterator[tuple[str, Any]]:
    """`expected` with one value made wrong, for every value in turn, each with its path of keys."""
    if not isinstance(expected, dict):
        yield "", wrong(expected)
        return
    for key, value in expected.items():
        for where, changed in broken(value):
            yield f".{key}{where}", {**expected, key: changed}


def is_noticed(execution: Execution) -> bool:
    """Whether the wrong expectation is noticed: reported as not met, or refused as unknown."""
    try:
        return unmet_expectations(execution) != []
    except InputError:
        return True


@pytest.mark.slow
@every_scenario
def test_every_wrong_expectation_is_noticed(name: str) -> None:
    """An expectation that every run meets, such as one with a misspelt key, would test nothing."""
    check_every_wrong_expectation(execution_of(name))


def check_every_wrong_expectation(execution: Execution) -> None:
    for where, expect in broken(dict(execution.scenario.expect)):
        changed = replace(execution, scenario=replace(execution.scenario, expect=expect))
        assert is_noticed(changed), f"{execution.scenario.name}{where} can be anything"


LOST = """
processes = ["A", "B"]
workload = { kind = "bank", balance = 10 }
script = [{ process = "B", at = 0, to = "A", body = 3, delay = 4, label = "pay" }]
snapshots = [{ id = "S1", process = "A", at = 2 }]
delays = [{ channel = "A->B", kind = "marker", snapshot = "S1", delay = inf }]

[expect]
fails = ["S1:completion"]

[expect.snapshots.S1]
status = "recording"
states = { A = 10 }
channels = {}
"""


def test_a_wrong_expectation_of_a_failure_is_noticed() -> None:
    execution = run(parse_toml(LOST, "lost"))
    check_none(unmet_expectations(execution))
    check_every_wrong_expectation(execution)


@pytest.mark.slow
@every_scenario
def test_a_channel_left_out_is_expected_to_be_empty(name: str) -> None:
    execution = execution_of(name)
    for snapshot, wanted in expected_snapshots(execution.scenario).items():
        for channel in [channel for channel, bodies in wanted["channels"].items() if bodies]:
            fewer = {key: bodies for key, bodies in wanted["channels"].items() if key != channel}
            expect = {**execution.scenario.expect, "snapshots": {snapshot: {**wanted, "channels": fewer}}}
            changed = replace(execution, scenario=replace(execution.scenario, expect=expect))
            assert [text for text in unmet_expectations(changed) if channel in text], channel


@every_scenario
def test_is_equal_once_written_and_read(name: str) -> None:
    scenario = library.load(name)
    assert parse_toml(dumps(scenario), name) == scenario


@every_scenario
def test_runs_alike_copied_and_in_place(name: str) -> None:
    execution = execution_of(name)
    assert execution.events, "a scenario in which nothing happens"
    assert run(execution.scenario, copied=True).events == execution.events


@every_scenario
def test_shows_more_than_process_states(name: str) -> None:
    """A recorded message, an incomplete snapshot, a cut, a declared failure, or no recorded channels at all."""
    execution = execution_of(name)
    found = snapshots_of(execution)
    is_telling = any(snapshot.recorded_messages or snapshot.status != "complete" for snapshot in found)
    is_told = execution.scenario.cuts or execution.scenario.expect.get("fails")
    assert is_telling or is_told or not records_channels(execution)


def records_channels(execution: Execution) -> bool:
    """Whether some process ever records a channel."""
    return any(process.listening for step in execution.replay() for process in step.state.processes)


@pytest.mark.slow
@every_scenario
def test_prints_its_document(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", name, "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    document = json.loads(printed.out)
    execution = execution_of(name)
    properties = [own.detector.name for own in properties_of(execution)]
    assert list(document) == ["scenario", "steps", "snapshots", "final", *(["properties"] if properties else [])]
    assert [own["property"] for own in document.get("properties", ())] == properties
    assert (document["scenario"], document["steps"]) == (name, execution.steps)
    expected = expected_snapshots(execution.scenario)
    assert {shown["id"] for shown in document["snapshots"]} == set(expected)
    for shown in document["snapshots"]:
        check_document(shown, expected[shown["id"]], execution.scenario)


def in_order(recorded: Mapping[str, Any], known: Sequence[str], status: str) -> None:
    """The names recorded are in the order of the scenario; a complete snapshot has all that are known."""
    assert list(recorded) == [name for name in known if status == "complete" or name in recorded]


def check_document(shown: dict[str, Any], wanted: dict[str, Any], scenario: Scenario) -> None:
    """Compares one snapshot of the printed document with what the scenario declares."""
    reason = ["reason"] if shown["status"] in ("expired", "failed") else []
    assert list(shown) == ["id", "algorithm", "initiators", "status", *reason, "processes", "channels", "verdicts"]
    assert shown["algorithm"] == scenario.algorithm
    asked = {start.process for start in scenario.snapshots if start.snapshot == shown["id"]}
    assert set(shown["initiators"]) <= (asked if scenario.coordinator is None else set(scenario.processes))
    assert shown["status"] == wanted.get("status", "complete")
    members = [name for name in scenario.processes if name in wanted.get("states", scenario.processes)]
    in_order(shown["processes"], members, shown["status"])
    for process, recorded in shown["processes"].items():
        assert list(recorded) == ["state", "events"]
        assert recorded["events"] == wanted.get("processes", {}).get(process, recorded["events"])
        assert recorded["state"] == wanted.get("states", {}).get(process)
    between = [own.name for own in scenario.channels if {own.source_name, own.target_name} <= {*members}]
    recorded = [] if scenario.rules.closes_by == BY_NOTHING else between
    in_order(shown["channels"], recorded, shown["status"])
    for channel in {**shown["channels"], **wanted["channels"]}:
        assert shown["channels"].get(channel, []) == wanted["channels"].get(channel, [])
    failing = {f"{shown['id']}:{verdict['check']}" for verdict in shown["verdicts"] if verdict["holds"] is False}
    assert failing == {check for check in scenario.expect.get("fails", []) if check.startswith(f"{shown['id']}:")}
    assert all(list(verdict) == ["check", "holds", "witness"] for verdict in shown["verdicts"])


@each("name", small)
def test_can_be_read_as_a_diagram(name: str) -> None:
    """Not too many messages, and room between two steps of the same process.

    What waited on a blocked or a severed channel comes when that is open again, or for a process that was frozen when
    it is thawed, and what a recovery puts back at once; the diagram draws it a little later. What becomes of a message
    on its way is not at a process, and a control message or a timer has no dot there.
    """
    events = execution_of(name).events
    assert sum(event.kind in (SEND, MARKER_SEND) for event in events) <= MOST_MESSAGES
    shown = events[-1].time - events[0].time
    assert shown > 0, "everything at one moment"
    for process in library.load(name).processes:
        own = [event for event in events if event.process == process and event.kind not in NO_DOT]
        freed = {event.time: event.step for event in own if event.kind in (UNBLOCKED, UP, RESTORE, THAWED)}
        steps = {(event.step, event.time) for event in own if event.step <= freed.get(event.time, event.step)}
        times = sorted(time for _, time in steps)
        for one, next_one in pairwise(times):
            assert next_one - one >= LEAST_GAP * shown, f"{process} at {one:g} and {next_one:g}"
