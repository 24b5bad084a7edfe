"""All runs of small systems: counts that other explorers agree on, and a second explorer that steps whole states."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pytest

from sim.__main__ import main
from sim.core.algorithm import ALGORITHMS
from sim.core.model import State
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.exchange import cos418
from sim.explore.machine import frozen
from sim.explore.report import changed, complete_graph, exploration
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from sim.verify.checks import verdicts_of
from tests.sim import rule_books
from tests.sim.tools import send, start, system


def counts(scenario: Scenario, **asked: Any) -> tuple[int, int]:
    found = exploration(scenario, **asked).found
    assert found.complete
    return found.states, found.transitions


@pytest.mark.parametrize(
    ("processes", "sends", "states", "transitions"),
    [(2, 3, 1_900, 4_340), (3, 1, 21_385, 72_907), (4, 0, 2_536, 13_207)],
)
def test_the_complete_graph_has_as_many_states_as_other_explorers_count(processes, sends, states, transitions):
    """Agreed by SPIN, TLC and separate programs."""
    assert counts(complete_graph(processes, sends)) == (states, transitions)


@pytest.mark.long
def test_three_processes_with_two_messages_each():
    done = exploration(complete_graph(3, 2))
    assert (done.found.states, done.found.transitions) == (2_176_299, 9_369_665)
    assert done.to_json()["violations"] == [] and sum(m.executions for m in done.found.space.machines) < 20_000


# ------------------------------------------------------------------ a second explorer


def plain_counts(scenario: Scenario, *, own_order: bool = False) -> tuple[int, int]:
    """The same counts by the engine alone, state by state."""
    engine = scenario.engine()
    order = [number for _, number in sorted((i.time, i.number) for i in engine.agenda if i.after is None)]
    first = engine.initial()
    seen, waiting, transitions = {_key(first)}, deque([first]), 0
    while waiting:
        state = waiting.popleft()
        for action in engine.enabled(state):
            done = sum(process.position for process in [*state.processes, *state.services])
            is_timed = action.item is not None and engine.agenda[action.item].after is None
            if is_timed and not own_order and order[done] != action.item:
                continue
            after, _ = engine.step(state, action)
            transitions += 1
            key = _key(after)
            if key not in seen:
                seen.add(key)
                waiting.append(after)
    return len(seen), transitions


def _key(state: State) -> Hashable:
    def told(process):
        own = {
            name: (part.state, {c.name: k for c, k in part.kept.items() if k}, {c.name for c in part.closed}, part.done)
            for name, part in process.snapshots.items()
        }
        listening = {channel.name: snapshots for channel, snapshots in process.listening.items()}
        return (
            process.state, process.turn, process.position, process.paused, {c.name for c in process.blocked}, own,
            listening, process.aborted, process.memory,
        )  # fmt: skip

    timers = {key: (timer.after, timer.snapshot) for key, timer in state.timers.items()}
    control = {channel.name: messages for channel, messages in state.control.items()}
    processes = [told(process) for process in [*state.processes, *state.services]]
    return frozen((processes, state.queues, control, timers, state.happened, state.waiting))


SYSTEMS = {
    "the lecture example": library.load("lecture"),
    "two banks": library.load("two_banks"),
    "tokens": library.load("single_token"),
    "Lai and Yang": library.load("lai_yang"),
    "two snapshots": system(
        "A B", workload="bank", script=(send("A", "B", 1, 5), send("B", "A", 2, 7)),
        snapshots=(start("A", 3, "S1"), start("B", 4, "S2")),
    ),
    "a line that waits": parse_toml(
        """
        processes = ["A", "B"]
        [[script]]
        process = "A"
        at = 1
        to = "B"
        label = "m"
        received_as = "n"
        [[script]]
        process = "B"
        after = "n"
        to = "A"
        [[snapshots]]
        id = "S1"
        process = "B"
        at = 2
        """,
        "waits",
    ),
}  # fmt: skip


@pytest.mark.parametrize("own_order", [False, True])
@pytest.mark.parametrize("name", SYSTEMS)
def test_stepping_in_batches_finds_the_states_that_the_engine_finds(name, own_order):
    scenario = SYSTEMS[name]
    assert counts(scenario, own_order=own_order) == plain_counts(scenario, own_order=own_order)


RULE_BOOKS = [
    rule_books.Collecting, rule_books.Barrier, rule_books.Patient, rule_books.StopTheWorld, rule_books.Impatient
]  # fmt: skip


@pytest.mark.parametrize("rules", RULE_BOOKS, ids=lambda own: own.__name__)
def test_control_messages_timers_and_pauses_are_stepped_as_the_engine_does(register, rules):
    scenario = rule_books.two(register(rules))
    assert counts(scenario, own_order=True) == plain_counts(scenario, own_order=True)


def test_a_service_is_a_node_and_states_that_a_check_tells_apart_are_two(register):
    """Its snapshots may be wrong: which messages crossed the cut is part of a state then."""
    scenario = rule_books.commanded(register(rule_books.Commanded))
    batches, plain = counts(scenario, own_order=True), plain_counts(scenario, own_order=True)
    assert batches[0] > plain[0] and batches[1] > plain[1]


# ------------------------------------------------------------------ snapshots


@pytest.mark.parametrize(
    ("case", "top", "in_file_order", "in_own_order"),
    [
        ("2nodes-simple", "2nodes", 1, 1),
        ("2nodes-message", "2nodes", 2, 3),
        ("3nodes-simple", "3nodes", 8, 12),
        ("3nodes-bidirectional-messages", "3nodes", 18, 40),
    ],
)
def test_the_snapshots_that_a_script_may_have_and_the_published_one_among_them(
    cos418_cases: Path, case, top, in_file_order, in_own_order
):
    texts = [(cos418_cases / name).read_text() for name in (f"{top}.top", f"{case}.events")]
    scenario = cos418.read_case(*texts, None, 0, case)
    found = exploration(scenario).found.snapshots
    assert len(found) == in_file_order
    assert len(exploration(scenario, own_order=True).found.snapshots) == in_own_order
    published = (cos418_cases / f"{case}.snap").read_text().splitlines()[1:]
    assert sorted(line for line in published if line.strip()) in [sorted(in_the_files_words(told)) for told in found]


def in_the_files_words(recorded) -> list[str]:
    """A recorded state as the lines of a .snap file."""
    lines = []
    for process, (_, tokens), channels in recorded[1:]:
        lines.append(f"{process} {tokens}")
        lines += [f"{name.replace('->', ' ')} token({body})" for name, bodies in channels for _, body in bodies]
    return lines


def test_every_snapshot_of_a_run_is_among_those_that_were_found():
    scenario = SYSTEMS["two snapshots"]
    found = exploration(scenario, own_order=True).found.snapshots
    for snapshot in snapshots_of(run(scenario)):
        states = {name: frozen(local.state) for name, local in snapshot.local.items()}
        alike = [told for told in found if told[0] == snapshot.id and {part[0]: part[1] for part in told[1:]} == states]
        assert alike, snapshot.id


# ------------------------------------------------------------------ violations


def test_the_shortest_wrong_runs_of_plain_markers_on_channels_that_are_not_fifo():
    done = exploration(changed(complete_graph(2, 1), None, not_fifo=True))
    assert done.shortest() == [("channel_states", 4), ("consistency", 5)]
    for check, scenario in done.runs.items():
        execution = run(scenario)
        assert execution.steps == dict(done.shortest())[check]
        assert check in {verdict.check for verdict in verdicts_of(execution)["S1"] if verdict.holds is False}


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if not ALGORITHMS[name].needs_fifo])
def test_what_needs_no_fifo_keeps_every_check_without_it(algorithm):
    done = exploration(changed(complete_graph(2, 2), algorithm, not_fifo=True))
    assert done.found.complete and done.shortest() == []


@pytest.mark.parametrize("slip", ["deaf_initiator", "lost_marker"])
def test_a_broken_rule_is_found_with_its_shortest_run(slip):
    done = exploration(changed(complete_graph(3, 1), slip, not_fifo=False))
    assert done.shortest(), slip
    check, steps = done.shortest()[0]
    execution = run(done.runs[check])
    assert execution.steps == steps
    failed = {v.check for verdicts in verdicts_of(execution).values() for v in verdicts if v.holds is False}
    assert check in failed


# ------------------------------------------------------------------ bounds, and the command line


def test_more_states_than_allowed_are_not_called_all():
    done = exploration(complete_graph(3, 1), most_states=1_000)
    assert not done.found.complete
    assert any("not all explored (more than 1,000 states)" in line and "no violation so far" in line
               for line in done.in_words())  # fmt: skip


def test_an_interruption_keeps_what_was_found():
    def interrupt(found):
        if len(found.levels) == 5:
            raise KeyboardInterrupt

    done = exploration(complete_graph(3, 1), progress=interrupt)
    assert done.found.problem == "interrupted" and len(done.found.levels) == 5


def command(capsys, *arguments: str) -> tuple[int, str]:
    status = main(["explore", *arguments])
    told = capsys.readouterr()
    return status, told.out or told.err


def test_the_command_prints_the_document_and_saves_the_shortest_run(capsys, tmp_path):
    status, told = command(capsys, "--complete", "2", "--sends", "3", "--json")
    document = {"states": 1900, "transitions": 4340, "complete": True, "snapshots": 40, "violations": []}
    assert (status, json.loads(told)) == (0, document)
    saved = tmp_path / "wrong.toml"
    status, told = command(capsys, "--complete", "2", "--sends", "1", "--not-fifo", "--json", "--save", str(saved))
    assert status == 1
    assert json.loads(told)["violations"][0] == {"check": "channel_states", "steps": 4}
    assert run(library.find(str(saved))).steps == 4
    status, told = command(capsys, "lecture")
    assert status == 0 and "every check holds in every run" in told


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "give a SCENARIO, or --complete N with --sends K"),
        (["lecture", "--complete", "2"], "give a SCENARIO, or --complete N with --sends K"),
        (["--complete", "1"], "--complete 1: give a number of processes from 2 to 8"),
        (["--complete", "2", "--sends", "-1"], "--sends -1: give a number of messages, 0 or more"),
        (["lecture", "--algorithm", "none"], "--algorithm 'none': no such algorithm; there are"),
    ],
)
def test_bad_input_gets_one_sentence(capsys, arguments, complaint):
    status, told = command(capsys, *arguments)
    assert status == 2 and told.startswith(complaint) and told.count("\n") == 1
