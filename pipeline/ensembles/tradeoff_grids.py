"""What the table of trade-offs is measured on: the grids of every algorithm.

Every algorithm runs on those of the listed topologies that it accepts, and on a ring behind a source, which has a
circle and a source as well. What it refuses is in the table, with its sentence. Rules for one process alone run on one
process, too, which writes pages slowly and fast; where there are several, they begin one after the other. A recovery is
carried out where the rules of an algorithm allow one: a process crashes, and everybody goes back to a stored snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from pipeline.ensembles import parameter_values
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import NO, NONE, YES, Grid
from pipeline.ensembles.rerun import scenario_of
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError, nearest
from sim.core.recovery import ON_CRASH, RecoveryPlan
from sim.core.topology import Topology
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine, Initiation, Scenario
from sim.document.writing import dumps
from sim.edit.another_algorithm import with_algorithm

SHAPES, CYCLE, ONE_NODE, RECOVERY = KINDS = ("shapes", "cycle", "one node", "recovery")
BEHIND_A_SOURCE = "ring behind a source"

# The workload: every process sends so many transfers, so far apart. Snapshots start in the middle.
TRANSFERS, PACE, BALANCE = 30, 2.0, 1_000
MIDDLE = TRANSFERS * PACE / 2
WRITING = "0.5,4"  # the mean times between two writes of the process that is alone
APART = 5.0  # between the copies of processes that nobody coordinates
# A run with a crash is twice as long. The last snapshot before the crash is often not complete yet.
SNAPSHOTS_AT, CRASH_AT = (20.0, 50.0, 80.0), 110.0
STORAGE = {"bandwidth": 20.0, "latency": 1.0}

LARGEST = 12  # processes
MOST_RUNS = 7_500  # of each algorithm; 100 take about a second


@dataclass(frozen=True)
class Asked:
    """The grid of the table. Delays and topologies are texts as parameter_values writes them; each cell has `runs`."""

    topologies: tuple[str, ...] = ("complete", "ring", "line", "star", "dag")
    processes: tuple[int, ...] = (4, 6)
    delay: str = "uniform:1:9"
    marker_delays: tuple[str, ...] = (parameter_values.SAME, "uniform:1:40")
    runs: int = 40
    seed: int = 0

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Asked:
        """The grid from texts by the names of OPTIONS; what is not given is as usual. Raises InputError, which names
        the option."""
        for option in given:
            if option not in OPTIONS:
                raise InputError(f"{option}: is no option of the table; {nearest(option, OPTIONS)}")
        usual = cls()
        texts = {
            "topology": ",".join(usual.topologies), "processes": ",".join(map(str, usual.processes)),
            "delay": usual.delay, "marker_delay": ",".join(usual.marker_delays), "runs": str(usual.runs),
            "seed": str(usual.seed), **given,
        }  # fmt: skip
        grid = Grid.read({**texts, "workload": "bank", "initiators": "1"})
        asked = cls(
            grid.topologies, grid.processes, parameter_values.single("--delay", list(grid.delays)),
            grid.marker_delays, grid.runs, grid.seed,
        )  # fmt: skip
        asked._check()
        return asked

    def _check(self) -> None:
        """Raises InputError for a grid that is too small or too big."""
        if not all(3 <= count <= LARGEST for count in self.processes):
            raise InputError(f"--processes: the table is measured on systems of 3 to {LARGEST} processes; write 4,6")
        self.allow(MOST_RUNS)

    @property
    def runs_of_each(self) -> int:
        """About how many runs there are of each algorithm, at most."""
        return len(self.processes) * len(self.marker_delays) * (len(self.topologies) + 2) * self.runs

    def allow(self, most: int) -> None:
        """Raises InputError if each algorithm would have more than `most` runs, however many algorithms there are."""
        if self.runs_of_each > most:
            raise InputError(
                f"--runs: this comes to about {self.runs_of_each:,} runs of each algorithm, and {most:,} are the most; "
                "give shorter lists, or fewer runs"
            )


# The options of the table, with their help texts.
OPTIONS: Mapping[str, str] = {
    "topology": "the systems on which each algorithm is tried: complete, ring, line, star, dag, random:EXTRA",
    "processes": f"how many there are, from 3 to {LARGEST}",
    "delay": "of messages: fixed:1, uniform:1:9, whole:0:4, exponential:5",
    "marker_delay": "of markers: written as a delay is, or same",
    "runs": "of each combination",
    "seed": "of the first run of each; the next ones follow",
}


# ------------------------------------------------------------------ what runs


class Part(NamedTuple):
    """Runs of one algorithm: a grid, or a sentence that says why there is none. `kind` is one of KINDS."""

    algorithm: str
    kind: str
    topology: str
    grid: Grid | None
    refused: str | None = None


def parts_of(asked: Asked, algorithms: Iterable[str] | None = None) -> tuple[Part, ...]:
    """The runs of these algorithms (None: of all): for each a part by topology, and by each of the other KINDS."""
    found = []
    for name in sorted(ALGORITHMS) if algorithms is None else algorithms:
        found += [_part(name, SHAPES, topology, _on_shape(asked, name, topology)) for topology in asked.topologies]
        found.append(_part(name, CYCLE, BEHIND_A_SOURCE, _on_cycle(asked, name)))
        if ALGORITHMS[name].one_node:
            found.append(_part(name, ONE_NODE, "one process", _alone(asked, name)))
        found.append(_recovery_part(asked, name))
    return tuple(found)


def _part(algorithm: str, kind: str, topology: str, grid: Grid) -> Part:
    try:
        cells_of(grid)
    except InputError as problem:
        return Part(algorithm, kind, topology, None, str(problem))
    return Part(algorithm, kind, topology, grid)


def _on_shape(asked: Asked, algorithm: str, topology: str) -> Grid:
    if ALGORITHMS[algorithm].one_node:
        base = _bank(topology, asked, parameter_values.topology_of(topology))
        return _of_scenario(asked, algorithm, _one_after_the_other(base, algorithm))
    return Grid(
        "bank", workload="bank", topologies=(topology,), processes=asked.processes, delays=(asked.delay,),
        marker_delays=asked.marker_delays, algorithms=(algorithm,), initiators=(1,), snapshots=1, at=MIDDLE,
        parameters={"transfers": (TRANSFERS,), "pace": (PACE,), "balance": (BALANCE,)},
        costs=YES, runs=asked.runs, seed=asked.seed, events=NONE,
    )  # fmt: skip


def _alone(asked: Asked, algorithm: str) -> Grid:
    """One process that writes pages, slowly and fast, while its copy is saved."""
    paces = tuple(parameter_values.numbers("pace", WRITING))
    writes = (round(2 * MIDDLE / min(paces)),)
    return Grid(
        "key_store", workload="key_store", topologies=("complete",), processes=(1,), delays=(asked.delay,),
        marker_delays=(parameter_values.SAME,), algorithms=(algorithm,), initiators=(1,), snapshots=1, at=MIDDLE,
        parameters={"writes": writes, "pace": paces},
        costs=YES, runs=asked.runs, seed=asked.seed, events=NONE,
    )  # fmt: skip


def _of_scenario(asked: Asked, algorithm: str, scenario: Scenario, costs: str = YES) -> Grid:
    return Grid(
        scenario.name, scenario=dumps(scenario), workload="bank", delays=(asked.delay,),
        marker_delays=asked.marker_delays, algorithms=(algorithm,), costs=costs, runs=asked.runs, seed=asked.seed,
        events=NONE,
    )  # fmt: skip


def _on_cycle(asked: Asked, algorithm: str) -> Grid:
    """P1 sends to P2, and the others are a ring."""
    count = asked.processes[0]
    ring = [(f"P{number}", f"P{number + 1 if number < count else 2}") for number in range(2, count + 1)]
    base = _bank(BEHIND_A_SOURCE, asked, Topology("listed", channels=(("P1", "P2"), *ring)))
    if ALGORITHMS[algorithm].one_node:
        base = _one_after_the_other(base, algorithm)
    return _of_scenario(asked, algorithm, base)


def _one_after_the_other(base: Scenario, algorithm: str) -> Scenario:
    """Each process begins when it likes, where the rules are for one process alone."""
    starts = (Initiation("S1", name, MIDDLE + APART * number) for number, name in enumerate(base.processes))
    return replace(base, algorithm=algorithm, snapshots=tuple(starts))


def _bank(name: str, asked: Asked, topology: Topology, transfers: int = TRANSFERS) -> Scenario:
    count = asked.processes[0]
    return Scenario(
        name=name,
        title=f"Bank on a {name}",
        processes=tuple(f"P{number}" for number in range(1, count + 1)),
        topology=topology,
        workload="bank",
        parameters={"transfers": transfers, "pace": PACE, "balance": BALANCE},
        delay=parameter_values.delay_rule(asked.delay) or Scenario.delay,
        snapshots=(Initiation("S1", "P1", MIDDLE),),
    )


def _recovery_part(asked: Asked, algorithm: str) -> Part:
    """A process crashes, and all go back to the last of three snapshots that is valid; on a graph without circles."""
    base = _bank("dag", asked, Topology("dag"), 2 * TRANSFERS)
    starts = tuple(Initiation(f"S{number}", "P1", at) for number, at in enumerate(SNAPSHOTS_AT, 1))
    crash = FaultLine("crash", process="P2", at=CRASH_AT)
    plain = with_algorithm(replace(base, snapshots=starts), algorithm)
    plan = RecoveryPlan(on=ON_CRASH)
    scenario = replace(plain, name="recovery", storage=dict(STORAGE), faults=(crash,), recovery=plan)
    try:
        parse_toml(dumps(scenario), scenario.name)
    except InputError as problem:
        return Part(algorithm, RECOVERY, "dag", None, str(problem))
    return _part(algorithm, RECOVERY, "dag", _of_scenario(asked, algorithm, scenario, costs=NO))


def run_count(parts: Iterable[Part]) -> int:
    """The number of all runs."""
    return sum(part.grid.run_count for part in parts if part.grid is not None)


class Where(NamedTuple):
    """A run: the kind of its part and the topology, the cell of its grid, and its seed."""

    kind: str
    topology: str
    cell: int
    seed: int


def typical_scenario(asked: Asked, algorithm: str, where: Where) -> Scenario:
    """The scenario of a run of the table. Raises InputError if its grid has no such run."""
    shapes = (where.topology,) if where.kind == SHAPES else asked.topologies[:1]  # no more than needed
    for part in parts_of(replace(asked, topologies=shapes), [algorithm]):
        if (part.kind, part.topology) == (where.kind, where.topology) and part.grid is not None:
            cells = cells_of(part.grid)
            if where.cell < len(cells):
                document = cells[where.cell].document
                return scenario_of({"document": document, "seed": where.seed, "workload": part.grid.workload})
    raise InputError("the table has no such run; make it anew")
