"""The dataflow: roles, keys, records that are passed on, and that no record gets lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, COMMITTED, CONTROL_SEND, OUTPUT, RECEIVE, RECORD, SEND
from sim.core.topology import Topology
from sim.document.scenario import Scenario
from sim.document.validate import validate
from sim.run.execution import Execution, run
from sim.workloads.dataflow import Dataflow
from tests.cases import each
from tests.sim.tools import failing, rows_of, send, start, system

PIPELINE = "s->a s->b a->t b->t"


def pipeline(**parameters: Any) -> Scenario:
    given = {"records": {"s": 6}, "pace": 2.0, "hops": 2, **parameters}
    return system(
        "s a b t", PIPELINE, workload="dataflow", parameters=given, algorithm="aligned_barriers",
        delay=DelayRule("fixed", 1.0), snapshots=(start("s", 7),),
    )  # fmt: skip


def final(execution: Execution) -> dict[str, Any]:
    return {process.name: process.state for process in execution.final.processes}


def test_a_source_emits_its_stock_operators_count_by_key_and_pass_on_sinks_count() -> None:
    execution = run(pipeline())
    state = final(execution)
    assert state["s"] == {"emitted": 6, "of": 6}
    keys = {name: {key for key in state[name] if key != "passed on"} for name in ("a", "b")}
    assert not keys["a"] & keys["b"], "records of one key take one way"
    assert sum(state[name]["passed on"] for name in ("a", "b") if state[name]) == 6
    assert sum(state["t"].values()) == 6 and len(rows_of(execution, SEND)) == len(rows_of(execution, RECEIVE)) == 12
    assert failing(execution) == {}


def test_without_more_hops_operators_keep_what_they_count() -> None:
    state = final(run(pipeline(hops=1)))
    assert state["t"] == {} and sum(sum(state[name].values()) for name in "ab") == 6


def test_without_a_pace_a_script_sends_and_nobody_sends_what_it_has_not() -> None:
    script = (send("s", "a", 1, "x"), send("a", "t", 3, "x"))
    scenario = system("s a t", "s->a a->t", workload="dataflow", parameters={"records": {"s": 1}}, script=script)
    assert final(run(scenario)) == {"s": {"emitted": 1, "of": 1}, "a": {"x": 1, "passed on": 1}, "t": {"x": 1}}
    for more, told in (
        (send("s", "a", 2, "y"), "s has emitted all its 1 record"),
        (send("a", "t", 1, "x"), "a has no"),
    ):
        with pytest.raises(InputError, match=told):
            run(system("s a t", "s->a a->t", workload="dataflow", parameters={"records": {"s": 1}},
                       script=(script[0], more)))  # fmt: skip


@each("body", ["", "emitted", 5, {"key": "a"}, {"key": "a", "hops": -1}, {"key": 1, "hops": 1}])
def test_a_body_is_a_key(body: Any) -> None:
    with pytest.raises(InputError, match="a record "):
        system("s a", "s->a", workload="dataflow", parameters={"records": 3}, script=(send("s", "a", 1, body),))


def test_who_has_records_has_a_channel() -> None:
    scenario = system("s a", "s->a", workload="dataflow")
    with pytest.raises(InputError, match="a has no outgoing channel for its records; give it one"):
        validate(replace(scenario, parameters={"records": {"a": 3}}))


def test_states_and_bodies_in_words() -> None:
    words = Dataflow(("s",), 1)
    states = [{"emitted": 3, "of": 4}, {"y": 2, "g": 2}, {"y": 2, "passed on": 1}, {}]
    assert [words.state_words(state) for state in states] == [
        "<3 of 4 emitted>", "<2 y, 2 g>", "<2 y, 1 passed on>", "<no records>",
    ]  # fmt: skip
    assert words.body_words({"key": "a", "hops": 1}) == words.body_words("a") == "a"


# ------------------------------------------------------------------ sinks that give to the world outside


def with_sink(sink: str, **fields: Any) -> Scenario:
    given = {"records": {"s": 6}, "pace": 2.0, "hops": 2, "sink": sink}
    scenario = replace(pipeline(), parameters=given, **fields)
    validate(scenario)
    return scenario


def test_sources_number_their_records_and_a_plain_sink_gives_them_as_they_come() -> None:
    execution = run(with_sink("plain"))
    sent = [execution.body_of(row) for row in rows_of(execution, SEND) if row.process == "s"]
    assert [(body["source"], body["number"], body["hops"]) for body in sent] == [("s", n, 1) for n in range(1, 7)]
    received = [row for row in rows_of(execution, RECEIVE) if row.process == "t"]
    given = rows_of(execution, OUTPUT)
    assert [(row.step, row.body) for row in given] == [(row.step, row.body) for row in received]
    assert execution.final.processes[3].outside == 6 and "hops" not in (given[0].body or "")
    assert final(execution)["t"] == {"a": 1, "b": 2, "c": 3} and failing(execution) == {}


def test_a_transactional_sink_gives_what_a_valid_snapshot_holds() -> None:
    execution = run(with_sink("transactional", storage={"latency": 0.5}))
    (recorded,) = [execution.body_of(row) for row in rows_of(execution, RECORD) if row.process == "t"]
    (valid,) = rows_of(execution, COMMITTED)
    given = rows_of(execution, OUTPUT)
    assert [execution.body_of(row) for row in given] == recorded["outputs"] and 0 < len(given) < 6
    assert {row.time for row in given} == {valid.time + 0.5}
    assert len(final(execution)["t"]["outputs"]) == 6 and failing(execution) == {}


@pytest.mark.parametrize(("sink", "hears"), [("", False), ("plain", False), ("transactional", True)])
def test_only_where_a_sink_waits_for_it_processes_hear_of_valid_snapshots(sink: str, hears: bool) -> None:
    told = [row for row in rows_of(run(with_sink(sink, storage={})), CONTROL_SEND) if row.process == "storage"]
    assert len(told) == (8 if hears else 0)  # four processes: stored, and valid


def test_without_a_sink_bodies_and_states_are_as_they_were() -> None:
    execution = run(with_sink(""))
    assert execution.table == run(pipeline()).table and rows_of(execution, OUTPUT) == []
    assert execution.body_of(rows_of(execution, SEND)[0]) == {"key": "c", "hops": 1}


@each("body", ["a", {"key": "a", "hops": 1}, {"key": "a", "source": "x", "number": 1},
                                  {"key": "a", "source": "s", "number": 0}])  # fmt: skip
def test_with_sinks_a_body_says_which_record_it_is(body: Any) -> None:
    with pytest.raises(InputError, match="a record of this workload is a table such as"):
        with_sink("plain", script=(send("s", "a", 1, body),))


@pytest.mark.parametrize(
    ("process", "to", "number", "told"),
    [("s", "a", 2, "s cannot emit its record 2 now"), ("a", "t", 1, "a has no record"),
     ("s", "a", 7, "s cannot emit its record 7")],
)  # fmt: skip
def test_records_are_emitted_in_their_order(process: str, to: str, number: int, told: str) -> None:
    scenario = with_sink("plain", script=(send(process, to, 0.5, {"key": "a", "source": "s", "number": number}),))
    with pytest.raises(InputError, match=told):
        run(scenario)


def test_a_kind_of_sink_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match=r"'plian' is no kind of sink; write \"plain\", \"transactional\", or leave"):
        with_sink("plian")


def test_a_numbered_record_in_words() -> None:
    words = Dataflow(("s",), 1, sink="transactional")
    body = {"key": "a", "source": "s", "number": 3}
    assert words.body_words(body) == words.body_words({**body, "hops": 1}) == "a #3 of s"
    assert words.state_words({"a": 1, "outputs": [body]}) == "<1 a>"


@given(
    st.sampled_from(["complete", "ring", "line", "star", "dag", "random"]), st.integers(2, 5), st.integers(1, 6),
    st.integers(1, 4), st.integers(0, 99),
)  # fmt: skip
def test_no_record_is_lost_on_any_graph(kind: str, processes: int, records: int, hops: int, seed: int) -> None:
    """What a snapshot finds, and what is there at the end, is what there was."""
    names = tuple(f"P{number}" for number in range(1, processes + 1))
    scenario = Scenario(
        "test", names, topology=Topology(kind), workload="dataflow", seed=seed,
        parameters={"records": records, "pace": 3.0, "hops": hops}, delay=DelayRule("uniform", low=1, high=9),
        snapshots=(start("P1", 5),),
    )  # fmt: skip
    execution = run(scenario)
    workload = execution.engine.workload
    assert failing(execution) == {}
    assert sum(workload.measure(state)["records"] for state in final(execution).values()) == records * processes
    assert len(rows_of(execution, *APPLICATION_KINDS)) <= workload.events()
