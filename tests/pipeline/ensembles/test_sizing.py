"""The simulated check of sizing: the law within ten per cent over the grid that ships, and wrong without its terms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from pipeline.ensembles import queries
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.sizing import (
    GRID,
    LEAST_HELD,
    MOST_HELD,
    PARAMETERS,
    WITHIN,
    check,
    predicted,
    scaled,
    system_of,
)
from pipeline.store import examples
from pipeline.store.folder import Store
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.core.sizing import Load
from sim.theory.sizing import System, documents_bound, sizes

CELLS = queries.kept_overview(Store.open(examples.SIZING)).cells
LAWFUL = [name for name in ALGORITHMS if ALGORITHMS[name].law(Load(1, 1, 1))]


def error(said: float, cell) -> float:
    return abs(said / cell["recorded_messages_50"] - 1)


def recorded_by(system: System) -> float:
    found = sizes(system)
    assert found is not None
    return found.recorded


def test_the_ensemble_is_the_grid_that_is_said() -> None:
    grid = Grid.read(GRID, PARAMETERS)
    manifest = Store.open(examples.SIZING).manifest
    assert manifest is not None and Grid.from_json(manifest.about) == grid
    assert len(CELLS) == grid.cell_count and sum(cell["runs"] for cell in CELLS) == grid.run_count
    assert not any(cell["failures"] for cell in CELLS)


def test_the_law_is_within_ten_per_cent_in_every_cell() -> None:
    assert max(error(predicted(cell), cell) for cell in CELLS) <= WITHIN


def test_so_is_the_time_that_a_snapshot_takes() -> None:
    for cell in CELLS:
        found = sizes(system_of(cell))
        assert found is not None and found.latency == pytest.approx(cell["latency_50"], rel=WITHIN)


@pytest.mark.parametrize(
    ("without", "law"),
    [
        ("the delay of messages", lambda own: recorded_by(replace(own, message_delay=Fraction(0)))),
        ("the delay of markers", lambda own: recorded_by(replace(own, delay=Fraction(0)))),
        ("who records first: the documents' bound", lambda own: float(own.rate * own.delay) * channels(own)),
    ],
)
def test_without_one_of_its_terms_it_is_wrong(without: str, law) -> None:
    """The term of markers matters only where a channel leads back to who recorded earlier, and S is above d."""
    wrong = [error(law(system_of(cell)), cell) > WITHIN for cell in CELLS]
    assert sum(wrong) > len(CELLS) / 4, f"most cells are told well without {without}"


def channels(system: System) -> int:
    return int(documents_bound(system)["channels"])


@pytest.mark.parametrize("algorithm", LAWFUL)
@pytest.mark.parametrize("topology", ["complete", "line", "dag"])
def test_a_large_system_is_checked_at_a_scale_that_fits(algorithm: str, topology: str) -> None:
    system = System.read({"algorithm": algorithm, "topology": topology, "message_delay": 0.4})
    try:
        found = check(system, 4)
    except InputError as problem:
        assert "start at sources" in str(problem) and topology != "dag"
        return
    if ALGORITHMS[algorithm].law(system.load).keeps:  # type: ignore[union-attr]
        assert found.error is not None and abs(found.error) <= WITHIN
    else:
        assert found.expected.recorded == found.measured.recorded == 0
    said, seen = found.expected, found.measured
    if said.latency is not None:
        assert seen.latency == pytest.approx(said.latency, rel=WITHIN)
    assert seen.at_initiator == pytest.approx(said.at_initiator, rel=WITHIN)
    assert seen.blocked == pytest.approx(said.blocked, rel=WITHIN)
    assert seen.stands_still == pytest.approx(said.stands_still, rel=WITHIN)


def test_the_small_system_has_the_same_proportions_where_channels_then_hold_enough() -> None:
    small = scaled(System.read({"message_delay": 0.5}))
    assert (small.nodes, float(small.delay), float(small.message_delay)) == (8, MOST_HELD, MOST_HELD / 4)
    assert scaled(System()).message_delay == LEAST_HELD
    assert scaled(System.read({"message_delay": 0})).message_delay == 0
    few = System.read({"nodes": 3, "rate": 2, "delay": 5, "message_delay": 2})
    assert (scaled(few).nodes, scaled(few).delay, scaled(few).message_delay) == (3, 10, 4)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"rate": 0}, "nothing is on its way in a channel"),
        ({"delay": 0, "message_delay": 0}, "nothing is on its way in a channel"),
        ({"algorithm": "uncoordinated"}, "there is no law to be checked"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(wanted, told) -> None:
    with pytest.raises(InputError, match=told):
        check(System.read(wanted))
