"""Cuts drawn at random: within the run, the same each time, and many of both kinds."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import parquet

from pipeline.cuts import random_cuts
from pipeline.cuts.cut_lines import Cuts
from pipeline.cuts.event_columns import DECIDE, HIGHEST, LOWEST, row_groups
from pipeline.cuts.random_cuts import AtRandom, drawn
from pipeline.store.folder import Store
from sim.document import library
from sim.run.execution import Execution, run
from tests.bundled import small
from tests.pipeline.cuts.here import audited_here
from tests.pipeline.cuts.random_tables import Line, frontiers
from tests.pipeline.some_tables import folder_of, numbered


@pytest.fixture(scope="module")
def executions() -> list[Execution]:
    return [run(library.load(name)) for name in small()]


def lines_of(cuts: Cuts) -> list[Line]:
    return [
        (*cuts.name(cut), cuts.names[cuts.processes[line]], int(cuts.indices[line]))
        for cut in range(cuts.size)
        for line in range(cuts.starts[cut], cuts.starts[cut + 1])
    ]


def lines_in(store: Store, wanted: AtRandom) -> list[Line]:
    found = drawn(row_groups(store, DECIDE), LOWEST, HIGHEST, wanted)
    return [line for cuts in found for line in lines_of(cuts)]


def test_they_are_the_same_each_time_and_within_the_run(executions, tmp_path: Path) -> None:
    store = folder_of(tmp_path, numbered(executions))
    lines = lines_in(store, AtRandom(30, 1))
    assert lines == lines_in(store, AtRandom(30, 1)) != lines_in(store, AtRandom(30, 2))
    found = frontiers(lines)
    for number, execution in enumerate(executions):
        for name, own in execution.history.of.items():
            drawn_ends = [found[number, f"random-{place}"][name] for place in range(1, 31)]
            last = max((row.index or 0 for row in execution.table if row.process == name), default=0)
            assert all(0 <= end <= last for end in drawn_ends)
            assert len(set(drawn_ends)) > 1 or not own


@pytest.mark.slow
def test_how_the_table_is_stored_changes_nothing(executions, tmp_path: Path, monkeypatch) -> None:
    """In parts; rows without numbers; shuffled rows with numbers; some runs at a time."""
    rows = numbered(executions)
    lines = lines_in(folder_of(tmp_path / "one", rows), AtRandom(5, 1))
    assert lines_in(folder_of(tmp_path / "parts", rows, parts=7), AtRandom(5, 1)) == lines
    assert (
        lines_in(folder_of(tmp_path / "shuffled", sorted(rows, key=lambda row: hash(row.row))), AtRandom(5, 1)) == lines
    )
    few = Store(tmp_path / "few")
    few.path.mkdir()
    table = parquet.read_table(tmp_path / "one" / "events").drop_columns(["row"])
    few.write_part("events", "all", table)
    assert lines_in(few, AtRandom(5, 1)) == lines
    monkeypatch.setattr(random_cuts, "MOST_LINES", 40)
    assert lines_in(few, AtRandom(5, 1)) == lines


def test_many_are_consistent_and_many_are_not(executions, tmp_path: Path) -> None:
    """In the bundled scenarios 6 of 10, as --help says.

    Of runs that are rolled back little is left to cut, and without messages every cut is consistent.
    """
    executions = [own for own in executions if own.history.sends and not own.engine.has_epochs]
    store = folder_of(tmp_path, numbered(executions))
    _, verdicts, _ = audited_here(store, AtRandom(200, 0))
    assert round(sum(witness is None for witness in verdicts.values()) / len(verdicts), 1) == 0.6
    for number in range(len(executions)):
        own = [witness is None for (run_id, _), witness in verdicts.items() if run_id == number]
        assert len(own) // 5 < sum(own) < len(own) * 9 // 10


def test_without_jitter_all_are_consistent(executions, tmp_path: Path, monkeypatch) -> None:
    """Except if a process has received a message whose send a recovery has taken back."""
    monkeypatch.setattr(random_cuts, "JITTER", 0)
    _, verdicts, _ = audited_here(folder_of(tmp_path, numbered(executions)), AtRandom(50, 0))
    wrong = {executions[number].scenario.name for (number, _), witness in verdicts.items() if witness is not None}
    assert wrong == {"recovery_of_one", "recovery_tutorial", "recovery_without_fence"}
