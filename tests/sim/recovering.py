"""Runs with recoveries: random ones, and all that has to be right after them, on both code paths."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from sim.core.delays import DelayRule
from sim.core.model import APP, COMMITTED, FENCED, OUTPUT, PUT_BACK, RECEIVE, RECOVERY, RESTORE, SEND, Event
from sim.core.network import Network
from sim.core.recovery import RecoveryPlan
from sim.document.fault_rates import FaultRates
from sim.document.scenario import FaultLine, Initiation, Scenario
from sim.run.execution import Execution
from sim.run.snapshots import COMPLETE, snapshots_of
from sim.services.increments import TYPES
from sim.services.shelf import Shelf
from sim.services.storage import Storage
from sim.verify.checks import conserved_by, verdicts_of
from sim.verify.delivery import delivery_of
from sim.workloads.dataflow import EMITTED, STOCK, TRANSACTIONAL, Dataflow
from tests.reference.delivery import delivery_from_table
from tests.reference.verdicts import verdicts_from_table
from tests.sim.tools import start, system

MAY_FAIL = ("completion", "one_marker")  # of a snapshot that a crash or a recovery has cut short


def crash(process: str, at: float) -> FaultLine:
    return FaultLine("crash", process, (), at)


def kinds(execution: Execution) -> Counter[str]:
    """How many rows there are of each kind; under "back": recoveries that go back to a snapshot."""
    found = Counter(event.kind for event in execution.table)
    found["back"] = sum(event.kind == RECOVERY and event.snapshot_id is not None for event in execution.table)
    return found


# ------------------------------------------------------------------ what has to be right


def wrongs(execution: Execution) -> list[str]:
    """What is wrong with a run, in words: nothing, if every recovery has done its work."""
    return [*_unbalanced(execution), *_misdelivered(execution), *_misjudged(execution), *_half_stored(execution)]


def _unbalanced(execution: Execution) -> Iterator[str]:
    """What is conserved is all there at the end: by the last state, and by the table along the surviving line."""
    workload, final = execution.engine.workload, execution.final
    found: Counter[str] = Counter()
    for process in final.processes:
        found.update(workload.measure(process.state))
    for queue in final.queues:
        for message in queue:
            if message.kind == APP and message.epoch >= final.processes[message.channel.target].epoch:
                found.update(workload.measure_body(message.body))
    total = conserved_by(execution)
    for good in total:
        if found[good] != total[good]:
            yield f"{found[good]} {good} at the end of {total[good]}"
        if (there := _by_table(execution)[good]) != total[good]:
            yield f"{there} {good} of {total[good]} by the table"


def _by_table(execution: Execution) -> Counter[str]:
    """What the processes have by their last states in the table, and by what they sent and received since then.

    A state is known from the last restore; at first it is the initial one. What is in the channels: what was sent, and
    not received, and what was put back.
    """
    workload, table = execution.engine.workload, execution.table
    found: Counter[str] = Counter()
    for process in execution.scenario.processes:
        rows = [row for row in table if row.process == process]
        since = max((place for place, row in enumerate(rows) if row.kind == RESTORE), default=-1)
        state = json.loads(rows[since].body or "")["state"] if since >= 0 else workload.initial(process)
        found.update(workload.measure(state))
        for row in rows[since + 1 :]:
            if row.kind in (SEND, RECEIVE):
                amount = workload.measure_body(json.loads(row.body or "null"))
                found.update(amount) if row.kind == RECEIVE else found.subtract(amount)
    for row in in_channels(table):
        found.update(workload.measure_body(json.loads(row.body or "null")))
    return found


def in_channels(table: Sequence[Event]) -> list[Event]:
    """The sends and `put_back` rows of the messages that are in a channel of the last life when a run ends."""
    epochs = {row.process: row.epoch for row in table}
    last: dict[int, Event] = {}
    for row in table:
        if row.kind in (SEND, PUT_BACK):
            last[row.message_id or 0] = row
        elif row.kind in (RECEIVE, FENCED, "lost") and row.message_id is not None:
            last.pop(row.message_id, None)
    return [row for row in last.values() if row.epoch >= epochs.get((row.channel or "").partition("->")[2], 0)]


def _misdelivered(execution: Execution) -> Iterator[str]:
    """No record is lost, comes twice or out of order; of the outputs none is lost, and no transactional one twice."""
    workload = execution.engine.workload
    if not isinstance(workload, Dataflow) or not workload.sink:
        return
    found = delivery_of(execution)
    is_transactional = workload.sink == TRANSACTIONAL
    names = [channel.name for channel in execution.engine.channels]
    by_table = delivery_from_table(execution.table, names, is_transactional=is_transactional)
    assert found is not None
    for process in execution.final.processes:
        if workload.turn_gap(process) is None and process.state.get(EMITTED) != process.state.get(STOCK):
            yield f"{process.name} goes on no more: {process.state}"
    if found != by_table:
        yield f"{found}, but {by_table} by the table"
    if not found.records.is_exactly_once:
        yield f"records: {found.records}"
    if found.outputs.lost or (is_transactional and not found.outputs.is_exactly_once):
        yield f"outputs: {found.outputs}"


def _misjudged(execution: Execution) -> Iterator[str]:
    """No snapshot is wrong, and the reference agrees."""
    found, expected = verdicts_of(execution), verdicts_from_table(execution.table, execution.scenario)
    for name, own in found.items():
        if {v.check: v.holds for v in own if v.check in expected[name]} != expected[name]:
            yield f"{name}: {own}, but {expected[name]} by the reference"
    for snapshot in snapshots_of(execution):
        for v in found[snapshot.id]:
            if v.holds is False and (v.check not in MAY_FAIL or snapshot.status == COMPLETE):
                yield f"{snapshot.id} ({snapshot.status}): {v}"


def _half_stored(execution: Execution) -> Iterator[str]:
    """What is valid is whole, every recovery goes back to a snapshot that is valid then, and nothing else is kept."""
    own, is_coordinated = shelf(execution), execution.engine.algorithm.coordinated
    if own.staged or own.queue:
        yield f"the storage keeps {own.staged} and waits for {own.queue}"
    written: list[str | None] = []
    for row in execution.table:
        if row.kind == COMMITTED:
            written.append(row.snapshot_id)
            if set(json.loads(row.body or "")["parts"]) != set(execution.scenario.processes):
                yield f"{row.snapshot_id} is valid with {row.body}"
        elif is_coordinated and row.kind == RECOVERY and row.snapshot_id not in (None, *written):
            yield f"a recovery goes back to {row.snapshot_id}, which is not valid"


def shelf(execution: Execution) -> Shelf:
    """What the storage holds when a run ends."""
    names = [kind.name for kind in execution.scenario.rules.services]
    found: Shelf = execution.final.services[names.index(Storage.name)].memory or Shelf()
    return found


# ------------------------------------------------------------------ random runs

# One way; two ways, by key; two sources; a circle.
SHAPES = ("s->a a->t", "s->a s->b a->t b->t", "s->a r->b a->b a->t b->t", "s->a a->b b->a a->t")


@st.composite
def dataflows(draw: Any) -> Scenario:
    """A dataflow with sinks, up to four snapshots, and any faults."""
    channels = draw(st.sampled_from(SHAPES))
    names = tuple(dict.fromkeys(name for pair in channels.split() for name in pair.split("->")))
    sources = [name for name in names if name in "sr"]
    apart = draw(st.sampled_from([2.0, 5.0]))
    starts = tuple(
        start(name, apart * number + draw(st.integers(0, 3)), f"S{number}")
        for number in range(1, draw(st.integers(1, 4)) + 1)
        for name in sources
    )
    parameters = {
        "records": dict.fromkeys(sources, draw(st.integers(3, 9))), "pace": draw(st.sampled_from([0.5, 1.5])),
        "keys": draw(st.sampled_from([1, 3])), "hops": draw(st.sampled_from([3, 9])),
        "sink": draw(st.sampled_from(["plain", TRANSACTIONAL])),
    }  # fmt: skip
    algorithm = draw(st.sampled_from(["aligned_barriers", "unaligned_barriers", "chandy_lamport"]))
    scenario = system(" ".join(names), channels, workload="dataflow", parameters=parameters, algorithm=algorithm)
    return _with_failures(draw, scenario, starts)


@st.composite
def banks(draw: Any) -> Scenario:
    """A bank with transfers at random, up to four snapshots, and any faults; perhaps with a coordinator."""
    names = ("P1", "P2", "P3")[: draw(st.integers(2, 3))]
    starts = tuple(
        start(draw(st.sampled_from(names)), 6.0 * number, f"S{number}")
        for number in range(1, draw(st.integers(1, 4)) + 1)
    )
    parameters = {"balance": 100, "transfers": draw(st.integers(2, 10)), "pace": 3.0}
    algorithm = draw(st.sampled_from(["chandy_lamport", "unaligned_barriers"]))
    scenario = system(" ".join(names), workload="bank", parameters=parameters, algorithm=algorithm)
    if algorithm == "chandy_lamport" and draw(st.booleans()):
        scenario = replace(scenario, coordinator={"timeout": draw(st.sampled_from([5.0, 30.0])), "retries": 1})
    return _with_failures(draw, scenario, starts)


def _with_failures(draw: Any, scenario: Scenario, starts: tuple[Initiation, ...]) -> Scenario:
    """The scenario with delays, a storage, faults of every kind, and a recovery after each crash."""
    times = st.integers(0, 120).map(lambda quarter: quarter / 4)
    faults: list[FaultLine] = []
    for _ in range(draw(st.integers(1, 3))):
        process, at = draw(st.sampled_from(scenario.processes)), draw(times)
        faults.append(crash(process, at))
        if draw(st.booleans()):
            faults.append(FaultLine("restart", process, (), at + draw(st.sampled_from([0.25, 2.0]))))
    if draw(st.booleans()):
        channel, at = draw(st.sampled_from(scenario.channels)).name, draw(times)
        faults += [FaultLine("sever", None, (channel,), at), FaultLine("mend", None, (channel,), at + 5)]
    if draw(st.booleans()):
        faults.append(FaultLine("slow", draw(st.sampled_from(scenario.processes)), (), draw(times), factor=3.0))
    rates = FaultRates(lose=0.2, copy=0.2) if draw(st.booleans()) else FaultRates()
    flags = {name: draw(st.booleans()) for name in ("offsets", "incremental")}
    storage = {
        "bandwidth": draw(st.sampled_from([20.0, 100.0, 1000.0])), "latency": draw(st.sampled_from([0.0, 1.0])),
        "limit": draw(st.sampled_from([0, 1])), "jitter": draw(st.sampled_from([0.0, 3.0])),
        "retained": draw(st.integers(0, 2)), **flags,
    }  # fmt: skip
    scenario = replace(
        scenario, snapshots=starts, faults=tuple(faults), fault_rates=rates, network=Network(resend=2.0),
        storage=draw(st.just(storage) | st.none()), seed=draw(st.integers(0, 99)),
        recovery=RecoveryPlan(on="crash", detect=draw(st.sampled_from([0.0, 1.0, 3.0]))),
        delay=DelayRule("uniform", 0.5, draw(st.sampled_from([2.0, 6.0]))),
    )  # fmt: skip
    types = (None, *TYPES)
    typed = (replace(own, type=types[(scenario.seed + int(own.snapshot[1:])) % len(types)]) for own in starts)
    return replace(scenario, snapshots=tuple(typed))


def outputs(execution: Execution) -> list[Event]:
    """The rows of what sinks give to the world outside."""
    return [row for row in execution.table if row.kind == OUTPUT]
