"""Aligned barriers: figure 2 of the paper, a circle, snapshots that overlap or cross, and runs without a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import Grid
from sim.algorithms.aligned_barriers.rules import AlignedBarriers
from sim.core.algorithm import Graph
from sim.core.delays import HOLD, DelayRule
from sim.core.effects import Out
from sim.core.errors import InputError
from sim.core.model import BLOCKED, MARKER_RECEIVE, RECORD, UNBLOCKED, Channel, Message, Process
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario, SchedulerChoice
from sim.document.writing import dumps
from sim.edit.edits import apply_edit
from sim.explain.narration import APPLICATION_EVENT, narrate
from sim.explain.reasons import explain
from sim.explain.recorded_reasons import why_channel, why_state
from sim.explore.report import changed, complete_graph, exploration
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from sim.run.stops import stops_of
from tests.cases import each
from tests.sim.conftest import Register
from tests.sim.tools import bodies, failing, only_snapshot, rows_of, send, start, system
from tests.tools import examples


class NeverBlocks(AlignedBarriers):
    """Waits for the last barrier, but goes on taking what comes on the channels whose barrier has come."""

    name = "never_blocks"

    def wait_for_others(self, process: Process, channel: Channel, snapshot: str, out: Out) -> None:
        come: frozenset[Channel] = (process.memory or frozenset()) | {channel}
        process.memory = come
        if come == set(process.incoming):
            process.memory = None
            self.record(process, snapshot, out)
            for own in process.incoming:
                out.close(own, snapshot)

    def aligns_another(self, process: Process, snapshot: str) -> bool:
        return False


class NoBackEdges(AlignedBarriers):
    """Algorithm 1 on a graph with circles."""

    name = "no_back_edges"
    back: ClassVar[frozenset[str]] = frozenset()

    def problems(self) -> Any:
        return iter(())


class ForgetsBackEdges(AlignedBarriers):
    """Does not record what comes on a back edge."""

    name = "forgets_back_edges"

    @staticmethod
    def record(process: Process, snapshot: str, out: Out) -> None:
        out.record(snapshot)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)


class AlignsBoth(AlignedBarriers):
    """A barrier that crosses those of another snapshot is aligned like any other."""

    name = "aligns_both"

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        come = (*(process.memory or ()), (marker.snapshot, marker.channel))
        own = {channel for snapshot, channel in come if snapshot == marker.snapshot}
        process.memory = tuple(
            entry for entry in come if entry[0] != marker.snapshot or len(own) < len(process.incoming)
        )
        if own < set(process.incoming):
            out.block(marker.channel)
            return
        self.record(process, marker.snapshot or "", out)
        for channel in process.incoming:
            out.close(channel, marker.snapshot or "")
            out.unblock(channel)


def by_time(execution: Execution, kind: str) -> list[tuple[float, str]]:
    return [(event.time, event.channel or event.process) for event in rows_of(execution, kind)]


# ------------------------------------------------------------------ figure 2 of the paper


def test_the_figure_of_the_paper() -> None:
    """By hand: s1 has sent y y to c1 and y to c2, s2 g g to c1 and g g g to c2 when each sends its barrier.

    The barriers of s1, sent at 3, take 1; those of s2, sent at 6, come at 7. The sinks get theirs at 8.
    """
    execution = run(library.load("barriers"))
    snapshot = only_snapshot(execution)
    assert {name: snapshot.local[name].state for name in ("c1", "c2")} == {
        "c1": {"y": 2, "g": 2}, "c2": {"y": 1, "g": 3},
    }  # fmt: skip
    assert {name: snapshot.local[name].state["emitted"] for name in ("s1", "s2")} == {"s1": 3, "s2": 5}
    assert snapshot.status == "complete" and bodies(snapshot) == {}
    assert by_time(execution, BLOCKED) == [(4, "s1->c1"), (4, "s1->c2")]
    assert by_time(execution, UNBLOCKED) == [(7, "s1->c1"), (7, "s1->c2")]
    assert sorted(by_time(execution, RECORD)) == [(3, "s1"), (6, "s2"), (7, "c1"), (7, "c2"), (8, "p1"), (8, "p2")]
    assert execution.times[snapshot.completed or 0] == 8
    assert failing(execution) == {}


def test_what_comes_on_a_blocked_channel_waits() -> None:
    """o1, sent at 4.6, would be there at 5.6."""
    execution = run(library.load("barriers"))
    arrival = next(flight.receive for flight in execution.flights if flight.send.label == "o1")
    assert arrival is not None and arrival.time == 7
    assert [(stop.channel, stop.lasts) for stop in stops_of(execution)] == [("s1->c1", 3), ("s1->c2", 3)]


def test_without_blocking_the_first_later_record_is_an_orphan(register: Register) -> None:
    execution = run(replace(library.load("barriers"), algorithm=register(NeverBlocks), expect={}))
    broken = failing(execution)
    assert "S1:consistency" in broken and "o" in (broken["S1:consistency"] or "")
    assert only_snapshot(execution).local["c1"].state == {"y": 2, "g": 2, "o": 1}


# ------------------------------------------------------------------ without alignment: at least once

AT_LEAST_ONCE = {"algorithm_parameters": {"align": False}}


def test_without_alignment_what_is_behind_a_barrier_is_in_the_state_of_its_receiver() -> None:
    """By hand: o1, sent at 4.6 behind the barrier of s1, is at c1 at 5.6, before c1 records at 7. s1 had sent y y y."""
    execution = run(replace(library.load("barriers"), **AT_LEAST_ONCE, expect={}))
    snapshot = only_snapshot(execution)
    assert snapshot.local["c1"].state == {"y": 2, "g": 2, "o": 1} and snapshot.local["s1"].state["emitted"] == 3
    assert rows_of(execution, BLOCKED, UNBLOCKED) == [] and bodies(snapshot) == {}
    assert failing(execution) == {
        "S1:consistency": "message o1 on s1->c1 is received inside the cut, but sent outside it",
        "S1:conservation": "12 records recorded of 11",
    }


def test_without_alignment_sentences_and_reasons_say_so() -> None:
    execution = run(replace(library.load("barriers"), **AT_LEAST_ONCE, expect={}))
    told = {text.sentence: text.rules for text in narrate(execution)}
    sentence = "c1 receives the barrier from s1 and waits for others. It goes on taking from s1->c1."
    assert told[sentence] == ("A barrier stops nothing",)
    assert not any("takes nothing more" in text for text in told)
    snapshot = only_snapshot(execution)
    assert why_channel(execution, snapshot, "s1->c1") == (
        "s1->c1 is empty: all that was sent before the barrier had been received when c1 recorded (step 24), and what "
        "was sent behind it may have been received, too."
    )
    barrier = next(flight.id for flight in execution.flights if flight.is_marker and flight.channel.name == "s1->c1")
    assert "c1 went on taking from s1->c1 all the same." in explain(execution, snapshot, barrier)


@pytest.mark.parametrize("crossing", [False, True])
def test_without_alignment_no_two_snapshots_are_in_each_others_way(crossing: bool) -> None:
    execution = run(two(crossing=crossing, **AT_LEAST_ONCE))
    assert [own.status for own in snapshots_of(execution)] == ["complete", "complete"]
    assert {key.partition(":")[2] for key in failing(execution)} <= {"consistency", "conservation"}
    assert all(process.memory is None for process in execution.final.processes)


def test_without_alignment_no_alignment_is_needed_where_only_one_channel_comes() -> None:
    scenario = system(
        "s a t", "s->a a->t", algorithm="aligned_barriers", workload="dataflow", delay=DelayRule("uniform", 1, 9),
        parameters={"records": {"s": 9}, "pace": 1.0, "hops": 2}, snapshots=(start("s", 4),), **AT_LEAST_ONCE,
    )  # fmt: skip
    assert failing(run(scenario)) == {}


def test_sentences_and_reasons_are_those_of_barriers() -> None:
    execution = run(library.load("barriers"))
    told = {text.sentence: text.rules for text in narrate(execution)}
    assert told["c1 receives the barrier from s1 and waits for others: it takes nothing more from s1->c1."] == (
        "A barrier comes before others",
    )
    snapshot = only_snapshot(execution)
    assert why_channel(execution, snapshot, "s1->c1") == (
        "s1->c1 is empty: all that was sent before the barrier had been received, and c1 took nothing more from s1->c1 "
        "until it recorded (step 23)."
    )
    barrier = next(flight.id for flight in execution.flights if flight.is_marker and flight.channel.name == "s1->c1")
    assert "From then on, until it records, c1 takes nothing from s1->c1." in explain(execution, snapshot, barrier)


# ------------------------------------------------------------------ circles


def test_a_circle() -> None:
    """By hand: 5 is at a at 1, b at 2, a at 3. The barrier is at a at 2.5, b at 3.5, and a again at 4.5."""
    execution = run(library.load("barriers_cycle"))
    snapshot = only_snapshot(execution)
    assert {name: local.state for name, local in snapshot.local.items()} == {"s": 5, "a": 0, "b": 0}
    assert bodies(snapshot) == {"b->a": [5]}
    assert by_time(execution, RECORD) == [(1.5, "s"), (2.5, "a"), (3.5, "b")]
    assert execution.times[snapshot.completed or 0] == 4.5
    assert rows_of(execution, BLOCKED) == [] and failing(execution) == {}


def test_without_back_edges_only_the_source_records(register: Register) -> None:
    execution = run(replace(library.load("barriers_cycle"), algorithm=register(NoBackEdges), expect={}))
    assert set(only_snapshot(execution).local) == {"s"}
    assert "S1:completion" in failing(execution)
    assert [stop.lasts for stop in stops_of(execution)] == [None]


def test_without_recording_back_edges_a_message_is_lost(register: Register) -> None:
    execution = run(replace(library.load("barriers_cycle"), algorithm=register(ForgetsBackEdges), expect={}))
    assert set(failing(execution)) == {"S1:channel_states", "S1:conservation"}


def graph(channels: str) -> Graph:
    return system("s a b c", channels, workload="scripted").rule_book().graph


CIRCLES = "s->a a->b b->a b->c c->a"


@each("channels, found", [
        ("s->a s->b a->c b->c", set()), (CIRCLES, {"b->a", "c->a"}), ("s->a a->b b->c c->b", {"c->b"}),
        ("s->b b->a a->c c->b s->c", {"c->b"}),
    ])  # fmt: skip
def test_back_edges_are_found_from_the_sources(channels: str, found: set[str]) -> None:
    assert AlignedBarriers(graph(channels)).back == found


@each(
    "back_edges, problem",
    [
        (["b->a", "c->a"], None),
        (["b->a"], "a->b->c->a is a cycle without a back edge; list one of its channels as well"),
        (["b->a", "c->a", "x->y"], "'x->y' is no channel of this topology; write it as P1->P2"),
        (["s->a", "b->a", "c->a"], "only back edges lead to a, so it would wait for nothing; leave one out"),
    ],
)
def test_back_edges_that_are_given_are_checked(back_edges: list[str], problem: str | None) -> None:
    told = [text for _, text in AlignedBarriers(graph(CIRCLES), back_edges=back_edges).problems()]
    if problem is None:
        assert told == []
    else:
        first = told[0]
        turned = {problem, problem.replace("a->b->c->a", "b->c->a->b"), problem.replace("a->b->c->a", "c->a->b->c")}
        assert first in turned


def test_a_channel_may_be_called_a_back_edge_though_it_closes_no_circle() -> None:
    """Its barrier may come before the process records: then it is blocked like any other."""
    scenario = system(
        "s a b", "s->a s->b a->b", algorithm="aligned_barriers", algorithm_parameters={"back_edges": ["s->b"]},
        workload="bank", parameters={"balance": 50}, snapshots=(start("s", 2),),
        script=(send("s", "b", 2.5, 5), send("a", "b", 1, 3)), delay=DelayRule("fixed", 1.0),
    )  # fmt: skip
    execution = run(scenario)
    assert failing(execution) == {} and by_time(execution, BLOCKED) == [(3, "s->b")]


# ------------------------------------------------------------------ several snapshots


TWO_SOURCES = "s1->a s2->a a->b s1->b"


def two(algorithm: str = "aligned_barriers", crossing: bool = True, **changes: Any) -> Scenario:
    """Two sources that start two snapshots, in the same order or in different ones."""
    second = (5, 2) if crossing else (3, 6)  # when s1 and s2 start S2
    fields: dict[str, Any] = {
        "algorithm": algorithm, "workload": "dataflow", "delay": DelayRule("fixed", 1.0),
        "parameters": {"records": 8, "pace": 1.0, "hops": 2},
        "snapshots": (start("s1", 2), start("s2", 5), start("s1", second[0], "S2"), start("s2", second[1], "S2")),
        **changes,
    }  # fmt: skip
    return system("s1 s2 a b", TWO_SOURCES, **fields)


@each("crossing", [False, True])
@each("scheduler", ["timed", "tick", "random"])
def test_snapshots_may_overlap(crossing: bool, scheduler: str) -> None:
    """In the same order none has a channel state. Barriers that cross are recorded as Chandy and Lamport's are."""
    execution = run(two(crossing=crossing, scheduler=SchedulerChoice(scheduler)))
    assert [own.status for own in snapshots_of(execution)] == ["complete", "complete"]
    assert failing(execution) == {}
    if not crossing and scheduler != "random":
        assert all(bodies(own) == {} for own in snapshots_of(execution))


