"""Cuts, the states at them, and what is asked of them: as the reference has them, where any features meet."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

import pytest

from sim.core.log import to_json
from sim.core.model import APP, APPLICATION_KINDS, Channel, State
from sim.run.cut_states import CutStates, states_at_cuts
from sim.run.execution import Execution
from sim.run.rollbacks import taken_back
from sim.theory.lattice import consistent_cuts, definitely, frontiers, lattice, linearizations, possibly
from sim.theory.positions import Cut as ProductCut
from tests.cases import each
from tests.reference.definition import Cut, Meaning
from tests.reference.generator import Drawn, drawn, executions, of_all
from tests.tools import check_none

MOST_CUTS = 3_000
COUNT = 300


@cache
def some() -> list[Drawn]:
    return [*executions(0, COUNT)]


def differences(execution: Execution) -> Iterator[str]:
    """What the project says of the cuts of a run that the reference does not say."""
    meaning, order = Meaning(execution.scenario, execution.table), execution.order
    found = meaning.lattice(MOST_CUTS)
    if found is None:
        return
    gone = {row.row for row in execution.table if row.kind in APPLICATION_KINDS} - {row.row for row in meaning.kept}
    back = {number for number in taken_back(execution) if execution.table[number].kind in APPLICATION_KINDS}
    if back != gone:
        yield f"taken back are the rows {back}, not {gone}"
    expected = (meaning.frontiers, len(found), len(found), meaning.linearizations(found))
    told = (frontiers(order), consistent_cuts(order), len(lattice(order)), linearizations(order))
    if told != expected:
        yield f"frontiers, consistent cuts, linearizations: {told}, not {expected}"
        return
    element_at = {element.row: element for element in meaning.elements}
    same: dict[ProductCut, Cut] = {
        cut: frozenset(
            element_at[own.row] for line, count in zip(order.lines, cut, strict=True) for own in line[:count]
        )
        for cut in lattice(order)
    }
    if {*same.values()} != {*found}:
        yield "other consistent cuts"
        return
    states = states_at_cuts(execution)
    yield from (problem for cut, other in same.items() for problem in _at_a_cut(meaning, states, cut, other))
    draw = Random(execution.scenario.seed)
    chosen = {*draw.sample([*same], draw.randint(0, len(same)))}
    holds = {same[cut] for cut in chosen}
    if possibly(order, chosen.__contains__).holds != bool(chosen):
        yield f"possibly: {chosen}"
    surely = definitely(order, chosen.__contains__)
    if surely.holds != meaning.definitely(found, holds.__contains__):
        yield f"definitely: {surely.holds} of {chosen}"
    if surely.holds and not meaning.definitely(found, {same[cut] for cut in surely.barrier}.__contains__):
        yield "an order avoids the barrier"


def _at_a_cut(meaning: Meaning, states: CutStates, cut: ProductCut, other: Cut) -> Iterator[str]:
    expected = meaning.state_at(other)
    own = {name: states.state(name, count) for name, count in zip(meaning.processes, cut, strict=False)}
    if own != expected.processes:
        yield f"processes at {cut}: {own}, not {expected.processes}"
    for name, bodies in expected.channels.items():
        found = meaning.ordered(name, [flight.send.body or "null" for flight in states.in_channel(name, cut)])
        if found != bodies:
            yield f"{name} at {cut}: {found}, not {bodies}"
    inside = dict(zip(meaning.processes, states.order.inside(cut), strict=True))
    if inside != meaning.inside(other):
        yield f"events inside at {cut}: {inside}"


def test_the_cuts_of_any_system_and_the_states_at_them() -> None:
    check_none(of_all(some(), differences))


def test_every_state_of_a_run_without_recovery_is_in_its_lattice() -> None:
    """Of the scenarios whose workload changes nothing between two positions."""
    check_none(
        f"{own.scenario.name} after step {step}"
        for own in some()
        if own.execution is not None and own.scenario.recovery is None and own.scenario.storage is None
        for step in _states_elsewhere(own.execution)
    )


def _states_elsewhere(execution: Execution) -> Iterator[int]:
    """The steps after which the run is in a state that is not that of a consistent cut."""
    meaning = Meaning(execution.scenario, execution.table)
    for step in execution.replay():
        cut = frozenset(own for own in meaning.elements if own.step <= step.number)
        processes = {own.name: own.state if own.alive else None for own in step.state.processes}
        channels = {own.name: _bodies(meaning, own, step.state) for own in execution.engine.channels}
        if not meaning.is_consistent(cut) or meaning.state_at(cut) != (processes, channels):
            yield step.number


def _bodies(meaning: Meaning, channel: Channel, state: State) -> list[str]:
    bodies = [to_json(own.body) for own in state.queues[channel.number] if own.kind == APP]
    return meaning.ordered(channel.name, bodies)


def test_any_two_features_that_are_not_refused_meet() -> None:
    """Of all systems that are drawn; so the reference judges each meeting."""
    met = {frozenset((one, other)) for own in some() for one in own.features for other in own.features if one < other}
    assert len(met) > 640


def test_what_is_lost_in_one_epoch_and_put_back_in_the_next_comes_once_in_each() -> None:
    """The message e2 is lost and sent again; then it is put back, and what was sent again is fenced off."""
    own = drawn(5_010_412).execution
    assert own is not None
    fates = [row.kind for row in own.table if row.message_id == 9]
    assert fates == ["send", "resent", "recorded", "put_back", "receive", "fenced"]
    check_none(differences(own))


@each("number", [21_342, 28_205])
def test_a_process_goes_back_to_a_copy_that_belongs_to_another_snapshot_than_that_of_the_others(number: int) -> None:
    own = drawn(number).execution
    assert own is not None
    check_none(differences(own))


@pytest.mark.long("cuts of 5,000 systems in which any features meet")
def test_of_very_many_systems() -> None:
    check_none(of_all(executions(1_000_000, 5_000), differences))
