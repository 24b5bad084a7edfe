"""What the browser computes, held against Python on random runs: arrivals under FIFO, happened-before, and cuts.

The runs are drawn first and go to one call of the browser's module.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from operator import ge, le
from typing import Any

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from diagrams.browser.payload import payload
from diagrams.browser.scripts import EXPLORE
from diagrams.panels.lattice.panel import Lattice
from diagrams.scene.composition import compose
from diagrams.scene.frontiers import frontier_in
from sim.core.algorithm import ALGORITHMS
from sim.core.model import APPLICATION_KINDS, COPIED, CRASH, LEAVE, Channel, MessageReference
from sim.document import library
from sim.edit.edits import apply_edit
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution, run
from sim.run.fifo import due
from sim.run.flights import Flight
from sim.run.references import references
from sim.theory.causality import History
from sim.theory.cut_names import CutNames
from sim.theory.lattice import lattice, top
from sim.theory.positions import Cut, is_inside
from tests.javascript import IN_BOTH
from tests.reference.generator import executions
from tests.sim.rule_books import Barrier
from tests.sim.strategies import scenarios
from tests.tools import count_of_examples, drawn

RUNS = max(30, count_of_examples(25))
DRAGS = max(30, count_of_examples(120))  # among fewer none may wait behind a dragged message


def scene_of(execution: Execution) -> dict[str, Any]:
    return payload(compose(execution), ())


@st.composite
def drags(draw: Any) -> tuple[Execution, Flight, float]:
    """A run with delays, a message of its busiest channel, and the time at which the user wants it to arrive."""
    scenario = draw(scenarios(schedulers=("timed",)))
    algorithm = draw(st.sampled_from(["chandy_lamport", Barrier.name]))
    execution = run(replace(scenario, algorithm=algorithm))
    on = Counter(flight.channel for flight in execution.flights)
    busiest = max(on, key=lambda channel: on[channel], default=None)
    assume(on[busiest] > 2)
    queue = [flight for flight in execution.flights if flight.channel == busiest]
    markers = [flight for flight in queue[:-1] if flight.is_marker and algorithm == Barrier.name]
    flight = draw(st.sampled_from(markers or queue))
    return execution, flight, flight.send.time + draw(st.integers(0, 40)) / draw(st.sampled_from([1, 3, 10]))


PREVIEW = """(fifo, drags) => drags.map(([scene, id, due]) => {
    const message = scene.messages.find((one) => one.id === id);
    const { arrival, front, moved } = fifo.arrivalIfDue(scene, message, due);
    return [fifo.delayFor(message, due), arrival, front?.id, moved.map((one) => [one.message.id, one.arrival])];
})"""


@pytest.mark.slow
def test_the_preview_of_a_drag_says_when_messages_arrive(
    run_module: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ALGORITHMS._found, Barrier.name, Barrier)
    dragged = drawn(drags(), DRAGS)
    asked = [[scene_of(execution), flight.id, wanted] for execution, flight, wanted in dragged]
    waiting = pushed = 0
    answers = run_module(PREVIEW, [EXPLORE / "run/fifo.js"], asked)
    for (execution, flight, _), (delay, arrival, front, moved) in zip(dragged, answers, strict=True):
        reference = references(execution)[flight.id]
        after = apply_edit(execution, {"do": "delay", "message": reference._asdict(), "delay": delay}, 0.0)
        assert arrivals(after, flight.channel)[reference] == pytest.approx(arrival)
        then = arrivals(execution, flight.channel) | {references(execution)[id]: at for id, at in moved}
        for one in untouched(execution, after, flight):
            assert arrivals(after, flight.channel)[one] == pytest.approx(then[one])
        waiting += front is not None
        pushed += bool(moved)
    assert waiting > DRAGS / 40
    assert pushed > DRAGS / 40


def arrivals(execution: Execution, channel: Channel) -> dict[MessageReference, float | None]:
    """When each message of a channel arrives (None: never), in the order of sending."""
    own = references(execution)
    on = (flight for flight in execution.flights if flight.channel == channel)
    return {own[flight.id]: flight.receive.time if flight.receive else None for flight in on}


def untouched(before: Execution, after: Execution, moved: Flight) -> Iterator[MessageReference]:
    """Those behind a message that were sent as before: a message that comes later may change what is sent then."""
    pairs = zip(*([f for f in x.flights if f.channel == moved.channel] for x in (before, after)), strict=False)
    for was, now in pairs:
        reference = references(before)[was.id]
        same = reference == references(after)[now.id] and was.send.time == now.send.time
        if not same or (was.id != moved.id and due(before, was) != due(after, now)):
            return
        if was.id > moved.id:
            yield reference


CAUSALITY = """({ Causality, Events, PAST, FUTURE }, scenes) => scenes.map((scene) => {
    const events = new Events(scene);
    return Array.from({ length: events.count }, (_, at) => {
        const known = new Causality(events, at);
        const counts = known.counts();
        return [[...known.clock], known.indices(PAST), known.indices(FUTURE), counts[PAST], counts[FUTURE]];
    });
})"""


@cache
def executions_drawn() -> list[Execution]:
    return [run(scenario) for scenario in drawn(scenarios(), RUNS)]


@pytest.mark.slow
@IN_BOTH
def test_clocks_and_happened_before(run_module: Callable[..., Any]) -> None:
    executions = executions_drawn()
    modules = [EXPLORE / "run/causality.js", EXPLORE / "run/events.js"]
    answers = run_module(CAUSALITY, modules, [scene_of(execution) for execution in executions])
    for execution, told in zip(executions, answers, strict=True):
        history = History(execution.scenario.processes, execution.events)
        events = [event for event in execution.events if event.kind in APPLICATION_KINDS]
        assert len(told) == len(events)
        for event, (clock, past, future, in_past, in_future) in zip(events, told, strict=True):
            assert tuple(clock) == history.clock(event)
            assert past == [at for at, other in enumerate(events) if history.happened_before(other, event)]
            assert future == [at for at, other in enumerate(events) if history.happened_before(event, other)]
            assert (in_past, in_future) == (len(past), len(future))


CUTS = """({ Cuts, Events, stopsOf }, asked) => asked.map(([scene, frontier, step]) => {
    const events = new Events(scene);
    const cuts = new Cuts(events);
    const ids = (messages) => messages.map(({ id }) => id);
    const nameOf = (channel) => scene.events.channels[channel].name;
    const channels = [...cuts.inChannels(frontier)].map(([channel, found]) => [nameOf(channel), ids(found)]);
    const positions = scene.steps.slice(1).map(({ position }) => position);
    const stops = stopsOf(scene, events, positions.length ? positions : [0], (at) => events.position(at, scene));
    return {
        violations: ids(cuts.violations(frontier)),
        channels: Object.fromEntries(channels.map(([name, own]) => [name, own.toSorted((one, other) => one - other)])),
        below: cuts.below(frontier),
        above: cuts.above(frontier),
        now: cuts.atStep(step),
        amounts: scene.conserved.map((good) => [good.unit, cuts.amounts(good, frontier)]),
        read: cuts.read(cuts.written(frontier)),
        positions: stops.map((own, lane) => own.find(({ count }) => count === frontier[lane]).position),
    };
})"""
CUT_MODULES = [EXPLORE / "run/cuts.js", EXPLORE / "run/events.js", EXPLORE / "run/cut_stops.js"]


@st.composite
def cut_runs(draw: Any) -> tuple[Execution, list[int], int]:
    """A run, a cut of it, and a step."""
    execution = run(draw(scenarios()))
    frontier = [draw(st.integers(0, len(own))) for own in execution.history.of.values()]
    return execution, frontier, draw(st.integers(0, execution.steps))


def of_recoveries() -> list[tuple[Execution, list[int], int]]:
    """The same of a run in which P1 has taken back what P2 has received: every cut, at its last step."""
    execution = run(library.load("recovery_without_fence"))
    cuts = product(*(range(len(own) + 1) for own in execution.history.of.values()))
    return [(execution, list(cut), execution.steps) for cut in cuts]


@pytest.mark.slow
def test_cuts(run_module: Callable[..., Any]) -> None:
    """Verdict, channels, nearest consistent cuts, amounts, and where the line lies."""
    asked = [*drawn(cut_runs(), RUNS), *of_recoveries()]
    answers = run_module(CUTS, CUT_MODULES, [[scene_of(x), frontier, step] for x, frontier, step in asked])
    inconsistent = holding = conserving = unsent = 0
    for (execution, frontier, step), told in zip(asked, answers, strict=True):
        history = execution.history
        inside = dict(zip(history.processes, frontier, strict=True))
        order = execution.order
        cut = order.at(frontier)
        assert told["violations"] == sorted({*history.violations(inside), *order.orphans(cut)})
        found = {name: order.in_channel(name, cut) for name in order.ways}
        assert told["channels"] == {name: sorted(own) for name, own in found.items() if own}
        assert told["below"][: len(frontier)] == list(history.consistent_below(inside).values())
        above = history.consistent_above(inside)
        assert (told["above"] or [])[: len(frontier)] == list((above or {}).values())
        now = [sum(event.step <= step for event in own) for own in history.of.values()]
        assert told["now"][: len(frontier)] == now
        _same_amounts(execution, cut, told["amounts"])
        assert told["read"] == frontier
        shown = compose(execution).cut_at(frontier).shown_cut
        assert shown is not None and told["positions"] == pytest.approx(shown.positions, abs=1e-3)
        unsent += any(message in history.unsent for message in told["violations"])
        inconsistent += bool(told["violations"])
        holding += bool(told["channels"])
        conserving += bool(told["amounts"])
    assert min(inconsistent, holding, conserving) > RUNS / 20 and unsent == 2


NEAREST = """({ Cuts, Events }, asked) => asked.map(([scene, frontier]) => {
    const cuts = new Cuts(new Events(scene));
    const held = cuts.read(cuts.written(frontier));
    return { held, below: cuts.below(held), above: cuts.above(held) };
})"""


@pytest.mark.slow
def test_cuts_lie_between_steps_where_any_features_meet(run_module: Callable[..., Any]) -> None:
    """The cut that is held of one that a link says, and the nearest consistent ones: those of the lattice."""
    drawn_ones = (own.execution for own in executions(500, 80) if own.execution is not None)
    draw, asked = random.Random(4), [own for own in drawn_ones if not own.order.unsent(top(own.order))]
    frontiers = [[draw.randint(0, len(own)) for own in each.history.of.values()] for each in asked]
    given = [[scene_of(each), frontier] for each, frontier in zip(asked, frontiers, strict=True)]
    for execution, frontier, told in zip(asked, frontiers, run_module(NEAREST, CUT_MODULES, given), strict=True):
        order = execution.order
        held = order.inside(order.at(frontier))
        consistent = {order.inside(cut) for cut in lattice(order)}
        below = [own for own in consistent if all(map(le, own, held))]
        above = [own for own in consistent if all(map(ge, own, held))]
        assert told["held"] == list(held)
        count, names = len(held), CutNames(order)
        assert told["below"][:count] == [max(own) for own in zip(*below, strict=True)]
        assert told["above"][:count] == [min(own) for own in zip(*above, strict=True)]
        assert all(order.is_consistent(names.cut(told[near])) for near in ("below", "above"))


PLACED = """({ Cuts, Events }, asked) => asked.map(([scene, names]) => {
    const cuts = new Cuts(new Events(scene));
    return names.map((name) => ({
        placed: cuts.placed(name),
        written: cuts.written(name),
        read: cuts.read(cuts.written(name)),
        signed: cuts.signed(name),
        violations: cuts.violations(name).length,
        channels: [...cuts.inChannels(name).values()].flat().map(({ id }) => id).sort((one, other) => one - other),
        amounts: scene.conserved.map((good) => [good.unit, cuts.amounts(good, name)]),
    }));
})"""


@pytest.mark.slow
def test_cuts_that_differ_in_faults_alone(run_module: Callable[..., Any]) -> None:
    """Names, signs, channels and amounts at the cuts of the lattice, with all losses, copies and crashes."""
    draw = random.Random(7)
    runs = [own.execution for own in executions(900, 60) if own.execution is not None]
    runs += [run(library.load(name)) for name in ("lost_and_copied", "crash", "joins")]
    cuts = [draw.sample(own, min(len(own), 40)) for own in (sorted(lattice(each.order)) for each in runs)]
    names = [CutNames(each.order) for each in runs]
    given = [
        [scene_of(each), [own.name(cut) for cut in some]] for each, own, some in zip(runs, names, cuts, strict=True)
    ]
    matter = unlike = 0
    for execution, own, some, answers in zip(runs, names, cuts, run_module(PLACED, CUT_MODULES, given), strict=True):
        drawing = Lattice(compose(execution), 0)
        for cut, told in zip(some, answers, strict=True):
            name, order = own.name(cut), execution.order
            assert own.cut(name) == cut and told["placed"] == list(name) and not told["violations"]
            assert told["written"] == own.written(cut) and frontier_in(execution, told["written"])[: len(name)] == (
                name if "~" in told["written"] else order.inside(cut)
            )
            assert own.cut(told["read"]) == cut and told["signed"] == drawing.written(cut)
            assert told["channels"] == sorted(
                message for channel in order.ways for message in order.in_channel(channel, cut)
            )
            _same_amounts(execution, cut, told["amounts"])
            matter += bool(own.that_matter(cut))
            unlike += not own.is_latest(cut)
    assert matter > 50 and unlike > 50


def _same_amounts(execution: Execution, cut: Cut, told: list[list[Any]]) -> None:
    """What is found, lost and copied of each good."""
    order, workload = execution.order, execution.engine.workload
    processes, channels = states_at_cuts(execution).amounts(cut)
    names = CutNames(order)
    inside = [order.lines[line][number - 1] for line, number in names.faults if is_inside((line, number), cut)]
    for unit, found in told:
        lost, copied = (
            sum(
                workload.measure_body(execution.flights[at.message or 0].body).get(unit, 0)
                for at in inside
                if at.message is not None and (at.kind == COPIED) == is_copy
            )
            for is_copy in (False, True)
        )
        assert found == {
            "inProcesses": processes[unit], "inChannels": channels[unit], "lost": lost, "copied": copied,
            "isStateLost": any(at.kind in (CRASH, LEAVE) for at in inside),
        }  # fmt: skip


READING = """({ Cuts, Events }, scene, texts) => {
    const cuts = new Cuts(new Events(scene));
    return texts.map((text) => cuts.read(text));
}"""


@pytest.mark.slow
def test_what_a_link_says_of_a_cut_is_ignored_where_it_is_none_of_the_run(run_module: Callable[..., Any]) -> None:
    scene = scene_of(run(library.load("lecture")))
    wrong = [None, "", "2.3", "2.3.1.0", "6.0.0", "-1.0.0", "1e0.0.0", " 1.0.0", "x.y.z", "9999999999.0.0"]
    assert run_module(READING, CUT_MODULES, scene, [*wrong, "2.3.1"]) == [*[None] * len(wrong), [2, 3, 1]]
