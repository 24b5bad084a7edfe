"""A coordinator of the snapshots (sim/services/coordinator.py): with it, without it, and with other settings."""

from __future__ import annotations

from dataclasses import replace

from sim.core.model import CONTROL
from sim.document.scenario import Scenario
from sim.document.toml_table import Table
from sim.document.validate import fitting_initiations
from sim.edit.items import with_parameter
from sim.services.settings import PARAMETERS


def coordinator(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Add or remove the coordinator that starts the snapshots, or change one of its settings. Raises InputError."""
    if "name" not in table.values:
        is_on = table.take("on", bool, True, "true or false")
        return _with(scenario, table) if is_on else _without(scenario)
    if scenario.coordinator is None:
        raise table.fail("name", "this run has no coordinator; add one first")
    return replace(scenario, coordinator=with_parameter(scenario.coordinator, table, PARAMETERS))


def _with(scenario: Scenario, table: Table) -> Scenario:
    own = scenario.coordinator or {}
    if "timeout" in table.values:
        timeout = Table({"name": "timeout", "value": table.values["timeout"]}, "")
        own = with_parameter(own, timeout, PARAMETERS)
    return replace(scenario, coordinator=own)


def _without(scenario: Scenario) -> Scenario:
    """Processes start the snapshots that it was asked for; delays and faults of what only it starts are dropped."""
    asked = {None, *(start.snapshot for start in scenario.snapshots)}
    kept = {own: delay for own, delay in scenario.delays.items() if own.kind != CONTROL and own.snapshot in asked}
    faults = tuple(own for own in scenario.faults if own.message is None or own.message.snapshot in asked)
    alone = replace(scenario, coordinator=None, delays=kept, faults=faults)
    return replace(alone, snapshots=fitting_initiations(alone))
