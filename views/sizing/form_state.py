"""The state of the form of the page Sizing: the numbers and choices of a system, as in an address."""

from __future__ import annotations

from collections.abc import Mapping

from sim.theory.sizing_inputs import CHOICES, INPUTS, System

KEYS = frozenset((*INPUTS, *CHOICES))


def read(params: Mapping[str, str]) -> System:
    """The system that an address asks for. Raises InputError."""
    return System.read({key: text for key, text in params.items() if key in KEYS})


def query_of(system: System) -> dict[str, str]:
    """The query of an address that asks for `system`: all values that differ from the first ones."""
    first = System()
    given = {name: getattr(system, name) for name in (*CHOICES, *INPUTS)}
    return {
        name: f"{float(value):.15g}" if name in INPUTS else str(value)
        for name, value in given.items()
        if value != getattr(first, name)
    }
