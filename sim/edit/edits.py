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
    {"do": "network", "layer": "raw", "resend"?: 4}         what is lost is lost there; "fifo": it is sent again
    {"do": "change", "item": ITEM, "at"?, "to"?, "body"?, "process"?}
    {"do": "delete", "item": ITEM}
    {"do": "algorithm", "kind": "lai_yang"}                 another algorithm, with default parameters; a
                                                            "source" given with it loses its incoming channels
    {"do": "parameter", "name": "collect", "value": true}   a parameter of the algorithm
    {"do": "coordinator", "on": true, "timeout"?: 50}       a coordinator of the snapshots, or none any more
    {"do": "coordinator", "name": "retries", "value": 2}    one of its settings
    {"do": "storage", "on": true}                           the snapshots are stored, or are not any more; or "name" and
                                                            "value" of one of the storage's settings
    {"do": "recovery", "on": true}                          the system is rolled back after each crash, or never
    {"do": "recovery", "name": "at", "value": [10, 25.5]}   one thing is said of that, as in the table [recovery]
    {"do": "roll_back", "to": "S1", "at"?}                  the system is rolled back to this snapshot
    {"do": "fifo", "channel": "P1->P2", "fifo": false}      messages may overtake each other there, or may not any more;
                                                            "all": on every channel
    {"do": "capacity", "channel": "P1->P2", "capacity": 3}  how many messages it holds (null: any number); "all": each
    {"do": "break", "rule": "one_flag", "on": true}         break a rule (sim/core/broken_rule.py), or keep it again
    {"do": "manual", "after"?: 4}                           from step 5 on the user makes every choice
    {"do": "choose", "choice": "deliver P1->P2", "after"?: 4}
    {"do": "watch", "property": "terminated", "process": "P1", "every": 20, "at"?}   snapshots until one shows it
    {"do": "another", "number": 17, "round"?: "K7QF"}       run 17 (of a class's round) of the same kind and size

REFERENCE is a `MessageReference` as JSON. ITEM is `{"script": 2}`, `{"snapshots": 0}` or `{"faults": 0}`, counted from
0. Steps up to `after` (default: the last step) stay as they are. `choice` is in the notation of `choice_name`.

An edit that makes the run impossible is refused with the reason. An edited scenario has no [expect] table, which was
about the original run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any

from sim.core.algorithm import ALGORITHMS, ANY
from sim.core.broken_rule import BROKEN_RULES, FIFO
from sim.core.delays import HOLD, DelayRule
from sim.core.errors import InputError, nearest
from sim.core.fault_kinds import FAULT_KINDS, MESSAGE, PROCESS
from sim.core.model import CONTROL, MessageReference
from sim.core.network import LAYERS, Network
from sim.core.topology import EVERY_CHANNEL
from sim.document.fault_rates import FaultRates
from sim.document.files import read_reference
from sim.document.scenario import (
    FaultLine,
    Initiation,
    Scenario,
    SchedulerChoice,
    ScriptLine,
    free_snapshot_id,
)
from sim.document.toml_table import MOST_NUMBER, Table
from sim.document.validate import fitting_initiations, validate
from sim.edit.another_algorithm import with_algorithm
from sim.edit.another_run import another_run
from sim.edit.coordination import coordinator
from sim.edit.items import change, delete, read_body, read_inner, with_parameter
from sim.edit.storing import recovery, roll_back, storage
from sim.edit.watch import watched
from sim.explain.choices import choices_made
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
    """Whether an edit changes what is planned, whatever happens in the run. Several of them need one run only."""
    do = edit.get("do")
    return isinstance(do, str) and do in PLANS


def planned(scenario: Scenario, edit: Edit, now: float) -> Scenario:
    """The scenario after an edit that `is_plan`, for `checked_run`. Raises InputError."""
    do, table = _read(edit, now)
    return _as_edited(PLANS[do](scenario, table, now))


def checked_run(scenario: Scenario, running: Callable[[Scenario], Execution] = run) -> Execution:
    """The run of an edited scenario, by `running`. Raises InputError where it is invalid or impossible."""
    validate(scenario)
    return running(scenario)


def _read(edit: Edit, now: float) -> tuple[str, Table]:
    """What an edit does, and its keys."""
    if not abs(now) < MOST_NUMBER:
        raise InputError(f"time: expected a number below {MOST_NUMBER:g}, not {now:g}")
    table = Table(edit, "")
    do: str = table.take("do", str, None, "a text")
    return do, table


def _as_edited(scenario: Scenario) -> Scenario:
    """What its file says of the run as it was is gone: what to expect, and the guided walk."""
    return replace(scenario, origin="", expect={}, walk=())


# --------------------------------------------------------------------------- delays


def read_message(table: Table) -> MessageReference:
    """The message that an edit names. Raises InputError if it names none."""
    return read_reference(read_inner(table, "message", "it says which message it means"))


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
        raise table.missing("delay", "the edit is incomplete: give a number of time units")
    scheduler = execution.scenario.scheduler
    if not scheduler.has_time:
        raise InputError(f"delay: the {scheduler.kind} scheduler knows no delays; hold or release the message")
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


def _who(table: Table, key: str) -> str:
    if not table.values.get(key):
        raise table.missing(key, "the edit is incomplete: it names a process")
    return table.required(key)


def _when(scenario: Scenario, table: Table, process: str, now: float) -> float:
    """The time the edit gives, else `now`. Under the manual scheduler: after all items of the process."""
    at = table.number("at", now)
    if scenario.scheduler.kind != "manual":
        return at
    planned: list[ScriptLine | Initiation] = [*scenario.script, *scenario.snapshots]
    return max((1.0 + own.at for own in planned if own.process == process and own.after is None), default=0.0)


def _send(scenario: Scenario, table: Table, now: float) -> Scenario:
    body = read_body(scenario, table.values.get("body"))
    process, to = _who(table, "process"), _who(table, "to")
    line = ScriptLine(process, _when(scenario, table, process, now), to=to, body=body, where="the new message")
    return replace(scenario, script=(*scenario.script, line))


def _internal(scenario: Scenario, table: Table, now: float) -> Scenario:
    process = _who(table, "process")
    line = ScriptLine(process, _when(scenario, table, process, now), where="the new event")
    return replace(scenario, script=(*scenario.script, line))


def _snapshot(scenario: Scenario, table: Table, now: float) -> Scenario:
    process = _who(table, "process")
    name = table.optional("id") or free_snapshot_id(scenario)
    start = Initiation(name, process, _when(scenario, table, process, now), where="the new snapshot")
    asked = replace(scenario, snapshots=(*scenario.snapshots, start))
    is_final = process not in scenario.processes or any(own.snapshot == name for own in scenario.snapshots)
    if is_final or scenario.rules.initiators == ANY:
        return asked
    return replace(asked, snapshots=fitting_initiations(asked))


def _fault(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Something that the world does. Under the manual scheduler it is the last one of its kind.

    The drawn faults become lines, so that nothing but this one changes.
    """
    scenario = scenario.written_down()
    kind = table.choice("kind", FAULT_KINDS, "")
    about = FAULT_KINDS[kind].about
    message = read_reference(read_inner(table, "message", "say which message")) if about == MESSAGE else None
    process = _who(table, "process") if about == PROCESS else None
    channels = () if process or message else _channels_meant(scenario, table)
    at = table.number("at", 0.0 if message else now)
    if scenario.scheduler.kind == "manual":
        at = max((1.0 + own.at for own in scenario.faults if own.after is None), default=0.0)
    factor = table.number("factor", 1.0) if kind == "slow" else 1.0
    fault = FaultLine(kind, process, channels, at, message=message, factor=factor, where="the new fault")
    faults = list(scenario.faults)
    place = None if _may_be_undone(scenario, fault) else _made_idle(faults, fault)
    if place is None:
        faults.append(fault)
    else:
        faults[place] = fault
    return replace(scenario, faults=tuple(faults))


def _network(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Another layer below the channels, or another time after which it sends again."""
    own = scenario.network
    network = Network(table.choice("layer", LAYERS, own.layer), table.number("resend", own.resend))
    return _without_fifo(replace(scenario, network=network), scenario.not_fifo)


def _may_be_undone(scenario: Scenario, fault: FaultLine) -> bool:
    """Whether a recovery may bring the process of a fault back: another crash of it changes something, too."""
    return scenario.recovery is not None and FAULT_KINDS[fault.kind].is_unsure


def _about(fault: FaultLine) -> set[Any]:
    """What a fault is about: its process, its message, or its channels."""
    return set(fault.channels) or {fault.about}


def _made_idle(faults: Sequence[FaultLine], fault: FaultLine) -> int | None:
    """The number of the later fault that changes nothing any more once `fault` is there: it gives up its place.

    It is the next one of this kind, or needs what `fault` ends; it is about nothing else, and nothing undoes `fault`
    before it.
    """
    about, ends = _about(fault), FAULT_KINDS[fault.kind].ends
    later = sorted(
        (own.at, number)
        for number, own in enumerate(faults)
        if own.after is None and own.at > fault.at and about & _about(own)
    )
    for _, number in later:
        own = faults[number]
        if own.kind != fault.kind and FAULT_KINDS[own.kind].needs not in ends:
            return None
        if _about(own) <= about:
            return number
    return None


def _channels_meant(scenario: Scenario, table: Table) -> tuple[str, ...]:
    """The channels that a fault names, or those that join two of the groups that it names: [["P1"], ["P2", "P3"]]."""
    if "groups" not in table.values:
        return table.texts("channels")
    group_of: dict[str, int] = {}
    for number, group in enumerate(table.take("groups", list, [], "a list of groups of processes")):
        for name in Table({"groups": group}, "").texts("groups"):
            if name not in scenario.processes:
                raise table.fail("groups", f"{name!r} is no process; {nearest(name, scenario.processes)}")
            if group_of.setdefault(name, number) != number:
                raise table.fail("groups", f"{name} is in two of them; a split puts each process on one side")
    sides = ((channel.name, group_of.get(channel.source_name), group_of.get(channel.target_name))
             for channel in scenario.channels)  # fmt: skip
    found = tuple(name for name, one, other in sides if None not in (one, other) and one != other)
    if not found:
        raise table.fail("groups", "no channel joins two of them; give groups that channels join")
    return found


def _algorithm(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Another algorithm. Where it needs FIFO and a channel is not, it is broken on purpose."""
    kind = table.choice("kind", ALGORITHMS, scenario.algorithm)
    source = _who(table, "source") if "source" in table.values else None
    if source is not None and source not in scenario.processes:
        raise table.fail("source", f"{source!r} is no process; {nearest(source, scenario.processes)}")
    changed = with_algorithm(scenario, kind, source)
    return _without_fifo(changed, changed.not_fifo)


def _no_faults(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Nothing fails, and everybody is there from the beginning."""
    return replace(scenario, faults=(), fault_rates=FaultRates(), absent=())


def _parameter(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Give the algorithm a parameter; its default takes away what was given."""
    own = with_parameter(scenario.algorithm_parameters, table, scenario.rules.parameters)
    return replace(scenario, algorithm_parameters=own)


def _without_fifo(scenario: Scenario, not_fifo: Collection[str]) -> Scenario:
    """The scenario in which these channels are not FIFO. Rules that need FIFO are then broken on purpose."""
    others = tuple(name for name in scenario.breaks if name != FIFO)
    is_broken = (bool(not_fifo) or scenario.network.is_raw) and scenario.rules.needs_fifo
    return replace(scenario, not_fifo=tuple(not_fifo), breaks=(FIFO, *others) if is_broken else others)


def _fifo(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Take FIFO away from a channel, or give it back. An algorithm that needs it is then broken on purpose."""
    names, wanted = [channel.name for channel in scenario.channels], table.required("channel")
    if wanted not in (*names, EVERY_CHANNEL):
        raise table.fail("channel", f"{wanted!r} is no channel of this run; {nearest(wanted, names)}")
    keeps_order = table.take("fifo", bool, False, "true or false")
    chosen = set(names) if wanted == EVERY_CHANNEL else {wanted}
    without = {channel.name for channel in scenario.channels if not channel.fifo}
    without = without - chosen if keeps_order else without | chosen
    return _without_fifo(scenario, tuple(name for name in names if name in without))


def _capacity(scenario: Scenario, table: Table, now: float) -> Scenario:
    """How many messages a channel holds, or every channel."""
    names, wanted = [channel.name for channel in scenario.channels], table.required("channel")
    if wanted not in (*names, EVERY_CHANNEL):
        raise table.fail("channel", f"{wanted!r} is no channel of this run; {nearest(wanted, names)}")
    most = table.take("capacity", (int, NoneType), None, "a whole number of at least 1, or null for any number")
    if most is not None and most < 1:
        raise table.fail("capacity", f"expected a whole number of at least 1, or null for any number, not {most}")
    own = {channel.name: channel.capacity for channel in scenario.channels}
    own |= dict.fromkeys(names, most) if wanted == EVERY_CHANNEL else {wanted: most}
    return replace(scenario, topology=replace(scenario.topology, capacity=_shortest(own)))


def _shortest(own: Mapping[str, int | None]) -> tuple[tuple[str, int], ...]:
    """The capacities of all channels as a topology gives them: one for all, or those that are limited."""
    limited = tuple((name, most) for name, most in own.items() if most is not None)
    is_same = len(limited) == len(own) and len(set(own.values())) == 1
    return ((EVERY_CHANNEL, limited[0][1]),) if is_same else limited


def _break(execution: Execution, table: Table, now: float) -> Scenario:
    """Break a rule in place of the one broken so far, or keep it again. "fifo" takes FIFO from every channel."""
    scenario = execution.scenario
    name = table.choice("rule", BROKEN_RULES, "")
    is_on = table.take("on", bool, True, "true or false")
    if name == FIFO:
        return _without_fifo(scenario, tuple(channel.name for channel in scenario.channels) if is_on else ())
    kept = {reference: delay for reference, delay in scenario.delays.items() if reference.kind != CONTROL}
    changed = replace(scenario, breaks=(name,) if is_on else (), delays=kept)
    settings = BROKEN_RULES[name].settings(execution.times[-1]) if is_on else {}
    known = changed.rules.parameters
    parameters = {key: value for key, value in scenario.algorithm_parameters.items() if key in known}
    return _without_fifo(replace(changed, algorithm_parameters={**parameters, **settings}), scenario.not_fifo)


def _watch(execution: Execution, table: Table, now: float) -> Scenario:
    """Snapshots one after the other, until one of them shows that a stable property holds."""
    name, process = table.required("property"), _who(table, "process")
    return watched(execution, name, process, table.number("every", 0.0), table.number("at", now))


# --------------------------------------------------------------------------- choices by hand


def _manual(execution: Execution, table: Table, now: float) -> Scenario:
    """The first `after` steps stay as they are; then the user chooses."""
    return _by_hand(execution, _steps_kept(execution, table))


def _choose(execution: Execution, table: Table, now: float) -> Scenario:
    """The first `after` steps stay as they are; the next step is `choice`, and the run ends with it."""
    return _by_hand(execution, _steps_kept(execution, table), table.required("choice"))


def _steps_kept(execution: Execution, table: Table) -> int:
    after = table.whole("after", execution.steps)
    if after > execution.steps:
        raise table.fail("after", f"this run has {execution.steps} steps; give the number of one of them, not {after}")
    return after


def _by_hand(execution: Execution, after: int, *chosen: str) -> Scenario:
    """The scenario under the manual scheduler. Without time, delays have no meaning, so they are dropped."""
    scenario = execution.scenario
    if scenario.scheduler.kind == "manual":
        order = scenario.scheduler.order[:after]
        return replace(scenario, scheduler=SchedulerChoice("manual", order=(*order, *chosen)))
    order = choices_made(execution, after)
    scheduler = SchedulerChoice("manual", order=(*order, *chosen))
    plain = DelayRule()
    return replace(scenario, scheduler=scheduler, delay=plain, marker_delay=None, control_delay=plain, delays={})


def _another(execution: Execution, table: Table, now: float) -> Scenario:
    return another_run(execution, table.whole("number", 0), table.text("round"))


# What is planned is changed, whatever happens in the run; and what needs the run that the user sees.
PLANS: dict[str, Callable[[Scenario, Table, float], Scenario]] = {
    "send": _send, "internal": _internal, "snapshot": _snapshot, "change": change, "algorithm": _algorithm,
    "parameter": _parameter, "fifo": _fifo, "capacity": _capacity, "fault": _fault, "no_faults": _no_faults,
    "network": _network,
    "coordinator": coordinator, "storage": storage, "recovery": recovery,
}  # fmt: skip
RUN_EDITS: dict[str, Callable[[Execution, Table, float], Scenario]] = {
    "delay": _delay, "hold": _hold, "release": _release, "delete": delete, "manual": _manual, "choose": _choose,
    "break": _break, "watch": _watch, ANOTHER: _another, "roll_back": roll_back,
}  # fmt: skip
