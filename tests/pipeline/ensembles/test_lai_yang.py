"""An ensemble of Lai-Yang on channels that are not FIFO: no check fails, and every snapshot completes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.measure import measure
from sim.run.execution import run

GRID = {
    "workload": "bank", "algorithm": "lai_yang", "fifo": "no", "processes": "3,5", "topology": "ring,complete",
    "delay": "exponential:6", "snapshots": "2", "runs": "20",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("cell", cells_of(Grid.read(GRID)), ids=lambda cell: cell.scenario.title)
def test_eighty_random_runs_without_fifo_have_no_failure(cell) -> None:
    """Counts of messages decide completion; with stamps alone, a quarter of the snapshots never completed."""
    rows = [row for seed in range(20) for row in measure(run(replace(cell.scenario, seed=seed)))]
    assert len(rows) == 40 and not any(row["failed"] for row in rows)
    assert {row["status"] for row in rows} == {"complete"}
    asked = {row[check] for row in rows for check in ("completion", "consistency", "channel_states", "conservation")}
    assert asked == {True} and {row["one_marker"] for row in rows} == {None}
    assert sum(row["recorded_messages"] for row in rows) > 0
