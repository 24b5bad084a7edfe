"""The storage and the recovery of a run, for the page: whether there are any, why none may be, and their settings."""

from __future__ import annotations

from typing import Any

from diagrams.panels.stored.coordinator import plain
from sim.core.algorithm import ALGORITHMS
from sim.core.recovery import ON_CRASH, RecoveryPlan
from sim.document.scenario import Scenario
from sim.services.settings import STORAGE


def storage(scenario: Scenario) -> dict[str, Any]:
    """Ready for JSON: the settings of the storage, of which null is any number. `refused` says why there can be none.

    `is_implied`: a recovery needs it, and nothing is said of it.
    """
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
    """Ready for JSON: what the table [recovery] says. `refused` says why this run can have none.

    `goals` names what is gone back to at each time under `at` ("": the last valid snapshot).
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
    """Why a run can have no storage, in a sentence; empty if it can."""
    if scenario.scheduler.kind == "tick":
        return "The tick scheduler, COS 418's, has no storage."
    if scenario.absent or any(fault.kind in ("join", "leave") for fault in scenario.faults):
        return "A storage needs the same processes all the time as yet, and here some come or go."
    return ""


def _no_recovery(scenario: Scenario) -> str:
    """Why the rules of a run allow for no recovery, in a sentence; empty if they do."""
    if scenario.rules.allows_recovery:
        return ""
    title = scenario.rules.title
    if ALGORITHMS[scenario.algorithm].allows_recovery:
        return f"The rules of {title} do not allow for a recovery as they are set here; without settings they do."
    return f"The rules of {title} do not allow for a recovery as yet; choose other rules."
