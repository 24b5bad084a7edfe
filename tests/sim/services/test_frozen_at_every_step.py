"""A process stands still from any step of a run to any later one. Nothing is lost, and what is complete is right.

With a coordinator and heartbeats, the others take it for gone when it stands still for longer than their patience; when
it is back, the next snapshot is complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from sim.core.delays import DelayRule
from sim.core.model import APP, RECORD, Fire
from sim.core.recovery import RecoveryPlan
from sim.document.scenario import FaultLine, Scenario
from sim.run.execution import Execution, run
from sim.run.snapshots import COMPLETE, snapshots_of
from tests.reference.explorer import Environment, Past, System
from tests.reference.verdicts import Judged
from tests.sim.tools import failing, start, system
from tests.tools import check_none

MOMENT = 1e-6  # time units: just after a step
TOTAL = 300
BANK = system(
    "P1 P2 P3", workload="bank", parameters={"balance": TOTAL // 3, "transfers": 3, "pace": 2.0}, seed=3,
    delay=DelayRule("uniform", 0.5, 2.5), snapshots=(start("P1", 2), start("P2", 5, "S2")),
)  # fmt: skip
BEATS = replace(
    BANK, coordinator={"heartbeat": 2.0, "missed": 3, "until": 60.0, "timeout": 12.0},
    snapshots=(start("coordinator", 2), start("coordinator", 45, "late")),
)  # fmt: skip
SYSTEMS = {
    "bank": BANK,
    "coordinator": replace(BANK, coordinator={"timeout": 50.0}, snapshots=(start("coordinator", 2),)),
    "heartbeats": BEATS,
    "storage": replace(BANK, storage={"bandwidth": 60.0, "latency": 0.25}),
    "recovery": replace(
        BANK, recovery=RecoveryPlan(at=(6.0,)), storage={}, snapshots=(start("P1", 2), start("P2", 45, "late"))
    ),
    "capacity": replace(BANK, topology=replace(BANK.topology, capacity=(("all", 3),))),
    "stop the world": replace(BANK, algorithm="stop_the_world", snapshots=(start("coordinator", 2),)),
}


def frozen(scenario: Scenario, thinned: int) -> Iterator[Scenario]:
    """The scenario with a process that stands still between any two moments, one of `thinned` such pairs."""
    times = sorted({time for time in run(scenario).times if time < 25})
    pairs = [(begin, end) for begin in times for end in [*times, 40.0] if begin < end]
    for place, (begin, end) in enumerate(pairs[::thinned]):
        process = scenario.processes[place % len(scenario.processes)]
        lines = FaultLine("freeze", process, at=begin + MOMENT), FaultLine("thaw", process, at=end + 2 * MOMENT)
        yield replace(scenario, faults=lines)


def wrongs(scenario: Scenario) -> Iterator[str]:
    """What is wrong with a run, by its faults."""
    execution, (begin, end) = run(scenario), scenario.faults
    where = f"{begin.process} from {begin.at:g} to {end.at:g}"
    if found := _sum(execution):
        yield f"{where}: {found} of {TOTAL}"
    found_in = {own.id: own for own in snapshots_of(execution)}
    of_complete = {name for name, own in found_in.items() if own.status == COMPLETE}
    for name, problem in failing(execution).items():
        if name.partition(":")[0] in of_complete:
            yield f"{where}: {name}: {problem}"
    for name in of_complete:
        recorded = {row.process for row in execution.events if (row.kind, row.snapshot_id) == (RECORD, name)}
        if not recorded >= {*found_in[name].members}:
            yield f"{where}: {name} is complete without a part of each member"
    last = [*found_in.values()][-1]
    if last.status != COMPLETE:
        yield f"{where}: {last.id} is {last.status}"


def _sum(execution: Execution) -> int:
    """The money at the end, if it is not all there; 0 else."""
    final = execution.final
    there = [
        message.body
        for queue in final.queues
        for message in queue
        if message.kind == APP and message.epoch >= final.processes[message.channel.target].epoch
    ]
    found = sum(there) + sum(own.state for own in final.processes)
    return 0 if found == TOTAL else found


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_some_stretches(name: str) -> None:
    check_none(wrong for scenario in frozen(SYSTEMS[name], 40) for wrong in wrongs(scenario))


@pytest.mark.long("a process stands still between any two steps")
@pytest.mark.parametrize("name", SYSTEMS)
def test_all_stretches(name: str) -> None:
    check_none(wrong for scenario in frozen(SYSTEMS[name], 1) for wrong in wrongs(scenario))


# ------------------------------------------------------------------ without time: timers go off at any moment

SMALL = system(
    "P1 P2", workload="bank", parameters={"balance": 10, "transfers": 2}, snapshots=(start("coordinator", 1),),
    coordinator={"heartbeat": 1.0, "missed": 2, "until": 3.0, "timeout": 50.0, "retries": 1},
)  # fmt: skip


IMPATIENT = 0.02  # how often the coordinator's patience ends, where anything else may happen as well


def walk(seed: int) -> Iterator[tuple[str, bool]]:
    """One run whose every choice is drawn, two freezes and thaws at any step among them.

    Of each snapshot that is complete: what it is called, and whether it is right.
    """
    draw, system = Random(seed), System(SMALL, Environment(freezes=2, thaws=True), own_order=True)
    past = Past(system.engine.initial(), system.left, {})
    while actions := [*system.actions(past.state, past.left)]:
        weights = [IMPATIENT if isinstance(own, Fire) and own.timer.process > 1 else 1.0 for own in actions]
        past = past.then(system, draw.choices(actions, weights)[0])
    table = past.table()
    for name in sorted({row.snapshot_id for row in table if row.snapshot_id is not None}):
        judged = Judged(SMALL, table, name)
        if judged.status == COMPLETE:
            yield f"{name} of run {seed}", False not in judged.verdicts().values()


def check_walks(count: int) -> None:
    found = [own for seed in range(count) for own in walk(seed)]
    check_none(name for name, is_right in found if not is_right)
    assert len(found) > count / 4


@pytest.mark.slow
def test_some_runs_with_timers_at_any_moment() -> None:
    check_walks(60)


@pytest.mark.long("runs with freezes and timers at any moment")
def test_many_runs_with_timers_at_any_moment() -> None:
    check_walks(3_000)
