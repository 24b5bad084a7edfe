"""Edits that give the choice of the next action to the user."""

from __future__ import annotations

from dataclasses import replace

from sim.core.delays import DelayRule
from sim.document.scenario import Scenario, SchedulerChoice
from sim.document.toml_table import Table
from sim.explain.choices import choices_made
from sim.run.execution import Execution


def manual(execution: Execution, table: Table, now: float) -> Scenario:
    """Keep the first `after` steps; from then on the user chooses."""
    return _by_hand(execution, _steps_kept(execution, table))


def choose(execution: Execution, table: Table, now: float) -> Scenario:
    """Keep the first `after` steps and take `choice` as the next step, which is the last one."""
    return _by_hand(execution, _steps_kept(execution, table), table.required("choice"))


def _steps_kept(execution: Execution, table: Table) -> int:
    after = table.whole("after", execution.steps)
    if after > execution.steps:
        raise table.fail("after", f"this run has {execution.steps} steps; give the number of one of them, not {after}")
    return after


def _by_hand(execution: Execution, after: int, *chosen: str) -> Scenario:
    """The scenario under the manual scheduler. Without time, delays have no meaning, so they are dropped."""
    scenario = execution.scenario
    if scenario.scheduler.kind == "manual":
        order = scenario.scheduler.order[:after]
        return replace(scenario, scheduler=SchedulerChoice("manual", order=(*order, *chosen)))
    order = choices_made(execution, after)
    scheduler = SchedulerChoice("manual", order=(*order, *chosen))
    plain = DelayRule()
    return replace(scenario, scheduler=scheduler, delay=plain, marker_delay=None, control_delay=plain, delays={})
