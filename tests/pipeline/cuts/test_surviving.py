"""Recoveries in event tables, cell by cell: cuts see what is left of a run, and where messages are lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from pipeline.cuts.snapshot_cuts import OfSnapshots
from pipeline.store.folder import Store
from sim.core.model import Event
from tests.pipeline.cuts.here import audited_here
from tests.pipeline.cuts.random_tables import as_table
from tests.pipeline.some_tables import folder_of
from tests.sim.tools import row_of


def row(number: int, epoch: int, process: str, index: int | None, kind: str, **more: Any) -> Event:
    return row_of(number, process, index, kind, **more)._replace(epoch=epoch)


# P1 sends 0. P2 receives it and sends 1; P1 receives that and sends 2. P2 crashes: P1 goes back to its first event, P2
# to none. What was in the channel is put back: P2 receives 0 again, as its third event. 2 comes too late: it is fenced.
RECOVERED = [
    row(0, 0, "P1", 1, "send", channel="P1->P2", message=0, peer_index=3),
    row(1, 0, "P2", 1, "receive", channel="P1->P2", message=0, peer_index=1),
    row(2, 0, "P2", 2, "send", channel="P2->P1", message=1),
    row(3, 0, "P1", 2, "receive", channel="P2->P1", message=1, peer_index=2),
    row(4, 0, "P1", 3, "send", channel="P1->P2", message=2),
    row(5, 1, "P1", 1, "restore"),
    row(6, 1, "P2", 0, "restore"),
    row(7, 1, "P2", None, "fenced", channel="P1->P2", message=2),
    row(8, 1, "P2", 3, "receive", channel="P1->P2", message=0, peer_index=1),
    row(9, 1, "P2", 4, "send", channel="P2->P1", message=3),
]
Found = tuple[int | None, dict[str, list[int]]]


def judged(store: Store, **cut: int) -> Found:
    """The witness, and what the channels hold."""
    _, verdicts, channels = audited_here(store, as_table([(0, "c", name, count) for name, count in cut.items()]))
    return verdicts[0, "c"], {channel: messages for (_, _, channel), messages in channels.items()}


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (1, 0, (None, {"P1->P2": [0]})),
        (3, 2, (None, {"P1->P2": [0]})),  # no other event of these is left
        (1, 3, (None, {})),
        (0, 3, (0, {})),
        (9, 9, (None, {"P2->P1": [3]})),  # 2 is fenced, 1 was sent in a future that is gone
    ],
)
def test_a_cut_sees_the_surviving_line(one: int, other: int, found: Found, tmp_path: Path) -> None:
    assert judged(folder_of(tmp_path, RECOVERED), P1=one, P2=other) == found


def test_a_receipt_that_is_gone_is_none_whatever_peer_index_says(tmp_path: Path) -> None:
    stale = [RECOVERED[0]._replace(peer_index=1), *RECOVERED[1:8], RECOVERED[9]]
    assert judged(folder_of(tmp_path, stale), P1=1, P2=3) == (None, {"P1->P2": [0]})


def test_a_process_that_is_not_restored_keeps_its_events(tmp_path: Path) -> None:
    """P1's third event stays: message 2, which is fenced. It has received message 1, whose send is gone."""
    store = folder_of(tmp_path, [one for one in RECOVERED if (one.process, one.kind) != ("P1", "restore")])
    assert judged(store, P1=3, P2=0) == (1, {"P1->P2": [0]})
    assert judged(store, P1=1, P2=1) == (None, {"P1->P2": [0]})
    assert judged(store, P1=2, P2=1) == (1, {"P1->P2": [0]})


def test_without_the_column_epoch_nothing_is_gone(tmp_path: Path) -> None:
    table = parquet.read_table(folder_of(tmp_path / "whole", RECOVERED).path / "events")
    store = Store(tmp_path)
    store.write_part("events", "all", table.drop_columns(["epoch"]))
    assert judged(store, P1=1, P2=2) == (None, {"P1->P2": [0], "P2->P1": [1]})
    assert judged(store, P1=3, P2=2) == (None, {"P1->P2": [0]})  # 2 is fenced all the same


def test_a_second_recovery_goes_back_behind_the_first(tmp_path: Path) -> None:
    again = [*RECOVERED, row(10, 2, "P2", 0, "restore"), row(11, 2, "P2", 5, "receive", channel="P1->P2", message=0)]
    store = folder_of(tmp_path, [again[0]._replace(peer_index=5), *again[1:]])
    assert judged(store, P1=1, P2=4) == (None, {"P1->P2": [0]})
    assert judged(store, P1=9, P2=9) == (None, {})


def test_a_message_is_in_its_channel_until_it_is_lost_as_it_comes_unless_it_comes_after_all(tmp_path: Path) -> None:
    lost = [
        row_of(0, "A", 1, "send", "A->B", 0), row_of(1, "A", 2, "send", "A->B", 1, peer_index=2),
        row_of(2, "A", 3, "send", "A->B", 2), row_of(3, "B", 1, "internal"), row_of(4, "B", None, "lost", "A->B", 0),
        row_of(5, "B", None, "lost", "A->B", 1), row_of(6, "B", 2, "receive", "A->B", 1, peer_index=2),
        row_of(7, "A", None, "lost", "A->B", 2),
    ]  # fmt: skip
    store = folder_of(tmp_path, lost)
    assert judged(store, A=3) == (None, {"A->B": [0, 1, 2]})
    assert judged(store, A=3, B=1) == (None, {"A->B": [1, 2]}), "2 is lost on its way: a cut cannot tell when"
    assert judged(store, A=0, B=1) == (None, {}), "0 may be lost right behind the cut"
    assert judged(store, A=0, B=2) == (0, {}), "but not behind what comes after it"


def test_a_cut_that_lies_before_a_row_knows_what_is_lost_before_it(tmp_path: Path) -> None:
    lost = [
        row_of(0, "A", 1, "send", "A->B", 0), row_of(1, "A", 2, "send", "A->B", 1),
        row_of(2, "B", None, "lost", "A->B", 0), row_of(3, "B", 0, "record", snapshot_id="S"),
        row_of(4, "B", None, "lost", "A->B", 1), row_of(5, "A", 2, "record", snapshot_id="S"),
    ]  # fmt: skip
    _, verdicts, channels = audited_here(folder_of(tmp_path, lost), OfSnapshots())
    assert verdicts == {(0, "S"): None}
    assert channels == {(0, "S", "A->B"): [1]}
