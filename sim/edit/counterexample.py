"""The smallest counterexample to a broken rule: an edit with which a check fails, and none if the rule were kept."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from sim.core import deadline
from sim.core.broken_rule import BROKEN_RULES, FIFO, BrokenRule
from sim.core.errors import InputError
from sim.core.model import APP, CONTROL
from sim.document.scenario import Scenario
from sim.edit.edits import Edit, apply_edit
from sim.run.execution import Execution
from sim.run.references import references
from sim.verify.checks import verdicts_of

MOST_STEPS_TRIED = 60_000  # of all runs together that are tried
MOST_STEPS_OF_A_RUN = 5_000  # in a longer one no edit is looked for
SEND_COSTS = 1 / 4  # of the run's length: as much as a message that comes so much earlier or later
SNAPSHOT_COSTS = 1 / 2

Gap = tuple[float, float]  # two times, and no step in between
Costly = tuple[float, Edit]  # what an edit changes, in time units


class Counterexample(NamedTuple):
    """An edit, and the run with it, in which a check fails."""

    edit: Edit
    execution: Execution


def broken_rule_of(scenario: Scenario) -> type[BrokenRule] | None:
    """The rule that a run breaks on purpose; of two the one that is a rule book."""
    broken = sorted((name for name in scenario.breaks), key=lambda name: name == FIFO)
    return BROKEN_RULES[broken[0]] if broken else None


def harm(execution: Execution) -> list[tuple[str, str]]:
    """The findings of the checks: snapshot id and witness, for each check the first time that it fails."""
    found: dict[str, str] = {}
    for name, row in verdicts_of(execution).items():
        for verdict in row:
            if verdict.holds is False:
                found.setdefault(name, verdict.witness or "")
    return list(found.items())


def smallest_counterexample(execution: Execution) -> Counterexample | None:
    """The smallest single edit found with which a check fails because of the run's broken rule (None: none was found).

    There is none if a check fails already. Delaying or hastening a message costs the time units in between. One more
    message costs a quarter of the run's length, one more snapshot half of it. A broken rule that does no harm before
    a second snapshot is tried with snapshots alone.
    """
    rule = broken_rule_of(execution.scenario)
    if rule is None or execution.steps > MOST_STEPS_OF_A_RUN or harm(execution):
        return None
    most = MOST_STEPS_TRIED // max(1, execution.steps)
    for edit in islice(_candidates(execution, rule), most):
        deadline.check()
        try:
            broken = apply_edit(execution, edit, 0.0)
            if harm(broken) and not harm(_kept(execution, edit)):
                return Counterexample(edit, broken)
        except InputError:
            continue
    return None


def _kept(execution: Execution, edit: Edit) -> Execution:
    """The same run with the same edit, and every rule kept. A control message of the broken rules is not in it."""
    kept = execution
    for name in execution.scenario.breaks:
        kept = apply_edit(kept, {"do": "break", "rule": name, "on": False}, 0.0)
    return kept if edit.get("message", {}).get("kind") == CONTROL else apply_edit(kept, edit, 0.0)


def _candidates(execution: Execution, rule: type[BrokenRule]) -> Iterator[Edit]:
    """The edits worth a try, the smallest first."""
    if not execution.scenario.scheduler.has_time:
        return
    gaps = _gaps(execution)
    found = list(_snapshots(execution, gaps))
    if not rule.needs_snapshots:
        found = [*_delays(execution, gaps), *_sends(execution, gaps), *found]
    for _, edit in sorted(found, key=lambda own: own[0]):
        yield edit


def _gaps(execution: Execution) -> list[Gap]:
    """The times between two steps, and a while after the last."""
    times = execution.times
    return list(pairwise([*dict.fromkeys(times), times[-1] + max(1.0, times[-1] / 20)]))


def rounded_between(low: float, high: float) -> float:
    """A number near the middle of two, with as few digits as the room between them allows."""
    middle = (low + high) / 2
    return next((number for digits in range(6) if low < (number := round(middle, digits)) < high), middle)


def _delays(execution: Execution, gaps: list[Gap]) -> Iterator[Costly]:
    """Every message so much later, or earlier, that it comes just after, or just before, another event of its receiver.

    Between two such events it makes no difference to the receiver when it comes. What it makes the receiver send has
    delays of its own.
    """
    for reference, flight in zip(references(execution), execution.flights, strict=True):
        if flight.receive is None:
            continue
        own, begin, came = flight.receive, flight.send.time, flight.receive.time
        others = {event.time for event in execution.events if event.process == own.process and event is not own}
        for low, high in gaps:
            if low >= begin and (low if low >= came else high) in others:
                delay = rounded_between(low - begin, high - begin)
                yield abs(begin + delay - came), {"do": "delay", "message": reference._asdict(), "delay": delay}


def _sends(execution: Execution, gaps: list[Gap]) -> Iterator[Costly]:
    """A message like those of the run, on every channel, between any two steps."""
    bodies = [flight.body for flight in execution.flights if flight.kind == APP and flight.send.label is None]
    bodies += [flight.body for flight in execution.flights if flight.kind == APP]
    body = bodies[0] if bodies and execution.scenario.workload != "scripted" else None
    for gap in gaps:
        for channel in execution.engine.channels:
            edit = {
                "do": "send",
                "process": channel.source_name,
                "to": channel.target_name,
                "at": rounded_between(*gap),
            }
            yield SEND_COSTS * execution.times[-1], edit if body is None else {**edit, "body": body}


def _snapshots(execution: Execution, gaps: list[Gap]) -> Iterator[Costly]:
    """Another snapshot, of every process, between any two steps."""
    for gap in gaps:
        for process in execution.scenario.processes:
            edit = {"do": "snapshot", "process": process, "at": rounded_between(*gap)}
            yield SNAPSHOT_COSTS * execution.times[-1], edit
