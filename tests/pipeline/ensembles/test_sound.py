"""The quick verdict on runs in which nothing is wrong (sim/verify/sound.py): whole rows are those of the slow way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.ensembles import measure as measuring
from pipeline.ensembles.at_once import rows_at_once
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.chunks import carry_out, plan_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.measure import Row, measure
from pipeline.ensembles.options import NO, YES
from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES
from sim.core.errors import InputError
from sim.core.model import Event
from sim.core.workload import WORKLOADS
from sim.document import library
from sim.document.fault_rates import FaultRates
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.edit.counterexample import harm, smallest_counterexample
from sim.edit.edits import apply_edit
from sim.run.execution import Execution, run
from sim.verify.sound import sound_snapshots
from sim.workloads.bank import Bank
from tests.pipeline.some_ensembles import begin, rows
from tests.sim.strategies import scenarios
from tests.sim.tools import failing
from tests.tools import check_none, examples


def both_ways(execution: Execution) -> tuple[list[Row], list[Row]]:
    """The rows of a run by the quick way, where it answers, and by the slow way."""
    quick = measure(execution)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "sound_snapshots", lambda execution: None)
        return quick, measure(replace(execution))


@st.composite
def cells(draw: Any) -> Scenario:
    """A cell of a random grid, with a seed of its own: every workload, every algorithm, up to three snapshots."""
    workload = draw(st.sampled_from([name for name in WORKLOADS if WORKLOADS[name].busy(3, 30)]))
    algorithm = draw(st.sampled_from(list(ALGORITHMS)))
    fifo = YES if ALGORITHMS[algorithm].needs_fifo else draw(st.sampled_from([YES, NO]))
    given = {
        "workload": workload, "algorithm": algorithm, "fifo": fifo,
        "topology": draw(st.sampled_from(["complete", "ring", "star", "random:2"])),
        "processes": str(draw(st.integers(2, 5))), "initiators": str(draw(st.integers(1, 2))),
        "delay": draw(st.sampled_from(["fixed:1", "uniform:1:9", "exponential:4"])),
        "marker_delay": draw(st.sampled_from(["same", "fixed:30"])),
        "snapshots": str(draw(st.integers(1, 3))), "runs": "1",
    }  # fmt: skip
    try:
        (cell,) = cells_of(Grid.read(given))
    except InputError:
        assume(False)
    return replace(cell.scenario, seed=draw(st.integers(0, 2**32)))


@pytest.mark.slow
@examples(100)
@given(rule=st.sampled_from([None, *BROKEN_RULES]), scenario=cells() | scenarios())
def test_whole_rows_are_the_same_both_ways_also_of_broken_runs(rule: str | None, scenario: Scenario) -> None:
    try:
        execution = run(scenario)
        if rule is not None:
            execution = apply_edit(execution, {"do": "break", "rule": rule}, 0.0)
    except InputError:
        assume(False)
    quick, slow = both_ways(execution)
    assert quick == slow and [list(row) for row in quick] == [list(row) for row in slow]


@pytest.mark.slow
@examples(20)
@given(scenario=cells() | scenarios(), rates=st.builds(FaultRates, *[st.sampled_from([0.0, 0.01, 0.1, 1.0])] * 4))
def test_whole_rows_are_the_same_both_ways_where_faults_are_drawn(scenario: Scenario, rates: FaultRates) -> None:
    crash = rates.crash if scenario.rules.allows_crashes else 0.0
    quick, slow = both_ways(run(replace(scenario, fault_rates=replace(rates, crash=crash))))
    assert quick == slow and [list(row) for row in quick] == [list(row) for row in slow]


def test_whole_rows_of_the_bundled_scenarios_are_the_same() -> None:
    check_none(f"{name}: {problem}" for name in library.names() for problem in other_ways(name))


def other_ways(name: str) -> Iterator[str]:
    """The differences between the quick and the slow way for a scenario."""
    execution = run(library.load(name))
    quick, slow = both_ways(execution)
    if quick != slow:
        yield "other rows"
    is_left = execution.scenario.has_storage
    is_unsound = any(is_left or row["failed"] or row["status"] != "complete" for row in slow if "status" in row)
    if (sound_snapshots(execution) is None) != is_unsound:
        yield f"the quick way answers, and the slow one says that something is wrong: {is_unsound}"


def test_broken_runs_go_the_slow_way_with_their_witness() -> None:
    check_none(f"{rule}: {problem}" for rule in BROKEN_RULES for problem in unseen(rule))


def unseen(rule: str) -> Iterator[str]:
    """The differences that a run with a broken rule does not show."""
    execution = apply_edit(run(library.load(BROKEN_RULES[rule].shown_by)), {"do": "break", "rule": rule}, 0.0)
    if not harm(execution):
        found = smallest_counterexample(execution)
        assert found is not None, rule
        execution = found.execution
    if not failing(execution):
        yield "nothing fails"
    if sound_snapshots(execution) is not None:
        yield "it goes the quick way"
    if not any(row["witness"] for row in measure(execution) if row["failed"]):
        yield "there is no witness"


TABLES = ("storage = {}", "storage = { limit = 1, jitter = 2 }", "recovery = { at = 9 }", 'recovery = { on = "crash" }')


def test_a_run_with_a_storage_or_with_recoveries_is_left_to_the_slow_way_everywhere() -> None:
    """The verdicts, the kernel where it is installed, and the runs at once, of which the kernel does some."""
    (cell,) = cells_of(Grid.read({"processes": "3", "delay": "uniform:1:9", "runs": "1"}, {"transfers": "9"}))
    assert sound_snapshots(run(cell.scenario))
    for table in TABLES:
        document = f"{table}\n{cell.document}"
        scenario = parse_toml(document, "storing")
        assert sound_snapshots(run(scenario)) is None, table
        rows = rows_at_once(document, "storing", 3, 3)
        slow = [{**row, "seed": seed} for seed in range(3) for row in measure(run(replace(scenario, seed=seed)))]
        assert rows == slow, table
        assert all(row["refusals"] is not None for row in rows), table


def test_the_events_that_an_ensemble_keeps_are_those_of_the_table(tmp_path: Path) -> None:
    """Also those that recoveries have taken back, with the indices that they had: audits see what is left."""
    store, grid = begin(tmp_path / "e", {"scenario": "recovery_tutorial", "runs": "1", "events": "all"})
    carry_out(plan_of(store, grid), 0)
    execution = run(library.load("recovery_tutorial"))
    assert [Event(**row) for row in rows(store, "events")] == execution.table != execution.events
    (first, *_) = rows(store, "runs")
    assert (first["recoveries"], first["rolled_back"], first["committed"]) == (1, 2, True)


def test_goods_that_do_not_add_up_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """No broken rule fails this check alone, so the workload is broken: what is in a channel weighs nothing."""
    monkeypatch.setattr(Bank, "measure_body", lambda workload, body: {})
    execution = run(library.load("two_banks"))
    assert sound_snapshots(execution) is None and "conservation: " in measure(execution)[0]["witness"]


def test_a_run_in_which_nothing_is_wrong_needs_no_event_table_and_no_clocks() -> None:
    execution = run(library.load("two_banks"))
    measure(execution)
    assert sound_snapshots(execution)
    assert not {"events", "flights", "history"} & set(vars(execution))


def test_a_check_that_is_not_known_here_is_left_to_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.verify.sound.checks_of", lambda execution: ["completion", "another"])
    assert sound_snapshots(run(library.load("two_banks"))) is None
