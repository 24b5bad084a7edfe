"""Windows and event counts of an execution; and the rule of the greatest consistent cut on logs."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cuts import one_execution
from pipeline.store.folder import Store
from pipeline.store.schema import TRACE_TYPES, arrow_schema
from sim.core.model import EVENT_TYPES, Event
from sim.document import library
from sim.run.execution import run
from sim.theory.causality import History, consistent_below
from sim.theory.lattice import lattice
from sim.theory.positions import Order
from tests.pipeline.some_logs import REPEATABLE, events_of, read_log, truths

RUNS = {0: "lecture", 1: "ring", 5: "two_banks"}


def table(run_id: int, events: list[Event]) -> pyarrow.Table:
    return pyarrow.Table.from_pylist([{**e._asdict(), "run_id": run_id} for e in events], arrow_schema(EVENT_TYPES))


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Store:
    """Three runs, whose rows are not in order."""
    made = Store.create(tmp_path_factory.mktemp("traces") / "three", "trace", {})
    for run_id, name in RUNS.items():
        events = run(library.load(name)).events
        made.write_part("events", f"part-{9 - run_id}", table(run_id, events[::-1][::2]))
        made.write_part("events", f"part-{run_id}-b", table(run_id, events[::-1][1::2]))
    row = {"run_id": 0, "name": "lecture", "processes": ["P3", "P1", "P4", "P2"]}
    made.write_part("traces", "traces", pyarrow.Table.from_pylist([row], arrow_schema(TRACE_TYPES)))
    return made


def history(name: str) -> History:
    return run(library.load(name)).history


def test_a_window_is_its_rows_in_order(store: Store) -> None:
    events = run(library.load("ring")).events
    assert one_execution.window(store, 1, 3, 5) == [event._replace(run_id=1) for event in events[3:8]]
    assert one_execution.row_count(store, 1) == len(events)
    assert one_execution.window(store, 1, len(events), 5) == [] == one_execution.window(store, 77, 0, 5)


def test_event_counts_name_every_process_in_the_order_of_the_log(store: Store) -> None:
    lecture = {name: len(own) for name, own in history("lecture").of.items()}
    assert list(one_execution.event_counts(store, 0).items()) == [
        (name, lecture.get(name, 0)) for name in ("P3", "P1", "P4", "P2")
    ]
    assert one_execution.event_counts_before(store, 0, 1) == {"P1": 1}
    assert one_execution.event_counts_before(store, 0, 0) == {}
    banks = {name: len(own) for name, own in history("two_banks").of.items()}
    assert one_execution.event_counts(store, 5) == banks
    assert [row["name"] for row in one_execution.executions(store)] == ["lecture"]


# --------------------------------------------------------------------------- the rule


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("rule")


@REPEATABLE
@given(truths(hosts=3, events=8), st.data())
def test_the_rule_finds_the_biggest_cut_of_the_lattice(folder: Path, truth, data) -> None:
    """Every consistent cut inside the frontier is inside the cut found, which is consistent itself."""
    found = read_log(folder, truth.log())
    whole = History(found.processes, events_of(found))
    frontier = {name: data.draw(st.integers(0, len(own) + 1)) for name, own in whole.of.items()}
    biggest = whole.consistent_below(frontier)
    consistent = lattice(Order(whole.processes, whole.rows, together=lambda event: event.index))
    assert tuple(biggest.values()) in consistent
    inside = [cut for cut in consistent if all(n <= limit for n, limit in zip(cut, frontier.values(), strict=True))]
    for cut in inside:
        assert all(n <= most for n, most in zip(cut, biggest.values(), strict=True))


def test_a_receipt_takes_with_it_what_depends_on_it() -> None:
    receipts = [("b", 1, "a", 2), ("c", 3, "b", 1), ("c", 9, "b", 9), ("a", 3, "c", 2)]
    assert consistent_below({"a": 1, "b": 4, "c": 5}, receipts) == {"a": 1, "b": 0, "c": 2}
    assert consistent_below({"a": 3, "b": 4, "c": 5}, receipts) == {"a": 3, "b": 4, "c": 5}
