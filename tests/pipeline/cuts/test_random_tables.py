"""Twelve random tables with every oddity: the audit, the reference and DuckDB agree on all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.cuts import crossings, cut_lines, event_columns, judging, tasks
from pipeline.cuts.audits import audit
from tests.pipeline.cuts.here import audited_here, tables_of
from tests.pipeline.cuts.oracles import by_duckdb, by_reference, unmarked, unordered
from tests.pipeline.cuts.random_tables import RUNS, as_table, random_cuts, random_table, surviving, write_table
from tests.tools import count_of_examples

pytestmark = pytest.mark.slow

SEEDS = range(12)


def test_the_workers_the_reference_and_duckdb_agree(workers_here: Any, tmp_path: Path) -> None:
    for seed in range(count_of_examples(len(SEEDS) // 2)):
        rows = random_table(seed)
        lines = random_cuts(rows, seed)
        store = write_table(tmp_path / str(seed), rows, seed)
        outcome = audit(workers_here, store, as_table(lines))
        found = verdicts, channels = tables_of(store)
        inconsistent = [(*key, witness) for key, witness in verdicts.items() if witness is not None]
        held = sum(map(len, channels.values()))
        assert outcome[:4] == (len(verdicts), len(inconsistent), held, min(inconsistent, default=None)), seed
        assert unordered(found) == by_reference(rows, lines), seed
        plain = unmarked(rows)
        joined = by_duckdb([r for r in rows if r.run_id in plain], [line for line in lines if line[0] in plain])
        assert joined == tuple({key: own for key, own in part.items() if key[0] in plain} for part in found), seed


@pytest.mark.parametrize("few", [0, pytest.param(1, marks=pytest.mark.long("random tables under limits of one row"))])
def test_small_limits_change_nothing(few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many tasks, halved again and again; every channel looked at only where a cut can cross; cuts in slices."""
    for module, limit, value in (
        (crossings, "FEW", few), (crossings, "MOST_HELD", 5), (crossings, "MOST_PAIRS", 7),
        (judging, "MOST_CELLS", 30), (tasks, "MOST_ROWS", 50), (tasks, "MOST_LINES", 30), (cut_lines, "MOST_LINES", 60),
        (event_columns, "BATCH", 20),
    ):  # fmt: skip
        monkeypatch.setattr(module, limit, value)
    for seed in range(20 + few, 24, 2):
        rows = random_table(seed)
        lines = random_cuts(rows, seed, most=5)
        _, *found = audited_here(write_table(tmp_path / str(seed), rows, seed), as_table(lines))
        assert unordered(tuple(found)) == by_reference(rows, lines), seed


@pytest.mark.parametrize("few", [0, 10**6])
def test_many_cuts_of_a_run_in_both_ways(few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossings, "FEW", few)
    rows = [row for row in random_table(3) if row.run_id == 1]
    lines = random_cuts(rows, 4, most=300)
    _, *found = audited_here(write_table(tmp_path, rows, 3), as_table(lines))
    assert unordered(tuple(found)) == by_reference(rows, lines)


def test_the_tables_have_every_oddity() -> None:
    tables = [random_table(seed) for seed in SEEDS]
    rows = [row for table in tables for row in table]
    assert {"lost", "fenced", "restore", "internal", "record"} <= {row.kind for row in rows}
    gone = 0
    for table in tables:
        for run_id in RUNS:
            own = [row for row in table if row.run_id == run_id]
            gone += sum(row.kind in ("send", "receive") for row in own)
            gone -= sum(row.kind in ("send", "receive") for row in surviving(own))
    assert gone > 100
