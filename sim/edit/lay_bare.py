"""The smallest edit that lays a broken rule bare: with it a check fails, and none would if the rule were kept."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from sim.core import deadline
from sim.core.errors import InputError
from sim.core.model import APP, CONTROL
from sim.core.slip import SLIPS, Slip
from sim.document.scenario import Scenario
from sim.edit.edits import FIFO, Edit, apply_edit
from sim.run.execution import Execution
from sim.run.references import references
from sim.verify.checks import verdicts_of

MOST_STEPS_TRIED = 100_000  # of all runs together that are tried
MOST_STEPS_OF_A_RUN = 5_000  # in a longer one no edit is looked for


class LaidBare(NamedTuple):
    """An edit, and the run with it, in which a check fails."""

    edit: Edit
    execution: Execution


def slip_of(scenario: Scenario) -> type[Slip] | None:
    """The rule that a run breaks on purpose; of two the one that is a rule book."""
    broken = sorted((name for name in scenario.breaks), key=lambda name: name == FIFO)
    return SLIPS[broken[0]] if broken else None


def harm(execution: Execution) -> list[tuple[str, str]]:
    """What the checks find: the snapshot's id and the witness of each check that does not hold, the first of each."""
    found: dict[str, str] = {}
    for name, row in verdicts_of(execution).items():
        for verdict in row:
            if verdict.holds is False:
                found.setdefault(name, verdict.witness or "")
    return list(found.items())


def smallest_edit(execution: Execution) -> LaidBare | None:
    """The smallest single edit that lays the broken rule of a run bare (None: no single edit was found).

    A message that comes earlier or later is smaller than a message more, and that is smaller than another snapshot; of
    two delays the one that changes less is smaller.
    """
    scenario = execution.scenario
    if slip_of(scenario) is None or execution.steps > MOST_STEPS_OF_A_RUN:
        return None
    most = MOST_STEPS_TRIED // max(1, execution.steps)
    for edit in islice(_candidates(execution), most):
        deadline.check()
        try:
            broken = apply_edit(execution, edit, 0.0)
            if harm(broken) and not harm(_kept(execution, edit)):
                return LaidBare(edit, broken)
        except InputError:
            continue
    return None


def _kept(execution: Execution, edit: Edit) -> Execution:
    """The same run with the same edit, and every rule kept. A control message of the broken rules is not in it."""
    kept = execution
    for name in execution.scenario.breaks:
        kept = apply_edit(kept, {"do": "break", "rule": name, "on": False}, 0.0)
    return kept if edit.get("message", {}).get("kind") == CONTROL else apply_edit(kept, edit, 0.0)


def _candidates(execution: Execution) -> Iterator[Edit]:
    if not execution.scenario.scheduler.has_time:
        return
    times = _between(execution.times)
    yield from _delays(execution, times)
    yield from _sends(execution, times)
    for time in times:
        for process in execution.scenario.processes:
            yield {"do": "snapshot", "process": process, "at": time}


def _between(times: list[float]) -> list[float]:
    """Times at which something new may happen: half-way between two steps, and a while after the last."""
    marks = [*dict.fromkeys(times), times[-1] + max(1.0, times[-1] / 20)]
    return [_rounded(low, high) for low, high in pairwise(marks)]


def _rounded(low: float, high: float) -> float:
    """A number near the middle of two, with as few digits as the room between them allows."""
    middle = (low + high) / 2
    return next((number for digits in range(6) if low < (number := round(middle, digits)) < high), middle)


def _delays(execution: Execution, times: list[float]) -> Iterator[Edit]:
    """Every message at every time at which something new may come of it, the smallest change first."""
    found = []
    for message, flight in enumerate(execution.flights):
        if flight.receive is None:
            continue
        for time in times:
            if time > flight.send.time:
                change = abs(time - flight.receive.time)
                found.append((change, message, round(time - flight.send.time, 6)))
    for _, message, delay in sorted(found):
        reference = references(execution)[message]
        yield {"do": "delay", "message": reference._asdict(), "delay": delay}


def _sends(execution: Execution, times: list[float]) -> Iterator[Edit]:
    """A message like those of the run, on every channel, at every such time."""
    bodies = [flight.body for flight in execution.flights if flight.kind == APP and flight.send.label is None]
    bodies += [flight.body for flight in execution.flights if flight.kind == APP]
    body = bodies[0] if bodies and execution.scenario.workload != "scripted" else None
    for time in times:
        for channel in execution.engine.channels:
            edit = {"do": "send", "process": channel.source_name, "to": channel.target_name, "at": time}
            yield edit if body is None else {**edit, "body": body}
