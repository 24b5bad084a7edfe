"""Local checkpoints only: a recovery goes back to the recovery line of the copies that are stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sim.core.delays import DelayRule
from sim.core.model import RECORD, RESTORE, Crash, Recover, Restore
from sim.core.recovery import RecoveryPlan
from sim.document import library
from sim.document.scenario import FaultLine, Initiation
from sim.document.validate import validate
from sim.explain.narration import sentences
from sim.run.execution import Execution, run
from sim.theory.causality import History
from sim.theory.recovery_line import recovery_line
from tests.cases import each
from tests.sim.tools import rows_of, send, system
from tests.tools import examples


def restored_and_kept(execution: Execution) -> tuple[list[str], list[str]]:
    """Who goes back in the only recovery, and who keeps its state."""
    (row,) = rows_of(execution, "recovery")
    body = execution.body_of(row)
    return body["restores"], body.get("keeps", [])


def restored(execution: Execution) -> dict[str, int]:
    """How many events each process keeps, from the table."""
    return {row.process: row.index or 0 for row in execution.table if row.kind == RESTORE}


@each(
    ("failed", "line", "kept"),
    [("P1 P2", {"P1": 0, "P2": 0}, []), ("P1", {"P1": 4}, ["P2"]), ("P2", {"P1": 0, "P2": 0}, [])],
)
def test_the_domino_effect_carried_out(failed: str, line: dict[str, int], kept: list[str]) -> None:
    """Oracle 7: after a total failure nothing is left but the initial states. If P1 alone fails, P2 keeps its state."""
    domino = library.load("domino")
    after = run(domino).times[-1] + 1
    crashes = tuple(FaultLine("crash", name, (), after) for name in failed.split())
    execution = run(replace(domino, faults=crashes, recovery=RecoveryPlan(on="crash")))
    assert restored(execution) == line and restored_and_kept(execution) == (list(line), kept)
    left = {name: len(own) for name, own in execution.history.of.items()}
    assert left == {"P1": 0, "P2": 0, **line, **dict.fromkeys(kept, 4)}
    assert all(process.epoch == 1 for process in execution.final.processes)


def test_who_keeps_its_state_works_in_the_new_epoch() -> None:
    """P2 keeps its state, and what it sends later is received; what was on its way to it comes from the log."""
    scenario = system(
        "P1 P2", workload="bank", algorithm="uncoordinated", algorithm_parameters={"every": 1},
        script=(send("P2", "P1", 2, 5), send("P1", "P2", 4, 7), send("P2", "P1", 20, 9)),
        snapshots=(Initiation("S1", "P1"), Initiation("S1", "P2")), delay=DelayRule("fixed", 6.0),
        control_delay=DelayRule("fixed", 0.5), storage={"offsets": True}, recovery=RecoveryPlan(on="crash"),
        faults=(FaultLine("crash", "P1", (), 5.0),),
    )  # fmt: skip
    execution = run(scenario)
    assert restored_and_kept(execution) == (["P1"], ["P2"])
    assert [process.state for process in execution.final.processes] == [107, 93]
    assert {row.epoch for row in execution.table if row.process == "P2" and row.time > 6} == {1}
    assert run(scenario, copied=True).table == execution.table
    told = sentences(execution)
    assert any("Only P1 is rolled back to S1, and P2 keeps its present state. Epoch 1 begins." in own for own in told)


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
    found = recovery_line(History(scenario.processes, known), copies, {"P1"})
    assert restored(execution) == {name: inside for name, inside in found.line.items() if name not in found.kept}
    assert restored_and_kept(execution)[1] == [*found.kept]


def test_who_is_still_to_go_back_has_no_present_state_to_keep() -> None:
    """P1 has not crashed, but has to go back for P2. Before it does, P2 crashes again: P1 still has to go back."""
    scenario = replace(library.load("domino"), recovery=RecoveryPlan(on="crash"), expect={})
    engine, state = scenario.engine(), run(scenario).final
    for action in (Crash(1), Recover(None), Restore(1), Crash(1), Recover(None)):
        assert engine.is_enabled(state, action)
        state, _ = engine.step(state, action)
    assert (state.recovery.goal.restores, state.recovery.goal.keeps) == (("P1", "P2"), ())
    assert {name: part.inside for name, part in state.recovery.goal.parts.items()} == {"P1": 0, "P2": 0}


def test_the_state_before_a_recovery_does_not_change() -> None:
    scenario = replace(library.load("domino"), recovery=RecoveryPlan(on="crash"), expect={})
    engine = scenario.engine()
    crashed, _ = engine.step(run(scenario).final, Crash(0))
    begun, _ = engine.step(crashed, Recover(None))
    assert [[own.epoch for own in state.processes] for state in (crashed, begun)] == [[0, 0], [0, 1]]


@examples(10)
@given(st.integers(0, 999))
def test_a_rollback_on_purpose_is_of_all_processes(seed: int) -> None:
    scenario = system(
        "P1 P2 P3", workload="bank", parameters={"transfers": 4}, seed=seed, algorithm="uncoordinated",
        snapshots=tuple(Initiation("S1", name, 0.0) for name in ("P1", "P2", "P3")),
        faults=(FaultLine("crash", "P1", (), 9.0),), recovery=RecoveryPlan(at=(10.0,)),
    )  # fmt: skip
    assert restored_and_kept(run(scenario)) == (["P1", "P2", "P3"], [])


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
