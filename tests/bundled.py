"""The bundled scenarios, as tests choose among them. A new file in scenarios/ is found by its presence there."""

from __future__ import annotations

from sim.document import library
from sim.document.scenario import Scenario

MOST_FOLLOWED = 20  # processes: beyond that a diagram is a texture, in which nobody follows one message


def is_crowd(scenario: Scenario) -> bool:
    """Whether a scenario has more processes than anybody follows."""
    return len(scenario.processes) > MOST_FOLLOWED


def small() -> list[str]:
    """The names of the scenarios that are no crowds."""
    return [name for name in library.names() if not is_crowd(library.load(name))]
