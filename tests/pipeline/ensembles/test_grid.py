"""Grids: parsing values, making cells, and errors that name the option."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest

from pipeline.compiled.listed import is_listed
from pipeline.ensembles import cells, parameter_values
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.measure import describe
from pipeline.ensembles.options import DEFAULTS, OPTIONS, RATES, SETTINGS
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
from tests.tools import ROOT, check_none

__all__ = ["plain_markers"]  # a fixture


def test_lists_and_ranges_of_numbers() -> None:
    for text, expected in (
        ("4", [4]),
        ("4,8,16", [4, 8, 16]),
        ("4..16:4", [4, 8, 12, 16]),
        ("4..15:4", [4, 8, 12]),
        ("2..5", [2, 3, 4, 5]),
        ("16, 4..8:2 ,4", [16, 4, 6, 8]),
    ):
        assert parameter_values.whole_numbers("--processes", text) == expected


def test_ranges_are_exact() -> None:
    assert parameter_values.numbers("--at", "0.1..0.5:0.1") == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_lists_and_ranges_of_delays() -> None:
    for text, expected in (
        ("5", ["fixed:5"]),
        ("fixed:1,exponential:2.5", ["fixed:1", "exponential:2.5"]),
        ("fixed:1..9:4", ["fixed:1", "fixed:5", "fixed:9"]),
        ("1..2:0.5", ["fixed:1", "fixed:1.5", "fixed:2"]),
        ("uniform:1:9,whole:0:4,same", ["uniform:1:9", "whole:0:4", "same"]),
        ("3,fixed:3.0", ["fixed:3"]),
    ):
        assert parameter_values.delay_texts("--marker-delay", text) == expected


def test_a_delay_is_read_as_it_is_written() -> None:
    for text, rule, mean in (
        ("fixed:5", DelayRule("fixed", 5.0), 5.0),
        ("exponential:2.5", DelayRule("exponential", 2.5), 2.5),
        ("uniform:1:9", DelayRule("uniform", 1.0, 9.0), 5.0),
        ("whole:0:3", DelayRule("whole", 0.0, 3.0), 1.5),
    ):
        assert parameter_values.delay_rule(text) == rule
        assert parameter_values.delay_text(rule) == text
        assert parameter_values.mean_delay(rule) == mean


def test_the_mean_is_that_of_what_is_drawn() -> None:
    for text in ("uniform:1:9", "whole:0:3", "exponential:2.5"):
        rule = parameter_values.delay_rule(text)
        assert rule is not None
        drawn = [rule.draw(7, ordinal) for ordinal in range(20_000)]
        assert sum(drawn) / len(drawn) == pytest.approx(parameter_values.mean_delay(rule), rel=0.03)


REFUSED: list[tuple[dict[str, str], str]] = [
    ({"processes": "4,,8"}, "--processes: '4,,8' has nothing between two commas"),
    ({"processes": "9..4"}, "--processes: 9..4 holds no numbers; write LOW..HIGH:STEP, such as 4..16:4"),
    ({"processes": "4..8:0"}, "--processes: 4..8:0 holds no numbers"),
    ({"processes": "0"}, "--processes: expected whole numbers, 1 to 1000, not 0"),
    ({"processes": "2.5"}, "--processes: expected whole numbers, 1 to 1000, not 2.5"),
    ({"processes": "many"}, "--processes: 'many' is no number of at least 0 and no range"),
    ({"processes": "1..1000000"}, "--processes: 1..1000000 names 1000000 values; 1000 are the most"),
    ({"topology": "rin"}, "--topology: 'rin' is unknown; did you mean 'ring'?"),
    ({"topology": "listed"}, "--topology: 'listed' is unknown"),
    ({"topology": "ring:3"}, "--topology: a ring topology has no extra channels"),
    ({"delay": "same"}, "--delay: same is for markers"),
    ({"delay": "fix:1"}, "--delay: 'fix:1' is no delay; write fixed:1"),
    ({"delay": "fixed"}, "--delay: 'fixed' is no delay; write fixed:1"),
    ({"delay": "uniform:9:1"}, "--delay: 'uniform:9:1': write uniform:LOW:HIGH"),
    ({"delay": "uniform:1:2:3"}, "--delay: 'uniform:1:2:3': write uniform:LOW:HIGH"),
    ({"marker_delay": "whole:1"}, "--marker-delay: 'whole:1': write whole:LOW:HIGH"),
    ({"algorithm": "chandy"}, "--algorithm: 'chandy' is unknown; did you mean 'chandy_lamport'?"),
    ({"fifo": "yes,maybe"}, "--fifo: 'maybe' is unknown"),
    ({"workload": "bnak"}, "--workload: 'bnak' is unknown; did you mean 'bank'?"),
    ({"workload": "bank,token_ring"}, "--workload: expected one value, not 2"),
    ({"runs": "10,20"}, "--runs: expected one value, not 2"),
    ({"runs": "0"}, "--runs: expected whole numbers, 1 to 10000000, not 0"),
    ({"seed": "1e3"}, "--seed: '1e3' is no number of at least 0 and no range"),
    ({"events": "some"}, "--events: 'some' is unknown; did you mean 'sample'?"),
    ({"sede": "1"}, "sede: is no option of a grid; did you mean 'seed'?"),
    ({"scenario": "lectur"}, "there is no scenario 'lectur'; did you mean 'lecture'?"),
    ({"scenario": "lecture", "marker_delay": "x"}, "--marker-delay: 'x'"),
    ({"scenario": "lecture", "processes": "4"}, "--processes: a scenario sets this itself"),
    ({"scenario": "lecture", "workload": "bank"}, "--workload: a scenario sets this itself"),
    ({"processes": "1..100", "delay": "1..100"}, "the grid has 10000 cells and 1000000 runs; 2000 cells and 10000000"),
    ({"processes": "2..3", "runs": "9000000"}, "the grid has 2 cells and 18000000 runs"),
]


REFUSED_PARAMETERS: list[tuple[str, dict[str, str], str]] = [
    ("bank", {"transfer": "3"}, "--set transfer: bank has no such parameter; did you mean 'transfers'?"),
    ("bank", {"transfers": "many"}, "--set transfers: 'many' is no number"),
    ("bank", {"largest": "0"}, "--set largest: expected whole numbers, at least 1, not 0"),
    ("bank", {"pace": "0"}, "--set pace: expected numbers of at least 0.001, not 0"),
    ("token_ring", {"tokens": "3"}, "--set tokens: expected a table, such as {P1 = 1}, not '3'"),
    ("token_ring", {"tokens": "{P1 = "}, "--set tokens: '{P1 = ' is no table"),
]
REFUSED_CELLS: list[tuple[dict[str, str], dict[str, str], str]] = [
    ({"processes": "4", "initiators": "2,5"}, {}, "--initiators: 5 of 4 processes cannot initiate; use at most 4"),
    (
        {"algorithm": "mattern", "initiators": "1,2"},
        {},
        "--initiators: with Mattern's counters one process starts a snapshot; use 1",
    ),
    (
        {"algorithm": "stop_the_world", "initiators": "2"},
        {},
        "--initiators: with Stop-the-world its coordinator starts a snapshot; use 1",
    ),
    ({"workload": "scripted"}, {}, "--workload: scripted does nothing by itself with these parameters"),
    ({"processes": "4", "fifo": "yes,no"}, {}, "--fifo: Chandy-Lamport needs FIFO channels and cannot be combined"),
    ({"scenario": "lecture", "fifo": "no"}, {}, "--fifo: Chandy-Lamport needs FIFO channels and cannot be combined"),
    ({}, {"transfers": "0"}, "--workload: bank does nothing by itself with these parameters"),
    ({"processes": "900"}, {}, "cell 0 (bank, complete of 900): topology.kind: 809100 channels; use at most"),
    ({"processes": "2"}, {"balance": "{Q = 1}"}, "cell 0 (bank, complete of 2): workload.balance: 'Q' is no"),
    ({"processes": "2"}, {"balance": "{P1 = 'x'}"}, "cell 0 (bank, complete of 2): workload.balance.P1: expected"),
    ({"processes": "2", "runs": "10000000"}, {"transfers": "9000"}, "--runs: the grid comes to more than 1e+11"),
]


def told(act: Callable[[], object]) -> str:
    """The text of the refusal."""
    try:
        act()
    except InputError as refusal:
        return str(refusal)
    return "nothing is refused"


def test_what_cannot_be_read_is_refused() -> None:
    asked = [(sentence, told(partial(Grid.read, given))) for given, sentence in REFUSED]
    asked += [
        (sentence, told(partial(Grid.read, {"workload": workload}, parameters)))
        for workload, parameters, sentence in REFUSED_PARAMETERS
    ]
    check_none(f"{said}\n  and not: {sentence}" for sentence, said in asked if not said.startswith(sentence))


@pytest.mark.slow
def test_cells_that_make_no_sense_are_refused() -> None:
    asked = [
        (sentence, told(partial(cells_of, Grid.read(given, parameters))))
        for given, parameters, sentence in REFUSED_CELLS
    ]
    check_none(f"{said}\n  and not: {sentence}" for sentence, said in asked if not said.startswith(sentence))


def test_cells_have_so_many_channels_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "MOST_CHANNELS", 20)
    cells_of(Grid.read({"processes": "5"}))
    with pytest.raises(InputError, match="--processes: the cells have more than 20 channels; use fewer, or rings"):
        cells_of(Grid.read({"processes": "2,5"}))


# ------------------------------------------------------------------ cells


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


# ------------------------------------------------------------------ the manifest


def test_a_grid_is_kept_as_json() -> None:
    for grid in (
        Grid.read({"processes": "2..4", "at": "3", "events": "all"}, {"pace": "1,2.5", "balance": "{P1 = 3}"}),
        Grid.read({"scenario": "lecture", "delay": "exponential:2"}),
        Grid.read({"processes": "2", "fifo": "yes,no"}),
    ):
        assert Grid.from_json(json.loads(json.dumps(grid.to_json()))) == grid


def test_a_manifest_of_something_else_is_refused() -> None:
    for strange in ({}, {"name": "x", "parameters": {}, "colour": "red"}, {"name": "x", "parameters": 3}):
        with pytest.raises(InputError, match="describes no grid that this version knows"):
            Grid.from_json(strange)


def test_what_is_said_again_on_resuming_has_to_agree() -> None:
    grid = Grid.read({"processes": "2,4", "runs": "10"}, {"transfers": "3", "pace": "2"})
    grid.agree({}, {})
    grid.agree({"workload": "bank", "processes": "2..4:2", "runs": "10"}, {"pace": "2.0"})
    for given, parameters, sentence in (
        ({"runs": "11"}, {}, "--runs: the folder was begun with 10, not 11; leave the option out to resume"),
        ({"processes": "2"}, {}, r"--processes: the folder was begun with \[2, 4\], not \[2\]"),
        ({"scenario": "lecture"}, {}, "--scenario: the folder was begun without it, not with "),
        ({"workload": "token_ring"}, {}, "--workload: the folder was begun with 'bank', not 'token_ring'"),
        ({}, {"pace": "3"}, r"--set pace: the folder was begun with \[2.0\], not \[3.0\]"),
        ({}, {"balance": "3"}, r"--set balance: the folder was begun without it, not with \[3\]"),
    ):
        with pytest.raises(InputError, match=sentence):
            grid.agree(given, parameters)
    scripted = Grid.read({"scenario": "lecture", "seed": "5"})
    scripted.agree({"scenario": "lecture"}, {})
    with pytest.raises(InputError, match="--scenario: the folder was begun with"):
        scripted.agree({"scenario": "tutorial"}, {})


def test_every_option_is_read() -> None:
    assert set(DEFAULTS) < set(OPTIONS)
    given = {**DEFAULTS, "workload": "bank", "at": "1", **dict.fromkeys((*RATES.values(), *SETTINGS), "1")}
    assert set(given) | {"scenario"} == set(OPTIONS)
    assert DEFAULTS["fifo"] == "yes"
    assert Grid.read(given).at == 1.0


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
    with pytest.raises(InputError, match=r"cell 0 .*: fault_rates.crash: the rules of Lai-Yang do not allow for"):
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
