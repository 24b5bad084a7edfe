"""[initial]: a run begins in states that another one has left."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from sim.core.errors import InputError
from sim.core.model import Process, Send
from sim.core.workload import WORKLOADS
from sim.document.files import parse_toml
from sim.document.writing import dumps
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution, run

BUSY = [name for name in WORKLOADS if WORKLOADS[name].busy(3, 30)]


def busy(workload: str) -> Execution:
    """A run of three in which much is sent."""
    scenario = parse_toml('processes = ["P1", "P2", "P3"]\nseed = 5\n[topology]\nkind = "complete"', "own")
    return run(replace(scenario, workload=workload, parameters=WORKLOADS[workload].busy(3, 30)))


@pytest.mark.parametrize("workload", BUSY)
def test_a_run_begins_in_the_states_that_another_one_has_left(workload: str) -> None:
    first = busy(workload)
    left = {name: states[-1] for name, states in states_at_cuts(first).local.items()}
    parameters = {**first.scenario.parameters, **WORKLOADS[workload].quiet(3)}
    text = dumps(replace(first.scenario, initial=left, parameters=parameters))
    again = run(parse_toml(text, "again"))
    assert {name: states[0] for name, states in states_at_cuts(again).local.items()} == left
    assert not [row for row in again.events if row.kind in ("send", "internal")] or workload == "diffusing"


@pytest.mark.parametrize("workload", BUSY)
def test_a_send_can_be_undone(workload: str) -> None:
    """From the state before it, the same send leads to the same state again: as far as a message can be scripted."""
    execution, count = busy(workload), 0
    rules = execution.engine.workload
    for step in execution.replay(copied=True):
        action = step.action
        if isinstance(action, Send) and workload != "key_store":  # there a send undoes nothing
            own = step.state.processes[action.channel.source]
            before = Process(own.name, own.number, rules.before_send(own.state, action.body))
            count += 1
            assert rules.after_send(before, action.body) == own.state
    assert count > 3 or workload == "key_store"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("P9 = 1", ["initial.P9", "'P9' is no process"]),
        ('P1 = "much"', ["initial.P1", "a state such as 100", "'much'"]),
        ("P1 = -3", ["initial.P1", "a state such as 100", "-3"]),
        ("P1 = 2026-01-01", ["initial.P1", "expected texts, finite numbers"]),
    ],
)
def test_a_state_that_no_process_can_be_in_is_refused_in_a_sentence(lines: str, words: list[str]) -> None:
    text = f'processes = ["P1", "P2"]\n[workload]\nkind = "bank"\n[initial]\n{lines}'
    with pytest.raises(InputError) as problem:
        parse_toml(text, "own")
    assert all(word in str(problem.value) for word in words), problem.value


def test_what_is_conserved_counts_from_the_states_at_first() -> None:
    draw = random.Random(2)
    given = {name: draw.randrange(50) for name in ("P1", "P2")}
    scenario = parse_toml('processes = ["P1", "P2"]\n[workload]\nkind = "bank"', "own")
    assert run(replace(scenario, initial=given)).engine.workload.total()["money"] == sum(given.values())