def test_barriers_that_cross_say_so() -> None:
    told = {rule: text.sentence for text in narrate(run(two())) for rule in text.rules}
    assert "while it waits for those of another snapshot" in told["Barriers of two snapshots cross"]


def test_barriers_that_cross_would_wait_for_each_other(register: Register) -> None:
    execution = run(two(register(AlignsBoth)))
    assert [own.status for own in snapshots_of(execution)] == ["recording", "recording"]
    assert {"S1:completion", "S2:completion"} <= set(failing(execution))
    in_order = run(two(AlignsBoth.name, crossing=False))
    assert failing(in_order) == {}


# ------------------------------------------------------------------ any graph, any order, any edit


@st.composite
def dataflows(draw: Any) -> Scenario:
    """A graph with one or two sources from which all can be reached, circles included, and one or two snapshots."""
    names = ["s", "t", "a", "b", "c"][: draw(st.integers(3, 5))]
    sources = names[: draw(st.integers(1, 2))]
    inner = [name for name in names if name not in sources]
    spare = [(one, other) for one in names for other in inner if one != other]
    edges = {(draw(st.sampled_from(names[: names.index(name)])), name) for name in inner}
    edges |= set(draw(st.lists(st.sampled_from(spare), max_size=5)))
    first = {name for name in sources if all(one != name for one, _ in edges)}
    edges |= {(name, inner[0]) for name in first}
    times = st.integers(1, 30)
    snapshots = tuple(
        start(name, draw(times), f"S{number}") for number in (1, 2)[: draw(st.integers(1, 2))] for name in sources
    )
    return system(
        " ".join(names), " ".join(f"{one}->{other}" for one, other in sorted(edges)), algorithm="aligned_barriers",
        workload="dataflow",
        parameters={"records": draw(st.integers(1, 6)), "pace": 4.0, "hops": draw(st.integers(1, 3))},
        delay=DelayRule("uniform", low=1, high=9), snapshots=snapshots, seed=draw(st.integers(0, 99)),
        scheduler=SchedulerChoice(draw(st.sampled_from(["timed", "random", "tick"]))),
    )  # fmt: skip


