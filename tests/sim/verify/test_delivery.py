"""Records that are lost, come twice or out of order, and outputs: counted by hand, and on both code paths."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.delays import DelayRule
from sim.core.model import APP, OUTPUT, RECORD, MessageReference
from sim.core.network import Network
from sim.core.recovery import RecoveryPlan
from sim.document import library
from sim.document.fault_rates import FaultRates
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine, Scenario
from sim.document.validate import validate
from sim.run.execution import Execution, run
from sim.verify.delivery import Counts, Delivery, delivery_of
from sim.workloads.dataflow import TRANSACTIONAL
from tests.reference.delivery import delivery_from_table
from tests.sim.recovering import crash, dataflows, outputs
from tests.sim.tools import rows_of, send, start, system
from tests.tools import count_of_examples, drawn, examples


def delivery(execution: Execution) -> Delivery:
    """What both code paths say."""
    found = delivery_of(execution)
    names = [channel.name for channel in execution.engine.channels]
    is_transactional = execution.scenario.parameters["sink"] == TRANSACTIONAL
    assert found == delivery_from_table(execution.table, names, is_transactional=is_transactional)
    assert found is not None
    return found


def record(number: int, key: str = "a") -> dict[str, Any]:
    return {"key": key, "source": "s", "number": number}


def to_sink(sink: str = "plain", **fields: Any) -> Scenario:
    """A source sends four records to a sink, at 1, 2, 3 and 4; each takes 1."""
    script = tuple(send("s", "t", number, record(number), label=f"r{number}") for number in range(1, 5))
    fields = {"script": script, **fields}
    return system("s t", "s->t", workload="dataflow", parameters={"records": {"s": 4}, "sink": sink}, **fields)


def raw(**fields: Any) -> Delivery:
    return delivery(run(to_sink(network=Network("raw"), **fields)))


class TestByHand:
    """Four records, on a network that loses, copies and mixes them up."""

    def test_all_is_well(self):
        assert delivery(run(to_sink())) == Delivery(Counts(4), Counts(4))

    def test_a_record_is_lost(self):
        lost = (FaultLine("lose", message=MessageReference("r2")),)
        assert raw(faults=lost) == Delivery(Counts(4, lost=1), Counts(3))

    def test_a_record_comes_twice(self):
        copied = (FaultLine("copy", message=MessageReference("r2")),)
        assert raw(faults=copied) == Delivery(Counts(4, duplicated=1), Counts(4, duplicated=1))

    def test_a_record_comes_late(self):
        """2 and 3 come after 4: two that come after a later one."""
        late = {MessageReference("r2"): 9.0, MessageReference("r3"): 9.0}
        assert raw(delays=late) == Delivery(Counts(4, out_of_order=2), Counts(4, out_of_order=2))

    def test_records_of_two_keys_have_no_order(self):
        script = tuple(send("s", "t", n, record(n, key), label=f"r{n}") for n, key in ((1, "a"), (2, "b"), (3, "a")))
        late = {MessageReference("r1"): 1.5}
        assert raw(script=script, delays=late) == Delivery(Counts(3), Counts(3))

    def test_what_is_on_its_way_when_the_run_ends_is_not_lost(self):
        assert delivery(run(to_sink(delays={MessageReference("r4"): float("inf")}))) == Delivery(Counts(4), Counts(3))

    def test_a_transactional_sink_gives_nothing_before_a_snapshot_is_valid(self):
        execution = run(to_sink(TRANSACTIONAL, storage={"latency": 0.5}))
        assert delivery(execution) == Delivery(Counts(4), Counts(0)) and outputs(execution) == []

    def test_other_workloads_have_no_numbered_records(self):
        assert delivery_of(run(library.load("lecture"))) is None
        assert delivery_of(run(library.load("barriers"))) is None


# S1 begins at 2.5, behind three records; its barrier is at the sink at 3.5.
AGAIN = {
    "snapshots": (start("s", 2.5),), "algorithm": "aligned_barriers", "delay": DelayRule("fixed", 1.0),
    "recovery": RecoveryPlan(on="crash"),
}  # fmt: skip


class TestSinks:
    """A source emits six records by itself, and the sink crashes."""

    def emitting(self, sink: str, at: float, **fields: Any) -> Execution:
        parameters = {"records": {"s": 6}, "pace": 1.0, "sink": sink, "keys": 1}
        return run(
            system("s t", "s->t", workload="dataflow", parameters=parameters, faults=(crash("t", at),),
                   **{**AGAIN, **fields})
        )  # fmt: skip

    def test_a_plain_sink_gives_outputs_again(self):
        """Those after the barrier that came before the crash."""
        execution = self.emitting("plain", 5.2)
        (recorded,) = [row.index for row in rows_of(execution, RECORD) if row.process == "t"]
        first = [row for row in outputs(execution) if row.epoch == 0]
        assert delivery(execution) == Delivery(Counts(6), Counts(6, duplicated=len(first) - (recorded or 0)))
        assert len(first) > (recorded or 0)

    def test_a_transactional_sink_gives_each_once(self):
        execution = self.emitting(TRANSACTIONAL, 5.2, snapshots=(start("s", 2.5), start("s", 12, "S2")))
        assert delivery(execution) == Delivery(Counts(6), Counts(6))
        assert [execution.body_of(row)["number"] for row in outputs(execution)] == [1, 2, 3, 4, 5, 6]

    def test_what_it_had_not_given_it_gives_when_it_is_restored(self):
        """S1 is valid, and the sink crashes before it hears of that: the recovery says so instead."""
        slow = {"latency": 2.0}
        execution = self.emitting(TRANSACTIONAL, 6, storage=slow)
        given = outputs(execution)
        assert {row.epoch for row in given} == {1} and {row.kind for row in given} == {OUTPUT}
        assert delivery(execution).outputs == Counts(len(given)) and len(given) == 3

    def test_what_is_heard_twice_is_given_once(self):
        """It has given those of S1, and goes back to S1."""
        execution = self.emitting(TRANSACTIONAL, 6, storage={"latency": 0.25})
        assert [row.epoch for row in outputs(execution)] == [0, 0, 0]
        assert delivery(execution).outputs == Counts(3)


def two_sources(align: bool, sink: str, seed: int) -> Scenario:
    """Two sources whose barriers come to the operator at different times, and a crash after the snapshot."""
    return system(
        "s r a t", "s->a r->a a->t", workload="dataflow", algorithm="aligned_barriers", seed=seed,
        algorithm_parameters={"align": align}, delay=DelayRule("fixed", 0.5), recovery=RecoveryPlan(on="crash"),
        parameters={"records": {"s": 8, "r": 8}, "pace": 1.0, "hops": 2, "sink": sink},
        snapshots=(start("s", 3), start("r", 6), start("s", 20, "S2"), start("r", 20, "S2")), faults=(crash("a", 8),),
    )  # fmt: skip


class TestAlignment:
    """The barrier of r comes three time units after that of s: what s sends meanwhile is behind its barrier."""

    @pytest.mark.parametrize("sink", ["plain", TRANSACTIONAL])
    def test_without_alignment_records_come_twice_and_none_is_lost(self, sink):
        for seed in range(5):
            found = delivery(run(two_sources(False, sink, seed)))
            assert found.records.duplicated >= 2 and found.outputs.duplicated >= 2
            assert found.records.lost == found.outputs.lost == 0

    def test_with_alignment_only_a_plain_sink_gives_twice(self):
        for seed in range(5):
            plain, own = (delivery(run(two_sources(True, sink, seed))) for sink in ("plain", TRANSACTIONAL))
            assert own == Delivery(Counts(16), Counts(16))
            assert plain.records == Counts(16) and plain.outputs.duplicated > 0 == plain.outputs.lost


# A record of the epoch before waits in its channel for ever; without a fence it is still under way.
NO_FENCE = """
processes = ["s", "t"]
delay = { kind = "fixed", value = 1 }
delays = [{ channel = "s->t", ordinal = 2, delay = inf }]
snapshots = [{ id = "S1", process = "s", at = 1.5 }]
faults = [{ kind = "crash", process = "t", at = 8 }]
topology = { channels = ["s->t"] }
algorithm = { kind = "aligned_barriers" }
workload = { kind = "dataflow", pace = 1.0, keys = 1, sink = "plain", records = { s = 2 } }
storage = {}
recovery = { on = "crash", fence = false }
"""


def test_without_a_fence_what_an_earlier_epoch_has_left_in_a_channel_still_counts() -> None:
    execution = run(parse_toml(NO_FENCE, "no_fence"))
    (left,) = [own for queue in execution.final.queues for own in queue if own.kind == APP and own.epoch == 0]
    assert left.channel.name == "s->t" and left.body["number"] == 2
    assert delivery(execution).records == Counts(2, duplicated=1)


# ------------------------------------------------------------------ both code paths


@st.composite
def done_wrong(draw: Any) -> Scenario:
    """A dataflow whose recoveries leave something out; perhaps its network loses and copies messages for good."""
    scenario = draw(dataflows())
    plan = replace(
        scenario.recovery, channels=draw(st.booleans()), fence=draw(st.booleans()),
        processes=draw(st.sampled_from([(), scenario.processes[-1:], scenario.processes[:1]])),
    )  # fmt: skip
    parameters = {"align": False} if scenario.algorithm == "aligned_barriers" and draw(st.booleans()) else {}
    scenario = replace(scenario, recovery=plan, algorithm_parameters=parameters)
    if draw(st.booleans()):
        starts = tuple(start(name, scenario.snapshots[0].at) for name in scenario.processes)
        storage = {**(scenario.storage or {}), "offsets": False}
        scenario = replace(
            scenario, algorithm="uncoordinated", algorithm_parameters={}, snapshots=starts, storage=storage,
            network=Network("raw"), fault_rates=FaultRates(lose=0.2, copy=0.2),
        )  # fmt: skip
    validate(scenario)
    return scenario


@examples(30)
@given(done_wrong())
def test_both_code_paths_say_the_same_whatever_goes_wrong(scenario: Scenario) -> None:
    delivery(run(scenario))


@pytest.mark.slow
def test_what_goes_wrong_at_random_is_of_every_kind() -> None:
    found: Counter[str] = Counter()
    count = count_of_examples(80)
    for scenario in drawn(done_wrong(), count):
        for counts in delivery(run(scenario)):
            found.update(name for name, number in counts._asdict().items() if number)
    assert all(found[name] >= count / 40 for name in Counts._fields), found
