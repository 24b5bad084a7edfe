"""The price of a run, estimated from its scenario alone: nothing is run.

Everything is counted in steps: the time in which an ordinary step is run and made ready for a diagram. So one limit
holds for all, and the greatest part says what would have to be smaller. Workloads and algorithms estimate their own
events and messages (`Workload.events`, `SnapshotAlgorithm.messages`); both have a default.
"""

from __future__ import annotations

from typing import NamedTuple

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.errors import InputError
from sim.document.scenario import Scenario
from sim.services.member import Member

# Measured, in steps. A marker leaves three rows; a snapshot has a record, a cut and verdicts; a cut has a line.
PER_MARKER = 2.5
PER_SNAPSHOT, PER_CUT = 20, 20
PER_BEAT = 4  # a timer, the heartbeat, the answer to it, and the reaction to that
PER_UPLOAD = 4  # sent, received, answered, answer received; a refused one has a pause instead of the writing
EVENTS_CHECKED, CLOCKS_KEPT, LOOKED_AT = 200, 200, 120  # of events, of numbers in vector clocks, of queues: for a step


class Part(NamedTuple):
    """A part of a price: its steps, its cause in words, and the advice on what to make smaller."""

    steps: float
    cause: str
    advice: str


class Price(NamedTuple):
    """The price of a run, part by part."""

    parts: tuple[Part, ...]

    @property
    def steps(self) -> int:
        """The whole price, in steps."""
        return round(sum(part.steps for part in self.parts))

    def refuse_beyond(self, most: int, place: str) -> None:
        """Raises InputError, with the main cause, if the price is more than `place` allows: `most` steps."""
        if self.steps > most:
            first = max(self.parts)
            raise InputError(
                f"this run is too big for {place}: {first.cause}, and {place} has time for about {most:,} steps "
                f"of a run; use {first.advice}"
            )


def price_of(scenario: Scenario) -> Price:
    """The price of running a valid `scenario` and making it ready for a diagram."""
    engine = scenario.engine()
    processes, channels = len(scenario.processes), len(scenario.channels)
    beats, rounds = _of_coordinator(engine.algorithm)
    snapshots = len({start.snapshot for start in scenario.snapshots}) + rounds
    markers = engine.algorithm.messages()
    scripted = sum(1 if line.to is None else 2 for line in scenario.script)
    faults = len(scenario.all_faults)
    events = scripted + engine.workload.events()
    steps = events + len(scenario.snapshots) + snapshots * markers + faults
    looks = 0 if scenario.scheduler.has_time else steps * (processes + channels)
    checked = events / EVENTS_CHECKED  # for each cut
    uploads = snapshots * processes * _tries(scenario) if scenario.has_storage else 0
    recoveries = _recoveries(scenario)
    return Price(
        (
            Part(scripted, f"its script has {scripted:,} events", "a shorter script"),
            Part(events - scripted, f"its workload makes about {events - scripted:,} events", "a smaller workload"),
            Part(faults, f"it has {faults:,} faults", "fewer faults, or lower [fault_rates]"),
            Part(
                snapshots * (PER_SNAPSHOT + PER_MARKER * markers + checked) + len(scenario.snapshots),
                f"its {snapshots:,} snapshots send about {markers:,} markers or control messages each",
                "fewer snapshots, processes or channels",
            ),
            Part(
                processes * beats * PER_BEAT,
                f"each process sends {beats:,} heartbeats",
                "a longer `heartbeat` or an earlier `until` of the coordinator",
            ),
            Part(
                uploads * PER_UPLOAD,
                f"its {snapshots:,} snapshots are uploaded in about {uploads:,.0f} tries",
                "fewer snapshots or processes, or a higher limit of the storage",
            ),
            Part(
                recoveries * (processes + events),
                f"its {recoveries:,} recoveries may each repeat {events:,} events",
                "fewer recoveries or crashes",
            ),
            Part(
                len(scenario.cuts) * (PER_CUT + processes + checked),
                f"its {len(scenario.cuts):,} cuts are each compared with its {events:,} events",
                "fewer cuts",
            ),
            Part(
                events * processes / CLOCKS_KEPT if snapshots else 0,
                f"its {events:,} events each have a vector clock of {processes:,} numbers",
                "fewer processes or events",
            ),
            Part(
                looks / LOOKED_AT,
                f"the {scenario.scheduler.kind} scheduler looks at {processes:,} processes and {channels:,} channels "
                f"before each of {steps:,} steps",
                'the scheduler "timed", or fewer channels or events',
            ),
        )
    )


def _of_coordinator(algorithm: SnapshotAlgorithm) -> tuple[int, int]:
    """The number of heartbeats of each process, and of snapshots that a coordinator starts by itself."""
    if not isinstance(algorithm, Member):
        return 0, 0
    own = algorithm.settings
    return own.beats, int(own.until / own.interval) if own.interval else 0


def _tries(scenario: Scenario) -> float:
    """An estimate of the most tries to upload a part: one for each round that a busy storage needs for all of them."""
    own = scenario.storage_settings()
    rounds = len(scenario.processes) / own.limit if own.limit else 1.0
    return max(1.0, min(own.tries, rounds))


def _recoveries(scenario: Scenario) -> int:
    """The number of recoveries: those at a given time, and one for each crash."""
    plan = scenario.recovery
    if plan is None:
        return 0
    return len(plan.at) + sum(fault.kind == "crash" for fault in scenario.all_faults if plan.on)
