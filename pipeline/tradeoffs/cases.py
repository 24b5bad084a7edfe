"""The cases of the table of trade-offs: the systems on which every algorithm is measured.

A case is a topology, a number of processes, the time between their sends, and the delay of markers. Every algorithm
runs in every case that its rules accept. The table says what it refuses, and why. Two algorithms can only be compared
in the same case, with the same messages.

One rule draws the delays of messages, markers and control messages. A control message goes from process to process like
a message, and a marker is an entry in a channel. So neither is faster by nature. Slow markers are an input of their
own: a marker may wait in a full buffer.

The processes go on sending until the snapshot is complete. If the rules of an algorithm allow for a recovery, one is
carried out: a process crashes, and all go back to a stored snapshot. Algorithms for one process run on one process,
too, which writes pages slowly and fast; on several processes their snapshots begin one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from pipeline.ensembles import parameter_values
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.rerun import scenario_of
from sim.core.algorithm import ALGORITHMS
from sim.core.delays import DelayRule
from sim.core.errors import InputError, nearest
from sim.core.recovery import ON_CRASH, RecoveryPlan
from sim.core.topology import Topology
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine, Initiation, Scenario
from sim.document.writing import dumps
from sim.edit.another_algorithm import with_algorithm

SNAPSHOT, ONE_NODE, RECOVERY = KINDS = ("snapshot", "one node", "recovery")
BEHIND_A_SOURCE = "ring behind a source"
ONE_PROCESS = "one process"

BALANCE = 100_000  # of each process: no process runs out of money
STARTS = 6  # the mean delays of a message before the first snapshot: the channels are as full as they get
APART = 5.0  # the time between uncoordinated checkpoints of different processes
WRITING, WRITES_FOR = (0.5, 4.0), 60.0  # the mean times between two writes of a single process; the time it writes for
STORAGE = {"bandwidth": 200.0, "latency": 1.0}  # enough for checkpoints that 20 processes take without a pause

LEAST, LARGEST = 3, 20  # processes
MOST_RUNS = 7_500  # of each algorithm
MOST_PAYMENTS = 2_000  # of a process


@dataclass(frozen=True)
class Asked:
    """The inputs of the table. Delays and topologies are texts as parameter_values writes them.

    `marker_delays`: the first one is the usual one. `paces`: the mean times between two payments of a process. `runs`:
    the number of runs of each case.
    """

    topologies: tuple[str, ...] = ("complete", "ring", "line", "star", "dag")
    processes: tuple[int, ...] = (4, 8, 20)
    delay: str = "uniform:1:9"
    marker_delays: tuple[str, ...] = (parameter_values.SAME, "uniform:1:40")
    paces: tuple[float, ...] = (2.0, 20.0)
    runs: int = 5
    seed: int = 0

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Asked:
        """The inputs from texts by the names of OPTIONS; the others have their defaults.

        Raises InputError, which names the option.
        """
        for option in given:
            if option not in OPTIONS:
                raise InputError(f"{option}: is no option of the table; {nearest(option, OPTIONS)}")
        usual = cls()
        texts = {
            "topology": ",".join(usual.topologies), "processes": ",".join(map(str, usual.processes)),
            "delay": usual.delay, "marker_delay": ",".join(usual.marker_delays), "runs": str(usual.runs),
            "seed": str(usual.seed), **given,
        }  # fmt: skip
        paces = given.get("pace")
        grid = Grid.read({name: text for name, text in texts.items() if name != "pace"} | {"workload": "bank"})
        asked = cls(
            grid.topologies, grid.processes, parameter_values.single("--delay", list(grid.delays)), grid.marker_delays,
            usual.paces if paces is None else tuple(parameter_values.numbers("--pace", paces, least=0.1)),
            grid.runs, grid.seed,
        )  # fmt: skip
        asked._check()
        return asked

    def _check(self) -> None:
        """Raises InputError for a table that is too small or too big."""
        if not all(LEAST <= count <= LARGEST for count in self.processes):
            raise InputError(
                f"--processes: the table is measured on systems of {LEAST} to {LARGEST} processes; write 4,8"
            )
        self.allow(MOST_RUNS)
        most = max(self.processes)
        longest = max(_lasts(self, own, most, markers) for own in self.places for markers in self.marker_delays)
        payments = _payments(3 * longest, min(self.paces))
        if payments > MOST_PAYMENTS:
            raise InputError(
                f"--pace: a process would make about {payments:,} payments until the snapshot is complete, and "
                f"{MOST_PAYMENTS:,} are the most; give a longer pace, or shorter delays"
            )

    @property
    def places(self) -> tuple[str, ...]:
        """The topologies, and the ring behind a source, which has both a circle and a source."""
        return (*self.topologies, BEHIND_A_SOURCE)

    @property
    def runs_of_each(self) -> int:
        """An upper bound for the number of runs of each algorithm, about."""
        systems = len(self.processes) * len(self.places) * len(self.paces)
        return systems * (len(self.marker_delays) + 1) * self.runs

    def allow(self, most: int) -> None:
        """Raises InputError if an algorithm would have more than `most` runs."""
        if self.runs_of_each > most:
            raise InputError(
                f"--runs: this comes to about {self.runs_of_each:,} runs of each algorithm, and {most:,} are the most; "
                "give shorter lists, or fewer runs"
            )


# The options of the table, with their help texts.
OPTIONS: Mapping[str, str] = {
    "topology": "the topologies on which each algorithm runs: complete, ring, line, star, dag, random:EXTRA",
    "processes": f"the numbers of processes, from {LEAST} to {LARGEST}, such as 4,8",
    "delay": "the delay of messages and control messages: fixed:1, uniform:1:9, whole:0:4, exponential:5",
    "marker_delay": "the delays of markers, or same; claims are checked with each, most figures show the first",
    "pace": "the mean times between two payments of a process: 2,20 is a busy system and a quiet one",
    "runs": "the number of runs of each combination",
    "seed": "the seed of the first run of each combination; the next runs take the next seeds",
}


class Setting(NamedTuple):
    """The inputs of a case. `topology` has extra names for the ring behind a source and for one process; `pace` is the
    mean time between two sends, or writes, of a process."""

    topology: str
    processes: int
    marker_delay: str
    pace: float


class Case(NamedTuple):
    """Runs of one algorithm in one setting: a scenario as TOML without a seed, or a sentence that says why there is
    none. `kind` is one of KINDS."""

    algorithm: str
    kind: str
    setting: Setting
    document: str | None
    refused: str | None = None


class Where(NamedTuple):
    """A run of an algorithm: the kind and the setting of its case, and its seed."""

    kind: str
    setting: Setting
    seed: int


def cases_of(asked: Asked, algorithms: Iterable[str] | None = None) -> tuple[Case, ...]:
    """The cases of these algorithms (None: of all)."""
    names = sorted(ALGORITHMS) if algorithms is None else algorithms
    return tuple(_case(asked, name, kind, setting) for name in names for kind, setting in _settings(asked, name))


def _settings(asked: Asked, algorithm: str) -> Iterator[tuple[str, Setting]]:
    """The kind and the setting of each case."""
    places = list(product(asked.places, asked.processes))
    for (topology, count), markers, pace in product(places, asked.marker_delays, asked.paces):
        yield SNAPSHOT, Setting(topology, count, markers, pace)
    if ALGORITHMS[algorithm].one_node:
        for pace in WRITING:
            yield ONE_NODE, Setting(ONE_PROCESS, 1, asked.marker_delays[0], pace)
    for (topology, count), pace in product(places, asked.paces):
        yield RECOVERY, Setting(topology, count, asked.marker_delays[0], pace)


def _case(asked: Asked, algorithm: str, kind: str, setting: Setting) -> Case:
    document = dumps(_SCENARIOS[kind](asked, algorithm, setting))
    try:
        parse_toml(document, kind)
    except InputError as problem:
        return Case(algorithm, kind, setting, None, str(problem))
    return Case(algorithm, kind, setting, document)


def run_count(asked: Asked, cases: Iterable[Case]) -> int:
    """The number of all runs."""
    return asked.runs * sum(case.document is not None for case in cases)


def typical_scenario(asked: Asked, algorithm: str, where: Where) -> Scenario:
    """The scenario of a run of the table. Raises InputError if it has no such run."""
    if (where.kind, where.setting) in list(_settings(asked, algorithm)):
        document = _case(asked, algorithm, where.kind, where.setting).document
        if document is not None:
            return scenario_of({"document": document, "seed": where.seed, "workload": where.kind})
    raise InputError("the table has no such run; make it anew")


# ------------------------------------------------------------------ scenarios


def _with_snapshot(asked: Asked, algorithm: str, setting: Setting) -> Scenario:
    """A bank in which one snapshot is taken."""
    base = _bank(asked, setting, 1)
    (start,) = base.snapshots
    if ALGORITHMS[algorithm].one_node:  # each process begins by itself
        starts = (replace(start, process=name, at=start.at + APART * n) for n, name in enumerate(base.processes))
        return replace(base, algorithm=algorithm, snapshots=tuple(starts))
    return with_algorithm(base, algorithm)


def _with_recovery(asked: Asked, algorithm: str, setting: Setting) -> Scenario:
    """A bank in which P2 crashes, and all go back to the last valid one of three snapshots.

    The third snapshot is often not complete yet. Uncoordinated checkpoints go on by themselves, so their processes
    begin once.
    """
    base = with_algorithm(_bank(asked, setting, 3), algorithm)
    last, lasts = max(start.at for start in base.snapshots), _lasts(asked, *setting[:3])
    once = not ALGORITHMS[algorithm].records_once
    starts = tuple(start for start in base.snapshots if not once or start.snapshot == "S1")
    crash = FaultLine("crash", process="P2", at=last + lasts / 4)
    storage = {**STORAGE, "kept": 2 * lasts}  # else it deletes parts of snapshots that take long
    return replace(base, snapshots=starts, storage=storage, faults=(crash,), recovery=RecoveryPlan(on=ON_CRASH))


def _alone(asked: Asked, algorithm: str, setting: Setting) -> Scenario:
    """One process that writes pages while its checkpoint is saved."""
    given = {"writes": round(WRITES_FOR / setting.pace), "pace": setting.pace}
    start = Initiation("S1", "P1", WRITES_FOR / 2)
    return Scenario(
        "one-node", ("P1",), title="A process that writes", algorithm=algorithm, workload="key_store",
        parameters=given, snapshots=(start,),
    )  # fmt: skip


_SCENARIOS = {SNAPSHOT: _with_snapshot, RECOVERY: _with_recovery, ONE_NODE: _alone}


def _bank(asked: Asked, setting: Setting, snapshots: int) -> Scenario:
    """A bank that is busy until its snapshots are complete. These are so far apart that they do not overlap."""
    delay = _rule(asked.delay)
    begin, lasts = STARTS * (parameter_values.mean_delay(delay) or 0.0) + 1, _lasts(asked, *setting[:3])
    starts = (Initiation(f"S{number + 1}", "P1", begin + number * lasts) for number in range(snapshots))
    payments = _payments(begin + snapshots * lasts, setting.pace)
    return Scenario(
        name="bank",
        title=f"Bank on a {setting.topology} of {setting.processes}",
        processes=tuple(f"P{number}" for number in range(1, setting.processes + 1)),
        topology=_topology(setting.topology, setting.processes),
        workload="bank",
        parameters={"transfers": payments, "pace": setting.pace, "balance": BALANCE},
        delay=delay,
        marker_delay=parameter_values.delay_rule(setting.marker_delay),
        control_delay=delay,
        snapshots=tuple(starts),
    )


def _topology(name: str, count: int) -> Topology:
    if name != BEHIND_A_SOURCE:
        return parameter_values.topology_of(name)
    ring = [(f"P{number}", f"P{number + 1 if number < count else 2}") for number in range(2, count + 1)]
    return Topology("listed", channels=(("P1", "P2"), *ring))


def _rule(text: str) -> DelayRule:
    rule = parameter_values.delay_rule(text)
    assert rule is not None, "of messages"
    return rule


def _lasts(asked: Asked, topology: str, processes: int, marker_delay: str) -> float:
    """A generous estimate of a snapshot's duration, in time units.

    It covers the slowest news of the snapshot from process to process, and a few ways more, such as those of a
    coordinator's messages.
    """
    ways = {"complete": 1, "star": 2}.get(topology, processes - 1)
    rules = [_rule(text) for text in (asked.delay, marker_delay) if text != parameter_values.SAME]
    message, *marker = (3 * rule.low if rule.kind == "exponential" else rule.high for rule in rules)
    return round(max((ways / 2 + 2) * max([message, *marker]) + 4 * message, APART * processes), 1)


def _payments(time: float, pace: float) -> int:
    """The number of payments of a process up to a time, plus one."""
    return math.ceil(time / pace) + 1
