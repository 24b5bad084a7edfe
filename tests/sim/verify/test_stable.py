"""Stable properties: what a snapshot says of them, against the real states of the run and against brute force."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from sim.core.broken_rule import BROKEN_RULES
from sim.core.delays import DelayRule
from sim.core.detector import DETECTORS
from sim.core.engine import Engine
from sim.core.errors import InputError
from sim.core.model import APP, Fire, Initiate, MessageReference, State
from sim.core.topology import Topology
from sim.core.workload import WORKLOADS
from sim.document import library
from sim.document.scenario import Initiation, Scenario
from sim.edit.edits import apply_edit
from sim.edit.words import consequence
from sim.explain.properties import properties_in_words, theorem
from sim.run.execution import Execution, run
from sim.verify.stable import Property, properties_of
from tests.cases import each
from tests.sim.tools import failing, send, start, system


def of(execution: Execution, name: str) -> Property:
    (found,) = (own for own in properties_of(execution) if own.detector.name == name)
    return found


def answers(execution: Execution, name: str) -> dict[str, tuple[bool, bool]]:
    """By snapshot: what it says, and what its process states alone would have said."""
    return {own.snapshot: (own.finding.holds, own.alone.holds) for own in of(execution, name).answers}


# --------------------------------------------------------------------------- the examples


def test_a_message_on_its_way_means_that_nothing_has_terminated() -> None:
    """Both passive, "activate" P1->P2 sent at 1, delay 3; P2 starts at 3: C12=[activate]."""
    rest = replace(send("P1", "P2", 2, "rest"), to=None)
    script = (send("P1", "P2", 1, "activate", label="m"), rest)
    delays = {MessageReference(label="m"): 3.0}
    execution = run(system("P1 P2", workload="diffusing", script=script, delays=delays, snapshots=(start("P2", 3),)))
    assert answers(execution, "terminated") == {"S1": (False, True)} and not failing(execution)
    (answer,) = of(execution, "terminated").answers
    assert answer.finding.why == "every process is passive, but P1's message 'activate' is on its way to P2"


def test_a_passive_process_sends_nothing() -> None:
    with pytest.raises(InputError, match="P2 is passive and sends nothing"):
        run(system("P1 P2", workload="diffusing", script=(send("P2", "P1", 1, "activate"),)))


def test_everybody_is_passive_and_yet() -> None:
    execution = run(library.load("termination"))
    found = of(execution, "terminated")
    assert answers(execution, "terminated") == {"S1": (False, True), "S2": (True, True)}
    assert found.since == 10 and found.found_by is found.answers[1]
    assert [theorem(own) for own in found.answers] == [
        "It does not hold in S1, so it did not hold at step 3, when S1 began. S1 cannot say whether it holds now.",
        "It holds in S2, so it holds from step 13 on, when S2 was complete.",
    ]


def test_a_property_in_words() -> None:
    execution = run(library.load("termination"))
    assert list(properties_in_words(execution, of(execution, "terminated"))) == [
        "Termination: The computation has terminated from step 10 on (time 76). S2 is the first to show it, at step "
        "13: 20 time units later.",
        "  S1: The computation has not terminated: every process is passive, but p2's message 'activate' is on its way "
        "to p1. The process states alone say the opposite, which is wrong: the computation has terminated (every "
        "process is passive).",
        "      It does not hold in S1, so it did not hold at step 3, when S1 began. S1 cannot say whether it holds "
        "now.",
        "  S2: The computation has terminated: every process is passive, and every channel is empty.",
        "      It holds in S2, so it holds from step 13 on, when S2 was complete.",
    ]


def test_two_processes_that_wait_for_each_other() -> None:
    holds = {"P1": ["p1"], "P2": ["p2"]}
    script = (send("P1", "P2", 1, "ask p2"), send("P2", "P1", 1, "ask p1"))
    fields: dict[str, Any] = {"workload": "requests", "parameters": {"holds": holds}, "script": script}
    found = of(run(system("P1 P2", snapshots=(start("P1", 0.5), start("P1", 3, "S2")), **fields)), "deadlocked")
    assert [own.finding.holds for own in found.answers] == [False, True]
    assert found.answers[1].finding.circle == ("P1", "P2") and found.since == 3  # both have asked


def test_a_circle_that_closes_in_a_channel() -> None:
    execution = run(library.load("deadlock"))
    assert answers(execution, "deadlocked") == {"S1": (False, False), "S2": (True, False)}
    found = of(execution, "deadlocked")
    assert found.found_by and found.found_by.finding.why == "P1 waits for P2, P2 waits for P3, P3 waits for P1"
    assert found.answers[0].finding.waits == (("P1", "P2"), ("P2", "P3"))


def test_a_phantom_deadlock_is_seen_by_a_naive_collector_and_not_by_the_snapshot() -> None:
    """T->U->V->T, which never was."""
    found = of(run(library.load("phantom_deadlock")), "deadlocked")
    (glance,), (answer,) = found.glances, found.answers
    assert glance.finding.circle == ("T", "U", "V") and answer.alone.circle == ("T", "U", "V")
    assert not answer.finding.holds and answer.finding.waits == (("U", "V"), ("V", "T"))
    assert found.since is None


def test_who_waits_does_nothing_else() -> None:
    script = (send("P1", "P2", 1, "ask p2"), send("P1", "P2", 1.5, "ask p2"))
    with pytest.raises(InputError, match="P1 waits for p2 and does nothing else until it has it"):
        run(system("P1 P2", workload="requests", script=script))


def test_an_object_is_granted_in_the_order_of_the_requests() -> None:
    script = (
        send("P1", "P3", 1, "ask p3"), send("P2", "P3", 2, "ask p3"), send("P1", "P3", 5, "release p3"),
    )  # fmt: skip
    last = run(system("P1 P2 P3", workload="requests", script=script)).final
    assert [process.state["holds"] for process in last.processes] == [[], ["p3"], []]
    assert last.processes[2].state["objects"] == {"p3": ["P2"]}


def test_a_lost_token_is_found_by_the_first_snapshot_that_begins_after_the_loss() -> None:
    execution = run(library.load("token_gone"))
    assert answers(execution, "token_lost") == {"S1": (False, False), "S2": (False, True), "S3": (True, True)}
    assert [own.detector.name for own in properties_of(execution)] == ["token_lost"]


def test_a_doubled_token() -> None:
    double = replace(send("P1", "P2", 1, "double"), to=None)
    parameters = {"fault": "double", "rounds": 0}
    execution = run(
        system("P1 P2", workload="token", parameters=parameters, script=(double,), snapshots=(start("P2", 2),))
    )
    assert answers(execution, "token_doubled") == {"S1": (True, True)}


@pytest.mark.parametrize(
    ("body", "problem"), [("lose", "the fault of this run is 'double'"), ("double", "P2 holds no token")]
)
def test_a_fault_that_cannot_be_is_refused(body: str, problem: str) -> None:
    line = replace(send("P2", "P1", 1, body), to=None)
    with pytest.raises(InputError, match=problem):
        run(system("P1 P2", workload="token", parameters={"fault": "double"}, script=(line,)))


def test_nothing_is_said_of_workloads_without_such_properties() -> None:
    assert properties_of(run(library.load("lecture"))) == []


# --------------------------------------------------------------------------- random runs, and brute force

BUSY: dict[str, dict[str, Any]] = {
    "terminated": {"workload": "diffusing", "parameters": {"acts": 4, "pace": 5.0}},
    "deadlocked": {"workload": "requests", "parameters": {"requests": 4, "greed": 80}},
    "token_lost": {"workload": "token", "parameters": {"rounds": 6, "fault": "lose", "risk": 15, "hold": 3}},
    "token_doubled": {"workload": "token", "parameters": {"rounds": 6, "fault": "double", "risk": 15, "hold": 3}},
}


def random_run(name: str, seed: int) -> Execution:
    return run(random_scenario(seed, BUSY[name]))


def random_scenario(seed: int, busy: dict[str, Any]) -> Scenario:
    """A busy run with twelve snapshots, by all processes in turn."""
    count = 2 + seed % 4
    names = tuple(f"P{number + 1}" for number in range(count))
    snapshots = tuple(Initiation(f"S{n + 1}", names[n % count], 1 + 9.0 * n) for n in range(12))
    return Scenario(
        "random", names, topology=Topology("complete"), delay=DelayRule("uniform", 1, 14), seed=seed,
        snapshots=snapshots, **busy,
    )  # fmt: skip


def is_quiet(engine: Engine, state: State) -> bool:
    """Terminated: whatever may happen, no process acts by itself, and no message is on its way."""
    acts = [action for action in engine.enabled(state) if not isinstance(action, Initiate | Fire)]
    return not any(message.kind == APP for queue in state.queues for message in queue) and all(
        hasattr(action, "message") for action in acts
    )


def is_stuck(engine: Engine, state: State) -> bool:
    """Deadlocked: all arrives, and whoever does not wait releases all it has, again and again, but some still wait."""
    managed = {thing: list(queue) for own in state.processes for thing, queue in own.state["objects"].items()}
    waits = {own.name: own.state["waits"] for own in state.processes if own.state["waits"]}
    on_the_way = [message for queue in state.queues for message in queue if message.kind == APP]
    for message in sorted(on_the_way, key=lambda own: own.id):
        word, thing = message.body.split()
        if word == "ask":
            managed[thing].append(message.channel.source_name)
        elif word == "release":
            managed[thing].remove(message.channel.source_name)
        elif waits.get(message.channel.target_name) == thing:
            del waits[message.channel.target_name]
    while True:
        freed = [own.name for own in state.processes if own.name not in waits]
        for queue in managed.values():
            queue[:] = [name for name in queue if name not in freed]
        got = [name for name, thing in waits.items() if managed[thing][:1] == [name]]
        if not got:
            return bool(waits)
        for name in got:
            del waits[name]


def tokens(state: State) -> int:
    held = sum(own.state for own in state.processes)
    return held + sum(message.kind == APP for queue in state.queues for message in queue)


BRUTE_FORCE = {
    "terminated": is_quiet,
    "deadlocked": is_stuck,
    "token_lost": lambda engine, state: tokens(state) == 0,
    "token_doubled": lambda engine, state: tokens(state) > 1,
}


def truths(name: str, execution: Execution) -> list[bool]:
    """Whether the property holds after each step, by brute force."""
    engine = execution.engine
    return [
        BRUTE_FORCE[name](engine, engine.initial()),
        *(BRUTE_FORCE[name](engine, step.state) for step in execution.replay()),
    ]


def test_what_is_compared_with_brute_force_are_detectors() -> None:
    assert set(BUSY) == set(BRUTE_FORCE) <= set(DETECTORS)


@pytest.mark.slow
@each("workload", lambda: {workload for name in DETECTORS for workload in DETECTORS[name].workloads})
def test_the_answers_of_any_detector_agree_with_what_it_says_of_the_real_states(workload: str) -> None:
    """Also of one that has no brute force here, in runs of the workloads that it is for."""
    for parameters in (
        WORKLOADS[workload].busy(3, 40),
        *(own["parameters"] for own in BUSY.values() if own["workload"] == workload),
    ):
        busy = {"workload": workload, "parameters": parameters}
        for seed in range(6):
            for found in properties_of(run(random_scenario(seed, busy))):
                since = math.inf if found.since is None else found.since
                for answer in found.answers:
                    assert since <= answer.ended if answer.finding.holds else answer.began <= since


@pytest.mark.slow
@pytest.mark.parametrize("name", BUSY)
def test_no_false_alarm_and_found_by_the_first_snapshot_that_begins_after_it_holds(name: str) -> None:
    found = missed = 0
    for seed in range(60):
        execution = random_run(name, seed)
        truth, own = truths(name, execution), of(execution, name)
        assert all(not before or after for before, after in pairwise(truth)), "it is not stable"
        assert own.since == next((step for step, holds in enumerate(truth) if holds), None)
        for answer in own.answers:
            if answer.finding.holds:
                assert truth[answer.ended], f"seed {seed}: a false alarm in {answer.snapshot}"
            else:
                assert not truth[answer.began - 1], f"seed {seed}: {answer.snapshot} began after it held, and misses it"
        found += own.found_by is not None
        missed += own.since is None
    assert found >= 10, (found, missed)  # the runs are not all alike


@pytest.mark.slow
@pytest.mark.parametrize("name", ["terminated", "deadlocked", "token_lost"])
def test_process_states_alone_are_wrong_in_some_runs(name: str) -> None:
    assert any(
        answer.alone.holds != answer.finding.holds
        for seed in range(60)
        for answer in of(random_run(name, seed), name).answers
    )


# --------------------------------------------------------------------------- one snapshot after the other


def without_snapshots(name: str) -> Execution:
    scenario = library.load(name)
    delays = {own: delay for own, delay in scenario.delays.items() if own.kind == APP}
    return run(replace(scenario, snapshots=(), delays=delays, expect={}))


@pytest.mark.parametrize(
    ("scenario", "name", "process"),
    [("termination", "terminated", "p1"), ("deadlock", "deadlocked", "P2"), ("token_gone", "token_lost", "P3")],
)
def test_snapshots_are_repeated_until_one_shows_the_property(scenario: str, name: str, process: str) -> None:
    edit = {"do": "watch", "property": name, "process": process, "every": 10, "at": 5}
    execution = apply_edit(without_snapshots(scenario), edit, 0.0)
    found = of(execution, name)
    assert [own.finding.holds for own in found.answers] == [False] * (len(found.answers) - 1) + [True]
    assert found.since is not None and len(found.answers) > 1
    begun_after = [own for own in found.answers if own.began > found.since]
    assert found.found_by and begun_after[:1] in ([], [found.found_by])
    times = execution.times
    for one, other in pairwise(found.answers):
        assert times[other.began] == pytest.approx(times[one.ended] + 10)


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        ({"property": "deadlock"}, "'deadlock' is no property of this workload; did you mean 'deadlocked'"),
        ({"process": "P9"}, "P9"),
        ({}, "No process is in a deadlock up to the end of this run; no snapshot will ever show it"),
    ],
)
def test_what_cannot_be_watched_is_refused(edit: dict[str, Any], problem: str) -> None:
    asked = {"do": "watch", "property": "deadlocked", "process": "X", "every": 10, "at": 5, **edit}
    with pytest.raises(InputError) as refused:
        apply_edit(without_snapshots("phantom_deadlock"), asked, 0.0)
    assert problem in str(refused.value)


def test_a_snapshot_that_never_ends_is_followed_by_none() -> None:
    held = {"do": "hold", "message": MessageReference(label="again")._asdict()}
    edit = {"do": "watch", "property": "terminated", "process": "p1", "every": 20, "at": 15}
    with pytest.raises(InputError, match="S2 never ends"):
        apply_edit(apply_edit(without_snapshots("termination"), held, 0.0), edit, 0.0)


# --------------------------------------------------------------------------- what a scenario may say


@each(
    "parameters, problem",
    [
        ({"objects": {"P1": ["a"], "P2": ["a"]}}, "workload.objects.P1: 'a' has two managers; every object has one"),
        ({"objects": {"P1": ["an a"]}}, "workload.objects.P1: 'an a' is no name of an object; a name has no blanks"),
        ({"holds": {"P1": ["c"]}}, "workload.holds.P1: no process manages 'c'; objects are p1, p2"),
        ({"holds": {"P1": ["p2"], "P2": ["p2"]}}, "workload.holds.P1: 'p2' is held twice; every object has one holder"),
        ({"holds": {"P3": ["p2"]}}, "workload.holds: 'P3' is no process"),
        ({"greed": 101}, "workload.greed: 101 of a hundred cases are too many; give at most 100"),
    ],
)
def test_objects_and_holders_that_cannot_be_are_refused(parameters: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as refused:
        system("P1 P2", workload="requests", parameters=parameters)
    assert problem in str(refused.value)


def test_a_manager_needs_a_way_to_answer() -> None:
    with pytest.raises(InputError, match="a request on P1->P2 needs a channel P2->P1 for its answer"):
        system("P1 P2 P3", "P1->P2 P2->P3 P3->P1", workload="requests", parameters={"objects": {"P2": ["a"]}})


@each(
    "workload, body, problem",
    [
        ("requests", "ask z", 'a message of this workload is "ask X" or "release X", X one of p1, p2'),
        ("requests", "ask p1", "P2 does not manage 'p1'; send 'ask p1' to P1"),
        ("requests", 7, 'a message of this workload is "ask X"'),
        ("requests", "release p2", "P1 does not hold p2 and cannot release it"),
        ("diffusing", "work", 'a message of this workload is "activate"'),
    ],
)
def test_messages_that_cannot_be_are_refused(workload: str, body: Any, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        run(system("P1 P2", workload=workload, script=(send("P1", "P2", 1, body),)))
    assert problem in str(refused.value)


def test_a_holder_needs_a_way_to_release() -> None:
    parameters = {"objects": {"P2": ["a"]}, "holds": {"P3": ["a"]}}
    with pytest.raises(InputError, match="to release 'a' it needs a channel P3->P2"):
        system("P1 P2 P3", "P1->P2 P2->P1 P2->P3", workload="requests", parameters=parameters)


@pytest.mark.parametrize(("workload", "name"), [("diffusing", "ease"), ("token", "risk")])
def test_a_share_of_more_than_all_is_refused(workload: str, name: str) -> None:
    with pytest.raises(InputError, match=f"workload.{name}: 101 of a hundred .* are too many; give at most 100"):
        system("P1 P2", workload=workload, parameters={name: 101})


@each("seed", range(10))
def test_what_a_process_manages_itself_it_keeps(seed: int) -> None:
    """It cannot send a release to itself."""
    parameters = {"holds": {"P1": ["p1"]}, "requests": 3}
    last = run(system("P1 P2 P3", workload="requests", parameters=parameters, seed=seed)).final
    assert last.processes[0].state["objects"]["p1"][0] == "P1"


def test_a_million_millions_of_tokens_are_counted_not_listed() -> None:
    many = {"tokens": {"P1": 10**12}, "fault": "double", "rounds": 0}
    execution = run(system("P1 P2", workload="token", parameters=many, snapshots=(start("P2", 2),)))
    (answer,) = of(execution, "token_doubled").answers
    assert answer.finding.why == "tokens are in P1 (1000000000000 of them)"


# --------------------------------------------------------------------------- broken rules


MORE = pytest.mark.long("stable properties in many runs with each broken rule")


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 8), marks=MORE)])
@each("rule", BROKEN_RULES)
@each("name", BUSY)
def test_a_snapshot_that_keeps_every_check_is_right_whatever_rule_is_broken(name: str, rule: str, seeds: range) -> None:
    """And one that fails a check proves nothing, finds nothing, and ends a series of snapshots."""
    for seed in seeds:
        scenario = random_run(name, seed).scenario
        not_fifo = tuple(channel.name for channel in scenario.channels) if rule == "fifo" else ()
        execution = run(replace(scenario, breaks=(rule,), not_fifo=not_fifo))
        truth, own = truths(name, execution), of(execution, name)
        for answer in own.answers:
            if answer.proves and answer.finding.holds:
                assert truth[answer.ended], (seed, answer.snapshot)
        assert own.found_by is None or own.found_by.proves


@pytest.mark.parametrize("rule", ["out_of_band", "by_reference", "backwards", "fifo"])
def test_snapshots_of_a_broken_run_are_repeated_only_while_they_prove_something(rule: str) -> None:
    opened = apply_edit(run(library.load("phantom_deadlock")), {"do": "break", "rule": rule}, 0.0)
    edit = {"do": "watch", "property": "deadlocked", "process": "T", "every": 5, "at": 0.5}
    with pytest.raises(InputError, match="is not right, so nothing follows from it"):
        apply_edit(opened, edit, 0.0)


def test_repeated_snapshots_tell_of_themselves() -> None:
    """Not of a snapshot of the scenario that found the property before them."""
    opened = run(library.load("termination"))
    edit = {"do": "watch", "property": "terminated", "process": "p1", "every": 10, "at": 100}
    told = consequence(opened, apply_edit(opened, edit, 0.0), edit)
    assert told is not None and told.startswith("1 snapshot. It became true at step 10, S3 found it at step ")
