"""Logs whose clocks jump: what ingest says of them, and that the causes decide, not the times."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline import formats
from pipeline.ingest import plan
from pipeline.logs.format import Reading
from sim.core.errors import InputError
from sim.exchange.reconstruct import reconstruct
from sim.run.execution import run
from tests.pipeline.some_logs import events_of

HEAD = "process,kind,message_id,channel,time"
TIMED = {"pattern": r"(?<time>\S+) (?<event>.*)\n(?<host>\S*) (?<clock>{.*})"}


def table(folder: Path, *times: object) -> Reading:
    """An event table in which P1 acts and sends to P2, at these times."""
    rows = zip(("P1,internal,,", "P1,send,1,P1->P2", "P2,receive,1,P1->P2"), times, strict=True)
    path = folder / "some.csv"
    path.write_text("\n".join([HEAD, *(f"{row},{time}" for row, time in rows)]), encoding="utf-8")
    return formats.find("csv").read(plan([path], "csv").pieces[0])


def log(folder: Path, *events: tuple[str, str]) -> Reading:
    """A log with clocks, given as (time, rest of the line with the clock)."""
    path = folder / "some.log"
    path.write_text("".join(f"{time} acts\n{rest}\n" for time, rest in events), encoding="utf-8")
    return formats.find("shiviz").read(plan([path], "shiviz", TIMED).pieces[0])


@pytest.mark.parametrize(
    ("times", "line"),
    [
        ((3600, 60, 70), 3),  # P1's clock is set back by an hour
        ((10, 20, 5), 4),  # P2's clock is behind: it receives before it is sent
        ((1e308, -1e308, 0), 3),
    ],
)
def test_times_that_go_back_are_told_and_not_believed(tmp_path: Path, times: tuple[float, ...], line: int) -> None:
    reading = table(tmp_path, *times)
    (note,) = reading.notes
    assert f"some.csv:{line}: the events are numbered instead" in note
    assert [(event.process, event.kind, event.time) for event in events_of(reading)] == [
        ("P1", "internal", 1.0), ("P1", "send", 2.0), ("P2", "receive", 3.0),
    ]  # fmt: skip
    (of_log,) = log(
        tmp_path, (str(times[0]), 'a {"a": 1}'), (str(times[1]), 'a {"a": 2}'), (str(times[2]), 'b {"b": 1, "a": 2}')
    ).notes[-1:]
    assert "contradict the order of causes, first at " in of_log


@pytest.mark.parametrize("times", [(0, 1e17, 2e17), (-1e17, 0, 1e17), (1.7e9, 1.7e9, 1.9e9)])
def test_times_that_leap_forward_are_kept_and_can_be_opened(tmp_path: Path, times: tuple[float, ...]) -> None:
    reading = table(tmp_path, *times)
    assert reading.notes == [] and [event.time for event in events_of(reading)] == list(times)
    opened = run(reconstruct(events_of(reading), reading.processes, "leap"))
    assert [event.label for event in opened.events] == ["P1.1", "P1.2", "P2.1"]


@pytest.mark.parametrize("time", ["nan", "inf", "-inf", "1e400", "1" * 5_000, "noon"])
def test_times_that_are_none_are_refused_with_their_line(tmp_path: Path, time: str) -> None:
    with pytest.raises(InputError, match=r"some\.csv:3: time is .*; it has to be a number"):
        table(tmp_path, 0, time, 2)
    with pytest.raises(InputError, match=r"some\.log:2: the time .* is no number"):
        log(tmp_path, (time, 'a {"a": 1}'), ("2", 'b {"b": 1, "a": 1}'))


@pytest.mark.parametrize(
    ("clock", "words"),
    [
        ('{"a": 1}', "goes back from 2 to 1"),
        ('{"a": 2}', "stays at 2"),
        ('{"a": 3, "b": 7}', "knows 7 events of 'b'"),
        ('{"a": 3000000000}', "the clock's entry 'a' is 3000000000"),
        ('{"a": 1e400}', "the clock's entry 'a' is inf"),
        ('{"a": ' + "9" * 5_000 + "}", "is no clock"),
        ('{"a": ' + "[" * 5_000 + "}", "is no clock"),
    ],
)
def test_vector_clocks_that_jump_are_refused_with_their_line(tmp_path: Path, clock: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        log(tmp_path, ("0", 'a {"a": 2}'), ("1", f"a {clock}"), ("2", 'b {"b": 1}'))
    assert "some.log:4: " in str(refused.value)


def test_a_vector_clock_that_leaps_forward_has_a_gap(tmp_path: Path) -> None:
    reading = log(tmp_path, ("0", 'a {"a": 1}'), ("1", 'a {"a": 2000000000}'), ("2", 'b {"b": 1}'))
    assert reading.gaps == 1_999_999_998 and not reading.exact
    assert any("1999999998 events that the clocks count are not in the log" in note for note in reading.notes)


def test_a_deep_clock_does_not_end_the_guess_of_the_pattern(tmp_path: Path) -> None:
    path = tmp_path / "some.log"
    path.write_text("x\na {" + '"a":[' * 5_000 + "}\n", encoding="utf-8")
    assert plan([path], "shiviz").pieces