@examples(15)
@given(scenario=dataflows())
def test_without_alignment_every_snapshot_is_complete_and_only_what_comes_twice_is_wrong(scenario: Scenario) -> None:
    """Nothing is lost: what is recorded is all there is, and perhaps more."""
    execution = run(replace(scenario, **AT_LEAST_ONCE))
    assert {own.status for own in snapshots_of(execution)} == {"complete"}
    assert {key.partition(":")[2] for key in failing(execution)} <= {"consistency", "conservation"}
    for witness in (witness for key, witness in failing(execution).items() if key.endswith("conservation")):
        found, _, total = (witness or "").partition(" records recorded of ")
        assert int(found) > int(total)
    assert all(text.sentence for text in narrate(execution))


@examples(15)
@given(scenario=dataflows())
def test_every_snapshot_of_every_dataflow_is_complete_and_right(scenario: Scenario) -> None:
    execution = run(scenario)
    assert failing(execution) == {}
    assert {own.status for own in snapshots_of(execution)} == {"complete"}
    is_acyclic = not scenario.rule_book().back  # type: ignore[attr-defined]
    for own in snapshots_of(execution):
        if is_acyclic and len(scenario.snapshots) == len({start.process for start in scenario.snapshots}):
            assert bodies(own) == {}


@examples(15)
@given(scenario=dataflows())
def test_a_run_is_the_same_copied_and_from_a_file_and_everything_in_it_has_a_sentence(scenario: Scenario) -> None:
    execution = run(scenario)
    assert run(scenario, copied=True).events == execution.events
    assert run(parse_toml(dumps(scenario), scenario.name)).events == execution.events
    clauses = {clause.name for rule in AlignedBarriers.rules for clause in rule.clauses} | {APPLICATION_EVENT}
    assert all(set(text.rules) <= clauses and text.sentence for text in narrate(execution))
    for own in snapshots_of(execution):
        told = [explain(execution, own, flight.id) for flight in execution.flights]
        told += [why_state(execution, own, process) for process in scenario.processes]
        told += [why_channel(execution, own, channel.name) for channel in execution.engine.channels]
        assert all(text.endswith(".") and "None" not in text for text in told)


