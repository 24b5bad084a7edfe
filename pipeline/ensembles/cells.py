"""Makes the cells of a grid: each is a combination of parameter values, as a scenario without a seed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from pipeline.ensembles import parameter_values
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.options import NO, SETTINGS, YES
from sim.core.algorithm import ALGORITHMS, ALL, COORDINATOR, SOURCES
from sim.core.deadline import in_time
from sim.core.errors import InputError
from sim.core.topology import EVERY_CHANNEL
from sim.core.workload import WORKLOADS
from sim.document.files import parse_toml
from sim.document.scenario import Initiation, Scenario
from sim.document.validate import may_initiate
from sim.document.writing import dumps
from sim.edit.another_algorithm import with_algorithm
from sim.run.execution import MOST_STEPS, run
from sim.run.price import price_of

BUSY = 500  # about as many application events in a run, unless the workload's parameters are given
MOST_CHANNELS = 500_000  # in all cells together
MOST_ROWS = 10**11  # event rows of all runs together, as estimated


class Cell(NamedTuple):
    """One combination of parameters: its scenario with seed 0, this as TOML, and an estimate of the rows of a run."""

    scenario: Scenario
    document: str
    rows: int


class _Trial(NamedTuple):
    """A trial run: the time of its last step, and its number of event rows."""

    duration: float
    rows: int


@lru_cache(maxsize=8)
def cells_of(grid: Grid) -> tuple[Cell, ...]:
    """The cells of `grid`, in the order of their numbers. Makes trial runs to estimate the durations.

    Raises InputError for a cell that is no valid scenario or whose run would be too long, or a grid that is too big;
    OutOfTime when the deadline passes.
    """
    build = _CellBuilder(grid)
    cells = []
    channels = rows = 0
    drafts = list(_drafts(grid))
    _refuse_without_fifo(grid, drafts)
    for number, draft in enumerate(in_time(drafts, every=1)):
        cells.append(build.cell(number, draft))
        channels += len(cells[-1].scenario.channels)
        rows += cells[-1].rows * grid.runs
        if channels > MOST_CHANNELS:
            raise InputError(f"--processes: the cells have more than {MOST_CHANNELS} channels; use fewer, or rings")
        if rows > MOST_ROWS:
            raise InputError(f"--runs: the grid comes to more than {MOST_ROWS:.0e} events; use fewer or shorter runs")
    return tuple(cells)


# ------------------------------------------------------------------ combinations

_Draft = tuple[Scenario, int]  # a scenario without snapshots, and the number of processes that initiate each snapshot
_NOT_FIFO = {YES: (), NO: (EVERY_CHANNEL,)}


def _drafts(grid: Grid) -> Iterator[_Draft]:
    """Every combination of values; the parameters that vary most slowly come first. None stands for the base's own."""
    own: Sequence[Any] = (None,)
    for base in _bases(grid):
        for values in itertools.product(*grid.parameters.values()):
            parameters = {**base.parameters, **dict(zip(grid.parameters, values, strict=True))}
            rest = (
                grid.delays, grid.marker_delays, grid.initiators, *grid.rates.values(), *grid.settings.values(),
                grid.fifo, grid.algorithms,
            )  # fmt: skip
            for delay, marker_delay, initiators, *numbers, fifo, algorithm in itertools.product(
                *(listed or own for listed in rest)
            ):
                rates, settings = numbers[: len(grid.rates)], numbers[len(grid.rates) :]
                given = {name: rate for name, rate in zip(grid.rates, rates, strict=True) if rate is not None}
                is_own = algorithm in (None, base.algorithm)
                rule = parameter_values.delay_rule(delay or parameter_values.SAME) or base.delay
                draft = replace(
                    base if is_own else with_algorithm(base, algorithm),
                    parameters=parameters,
                    delay=rule,
                    control_delay=rule if grid.scenario is None else base.control_delay,  # one for the network
                    marker_delay=base.marker_delay
                    if marker_delay is None
                    else parameter_values.delay_rule(marker_delay),
                    fault_rates=replace(base.fault_rates, **given),
                    not_fifo=_NOT_FIFO.get(fifo, base.not_fifo),
                )
                yield _with_settings(draft, dict(zip(grid.settings, settings, strict=True))), initiators or 0


def _with_settings(scenario: Scenario, settings: Mapping[str, float | None]) -> Scenario:
    """`scenario` with these settings of its services (SETTINGS; None: its own). Raises InputError."""
    given: dict[str, dict[str, float]] = {"storage": {}, "coordinator": {}}
    for option, value in settings.items():
        if value is not None:
            table, name = SETTINGS[option]
            given[table][name] = value
    if given["coordinator"] and scenario.coordinator is None:
        raise InputError("--checkpoint-interval: there is no coordinator; choose a scenario that has one")
    own = {table: {**(getattr(scenario, table) or {}), **values} for table, values in given.items() if values}
    return replace(
        scenario,
        storage=own.get("storage", scenario.storage),
        coordinator=own.get("coordinator", scenario.coordinator),
    )


