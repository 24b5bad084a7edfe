"""The event log of a node: complete lines survive any end of the node."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.node import event_log
from cluster.node.event_log import Entry, EventLog, last_entry, last_epoch, merged, read_log


def entry(clock: int, actor: int = 0, text: str = "") -> Entry:
    return Entry(clock, 0.5, actor, ["turn", text], [], clock, clock)


def write(path: Path, *entries: Entry) -> None:
    log = EventLog(path)
    for own in entries:
        log.append(own)
    log.close()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write(tmp_path / "0.log", entry(1), entry(2, text="ä\n\u2028"))
    assert list(read_log(tmp_path / "0.log")) == [entry(1), entry(2, text="ä\n\u2028")]
    assert last_entry(tmp_path / "0.log") == entry(2, text="ä\n\u2028")


def test_there_may_be_no_line(tmp_path: Path) -> None:
    assert last_entry(tmp_path / "0.log") is None
    write(tmp_path / "0.log")
    assert last_entry(tmp_path / "0.log") is None
    assert merged(tmp_path) == []


@pytest.mark.parametrize("whole", [0, 1, 3])
def test_a_torn_last_line_is_left_out_and_the_log_goes_on(tmp_path: Path, whole: int) -> None:
    path, entries = tmp_path / "0.log", [entry(number + 1) for number in range(whole)]
    write(path, *entries)
    with path.open("ab") as file:
        file.write(b'[7,0.5,0,["tu')
    assert list(read_log(path)) == entries
    assert last_entry(path) == (entries[-1] if entries else None)
    write(path, entry(9))
    assert list(read_log(path)) == [*entries, entry(9)]


@pytest.mark.parametrize("tail", [1, 7, 50, 1 << 20])
@pytest.mark.parametrize("length", [0, 30, 5_000])
def test_the_last_line_may_be_longer_than_what_is_read_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tail: int, length: int
) -> None:
    monkeypatch.setattr(event_log, "_TAIL", tail)
    path, last = tmp_path / "0.log", entry(2, text="x" * length)
    write(path, last)
    assert last_entry(path) == last
    write(path, entry(1, text="y" * length), last)
    assert last_entry(path) == last
    assert len(list(read_log(path))) == 3


def test_logs_are_merged_by_clock_then_by_process(tmp_path: Path) -> None:
    write(tmp_path / "0.log", entry(1, 0), entry(4, 0), entry(5, 0))
    write(tmp_path / "1.log", entry(2, 1), entry(4, 1))
    write(tmp_path / "2.log", entry(2, -1), entry(3, 2))
    found = [(own.clock, own.actor) for own in merged(tmp_path)]
    assert found == [(1, 0), (2, -1), (2, 1), (3, 2), (4, 0), (4, 1), (5, 0)]


def test_a_start_knows_the_epochs_that_the_last_logs_tell_of(tmp_path: Path) -> None:
    assert last_epoch(tmp_path) is None
    for name in ("0.log", "10.log"):
        log = EventLog(tmp_path / name)
        log.append(Entry(1, 0.0, 0, ["recover", None, 7 if name == "0.log" else 1], [], 0, 0))
        log.append(Entry(2, 0.0, 0, ["recover", "S1", 9 if name == "0.log" else 2], [], 0, 0))
        log.append(Entry(3, 0.0, 0, ["turn"], [("P1", 1, "send", None, None, 1, None, ["recover", 3, 4], None)], 0, 0))
        log.close()
    with (tmp_path / "10.log").open("ab") as file:
        file.write(b'[4,0.0,0,["recover",null,5]')  # killed in the middle of a line
    assert last_epoch(tmp_path) == 2, "the last log is the controller's"
