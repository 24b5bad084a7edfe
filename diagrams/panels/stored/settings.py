"""The storage and the recovery of a run, ready for the page."""

from __future__ import annotations

from typing import Any

from diagrams.panels.stored.coordinator import plain
from sim.core.algorithm import ALGORITHMS
from sim.core.recovery import ON_CRASH, RecoveryPlan
from sim.document.scenario import Scenario
from sim.services.settings import STORAGE


def storage(scenario: Scenario) -> dict[str, Any]:
    """The settings of the storage for JSON; null is any number, and `refused` the reason if there can be none."""
    given = scenario.storage or {}
    settings = [
        {
            "name": name,
            "kind": own.kind,
            "words": f"{name}: {own.help}",
            "value": plain(given.get(name, own.default)),
            "usual": plain(own.default),
        }
        for name, own in STORAGE.items()
        if scenario.has_storage
    ]
    return {"is_on": scenario.has_storage, "refused": _no_storage(scenario), "settings": settings}


def recovery(scenario: Scenario) -> dict[str, Any]:
    """The table [recovery], ready for JSON; `refused` is the reason why this run can have none.

    `goals` names the snapshot to restore at each time of `at` ("": the last valid one).
    """
    plan = scenario.recovery or RecoveryPlan()
    return {
        "is_on": scenario.recovery is not None,
        "refused": _no_storage(scenario) or _no_recovery(scenario),
        "on_crash": plan.on == ON_CRASH,
        "detect": plan.detect,
        "at": list(plan.at),
        "goals": list(plan.to or ("",) * len(plan.at)),
        "processes": list(plan.processes),
        "channels": plan.channels,
        "fence": plan.fence,
    }


def _no_storage(scenario: Scenario) -> str:
    """The reason why a run can have no storage, in a sentence; empty if it can."""
    if scenario.scheduler.kind == "tick":
        return "The tick scheduler, COS 418's, has no storage."
    if scenario.absent or any(fault.kind in ("join", "leave") for fault in scenario.faults):
        return "A storage does not support processes that join or leave yet. Remove those faults."
    return ""


def _no_recovery(scenario: Scenario) -> str:
    """The reason why the rules of a run allow no recovery, in a sentence; empty if they do."""
    if scenario.rules.allows_recovery:
        return ""
    title = scenario.rules.title
    if ALGORITHMS[scenario.algorithm].allows_recovery:
        return f"The rules of {title} do not allow a recovery in their present settings; the default settings do."
    return f"The rules of {title} do not allow a recovery yet; choose other rules."
