"""Edits of the faults of a scenario: another fault, or none at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sim.core.errors import nearest
from sim.core.fault_kinds import FAULT_KINDS, MESSAGE, PROCESS
from sim.document.fault_rates import FaultRates
from sim.document.files import read_reference
from sim.document.scenario import FaultLine, Scenario
from sim.document.toml_table import Table
from sim.edit.items import process_of, read_inner


def fault(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Add a fault of the environment. Under the manual scheduler it is the last one of its kind.

    The drawn faults become lines, so that nothing but this one changes.
    """
    scenario = scenario.written_down()
    kind = table.choice("kind", FAULT_KINDS, "")
    about = FAULT_KINDS[kind].about
    message = read_reference(read_inner(table, "message", "name the message")) if about == MESSAGE else None
    process = process_of(table, "process") if about == PROCESS else None
    channels = () if process or message else _channels_meant(scenario, table)
    at = table.number("at", 0.0 if message else now)
    if scenario.scheduler.kind == "manual":
        at = max((1.0 + own.at for own in scenario.faults if own.after is None), default=0.0)
    factor = table.number("factor", 1.0) if kind == "slow" else 1.0
    new = FaultLine(kind, process, channels, at, message=message, factor=factor, where="the new fault")
    faults = list(scenario.faults)
    place = None if _may_be_undone(scenario, new) else _made_idle(faults, new)
    if place is None:
        faults.append(new)
    else:
        faults[place] = new
    return replace(scenario, faults=tuple(faults))


def _may_be_undone(scenario: Scenario, fault: FaultLine) -> bool:
    """Whether a recovery may bring the process of a fault back, so that another crash of it changes something."""
    return scenario.recovery is not None and FAULT_KINDS[fault.kind].is_unsure


def _about(fault: FaultLine) -> set[Any]:
    """The targets of a fault: its process, its message, or its channels."""
    return set(fault.channels) or {fault.about}


def _made_idle(faults: Sequence[FaultLine], fault: FaultLine) -> int | None:
    """The number of the later fault that `fault` makes a no-op, so that `fault` takes its place (None: there is none).

    It is the next fault of this kind, or one that needs a state which `fault` ends. It has no further targets, and
    nothing undoes `fault` before it.
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
                raise table.fail("groups", f"{name} is in two groups; a split puts each process on one side")
    sides = ((channel.name, group_of.get(channel.source_name), group_of.get(channel.target_name))
             for channel in scenario.channels)  # fmt: skip
    found = tuple(name for name, one, other in sides if None not in (one, other) and one != other)
    if not found:
        raise table.fail("groups", "no channel joins two of the groups; give groups that channels join")
    return found


def no_faults(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Remove all faults and rates of faults; every process is there from the beginning."""
    return replace(scenario, faults=(), fault_rates=FaultRates(), absent=())
