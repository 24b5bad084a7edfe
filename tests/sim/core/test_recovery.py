"""Recovery: oracle 13 and what goes wrong without a part of it, by hand; and any faults, at any moment."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.__main__ import main
from sim.core.delays import HOLD, DelayRule
from sim.core.model import (
    CRASH,
    FENCED,
    LOST,
    PUT_BACK,
    RECEIVE,
    RECOVERY,
    RESENT,
    RESTART,
    RESTORE,
    SNAPSHOT_ABORTED,
    Event,
    MessageReference,
)
from sim.core.recovery import RecoveryPlan, links
from sim.document.fault_rates import FaultRates
from sim.document.scenario import Scenario, SchedulerChoice
from sim.document.validate import validate
from sim.document.writing import dumps
from sim.run.execution import Execution, run
from sim.theory.surviving import is_gone
from tests.sim.recovering import banks, crash, dataflows, kinds, wrongs
from tests.sim.tools import failing, rows_of, send, start, system
from tests.tools import count_of_examples, drawn, examples

# By hand: 30 is sent at 1 and would be there at 6; S1 (770, 200 and 30 on its way) begins at 2 and is valid at 6, when
# the 30 has come. 20 goes from P2 to P1 at 6.5, 50 from P1 to P2 at 7, to be there at 12. P2 crashes at 8.
ORACLE_13 = system(
    "P1 P2", workload="bank", parameters={"balance": {"P1": 800, "P2": 200}},
    marker_delay=DelayRule("fixed", 1.0, 1.0), recovery=RecoveryPlan(at=(10.0,)), faults=(crash("P2", 8),),
    script=(send("P1", "P2", 1, 30, label="a"), send("P2", "P1", 6.5, 20, label="b"),
            send("P1", "P2", 7, 50, label="c")),
    delays={MessageReference("a"): 5.0, MessageReference("b"): 0.5, MessageReference("c"): 5.0},
    snapshots=(start("P2", 2),),
)  # fmt: skip


def with_plan(**changes: object) -> Execution:
    plan = replace(RecoveryPlan(at=(10.0,)), **changes)  # type: ignore[arg-type]
    scenario = replace(ORACLE_13, recovery=plan)
    execution = run(scenario)
    assert run(scenario, copied=True).table == execution.table
    return execution


def at_the_end(execution: Execution) -> list[int]:
    return [process.state for process in execution.final.processes]


class TestOracle13:
    """800 and 200; the same crash, and five ways to go on after it."""

    def test_everybody_goes_back_and_the_30_comes_once_more(self):
        execution = with_plan()
        assert at_the_end(execution) == [770, 230]
        assert [(row.time, row.process, row.index, row.body) for row in rows_of(execution, RESTORE)] == [
            (10, "P1", 1, '{"epoch":1,"state":770}'), (10, "P2", 0, '{"epoch":1,"state":200}'),
        ]  # fmt: skip
        assert [(row.time, row.process, row.body) for row in rows_of(execution, PUT_BACK)] == [(10, "P2", "30")]
        assert [(row.time, row.process, row.body) for row in rows_of(execution, FENCED)] == [(12, "P2", "50")]
        assert [row.snapshot_id for row in rows_of(execution, RECOVERY)] == ["S1"]
        assert wrongs(execution) == [] and failing(execution) == {}

    def test_without_the_channels_contents_30_is_lost(self):
        execution = with_plan(channels=False)
        assert at_the_end(execution) == [770, 200]
        assert wrongs(execution) == ["970 money at the end of 1000", "970 money of 1000 by the table"]

    def test_without_a_fence_50_comes_that_nobody_has_sent(self):
        execution = with_plan(fence=False)
        assert at_the_end(execution) == [770, 280]
        assert "1050 money at the end of 1000" in wrongs(execution)

    def test_with_one_process_restored_20_is_there_twice(self):
        execution = with_plan(processes=("P2",), fence=False)
        assert at_the_end(execution) == [740, 280]
        assert "1020 money at the end of 1000" in wrongs(execution)

    def test_as_in_the_tutorial_both_are_wrong_at_once(self):
        execution = with_plan(processes=("P2",), fence=False, channels=False)
        assert at_the_end(execution) == [740, 250]
        assert "990 money at the end of 1000" in wrongs(execution)


# ------------------------------------------------------------------ cases found by the properties below


def test_what_is_sent_while_a_recovery_fetches_is_not_in_the_log() -> None:
    """P1 is restored at 12, for its part is fetched second. The 7 that it sends at 10 is taken back: not replayed."""
    scenario = system(
        "P1 P2", workload="bank", parameters={"balance": 100}, delay=DelayRule("fixed", 3.0),
        script=(send("P1", "P2", 10, 7), send("P1", "P2", 13.2, 11)), marker_delay=DelayRule("fixed", 0.5),
        snapshots=(start("P1", 1), start("P2", 13, "S2")), storage={"bandwidth": 2.0, "offsets": True},
        recovery=RecoveryPlan(on="crash"), faults=(crash("P2", 8), crash("P2", 40)),
    )  # fmt: skip
    execution = run(scenario)
    assert [(row.time, row.snapshot_id) for row in rows_of(execution, RECOVERY)] == [(9, "S1"), (41, "S2")]
    assert [(row.time, row.process) for row in rows_of(execution, RESTORE)][:2] == [(10.5, "P2"), (12, "P1")]
    assert [row.body for row in rows_of(execution, PUT_BACK)] == ["11"]
    assert at_the_end(execution) == [89, 111] and wrongs(execution) == []


def test_what_is_received_before_a_process_is_restored_is_no_receipt() -> None:
    """Copies without coordination: where time is no matter, a process may do much between two steps of a recovery."""
    found: Counter[str] = Counter()
    count = count_of_examples(30)
    for seed in range(count):
        scenario = system(
            "P1 P2 P3", workload="bank", parameters={"balance": 100, "transfers": 5}, algorithm="uncoordinated",
            snapshots=tuple(start(name, 1) for name in ("P1", "P2", "P3")), seed=seed, storage={"offsets": True},
            scheduler=SchedulerChoice("random"), recovery=RecoveryPlan(on="crash"),
            faults=(crash("P1", 1), crash("P2", 2)),
        )  # fmt: skip
        execution = run(scenario)
        gone = {(row.process, row.index) for row in execution.table if row.kind == RECEIVE}
        gone -= {(row.process, row.index) for row in execution.table if row.kind == RECEIVE and is_left(execution, row)}
        kept = {(f"P{to + 1}", index) for to, index, _, _ in links(execution.final.recovery.receipts)}
        assert not kept & gone and wrongs(execution) == []
        found += kinds(execution)
    assert found["back"] > count / 6 and found[PUT_BACK] > count / 6


def is_left(execution: Execution, row: Event) -> bool:
    return not is_gone(execution.events[row.row])


def test_a_part_of_a_process_that_forgot_is_in_no_valid_snapshot() -> None:
    """P2 starts again at once, with 100. S2 would have that, and the recovery would go back to it."""
    scenario = system(
        "P1 P2", workload="bank", parameters={"balance": 100}, script=(send("P1", "P2", 1, 30),),
        snapshots=(start("P1", 3), start("P1", 6.5, "S2")), delay=DelayRule("fixed", 1.0),
        faults=(crash("P2", 6), replace(crash("P2", 6.25), kind="restart")),
        recovery=RecoveryPlan(on="crash", detect=5.0),
    )  # fmt: skip
    execution = run(scenario)
    assert [row.snapshot_id for row in rows_of(execution, RECOVERY)] == ["S1"]
    assert [row.snapshot_id for row in rows_of(execution, SNAPSHOT_ABORTED)] == ["S2", "S2"]
    assert at_the_end(execution) == [70, 130] and wrongs(execution) == []


def test_what_comes_after_the_snapshot_gone_back_to_is_over() -> None:
    """The first recovery goes back to S1, though S2 is valid. The second one must not find S2."""
    scenario = system(
        "P1 P2", workload="bank", parameters={"balance": 100}, delay=DelayRule("fixed", 1.0),
        script=(send("P1", "P2", 3, 30), send("P2", "P1", 12, 5)), snapshots=(start("P1", 1), start("P1", 6, "S2")),
        recovery=RecoveryPlan(at=(10.0, 20.0), on="crash", to=("S1", "")), faults=(crash("P2", 15),),
    )  # fmt: skip
    execution = run(scenario)
    assert [(row.time, row.snapshot_id) for row in rows_of(execution, RECOVERY)] == [
        (10, "S1"), (16, "S1"), (20, "S1"),
    ]  # fmt: skip
    assert at_the_end(execution) == [100, 100] and wrongs(execution) == []


@pytest.mark.parametrize(
    ("plan", "content"), [(None, [30]), (RecoveryPlan(at=(5.0,)), []), (RecoveryPlan(at=(5.0,), fence=False), [30])]
)
def test_what_would_be_fenced_off_is_in_no_channel_at_the_end(
    plan: RecoveryPlan | None, content: list[int], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """30 is held, and P1, which sent it, goes back to the beginning."""
    held = (send("P1", "P2", 1, 30, label="a"),)
    delays = {MessageReference(label="a"): HOLD}
    path = tmp_path / "held.toml"
    path.write_text(dumps(system("P1 P2", workload="bank", script=held, delays=delays, recovery=plan)))
    assert main(["run", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["final"]["channels"]["P1->P2"] == content


@pytest.mark.slow
def test_a_snapshot_behind_a_valid_one_is_given_up() -> None:
    """S1 waits for the part of P2, which waits before it uploads; meanwhile S2 becomes valid."""
    seeds = []
    for seed in range(60):
        scenario = system(
            "P1 P2", workload="bank", parameters={"balance": 100, "transfers": 4, "pace": 1.0},
            snapshots=(start("P1", 2), start("P1", 4, "S2")), delay=DelayRule("uniform", 0.5, 1.0), seed=seed,
            storage={"jitter": 8.0}, recovery=RecoveryPlan(on="crash"), faults=(crash("P2", 25),),
        )  # fmt: skip
        execution = run(scenario)
        (goal,) = rows_of(execution, RECOVERY)
        assert goal.snapshot_id == "S2" and wrongs(execution) == []
        seeds += [seed] if '"a newer one is valid"' in "".join(row.body or "" for row in execution.table) else []
    assert len(seeds) > 3


# ------------------------------------------------------------------ any faults, any moment


@pytest.mark.slow
@examples(30)
@given(dataflows())
def test_after_any_faults_nothing_of_a_dataflow_is_lost_comes_twice_or_out_of_order(scenario: Scenario) -> None:
    check(scenario)


@examples(30)
@given(banks())
def test_after_any_faults_the_money_of_a_bank_is_all_there(scenario: Scenario) -> None:
    check(scenario)


@examples(15)
@given(dataflows() | banks())
def test_without_time_anything_may_come_first(scenario: Scenario) -> None:
    check(replace(scenario, scheduler=SchedulerChoice("random"), fault_rates=FaultRates()))


def check(scenario: Scenario) -> Execution:
    validate(scenario)
    execution = run(scenario)
    assert run(scenario, copied=True).table == execution.table
    assert all(process.alive for process in execution.final.processes)
    assert wrongs(execution) == []
    return execution


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [dataflows(), banks()], ids=["dataflow", "bank"])
def test_random_runs_have_recoveries_replays_and_fences(strategy: st.SearchStrategy[Scenario]) -> None:
    """What the two properties above would mean little without."""
    count = count_of_examples(30)
    found: Counter[str] = sum((kinds(check(own)) for own in drawn(strategy, count)), Counter())
    for kind in (CRASH, RECOVERY, "back", RESTORE, PUT_BACK, FENCED, RESTART, LOST, RESENT):
        assert found[kind] >= count / 10, kind
