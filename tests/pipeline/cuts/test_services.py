"""Control messages and services in event tables: a service is no process, and in no cut."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.cuts.cut_sources import from_snapshots
from pipeline.cuts.event_columns import DECIDE, HIGHEST, LOWEST, row_groups
from pipeline.cuts.random_cuts import AtRandom, drawn
from pipeline.logs.foreign_table import read_table
from sim.core.delays import HOLD
from sim.core.model import CONTROL, EVENT_TYPES, MessageReference
from sim.run.execution import run
from tests.pipeline.some_tables import folder_of
from tests.sim.conftest import Register, register
from tests.sim.rule_books import Commanded, two
from tests.sim.tools import start, system

__all__ = ["register"]  # a fixture


def columns_of(scenario: Any) -> dict[str, list[Any]]:
    return {name: list(cells) for name, cells in zip(EVENT_TYPES, zip(*run(scenario).events, strict=True), strict=True)}


@pytest.fixture
def commanded(register: Register) -> Any:
    return two(register(Commanded), snapshots=(start("boss", 2),))


def test_a_table_with_a_service_can_be_read_and_the_service_is_no_process(commanded: Any) -> None:
    columns = columns_of(commanded)
    assert "boss" in columns["process"]
    reading = read_table(columns, lambda row: f"row {row}")
    assert sorted(reading.processes) == ["P1", "P2"]
    assert reading.events.column("epoch").to_pylist() == [0] * reading.events.num_rows


def test_no_cut_names_a_service(spark: Any, commanded: Any, tmp_path: Any) -> None:
    store = folder_of(tmp_path, run(commanded).events)
    (cuts,) = drawn(row_groups(store, DECIDE), LOWEST, HIGHEST, AtRandom(3, 0))
    assert [cuts.names[name] for name in cuts.processes] == ["P1", "P2"] * 3
    found = from_snapshots(store.read(spark, "events"))
    assert ({row.process for row in found.cuts.collect()}, found.left_out) == ({"P1", "P2"}, 0)


def test_a_process_that_only_a_count_is_on_its_way_to_keeps_its_snapshot_from_being_a_cut(
    spark: Any, tmp_path: Any
) -> None:
    scenario = system(
        "P1 P2 P3", "P1->P2 P1->P3 P2->P1", algorithm="lai_yang", snapshots=(start("P1", 1),),
        delays={MessageReference(None, "P1->P3", CONTROL, "S1"): HOLD},
    )  # fmt: skip
    found = from_snapshots(folder_of(tmp_path, run(scenario).events).read(spark, "events"))
    assert (found.cuts.count(), found.left_out) == (0, 1)
