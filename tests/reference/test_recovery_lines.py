"""Recovery lines, whoever fails: as the reference has them, where any features meet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations

import pytest

from sim.core.model import Process, State
from sim.run.execution import Execution
from sim.run.recovery_lines import recoveries_of
from tests.pipeline.some_recoveries import WRONG, recovered
from tests.reference.definition import APPLICATION, Meaning
from tests.reference.generator import executions
from tests.reference.recovery_lines import line
from tests.tools import check_none

NAME = "uncoordinated"
COUNT = 90
# Banks with one to three crashes: the first 40, and some where a recovery without a fence has left what is taken back.
RECOVERED = (*range(40), 151, 321, 344, 556)


def lines_at_the_end(execution: Execution) -> Iterator[str]:
    """Lines after a failure at the end of the run, of every set of processes, that the reference does not have."""
    meaning = Meaning(execution.scenario, execution.table)
    names = meaning.processes
    events = [row for row in meaning.kept if row.kind in APPLICATION]
    own = {name: [row.index or 0 for row in events if row.process == name] for name in names}
    down = {process.name for process in execution.final.processes if process.present and not process.alive}
    last = {process.name: process.index for process in execution.final.processes}
    for failed in chain.from_iterable(combinations(names, count) for count in range(1, len(names) + 1)):
        present = {name: last[name] for name in {*names} - {*failed} - down}
        for snapshot, recovery in recoveries_of(_with_failed(execution, failed)).items():
            expected = line(meaning, _copies(execution, snapshot), present)
            numbered = {name: sum(index <= expected[name] for index in own[name]) for name in names}
            if recovery.line != numbered:
                yield f"{snapshot}, {failed} fail: {recovery.line}, not {numbered}"
            if {*recovery.kept} != {name for name, index in present.items() if expected[name] == index}:
                yield f"{snapshot}, {failed} fail: {recovery.kept} keep their present states"


def _copies(execution: Execution, snapshot: str) -> dict[str, list[int]]:
    """The indices of the copies of a series: of those that contain nothing that a later restore has taken back."""
    found: dict[str, list[int]] = {}
    for row in execution.table:
        if row.kind == "record" and row.snapshot_id == snapshot:
            found.setdefault(row.process, []).append(row.index or 0)
        elif row.kind == "restore":
            found[row.process] = [index for index in found.get(row.process, ()) if index <= (row.index or 0)]
    return found


def _with_failed(execution: Execution, failed: tuple[str, ...]) -> Execution:
    parameters = {**execution.scenario.algorithm_parameters, "failed": failed}
    scenario = replace(execution.scenario, algorithm_parameters=parameters)
    return replace(execution, scenario=scenario, engine=scenario.engine())


def lines_gone_back_to(execution: Execution) -> Iterator[str]:
    """What the recoveries of a run restore and keep that the reference does not."""
    before, failed = execution.engine.initial(), set()
    for step in execution.replay():
        rows = [row for row in execution.table if row.step == step.number]
        failed |= {row.process for row in rows if row.kind == "crash"}
        for row in rows:
            if row.kind == "recovery":
                yield from _differences(execution, before, failed, row.row)
                failed = set()
        before = step.state


def _differences(execution: Execution, before: State, crashed: set[str], begin: int) -> Iterator[str]:
    scenario, plan = execution.scenario, execution.scenario.recovery
    assert plan is not None
    body = json.loads(execution.table[begin].body or "")
    failed = {own.name for own in before.processes if own.present and not _has_its_state(own, before, crashed)}
    failed = failed if plan.on else set()  # else all processes are rolled back on purpose
    meant = [own.name for own in before.processes if own.present and (own.name in plan.processes or not plan.processes)]
    copies: dict[str, list[int]] = {}
    shelf = before.node(execution.engine.number_of["storage"]).memory
    for _, process, part in shelf.checkpoints if shelf else ():
        copies.setdefault(process, []).append(part.local.inside)
    present = {own.name: own.index for own in before.processes if failed and own.name not in failed}
    expected = line(Meaning(scenario, execution.table, begin), copies, present)
    keeps = [name for name in meant if present.get(name) == expected[name]]
    if (body["restores"], body.get("keeps", [])) != ([name for name in meant if name not in keeps], keeps):
        yield f"restores {body['restores']}, keeps {body.get('keeps')}, not {keeps} of {meant}"
    for row in execution.table[begin:]:
        if row.kind == "restore" and row.epoch == body["epoch"] and row.index != expected[row.process]:
            yield f"{row.process} goes back to {row.index} in step {row.step}, not to {expected[row.process]}"


def _has_its_state(own: Process, before: State, crashed: set[str]) -> bool:
    return own.alive and own.name not in crashed and own.number not in before.recovery.waiting


@pytest.mark.slow
def test_the_line_whoever_fails() -> None:
    check_none(
        f"{own.scenario.name}: {problem}"
        for own in executions(4_000_000, COUNT, NAME)
        if own.execution is not None
        for problem in lines_at_the_end(own.execution)
    )


@pytest.mark.slow
def test_a_recovery_goes_back_to_the_line_of_those_that_failed() -> None:
    check_none(
        f"{own.scenario.name}: {problem}"
        for own in executions(4_000_000, COUNT, NAME)
        if own.execution is not None and own.scenario.recovery is not None
        for problem in lines_gone_back_to(own.execution)
    )


@pytest.mark.slow
def test_so_does_one_recovery_after_another() -> None:
    check_none(
        f"{seed}: {problem}"
        for seed in RECOVERED
        for execution in [recovered(seed, WRONG[seed % len(WRONG)])]
        if not execution.engine.algorithm.coordinated
        for problem in lines_gone_back_to(execution)
    )


@pytest.mark.long("recovery lines of 2,000 systems in which any features meet")
def test_the_lines_of_very_many() -> None:
    check_none(
        f"{own.scenario.name}: {problem}"
        for own in executions(5_000_000, 2_000, NAME)
        if own.execution is not None
        for problem in chain(
            lines_at_the_end(own.execution), lines_gone_back_to(own.execution) if own.scenario.recovery else ()
        )
    )
