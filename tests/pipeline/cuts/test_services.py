"""Control messages and services in event tables: a service is no process, and in no cut."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.cuts.event_columns import DECIDE, HIGHEST, LOWEST, row_groups
from pipeline.cuts.random_cuts import AtRandom, drawn
from pipeline.logs.foreign_table import read_table
from sim.core.model import EVENT_TYPES
from sim.run.execution import run
from tests.pipeline.some_tables import folder_of
from tests.sim.conftest import Register, register
from tests.sim.rule_books import Commanded, two
from tests.sim.tools import start

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


def test_no_cut_that_is_drawn_names_a_service(commanded: Any, tmp_path: Any) -> None:
    store = folder_of(tmp_path, run(commanded).events)
    (cuts,) = drawn(row_groups(store, DECIDE), LOWEST, HIGHEST, AtRandom(3, 0))
    assert [cuts.names[name] for name in cuts.processes] == ["P1", "P2"] * 3
