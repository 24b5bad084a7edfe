"""One golden test per bundled scenario: the outcome its [expect] table declares, and what a student needs of it.

A new file in scenarios/ is picked up by itself.
"""

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
from sim.core.errors import InputError
from sim.core.model import MARKER_SEND, SEND
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.document.writing import dumps
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from sim.verify.expectations import disappointments
from tests.bundled import small
from tests.tools import nothing_said

NAMES = library.names()
MOST_MESSAGES = 60
LEAST_GAP = 0.019  # of the time shown: two events closer than this cannot be told apart

every_scenario = pytest.mark.parametrize("name", NAMES)


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
    nothing_said(disappointments(execution_of(name)))


def test_what_is_not_met_is_told_in_full() -> None:
    sentences = [f"S1: P{number} recorded {'nothing at all, ' * 20}expected 17" for number in range(30)]
    with pytest.raises(pytest.fail.Exception) as failure:
        nothing_said(sentences)
    assert str(failure.value).strip().splitlines() == sentences


@every_scenario
def test_tells_a_student_what_to_watch(name: str) -> None:
    scenario = library.load(name)
    assert scenario.title not in ("", name), "a title of its own"
    assert scenario.group != Scenario("", ()).group, "a group of the gallery, which may be a new one"
    assert scenario.source
    sentences = re.findall(r"[.!?](?:\s|$)", scenario.story)
    assert 2 <= len(sentences) <= 5, scenario.story


@every_scenario
def test_declares_every_process_and_every_channel(name: str) -> None:
    """A channel not named must be empty, so `channels` has to be there even where all are.

    Of a snapshot that does not complete, the processes are those that have recorded.
    """
    execution = execution_of(name)
    scenario = execution.scenario
    assert scenario.expect
    assert set(scenario.expect.get("cuts", {})) == {cut.name for cut in scenario.cuts}
    assert set(expected_snapshots(scenario)) == {start.snapshot for start in scenario.snapshots}
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
    """The same expectations with one of them made wrong: each in turn, with the keys that lead to it."""
    if not isinstance(expected, dict):
        yield "", wrong(expected)
        return
    for key, value in expected.items():
        for where, changed in broken(value):
            yield f".{key}{where}", {**expected, key: changed}


def disappoints(execution: Execution) -> bool:
    """Whether somebody would notice that the outcome is not as expected: it is told, or refused as of nothing here."""
    try:
        return disappointments(execution) != []
    except InputError:
        return True


@every_scenario
def test_every_expectation_can_disappoint(name: str) -> None:
    """An expectation that no run can fail to meet says nothing, and a misspelt key would be one."""
    every_one_can_disappoint(execution_of(name))


def every_one_can_disappoint(execution: Execution) -> None:
    for where, expect in broken(dict(execution.scenario.expect)):
        changed = replace(execution, scenario=replace(execution.scenario, expect=expect))
        assert disappoints(changed), f"{execution.scenario.name}{where} can be anything"


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


def test_an_expectation_that_something_fails_can_disappoint_too() -> None:
    execution = run(parse_toml(LOST, "lost"))
    nothing_said(disappointments(execution))
    every_one_can_disappoint(execution)


@every_scenario
def test_a_channel_left_out_is_expected_to_be_empty(name: str) -> None:
    execution = execution_of(name)
    for snapshot, wanted in expected_snapshots(execution.scenario).items():
        for channel in [channel for channel, bodies in wanted["channels"].items() if bodies]:
            fewer = {key: bodies for key, bodies in wanted["channels"].items() if key != channel}
            expect = {**execution.scenario.expect, "snapshots": {snapshot: {**wanted, "channels": fewer}}}
            changed = replace(execution, scenario=replace(execution.scenario, expect=expect))
            assert [text for text in disappointments(changed) if channel in text], channel


@every_scenario
def test_is_the_same_document_once_written(name: str) -> None:
    scenario = library.load(name)
    assert parse_toml(dumps(scenario), name) == scenario


