"""The options of a grid: their help texts, their defaults, and the reading of their values from texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pipeline.ensembles import parameter_values
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError, nearest
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
    "scenario": "the path of a scenario, or the name of a bundled one, such as lecture",
    "workload": "the computation of the processes, if there is no scenario, such as bank",
    "topology": "complete, ring, line, star, dag, random, or random:EXTRA with EXTRA more channels",
    "processes": "the number of processes, such as 4,8,16",
    "delay": "the delay of messages, and without a scenario of control messages: fixed:1, uniform:1:9, whole:0:4 or "
    "exponential:5; a number alone is a fixed delay",
    "marker_delay": "the delay of markers, written like --delay; or same, for the delay of messages",
    "fifo": "yes: channels deliver in the order of sending; no: messages and markers may overtake each other",
    "algorithm": "the snapshot algorithm, such as chandy_lamport",
    "initiators": "the number of processes that initiate a snapshot together, spread evenly",
    "snapshots": "the number of snapshots in a run, each initiated by other processes",
    "at": "the time at which all snapshots start (default: spread evenly over the run, a single one in its middle)",
    "crash": "the crashes of a running process per time unit: 0.02 is once in 50 time units (default: never)",
    "restart": "the restarts of a crashed process per time unit: 0.2 is after 5 time units (default: never)",
    "sever": "how often a channel is severed per time unit, such as 0.01 (default: never)",
    "mend": "how often a severed channel is mended per time unit, such as 0.1 (default: never)",
    "lose": "the share of all messages that the network loses: 0.05 is one in 20 (default: none)",
    "copy": "the share of all messages that the network delivers twice, such as 0.05 (default: none)",
    "faults_until": f"the time after which no more random faults happen (default: {UNTIL:g})",
    "storage_bandwidth": "the bytes that the storage accepts per time unit, such as 200 (default: no bound)",
    "storage_limit": "the uploads that the storage accepts at a time; it answers one more with 503 (0: no bound)",
    "storage_jitter": "the longest random time that a process waits before it uploads: 0..0.5:0.1",
    "checkpoint_interval": "the time units between two snapshots of the scenario's coordinator (0: no snapshots)",
    "costs": "yes: measure what snapshots cost, against the same run without them; it takes twice the time",
    "runs": "the number of runs of each cell",
    "seed": "the seed of a cell's first run; the next runs take the next seeds",
    "events": "the runs whose events are kept: sample (each cell's first run, and every run that fails), all or none",
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
# The options for the services of a scenario: the table of each in the scenario, and its key there.
SETTINGS: Mapping[str, tuple[str, str]] = {
    "storage_bandwidth": ("storage", "bandwidth"), "storage_limit": ("storage", "limit"),
    "storage_jitter": ("storage", "jitter"), "checkpoint_interval": ("coordinator", "interval"),
}  # fmt: skip
# The options that may be given together with a scenario.
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


def flag(option: str) -> str:
    """An option as on the command line; errors name it so."""
    return f"--{option.replace('_', '-')}"


def field_of(option: str) -> str:
    """The field of Grid that an option sets."""
    return _READERS[option][0] if option in _READERS else option


def read_fields(given: Mapping[str, str], parameters: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a grid that the options set. Raises InputError, which names the option."""
    for option in given:
        if option not in OPTIONS:
            raise InputError(f"{option}: is no option of a grid; {nearest(option, list(OPTIONS))}")
    values = _origin(given)
    for option, text in given.items():
        if option in _READERS:
            name, read = _READERS[option]
            found = read(flag(option), text)
            values[name] = tuple(found) if isinstance(found, list) else found
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
                f"{flag(option)}: a scenario sets this itself; "
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
