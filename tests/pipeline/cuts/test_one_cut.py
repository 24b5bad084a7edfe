"""The report on one cut, in memory and by Spark: the same."""

from __future__ import annotations

import itertools

import pyarrow
import pytest

from pipeline.cuts import one_execution
from pipeline.cuts.one_cut import report_in_memory, report_on_cut
from pipeline.store.folder import Store
from pipeline.store.schema import TRACE_TYPES, arrow_schema
from sim.document import library
from sim.run.execution import run
from sim.theory.causality import History
from tests.pipeline.some_tables import folder_of, numbered

PROCESSES = ["P1", "P2", "P3"]


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Store:
    made = folder_of(tmp_path_factory.mktemp("cut") / "lecture", numbered([run(library.load("lecture"))]), parts=3)
    row = {"run_id": 0, "name": "lecture", "processes": PROCESSES, "exact": True, "unknown_channels": ["P3->P2"]}
    made.write_part("traces", "traces", pyarrow.Table.from_pylist([row], arrow_schema(TRACE_TYPES)))
    return made


@pytest.fixture(scope="module")
def history(store) -> History:
    return History(PROCESSES, one_execution.window(store, 0, 0, one_execution.row_count(store, 0)))


def test_both_say_the_same_of_any_cut(spark, store, history):
    (trace,) = one_execution.executions(store)
    for inside in itertools.product((1, 3), repeat=3):
        cut = dict(zip(PROCESSES, inside, strict=True))
        assert report_in_memory(history, cut, trace) == report_on_cut(spark, store, 0, cut)


def test_a_message_that_violates_the_cut_and_the_messages_in_channels_are_named(store, history):
    (trace,) = one_execution.executions(store)
    found = report_in_memory(history, {"P1": 1, "P2": 3, "P3": 3}, trace)
    assert not found.consistent
    assert found.witness == "B on C12"
    assert report_in_memory(history, {"P1": 2, "P2": 0, "P3": 0}, trace).in_channels == {"P1->P2": ["B"]}
