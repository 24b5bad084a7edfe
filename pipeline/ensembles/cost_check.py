"""The simulated check of sizing: the cost model of an algorithm (sim/theory/sizing.py) against runs of small systems.

In a run every channel carries messages at one rate (the workload stream). A large system is scaled down: it has fewer
nodes, and a channel holds fewer messages. The delays keep their proportion, as far as a channel then still holds some
messages: the cost model is the same, and a run with less than one message in a channel would show little.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from statistics import mean
from typing import Any, NamedTuple

from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.measure import measure
from pipeline.ensembles.predictions import error_of
from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import BLOCKED, PAUSED
from sim.document.files import parse_toml
from sim.document.writing import dumps
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from sim.run.stops import stops_of
from sim.theory.sizing import Sizes, sizes
from sim.theory.sizing_inputs import System
from sim.theory.topology_shape import shape

WORKLOAD = "stream"
# The ensemble that comes with the app. It has enough messages to keep every channel busy until the last snapshot ends.
GRID = {
    "workload": WORKLOAD, "algorithm": "chandy_lamport,unaligned_barriers", "topology": "complete,ring,line,star,dag",
    "processes": "4,7", "delay": "fixed:2.5,fixed:5", "marker_delay": "fixed:1,fixed:6", "at": "12", "runs": "10",
    "events": "none",
}  # fmt: skip
PARAMETERS = {"every": "0.5,0.8", "messages": "450"}
WITHIN = 0.1  # a cost model is wrong if its relative error is greater

MOST_NODES = 8  # of a system that is scaled down
MOST_HELD, LEAST_HELD = 24.0, 3.0  # messages in transit in a channel there, by the longer delay, and by a message's
RUNS = 8


def system_of(cell: Mapping[str, Any]) -> System:
    """The system of a cell of an ensemble of streams, from a row of its summary. A message counts as one byte."""
    every = Fraction(str(json.loads(cell["parameters"])["every"]))
    return System.read({
        "nodes": cell["processes"], "topology": cell["topology"], "algorithm": cell["algorithm"], "rate": 1 / every,
        "size": 1, "delay": cell["mean_marker_delay"], "message_delay": cell["mean_delay"],
    })  # fmt: skip


def predicted(cell: Mapping[str, Any]) -> float:
    """The number of messages that a snapshot records there, by the cost model. Raises InputError if there is none."""
    found = sizes(system_of(cell))
    if found is None:
        raise InputError(f"algorithm: {cell['algorithm']} has no cost model; choose another one")
    return found.recorded


class Measured(NamedTuple):
    """Means over runs: the messages recorded in all channels and in those to P1, and times.

    The unit of time is the time from one message on a channel to the next. latency: from the first recording to the
    last channel closed. blocked: the longest time that a channel was blocked. stands_still: the longest time that a
    process paused.
    """

    recorded: float
    at_initiator: float
    latency: float
    blocked: float
    stands_still: float


class Check(NamedTuple):
    """A small system: the prediction of the cost model, and the means measured in `runs` runs."""

    system: System
    runs: int
    expected: Sizes
    measured: Measured

    @property
    def error(self) -> float | None:
        """The relative error of the cost model for the recorded messages (None: none were recorded)."""
        return error_of(self.expected.recorded, self.measured.recorded)


def scaled(system: System) -> System:
    """The small system: one message for each unit of time and channel. Raises InputError if none is in transit."""
    held = [float(system.rate) * float(delay) for delay in (system.delay, system.message_delay)]
    if not max(held):
        raise InputError("--rate: no message is ever in transit in a channel; give a rate and a delay that are not 0")
    marker_delay, delay = (own * min(1.0, MOST_HELD / max(held)) for own in held)
    return System.read({
        "nodes": min(system.nodes, MOST_NODES), "topology": system.topology, "algorithm": system.algorithm, "rate": 1,
        "size": 1, "delay": marker_delay, "message_delay": max(delay, LEAST_HELD) if delay else 0,
    })  # fmt: skip


def check(system: System, runs: int = RUNS) -> Check:
    """Runs a system, scaled down, `runs` times.

    Raises InputError if its algorithm has no cost model, or if the runs are too long.
    """
    small = scaled(system)
    expected = sizes(small)
    if expected is None:
        raise InputError("--algorithm: has no cost model to check; choose another algorithm")
    scenario = parse_toml(_document(small, expected), WORKLOAD)
    found = [_measured(run(replace(scenario, seed=seed))) for seed in range(runs)]
    return Check(small, runs, expected, Measured(*map(mean, zip(*found, strict=True))))


def _measured(execution: Execution) -> Measured:
    """The measures of one run, whose one snapshot is complete."""
    (row,) = measure(execution)
    (snapshot,) = snapshots_of(execution)
    first = execution.scenario.processes[0]
    own = sum(len(kept) for name, kept in snapshot.channels.items() if name.partition("->")[2] == first)
    lasts = {kind: [0.0] for kind in (BLOCKED, PAUSED)}
    for stop in stops_of(execution):
        if stop.kind in lasts:
            lasts[stop.kind].append(stop.lasts or 0.0)
    return Measured(row["recorded_messages"], own, row["latency"], max(lasts[BLOCKED]), max(lasts[PAUSED]))


@lru_cache(maxsize=64)
def _document(small: System, expected: Sizes) -> str:
    """The scenario of the runs: it lasts until the snapshot is complete. Control messages take as long as markers."""
    delay, marker_delay = float(small.message_delay), float(small.delay)
    begin = 2 * delay + 2  # every channel is as full as it gets
    ways = max(own.place.farthest for own in shape(small.topology, small.nodes)) + 5
    lasts = begin + ways * max(delay, marker_delay) + expected.stands_still + 2
    degree = 1 if small.topology == "ring" else 2 if small.topology == "line" else small.nodes - 1
    given = {
        "workload": WORKLOAD, "topology": small.topology, "processes": str(small.nodes), "delay": f"fixed:{delay!r}",
        "marker_delay": f"fixed:{marker_delay!r}", "algorithm": small.algorithm, "at": repr(begin), "runs": "1",
    }  # fmt: skip
    grid = Grid.read(given, {"every": "1", "messages": str(round(lasts * max(degree, 1)))})
    scenario = parse_toml(cells_of(grid)[0].document, WORKLOAD)
    return dumps(replace(scenario, control_delay=DelayRule("fixed", marker_delay, marker_delay)))
