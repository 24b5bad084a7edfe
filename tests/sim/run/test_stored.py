"""What the storage holds at each step, and what a rollback brings back: the very same that it does."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sim.core.model import PUT_BACK, RESTORE
from sim.core.recovery import RecoveryPlan
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.edit.edits import apply_edit
from sim.run.execution import Execution, run
from sim.run.stored import abandoned, holding_before, holdings, labels_inside
from sim.theory.surviving import surviving
from tests.tools import examples

ALGORITHMS = ("chandy_lamport", "unaligned_barriers", "uncoordinated")


@st.composite
def stored_runs(draw: Any) -> Scenario:
    """A bank that stores its snapshots, with crashes and recoveries or none."""
    kind = draw(st.sampled_from(ALGORITHMS))
    lines = ["processes = 3", f"seed = {draw(st.integers(0, 999))}", f"[algorithm]\nkind = '{kind}'"]
    lines += ["[workload]\nkind = 'bank'\ntransfers = 8\npace = 3", "[delay]\nkind = 'uniform'\nlow = 0.5\nhigh = 4"]
    has_logs = kind == "uncoordinated" or draw(st.booleans())
    lines += [f"[storage]\nbandwidth = {draw(st.sampled_from((5, 100)))}\noffsets = {str(has_logs).lower()}"]
    lines += [f"retained = {draw(st.integers(0, 1))}", f"latency = {draw(st.sampled_from((0, 0.5)))}"]
    if draw(st.booleans()):
        lines += [f"[recovery]\non = 'crash'\nchannels = {str(draw(st.booleans())).lower()}"]
        lines += [f"[[faults]]\nkind = 'crash'\nprocess = 'P2'\nat = {draw(st.integers(6, 24))}.3"]
    for number, at in enumerate((2, 8, 14)[: 1 if kind == "uncoordinated" else 3], start=1):
        for process in ("P1", "P2", "P3") if kind == "uncoordinated" else ("P1",):
            lines += [f"[[snapshots]]\nid = 'S{number}'\nprocess = '{process}'\nat = {at}"]
    return parse_toml("\n".join(lines), "stored")


@examples(25)
@given(stored_runs(), st.data())
def test_a_rollback_does_what_is_said_of_it(scenario: Scenario, data: Any) -> None:
    """At any time between two steps, to any snapshot that is there: parts, messages put back, events abandoned."""
    execution = run(scenario)
    step = data.draw(st.integers(0, execution.steps))
    later = [time for time in execution.times if time > execution.times[step]]
    at = (execution.times[step] + min(later, default=execution.times[step] + 2)) / 2
    known = holding_before(execution, at)
    assert known is not None
    for to, said in known.rollbacks.items():
        last = max(number for number, time in enumerate(execution.times) if time < at)
        done = apply_edit(execution, {"do": "roll_back", "to": to, "at": at}, 0.0)
        epoch = next(row.epoch for row in done.table if row.kind == "recovery" and row.time == at)
        restores = {row.process: row for row in done.table if row.kind == RESTORE and row.epoch == epoch}
        if set(restores) != set(said.parts):
            continue  # another crash has come before all were back
        for name, part in said.parts.items():
            state = part.state if part else execution.engine.workload.initial(name)
            assert json.loads(restores[name].body or "")["state"] == state
            assert restores[name].index == (part.inside if part else 0)
            before = surviving(done.table[: restores[name].row])[name]
            gone = sum(index > (restores[name].index or 0) for index in before)
            if scenario.storage == {} or restores[name].time == at:
                assert abandoned(execution, name, part.inside if part else 0, 0, last)[-1][1] == gone
        put_back = [row.message_id for row in done.table if row.kind == PUT_BACK and row.epoch == epoch]
        assert sorted(message.id for message in said.messages) == sorted(put_back, key=lambda own: own or 0)


BANK = """
processes = ["P1", "P2"]
marker_delay = { value = 1 }
script = [
    { process = "P1", to = "P2", at = 1, body = 30, label = "a", delay = 5 },
    { process = "P2", to = "P1", at = 6.5, body = 20, label = "b", delay = 0.5 },
]
snapshots = [{ id = "S1", process = "P2", at = 2 }, { id = "S2", process = "P1", at = 12 }]
[workload]
kind = "bank"
balance = { P1 = 800, P2 = 200 }
"""


def bank(more: str) -> Execution:
    return run(parse_toml(f"{BANK}{more}", "bank"))


def test_what_is_there_of_a_snapshot_and_when_it_is_valid() -> None:
    execution = bank("[storage]\nretained = 1\n")
    told = [(dict(own.staged), [*own.rollbacks]) for own in holdings(execution)]
    assert told == [({}, []), ({"S1": ("P1",)}, []), ({}, ["S1"]), ({"S2": ("P2",)}, ["S1"]), ({}, ["S2"])]
    back = holdings(execution)[2].rollbacks["S1"]
    assert {name: part and part.state for name, part in back.parts.items()} == {"P1": 770, "P2": 200}
    assert [(message.body, message.channel.name) for message in back.messages] == [(30, "P1->P2")]


def test_a_recovery_that_drops_what_was_in_the_channels_puts_nothing_back() -> None:
    execution = bank("[recovery]\nat = 30\nchannels = false\nprocesses = ['P2']\n")
    back = holdings(execution)[2].rollbacks["S1"]
    assert [*back.parts] == ["P2"] and back.messages == ()


def test_a_run_that_stores_nothing_holds_nothing() -> None:
    lecture = run(library.load("lecture"))
    assert holdings(lecture) == [] and holding_before(lecture, 100) is None


def test_what_is_stored_at_a_time_is_there_for_what_begins_later() -> None:
    execution = bank("[storage]\n")
    (valid,) = (row.time for row in execution.events if row.kind == "committed" and row.snapshot_id == "S1")
    for time, there in ((valid, []), (math.nextafter(valid, math.inf), ["S1"])):
        known = holding_before(execution, time)
        assert known is not None and [*known.rollbacks] == there


def test_events_that_are_gone_are_abandoned_once_only() -> None:
    """P1 sends a (its part has it) and receives b; that is taken back at 10, and nothing comes after it."""
    execution = bank("[recovery]\nat = 10\n")
    (restored,) = (row.step for row in execution.events if row.kind == RESTORE and row.process == "P1")
    (got,) = (row.step for row in execution.table if row.kind == "receive" and row.process == "P1")
    assert abandoned(execution, "P1", 1, 0, execution.steps) == [(0, 0), (got, 1), (restored, 0)]
    assert abandoned(execution, "P1", 1, got, got) == [(got, 1)]
    assert labels_inside(execution, "P1", 2, got) == ["a", "P1.2"]
    assert labels_inside(execution, "P1", 2, restored) == ["a"]


def test_it_does_not_matter_whether_the_run_may_be_rolled_back() -> None:
    """The run is replayed as one that is ready for a recovery at any time; its steps are the same."""
    for kind in ("timed", "random"):
        scenario = bank(f"[storage]\nbandwidth = 5\n[scheduler]\nkind = '{kind}'\n").scenario
        ready = run(replace(scenario, recovery=RecoveryPlan()))
        assert ready.table == run(scenario).table
