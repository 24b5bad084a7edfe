"""From a grid to its cells: each one combination of values, as a scenario that lacks nothing but its seed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from pipeline.ensembles import parameter_values
from pipeline.ensembles.grid import NO, YES, Grid
from sim.core.algorithm import ALGORITHMS, ALL, SOURCES
from sim.core.errors import InputError
from sim.core.workload import WORKLOADS
from sim.document.files import parse_toml
from sim.document.scenario import EVERY_CHANNEL, Initiation, Scenario
from sim.document.validate import may_initiate
from sim.document.writing import dumps
from sim.run.execution import run

BUSY = 500  # application events of a run, about, where no parameter says how busy its workload is
MOST_CHANNELS = 500_000  # of all cells together
MOST_ROWS = 10**11  # of the event table, of all runs together, as estimated


class Cell(NamedTuple):
    """One combination: its scenario with seed 0, the same as TOML, and about how many rows a run leaves."""

    number: int
    scenario: Scenario
    document: str
    rows: int


class _Trial(NamedTuple):
    """What one run came to: the time of its last step, and the rows it left."""

    duration: float
    rows: int


@lru_cache(maxsize=8)
def cells_of(grid: Grid) -> tuple[Cell, ...]:
    """The cells of `grid`, in order of their numbers. Runs some of them once, to see how long they take.

    Raises InputError for one that is no sensible scenario, or for too big a grid.
    """
    build = _Builder(grid)
    cells = []
    channels = rows = 0
    drafts = list(_drafts(grid))
    _refuse_without_fifo(grid, drafts)
    for number, draft in enumerate(drafts):
        cells.append(build.cell(number, draft))
        channels += len(cells[-1].scenario.channels)
        rows += cells[-1].rows * grid.runs
        if channels > MOST_CHANNELS:
            raise InputError(f"--processes: the cells have more than {MOST_CHANNELS} channels; use fewer, or rings")
        if rows > MOST_ROWS:
            raise InputError(f"--runs: the grid comes to more than {MOST_ROWS:.0e} events; use fewer or shorter runs")
    return tuple(cells)


# ------------------------------------------------------------------ combinations

_Draft = tuple[Scenario, int]  # without its snapshots, and how many processes initiate each
_NOT_FIFO = {YES: (), NO: (EVERY_CHANNEL,)}


def _drafts(grid: Grid) -> Iterator[_Draft]:
    """Every combination; what varies most slowly comes first."""
    own: Sequence[Any] = (None,)
    for base in _bases(grid):
        for values in itertools.product(*grid.parameters.values()):
            parameters = {**base.parameters, **dict(zip(grid.parameters, values, strict=True))}
            rest = (grid.delays, grid.marker_delays, grid.initiators, grid.fifo, grid.algorithms)
            for delay, marker_delay, initiators, fifo, algorithm in itertools.product(*(axis or own for axis in rest)):
                draft = replace(
                    base,
                    parameters=parameters,
                    delay=parameter_values.delay_rule(delay or parameter_values.SAME) or base.delay,
                    marker_delay=base.marker_delay
                    if marker_delay is None
                    else parameter_values.delay_rule(marker_delay),
                    not_fifo=_NOT_FIFO.get(fifo, base.not_fifo),
                    algorithm=algorithm or base.algorithm,
                    algorithm_parameters=base.algorithm_parameters if algorithm in (None, base.algorithm) else {},
                )
                yield draft, initiators or 0


def _refuse_without_fifo(grid: Grid, drafts: Sequence[_Draft]) -> None:
    """Raises InputError where `fifo` is no for an algorithm that needs FIFO channels, and says for which."""
    if NO not in grid.fifo:
        return
    used = dict.fromkeys(draft.algorithm for draft, _ in drafts if grid.snapshots or draft.snapshots)
    refused = [ALGORITHMS[name].title for name in used if ALGORITHMS[name].needs_fifo]
    if refused:
        able = [ALGORITHMS[name].title for name in ALGORITHMS if not ALGORITHMS[name].needs_fifo]
        wish = f", or only algorithms that need none: {', '.join(able)}" if able else ""
        needs = "need FIFO channels and cannot be" if len(refused) > 1 else "needs FIFO channels and cannot be"
        told = f"{' and '.join(refused)} {needs} combined with channels that are not FIFO"
        raise InputError(f"--fifo: {told}; choose FIFO channels{wish}")


def _bases(grid: Grid) -> Iterator[Scenario]:
    """The scenarios that the axes which both kinds of grid have are applied to."""
    if grid.scenario is not None:
        yield parse_toml(grid.scenario, grid.name)
        return
    workload = WORKLOADS[grid.workload]
    for topology, count in itertools.product(grid.topologies, grid.processes):
        yield Scenario(
            name=grid.name,
            title=f"{workload.title} on a {topology} of {count}",
            processes=tuple(f"P{number}" for number in range(1, count + 1)),
            topology=parameter_values.topology_of(topology),
            workload=grid.workload,
            parameters=workload.busy(count, BUSY),
        )


# ------------------------------------------------------------------ scenarios


def is_busy(workload: str) -> bool:
    """Whether processes do something of their own accord when a grid says nothing of the workload's parameters."""
    known = WORKLOADS[workload]
    return known(("P1", "P2"), 0, **known.busy(2, BUSY)).takes_turns


