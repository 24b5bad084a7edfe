"""Local checkpoints only: a recovery goes back to the recovery line of the copies that are stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sim.core.model import RECORD, RESTORE
from sim.core.recovery import RecoveryPlan
from sim.document import library
from sim.document.scenario import FaultLine, Initiation
from sim.document.validate import validate
from sim.run.execution import Execution, run
from sim.theory.causality import History
from sim.theory.recovery import recovery_line
from tests.sim.tools import rows_of, system
from tests.tools import examples


def restored(execution: Execution) -> dict[str, int]:
    """How many events each process keeps, from the table."""
    return {row.process: row.index or 0 for row in execution.table if row.kind == RESTORE}


def test_the_domino_effect_takes_everything_back() -> None:
    """Oracle 7, carried out: nothing is left but the initial states."""
    domino = library.load("domino")
    after = run(domino).times[-1] + 1
    crash = FaultLine("crash", "P1", (), after)
    execution = run(replace(domino, faults=(crash,), recovery=RecoveryPlan(on="crash")))
    assert restored(execution) == {"P1": 0, "P2": 0}
    assert execution.history.of == {"P1": [], "P2": []}


@examples(40)
@given(st.data())
def test_the_storage_finds_the_line_that_theory_finds(data: Any) -> None:
    """Two code paths: receipts in the state of a run, and the history of its event table."""
    names = " ".join(f"P{number + 1}" for number in range(data.draw(st.integers(2, 4))))
    scenario = system(
        names, workload="bank", parameters={"transfers": data.draw(st.integers(1, 8))},
        seed=data.draw(st.integers(0, 999)), algorithm="uncoordinated",
        algorithm_parameters={"every": data.draw(st.integers(1, 4))},
        snapshots=tuple(Initiation("S1", name, 0.0) for name in names.split()),
    )  # fmt: skip
    crash = FaultLine("crash", "P1", (), data.draw(st.floats(0.5, 60.0)))
    scenario = replace(scenario, faults=(crash,), recovery=RecoveryPlan(on="crash", detect=0.0))
    validate(scenario)
    execution = run(scenario)
    assert run(scenario, copied=True).table == execution.table
    end = next(row.row for row in execution.table if row.kind == "recovery")
    before = execution.table[:end]
    copies: dict[str, list[int]] = {}
    for row in before:
        if row.kind == RECORD:
            copies.setdefault(row.process, []).append(row.index or 0)
    known = [row._replace(peer_index=None) for row in before]
    assert restored(execution) == recovery_line(History(scenario.processes, known), copies).line


def test_copies_go_on_after_a_recovery_and_serve_the_next_one() -> None:
    scenario = system(
        "P1 P2", workload="bank", parameters={"transfers": 30}, algorithm="uncoordinated",
        algorithm_parameters={"every": 1}, snapshots=(Initiation("S1", "P1"), Initiation("S1", "P2")),
        storage={"offsets": True}, recovery=RecoveryPlan(on="crash"),
        faults=(FaultLine("crash", "P1", (), 20.0), FaultLine("crash", "P2", (), 60.0)),
    )  # fmt: skip
    execution = run(scenario)
    first, second = (rows_of(execution, "recovery")[number].row for number in (0, 1))
    between = [row for row in execution.table[first:second] if row.kind == RECORD]
    assert len(between) > 4
    kept = [row.index or 0 for row in execution.table[second:] if row.kind == RESTORE]
    assert min(kept) > max(row.index or 0 for row in between[:2])  # copies of the second life
    money = sum(process.state for process in execution.final.processes)
    assert money == 200  # the log has what was in the channels
