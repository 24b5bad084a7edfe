"""The tasks of an audit: they follow the row groups of the runs that have cuts, and none reads a group in vain."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest

from pipeline.cuts import tasks
from pipeline.cuts.cut_lines import slices_of
from pipeline.cuts.event_columns import DECIDE, HIGHEST, LOWEST, RowGroup, row_groups
from pipeline.cuts.random_cuts import AtRandom
from pipeline.cuts.tasks import drawn_tasks_of, tasks_of
from pipeline.store.folder import Store
from pipeline.store.local_folder import LocalFolder
from pipeline.store.tables import Replacement
from sim.core.errors import InputError
from tests.pipeline.cuts.here import audited_here
from tests.pipeline.cuts.random_tables import as_table
from tests.pipeline.some_tables import folder_of
from tests.sim.tools import row_of


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "MOST_ROWS", 4_000_000)


def cuts_of(*runs: int):
    (found,) = slices_of(as_table([(run, f"{cut}", "A", 1) for run in runs for cut in range(3)]))
    return found


def groups(*ranges: tuple[int, int]) -> list[RowGroup]:
    place = LocalFolder(Path("nowhere"))
    return [RowGroup("part", number, 1_000_000, *ends, place) for number, ends in enumerate(ranges)]


def test_tasks_have_whole_row_groups_of_four_million_rows() -> None:
    ranges = [(first, first + 9) for first in range(0, 80, 10)]
    found = tasks_of(cuts_of(*range(80)), groups(*ranges), {})
    assert [[group.number for group in task.groups] for task in found] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [task.cuts.runs.tolist() for task in found] == [[*range(40)], [*range(40, 80)]]
    drawn = drawn_tasks_of(AtRandom(1, 0), groups(*ranges), {})
    assert [(task.first, task.last) for task in drawn] == [(LOWEST, 39), (40, HIGHEST)]


def test_only_row_groups_whose_runs_have_cuts_are_read() -> None:
    (found,) = tasks_of(cuts_of(15, 72), groups(*[(first, first + 9) for first in range(0, 80, 10)]), {})
    assert [group.number for group in found.groups] == [1, 7]


def test_a_run_that_goes_on_in_the_next_group_is_read_whole() -> None:
    found = tasks_of(cuts_of(*range(81)), groups(*[(first, first + 10) for first in range(0, 80, 10)]), {})
    assert [[group.number for group in task.groups] for task in found] == [[0, 1, 2, 3], [3, 4, 5, 6, 7]]
    assert [task.cuts.runs.tolist() for task in found] == [[*range(40)], [*range(40, 81)]]


def test_a_table_that_is_not_sorted_is_read_once() -> None:
    (found,) = tasks_of(cuts_of(*range(80)), groups(*[(0, 79)] * 8), {})
    assert len(found.groups) == 8


def test_a_run_of_very_many_cuts_becomes_several_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "MOST_LINES", 2)
    found = tasks_of(cuts_of(5), groups((0, 9)), {})
    assert [task.cuts.name(0)[1] for task in found] == ["0", "1"]
    assert [task.cuts.begin for task in found] == [0, 1]


def test_a_run_without_a_row_group_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="the cuts name run 55, which has no events"):
        tasks_of(cuts_of(5, 55), groups((0, 9), (60, 69)), {})


def test_a_table_that_is_not_sorted_is_noticed(tmp_path: Path) -> None:
    one, other = (
        [row_of(number, "A", number + 1, "internal")._replace(run_id=run) for number in (0, 1)] for run in (0, 1)
    )
    for name, rows, is_sorted in (
        ("a", one + other, True),
        ("b", other + one, False),
        ("c", [one[0], *other, one[1]], False),
    ):
        (told,), verdicts, _ = audited_here(
            folder_of(tmp_path / name, rows), as_table([(0, "c", "A", 1), (1, "c", "A", 1)])
        )
        assert told["is_sorted"] == is_sorted
        assert verdicts == {(0, "c"): None, (1, "c"): None}
    parts = folder_of(tmp_path / "d", other)
    parts.write_part("events", "part-z", folder_of(tmp_path / "e", one).rows("events").to_table())
    assert audited_here(parts, AtRandom(1, 0))[0][0]["is_sorted"]  # the order of the parts does not count


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda table: table.drop_columns(["channel"]), "has no column 'channel'; this needs run_id, process, index"),
        (
            lambda table: table.set_column(0, "run_id", pyarrow.array(["0"])),
            "column 'run_id' is string; it has to be int64",
        ),
    ],
)
def test_events_that_lack_what_decides(change, sentence: str, tmp_path: Path) -> None:
    good = folder_of(tmp_path / "good", [row_of(0, "A", 1, "internal")]).rows("events").to_table()
    store = Store(tmp_path)
    store.write_part("events", "all", change(good))
    with pytest.raises(InputError, match=sentence):
        row_groups(store, DECIDE)


@pytest.mark.parametrize("column", ["channel", "index", "message_id", "process"])
def test_a_send_that_lacks_what_decides(column: str, tmp_path: Path) -> None:
    send = row_of(0, "A", 1, "send", "A->B", 0)._replace(**{column: None})
    told = audited_problem(folder_of(tmp_path, [send]))
    assert told == f"the events of run 0 have a send without {column}; give it, or leave the send out"


def audited_problem(store: Store) -> str:
    from pipeline.cuts.judging import judge

    found = tasks_of(cuts_of(0), row_groups(store, DECIDE), {})
    new = Replacement(store.place, ("audits", "channels"), "g00000000")
    (told,) = judge(new, found, iter([pyarrow.record_batch({"id": [0]})]))
    return told.to_pylist()[0]["problem"]