@pytest.mark.parametrize("name", ["barriers", "barriers_cycle"])
def test_any_message_may_be_late_or_held(name: str) -> None:
    """A late one changes nothing of what holds; behind a held barrier a snapshot waits, and nothing else is wrong."""
    execution = run(library.load(name))
    for flight in execution.flights:
        message: Mapping[str, Any] = (
            {"channel": flight.channel.name, "kind": "marker", "snapshot": "S1"}
            if flight.is_marker
            else {"label": flight.send.label}
        )
        for delay in (7.5, HOLD):
            edit = {"do": "hold"} if delay == HOLD else {"do": "delay", "delay": delay}
            late = apply_edit(execution, {**edit, "message": message}, 0)
            assert set(failing(late)) <= ({"S1:completion"} if delay == HOLD else set())


def test_a_graph_without_sources_is_refused_with_advice() -> None:
    with pytest.raises(InputError, match="no process is a source here; remove the channels that lead to one"):
        system("P1 P2", algorithm="aligned_barriers", snapshots=(start("P1", 1),))


def test_every_barrier_is_received() -> None:
    """Also those that cross: each channel has one barrier of each snapshot."""
    execution = run(two())
    came = [(row.channel, row.snapshot_id) for row in rows_of(execution, MARKER_RECEIVE)]
    assert len(came) == len(set(came)) == 8


