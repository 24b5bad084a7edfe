"""The key store: what is written where, how much of it is shared, and by script."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, INTERNAL, RECEIVE, SEND
from sim.document.scenario import Scenario, ScriptLine
from sim.document.validate import validate
from sim.explain.narration import sentences
from sim.run.execution import Execution, run
from sim.workloads.key_store import KeyStore
from tests.cases import each
from tests.sim.tools import failing, rows_of, send, start, system


def store(processes: str = "P1 P2 P3", **parameters: Any) -> Scenario:
    return system(processes, workload="key_store", parameters={"keys": 5, "writes": 40, "pace": 2.0, **parameters})


def final(execution: Execution) -> dict[str, Any]:
    return {process.name: process.state for process in execution.final.processes}


def written(execution: Execution) -> dict[str, dict[str, int]]:
    """The tables at the end, from the event table alone: who writes what in its order of events."""
    rows = [row for row in execution.events if row.kind in APPLICATION_KINDS]
    tables = {name: {f"k{number}": 0 for number in range(1, 6)} for name in execution.scenario.processes}
    for row in rows:
        body = execution.body_of(row)
        tables[row.process][body["key"]] = body["value"]
    return tables


def test_every_turn_is_a_write_and_the_share_of_those_sent_is_exact() -> None:
    execution = run(store(shared=0.3))
    assert [len(rows_of(execution, kind)) for kind in (INTERNAL, SEND, RECEIVE)] == [3 * 28, 3 * 12, 3 * 12]
    assert execution.engine.workload.events() == 3 * (40 + 12)
    assert final(execution) == written(execution)


@given(shared=st.sampled_from([0.0, 0.25, 0.5, 1.0]), hot=st.integers(0, 5), seed=st.integers(0, 99))
def test_sender_and_receiver_write_and_only_hot_keys_change(shared: float, hot: int, seed: int) -> None:
    scenario = system(
        "P1 P2 P3", workload="key_store", parameters={"keys": 5, "writes": 9, "shared": shared, "hot": hot},
        seed=seed, delay=DelayRule("uniform", low=1, high=30), snapshots=(start("P1", 40),),
    )  # fmt: skip
    execution = run(scenario)
    assert failing(execution) == {}
    assert final(execution) == written(execution)
    assert len(rows_of(execution, *APPLICATION_KINDS)) == execution.engine.workload.events()
    changed = {key for table in final(execution).values() for key, value in table.items() if value}
    assert changed <= {f"k{number}" for number in range(1, (hot or 5) + 1)}


def test_keys_are_drawn_evenly_and_by_seed_process_and_turn() -> None:
    """1,200 draws of 5 keys: each 240 times, with a standard deviation of 13.9, so within 4 of them."""
    (first, second) = (run(store(writes=400, shared=share)) for share in (0.0, 0.5))
    keys = [[execution.body_of(row) for row in rows_of(execution, INTERNAL, SEND)] for execution in (first, second)]
    counts = Counter(body["key"] for body in keys[0])
    assert all(abs(count - 240) < 56 for count in counts.values()) and len(counts) == 5
    assert keys[0] == keys[1], "what is sent changes no draw"
    assert run(store(writes=400)).events == run(store(writes=400)).events


def test_values_are_the_numbers_of_the_turns_so_every_write_changes_the_state() -> None:
    execution = run(store("P1"))
    assert [execution.body_of(row)["value"] for row in rows_of(execution, INTERNAL)] == list(range(1, 41))
    assert rows_of(execution, SEND) == []


def test_who_has_no_neighbour_writes_alone() -> None:
    execution = run(store("P1", shared=1.0))
    assert len(rows_of(execution, INTERNAL)) == 40 and rows_of(execution, SEND) == []


def test_writes_may_be_scripted() -> None:
    script = (
        ScriptLine("P1", 1, body={"key": "k2", "value": 7}),
        send("P1", "P2", 2, {"key": "k1", "value": 3}),
        ScriptLine("P2", 9),
    )
    execution = run(system("P1 P2", workload="key_store", parameters={"keys": 3}, script=script))
    assert final(execution) == {"P1": {"k1": 3, "k2": 7, "k3": 0}, "P2": {"k1": 3, "k2": 0, "k3": 0}}
    told = sentences(execution)
    assert "P1 writes k2 = 7" in told[1] and "k1 = 3" in told[2]
    assert "P2 has an internal event" in told[4]


@each("body, told", [
        (None, "a write is a table"), (5, "a write is a table"), ({"key": "k1"}, "a write is a table"),
        ({"key": "k9", "value": 1}, "there is no key 'k9'; the keys are k1 to k3"),
        ({"key": 1, "value": 1}, "there is no key 1"), ({"key": "k1", "value": True}, "a whole number, not True"),
        ({"key": "k1", "value": "x"}, "a whole number, not 'x'"),
    ])  # fmt: skip
def test_what_is_no_write_is_refused(body: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        system("P1 P2", workload="key_store", parameters={"keys": 3}, script=(send("P1", "P2", 1, body),))
    if body is not None:
        with pytest.raises(InputError, match=told):
            run(system("P1", workload="key_store", parameters={"keys": 3}, script=(ScriptLine("P1", 1, body=body),)))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"keys": 10_001}, "workload.keys: expected at most 10,000 keys, not 10,001"),
        ({"shared": 1.5}, "workload.shared: expected a share of the writes, from 0 to 1, not 1.5"),
        ({"keys": 1, "hot": 2}, "workload.hot: 2 keys cannot be hot: a process holds 1 key"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        validate(Scenario("test", ("P1",), workload="key_store", parameters=parameters))


def test_states_and_writes_in_words() -> None:
    words = KeyStore(("P1",), 1)
    assert words.state_words(words.initial("P1")) == "<100 keys, 0 written>"
    assert words.state_words({"k1": 4}) == "<1 key, 1 written>"
    assert words.body_words({"key": "k3", "value": 7}) == "k3 = 7" and words.body_words(None) == ""
