"""The coordinator of a run's snapshots, for the page: whether there is one, why none may be, and its settings."""

from __future__ import annotations

import math
from typing import Any

from sim.document.scenario import Scenario
from sim.services.settings import PARAMETERS, WHEN_HELD

LABELS = {"when_held": "when held: one message more than that, and"}  # where it is a menu


def coordinator(scenario: Scenario, end: float) -> dict[str, Any]:
    """Ready for JSON. `refused` says why this run can have none; a value is null for any number.

    `timeout` is long enough for the snapshots of a run that ends at the time `end`. `usual` is what holds where nothing
    is said, `options` what a menu has.
    """
    given, rules = scenario.coordinator, scenario.rules
    advice = "use Chandy-Lamport's without options"
    refused = f"The rules of {rules.title} do not work with a coordinator as yet: {advice}."
    settings = [
        {
            "name": name,
            "kind": own.kind,
            "words": LABELS.get(name, f"{name.replace('_', ' ')}: {own.help}"),
            "value": _plain(given.get(name, own.default)),
            "usual": _plain(own.default),
            "options": list(WHEN_HELD.items()) if own.kind == "text" else [],
        }
        for name, own in PARAMETERS.items()
        if given is not None
    ]
    return {
        "is_on": given is not None,
        "refused": "" if rules.allows_coordinator else refused,
        "timeout": max(PARAMETERS["timeout"].default, math.ceil(end)),
        "settings": settings,
    }


def _plain(value: Any) -> Any:
    return None if value == math.inf else value
