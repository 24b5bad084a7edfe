"""Snapshots among changing members: heartbeats, control messages that are late, crashes, joins and leaves.

The reference judges every complete snapshot. The coordinator often takes a process for gone here that is up.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from sim.core.delays import DelayRule
from sim.core.model import CONTROL, MessageReference
from sim.core.topology import Topology
from sim.document.scenario import FaultLine, Scenario
from sim.document.validate import validate
from sim.run.execution import Execution, run
from tests.reference.verdicts import Judged
from tests.tools import check_none

NAMES = ("P1", "P2", "P3", "P4")
END = 30.0  # the last time at which something is planned


def system(number: int) -> Scenario:
    """The system with this number."""
    draw = Random(number)
    names = NAMES[: draw.choice((3, 3, 4))]
    late = {
        MessageReference(None, f"{name}->coordinator", CONTROL, None, draw.randint(1, 6)): draw.uniform(5, 25)
        for name in draw.sample(names, draw.randint(1, 2))
    }
    answers = {
        MessageReference(None, f"coordinator->{name}", CONTROL, None, draw.randint(1, 6)): draw.uniform(5, 25)
        for name in draw.sample(names, draw.randint(0, 1))
    }
    faults: list[FaultLine] = []
    for name in draw.sample(names, draw.randint(0, 2)):
        ends, begins = draw.choice((("crash", "restart"), ("leave", "join")))
        times = sorted(draw.uniform(1, END) for _ in range(draw.randint(1, 3)))
        faults += [FaultLine(begins if turn % 2 else ends, name, (), at) for turn, at in enumerate(times)]
    coordinator = {
        "heartbeat": 2.0, "missed": draw.choice((2, 3)), "interval": draw.choice((3.0, 6.0)), "timeout": 25.0,
        "until": END, "most_concurrent": draw.randint(1, 2),
    }  # fmt: skip
    return Scenario(
        name=f"members-{number}", title="members", processes=names, topology=Topology("complete"), seed=number,
        algorithm="chandy_lamport", workload="bank", parameters={"transfers": 40, "pace": draw.choice((0.5, 1.0))},
        delay=DelayRule("uniform", 0.1, 1.0), marker_delay=DelayRule("uniform", 0.5, draw.choice((4.0, 12.0))),
        control_delay=DelayRule("uniform", 0.0, 0.5), delays={**late, **answers}, faults=tuple(faults),
        coordinator=coordinator,
    )  # fmt: skip


def problems(execution: Execution) -> Iterator[str]:
    """What is wrong with the complete snapshots of a run."""
    name = execution.scenario.name
    for snapshot in {row.snapshot_id for row in execution.table if row.kind == "decision"}:
        judged = Judged(execution.scenario, execution.table, snapshot or "")
        if judged.status != "complete":
            continue
        found = judged.verdicts()
        if found["consistency"] is False or found["channel_states"] is False:
            yield f"{name}: {snapshot} of {judged.members} is complete, and {found}"
        recorded = {row.process for row in judged.rows if row.kind == "record"}
        if not recorded >= set(judged.members):
            yield f"{name}: {snapshot} of {judged.members} is complete, and only {recorded} have recorded"


def executions(first: int, count: int) -> Iterator[Execution]:
    """The runs of so many systems."""
    for number in range(first, first + count):
        scenario = system(number)
        validate(scenario)
        yield run(scenario)


@pytest.mark.slow
def test_every_complete_snapshot_among_changing_members_is_right() -> None:
    check_none(problem for execution in executions(0, 40) for problem in problems(execution))


@pytest.mark.long("snapshots of 4,000 systems whose members change")
def test_every_one_of_very_many_is_right() -> None:
    check_none(problem for execution in executions(100_000, 4_000) for problem in problems(execution))
