"""The browser's cuts, meters and records are those of the reference, where any features meet.

The Cut tab, the lattice and the diagram judge cuts in JavaScript (assets/explore/run/cuts.js). One call of it judges
the cuts of many systems.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product
from random import Random
from typing import Any, NamedTuple

import pytest

from diagrams.browser.scripts import EXPLORE
from diagrams.panels.record.meters import conserved, meters_of
from diagrams.panels.record.panel import record_of
from diagrams.scene.composition import compose
from sim.run.execution import Execution
from sim.run.snapshots import COMPLETE
from tests.reference.definition import Cut, Element, Meaning, SystemState
from tests.reference.generator import Drawn, executions
from tests.reference.test_cuts import some
from tests.reference.verdicts import Judged
from tests.tools import check_none

MOST_NAMES = 20  # of cuts of one system, with and without their faults
MOST_CUTS = 300  # of a lattice of which some are judged
AT_ONCE = 200  # systems of one call
MODULES = [EXPLORE / "run" / name for name in ("cuts.js", "events.js")]
JUDGE = """({ Cuts, Events }, asked) => asked.map(([scene, names]) => {
    const cuts = new Cuts(new Events(scene));
    const ids = (messages) => messages.map(({ id }) => id);
    const nameOf = (channel) => scene.events.channels[channel].name;
    return names.map((name) => ({
        violations: ids(cuts.violations(name)),
        channels: [...cuts.inChannels(name)].flatMap(([channel, own]) => own.map(({ id }) => [nameOf(channel), id])),
        amounts: scene.conserved.map((good) => cuts.amounts(good, name)),
    }));
})"""
Name = tuple[int, ...]
Run = Callable[..., Any]


class Asked(NamedTuple):
    """A system, and some of its cuts by their names."""

    drawn: Drawn
    execution: Execution
    meaning: Meaning
    cuts: dict[Name, Cut]


def asked_of(own: Drawn) -> Asked:
    assert own.execution is not None
    meaning = Meaning(own.scenario, own.execution.table)
    draw = Random(own.scenario.seed)
    cuts = dict(_of_events(meaning, draw))
    named = [(name_of(meaning, cut), cut) for cut in meaning.lattice(MOST_CUTS) or ()]
    return Asked(own, own.execution, meaning, cuts | dict(draw.sample(named, min(len(named), MOST_NAMES))))


def _of_events(meaning: Meaning, draw: Random) -> Iterator[tuple[Name, Cut]]:
    """Cuts by their events alone, consistent or not: the latest with so many, with what has to be inside."""
    stops = []
    for line in meaning.lines.values():
        stops.append([0])
        for own in line:
            stops[-1] += [stops[-1][-1] + len(own.events)] if own.events else []
    names = [*product(*stops)] if len(meaning.processes) < 3 else [tuple(map(draw.choice, stops)) for _ in range(90)]
    for name in draw.sample(names, min(len(names), MOST_NAMES)):
        lines = zip(meaning.lines.values(), name, strict=True)
        positions = frozenset(own for line, most in lines for own in _first(line, most))
        yield name, next(meaning.placings(positions))


def _first(line: list[Element], most: int) -> Iterator[Element]:
    """The positions of a process with so many events, and the faults that follow."""
    count = 0
    for own in line:
        count += len(own.events)
        if count > most:
            return
        yield own


def name_of(meaning: Meaning, cut: Cut) -> Name:
    """The events inside by process, and for each fault of the run whether it is inside."""
    return (*meaning.inside(cut).values(), *(int(own in cut) for own in faults_of(meaning)))


def faults_of(meaning: Meaning) -> list[Element]:
    """What happened in a run that is no step of the application."""
    return [own for own in meaning.elements if not own.events]


def scene_of(execution: Execution) -> dict[str, Any]:
    """What cuts need of a scene."""
    scene = compose(execution)
    own = {"processes": scene.processes, "lanes": scene.lanes, "events": scene.whole_run.columns}
    return {**own, "conserved": conserved(execution)}


def differences(own: Asked, told: list[dict[str, Any]]) -> Iterator[str]:
    """What the browser says of the cuts of a system that the reference does not say."""
    for (name, cut), found in zip(own.cuts.items(), told, strict=True):
        yield from (f"{own.drawn.scenario.name}, {name}: {problem}" for problem in _at_a_cut(own, cut, found))


def _at_a_cut(own: Asked, cut: Cut, found: dict[str, Any]) -> Iterator[str]:
    meaning = own.meaning
    if meaning.is_consistent(cut) == bool(found["violations"]):
        yield f"{found['violations']} is told, and it is {'' if meaning.is_consistent(cut) else 'not '}consistent"
    early = {*_received_early(meaning, cut)}
    if early - {*found["violations"]} or (not early and meaning.is_consistent(cut) and found["violations"]):
        yield f"{found['violations']} is told, not {sorted(early)}"
    for channel in meaning.scenario.channels:
        held = [message for message in meaning.between(cut) if meaning.sends[message].channel == channel.name]
        told = [message for name, message in found["channels"] if name == channel.name]
        if (told if channel.fifo else sorted(told)) != held:
            yield f"{told} is in {channel.name}, not {held}"
    amounts = [(good["inProcesses"], good["inChannels"]) for good in found["amounts"]]
    if amounts != amounts_of(own.execution, meaning.state_at(cut)):
        yield f"{amounts} is found, not {amounts_of(own.execution, meaning.state_at(cut))}"


def _received_early(meaning: Meaning, cut: Cut) -> Iterator[int]:
    """The messages that are received or lost by a process inside, and not sent inside."""
    rows = {number for own in cut for number in (*own.events, *([own.row] if own.process else []))}
    sent = {(meaning.at[number].process, meaning.at[number].index) for number in rows if number in meaning.at}
    for message, row in {**meaning.receipts, **meaning.losses}.items():
        send = meaning.sends.get(message)
        if row.row in rows and (send is None or (send.process, send.index) not in sent):
            yield message


def amounts_of(execution: Execution, state: SystemState) -> list[tuple[int, int]]:
    """How much of each good is in the processes, and how much in the channels."""
    workload = execution.engine.workload
    processes, channels = Counter[str](), Counter[str]()
    for one in state.processes.values():
        processes.update({} if one is None else workload.measure(one))
    for body in (body for bodies in state.channels.values() for body in bodies):
        channels.update(workload.measure_body(json.loads(body)))
    return [(processes[own["unit"]], channels[own["unit"]]) for own in conserved(execution)]


def of_steps(systems: Iterable[Drawn]) -> Iterator[str]:
    """What meters and records say of runs that no recovery changes, and the reference does not say."""
    for own in systems:
        if own.execution is not None and own.scenario.recovery is None and own.scenario.storage is None:
            found = (*_of_meters(own.execution), *_of_records(own.execution))
            yield from (f"{own.scenario.name}: {problem}" for problem in found)


def _of_meters(execution: Execution) -> Iterator[str]:
    meaning, read = Meaning(execution.scenario, execution.table), meters_of(execution)
    for step in range(execution.steps + 1):
        cut = frozenset(own for own in meaning.elements if own.step <= step)
        expected = amounts_of(execution, meaning.state_at(cut))
        found = [(value_at(own["processes"], step), value_at(own["channels"], step)) for own in read]
        if found != expected:
            yield f"the meters say {found} after step {step}, not {expected}"


def value_at(timeline: list[list[Any]], step: int) -> Any:
    """The value of the last pair up to a step."""
    return [value for at, value in timeline if at <= step][-1]


def _of_records(execution: Execution) -> Iterator[str]:
    scene = compose(execution)
    for record, snapshot in zip(record_of(scene), scene.snapshots, strict=True):
        if snapshot.end is not None and snapshot.status != COMPLETE:
            continue  # the tab tells what became of it after it was complete
        right, truth = Judged(execution.scenario, execution.table, record["id"]), record["truth"]
        is_complete = record["status"][-1][1] == COMPLETE
        if is_complete != (right.status == COMPLETE):
            yield f"{record['id']} is {record['status'][-1]}, not {right.status}"
        if not is_complete:
            continue
        inside = right.meaning.inside(right.positions)
        if any(truth["inside"][name] != inside[name] for name in right.members):
            yield f"{record['id']} has {truth['inside']} inside, not {inside}"
        for channel in {*truth["channels"]} & {*right.channels}:
            bodies = [right.meaning.sends[message].body or "null" for message in truth["channels"][channel]]
            if right.meaning.ordered(channel, bodies) != right.recorded(channel):
                yield f"{record['id']} has {bodies} in {channel}, not {right.recorded(channel)}"


def of_cuts(systems: Iterable[Drawn], run_module: Run) -> Iterator[str]:
    left = iter(systems)
    while batch := [*map(asked_of, islice(left, AT_ONCE))]:
        given = [[scene_of(own.execution), [*own.cuts]] for own in batch]
        answers = run_module(JUDGE, MODULES, given)
        yield from (problem for own, told in zip(batch, answers, strict=True) for problem in differences(own, told))


@pytest.mark.slow
def test_the_cuts_of_any_system_in_the_browser(run_module: Run) -> None:
    check_none(of_cuts(some(), run_module))


@pytest.mark.slow
def test_the_meters_and_the_records_of_any_system() -> None:
    check_none(of_steps(some()))


@pytest.mark.long("cuts in the browser of 5,000 systems in which any features meet, and their meters and records")
def test_those_of_very_many(run_module: Run) -> None:
    check_none(of_cuts(executions(4_000_000, 5_000), run_module))
    check_none(of_steps(executions(4_000_000, 5_000)))