def _refuse_without_fifo(grid: Grid, drafts: Sequence[_Draft]) -> None:
    """Raises InputError if `fifo` includes "no" and an algorithm needs FIFO channels; names the algorithms."""
    if NO not in grid.fifo:
        return
    used = dict.fromkeys(draft.algorithm for draft, _ in drafts if grid.snapshots or draft.snapshots)
    refused = [ALGORITHMS[name].title for name in used if ALGORITHMS[name].needs_fifo]
    if refused:
        able = [ALGORITHMS[name].title for name in ALGORITHMS if not ALGORITHMS[name].needs_fifo]
        wish = f", or only algorithms that need none: {', '.join(able)}" if able else ""
        needs = "need FIFO channels and cannot be" if len(refused) > 1 else "needs FIFO channels and cannot be"
        problem = f"{' and '.join(refused)} {needs} combined with channels that are not FIFO"
        raise InputError(f"--fifo: {problem}; choose FIFO channels{wish}")


def _bases(grid: Grid) -> Iterator[Scenario]:
    """The grid's scenario; or one for each topology and number of processes of the grid's workload."""
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
    """Whether processes take turns by themselves with the default parameters of a grid."""
    known = WORKLOADS[workload]
    return known(("P1", "P2"), 0, **known.busy(2, BUSY)).takes_turns


def _try(scenario: Scenario) -> _Trial:
    execution = run(scenario)
    return _Trial(execution.times[-1], len(execution.log))


def _refuse_long(scenario: Scenario) -> None:
    """Raises InputError for a run that would have more steps than a run may have."""
    try:
        price_of(scenario).refuse_beyond(MOST_STEPS, "an ensemble")
    except InputError as problem:
        raise InputError(scenario.at(str(problem))) from None


class _CellBuilder:
    """Makes cells of drafts, and caches trial runs."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._trials: dict[str, _Trial] = {}

    def cell(self, number: int, draft: _Draft) -> Cell:
        """The cell of a draft, checked like a scenario file. Raises InputError if it is invalid."""
        scenario, initiators = draft
        where = f"cell {number} ({scenario.workload}, {scenario.topology.kind} of {len(scenario.processes)})"
        if self._grid.scenario is not None:
            document = dumps(scenario)
            scenario = parse_toml(document, scenario.name, where)
            return Cell(scenario, document, self._rows_of(scenario))
        trial = self._trial(scenario, where)
        snapshots = tuple(self._initiations(scenario, initiators, trial.duration))
        document = dumps(replace(scenario, snapshots=snapshots))
        scenario = parse_toml(document, scenario.name, where)
        control_rows = self._grid.snapshots * (2 * len(scenario.processes) + 3 * len(scenario.channels))
        faults = scenario.fault_rates.expected(len(scenario.processes), len(scenario.channels))
        return Cell(scenario, document, trial.rows + control_rows + round(faults))

    def _rows_of(self, scenario: Scenario) -> int:
        """The number of event rows of a scenario's first run; 0 if it fails: the table of runs will say why."""
        try:
            return _try(replace(scenario, seed=self._grid.seed)).rows
        except InputError:
            return 0

    def _trial(self, scenario: Scenario, where: str) -> _Trial:
        """A trial run of the workload, without faults. Cells that differ in snapshots or rates only share it, so their
        snapshots start together."""
        usual = Scenario("", ())
        own = replace(scenario, marker_delay=None, algorithm=usual.algorithm, algorithm_parameters={})
        plain = dumps(replace(own, fault_rates=usual.fault_rates))
        if plain not in self._trials:
            workload = parse_toml(plain, scenario.name, where)
            if not workload.engine().workload.takes_turns:
                raise InputError(
                    f"--workload: {workload.workload} does nothing by itself with these parameters; "
                    "choose some that make it busy (--set), or a scenario with a script (--scenario)"
                )
            _refuse_long(workload)
            self._trials[plain] = _try(replace(workload, seed=self._grid.seed))
        return self._trials[plain]

    def _initiations(self, scenario: Scenario, initiators: int, duration: float) -> Iterator[Initiation]:
        """The initiators and times of all snapshots: all at `grid.at`, or spread evenly, each by the next processes."""
        grid, able = self._grid, may_initiate(scenario)
        count = len(able)
        if count and scenario.rules.initiators in (SOURCES, ALL):
            initiators = count  # with fewer, some process would not be reached
        if not count and grid.snapshots:
            title, where = scenario.rules.title, f"a {scenario.topology.kind} of {len(scenario.processes)}"
            needs = f"snapshots of {title} are initiated by sources, and {where} has none"
            raise InputError(f'--topology: {needs}; use "dag", a scenario with a source, or another algorithm')
        if initiators > 1 and (scenario.rules.one_initiator or scenario.rules.initiators == COORDINATOR):
            who = "its coordinator" if scenario.rules.initiators == COORDINATOR else "one process"
            raise InputError(f"--initiators: with {scenario.rules.title} {who} starts a snapshot; use 1")
        if initiators > count:
            raise InputError(f"--initiators: {initiators} of {count} processes cannot initiate; use at most {count}")
        for number in range(1, grid.snapshots + 1):
            spread = duration * number / (grid.snapshots + 1)
            at = float(f"{spread:.3g}") if grid.at is None else grid.at
            for initiator in range(initiators):
                yield Initiation(f"S{number}", able[(initiator * count // initiators + number - 1) % count], at)
