"""An exploration beside the plain explorer of tests/reference: states, steps, snapshots, and what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sim.document.scenario import Scenario
from sim.explore.judging import judged
from sim.explore.report import Exploration, exploration
from sim.explore.world import NO_FAULTS, MayHappen
from tests.reference.explorer import Environment, Recorded, States, System, states_of, verdicts_of


def plain_system(scenario: Scenario, may: MayHappen = NO_FAULTS, *, own_order: bool = False) -> System:
    """The same for the plain explorer."""
    return System(
        scenario, Environment(may.crashes, may.restarts, may.losses, may.freezes, may.freezes > 0), own_order=own_order
    )


def plain_counts(scenario: Scenario, may: MayHappen = NO_FAULTS, *, own_order: bool = False) -> tuple[int, int]:
    """The number of states, and that of steps between them, by the plain explorer."""
    found = states_of(plain_system(scenario, may, own_order=own_order))
    return len(found.depths), found.transitions


def differences(
    scenario: Scenario, may: MayHappen = NO_FAULTS, *, own_order: bool = False, judges: bool = True
) -> Iterator[str]:
    """What the explorer finds otherwise. `judges`: also what is recorded and what is wrong, which takes longer."""
    done = exploration(scenario, own_order=own_order, may=may)
    return differences_of(done, plain_system(scenario, may, own_order=own_order), judges=judges)


def differences_of(
    done: Exploration, system: System, *, plain: States | None = None, judges: bool = True
) -> Iterator[str]:
    """The same of an exploration that has been made. plain: the states of the system, if they are known."""
    plain, found = plain or states_of(system), done.found
    per_depth = found.per_depth[: done.depth + 1]
    counts: list[tuple[str, Any, Any]] = [
        ("states", found.states, len(plain.depths)),
        ("steps", found.transitions, plain.transitions),
        ("states by depth", per_depth, plain.per_depth),
    ]
    if judges:
        counts += _of_verdicts(done, system)
    where = f"{system.scenario.name}, {system.scenario.algorithm}, {system.scenario.breaks}, {system.left}"
    yield from (f"{where}: {what} {ours}, not {right}" for what, ours, right in counts if ours != right)


def _of_verdicts(done: Exploration, system: System) -> Iterator[tuple[str, Any, Any]]:
    right = verdicts_of(system)
    ways = {_recorded(own.id, own.processes, own.channels): own.ways for own in done.recorded}
    yield "snapshots", set(ways), set(right.recorded)
    if done.found.is_levelled:
        yield "runs to each snapshot", ways, dict(right.recorded)
    made = judged(system.engine.algorithm)
    yield "wrong", dict(done.shortest()), {check: steps for check, steps in right.wrong.items() if check in made}
    if done.found.is_levelled:
        made -= {"conservation"} if system.left.crashes + system.left.losses else set()  # not asked where they happened
        yield "wrong runs", *({check: own[check] for check in made} for own in (done.found.wrong, right.wrong_ways))


def _recorded(name: str, *parts: Any) -> Recorded:
    return Recorded(name, *(json.dumps(own, sort_keys=True) for own in parts))
