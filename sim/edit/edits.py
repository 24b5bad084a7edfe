"""Edits: functions from an execution to the next one. Undo goes back to the scenario before.

An edit is JSON, so it can come from a page, a file or a link:

    {"do": "delay", "message": REFERENCE, "delay": 20}        counted from the send; likewise "hold" and "release"

    {"do": "send", "process": "P1", "to": "P2", "at"?, "body"?}
    {"do": "internal", "process": "P1", "at"?}              likewise "snapshot", with "id"?

    {"do": "fault", "kind": "crash", "process": "P1", "at"?}   likewise "restart", "freeze" and "thaw"; "sever" and
                                                            "mend", with "channels", or with "groups": all channels
                                                            that join two of them; "slow", with a "factor"; "lose" and
                                                            "copy", with a "message"
    {"do": "no_faults"}                                     nothing fails: no line and no rate of faults is left, and
                                                            all processes are there from the beginning
    {"do": "network", "layer": "raw", "resend"?: 4}         lost messages stay lost; "fifo": they are sent again

    {"do": "change", "item": ITEM, "at"?, "to"?, "body"?, "process"?}
    {"do": "delete", "item": ITEM}
    {"do": "algorithm", "kind": "lai_yang"}                 another algorithm, with default parameters; a
                                                            "source" given with it loses its incoming channels
    {"do": "parameter", "name": "collect", "value": true}   a parameter of the algorithm

    {"do": "coordinator", "on": true, "timeout"?: 50}       a coordinator of the snapshots, or none (`on`: false)
    {"do": "coordinator", "name": "retries", "value": 2}    one of its settings
    {"do": "storage", "on": true}                           the snapshots are stored, or not (`on`: false); or "name"
                                                            and "value" of one of the storage's settings
    {"do": "recovery", "on": true}                          the system is rolled back after each crash, or never
    {"do": "recovery", "name": "at", "value": [10, 25.5]}   one key of the table [recovery]
    {"do": "roll_back", "to": "S1", "at"?}                  the system is rolled back to this snapshot

    {"do": "fifo", "channel": "P1->P2", "fifo": false}      messages may overtake each other there; true: they may not;
                                                            "all": on every channel
    {"do": "capacity", "channel": "P1->P2", "capacity": 3}  the most messages in it (null: any number); "all": each
    {"do": "break", "rule": "one_flag", "on": true}         break a rule (sim/core/broken_rule.py), or keep it again
    {"do": "manual", "after"?: 4}                           from step 5 on the user makes every choice
    {"do": "choose", "choice": "deliver P1->P2", "after"?: 4}
    {"do": "watch", "property": "terminated", "process": "P1", "every": 20, "at"?}   snapshots until one shows it
    {"do": "another", "number": 17, "round"?: "K7QF"}       run 17 (of a class's round) of the same kind and size

REFERENCE is a `MessageReference` as JSON. ITEM is `{"script": 2}`, `{"snapshots": 0}` or `{"faults": 0}`, counted from
0. Steps up to `after` (default: the last step) stay as they are. `choice` is in the notation of `choice_name`.

An edit that makes the run impossible is refused with the reason. An edited scenario loses its [expect] table, which is
about the original run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sim.core.algorithm import ALGORITHMS, ANY
from sim.core.broken_rule import BROKEN_RULES, FIFO
from sim.core.delays import HOLD
from sim.core.errors import InputError, nearest
from sim.core.model import CONTROL, MessageReference
from sim.document.files import read_reference
from sim.document.scenario import (
    Initiation,
    Scenario,
    ScriptLine,
    free_snapshot_id,
)
from sim.document.toml_table import MOST_NUMBER, Table
from sim.document.validate import fitting_initiations, validate
from sim.edit.another_algorithm import with_algorithm
from sim.edit.another_run import another_run
from sim.edit.by_hand import choose, manual
from sim.edit.channel_edits import capacity, fifo, network, without_fifo
from sim.edit.coordination import coordinator
from sim.edit.fault_edits import fault, no_faults
from sim.edit.items import change, delete, process_of, read_body, read_inner, with_parameter
from sim.edit.storing import recovery, roll_back, storage
from sim.edit.watch import watched
from sim.run.execution import Execution, run
from sim.run.references import all_references, find, message_at

Edit = Mapping[str, Any]
ANOTHER = "another"


def apply_edit(
    execution: Execution, edit: Edit, now: float, running: Callable[[Scenario], Execution] = run
) -> Execution:
    """The run of the edited scenario, by `running`. `now` is the time that the user looks at, in time units.

    Raises InputError, with the reason, if the edit is refused.
    """
    if is_plan(edit):
        return checked_run(planned(execution.scenario, edit, now), running)
    do, table = _read(edit, now)
    if do not in RUN_EDITS:
        raise InputError(f"there is no edit {do!r}; known: {', '.join((*PLANS, *RUN_EDITS))}")
    return checked_run(_as_edited(RUN_EDITS[do](execution, table, now)), running)


def is_plan(edit: Edit) -> bool:
    """Whether an edit changes the plan alone, and reads nothing of the run. Several such edits need one run only."""
    do = edit.get("do")
    return isinstance(do, str) and do in PLANS


def planned(scenario: Scenario, edit: Edit, now: float) -> Scenario:
    """The scenario after an edit that `is_plan`, for `checked_run`. Raises InputError."""
    do, table = _read(edit, now)
    return _as_edited(PLANS[do](scenario, table, now))


def checked_run(scenario: Scenario, running: Callable[[Scenario], Execution] = run) -> Execution:
    """The run of an edited scenario, by `running`. Raises InputError if it is invalid or impossible."""
    validate(scenario)
    return running(scenario)


def _read(edit: Edit, now: float) -> tuple[str, Table]:
    """The action of an edit, and its keys. Raises InputError."""
    if not abs(now) < MOST_NUMBER:
        raise InputError(f"time: expected a number below {MOST_NUMBER:g}, not {now:g}")
    table = Table(edit, "")
    do: str = table.take("do", str, None, "a text")
    return do, table


def _as_edited(scenario: Scenario) -> Scenario:
    """The scenario without its origin, its [expect] table and its guided walk, which are about the original run."""
    return replace(scenario, origin="", expect={}, walk=())


# --------------------------------------------------------------------------- delays


def read_message(table: Table) -> MessageReference:
    """The message that an edit names. Raises InputError if it names none."""
    return read_reference(read_inner(table, "message", "name the message"))


def _without_delay(execution: Execution, reference: MessageReference) -> Scenario:
    """The scenario without the delay set for the message that `reference` names, under any of its names."""
    names = all_references(execution)[message_at(execution, reference).id]
    kept = {known: delay for known, delay in execution.scenario.delays.items() if known not in names}
    return replace(execution.scenario, delays=kept)


def _with_delay(execution: Execution, reference: MessageReference, delay: float) -> Scenario:
    scenario = _without_delay(execution, reference)
    return replace(scenario, delays={**scenario.delays, reference: delay})


def _delay(execution: Execution, table: Table, now: float) -> Scenario:
    if "delay" not in table.values:
        raise table.missing("delay", "the edit is incomplete; give a number of time units")
    scheduler = execution.scenario.scheduler
    if not scheduler.has_time:
        raise InputError(f"delay: the {scheduler.kind} scheduler has no delays; hold or release the message")
    return _with_delay(execution, read_message(table), table.number("delay", 0.0))


def _hold(execution: Execution, table: Table, now: float) -> Scenario:
    return _with_delay(execution, read_message(table), HOLD)


def _release(execution: Execution, table: Table, now: float) -> Scenario:
    """Removes the delay of the message; if it would then have arrived before `now`, it arrives at `now`."""
    reference = read_message(table)
    scenario = _without_delay(execution, reference)
    if not scenario.scheduler.has_time:
        return scenario
    flight = find(run(scenario), reference)
    if flight is None or flight.send.time > now or flight.receive is None or flight.receive.time >= now:
        return scenario
    sent = flight.send.time
    delay = now - sent
    while sent + delay < now:  # by a rounding error
        delay = math.nextafter(delay, HOLD)
    return replace(scenario, delays={**scenario.delays, reference: delay})


# --------------------------------------------------------------------------- new items


def _when(scenario: Scenario, table: Table, process: str, now: float) -> float:
    """The time the edit gives, else `now`. Under the manual scheduler: after all items of the process."""
    at = table.number("at", now)
    if scenario.scheduler.kind != "manual":
        return at
    planned: list[ScriptLine | Initiation] = [*scenario.script, *scenario.snapshots]
    return max((1.0 + own.at for own in planned if own.process == process and own.after is None), default=0.0)


def _send(scenario: Scenario, table: Table, now: float) -> Scenario:
    body = read_body(scenario, table.values.get("body"))
    process, to = process_of(table, "process"), process_of(table, "to")
    line = ScriptLine(process, _when(scenario, table, process, now), to=to, body=body, where="the new message")
    return replace(scenario, script=(*scenario.script, line))


def _internal(scenario: Scenario, table: Table, now: float) -> Scenario:
    process = process_of(table, "process")
    line = ScriptLine(process, _when(scenario, table, process, now), where="the new event")
    return replace(scenario, script=(*scenario.script, line))


def _snapshot(scenario: Scenario, table: Table, now: float) -> Scenario:
    process = process_of(table, "process")
    name = table.optional("id") or free_snapshot_id(scenario)
    start = Initiation(name, process, _when(scenario, table, process, now), where="the new snapshot")
    asked = replace(scenario, snapshots=(*scenario.snapshots, start))
    is_final = process not in scenario.processes or any(own.snapshot == name for own in scenario.snapshots)
    if is_final or scenario.rules.initiators == ANY:
        return asked
    return replace(asked, snapshots=fitting_initiations(asked))


def _algorithm(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Give the scenario another algorithm. If it needs FIFO and a channel is not, it is broken on purpose."""
    kind = table.choice("kind", ALGORITHMS, scenario.algorithm)
    source = process_of(table, "source") if "source" in table.values else None
    if source is not None and source not in scenario.processes:
        raise table.fail("source", f"{source!r} is no process; {nearest(source, scenario.processes)}")
    changed = with_algorithm(scenario, kind, source)
    return without_fifo(changed, changed.not_fifo)


