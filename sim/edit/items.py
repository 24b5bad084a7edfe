"""The items of a scenario: its script lines, initiations and faults. And the edits that change or delete one.

Edits refer to an item by its number, counted from 0: `{"script": 2}`, `{"snapshots": 0}` or `{"faults": 0}`.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from sim.core.errors import InputError
from sim.core.fault_kinds import FAULT_KINDS
from sim.core.model import INTERNAL, SEND, Event, MessageReference
from sim.core.parameters import Parameter
from sim.core.workload import WORKLOADS
from sim.document.files import read_parameters
from sim.document.scenario import ITEM_KEYS, FaultLine, Initiation, Scenario, ScriptLine
from sim.document.toml_table import Table
from sim.explain.words import listing
from sim.run.execution import Execution
from sim.run.references import all_references

Planned = ScriptLine | Initiation | FaultLine
_CHANGEABLE = ("at", "to", "body", "process", "factor")


class Item(NamedTuple):
    """The number of an item. `key` is one of ITEM_KEYS, and `number` counts from 0."""

    key: str
    number: int

    def of(self, scenario: Scenario) -> Planned:
        """The script line, initiation or fault of `scenario` that this item names."""
        return scenario.items(self.key)[self.number]


def read_inner(table: Table, key: str, advice: str) -> Table:
    """The table `key` of an edit, without keys that are null. Raises InputError if it is missing."""
    if key not in table.values:
        raise table.missing(key, f"the edit is incomplete; {advice}")
    return Table({own: value for own, value in table.table(key).values.items() if value is not None}, f"{key}.")


def process_of(table: Table, key: str) -> str:
    """The process that an edit names under `key`. Raises InputError if it names none."""
    if not table.values.get(key):
        raise table.missing(key, "the edit is incomplete; name a process")
    return table.required(key)


def read_item(scenario: Scenario, table: Table) -> Item:
    """The `item` of an edit. Raises InputError if `scenario` has no such item."""
    given = read_inner(table, "item", 'name the item, such as {"script": 0}, {"snapshots": 0} or {"faults": 0}')
    if len(given.values) != 1 or not set(given.values) <= set(ITEM_KEYS):
        raise table.fail("item", 'expected {"script": n}, {"snapshots": n} or {"faults": n}')
    (key,) = given.values
    number = given.whole(key, 0)
    count = len(scenario.items(key))
    if number >= count:
        raise given.fail(key, f"there is no number {number}; this scenario has {count} of them, counted from 0")
    return Item(key, number)


def name_of(planned: Planned) -> str:
    """An item in words: `H`, `the message of P1 to P2 at 120`, `the start of S1 at P1`, `the crash of P2 at 12`."""
    if isinstance(planned, Initiation):
        return f"the start of {planned.snapshot} at {planned.process}"
    if isinstance(planned, FaultLine):
        after, noun = "" if planned.after is None else f" after {planned.after}", FAULT_KINDS[planned.kind].noun
        if planned.message is not None:
            at = f" at {planned.at:g}" if planned.at or after else ""
            return f"the {noun} of {planned.message.in_words()}{at}{after}"
        if planned.kind == "slow":
            return f"the {noun} of {planned.process} from {planned.at:g}{after} on"
        return f"the {noun} of {planned.process or listing(planned.channels)} at {planned.at:g}{after}"
    if planned.label is not None:
        return planned.label
    what = "event" if planned.to is None else "message"
    to = "" if planned.to is None else f" to {planned.to}"
    after = "" if planned.after is None else f" after {planned.after}"
    return f"the {what} of {planned.process}{to} at {planned.at:g}{after}"


def with_parameter(have: Mapping[str, Any], table: Table, known: Mapping[str, Parameter]) -> dict[str, Any]:
    """The parameters `have` with the one that an edit names; its default, or no value, removes it."""
    name = table.choice("name", known, "")
    given = {name: table.values["value"]} if "value" in table.values else {}
    changed = read_parameters(Table(given, ""), known)
    others = {key: own for key, own in have.items() if key != name}
    return others | {key: own for key, own in changed.items() if own != known[key].default}


def read_body(scenario: Scenario, given: Any) -> Any:
    """The body in a text that a user typed: its JSON value, or the text itself if it is not JSON or free text."""
    if not isinstance(given, str):
        return given
    text = given.strip()
    if not text:
        return None
    try:
        return json.loads(text) if WORKLOADS[scenario.workload].body_hint != "any text" else text
    except (ValueError, RecursionError):
        return text


def changes_of(table: Table) -> list[str]:
    """The keys that a change gives, in the order of _CHANGEABLE."""
    return [key for key in _CHANGEABLE if table.values.get(key) is not None]


def change(scenario: Scenario, table: Table, now: float) -> Scenario:
    """The scenario with another time, process, target or body of one item. Raises InputError."""
    item = read_item(scenario, table)
    planned = item.of(scenario)
    given = changes_of(table)
    if not given:
        raise table.missing("at", f"the edit is incomplete; give one of {', '.join(_CHANGEABLE)}")
    for key in given:
        if isinstance(planned, Initiation) and key not in ("at", "process"):
            raise table.fail(key, "the start of a snapshot has only a time and a process; change one of these")
        if isinstance(planned, FaultLine) and key not in _changeable(planned):
            raise table.fail(key, f"{name_of(planned)} has no {key!r}; change its time instead")
    if isinstance(planned, ScriptLine) and planned.to is None and "to" in given:
        raise table.fail("to", "an internal event has no receiver; add a send instead")
    return _with(scenario, item, replace(planned, **{key: _read(scenario, table, key) for key in given}))


def _changeable(fault: FaultLine) -> list[str]:
    return ["at", *(["process"] if fault.process else []), *(["factor"] if fault.kind == "slow" else [])]


def _read(scenario: Scenario, table: Table, key: str) -> Any:
    if key in ("at", "factor"):
        return table.number(key, 0.0)
    return read_body(scenario, table.values[key]) if key == "body" else table.required(key)


def _with(scenario: Scenario, item: Item, *planned: Planned) -> Scenario:
    """`scenario` with `planned` (one item or none) instead of `item`. To change a fault, drawn ones become lines."""
    if item.key == "faults":
        scenario = scenario.written_down()
    entries: list[Any] = list(getattr(scenario, item.key))
    entries[item.number : item.number + 1] = planned
    changed: dict[str, Any] = {item.key: tuple(entries)}
    return replace(scenario, **changed)


def delete(execution: Execution, table: Table, now: float) -> Scenario:
    """The scenario without one item, its delay, and the cuts that end at its events.

    Raises InputError if another item waits for one of its events.
    """
    scenario = execution.scenario
    item = read_item(scenario, table)
    planned = item.of(scenario)
    without = _with(scenario, item)
    if isinstance(planned, FaultLine):
        return without
    if isinstance(planned, Initiation):
        return _without_markers(without, planned.snapshot)
    event = _event_of(execution, item.number)
    _check_no_item_waits(without, _events_of(execution, planned, event))
    labels = {planned.label, planned.receive_label}
    without = replace(without, faults=_faults_without(execution, without.faults, planned, event))
    cuts = tuple(cut for cut in without.cuts if not labels & set(cut.frontier.values()))
    return replace(without, cuts=cuts, delays=_delays_without(execution, planned, event))


def _without_markers(scenario: Scenario, snapshot: str) -> Scenario:
    """`scenario` without the delays of markers of `snapshot`, if no process initiates it any more."""
    if any(start.snapshot == snapshot for start in scenario.snapshots):
        return scenario
    delays = {a: delay for a, delay in scenario.delays.items() if a.snapshot != snapshot}
    faults = tuple(own for own in scenario.faults if own.message is None or own.message.snapshot != snapshot)
    return replace(scenario, delays=delays, faults=faults)


def _faults_without(
    execution: Execution, faults: tuple[FaultLine, ...], line: ScriptLine, event: Event | None
) -> tuple[FaultLine, ...]:
    """The faults that are not about the message of `line`."""
    number = None if event is None else execution.numbered(event)
    gone = {MessageReference(label=label) for label in (line.label, number) if label is not None}
    return tuple(own for own in faults if own.message not in gone)


def _event_of(execution: Execution, line: int) -> Event | None:
    """The event of script line number `line` (from 0) in this run (None: it did not happen)."""
    step = execution.step_of_item.get(line)
    if step is None:
        return None
    first = bisect_left(execution.events, step, key=lambda event: event.step)
    return next(event for event in execution.events[first:] if event.kind in (SEND, INTERNAL))


def _events_of(execution: Execution, line: ScriptLine, event: Event | None) -> set[str]:
    """Every name of the events of `line`. Other items may wait for any of them."""
    names = {line.label, line.receive_label}
    if event is not None:
        names.add(execution.numbered(event))
        received = None if event.message_id is None else execution.flights[event.message_id].receive
        names.add(execution.numbered(received) if received else None)
    return {name for name in names if name is not None}


def _check_no_item_waits(scenario: Scenario, names: set[str]) -> None:
    """Raises InputError if an item of the scenario waits for one of these events."""
    everything: list[Planned] = [*scenario.script, *scenario.snapshots, *scenario.faults]
    for planned in everything:
        if planned.after in names:
            raise InputError(
                f"delete: {name_of(planned)} waits for {planned.after}, which this would delete; delete the waiting "
                "item first"
            )


def _delays_without(execution: Execution, line: ScriptLine, event: Event | None) -> Mapping[MessageReference, float]:
    """The delays without that of the message of `line`. The ordinals after it on its channel decrease by one."""
    delays = execution.scenario.delays
    if event is None or event.message_id is None:
        return {
            reference: delay
            for reference, delay in delays.items()
            if line.label is None or reference.label != line.label
        }
    names = all_references(execution)[event.message_id]
    by_ordinal = next(name for name in names if name.label is None)
    kept = {}
    for reference, delay in delays.items():
        behind = reference[:4] == by_ordinal[:4] and reference.ordinal > by_ordinal.ordinal
        if reference not in names:
            kept[reference._replace(ordinal=reference.ordinal - 1) if behind else reference] = delay
    return kept
