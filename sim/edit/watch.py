"""Snapshots one after the other, until one of them shows that a stable property holds."""

from __future__ import annotations

from dataclasses import replace

from sim.core import deadline
from sim.core.detector import detectors_for
from sim.core.errors import InputError, nearest
from sim.document.scenario import Initiation, Scenario, free_snapshot_id
from sim.document.validate import validate
from sim.run.execution import Execution, run
from sim.run.snapshots import COMPLETE, snapshots_of
from sim.verify.stable import properties_of

MOST_SNAPSHOTS = 50


def watched(execution: Execution, name: str, process: str, every: float, at: float) -> Scenario:
    """The scenario with snapshots that `process` starts: the first at time `at`, others `every` after the last ended.

    The last one is the first that shows the property. Raises InputError if no property of the run is called `name`, if
    the run has no time, or if none of MOST_SNAPSHOTS snapshots shows it.
    """
    known = {own.name: own for own in detectors_for(execution.engine.workload)}
    if name not in known:
        raise InputError(f"property: {name!r} is no property of this workload; {nearest(name, list(known))}")
    if not execution.scenario.scheduler.has_time:
        raise InputError("property: a run without time has no pause between two snapshots; start them one by one")
    scenario = execution.scenario
    for _ in range(MOST_SNAPSHOTS):
        deadline.check()
        start = Initiation(free_snapshot_id(scenario), process, at, where="the new snapshot")
        scenario = replace(scenario, snapshots=(*scenario.snapshots, start))
        validate(scenario)
        found = run(scenario)
        ended = _ended(found, start.snapshot)
        (own,) = (own for own in properties_of(found) if own.detector.name == name)
        answer = next(answer for answer in own.answers if answer.snapshot == start.snapshot)
        if not answer.proves:
            raise InputError(f"property: {start.snapshot} is not right, so nothing follows from it; keep every rule")
        if answer.finding.holds:
            return scenario
        if own.since is None and at > _last_event(found):
            raise InputError(f"property: {known[name].fails} up to the end of this run; no snapshot will ever show it")
        at = ended + every
    raise InputError(f"property: none of {MOST_SNAPSHOTS} snapshots in a row shows it; wait longer in between")


def _last_event(execution: Execution) -> float:
    """The time of the last event of any process."""
    return max((event.time for own in execution.history.of.values() for event in own), default=0.0)


def _ended(execution: Execution, snapshot: str) -> float:
    """The time at which a snapshot was complete. Raises InputError if it never is."""
    (own,) = (own for own in snapshots_of(execution) if own.id == snapshot)
    if own.status != COMPLETE or own.completed is None:
        raise InputError(f"property: {snapshot} never ends, so no other snapshot follows it; release what is held")
    return execution.times[own.completed]
