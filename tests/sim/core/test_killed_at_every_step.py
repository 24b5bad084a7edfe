"""A process is killed at every single step of a run, one after the other; also with a restart a little later."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.core.model import DECISION
from sim.document import library
from sim.document.scenario import FaultLine, Scenario
from sim.run.execution import run
from sim.run.snapshots import COMPLETE, GIVEN_UP, snapshots_of
from tests.cases import each
from tests.sim.tools import rows_of, send, start, system, verdicts

PLAIN = ("lecture", "two_banks", "star", "overlapping", "joins", "partition")
LATER = 0.35  # of the run, from a crash to the restart


def killed(scenario: Scenario) -> list[Scenario]:
    """The scenario with a crash of each process after each step, and each of these with a restart, too."""
    times = sorted({0.0, *run(scenario).times})
    between = [(one + next_one) / 2 for one, next_one in zip(times, [*times[1:], times[-1] + 2], strict=True)]
    pause = LATER * times[-1]
    found = []
    for at in between:
        for process in scenario.processes:
            if process not in scenario.absent:
                crash = FaultLine("crash", process, (), at)
                restart = FaultLine("restart", process, (), at + pause)
                found += [
                    replace(scenario, faults=(*scenario.faults, crash)),
                    replace(scenario, faults=(*scenario.faults, crash, restart)),
                ]
    return found


# Of all kills every seventh, with and without a restart; `make long` kills at every single step.
STRIDES = [7, pytest.param(1, marks=pytest.mark.long("kills after every single step"))]


@pytest.mark.slow
@pytest.mark.parametrize("stride", STRIDES)
@pytest.mark.parametrize("settings", [None, {"timeout": 30.0, "retries": 1}], ids=["alone", "coordinated"])
@each("name", PLAIN)
def test_what_is_complete_is_right_and_everything_is_decided_once(
    name: str, settings: dict[str, float] | None, stride: int
) -> None:
    scenario = library.load(name)
    own = settings or scenario.coordinator
    reference = replace(scenario, coordinator=own, delays={} if own else scenario.delays)
    count = 0
    for case in killed(reference)[::stride]:
        execution = run(case)
        assert run(case, copied=True).events == execution.events
        for snapshot in snapshots_of(execution):
            failed = {v.check for v in verdicts(execution)[snapshot.id] if v.holds is False} - {"one_marker"}
            assert snapshot.status != COMPLETE or not failed, (case.faults, snapshot.id, failed)
            if own and snapshot.began is not None:
                assert [row.snapshot_id for row in rows_of(execution, DECISION)].count(snapshot.id) == 1, case.faults
            if snapshot.status in GIVEN_UP:
                assert all(snapshot.id not in process.snapshots for process in execution.final.processes), case.faults
            count += stride
    assert count > 20


def test_who_forgot_that_it_recorded_and_records_anew_does_not_complete_a_snapshot() -> None:
    """The shortest run in which it used to count as complete: what P1 sends before it records anew is in no record."""
    scenario = system(
        "P1 P2", script=(send("P1", "P2", 2.8),), snapshots=(start("P1", 1),),
        faults=(FaultLine("crash", "P1", (), 1.5), FaultLine("restart", "P1", (), 1.7)),
    )  # fmt: skip
    execution = run(scenario)
    (snapshot,) = snapshots_of(execution)
    assert [row.process for row in rows_of(execution, "record")] == ["P1", "P2", "P1"]
    assert (snapshot.status, snapshot.torn) == ("recording", "P1")
    (completion, *_) = verdicts(execution)["S1"]
    assert completion.witness == "P1 has lost its part in a crash"
