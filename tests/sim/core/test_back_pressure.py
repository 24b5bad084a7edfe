"""Channels with a capacity: a full one stops its sender, which fills the channels to it, and so on upstream."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.engine import Engine
from sim.core.errors import InputError
from sim.core.model import FULL, RECORD, ROOM, SEND, Deliver, Internal
from sim.core.topology import EVERY_CHANNEL
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario, SchedulerChoice, ScriptLine
from sim.document.writing import dumps
from sim.edit.words import describe_edit
from sim.explain.choices import all_choices
from sim.explain.narration import sentences
from sim.explore.report import complete_graph, exploration
from sim.run import fifo
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from sim.run.stops import freed_at, stops_of
from sim.workloads.scripted import Scripted
from tests.cases import each
from tests.sim.explore.comparison import plain_counts
from tests.sim.strategies import has_holds, scenarios
from tests.sim.tools import edited_by, failing, rows_of, send, start, system
from tests.tools import examples


def times(execution: Execution, kind: str, process: str) -> list[float]:
    return [row.time for row in rows_of(execution, kind) if row.process == process]


def recorded_at(execution: Execution) -> list[float]:
    return [row.time for row in rows_of(execution, RECORD)]


def limited(scenario: Scenario, most: int) -> Scenario:
    return replace(scenario, topology=replace(scenario.topology, capacity=((EVERY_CHANNEL, most),)))


CHAIN = library.load("back_pressure")


class TestBundledRun:
    """Records asked for at 1, 2, 3, 4, 6, 7; delays 0.5, then 6; two in a channel; a barrier takes 1.5. By hand:

    A and B pass the mapper at 1.5 and 2.5, and fill the channel to the sink until 7.5, when the sink takes A. C and D
    are due at 3.5 and 4.5, but wait; so the channel from the source is full at 4. At 7.5 the mapper takes C, which
    fills its channel again, and the source sends E; at 8.5, when the sink takes B, the same with D and F. C comes to
    the sink at 13.5: now the mapper takes the barrier. It takes E at 14, when that is due, and F at 15.5.
    """

    def test_the_full_channel_stops_its_sender_and_then_the_one_before(self):
        found = [(stop.process, stop.begin.time, stop.lasts) for stop in stops_of(run(CHAIN))]
        assert found == [
            ("mapper", 2.5, 5.0), ("source", 4.0, 3.5), ("mapper", 7.5, 1.0), ("source", 7.5, 1.0),
            ("mapper", 8.5, 5.0), ("source", 8.5, 5.5), ("mapper", 14.0, 0.5), ("mapper", 15.5, 4.5),
        ]  # fmt: skip
        assert times(run(CHAIN), SEND, "source") == [1, 2, 3, 4, 7.5, 8.5]

    def test_the_barrier_waits_with_what_is_in_front_of_it(self):
        (snapshot,) = snapshots_of(run(CHAIN))
        assert recorded_at(run(CHAIN)) == [5, 13.5, 15]
        assert not any(snapshot.channels.values()) and failing(run(CHAIN)) == {}

    def test_barriers_that_overtake_pass_a_process_that_stands_still(self):
        execution = run(edited_by(CHAIN, {"do": "algorithm", "kind": "unaligned_barriers"}, 0.0))
        (snapshot,) = snapshots_of(execution)
        assert recorded_at(execution) == [5, 6.5, 8]
        sent = {name: [execution.flights[own.id].send.time for own in kept] for name, kept in snapshot.channels.items()}
        assert sent == {"source->mapper": [3, 4], "mapper->sink": [2.5]}  # C and D; B, for A had come at 7.5
        assert failing(execution) == {}

    def test_without_the_capacity_nobody_waits(self):
        execution = run(edited_by(CHAIN, {"do": "capacity", "channel": "all", "capacity": None}, 0.0))
        assert times(execution, SEND, "source") == [1, 2, 3, 4, 6, 7] and not stops_of(execution)

    def test_what_came_too_early_is_free_when_its_receiver_goes_on(self):
        execution = run(CHAIN)
        freed = {execution.flights[own].send.label: time for own, time in freed_at(execution).items()}
        assert (freed["C"], freed["D"]) == (7.5, 8.5) and "A" not in freed

    def test_the_sentences_say_who_stands_still_and_who_goes_on(self):
        told = sentences(run(CHAIN))
        assert told[4].endswith("mapper->sink is full with 2 messages: mapper stands still until sink takes one.")
        assert told[8] == "sink receives r from mapper on mapper->sink. There is room on mapper->sink: mapper goes on."


def test_a_process_waits_for_all_of_its_channels():
    scenario = system(
        "P1 P2 P3", "P1->P2 P1->P3",
        script=(send("P1", "P2", 1), send("P1", "P3", 2), send("P1", "P2", 3)),
    )  # fmt: skip
    two = replace(scenario, topology=replace(scenario.topology, capacity=(("P1->P2", 2), ("P1->P3", 2))))
    assert not stops_of(run(two))
    delayed = replace(limited(scenario, 1), delay=replace(scenario.delay, low=5.0))
    assert times(run(delayed), SEND, "P1") == [1, 6, 11]


class ToBoth(Scripted):
    """An internal event sends to both neighbours, in one step."""

    def after_internal(self, process, body, out):
        for channel in process.outgoing:
            out.send(channel.target_name)
        return super().after_internal(process, body, out)


def test_room_on_one_channel_is_not_enough_while_another_is_full():
    scenario = limited(system("P1 P2 P3", "P1->P2 P1->P3", script=(ScriptLine("P1", 1), ScriptLine("P1", 2))), 1)
    own = scenario.engine()
    engine = Engine(own.processes, own.channels, ToBoth(scenario.processes, 0), own.algorithm, own.agenda)
    state, rows = engine.step(engine.initial(), engine.enabled(engine.initial())[0])
    assert [row for row in zip(rows[2::9], rows[3::9], strict=True) if row[0] == FULL] == [
        (FULL, "P1->P2"), (FULL, "P1->P3")
    ]  # fmt: skip
    first, second = engine.enabled(state)
    after, rows = engine.step(state, first)
    assert (rows[-7], rows[-6]) == (ROOM, "P1->P2")
    assert [type(action) for action in engine.enabled(after)] == [Deliver]
    done, _ = engine.step(after, second)
    assert [type(action) for action in engine.enabled(done)] == [Internal]


def test_processes_that_wait_for_room_in_a_circle_wait_for_ever():
    scenario = limited(
        system("P1 P2", script=(send("P1", "P2", 1), send("P2", "P1", 1)), snapshots=(start("P1", 5),)), 1
    )
    execution = run(scenario)
    assert not [row for row in execution.events if row.kind == "receive"]
    assert failing(execution) == {"S1:completion": "P2 has not recorded"}
    assert [stop.lasts for stop in stops_of(execution)] == [None, None]


def test_markers_take_no_room():
    scenario = limited(system("P1 P2", snapshots=(start("P1", 1), start("P2", 1, "S2"))), 1)
    assert not stops_of(run(scenario)) and failing(run(scenario)) == {}


def test_by_hand_nobody_may_choose_what_a_full_channel_forbids():
    scenario = limited(system("P1 P2", "P1->P2", script=(send("P1", "P2", 1), send("P1", "P2", 2))), 1)
    by_hand = replace(scenario, scheduler=SchedulerChoice("manual", order=("act P1",)))
    (before, after) = all_choices(run(by_hand), 0, 1)
    assert [own.choice for own in before] == ["act P1"] and [own.choice for own in after] == ["deliver P1->P2"]


@pytest.mark.slow
@examples(15)
@given(scenario=scenarios(), most=st.integers(1, 3))
def test_no_channel_ever_holds_more_and_a_step_is_the_same_in_place(scenario: Scenario, most: int) -> None:
    """No workload of `scenarios` sends twice on a channel in one step."""
    execution = run(limited(scenario, most))
    for channel in execution.engine.channels:
        flights = [flight for flight in execution.flights if flight.channel == channel and not flight.is_marker]
        changes = sorted(
            [(own.send.row, 1) for own in flights] + [(own.receive.row, -1) for own in flights if own.receive]
        )
        assert all(sum(change for _, change in changes[: n + 1]) <= most for n in range(len(changes)))
    assert run(limited(scenario, most), copied=True).events == execution.events


@examples(15)
@given(scenario=scenarios(("timed", "tick", "random"), holds=False), most=st.integers(1, 3))
def test_without_a_circle_everything_arrives_and_every_check_holds(scenario: Scenario, most: int) -> None:
    ranks = {name: rank for rank, name in enumerate(scenario.processes)}
    if has_holds(scenario) or any(ranks[own.source_name] > ranks[own.target_name] for own in scenario.channels):
        return
    execution = run(limited(scenario, most))
    assert failing(execution) == {} and all(flight.receive for flight in execution.flights)


LARGE = pytest.mark.long("the engine's own states of larger systems")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "most"),
    [
        ("chandy_lamport", 1),
        ("chandy_lamport", 2),
        ("unaligned_barriers", 1),
        pytest.param("unaligned_barriers", 2, marks=LARGE),
    ],
)
def test_the_explorer_steps_full_channels_as_the_engine_does(algorithm: str, most: int) -> None:
    base = complete_graph(3 if algorithm == "unaligned_barriers" else 2, 2)
    if algorithm == "unaligned_barriers":
        base = replace(base, topology=replace(base.topology, kind="dag"))
    scenario = replace(limited(base, most), algorithm=algorithm)
    found = exploration(scenario).found
    assert (found.states, found.transitions) == plain_counts(scenario)
    assert found.states < exploration(replace(base, algorithm=algorithm)).found.states
    assert set(found.worst) <= {"completion"}


class TestDocument:
    def test_one_number_or_a_table_by_channel_is_read_and_written(self):
        for given_ in ("2", '{ "P1->P2" = 3, all = 1 }'):
            scenario = parse_toml(f"processes = 2\n[topology]\ncapacity = {given_}\n", "test")
            assert parse_toml(dumps(scenario), "test") == scenario
        assert [channel.capacity for channel in scenario.channels] == [3, 1]

    @each("wrong, complaint", [
        ("0", "topology.capacity: expected a whole number of at least 1, not 0"),
        ('"two"', "topology.capacity: expected a whole number, not 'two'"),
        ('{ "P1->P9" = 2 }', "topology.capacity: 'P1->P9' is no channel of this topology; write it as P1->P2, or say"),
        ('{ "P1->P2" = 0 }', "topology.capacity.P1->P2: expected a whole number of at least 1, not 0"),
    ])  # fmt: skip
    def test_bad_input_gets_one_sentence(self, wrong: str, complaint: str):
        with pytest.raises(InputError) as problem:
            parse_toml(f"processes = 2\n[topology]\ncapacity = {wrong}\n", "test")
        assert str(problem.value).startswith(f"test.toml: {complaint}")

    def test_an_edit_limits_one_channel_or_all_and_takes_the_limit_away(self):
        one = edited_by(CHAIN, {"do": "capacity", "channel": "mapper->sink", "capacity": 5}, 0.0)
        assert [channel.capacity for channel in one.channels] == [2, 5]
        same = edited_by(one, {"do": "capacity", "channel": "source->mapper", "capacity": 5}, 0.0)
        assert same.topology.capacity == ((EVERY_CHANNEL, 5),)
        none = edited_by(one, {"do": "capacity", "channel": "all", "capacity": None}, 0.0)
        assert none.topology.capacity == ()
        for edit, complaint in (
            ({"channel": "sink->mapper", "capacity": 1}, "'sink->mapper' is no channel of this run"),
            ({"channel": "mapper->sink", "capacity": 0}, "expected a whole number of at least 1"),
            ({"channel": "mapper->sink", "capacity": True}, "expected a whole number of at least 1"),
        ):
            with pytest.raises(InputError, match=complaint):
                edited_by(CHAIN, {"do": "capacity", **edit}, 0.0)

    def test_an_edit_is_told_in_words(self):
        told = [
            describe_edit(run(CHAIN), {"do": "capacity", "channel": channel, "capacity": most})
            for channel, most in (("mapper->sink", 1), ("all", 4), ("mapper->sink", None))
        ]
        assert told == [
            "mapper->sink holds 1 message", "every channel holds 4 messages",
            "mapper->sink holds any number of messages",
        ]  # fmt: skip


class TestLongQueue:
    """A source emits 300 records at once. All wait at the mapper, whose way on holds one at a time."""

    LONG = parse_toml(
        """
        processes = 3
        topology = { channels = ["P1->P2", "P2->P3"], capacity = { "P2->P3" = 1 } }
        workload = { kind = "dataflow", records = { P1 = 300 }, pace = 0.01, hops = 2 }
        """,
        "long",
    )

    @pytest.mark.parametrize("not_fifo", [(), (EVERY_CHANNEL,)])
    def test_a_step_does_not_look_at_all_that_wait(self, monkeypatch: pytest.MonkeyPatch, not_fifo: tuple[str, ...]):
        looks = Counter[str]()
        is_enabled = Engine.is_enabled

        def counted(engine, state, action):
            looks["enabled"] += 1
            return is_enabled(engine, state, action)

        monkeypatch.setattr(Engine, "is_enabled", counted)
        execution = run(replace(self.LONG, not_fifo=not_fifo))
        assert execution.steps == 900 and len(stops_of(execution)) == 300
        assert looks["enabled"] < 4 * execution.steps

    def test_nor_does_each_stop_look_at_all_messages(self, monkeypatch: pytest.MonkeyPatch):
        looks = Counter[str]()

        def counted(execution, flight):
            looks["due"] += 1
            return fifo.due(execution, flight)

        monkeypatch.setattr("sim.run.stops.due", counted)
        execution = run(self.LONG)
        assert len(freed_at(execution)) == 299 and looks["due"] <= len(execution.flights)


def test_rows_of_both_kinds_name_who_acted():
    rows = rows_of(run(CHAIN), FULL, ROOM)
    assert {(row.kind, row.channel, row.process) for row in rows} == {
        (FULL, "source->mapper", "source"), (ROOM, "source->mapper", "mapper"), (FULL, "mapper->sink", "mapper"),
        (ROOM, "mapper->sink", "sink"),
    }  # fmt: skip
