"""The cells of a grid: every combination of its values is a scenario."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from pipeline.compiled.listed import is_listed
from pipeline.ensembles import cells
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.measure import describe
from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.algorithm import ALGORITHMS
from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS
from sim.core.workload import WORKLOADS, Workload
from sim.document import library
from sim.document.fault_rates import FaultRates
from sim.document.files import parse_toml
from sim.run.execution import run
from tests.scenarios.test_not_fifo import plain_markers
from tests.sim.tools import failing
from tests.tools import ROOT

__all__ = ["plain_markers"]  # a fixture


def test_every_combination_is_a_cell() -> None:
    grid = Grid.read(
        {"topology": "ring,line", "processes": "2,3", "delay": "1,2", "marker_delay": "same,5", "initiators": "1,2"},
        {"transfers": "3", "pace": "1,2"},
    )
    found = cells_of(grid)
    combinations = {
        (
            cell.scenario.topology.kind, len(cell.scenario.processes), cell.scenario.delay.low,
            cell.scenario.marker_delay and cell.scenario.marker_delay.low, len(cell.scenario.snapshots),
            cell.scenario.parameters["pace"],
        )
        for cell in found
    }  # fmt: skip
    kinds: Any = [("ring", "line"), (2, 3), (1.0, 2.0), (None, 5.0), (1, 2), (1.0, 2.0)]
    assert combinations == {(a, b, c, d, e, f) for a in kinds[0] for b in kinds[1] for c in kinds[2] for d in kinds[3]
                    for e in kinds[4] for f in kinds[5]}  # fmt: skip
    assert len(found) == grid.cell_count == 64
    assert grid.run_count == 6400
    assert {cell.scenario.parameters["transfers"] for cell in found} == {3}


def test_a_cell_is_a_scenario_file_without_a_seed() -> None:
    grid = Grid.read({"topology": "random:2", "processes": "4", "seed": "9", "delay": "exponential:3"})
    (cell,) = cells_of(grid)
    assert "seed" not in cell.document
    assert parse_toml(cell.document, "bank") == cell.scenario
    assert cell.scenario.processes == ("P1", "P2", "P3", "P4")
    assert (cell.scenario.topology.kind, cell.scenario.topology.extra) == ("random", 2)
    assert cell.rows == pytest.approx(len(run(cell.scenario).events), rel=0.1)


@pytest.mark.slow
def test_a_run_has_some_500_events_unless_told_otherwise() -> None:
    busy = [name for name in WORKLOADS if WORKLOADS[name].busy(2, cells.BUSY)]
    for workload, processes in product(busy, ("2", "8", "20")):
        topology = "line" if workload == "requests" else "ring"  # requests are answered on the way back
        (cell,) = cells_of(Grid.read({"workload": workload, "processes": processes, "topology": topology}))
        events = [event for event in run(cell.scenario).events if event.kind in APPLICATION_KINDS]
        assert 450 <= len(events) <= 550, (workload, processes)


def test_a_snapshot_starts_in_the_middle_of_the_run_and_several_are_spread() -> None:
    one, three = (cells_of(Grid.read({"processes": "3", "snapshots": count}))[0].scenario for count in ("1", "3"))
    last = run(one).times[-1]
    assert [start.at / last for start in one.snapshots] == pytest.approx([1 / 2], abs=0.02)
    assert [start.at / last for start in three.snapshots] == pytest.approx([1 / 4, 1 / 2, 3 / 4], abs=0.02)
    assert [(start.snapshot, start.process) for start in three.snapshots] == [("S1", "P1"), ("S2", "P2"), ("S3", "P3")]


def test_cells_that_differ_in_their_snapshots_only_start_them_at_the_same_time() -> None:
    found = cells_of(Grid.read({"processes": "4", "marker_delay": "same,50", "initiators": "1,3"}))
    assert len({start.at for cell in found for start in cell.scenario.snapshots}) == 1


def test_initiators_are_spread_evenly_and_start_when_they_are_told() -> None:
    (cell,) = cells_of(Grid.read({"processes": "8", "initiators": "4", "snapshots": "2", "at": "7.5"}))
    assert [(start.snapshot, start.process, start.at) for start in cell.scenario.snapshots] == [
        ("S1", "P1", 7.5), ("S1", "P3", 7.5), ("S1", "P5", 7.5), ("S1", "P7", 7.5),
        ("S2", "P2", 7.5), ("S2", "P4", 7.5), ("S2", "P6", 7.5), ("S2", "P8", 7.5),
    ]  # fmt: skip


def test_a_scenario_keeps_what_is_not_varied() -> None:
    bundled = library.load("two_banks")
    grid = Grid.read({"scenario": "two_banks", "delay": "1,2", "marker_delay": "9"})
    first, second = (cell.scenario for cell in cells_of(grid))
    assert first.script == bundled.script
    assert first.snapshots == bundled.snapshots
    assert first.delays == bundled.delays
    assert first.expect == {}  # it holds for the scenario's own delays only
    assert [s.delay for s in (first, second)] == [DelayRule("fixed", 1.0), DelayRule("fixed", 2.0)]
    assert first.marker_delay == second.marker_delay == DelayRule("fixed", 9.0)
    assert (grid.name, grid.seed) == ("two_banks", bundled.seed)


def test_control_messages_have_the_law_of_messages_unless_a_scenario_says_theirs() -> None:
    given = {"delay": "2,uniform:1:9", "marker_delay": "9", "algorithm": "stop_the_world,mattern", "processes": "3"}
    for cell in cells_of(Grid.read(given)):
        assert cell.scenario.control_delay == cell.scenario.delay
    (kept,) = cells_of(Grid.read({"scenario": "mattern", "delay": "2"}))
    assert kept.scenario.control_delay == library.load("mattern").control_delay != kept.scenario.delay


def test_without_anything_varied_a_scenario_runs_as_it_is() -> None:
    (cell,) = cells_of(Grid.read({"scenario": "lecture"}))
    assert run(cell.scenario).events == run(library.load("lecture")).events


def test_what_is_registered_may_be_asked_for_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(ChandyLamport):
        name = "other"

    class Idle(Workload):
        name = "idle"

    monkeypatch.setitem(ALGORITHMS._found, "other", Other)
    monkeypatch.setitem(WORKLOADS._found, "idle", Idle)
    found = cells_of(Grid.read({"processes": "2", "algorithm": "chandy_lamport,other"}))
    assert [cell.scenario.algorithm for cell in found] == ["chandy_lamport", "other"]
    with pytest.raises(InputError, match="idle does nothing by itself"):
        cells_of(Grid.read({"workload": "idle"}))


def test_a_workload_that_has_turns_of_its_own_accord_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    class Restless(Workload):
        name = "restless"
        takes_turns = True

    monkeypatch.setitem(WORKLOADS._found, "restless", Restless)
    assert cells.is_busy("restless") and cells.is_busy("bank")
    assert not cells.is_busy("scripted")


def test_what_a_form_starts_with_is_a_grid_of_the_workload() -> None:
    for name in WORKLOADS:
        if cells.is_busy(name):
            assert cells_of(Grid.read({"workload": name, "processes": "3"}, WORKLOADS[name].busy_at_first))


# ------------------------------------------------------------------ FIFO


@pytest.mark.parametrize("topology", ["ring", "random:3"])
def test_channels_are_fifo_or_not(topology: str, plain_markers: str) -> None:
    """With every seed; on channels that are not FIFO, plain markers fail in some of the runs."""
    given = {"processes": "4", "topology": topology, "fifo": "yes,no", "algorithm": plain_markers, "at": "40"}
    ordered, other = (cell.scenario for cell in cells_of(Grid.read({**given, "delay": "uniform:1:30"})))
    assert [describe(scenario)["fifo"] for scenario in (ordered, other)] == [True, False]
    for seed in range(5):
        runs = [replace(scenario, seed=seed) for scenario in (ordered, other)]
        assert [{channel.fifo for channel in scenario.channels} for scenario in runs] == [{True}, {False}]
    assert not any(failing(run(replace(ordered, seed=seed))) for seed in range(5))
    assert any(failing(run(replace(other, seed=seed))) for seed in range(5))


def test_fifo_may_be_said_beside_a_scenario(plain_markers: str) -> None:
    grid = Grid.read({"scenario": "two_banks", "algorithm": plain_markers, "fifo": "yes,no"})
    assert [cell.scenario.not_fifo for cell in cells_of(grid)] == [(), ("all",)]
    assert cells_of(Grid.read({"scenario": "two_banks", "algorithm": plain_markers}))[0].scenario.not_fifo == ()


def test_which_algorithm_cannot_be_combined_with_channels_that_are_not_fifo(plain_markers: str) -> None:
    given = {"processes": "4", "fifo": "yes,no", "algorithm": f"chandy_lamport,{plain_markers}"}
    with pytest.raises(InputError) as refusal:
        cells_of(Grid.read(given))
    error = str(refusal.value)
    assert error.startswith("--fifo: Chandy-Lamport needs FIFO channels and cannot be combined with channels that are")
    assert error.endswith("Plain markers")
    assert len(cells_of(Grid.read({**given, "snapshots": "0"}))) == 4  # no snapshot needs FIFO


# ------------------------------------------------------------------ faults and services


def test_rates_of_faults_are_an_axis() -> None:
    """Each rate is a cell; the snapshots of all start together, since faults are not in the trial run."""
    grid = Grid.read({"processes": "3", "crash": "0,0.01..0.03:0.02", "restart": "0.2", "faults_until": "50"})
    found = [cell.scenario for cell in cells_of(grid)]
    assert [own.fault_rates for own in found] == [FaultRates(rate, 0.2, until=50.0) for rate in (0.0, 0.01, 0.03)]
    assert len({own.snapshots for own in found}) == 1
    assert [describe(own)["crash"] for own in found] == [0.0, 0.01, 0.03]
    assert Grid.from_json(json.loads(json.dumps(grid.to_json()))) == grid
    beside = cells_of(Grid.read({"scenario": "two_banks", "sever": "0.1,0.2"}))
    assert [cell.scenario.fault_rates.sever for cell in beside] == [0.1, 0.2]
    assert not any(is_listed(own) for own in found[1:]), "the kernel knows no faults"
    with pytest.raises(InputError, match=r"cell 0 .*: fault_rates.crash: the rules of Lai-Yang do not support"):
        cells_of(Grid.read({"processes": "3", "crash": "0.1", "algorithm": "lai_yang"}))


def test_what_a_storage_is_told_is_an_axis() -> None:
    """A workload gets a storage, a scenario keeps what it says of its own; the last option varies fastest."""
    told = {"storage_limit": "2,4", "storage_jitter": "0..0.5:0.25", "storage_bandwidth": "100"}
    grid = Grid.read({"processes": "3", "at": "9", **told})
    found = [cell.scenario for cell in cells_of(grid)]
    assert [own.storage for own in found] == [
        {"bandwidth": 100.0, "limit": limit, "jitter": jitter} for limit in (2, 4) for jitter in (0.0, 0.25, 0.5)
    ]
    assert [describe(own)["storage_jitter"] for own in found] == [0.0, 0.25, 0.5] * 2
    assert Grid.from_json(json.loads(json.dumps(grid.to_json()))) == grid
    assert not any(map(is_listed, found)), "the kernel knows no storage"
    own = library.load("crash_during_commit")
    (beside,) = cells_of(Grid.read({"scenario": "crash_during_commit", "storage_limit": "1"}))
    assert beside.scenario.storage == {**(own.storage or {}), "limit": 1}
    with pytest.raises(InputError, match="--storage-limit: expected whole numbers"):
        Grid.read({"storage_limit": "1.5"})


def test_the_interval_of_a_coordinator_is_an_axis() -> None:
    grid = Grid.read({"scenario": "crash_during_commit", "checkpoint_interval": "3,6"})
    assert [cell.scenario.coordinator for cell in cells_of(grid)] == [
        {"timeout": 20, "interval": interval} for interval in (3.0, 6.0)
    ]
    with pytest.raises(InputError, match="--checkpoint-interval: there is no coordinator; choose a scenario"):
        cells_of(Grid.read({"processes": "3", "checkpoint_interval": "5"}))


def test_with_another_algorithm_those_start_the_snapshots_of_a_scenario_who_may() -> None:
    algorithms = ("chandy_lamport", "stop_the_world", "uncoordinated", "mattern")
    barriers = (ROOT / "scenarios" / "barriers.toml").read_text()
    cells = cells_of(Grid(name="barriers", scenario=barriers, algorithms=algorithms))
    starters = {cell.scenario.algorithm: [start.process for start in cell.scenario.snapshots] for cell in cells}
    assert starters == {
        "chandy_lamport": ["s1", "s2"], "stop_the_world": ["coordinator"],
        "uncoordinated": ["s1", "c1", "p1", "p2", "c2", "s2"], "mattern": ["s1"],
    }  # fmt: skip
