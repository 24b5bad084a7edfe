"""Edits of storage and recovery, and a rollback at a moment."""

from __future__ import annotations

import math
from dataclasses import replace

from sim.core.model import CONTROL
from sim.core.recovery import ON_CRASH, RecoveryPlan
from sim.document.files import read_recovery
from sim.document.scenario import Scenario
from sim.document.toml_table import Table
from sim.document.writing import recovery_table
from sim.edit.items import with_parameter
from sim.explain.words import listing
from sim.run.execution import Execution
from sim.run.stored import holding_before
from sim.services.settings import STORAGE
from sim.services.storage_words import NAME

RECOVERY = ("on", "at", "detect", "processes", "channels", "fence")  # keys of the recovery that an edit may set


def storage(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Add or remove the storage of snapshots, or change one of its settings. Raises InputError."""
    if "name" not in table.values:
        is_on = table.take("on", bool, True, "true or false")
        return replace(scenario, storage=scenario.storage or {}) if is_on else _without_storage(scenario)
    if not scenario.has_storage:
        raise table.fail("name", "this run stores nothing; store its snapshots first")
    return replace(scenario, storage=with_parameter(scenario.storage or {}, table, STORAGE))


def _without_storage(scenario: Scenario) -> Scenario:
    """The scenario without storage, without recovery, and without delays of control messages to or from the storage."""
    kept = {
        own: delay
        for own, delay in scenario.delays.items()
        if own.kind != CONTROL or NAME not in (own.channel or "").split("->")
    }
    return replace(scenario, storage=None, recovery=None, delays=kept)


def recovery(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Add or remove the rollback after each crash, or set one key of [recovery].

    A recovery needs a storage: without settings of one, storing takes no time. Raises InputError.
    """
    plan = scenario.recovery or RecoveryPlan()
    if "name" not in table.values:
        is_on = table.take("on", bool, True, "true or false")
        return replace(scenario, recovery=replace(plan, on=ON_CRASH) if is_on else None)
    name, value = table.choice("name", RECOVERY, ""), table.values.get("value")
    if scenario.recovery is None and name not in ("on", "at"):
        raise table.fail("name", "this run has no recovery; set first when one begins")
    given = {key: own for key, own in recovery_table(plan).items() if key not in (name, "to")}
    if value not in (None, "", []):
        given[name] = value
    if "at" not in given and "on" not in given:
        return replace(scenario, recovery=None)
    return replace(scenario, recovery=_with_goals(read_recovery(Table(given, "")), plan))


def _with_goals(plan: RecoveryPlan, before: RecoveryPlan) -> RecoveryPlan:
    """`plan`, in which the recoveries of the plan `before` keep the snapshots that they go back to."""
    wanted = dict(zip(before.at, before.to, strict=False))
    goals = tuple(wanted.get(time, "") for time in plan.at)
    return replace(plan, to=goals if any(goals) else ())


def roll_back(execution: Execution, table: Table, now: float) -> Scenario:
    """Roll the system back to one snapshot, at the time that the edit gives, else `now`. Raises InputError.

    If the run has no time, this rollback is the last of the recoveries at a given time.
    """
    scenario, to = execution.scenario, table.required("to")
    plan = scenario.recovery or RecoveryPlan()
    at = table.number("at", now)
    if not scenario.scheduler.has_time:
        at = max((1.0 + time for time in plan.at), default=0.0)
    known = holding_before(execution, at if scenario.scheduler.has_time else math.inf)
    if known is None:
        raise table.fail("to", "this run stores nothing, so there is nothing to go back to; store its snapshots first")
    if to not in known.rollbacks:
        valid = listing([*known.rollbacks])
        when = f" at {at:g}" if scenario.scheduler.has_time else ""
        advice = f"go back to {valid}" if valid else "no snapshot is valid then"
        raise table.fail("to", f"{to} is not stored{when}; {advice}")
    goals = dict(zip(plan.at, plan.to or ("",) * len(plan.at), strict=True)) | {at: to}
    times = tuple(sorted(goals))
    return replace(scenario, recovery=replace(plan, at=times, to=tuple(goals[time] for time in times)))
