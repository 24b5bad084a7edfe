"""The coordinator of a run's snapshots, for the page: whether there is one, why none may be, and its settings."""

from __future__ import annotations

import math
from typing import Any

from sim.core.algorithm import ALGORITHMS
from sim.document.scenario import Scenario
from sim.services.settings import PARAMETERS, WHEN_HELD
from sim.services.words import listing

LABELS = {"when_held": "when held: one message more than that, and"}  # where it is a menu


def coordinator(scenario: Scenario, end: float) -> dict[str, Any]:
    """Ready for JSON. `refused` says why this run can have none, and `of_others` what can; null is any number.

    `timeout` is long enough for the snapshots of a run that ends at the time `end`. `usual` is what holds where nothing
    is said, `options` what a menu has.
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
    """One sentence in two parts: what of this run does not work with a coordinator, and what does."""
    title = scenario.rules.title
    if ALGORITHMS[scenario.algorithm].allows_coordinator:
        return f"The rules of {title} do not work with a coordinator as they are set here", "without settings they do"
    others = [ALGORITHMS[name].title for name in ALGORITHMS if ALGORITHMS[name].allows_coordinator]
    return f"The rules of {title} do not work with a coordinator as yet", f"those of {listing(others)} do"


def plain(value: Any) -> Any:
    """A value for JSON: null for any number."""
    return None if value == math.inf else value
