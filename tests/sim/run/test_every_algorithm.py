"""What every registered algorithm promises, on random systems that give it what it declares that it needs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.core.algorithm import ALGORITHMS, SOURCES
from sim.core.errors import InputError
from sim.core.topology import EVERY_CHANNEL, Topology, unreachable
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.document.validate import fitting_initiations, validate
from sim.document.writing import dumps
from sim.edit.another_algorithm import with_algorithm
from sim.explain.narration import sentences
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from sim.theory.causality import History
from tests.sim.run import counts
from tests.sim.strategies import has_holds, scenarios
from tests.sim.tools import verdicts
from tests.tools import examples

# A field of a sentence that was not filled in. A state may be written in braces too: {L1}.
FIELD = re.compile(r"\{(process|snapshot|clauses|title|marker|channels?|contents?|source|message|state|of|per)\}")
SCHEDULERS = ("timed", "random")  # "tick" knows only FIFO channels, and no markers that overtake


@st.composite
def under(draw: Any, kind: str, holds: bool = True) -> Scenario:
    """A random scenario under an algorithm, with the graph and the order of messages that it declares."""
    scenario = draw(scenarios(SCHEDULERS, holds))
    rules = ALGORITHMS[kind]
    source = scenario.snapshots[0].process if rules.initiators == SOURCES else None
    if source is not None:
        scenario = _from(scenario, source)
    scenario = replace(with_algorithm(scenario, kind, source), algorithm_parameters=draw(settings_of(kind)))
    scenario = replace(scenario, snapshots=fitting_initiations(scenario))
    if not rules.needs_fifo and draw(st.booleans()):
        scenario = replace(scenario, not_fifo=tuple(channel.name for channel in scenario.channels))
    if holds and draw(st.booleans()):
        limited = replace(scenario.topology, capacity=((EVERY_CHANNEL, draw(st.integers(1, 3))),))
        scenario = replace(scenario, topology=limited)
    try:
        validate(scenario)
    except InputError:
        assume(False)
    return scenario


NO_PROMISE = ("announce", "time_to_live", "align")


@st.composite
def settings_of(draw: Any, kind: str) -> dict[str, Any]:
    """Some parameters of an algorithm.

    Without announcements nobody promises that a snapshot reaches everybody, nor that it is complete in a time to live,
    and without alignment of barriers nobody promises a consistent cut.
    """
    values = {"flag": st.booleans(), "number": st.sampled_from([0.0, 2.0, 20.0]), "whole": st.integers(1, 4)}
    known = {name: own.kind for name, own in ALGORITHMS[kind].parameters.items() if name not in NO_PROMISE}
    names = [name for name, of in known.items() if of in values and draw(st.booleans())]
    return {name: draw(values[known[name]]) for name in names}


def _from(scenario: Scenario, source: str) -> Scenario:
    """The scenario with the channels that let `source` reach every process."""
    edges = [(own.source_name, own.target_name) for own in scenario.channels if own.target_name != source]
    missing = unreachable(scenario.processes, edges, [source])
    return replace(scenario, topology=Topology("listed", channels=(*edges, *((source, name) for name in missing))))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*ALGORITHMS])
@examples(10)
@given(data=st.data())
def test_every_check_that_it_names_holds(kind: str, data: st.DataObject) -> None:
    """With a held message, or processes that wait for room in a circle, a snapshot may stay incomplete; that is all."""
    scenario = data.draw(under(kind))
    fails = {v.check for row in verdicts(run(scenario)).values() for v in row if v.holds is False}
    assert fails <= ({"completion"} if has_holds(scenario) or scenario.topology.capacity else set())


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*ALGORITHMS])
@examples(6)
@given(data=st.data())
def test_exactly_the_messages_that_cross_the_cut_are_recorded(kind: str, data: st.DataObject) -> None:
    scenario = data.draw(under(kind, holds=False))
    if "channel_states" not in ALGORITHMS[kind].checks:
        return
    execution = run(scenario)
    history = History(scenario.processes, execution.events)
    for snapshot in snapshots_of(execution):
        assert snapshot.status == "complete"
        recorded = {name: sorted(m.id for m in kept) for name, kept in snapshot.channels.items() if kept}
        crossing = history.in_channels(snapshot.frontier)
        assert recorded == {name: sorted(messages) for name, messages in crossing.items()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*ALGORITHMS])
@examples(6)
@given(data=st.data())
def test_copied_in_place_and_written_runs_are_the_same(kind: str, data: st.DataObject) -> None:
    scenario = data.draw(under(kind))
    events = run(scenario).events
    assert run(scenario, copied=True).events == events
    assert run(parse_toml(dumps(scenario), scenario.name)).events == events


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*ALGORITHMS])
@examples(4)
@given(data=st.data())
def test_every_step_has_its_sentence(kind: str, data: st.DataObject) -> None:
    execution = run(data.draw(under(kind)))
    texts = sentences(execution)
    assert len(texts) == execution.steps + 1
    assert all(text.endswith(".") and not FIELD.search(text) for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*ALGORITHMS])
def test_every_interleaving_of_a_small_system_passes_every_check(kind: str) -> None:
    """What is counted is compared with counts.json, for the algorithms that are in it: see counts.py."""
    for place, processes in enumerate(counts.PROCESSES):
        found = counts.explored(kind, processes).found
        assert found.complete and not found.worst
        if kind in counts.known():
            how = "where this is meant: python -m tests.sim.run.counts --write"
            assert [found.states, found.transitions] == counts.known()[kind][place], how