def _parameter(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Give the algorithm a parameter; its default takes away what was given."""
    own = with_parameter(scenario.algorithm_parameters, table, scenario.rules.parameters)
    return replace(scenario, algorithm_parameters=own)


def _break(execution: Execution, table: Table, now: float) -> Scenario:
    """Break a rule in place of the one broken so far, or keep it again. "fifo" takes FIFO from every channel."""
    scenario = execution.scenario
    name = table.choice("rule", BROKEN_RULES, "")
    is_on = table.take("on", bool, True, "true or false")
    if name == FIFO:
        return without_fifo(scenario, tuple(channel.name for channel in scenario.channels) if is_on else ())
    kept = {reference: delay for reference, delay in scenario.delays.items() if reference.kind != CONTROL}
    changed = replace(scenario, breaks=(name,) if is_on else (), delays=kept)
    settings = BROKEN_RULES[name].settings(execution.times[-1]) if is_on else {}
    known = changed.rules.parameters
    parameters = {key: value for key, value in scenario.algorithm_parameters.items() if key in known}
    return without_fifo(replace(changed, algorithm_parameters={**parameters, **settings}), scenario.not_fifo)


def _watch(execution: Execution, table: Table, now: float) -> Scenario:
    """Take snapshots one after the other, until one of them shows that a stable property holds."""
    name, process = table.required("property"), process_of(table, "process")
    return watched(execution, name, process, table.number("every", 0.0), table.number("at", now))


def _another(execution: Execution, table: Table, now: float) -> Scenario:
    return another_run(execution, table.whole("number", 0), table.text("round"))


# PLANS change the plan alone; RUN_EDITS need the run that the user sees.
PLANS: dict[str, Callable[[Scenario, Table, float], Scenario]] = {
    "send": _send, "internal": _internal, "snapshot": _snapshot, "change": change, "algorithm": _algorithm,
    "parameter": _parameter, "fifo": fifo, "capacity": capacity, "fault": fault, "no_faults": no_faults,
    "network": network,
    "coordinator": coordinator, "storage": storage, "recovery": recovery,
}  # fmt: skip
RUN_EDITS: dict[str, Callable[[Execution, Table, float], Scenario]] = {
    "delay": _delay, "hold": _hold, "release": _release, "delete": delete, "manual": manual, "choose": choose,
    "break": _break, "watch": _watch, ANOTHER: _another, "roll_back": roll_back,
}  # fmt: skip
