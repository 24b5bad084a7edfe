"""Audits of the tables of runs that were rolled back, as they are exported: what the simulator says, the audit says."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given

from pipeline.cuts import audits
from sim.core.model import RECORD, RESTORE
from sim.document.scenario import Scenario
from sim.run.execution import Execution, run
from sim.run.snapshots import COMPLETE, snapshots_of
from sim.theory.surviving import GONE
from tests.pipeline.cuts.here import audited_here, tables_of
from tests.pipeline.cuts.random_tables import as_table
from tests.pipeline.some_tables import folder_of
from tests.sim.recovering import banks, dataflows
from tests.tools import drawn, examples


class Wanted(NamedTuple):
    """What an audit has to find: the cuts, as lines (run, cut, process, index), and what the snapshots recorded."""

    cuts: list[tuple[int, str, str, int]]
    channels: dict[tuple[int, str, str], list[int]]
    snapshots: int
    of_later_lives: int


def wanted(executions: Iterable[Execution]) -> Wanted:
    """The complete snapshots of the surviving lines, with the indices of the exported tables."""
    found = Wanted([], {}, 0, 0)
    for number, execution in enumerate(executions):
        began = min((row.step for row in execution.table if row.kind == RESTORE), default=execution.steps)
        for own in snapshots_of(execution):
            if own.status != COMPLETE or any(inside > GONE for inside in own.frontier.values()):
                continue
            found = found._replace(
                snapshots=found.snapshots + 1, of_later_lives=found.of_later_lives + ((own.began or 0) > began)
            )
            rows = [row for row in execution.table if row.kind == RECORD and row.snapshot_id == own.id]
            lines = {row.process: row.index or 0 for row in rows}  # the last recording of each process counts
            found.cuts.extend((number, own.id, process, index) for process, index in lines.items())
            kept = {name: [message.id for message in messages] for name, messages in own.channels.items() if messages}
            found.channels.update({(number, own.id, name): ids for name, ids in kept.items()})
    return found


@pytest.mark.slow
@examples(12)
@given(scenario=dataflows() | banks())
def test_every_snapshot_of_the_surviving_line_is_consistent_and_its_channels_are_those_recorded(
    scenario: Scenario, tmp_path_factory: pytest.TempPathFactory
) -> None:
    execution = run(scenario)
    own = wanted([execution])
    if own.snapshots:
        store = folder_of(tmp_path_factory.mktemp("data"), execution.table)
        _, verdicts, channels = audited_here(store, as_table(own.cuts))
        assert len(verdicts) == own.snapshots and set(verdicts.values()) == {None}
        assert channels == own.channels


@pytest.mark.slow
def test_the_audit_of_many_runs_says_the_same(workers_here: Any, tmp_path: Path) -> None:
    """Of many runs at once. `of_later_lives`: snapshots that began after a recovery."""
    executions = [run(scenario) for scenario in (*drawn(dataflows(), 25), *drawn(banks(), 25))]
    own = wanted(executions)
    rows = [row._replace(run_id=number) for number, execution in enumerate(executions) for row in execution.table]
    store = folder_of(tmp_path, rows, parts=3)
    outcome = audits.audit(workers_here, store, as_table(own.cuts))
    verdicts, channels = tables_of(store)
    assert (outcome.cuts, outcome.inconsistent) == (own.snapshots, 0)
    assert set(verdicts.values()) == {None} and channels == own.channels
    assert own.snapshots > 40 and own.of_later_lives > 10 and len(channels) > 20


@pytest.mark.slow
def test_a_cut_that_a_recovery_broke_is_found(tmp_path: Path) -> None:
    """Without the rows of the restores all that was taken back is still there: some cut of a later life is wrong."""
    found = []
    for scenario in drawn(banks(), 30):
        execution = run(scenario)
        own = wanted([execution])
        if own.of_later_lives:
            table = [row for row in execution.table if row.kind != RESTORE]
            store = folder_of(tmp_path / f"run-{len(found)}", table)
            _, verdicts, channels = audited_here(store, as_table(own.cuts))
            found.append(channels != own.channels or set(verdicts.values()) != {None})
    assert sum(found) > 3
