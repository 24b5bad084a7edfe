"""Runs that are rolled back, as the simulator writes them: audits and windows of their tables say what it says."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cuts.one_window import log_window
from pipeline.opening import scenario_of_window
from sim.core.model import RESTORE
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from sim.theory.causality import History
from sim.theory.surviving import GONE
from sim.verify.checks import verdicts_of
from tests.pipeline.cuts.here import audited_here
from tests.pipeline.cuts.oracles import by_duckdb, by_simulator
from tests.pipeline.cuts.random_tables import Line, as_table, surviving
from tests.pipeline.cuts.test_one_window import names_at
from tests.pipeline.some_recoveries import WRONG, left, recovered
from tests.pipeline.some_tables import folder_of
from tests.tools import examples

SEEDS = st.integers(0, 10_000)


def cuts_of(execution: Execution, seed: int) -> dict[str, dict[str, int]]:
    """Cuts as the simulator counts them, without gaps: of snapshots that are not of a life that is over, and random."""
    there = left(execution.table, execution.scenario.processes)
    found = {own.id: own.frontier for own in snapshots_of(execution) if max([*own.frontier.values(), 0]) < GONE}
    draw = random.Random(seed)
    drawn = {f"cut-{n}": {name: draw.randint(0, len(own)) for name, own in there.items()} for n in range(12)}
    return {**found, **drawn}


def lines_of(execution: Execution, cuts: dict[str, dict[str, int]]) -> list[Line]:
    """The same cuts by the indices in the table, which have gaps."""
    there = left(execution.table, execution.scenario.processes)
    return [(0, name, p, there[p][n - 1] if n else 0) for name, cut in cuts.items() for p, n in cut.items()]


@pytest.mark.slow
@examples(30)
@given(wrong=st.sampled_from(WRONG), seed=SEEDS)
def test_an_audit_finds_what_the_simulator_finds(wrong: str, seed: int) -> None:
    execution = recovered(seed, wrong)
    cuts = cuts_of(execution, seed)
    lines = lines_of(execution, cuts)
    with TemporaryDirectory() as folder:
        _, verdicts, channels = audited_here(folder_of(Path(folder), execution.table), as_table(lines))
    for name, cut in cuts.items():
        held = {channel: messages for (_, cut_id, channel), messages in channels.items() if cut_id == name}
        if any(own[1] == name for own in lines):
            assert verdicts[0, name] == execution.history.violation(cut)
            assert held == execution.history.in_channels(cut)
    for name in {own.id for own in snapshots_of(execution)} & cuts.keys():
        is_of_the_end = all(row.kind != RESTORE for row in execution.table)  # an audit of a table reads all of it
        for verdict in verdicts_of(execution)[name]:
            if verdict.check == "consistency" and verdict.holds is not None and is_of_the_end:
                assert verdict.holds is (verdicts[0, name] is None)
    if not wrong:  # else a message may be received twice
        assert (verdicts, channels) == by_simulator(execution.table, lines) == by_duckdb(execution.table, lines)


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
