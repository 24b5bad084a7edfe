"""The costs of snapshots as measures of a run: worked out by hand, and only where they are asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.ensembles.chunks import carry_out, measured, plan_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.measure import measure
from pipeline.ensembles.run_costs import with_costs
from pipeline.store.folder import Store
from pipeline.store.schema import COSTS, MEASURES, RUN_TYPES
from sim.core.errors import InputError
from sim.document import library
from sim.document.files import parse_toml
from sim.run.execution import run
from tests.pipeline.some_ensembles import rows

# P1 starts at 5. Its marker reaches P2 at 9, so the message sent at 6, due at 7, waits behind it until 9. The marker of
# P2 reaches P1 at 13. P1 has recorded 93 (two bytes), P2 107 (three).
BY_HAND = """
processes = 2
workload = { kind = "bank", balance = 100 }
delay = { kind = "fixed", value = 1 }
marker_delay = { kind = "fixed", value = 4 }
script = [{ process = "P1", at = 1, to = "P2", body = 7 }, { process = "P1", at = 6, to = "P2", body = 10 }]
snapshots = [{ id = "S1", process = "P1", at = 5 }]
"""


def costs(text: str) -> dict[str, object]:
    execution = run(parse_toml(text, "by_hand"))
    (row,) = with_costs(execution, measure(execution))
    return {name: row.get(name) for name in (*COSTS, "consistent_cut")}


def test_the_costs_of_a_snapshot_worked_out_by_hand() -> None:
    assert costs(BY_HAND) == {
        "end_to_end": 8.0, "start_delay": 4.0, "alignment": 8.0, "blocked_time": 0, "processed_bytes": 0,
        "control_messages": 0, "control_bytes": 4, "stamp_bytes": 0, "copied_pages": None, "state_bytes": 5,
        "delayed": 1.0, "delayed_most": 2.0, "delayed_messages": 1, "consistent_cut": True,
    }  # fmt: skip


def test_a_marker_as_fast_as_messages_delays_none_of_them() -> None:
    found = costs(BY_HAND.replace('marker_delay = { kind = "fixed", value = 4 }\n', ""))
    assert (found["delayed"], found["delayed_most"], found["delayed_messages"]) == (0.0, 0.0, 0)


def test_pages_that_were_copied_are_counted_where_the_algorithm_tells_of_them() -> None:
    execution = run(library.load("copy_on_write"))
    (row,) = with_costs(execution, measure(execution))
    assert row["copied_pages"] == 3, "as its story says"


def test_copies_that_nobody_coordinates_need_not_be_a_consistent_cut() -> None:
    """P1 copies at 0 and sends at 1; P2 receives that at 2, and copies at 3."""
    text = BY_HAND.replace("processes = 2", 'processes = 2\nalgorithm = { kind = "copy_on_write" }')
    late = """snapshots = [{ id = "S1", process = "P1", at = 0 }, { id = "S1", process = "P2", at = 3 }]"""
    head = text.rpartition("snapshots")[0]
    assert costs(head + late)["consistent_cut"] is False
    assert costs(head + late.replace("at = 3", "at = 0"))["consistent_cut"] is True


def test_a_run_without_snapshots_has_only_what_belongs_to_the_run() -> None:
    execution = run(parse_toml(BY_HAND.rpartition("snapshots")[0], "none"))
    (row,) = with_costs(execution, measure(execution))
    assert {name for name in (*COSTS, "consistent_cut") if row.get(name) is not None} == {
        "delayed", "delayed_most", "delayed_messages", "stamp_bytes",
    }  # fmt: skip


def test_where_nobody_can_compare_nothing_is_said_of_delays() -> None:
    execution = run(library.load("recovery"))
    assert all("delayed" not in row for row in with_costs(execution, measure(execution)))


GIVEN = {"workload": "bank", "processes": "3", "runs": "2", "events": "none"}


@pytest.mark.slow
def test_costs_are_measured_only_where_the_grid_asks(tmp_path: Path) -> None:
    for name, more in (("plain", {}), ("asked", {"costs": "yes"})):
        grid = Grid.read({**GIVEN, **more})
        store = Store.create(tmp_path / name, "ensemble", grid.to_json())
        plan = plan_of(store, grid)
        carry_out(plan, 0)
        found = rows(store, "runs")
        assert {row["engine"] for row in found} <= ({"python"} if more else {"python", "numba"})
        assert (plan.by_numba, plan.costs) == (not more, bool(more))
        measured_ones = {name for name in COSTS if any(row[name] is not None for row in found)}
        assert measured_ones == ({*COSTS} - {"copied_pages"} if more else set())


def test_a_plan_that_keeps_nothing_gives_the_same_rows() -> None:
    grid = Grid.read({**GIVEN, "costs": "yes"})
    (row,), _ = measured(plan_of(None, grid), 1)
    assert row["end_to_end"] >= row["latency"] > 0
    assert row.keys() <= RUN_TYPES.keys()


def test_costs_are_yes_or_no_and_part_of_the_manifest() -> None:
    grid = Grid.read({**GIVEN, "costs": "yes"})
    assert Grid.from_json(json.loads(json.dumps(grid.to_json()))).costs == "yes"
    assert Grid.read(GIVEN).costs == "no"
    for wrong in ("maybe", "yes,no"):
        with pytest.raises(InputError, match="--costs: "):
            Grid.read({**GIVEN, "costs": wrong})
    with pytest.raises(InputError, match="no grid"):
        Grid.from_json({**json.loads(json.dumps(grid.to_json())), "costs": "maybe"})


def test_every_cost_is_summed_up() -> None:
    assert set(COSTS) < set(MEASURES) and set(COSTS) < set(RUN_TYPES)
