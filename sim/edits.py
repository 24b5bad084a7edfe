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
from sim.model import APP, MARKER, label_of
from sim.scenario import Initiation, Scenario, ScenarioError, ScriptLine
from sim.validate import validate
from sim.workload import WORKLOADS

Edit = Mapping[str, Any]


def apply_edit(scenario: Scenario, edit: Edit, now: float) -> Scenario:
    """`scenario` with `edit`, made while looking at time `now`. Raises ScenarioError with the reason."""
    if edit.get("do") not in EDITS:
        raise ScenarioError(f"there is no edit {edit.get('do')!r}; known: {', '.join(EDITS)}")
    try:
        edited = EDITS[edit["do"]](scenario, edit, now)
    except (KeyError, TypeError) as problem:
        raise ScenarioError(f"the edit {edit['do']!r} is incomplete or malformed: {problem}") from None
    validate(edited)
    run(edited)
    return edited


def _address(edit: Edit) -> Address:
    given = edit["message"]
    return Address(
        given.get("label"), given.get("channel"), given.get("kind", APP), given.get("snapshot"), given.get("ordinal", 1)
    )


def _time(edit: Edit, key: str, default: float | None = None) -> float:
    value = edit.get(key, default)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise ScenarioError(f"{key}: expected a number of at least 0, not {value!r}")
    return float(value)


def _set_delay(scenario: Scenario, address: Address, delay: float) -> Scenario:
    return replace(scenario, delays={**scenario.delays, address: delay})


def _delay(scenario: Scenario, edit: Edit, now: float) -> Scenario:
    return _set_delay(scenario, _address(edit), _time(edit, "delay"))


def _hold(scenario: Scenario, edit: Edit, now: float) -> Scenario:
    return _set_delay(scenario, _address(edit), HOLD)


def _release(scenario: Scenario, edit: Edit, now: float) -> Scenario:
    """Forget what was set for the message; but do not let it arrive before `now`, when it is let go."""
    address = _address(edit)
    freed = replace(scenario, delays={known: d for known, d in scenario.delays.items() if known != address})
    sent = sent_at(run(freed), address)
    if sent is None:
        return freed
    time, delay = sent
    return _set_delay(freed, address, now - time) if time <= now and time + delay < now else freed


def _send(scenario: Scenario, edit: Edit, now: float) -> Scenario:
    body = read_body(scenario, edit.get("body"))
    line = ScriptLine(edit["process"], _time(edit, "at", now), to=edit["to"], body=body)
    return replace(scenario, script=(*scenario.script, line))


def _internal(scenario: Scenario, edit: Edit, now: float) -> Scenario:
    line = ScriptLine(edit["process"], _time(edit, "at", now))
    return replace(scenario, script=(*scenario.script, line))


def _snapshot(scenario: Scenario, edit: Edit, now: float) -> Scenario:
    name = edit.get("id") or free_snapshot_id(scenario)
    return replace(scenario, snapshots=(*scenario.snapshots, Initiation(name, edit["process"], _time(edit, "at", now))))


EDITS: dict[str, Callable[[Scenario, Edit, float], Scenario]] = {
    "delay": _delay, "hold": _hold, "release": _release, "send": _send, "internal": _internal, "snapshot": _snapshot,
}  # fmt: skip


def describe_edit(scenario: Scenario, edit: Edit) -> str:
    """The edit in words, for the list of what has been changed."""
    do = edit.get("do")
    if do in ("delay", "hold", "release"):
        what = describe_address(_address(edit))
        return {
            "delay": f"delay {what}: {edit.get('delay'):g} time units" if do == "delay" else "",
            "hold": f"hold {what}",
            "release": f"release {what}",
        }[do]
    at = f" at {edit['at']:g}" if isinstance(edit.get("at"), int | float) else ""
    if do == "send":
        return f"{edit['process']} sends {edit.get('body') or 'a message'} to {edit['to']}{at}"
    if do == "internal":
        return f"an internal event of {edit['process']}{at}"
    return f"{edit.get('process')} starts a snapshot{at}"


def describe_address(address: Address) -> str:
    """A message in words: `the message sent at H`, `the marker of S1 on P1->P2`."""
    if address.label is not None:
        return f"the message sent at {address.label}"
    which = f"number {address.ordinal} " if address.ordinal != 1 or address.kind == APP else ""
    if address.kind == MARKER:
        return f"the marker {which}of {address.snapshot} on {address.channel}"
    return f"message {which}on {address.channel}"


def read_body(scenario: Scenario, given: Any) -> Any:
    """The body that a person typed: JSON where it is JSON, else the text itself; nothing where nothing was."""
    if not isinstance(given, str):
        return given
    text = given.strip()
    if not text:
        return None
    try:
        return json.loads(text) if WORKLOADS[scenario.workload].body_hint != "any text" else text
    except (json.JSONDecodeError, RecursionError):
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


def sent_at(execution: Execution, address: Address) -> tuple[float, float] | None:
    """When the message at `address` was sent and after which delay it arrives (HOLD: it never does)."""
    for flight, own in zip(execution.flights, addresses(execution), strict=True):
        if own == address:
            return flight.send.time, flight.receive.time - flight.send.time if flight.receive else HOLD
    return None
