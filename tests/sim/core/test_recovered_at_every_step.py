"""Processes are killed just before and just after every single step of a run, also while a snapshot is stored, and
while a recovery fetches. Whatever the moment, everything is there once; and with a broken rule it is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from sim.core import recovery, rules
from sim.core.delays import DelayRule
from sim.core.model import COMMITTED, FENCED, OUTPUT, PUT_BACK, RECOVERY, RESTORE, SNAPSHOT_COMPLETE
from sim.core.recovery import RecoveryPlan
from sim.document.scenario import FaultLine, Scenario
from sim.run.execution import Execution, run
from sim.workloads.dataflow import Dataflow
from tests.sim.recovering import crash, kinds, wrongs
from tests.sim.tools import start, system

MOMENT = 1e-6  # time units: just before or after a step
AGAIN = RecoveryPlan(on="crash", detect=1.0)
SLOW = {"bandwidth": 60.0, "latency": 0.25}  # a snapshot takes some time to store, and a part to fetch

FLOW = system(
    "s a b t", "s->a s->b a->t b->t", workload="dataflow", algorithm="aligned_barriers",
    parameters={"records": {"s": 6}, "pace": 0.5, "hops": 2, "sink": "transactional"},
    delay=DelayRule("uniform", 0.5, 3), snapshots=(start("s", 2), start("s", 4, "S2")), seed=5,
    storage={**SLOW, "bandwidth": 300.0}, recovery=AGAIN,
)  # fmt: skip
BANK = system(
    "P1 P2 P3", workload="bank", parameters={"balance": 100, "transfers": 3, "pace": 2.0}, seed=3,
    delay=DelayRule("uniform", 0.5, 2.5), snapshots=(start("P1", 2), start("P2", 5, "S2")),
    storage=SLOW, recovery=AGAIN,
)  # fmt: skip
REFERENCES = {
    "aligned": FLOW,
    "unaligned": replace(FLOW, algorithm="unaligned_barriers"),
    "chandy_lamport": replace(FLOW, algorithm="chandy_lamport"),
    "plain_sink": replace(FLOW, parameters={**FLOW.parameters, "sink": "plain"}),
    "offsets": replace(FLOW, algorithm="unaligned_barriers", storage={**FLOW.storage, "offsets": True}),
    "bank": BANK,
    "bank_slow_to_notice": replace(BANK, storage=None, recovery=RecoveryPlan(on="crash", detect=5.0)),
    "bank_slow_to_fetch": replace(
        BANK,
        parameters={"balance": 100, "transfers": 6, "pace": 1.5},
        delay=DelayRule("uniform", 0.1, 0.5),
        storage={"bandwidth": 3.0},
        snapshots=(start("P1", 0.5),),
    ),
    "coordinated_bank": replace(BANK, coordinator={"timeout": 30.0}),
    "flow_during_a_recovery": replace(FLOW, algorithm="unaligned_barriers", faults=(crash("a", 6.5),)),
    "offsets_during_a_recovery": replace(
        FLOW,
        algorithm="unaligned_barriers",
        faults=(crash("a", 6.5),),
        storage={**FLOW.storage, "offsets": True},
    ),
    "bank_during_a_recovery": replace(BANK, faults=(crash("P2", 9.5),)),
}


# Of all kills every seventh: at each process, before and after steps; `make long` kills at every single one.
STRIDES = [7, pytest.param(1, marks=pytest.mark.long("kills before and after every single step"))]


def killed(scenario: Scenario, *, restarted: bool = False) -> Iterator[Scenario]:
    """The scenario with a crash of each process, just before and just after each step; perhaps it starts again soon."""
    times = sorted({0.0, *run(scenario).times})
    for at in sorted({max(0.0, time + moment) for time in times for moment in (-MOMENT, MOMENT)}):
        for process in scenario.processes:
            faults = (*scenario.faults, crash(process, at))
            faults += (FaultLine("restart", process, (), at + 0.25),) if restarted else ()
            yield replace(scenario, faults=faults)


def is_under_way(execution: Execution, begins: str, ends: str) -> int:
    """How many of the crashes come after a row that `begins` something and before the one that `ends` it."""
    found = is_open = 0
    left = len(execution.scenario.processes)
    for row in execution.table:
        if row.kind == begins:
            is_open = left
        elif row.kind == ends:
            is_open = 0 if ends != RESTORE else is_open - 1
        found += row.kind == "crash" and is_open > 0
    return found


@pytest.mark.slow
@pytest.mark.parametrize("stride", STRIDES)
@pytest.mark.parametrize("name", [*REFERENCES])
def test_killed_at_every_step(name: str, stride: int) -> None:
    """`during`: kills while a snapshot is stored, and while a recovery fetches."""
    found: Counter[str] = Counter()
    during: Counter[str] = Counter()
    for scenario in islice(killed(REFERENCES[name]), 0, None, stride):
        execution = run(scenario)
        assert wrongs(execution) == [], scenario.faults
        for kind, count in kinds(execution).items():
            found[kind] += stride * count
        during["commit"] += stride * is_under_way(execution, SNAPSHOT_COMPLETE, COMMITTED)
        during["recovery"] += stride * is_under_way(execution, RECOVERY, RESTORE)
    assert found[RECOVERY] > 150 and found["back"] > 50 and found[FENCED] > 50
    assert during["commit"] > 20 or REFERENCES[name].storage is None
    assert during["recovery"] > 20 or "during" not in name
    assert found[PUT_BACK] > 20 or name in ("aligned", "plain_sink")  # whose channels are recorded empty
    assert found[OUTPUT] > 100 or "bank" in name or "during" in name


@pytest.mark.slow
@pytest.mark.parametrize("stride", STRIDES)
@pytest.mark.parametrize("name", ["aligned", "bank", "bank_slow_to_notice"])
def test_killed_at_every_step_and_started_again_before_the_recovery(name: str, stride: int) -> None:
    count = 0
    for scenario in islice(killed(REFERENCES[name], restarted=True), 0, None, stride):
        execution = run(scenario)
        assert wrongs(execution) == [], scenario.faults
        count += stride * kinds(execution)["restart"]
    assert count > 100


@pytest.mark.slow
@pytest.mark.parametrize("stride", STRIDES)
def test_copied_and_in_place_runs_are_the_same(stride: int) -> None:
    for scenario in islice(killed(REFERENCES["flow_during_a_recovery"]), 0, None, stride):
        assert run(scenario, copied=True).table == run(scenario).table


# ------------------------------------------------------------------ each rule broken on purpose

Break = Callable[[pytest.MonkeyPatch], None]


def puts_nothing_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recovery, "contents", lambda *given, **named: iter(()))


def puts_back_behind_what_is_new(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recovery, "put_back", lambda queue, message: queue.append(message))


def lets_all_through(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recovery, "is_fenced", lambda message, process, plan: False)


def keeps_the_epoch(patch: pytest.MonkeyPatch) -> None:
    begun = recovery.begun
    patch.setattr(recovery, "begun", lambda recovery, *given: begun(recovery, *given)._replace(epoch=recovery.epoch))


def waits_for_nobody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recovery, "waits", lambda message, recovery: False)


def keeps_the_turn(patch: pytest.MonkeyPatch) -> None:
    restore = recovery.restore

    def kept(process: Any, *given: Any) -> Any:
        turn = process.turn
        part = restore(process, *given)
        process.turn = turn
        return part

    patch.setattr(rules, "restore", kept)


def writes_the_manifest_first(patch: pytest.MonkeyPatch) -> None:
    settings = Scenario.storage_settings
    patch.setattr(Scenario, "storage_settings", lambda scenario: settings(scenario)._replace(members=()))


def takes_parts_of_who_forgot(patch: pytest.MonkeyPatch) -> None:
    settings = Scenario.storage_settings
    patch.setattr(Scenario, "storage_settings", lambda scenario: settings(scenario)._replace(recovers=False))


def forgets_what_it_had_not_given(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Dataflow, "after_restore", lambda workload, process, out: process.state)


def gives_what_it_has_given(patch: pytest.MonkeyPatch) -> None:
    def given(process: Any, state: dict[str, Any], out: Any) -> Any:
        for output in state.get("outputs", ()):
            out.give(output)
        return process.state

    patch.setattr(Dataflow, "_given", staticmethod(given))


STRIDE = 11  # so that kills at all times are tried soon


@pytest.mark.parametrize(
    ("name", "breaks", "shows"),
    [
        ("unaligned", puts_nothing_back, "records at the end"),
        ("bank", puts_nothing_back, "money at the end"),
        ("unaligned", puts_back_behind_what_is_new, "out_of_order=1"),
        ("aligned", lets_all_through, "records: "),
        ("bank", lets_all_through, "money at the end"),
        ("aligned", keeps_the_epoch, "records: "),
        ("bank_slow_to_fetch", waits_for_nobody, "money at the end"),
        ("aligned", keeps_the_turn, "goes on no more"),
        ("aligned", writes_the_manifest_first, "is valid with"),
        ("bank_slow_to_notice", takes_parts_of_who_forgot, "money at the end"),
        ("aligned", forgets_what_it_had_not_given, "outputs: "),
        ("aligned", gives_what_it_has_given, "outputs: "),
    ],
)
def test_a_broken_rule_is_noticed(name: str, breaks: Break, shows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = REFERENCES[name]
    cases = [*killed(reference, restarted="notice" in name)]
    breaks(monkeypatch)
    for scenario in (own for first in range(STRIDE) for own in cases[first::STRIDE]):
        if any(shows in text for text in wrongs(run(scenario))):
            return
    pytest.fail(f"nothing of {len(cases)} runs shows {shows!r}")
