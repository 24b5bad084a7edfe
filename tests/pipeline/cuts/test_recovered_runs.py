"""Runs that are rolled back, as the simulator writes them: audits and windows of their tables say what it says."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cuts.one_window import log_window
from pipeline.opening import scenario_of_window
from sim.document.scenario import Scenario
from sim.run.execution import run
from sim.theory.causality import History
from tests.pipeline.cuts.random_tables import surviving
from tests.pipeline.cuts.test_one_window import names_at
from tests.pipeline.some_recoveries import WRONG, left, recovered
from tests.pipeline.some_tables import folder_of
from tests.reference.test_audits import differences
from tests.sim.recovering import banks, dataflows
from tests.tools import check_none, examples

SEEDS = st.integers(0, 10_000)


@pytest.mark.slow
@examples(12)
@given(wrong=st.sampled_from(WRONG), seed=SEEDS)
def test_audits_find_what_the_reference_finds(wrong: str, seed: int) -> None:
    """Of more events than tests/reference/test_audits.py has, and more recoveries."""
    with TemporaryDirectory() as folder:
        check_none(differences([recovered(seed, wrong)], Path(folder)))


@pytest.mark.slow
@examples(12)
@given(scenario=dataflows() | banks())
def test_so_they_do_where_a_dataflow_or_a_bank_recovers_with_a_storage(scenario: Scenario) -> None:
    with TemporaryDirectory() as folder:
        check_none(differences([run(scenario)], Path(folder)))


@pytest.mark.slow
@examples(20)
@given(seed=SEEDS, data=st.data())
def test_every_cut_through_a_window_is_judged_as_by_what_is_left_of_the_whole(seed: int, data: st.DataObject) -> None:
    execution = recovered(seed)
    processes, table = execution.scenario.processes, execution.table
    whole, there = History(processes, surviving(table)), left(table, processes)
    ended = {row.message_id for row in table if row.kind in ("lost", "fenced")} - set(whole.receives)
    first, rows = data.draw(st.integers(0, len(table))), data.draw(st.integers(1, 40))
    with TemporaryDirectory() as folder:
        found = log_window(folder_of(Path(folder), table), 0, processes, first, rows)
    inside = {(row.process, row.index) for row in found.rows}
    assert inside == {(row.process, row.index) for row in surviving(table) if first <= row.row < first + rows}
    cut = {
        name: data.draw(st.sampled_from([found.before[name], *(n for n in own if (name, n) in inside)]))
        for name, own in there.items()
    }
    assert History(list(found.before), found.rows).violations(cut) == whole.violations(cut)
    held = {name: [m for m in messages if m not in ended] for name, messages in whole.in_channels(cut).items()}
    labels = {name: sorted(whole.sends[m].label or "" for m in messages) for name, messages in held.items() if messages}
    assert {name: sorted(names) for name, names in names_at(found, cut).items()} == labels


@pytest.mark.slow
@examples(10)
@given(seed=SEEDS)
def test_a_run_opens_as_what_is_left_of_it(seed: int) -> None:
    execution = recovered(seed)
    with TemporaryDirectory() as folder:
        store = folder_of(Path(folder), execution.table)
        again = run(scenario_of_window(store, 0, 0, len(execution.table)))
    names = [row.label for row in execution.history.rows]
    assert [row.label.split(" (")[0].strip("()") for row in again.history.rows if row.label] == names
