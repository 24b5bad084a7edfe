"""A grid of parameters: every combination of the listed values is a cell, and each cell is run many times.

A grid varies a workload, whose other parameters have the values of DEFAULTS; or a scenario, which keeps its other
parameters. The runs of every cell have the same seeds, so cells differ in their parameters only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pipeline.ensembles import parameter_values
from pipeline.ensembles.options import (
    ALL,
    DEFAULTS,
    MOST_CELLS,
    MOST_RUNS,
    MOST_SNAPSHOTS,
    NO,
    NONE,
    RATES,
    SAMPLE,
    SETTINGS,
    YES,
    field_of,
    flag,
    read_fields,
)
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError, brief
from sim.core.workload import WORKLOADS
from sim.document.scenario import MOST_PROCESSES
from sim.document.toml_table import MOST_NUMBER


@dataclass(frozen=True)
class Grid:
    """Every combination of the listed values, `runs` times each. An empty list means the scenario's own value.

    `scenario` is TOML, `name` its name or that of the workload. Delays and topologies are texts as parameter_values
    writes them; `fifo` holds YES and NO. `crash` to `faults_until` are the rates of random faults (FaultRates);
    `storage_bandwidth` to `checkpoint_interval` are the settings of the services (SETTINGS). Snapshots start at time
    `at` (None: spread evenly over the run). The seeds are `seed`, `seed` + 1, and so on. `costs` says whether the costs
    of snapshots are measured (YES or NO), `events` whose events are kept (SAMPLE, ALL or NONE): see OPTIONS.
    """

    name: str
    scenario: str | None = None
    workload: str = ""
    topologies: tuple[str, ...] = ()
    processes: tuple[int, ...] = ()
    parameters: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, hash=False)
    delays: tuple[str, ...] = ()
    marker_delays: tuple[str, ...] = ()
    fifo: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ()
    initiators: tuple[int, ...] = ()
    snapshots: int = 0
    at: float | None = None
    crash: tuple[float, ...] = ()
    restart: tuple[float, ...] = ()
    sever: tuple[float, ...] = ()
    mend: tuple[float, ...] = ()
    lose: tuple[float, ...] = ()
    copy: tuple[float, ...] = ()
    faults_until: tuple[float, ...] = ()
    storage_bandwidth: tuple[float, ...] = ()
    storage_limit: tuple[int, ...] = ()
    storage_jitter: tuple[float, ...] = ()
    checkpoint_interval: tuple[float, ...] = ()
    costs: str = NO
    runs: int = 1
    seed: int = 0
    events: str = SAMPLE

    @classmethod
    def read(cls, given: Mapping[str, str], parameters: Mapping[str, str] | None = None) -> Grid:
        """The grid from texts: `given` by the names of OPTIONS, and `parameters` of the workload by their names.

        Raises InputError, which names the option, for values that cannot be read, and for a grid that is too big.
        """
        if "scenario" in given:
            plain = {key: text for key, text in DEFAULTS.items() if key in ("costs", "runs", "events")}
        else:
            plain = {"workload": "bank", **DEFAULTS}
        grid = cls(**read_fields({**plain, **given}, parameters or {}))
        if not grid.is_small_enough:
            raise InputError(
                f"the grid has {grid.cell_count} cells and {grid.run_count} runs; "
                f"{MOST_CELLS} cells and {MOST_RUNS} runs are the most, so give shorter lists or fewer runs (--runs)"
            )
        return grid

    @property
    def cell_count(self) -> int:
        """The number of cells."""
        listed = (
            self.topologies, self.processes, self.delays, self.marker_delays, self.fifo, self.algorithms,
            self.initiators, *self.rates.values(), *self.settings.values(), *self.parameters.values(),
        )  # fmt: skip
        return math.prod(len(values) for values in listed if values)

    @property
    def rates(self) -> dict[str, tuple[float, ...]]:
        """The listed rates of random faults, by their names in a scenario's [fault_rates]."""
        return {name: getattr(self, option) for name, option in RATES.items()}

    @property
    def settings(self) -> dict[str, tuple[float, ...]]:
        """The listed settings of services, by their options (SETTINGS)."""
        return {option: getattr(self, option) for option in SETTINGS}

    @property
    def run_count(self) -> int:
        """The number of runs of all cells."""
        return self.cell_count * self.runs

    @property
    def is_small_enough(self) -> bool:
        """Whether it has no more cells and runs than an ensemble may have."""
        return self.cell_count <= MOST_CELLS and self.run_count <= MOST_RUNS

    def agree(self, given: Mapping[str, str], parameters: Mapping[str, str]) -> None:
        """Raises InputError if an option or parameter differs from this grid."""
        origin = {} if "scenario" in given else {"workload": self.workload}
        read = read_fields({**origin, **given}, parameters)
        wanted = {option: read[field_of(option)] for option in given}
        has = {option: getattr(self, field_of(option)) for option in given}
        for name, values in read.get("parameters", {}).items():
            wanted[f"set {name}"], has[f"set {name}"] = values, self.parameters.get(name)
        for option, value in wanted.items():
            if value != has[option]:
                is_given = has[option] not in (None, (), "")
                begun = f"with {_quoted(has[option])}, not" if is_given else "without it, not with"
                raise InputError(
                    f"{flag(option)}: the folder was begun {begun} {_quoted(value)}; "
                    "leave the option out to resume, or name a new folder"
                )

    def to_json(self) -> dict[str, Any]:
        """This grid as plain JSON values, for `from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Grid:
        """The grid that `to_json` wrote. Raises InputError if `values` are no such grid."""
        is_known = _REQUIRED <= values.keys() <= _IS_RIGHT.keys()
        if is_known and all(_IS_RIGHT[name](value) for name, value in values.items()):
            parameters = {name: tuple(listed) for name, listed in values["parameters"].items()}
            grid = cls(**{**{name: _frozen(value) for name, value in values.items()}, "parameters": parameters})
            if grid.is_small_enough and _is_complete(grid):
                return grid
        raise InputError("the manifest describes no grid that this version knows; run the ensemble anew")


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _quoted(value: Any) -> str:
    return brief(list(value) if isinstance(value, tuple) else value)


# ------------------------------------------------------------------ from JSON


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_list_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(is_right, value))


def _is_list_as_read_by(read: Callable[[str, str], Sequence[str]]) -> Callable[[Any], bool]:
    """Whether a value is a list of texts that the reader of an option writes."""

    def is_right(value: Any) -> bool:
        try:
            return _is_list_of(_is_text)(value) and (not value or list(read("", ",".join(value))) == value)
        except InputError:
            return False

    return is_right


def _is_rate(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MOST_NUMBER


def _are_lists(value: Any) -> bool:
    """Whether it holds a list for each parameter; the workload says which values are right."""
    return isinstance(value, Mapping) and all(isinstance(listed, list) and listed for listed in value.values())


# By field of Grid: whether a JSON value is one of it.
_IS_RIGHT: Mapping[str, Callable[[Any], bool]] = {
    "name": _is_text,
    "scenario": lambda value: value is None or _is_text(value),
    "workload": lambda value: _is_text(value) and value in WORKLOADS,
    "topologies": _is_list_as_read_by(parameter_values.topology_texts),
    "processes": _is_list_of(_is_whole(1, MOST_PROCESSES)),
    "parameters": _are_lists,
    "delays": _is_list_as_read_by(parameter_values.delay_texts),
    "marker_delays": _is_list_as_read_by(parameter_values.delay_texts),
    "fifo": _is_list_of(lambda value: value in (YES, NO)),
    "algorithms": _is_list_of(lambda value: _is_text(value) and value in ALGORITHMS),
    "initiators": _is_list_of(_is_whole(1, MOST_PROCESSES)),
    "snapshots": _is_whole(0, MOST_SNAPSHOTS),
    "at": lambda value: value is None or (isinstance(value, int | float) and 0 <= value < MOST_NUMBER),
    **dict.fromkeys((*RATES.values(), *SETTINGS), _is_list_of(_is_rate)),
    "storage_limit": _is_list_of(_is_whole(0, MOST_NUMBER)),
    "costs": lambda value: value in (YES, NO),
    "runs": _is_whole(1, MOST_RUNS),
    "seed": _is_whole(-MOST_NUMBER, MOST_NUMBER),
    "events": lambda value: value in (SAMPLE, ALL, NONE),
}
_REQUIRED = {"name", "parameters", "workload"}


def _is_complete(grid: Grid) -> bool:
    """Whether a grid without a scenario says what each run needs."""
    has_all = grid.topologies and grid.processes and grid.initiators
    return grid.scenario is not None or bool(has_all)
