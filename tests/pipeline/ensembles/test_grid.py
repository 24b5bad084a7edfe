"""Grids of parameters: the reading of their texts, and their form in a manifest."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import pytest

from pipeline.ensembles import cells, parameter_values
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.options import DEFAULTS, OPTIONS, RATES, SETTINGS
from sim.core.delays import DelayRule
from sim.core.errors import InputError
from tests.tools import check_none


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
