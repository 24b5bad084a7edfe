"""Writes a scenario as TOML."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import tomli_w

from sim import FILE_VERSION
from sim.core.delays import DelayRule
from sim.core.model import MessageReference
from sim.core.recovery import RecoveryPlan
from sim.core.topology import EVERY_CHANNEL, Topology
from sim.document.fault_rates import FaultRates
from sim.document.scenario import FaultLine, Initiation, Scenario, SchedulerChoice, ScriptLine, WalkStep


def dumps(scenario: Scenario) -> str:
    """`scenario` as TOML. `sim.document.files.parse_toml` reads an equal scenario from it."""
    return tomli_w.dumps(_without_defaults(scenario), multiline_strings=True)


def _without_defaults(scenario: Scenario) -> dict[str, Any]:
    plain = Scenario("", ())
    document: dict[str, Any] = {"version": FILE_VERSION, "processes": list(scenario.processes)}
    for key in ("title", "story", "source", "group", "orientation", "seed"):
        if getattr(scenario, key) != getattr(plain, key):
            document[key] = getattr(scenario, key)
    for key in ("absent", "not_fifo", "breaks"):
        if getattr(scenario, key):
            document[key] = list(getattr(scenario, key))
    document["topology"] = _topology_out(scenario.topology)
    if scenario.network != plain.network:
        document["network"] = asdict(scenario.network)
    if (scenario.algorithm, scenario.algorithm_parameters) != (plain.algorithm, {}):
        document["algorithm"] = {"kind": scenario.algorithm, **scenario.algorithm_parameters}
    if scenario.coordinator is not None:
        document["coordinator"] = dict(scenario.coordinator)
    if scenario.storage is not None:
        document["storage"] = dict(scenario.storage)
    if scenario.recovery is not None:
        document["recovery"] = recovery_table(scenario.recovery)
    document["workload"] = {"kind": scenario.workload, **scenario.parameters}
    if scenario.initial:
        document["initial"] = dict(scenario.initial)
    if scenario.scheduler != plain.scheduler:
        document["scheduler"] = _scheduler_out(scenario.scheduler)
    document["delay"] = _delay_out(scenario.delay)
    if scenario.marker_delay is not None:
        document["marker_delay"] = _delay_out(scenario.marker_delay)
    if scenario.control_delay != plain.control_delay:
        document["control_delay"] = _delay_out(scenario.control_delay)
    if scenario.fault_rates != plain.fault_rates:
        document["fault_rates"] = _different(scenario.fault_rates, plain.fault_rates)
    if scenario.expect:
        document["expect"] = dict(scenario.expect)
    document["script"] = [_line_out(line) for line in scenario.script]
    document["snapshots"] = [_start_out(start) for start in scenario.snapshots]
    document["faults"] = [_fault_out(fault) for fault in scenario.faults]
    document["delays"] = [{**_reference_out(reference), "delay": delay} for reference, delay in scenario.delays.items()]
    document["cuts"] = [{"name": c.name, "frontier": dict(c.frontier), "text": c.text} for c in scenario.cuts]
    document["walk"] = [_walk_out(stop) for stop in scenario.walk]
    return {key: value for key, value in document.items() if value != []}


def recovery_table(plan: RecoveryPlan) -> dict[str, Any]:
    """The table [recovery] of `plan`, without default values."""
    usual = asdict(RecoveryPlan())
    given = {key: value for key, value in asdict(plan).items() if value != usual[key]}
    if plan.at:
        given["at"] = plan.at[0] if len(plan.at) == 1 else list(plan.at)
    if plan.processes:
        given["processes"] = list(plan.processes)
    if plan.to:
        given["to"] = plan.to[0] if len(set(plan.to)) == 1 else list(plan.to)
    return given


def _different(rates: FaultRates, plain: FaultRates) -> dict[str, float]:
    given, usual = asdict(rates), asdict(plain)
    return {key: value for key, value in given.items() if value != usual[key]}


def _scheduler_out(choice: SchedulerChoice) -> dict[str, Any]:
    settings: dict[str, dict[str, Any]] = {
        "tick": {"until": choice.until, **({} if choice.extra is None else {"extra": choice.extra})},
        "manual": {"order": list(choice.order)},
    }
    return {"kind": choice.kind, **settings.get(choice.kind, {})}


def _topology_out(topology: Topology) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": topology.kind}
    if topology.kind == "listed":
        found["channels"] = [f"{a}->{b}" for a, b in topology.channels]
    if topology.extra:
        found["extra"] = topology.extra
    if topology.capacity:
        given = dict(topology.capacity)
        found["capacity"] = given[EVERY_CHANNEL] if [*given] == [EVERY_CHANNEL] else given
    return found


def _delay_out(rule: DelayRule) -> dict[str, Any]:
    settings: dict[str, dict[str, Any]] = {
        "fixed": {"value": rule.low},
        "uniform": {"low": rule.low, "high": rule.high},
        "whole": {"low": rule.low, "high": rule.high},
        "exponential": {"mean": rule.low},
        "listed": {"values": list(rule.values)},
    }
    return {"kind": rule.kind, **settings[rule.kind]}


def _line_out(line: ScriptLine) -> dict[str, Any]:
    named = {
        "process": line.process, "at": line.at, "after": line.after, "to": line.to, "body": line.body,
        "label": line.label, "received_as": line.receive_label,
    }  # fmt: skip
    return {key: value for key, value in named.items() if value is not None}


def _start_out(start: Initiation) -> dict[str, Any]:
    waits = {"after": start.after} if start.after is not None else {}
    kind = {"type": start.type} if start.type is not None else {}
    return {"id": start.snapshot, "process": start.process, "at": start.at, **waits, **kind}


def _fault_out(fault: FaultLine) -> dict[str, Any]:
    about: dict[str, Any] = {"process": fault.process} if fault.process else {"channels": list(fault.channels)}
    if fault.message is not None:
        label = fault.message.label
        about = {"message": label} if label is not None else _marker_out(fault.message)
    factor = {"factor": fault.factor} if fault.kind == "slow" else {}
    waits = {"after": fault.after} if fault.after is not None else {}
    at = {} if fault.message is not None and not fault.at and not waits else {"at": fault.at}
    return {"kind": fault.kind, **about, **factor, **at, **waits}


def _marker_out(reference: MessageReference) -> dict[str, Any]:
    return {"channel": reference.channel, "snapshot": reference.snapshot}


def _reference_out(reference: MessageReference) -> dict[str, Any]:
    if reference.label is not None:
        return {"label": reference.label}
    named = {"channel": reference.channel, "kind": reference.kind, "ordinal": reference.ordinal}
    return {**named, **({"snapshot": reference.snapshot} if reference.snapshot else {})}


def _walk_out(stop: WalkStep) -> dict[str, Any]:
    return {"text": stop.text, "swaps": stop.swaps, **({} if stop.step is None else {"step": stop.step})}