@every_scenario
def test_runs_alike_copied_and_in_place(name: str) -> None:
    execution = execution_of(name)
    assert execution.events, "a scenario in which nothing happens"
    assert run(execution.scenario, copied=True).events == execution.events


@every_scenario
def test_there_is_something_to_see_that_the_processes_do_not_show(name: str) -> None:
    """A message in a channel; else a cut to discuss, a snapshot that fails, or an algorithm that records no channel."""
    execution = execution_of(name)
    found = snapshots_of(execution)
    is_telling = any(snapshot.recorded_messages or snapshot.status != "complete" for snapshot in found)
    is_told = execution.scenario.cuts or execution.scenario.expect.get("fails")
    assert is_telling or is_told or not records_channels(execution)


def records_channels(execution: Execution) -> bool:
    """Whether some process ever records what a channel brings it."""
    states = (execution.state_at(step) for step in range(execution.steps + 1))
    return any(process.recording for state in states for process in state.processes)


@every_scenario
def test_prints_its_document(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", name, "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    document = json.loads(printed.out)
    execution = execution_of(name)
    assert list(document) == ["scenario", "steps", "snapshots", "final"]
    assert (document["scenario"], document["steps"]) == (name, execution.steps)
    expected = expected_snapshots(execution.scenario)
    assert {shown["id"] for shown in document["snapshots"]} == set(expected)
    for shown in document["snapshots"]:
        check_document(shown, expected[shown["id"]], execution.scenario)


def in_order(recorded: Mapping[str, Any], known: Sequence[str], status: str) -> None:
    """What is recorded is listed in the order of the scenario: all of it, where the snapshot is complete."""
    assert list(recorded) == [name for name in known if status == "complete" or name in recorded]


def check_document(shown: dict[str, Any], wanted: dict[str, Any], scenario: Scenario) -> None:
    """One snapshot of the printed document against what the scenario declares of it."""
    assert list(shown) == ["id", "algorithm", "initiators", "status", "processes", "channels", "verdicts"]
    assert shown["algorithm"] == scenario.algorithm
    assert set(shown["initiators"]) <= {s.process for s in scenario.snapshots if s.snapshot == shown["id"]}
    assert shown["status"] == wanted.get("status", "complete")
    in_order(shown["processes"], scenario.processes, shown["status"])
    for process, recorded in shown["processes"].items():
        assert list(recorded) == ["state", "events"]
        assert recorded["events"] == wanted.get("processes", {}).get(process, recorded["events"])
        assert recorded["state"] == wanted.get("states", {}).get(process)
    in_order(shown["channels"], [channel.name for channel in scenario.channels], shown["status"])
    for channel in {**shown["channels"], **wanted["channels"]}:
        assert shown["channels"].get(channel, []) == wanted["channels"].get(channel, [])
    failing = {f"{shown['id']}:{verdict['check']}" for verdict in shown["verdicts"] if verdict["holds"] is False}
    assert failing == {check for check in scenario.expect.get("fails", []) if check.startswith(f"{shown['id']}:")}
    assert all(list(verdict) == ["check", "holds", "witness"] for verdict in shown["verdicts"])


@pytest.mark.parametrize("name", small())
def test_can_be_read_as_a_diagram(name: str) -> None:
    """Not too many messages, and room between two things that happen to the same process, at whatever pace."""
    events = execution_of(name).events
    assert sum(event.kind in (SEND, MARKER_SEND) for event in events) <= MOST_MESSAGES
    shown = events[-1].time - events[0].time
    assert shown > 0, "everything at one moment"
    for process in library.load(name).processes:
        times = sorted(time for _, time in {(event.step, event.time) for event in events if event.process == process})
        for one, next_one in pairwise(times):
            assert next_one - one >= LEAST_GAP * shown, f"{process} at {one:g} and {next_one:g}"
