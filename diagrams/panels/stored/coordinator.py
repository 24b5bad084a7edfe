"""The coordinator of a run's snapshots, for the page: whether there is one, the reason if none may be, its settings."""

from __future__ import annotations

import math
from typing import Any

from sim.core.algorithm import ALGORITHMS
from sim.document.scenario import Scenario
from sim.services.settings import PARAMETERS, WHEN_HELD
from sim.services.words import listing

LABELS = {"when_held": "when held: with one more message than that"}  # of a menu


def coordinator(scenario: Scenario, end: float) -> dict[str, Any]:
    """The coordinator, ready for JSON; null is any number.

    refused: the reason why this run can have none. of_others: the rules that can.
    timeout: long enough for the snapshots of a run that ends at the time `end`.
    settings: with the default (`usual`) and the `options` of a menu.
    """
    given = scenario.coordinator
    refused, of_others = ("", "") if scenario.rules.allows_coordinator else _why_none(scenario)
    settings = [
        {
            "name": name,
            "kind": own.kind,
            "words": LABELS.get(name, f"{name.replace('_', ' ')}: {own.help}"),
            "value": plain(given.get(name, own.default)),
            "usual": plain(own.default),
            "options": list(WHEN_HELD.items()) if own.kind == "text" else [],
        }
        for name, own in PARAMETERS.items()
        if given is not None
    ]
    return {
        "is_on": given is not None,
        "refused": refused,
        "of_others": of_others,
        "timeout": max(PARAMETERS["timeout"].default, math.ceil(end)),
        "settings": settings,
    }


def _why_none(scenario: Scenario) -> tuple[str, str]:
    """One sentence in two parts: the rules of this run that do not work with a coordinator, and those that do."""
    title = scenario.rules.title
    if ALGORITHMS[scenario.algorithm].allows_coordinator:
        return (
            f"The rules of {title} do not work with a coordinator in their present settings",
            "the default settings do",
        )
    others = [ALGORITHMS[name].title for name in ALGORITHMS if ALGORITHMS[name].allows_coordinator]
    return f"The rules of {title} do not work with a coordinator yet", f"those of {listing(others)} do"


def plain(value: Any) -> Any:
    """A value for JSON: null for any number."""
    return None if value == math.inf else value
