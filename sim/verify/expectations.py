"""Compares a run with the outcome that the [expect] table of its scenario declares.

[expect] may have `consistent_cuts`, `linearizations` (numbers) and `fails` (the checks that must fail, as
"S1:completion"). [expect.snapshots.ID] has `status` (default "complete"), `processes` (labels of the events inside),
`states` and `channels` (the recorded bodies; a channel that is not named must be empty). [expect.cuts.NAME] has
`consistent` (true or false), `witness` (the label of a send), and `channels` (the messages in the channels, as H->D).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sim.core.errors import InputError, nearest
from sim.core.model import label_of
from sim.document.scenario import NamedCut, Scenario
from sim.run.execution import Execution
from sim.run.snapshots import Snapshot, snapshots_of
from sim.theory.causality import History
from sim.theory.lattice import TooManyCuts, lattice, top
from sim.verify.checks import CHECKS, Verdict, verdicts_of


def unmet_expectations(execution: Execution) -> list[str]:
    """A sentence for every expectation that the run does not meet, and for every check that fails undeclared.

    Raises InputError for an expectation about an unknown process, channel, check or event.
    """
    expect = execution.scenario.expect
    _check_names(execution.scenario)
    verdicts = verdicts_of(execution)
    found = list(_lattice(execution, expect))
    snapshots = {snapshot.id: snapshot for snapshot in snapshots_of(execution)}
    for name, wanted in expect.get("snapshots", {}).items():
        if name in snapshots:
            found += _snapshot(snapshots[name], wanted)
        else:
            found.append(f"{name} was expected, but no snapshot has this id")
    found += _cuts(execution, expect.get("cuts", {}))
    found += _checks(verdicts, expect.get("fails", []))
    return found


def _check_names(scenario: Scenario) -> None:
    """Raises InputError for an unknown process, channel or check: an expectation about it could never fail."""
    channels = {channel.name for channel in scenario.channels}
    names = {"processes": set(scenario.processes), "states": set(scenario.processes), "channels": channels}
    for name, wanted in scenario.expect.get("snapshots", {}).items():
        for key, known in names.items():
            for given in set(wanted.get(key, {})) - known:
                where = scenario.at(f"expect.snapshots.{name}.{key}")
                raise InputError(f"{where}: {given!r} is not there; {nearest(given, known)}")
    checks = {f"{start.snapshot}:{check}" for start in scenario.snapshots for check in CHECKS}
    for given in scenario.expect.get("fails", []):
        if given not in checks:
            raise InputError(f"{scenario.at('expect.fails')}: {given!r} is no check here; {nearest(given, checks)}")


def _lattice(execution: Execution, expect: Any) -> Iterator[str]:
    if "consistent_cuts" in expect or "linearizations" in expect:
        for key, value in sizes_of_lattice(execution).items():
            if expect.get(key, value) != value:
                yield f"{key}: expected {expect[key]}, found {value}"


def sizes_of_lattice(execution: Execution) -> dict[str, int]:
    """Return the values of [expect] for the lattice of cuts. Raises InputError if there are too many cuts."""
    try:
        cuts = lattice(execution.order)
    except TooManyCuts as problem:
        raise InputError(execution.scenario.at(f"expect.consistent_cuts: {problem}; leave it out")) from None
    return {"consistent_cuts": len(cuts), "linearizations": cuts.get(top(execution.order), 0)}


def _snapshot(snapshot: Snapshot, wanted: dict[str, Any]) -> Iterator[str]:
    if snapshot.status != wanted.get("status", "complete"):
        yield f"{snapshot.id} is {snapshot.status}, expected {wanted.get('status', 'complete')}"
    for process, labels in wanted.get("processes", {}).items():
        if list(snapshot.events.get(process, ())) != labels:
            yield f"{snapshot.id}: {process} recorded {list(snapshot.events.get(process, ()))}, expected {labels}"
    for process, state in wanted.get("states", {}).items():
        if process not in snapshot.local or snapshot.local[process].state != state:
            found = snapshot.local[process].state if process in snapshot.local else "nothing"
            yield f"{snapshot.id}: {process} recorded {found}, expected {state}"
    if "channels" in wanted:
        for channel in dict.fromkeys([*snapshot.channels, *wanted["channels"]]):
            bodies = [message.body for message in snapshot.channels.get(channel, ())]
            if bodies != wanted["channels"].get(channel, []):
                yield f"{snapshot.id}: {channel} recorded {bodies}, expected {wanted['channels'].get(channel, [])}"


def frontier_of(execution: Execution, cut: NamedCut) -> dict[str, int]:
    """The number of events inside a named cut, by process. Raises InputError for an event that did not happen."""
    frontier = {}
    for process, label in cut.frontier.items():
        index = next((event.index for event in execution.history.of[process] if event.label == label), None)
        if index is None:
            where = execution.scenario.at(f"cuts[{execution.scenario.cuts.index(cut) + 1}].frontier.{process}")
            problem = f"the cut {cut.name!r} ends at {label!r}, but {process} has no such event in this run"
            raise InputError(f"{where}: {problem}; name one that happens")
        frontier[process] = index
    return frontier


def _cuts(execution: Execution, wanted: dict[str, Any]) -> Iterator[str]:
    history = execution.history
    cuts = {cut.name: cut for cut in execution.scenario.cuts}
    for name, expected in wanted.items():
        if name not in cuts:
            yield f"the cut {name!r} was expected, but the scenario has none of that name"
            continue
        frontier = frontier_of(execution, cuts[name])
        if history.is_consistent(frontier) != expected["consistent"]:
            yield f"the cut {name!r} should {'' if expected['consistent'] else 'not '}be consistent"
        witness = history.violation(frontier)
        label = execution.flights[witness].send.label if witness is not None else None
        if "witness" in expected and label != expected["witness"]:
            yield f"the cut {name!r}: witness {label}, expected {expected['witness']}"
        if "channels" in expected:
            found = {c: [send_and_receive(history, m) for m in ms] for c, ms in history.in_channels(frontier).items()}
            if found != expected["channels"]:
                yield f"the cut {name!r} finds {found} in the channels, expected {expected['channels']}"


def send_and_receive(history: History, message: int) -> str:
    """A message by its send and receive, such as H->D; by its send alone if it is not received."""
    send, receive = history.sends[message], history.receives.get(message)
    label = label_of(send.process, send.index or 0, send.label)
    return f"{label}->{receive.label}" if receive else label


def _checks(verdicts: dict[str, list[Verdict]], declared: list[str]) -> Iterator[str]:
    failing = {f"{name}:{v.check}": v.witness for name, row in verdicts.items() for v in row if v.holds is False}
    for check, witness in failing.items():
        if check not in declared:
            yield f"{check} does not hold: {witness}"
    undecided = {f"{name}:{v.check}" for name, row in verdicts.items() for v in row if v.holds is None}
    for check in declared:
        if check not in failing:
            found = "cannot be decided" if check in undecided else "holds"
            yield f"{check} {found}, although it was declared not to hold"
