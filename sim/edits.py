"""Edits: functions from a scenario to a scenario. Undo is the scenario before.

An edit is plain JSON (see EDITS), so it can come from a page, a file or a link. Messages are named by
`Address`, never by message id. An edit that makes the run impossible is refused with the reason, and
the scenario stays as it was.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sim.delays import HOLD, Address
from sim.execution import Execution, run
from sim.files import read_address
from sim.model import APP, MARKER, label_of
from sim.scenario import Initiation, Scenario, ScenarioError, ScriptLine
from sim.tables import Table
from sim.validate import validate
from sim.workload import WORKLOADS

Edit = Mapping[str, Any]
UNTIMED = ("random", "manual")


def apply_edit(scenario: Scenario, edit: Edit, now: float) -> Scenario:
    """`scenario` with `edit`, made while looking at time `now`. Raises ScenarioError with the reason."""
    table = Table(edit, "")
    do = table.take("do", str, None, "a text")
    if do not in EDITS:
        raise ScenarioError(f"there is no edit {do!r}; known: {', '.join(EDITS)}")
    if scenario.scheduler.kind == "manual" and do in ("send", "internal", "snapshot"):
        raise ScenarioError(f"{do}: this run follows a list of choices, to which nothing can be added here")
    edited = EDITS[do](replace(scenario, origin=""), table, now)
    validate(edited)
    run(edited)
    return edited


def _message(table: Table) -> Address:
    if "message" not in table.values:
        raise table.missing("message", "the edit is incomplete: it says which message it means")
    given = Table({key: value for key, value in table.table("message").values.items() if value is not None}, "message.")
    return read_address(given)


def _who(table: Table, key: str) -> str:
    if not table.values.get(key):
        raise table.missing(key, "the edit is incomplete: it names a process")
    return table.required(key)


def _forget(scenario: Scenario, address: Address) -> Scenario:
    """Without any delay set for the message at `address`, under whichever of its names."""
    names = {address, *_names(run(scenario), address)}
    return replace(scenario, delays={known: delay for known, delay in scenario.delays.items() if known not in names})


def _set_delay(scenario: Scenario, address: Address, delay: float) -> Scenario:
    freed = _forget(scenario, address)
    return replace(freed, delays={**freed.delays, address: delay})


def _delay(scenario: Scenario, table: Table, now: float) -> Scenario:
    if "delay" not in table.values:
        raise table.missing("delay", "the edit is incomplete: give a number of time units")
    if scenario.scheduler.kind in UNTIMED:
        raise ScenarioError(
            f"delay: the {scenario.scheduler.kind} scheduler knows no delays; hold or release the message"
        )
    return _set_delay(scenario, _message(table), table.number("delay", 0.0))


def _hold(scenario: Scenario, table: Table, now: float) -> Scenario:
    return _set_delay(scenario, _message(table), HOLD)


def _release(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Forget what was set for the message; but do not let it arrive before `now`, when it is let go."""
    address = _message(table)
    freed = _forget(scenario, address)
    sent = sent_at(run(freed), address)
    if sent is None:
        return freed
    time, delay = sent
    if time > now or time + delay >= now:
        return freed
    delay = now - time
    while time + delay < now:  # by a rounding error
        delay = math.nextafter(delay, HOLD)
    return _set_delay(freed, address, delay)


def _send(scenario: Scenario, table: Table, now: float) -> Scenario:
    body = read_body(scenario, table.values.get("body"))
    where = "the new message"
    line = ScriptLine(_who(table, "process"), table.number("at", now), to=_who(table, "to"), body=body, where=where)
    return replace(scenario, script=(*scenario.script, line))


def _internal(scenario: Scenario, table: Table, now: float) -> Scenario:
    line = ScriptLine(_who(table, "process"), table.number("at", now), where="the new event")
    return replace(scenario, script=(*scenario.script, line))


def _snapshot(scenario: Scenario, table: Table, now: float) -> Scenario:
    name = table.optional("id") or free_snapshot_id(scenario)
    start = Initiation(name, _who(table, "process"), table.number("at", now), where="the new snapshot")
    return replace(scenario, snapshots=(*scenario.snapshots, start))


EDITS: dict[str, Callable[[Scenario, Table, float], Scenario]] = {
    "delay": _delay, "hold": _hold, "release": _release, "send": _send, "internal": _internal, "snapshot": _snapshot,
}  # fmt: skip


def describe_edit(scenario: Scenario, edit: Edit) -> str:
    """An edit that was applied, in words, for the list of what has been changed."""
    do = edit["do"]
    if do in ("delay", "hold", "release"):
        what = _message(Table(edit, "")).in_words()
        return f"delay {what}: {edit['delay']:g} time units" if do == "delay" else f"{do} {what}"
    at = f" at {edit['at']:g}" if isinstance(edit.get("at"), int | float) else ""
    if do == "send":
        return f"{edit['process']} sends {edit.get('body') or 'a message'} to {edit['to']}{at}"
    if do == "internal":
        return f"an internal event of {edit['process']}{at}"
    return f"{edit['process']} starts a snapshot{at}"


def read_body(scenario: Scenario, given: Any) -> Any:
    """The body that a person typed: JSON where it is JSON, else the text itself; nothing where nothing was."""
    if not isinstance(given, str):
        return given
    text = given.strip()
    if not text:
        return None
    try:
        return json.loads(text) if WORKLOADS[scenario.workload].body_hint != "any text" else text
    except (ValueError, RecursionError):
        return text


def free_snapshot_id(scenario: Scenario) -> str:
    """The first of S1, S2, ... that is not taken."""
    taken = {start.snapshot for start in scenario.snapshots}
    return next(f"S{n}" for n in range(1, len(taken) + 2) if f"S{n}" not in taken)


def addresses(execution: Execution) -> list[Address]:
    """For each message of the run, by id: the address under which edits find it again."""
    counted: Counter[tuple[str, str, str | None]] = Counter()
    found = []
    for flight in execution.flights:
        send = flight.send
        place = (flight.channel.name, MARKER if flight.is_marker else APP, send.snapshot_id)
        counted[place] += 1
        if send.label is not None and send.label != label_of(send.process, send.index or 0, None):
            found.append(Address(label=send.label))
        else:
            found.append(Address(None, *place, counted[place]))
    return found


def _names(execution: Execution, address: Address) -> set[Address]:
    """Every address of the message at `address`: by label, by the number of its send, by its place."""
    places: Counter[tuple[str, str, str | None]] = Counter()
    for flight in execution.flights:
        send = flight.send
        place = (flight.channel.name, MARKER if flight.is_marker else APP, send.snapshot_id)
        places[place] += 1
        names = {Address(None, *place, places[place])}
        if send.index is not None:
            names |= {Address(label=send.label), Address(label=label_of(send.process, send.index, None))}
        if address in names:
            return names
    return set()


def sent_at(execution: Execution, address: Address) -> tuple[float, float] | None:
    """When the message at `address` was sent and after which delay it arrives (HOLD: it never does)."""
    for flight, own in zip(execution.flights, addresses(execution), strict=True):
        if own == address:
            return flight.send.time, flight.receive.time - flight.send.time if flight.receive else HOLD
    return None