def test_a_marker_of_a_recorded_snapshot_closes_its_channel() -> None:
    """A rule sees its own process only: it needs nothing but the snapshots that this one has recorded."""
    algorithm = AlignedBarriers(graph("s->a a->b b->a a->c"))
    (s_a, _, b_a, _) = algorithm.graph.channels
    process, out = Process("a", 1, None), Out()
    process.incoming, process.outgoing = (s_a, b_a), ()
    algorithm.on_marker(process, Message(0, s_a, "marker", None, "S1", None, None, None, None), out)
    assert [type(effect).__name__ for effect in out.effects] == ["Record", "Listen", "Listen", "Close", "Unblock"]


# ------------------------------------------------------------------ every run of a small system, and ensembles


@pytest.mark.parametrize(("processes", "states", "transitions"), [(2, 11, 12), (3, 155, 319)])
def test_no_run_of_a_small_system_is_wrong(processes: int, states: int, transitions: int) -> None:
    """Two by hand: P1 has done nothing, sent, started, or both in either order; by what P2 has got: 1+2+2+3+3."""
    done = exploration(changed(complete_graph(processes, 1), "aligned_barriers", not_fifo=False))
    assert done.found.complete and (done.found.states, done.found.transitions) == (states, transitions)
    assert done.shortest() == []


@pytest.mark.parametrize(
    ("processes", "shortest"),
    [(2, [("channel_states", 3), ("consistency", 4)]), (3, [("channel_states", 5), ("consistency", 6)])],
)
def test_without_fifo_some_runs_are_wrong(processes: int, shortest: list[tuple[str, int]]) -> None:
    done = exploration(changed(complete_graph(processes, 1), "aligned_barriers", not_fifo=True))
    assert done.shortest() == shortest


def test_without_blocking_some_runs_are_wrong(register: Register) -> None:
    """P1 starts, P2 and P3 get its barrier, P1 sends to P3, that comes, and then the barrier of P2."""
    done = exploration(changed(complete_graph(3, 1), register(NeverBlocks), not_fifo=False))
    assert done.shortest() == [("consistency", 6)]


def test_an_ensemble_runs_on_acyclic_graphs() -> None:
    given = {"workload": "dataflow", "algorithm": "aligned_barriers", "processes": "4", "snapshots": "2"}
    (cell,) = cells_of(Grid.read({**given, "topology": "dag"}))
    execution = run(cell.scenario)
    assert failing(execution) == {} and len(stops_of(execution)) > 0
    with pytest.raises(InputError, match=r"--topology: .* are initiated by sources, and a ring of 4 has none; use"):
        cells_of(Grid.read({**given, "topology": "ring"}))
