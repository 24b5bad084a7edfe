"""A window of an execution and what is before it: enough to judge every cut through it, as the whole execution does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cuts import one_window
from pipeline.cuts.one_window import FEW, LogWindow, log_window
from pipeline.store.folder import Store
from sim.core.deadline import Deadline, OutOfTime, within
from sim.core.model import SEND, Event, label_of
from sim.document import library
from sim.run.execution import run
from sim.theory.causality import Frontier, History
from tests.pipeline.some_logs import REPEATABLE, events_of, read_log, truths
from tests.pipeline.some_tables import folder_of, numbered

PROCESSES = ("P1", "P2", "P3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("window")


@pytest.fixture(scope="module")
def lecture(folder) -> Store:
    """The lecture's run twice: the second one has run_id 1."""
    execution = run(library.load("lecture"))
    return folder_of(folder / "lecture", numbered([execution, execution]), parts=3)


def names_at(found: LogWindow, frontier: Frontier) -> dict[str, list[str]]:
    """The channels' contents at a cut through the window, derived from the window and the state before it."""
    held = {name: list(own.names) for name, own in found.held.items()}
    for name, rows in found.receipts.items():
        inside = [row for row in rows if (row.index or 0) <= frontier[row.process]]
        held[name] = held[name][len(inside) :]
    own = History(list(found.before), found.rows)
    for name, messages in own.in_channels(frontier).items():
        sends = [own.sends[message] for message in messages]
        held.setdefault(name, []).extend(send.label or label_of(send.process, send.index or 0, None) for send in sends)
    return {name: names for name, names in held.items() if names}


def test_the_lecture_from_the_middle_on(lecture: Store) -> None:
    """When the window begins, B and I are on their way to P2; the window receives B as F."""
    rows = run(library.load("lecture")).events
    first = next(row.row for row in rows if row.label == "F")
    found = log_window(lecture, 1, PROCESSES, first, len(rows))
    assert {name: (own.size, own.names) for name, own in found.held.items()} == {
        "P1->P2": (1, ["B"]), "P3->P2": (1, ["I"]),
    }  # fmt: skip
    assert [row.label for row in found.receipts["P1->P2"]] == ["F"]
    assert sum(found.before.values()) + len(found.rows) == 11


def test_nothing_is_before_the_begin(lecture: Store) -> None:
    found = log_window(lecture, 0, PROCESSES, 0, 1_000)
    assert (found.held, found.receipts, set(found.before.values())) == ({}, {}, {0})
    assert log_window(lecture, 7, PROCESSES, 0, 10).rows == []


def test_an_event_of_which_a_part_lies_outside_is_left_out(folder) -> None:
    """One event of a sends to three others, in three rows."""
    sends = [
        Event(0, row, 1, 1.0, "a", 1, SEND, f"a->{name}", None, row, "tells all", None, None, None, 0)
        for row, name in enumerate("bcd")
    ]
    last = Event(0, 3, 2, 2.0, "a", 2, "internal", None, None, None, "rests", None, None, None, 0)
    store = folder_of(folder / "three", [*sends, last])
    assert [row.row for row in log_window(store, 0, "abcd", 0, 2).rows] == []
    found = log_window(store, 0, "abcd", 1, 1)
    assert (found.rows, found.before["a"], found.held) == ([], 0, {}), "the cut is before it, not in the midst of it"
    found = log_window(store, 0, "abcd", 2, 2)
    assert ([row.label for row in found.rows], found.before["a"]) == (["rests"], 1)
    assert {name: own.names for name, own in found.held.items()} == {f"a->{name}": ["tells all"] for name in "bcd"}


def test_of_many_messages_that_wait_the_first_are_named(folder) -> None:
    sends = [
        Event(0, row, row + 1, 1.0, "a", row + 1, SEND, "a->b", None, row, f"m{row}", None, None, None, 0)
        for row in range(100)
    ]
    found = log_window(folder_of(folder / "many", sends), 0, "ab", 90, 10).held["a->b"]
    assert (found.size, found.names) == (90, [f"m{row}" for row in range(FEW)])


@pytest.mark.slow
@REPEATABLE
@given(truths(hosts=3, events=12), st.data())
def test_every_cut_through_a_window_is_judged_as_by_the_whole_execution(folder: Path, truth, data) -> None:
    """The verdict and the names in every channel; the cut takes in all that is before the window."""
    reading = read_log(folder, truth.log())
    rows = events_of(reading)
    whole = History(reading.processes, rows)
    first = data.draw(st.integers(0, len(rows)))
    found = log_window(folder_of(folder / "own", rows), 0, reading.processes, first, data.draw(st.integers(1, 12)))
    own = History(list(found.before), found.rows)
    frontier = {
        name: data.draw(st.integers(found.before[name], found.before[name] + len(own.of[name]))) for name in own.of
    }
    assert own.violations(frontier) == whole.violations(frontier)
    held = names_at(found, frontier)
    assert held.keys() == whole.in_channels(frontier).keys()
    for name, messages in whole.in_channels(frontier).items():
        assert sorted(held[name]) == sorted(whole.sends[m].label or "" for m in messages)


@pytest.mark.slow
def test_messages_that_wait_are_read_batch_by_batch_and_only_the_first_are_kept(folder, monkeypatch) -> None:
    """Each batch is joined to at most FEW messages of each channel, and begins with a look at the clock."""
    sends = [
        Event(
            0, row, row + 1, 1.0, "a", row + 1, SEND, f"a->{'bc'[row % 2]}", None, row, f"m{row}", None, None, None, 0
        )
        for row in range(100)
    ]
    store = folder_of(folder / "batches", sends, parts=10)
    found: list[int] = []
    first_of_each = one_window._first_of_each
    monkeypatch.setattr(
        one_window, "_first_of_each", lambda *given: found.append(given[0].num_rows) or first_of_each(*given)
    )
    held = log_window(store, 0, "abc", 90, 10).held
    assert {name: own.size for name, own in held.items()} == {"a->b": 45, "a->c": 45}
    assert held["a->c"].names == [f"m{row}" for row in range(1, 2 * FEW, 2)]
    assert max(found) <= 10 + 2 * FEW
    with within(Deadline(0.0)), pytest.raises(OutOfTime):
        log_window(store, 0, "abc", 90, 10)
