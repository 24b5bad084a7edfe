"""The simulated check of sizing: the law within ten per cent over the grid that ships, and wrong without its terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from pipeline.ensembles import queries
from pipeline.ensembles.cost_check import (
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
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.queries import Row
from pipeline.store import examples
from pipeline.store.folder import Store
from sim.core.algorithm import ALGORITHMS, SOURCES
from sim.core.cost_model import Load
from sim.core.errors import InputError
from sim.theory.sizing import sizes, usual_estimate
from sim.theory.sizing_inputs import System
from tests.tools import check_none

pytestmark = pytest.mark.slow

TOPOLOGIES = ("complete", "line", "dag")


@pytest.fixture(scope="module")
def kept() -> Sequence[Row]:
    """The cells of the ensemble that comes with the app."""
    return queries.kept_overview(Store.open(examples.SIZING)).cells


def error(said: float, cell) -> float:
    return abs(said / cell["recorded_messages_50"] - 1)


def recorded_by(system: System) -> float:
    found = sizes(system)
    assert found is not None
    return found.recorded


def test_the_ensemble_is_the_grid_that_is_said(kept: Sequence[Row]) -> None:
    grid = Grid.read(GRID, PARAMETERS)
    manifest = Store.open(examples.SIZING).manifest
    assert manifest is not None and Grid.from_json(manifest.about) == grid
    assert len(kept) == grid.cell_count and sum(cell["runs"] for cell in kept) == grid.run_count
    assert not any(cell["failures"] for cell in kept)


def test_the_law_is_within_ten_per_cent_in_every_cell(kept: Sequence[Row]) -> None:
    assert max(error(predicted(cell), cell) for cell in kept) <= WITHIN


def test_so_is_the_time_that_a_snapshot_takes(kept: Sequence[Row]) -> None:
    for cell in kept:
        found = sizes(system_of(cell))
        assert found is not None and found.latency == pytest.approx(cell["latency_50"], rel=WITHIN)


def test_without_one_of_its_terms_it_is_wrong(kept: Sequence[Row]) -> None:
    """The term of markers matters only where a channel leads back to who recorded earlier, and S is above d."""
    for without, law in (
        ("the delay of messages", lambda own: recorded_by(replace(own, message_delay=Fraction(0)))),
        ("the delay of markers", lambda own: recorded_by(replace(own, delay=Fraction(0)))),
        ("who records first: the documents' bound", lambda own: float(own.rate * own.delay) * channels(own)),
    ):
        wrong = [error(law(system_of(cell)), cell) > WITHIN for cell in kept]
        assert sum(wrong) > len(kept) / 4, f"most cells are told well without {without}"


def channels(system: System) -> int:
    return int(usual_estimate(system)["channels"])


def lawful() -> list[tuple[str, str]]:
    """Each algorithm with a law, and a topology on which it is checked."""
    names = [name for name in ALGORITHMS if ALGORITHMS[name].cost_model(Load(1, 1, 1))]
    return [
        (name, "dag" if ALGORITHMS[name].initiators == SOURCES else TOPOLOGIES[place % 2])
        for place, name in enumerate(names)
    ]


def others() -> list[tuple[str, str]]:
    """Each algorithm with a law, on the topologies that are left."""
    taken = lawful()
    return [(name, each) for name, _ in taken for each in TOPOLOGIES if (name, each) not in taken]


MORE = pytest.param(others, marks=pytest.mark.long("the laws of sizes on further topologies"))


@pytest.mark.parametrize("systems", [lawful, MORE])
def test_a_large_system_is_checked_at_a_scale_that_fits(systems: Callable[[], list[tuple[str, str]]]) -> None:
    check_none(
        f"{algorithm} on a {topology}: {problem}"
        for algorithm, topology in systems()
        for problem in unlawful(algorithm, topology)
    )


def unlawful(algorithm: str, topology: str) -> Iterator[str]:
    """The measured values of a system that differ from the cost model."""
    system = System.read({"algorithm": algorithm, "topology": topology, "message_delay": 0.4})
    try:
        found = check(system, 4)
    except InputError as problem:
        if "start at sources" not in str(problem) or topology == "dag":
            yield str(problem)
        return
    said, seen = found.expected, found.measured
    if ALGORITHMS[algorithm].cost_model(system.load).keeps:  # type: ignore[union-attr]
        if found.error is None or abs(found.error) > WITHIN:
            yield f"the error is {found.error}"
    elif not said.recorded == seen.recorded == 0:
        yield f"{seen.recorded} messages are recorded, not {said.recorded}"
    for name in ("latency", "at_initiator", "blocked", "stands_still"):
        expected, measured = getattr(said, name), getattr(seen, name)
        if name == "latency" and expected is None:
            continue
        if measured != pytest.approx(expected, rel=WITHIN):
            yield f"{name} is {measured}, not {expected}"


def test_the_small_system_has_the_same_proportions_where_channels_then_hold_enough() -> None:
    small = scaled(System.read({"message_delay": 0.5}))
    assert (small.nodes, float(small.delay), float(small.message_delay)) == (8, MOST_HELD, MOST_HELD / 4)
    assert scaled(System()).message_delay == LEAST_HELD
    assert scaled(System.read({"message_delay": 0})).message_delay == 0
    few = System.read({"nodes": 3, "rate": 2, "delay": 5, "message_delay": 2})
    assert (scaled(few).nodes, scaled(few).delay, scaled(few).message_delay) == (3, 10, 4)


def test_what_cannot_be_checked_is_one_sentence() -> None:
    for wanted, told in (
        ({"rate": 0}, "no message is ever in transit in a channel"),
        ({"delay": 0, "message_delay": 0}, "no message is ever in transit in a channel"),
        ({"algorithm": "uncoordinated"}, "has no cost model to check"),
    ):
        with pytest.raises(InputError, match=told):
            check(System.read(wanted))
