"""A grid of parameters: every combination of the listed values is a cell, and each cell is run many times.

A grid varies a workload, whose other parameters have the values of DEFAULTS; or a scenario, which keeps its other
parameters. The runs of every cell have the same seeds, so cells differ in their parameters only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from pipeline.ensembles import parameter_values
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError, brief, nearest
from sim.core.workload import WORKLOADS
from sim.document import library
from sim.document.fault_rates import UNTIL
from sim.document.scenario import MOST_PROCESSES
from sim.document.toml_table import MOST_NUMBER
from sim.document.writing import dumps

SAMPLE, ALL, NONE = "sample", "all", "none"
YES, NO = "yes", "no"  # whether the channels of a cell are FIFO
MOST_CELLS = 2_000
MOST_RUNS = 10_000_000
MOST_SNAPSHOTS = 100

# The options of a grid in the order of the form, with their help texts.
OPTIONS: Mapping[str, str] = {
    "scenario": "a scenario: a path, or the name of a bundled one",
    "workload": "what the processes compute, where there is no scenario",
    "topology": "complete, ring, line, star, dag, random, or random:EXTRA with as many extra channels",
    "processes": "how many there are",
    "delay": "of messages, and of control messages where there is no scenario: fixed:1, uniform:1:9, whole:0:4, "
    "exponential:5; a number alone is a fixed one",
    "marker_delay": "of markers: written as a delay is, or same",
    "fifo": "whether channels deliver in the order of sending: yes, or no (then messages and markers may overtake)",
    "algorithm": "by which the snapshots are taken",
    "initiators": "how many processes initiate a snapshot together, spread evenly",
    "snapshots": "how many a run takes, each initiated by other processes",
    "at": "when they all start; else they are spread evenly over the run, a single one in its middle",
    "crash": "how often a process that is up crashes, per time unit: 0.02 is once in 50 time units (default: never)",
    "restart": "how often a process that is down starts again, per time unit: 0.2 is after 5 (default: never)",
    "sever": "how often a channel is severed, per time unit (default: never)",
    "mend": "how often a channel that is severed is mended, per time unit (default: never)",
    "lose": "the share of all messages that the network loses: 0.05 is one in 20 (default: none)",
    "copy": "the share of all messages that the network delivers twice (default: none)",
    "faults_until": f"the time after which nothing more fails at random (default: {UNTIL:g})",
    "storage_bandwidth": "bytes that the storage takes per time unit (default: as many as come)",
    "storage_limit": "uploads that the storage takes at a time; to one more it answers 503 (0: any number)",
    "storage_jitter": "a process waits a random time before it uploads, at most so long: 0..0.5:0.1",
    "checkpoint_interval": "time units from one snapshot of the scenario's coordinator to the next (0: none)",
    "costs": "whether what snapshots cost is measured, against the same run without them: yes takes twice the time",
    "runs": "of each cell",
    "seed": "of a cell's first run; the next ones follow",
    "events": "whose events are kept: sample (of each cell's first run, and of every run that fails), all or none",
}
# The values of options that are not given; with a scenario, only `runs` and `events` have a default.
DEFAULTS: Mapping[str, str] = {
    "topology": "complete", "processes": "8", "delay": "uniform:1:9", "marker_delay": parameter_values.SAME,
    "fifo": YES, "algorithm": "chandy_lamport", "initiators": "1", "snapshots": "1", "costs": NO, "runs": "100",
    "seed": "0", "events": SAMPLE,
}  # fmt: skip
# The options for the rates of random faults, by their names in a scenario's [fault_rates].
RATES: Mapping[str, str] = {
    "crash": "crash", "restart": "restart", "sever": "sever", "mend": "mend", "lose": "lose",
    "copy": "copy", "until": "faults_until",
}  # fmt: skip
# The options for what the services of a scenario are told: the table of each, and its name there.
SETTINGS: Mapping[str, tuple[str, str]] = {
    "storage_bandwidth": ("storage", "bandwidth"), "storage_limit": ("storage", "limit"),
    "storage_jitter": ("storage", "jitter"), "checkpoint_interval": ("coordinator", "interval"),
}  # fmt: skip
# What may be given beside a scenario.
_WITH_SCENARIO = (
    "delay",
    "marker_delay",
    "fifo",
    "algorithm",
    *RATES.values(),
    *SETTINGS,
    "costs",
    "runs",
    "seed",
    "events",
)


@dataclass(frozen=True)
class Grid:
    """Every combination of the listed values, `runs` times each. An empty list means the scenario's own value.

    `scenario` is TOML, `name` its name or that of the workload. Delays and topologies are texts as parameter_values
    writes them; `fifo` holds YES and NO. `crash` to `faults_until` are the rates of random faults (FaultRates);
    `storage_bandwidth` to `checkpoint_interval` are what the services are told (SETTINGS).
    Snapshots start at time `at` (None: spread evenly over the run). The seeds are
    `seed`, `seed` + 1, and so on. `costs` says whether what snapshots cost is measured (YES or NO), `events` whose
    events are kept (SAMPLE, ALL or NONE): see OPTIONS.
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
        grid = cls(**_read_fields({**plain, **given}, parameters or {}))
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
        read = _read_fields({**origin, **given}, parameters)
        wanted = {option: read[_field(option)] for option in given}
        has = {option: getattr(self, _field(option)) for option in given}
        for name, values in read.get("parameters", {}).items():
            wanted[f"set {name}"], has[f"set {name}"] = values, self.parameters.get(name)
        for option, value in wanted.items():
            if value != has[option]:
                is_given = has[option] not in (None, (), "")
                begun = f"with {_quoted(has[option])}, not" if is_given else "without it, not with"
                raise InputError(
                    f"{_flag(option)}: the folder was begun {begun} {_quoted(value)}; "
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
    """Whether it holds a list for each parameter; its workload says what is in it."""
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


# ------------------------------------------------------------------ from texts


def _flag(option: str) -> str:
    """An option as on the command line; errors name it so."""
    return f"--{option.replace('_', '-')}"


def _field(option: str) -> str:
    """The field of Grid that an option sets."""
    return _READERS[option][0] if option in _READERS else option


def _read_fields(given: Mapping[str, str], parameters: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a grid that the options set. Raises InputError, which names the option."""
    for option in given:
        if option not in OPTIONS:
            raise InputError(f"{option}: is no option of a grid; {nearest(option, list(OPTIONS))}")
    values = _origin(given)
    for option, text in given.items():
        if option in _READERS:
            name, read = _READERS[option]
            values[name] = _frozen(read(_flag(option), text))
    if parameters:
        values["parameters"] = _parameters(values["workload"], parameters)
    return values


def _origin(given: Mapping[str, str]) -> dict[str, Any]:
    """The fields for the workload, or for the scenario with its workload and seed."""
    if "scenario" not in given:
        workload = parameter_values.single(
            "--workload", parameter_values.names("--workload", given["workload"], WORKLOADS)
        )
        return {"name": workload, "workload": workload}
    for option in given:
        if option not in (*_WITH_SCENARIO, "scenario"):
            raise InputError(
                f"{_flag(option)}: a scenario says that itself; "
                "leave this out, or choose a workload instead (--workload)"
            )
    scenario = library.find(given["scenario"])
    text = dumps(replace(scenario, seed=0, expect={}))  # `expect` need not hold for variants
    return {"name": scenario.name, "scenario": text, "workload": scenario.workload, "seed": scenario.seed}


def _parameters(workload: str, given: Mapping[str, str]) -> dict[str, tuple[Any, ...]]:
    known = WORKLOADS[workload].parameters
    for name in given:
        if name not in known:
            raise InputError(f"--set {name}: {workload} has no such parameter; {nearest(name, list(known))}")
    return {name: tuple(parameter_values.values(f"--set {name}", text, known[name])) for name, text in given.items()}


def _delays(option: str, text: str) -> list[str]:
    found = parameter_values.delay_texts(option, text)
    if parameter_values.SAME in found:
        raise InputError(
            f"{option}: {parameter_values.SAME} is for markers; write fixed:1, uniform:1:9, whole:0:4 or exponential:5"
        )
    return found


Reader = Callable[[str, str], Any]


def _single(read: Reader) -> Reader:
    return lambda option, text: parameter_values.single(option, read(option, text))


# By option: the field of Grid that it sets, and the function that reads its text.
_READERS: Mapping[str, tuple[str, Reader]] = {
    "topology": ("topologies", parameter_values.topology_texts),
    "processes": ("processes", partial(parameter_values.whole_numbers, least=1, most=MOST_PROCESSES)),
    "delay": ("delays", _delays),
    "marker_delay": ("marker_delays", parameter_values.delay_texts),
    "fifo": ("fifo", partial(parameter_values.names, known=(YES, NO))),
    "algorithm": ("algorithms", partial(parameter_values.names, known=ALGORITHMS)),
    "initiators": ("initiators", partial(parameter_values.whole_numbers, least=1, most=MOST_PROCESSES)),
    "snapshots": ("snapshots", _single(partial(parameter_values.whole_numbers, most=MOST_SNAPSHOTS))),
    "at": ("at", _single(parameter_values.numbers)),
    **{option: (option, parameter_values.numbers) for option in (*RATES.values(), *SETTINGS)},
    "storage_limit": ("storage_limit", parameter_values.whole_numbers),
    "costs": ("costs", _single(partial(parameter_values.names, known=(YES, NO)))),
    "runs": ("runs", _single(partial(parameter_values.whole_numbers, least=1, most=MOST_RUNS))),
    "seed": ("seed", _single(partial(parameter_values.whole_numbers, most=MOST_NUMBER - MOST_RUNS))),
    "events": ("events", _single(partial(parameter_values.names, known=(SAMPLE, ALL, NONE)))),
}