def _tried(scenario: Scenario) -> _Trial:
    execution = run(scenario)
    return _Trial(execution.times[-1], len(execution.log))


class _Builder:
    """Completes drafts, and remembers how long their runs take."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._trials: dict[str, _Trial] = {}

    def cell(self, number: int, draft: _Draft) -> Cell:
        """The cell of a draft, checked as the scenario file that it also is. Raises InputError."""
        scenario, initiators = draft
        place = f"cell {number} ({scenario.workload}, {scenario.topology.kind} of {len(scenario.processes)})"
        if self._grid.scenario is not None:
            document = dumps(scenario)
            scenario = parse_toml(document, scenario.name, place)
            return Cell(number, scenario, document, self._rows_of(scenario))
        trial = self._trial(scenario, place)
        snapshots = tuple(self._initiations(scenario, initiators, trial.duration))
        document = dumps(replace(scenario, snapshots=snapshots))
        scenario = parse_toml(document, scenario.name, place)
        control_rows = self._grid.snapshots * (2 * len(scenario.processes) + 3 * len(scenario.channels))
        return Cell(number, scenario, document, trial.rows + control_rows)

    def _rows_of(self, scenario: Scenario) -> int:
        """The rows of a scenario's first run; none where it cannot be carried out, which each run's row will say."""
        try:
            return _tried(replace(scenario, seed=self._grid.seed)).rows
        except InputError:
            return 0

    def _trial(self, scenario: Scenario, place: str) -> _Trial:
        """A run of the workload, shared by the cells that differ in their snapshots only: those start together."""
        plain = dumps(
            replace(scenario, marker_delay=None, algorithm=Scenario("", ()).algorithm, algorithm_parameters={})
        )
        if plain not in self._trials:
            workload = parse_toml(plain, scenario.name, place)
            if not workload.engine().workload.takes_turns:
                raise InputError(
                    f"--workload: {workload.workload} does nothing by itself with these parameters; "
                    "--set those that make it busy, or give a --scenario with a script"
                )
            self._trials[plain] = _tried(replace(workload, seed=self._grid.seed))
        return self._trials[plain]

    def _initiations(self, scenario: Scenario, initiators: int, duration: float) -> Iterator[Initiation]:
        """Snapshot after snapshot, evenly over the run or all at once; each shifts its initiators by one process."""
        grid, able = self._grid, may_initiate(scenario)
        count = len(able)
        if count and ALGORITHMS[scenario.algorithm].initiators in (SOURCES, ALL):
            initiators = count  # all of them, or some process would not be reached
        if initiators > count:
            raise InputError(f"--initiators: {initiators} of {count} processes cannot initiate; use at most {count}")
        for number in range(1, grid.snapshots + 1):
            spread = duration * number / (grid.snapshots + 1)
            at = float(f"{spread:.3g}") if grid.at is None else grid.at
            for place in range(initiators):
                yield Initiation(f"S{number}", able[(place * count // initiators + number - 1) % count], at)
