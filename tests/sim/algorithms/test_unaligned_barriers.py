"""Unaligned barriers: Flink's picture, the timeout, and what goes wrong without each rule."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagrams.browser.payload import payload
from diagrams.panels.legend import signs
from diagrams.scene.composition import compose
from sim.algorithms.unaligned_barriers.alignment import Alignment
from sim.algorithms.unaligned_barriers.rules import UnalignedBarriers
from sim.core.algorithm import SnapshotAlgorithm
from sim.core.delays import DelayRule
from sim.core.effects import Block, KeepOvertaken, Out
from sim.core.errors import InputError
from sim.core.model import BLOCKED, MARKER_RECEIVE, RECEIVE, RECORD, RECORDED, TIMER, UNBLOCKED, Message, Process
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario, SchedulerChoice
from sim.document.validate import validate
from sim.document.writing import dumps
from sim.explain.narration import narrate
from sim.explain.reasons import explain
from sim.explain.recorded_reasons import why_channel
from sim.explore.report import changed, complete_graph, exploration
from sim.run.execution import Execution, run
from sim.run.fifo import waits_behind
from sim.run.price import price_of
from sim.run.snapshots import snapshots_of
from tests.sim.conftest import Register
from tests.sim.core.test_algorithm_hooks import flink
from tests.sim.explore.comparison import plain_counts
from tests.sim.strategies import has_holds, scenarios
from tests.sim.tools import bodies, failing, only_snapshot, rows_of, send, start, system
from tests.tools import examples

NAME = UnalignedBarriers.name
ALL_OF_FLINK = {"in1->op": ["1", "2", "3"], "in2->op": ["a", "b", "c", "d"], "op->sink": ["x", "y", "z"]}


def with_timeout(scenario: Scenario, timeout: float) -> Scenario:
    return replace(scenario, algorithm=NAME, algorithm_parameters={"alignment_timeout": timeout})


def done_at(execution: Execution) -> float:
    completed = only_snapshot(execution).completed
    assert completed is not None
    return execution.times[completed]


# --------------------------------------------------------------------------- oracle 5


def test_on_flinks_picture_the_barriers_overtake_all_and_all_of_it_is_persisted() -> None:
    """Barriers take 1, messages 20. in1's leaves at 3 and comes at 4; op's own comes to the sink at 5, and so does
    in2's, which leaves at 4, to op. On the channels are then 1 2 3, x y z and a b c d."""
    execution = run(library.load("unaligned"))
    snapshot = only_snapshot(execution)
    assert bodies(snapshot) == ALL_OF_FLINK
    assert snapshot.events == {
        "in1": ("I", "II", "III"),
        "in2": ("A", "B", "C", "D"),
        "op": ("X", "Y", "Z"),
        "sink": (),
    }
    assert {row.process: row.time for row in rows_of(execution, RECORD)} == {"in1": 3, "in2": 4, "op": 4, "sink": 5}
    assert done_at(execution) == 5 and snapshot.markers == 3
    assert failing(execution) == {}


@pytest.mark.parametrize(
    ("algorithm", "parameters", "done"),
    [(NAME, {}, 5), ("chandy_lamport", {}, 23), (NAME, {"alignment_timeout": math.inf}, 24)],
)
def test_the_picture_at_whole_times(algorithm: str, parameters: dict[str, Any], done: float) -> None:
    """The same with the times of tests/sim/core/test_algorithm_hooks.py, where messages and markers tie."""
    execution = run(flink(algorithm, algorithm_parameters=parameters))
    assert done_at(execution) == done and failing(execution) == {}
    assert (bodies(only_snapshot(execution)) == ALL_OF_FLINK) == (done == 5)


def test_markers_that_queue_take_until_23() -> None:
    """3 comes at 22, and in1's marker behind it; op's marker is sent then and comes at 23, when d and in2's marker
    come."""
    execution = run(replace(library.load("unaligned"), algorithm="chandy_lamport"))
    assert done_at(execution) == 23 and bodies(only_snapshot(execution)) == {"in2->op": ["c", "d"]}


@pytest.mark.parametrize("timeout", [math.inf, 100.0, 1.0])
def test_aligned_barriers_take_until_24_and_no_channel_has_a_state(timeout: float) -> None:
    """in1's barrier comes behind 3 at 22, and 4 has to wait; in2's comes behind d at 23: op records, and its barrier
    comes to the sink at 24."""
    execution = run(with_timeout(library.load("unaligned"), timeout))
    snapshot = only_snapshot(execution)
    assert done_at(execution) == 24 and bodies(snapshot) == {}
    received = [row.label for row in execution.events if row.process == "op" and row.kind == RECEIVE]
    assert received[:7] == ["1'", "a'", "2'", "b'", "3'", "c'", "d'"] and snapshot.local["op"].inside == 3 + 7
    stops = [(row.time, row.kind, row.channel) for row in rows_of(execution, BLOCKED, UNBLOCKED)]
    assert stops == [(22, BLOCKED, "in1->op"), (23, UNBLOCKED, "in1->op")]
    assert rows_of(execution, TIMER) == [] and failing(execution) == {}


def test_what_was_overtaken_is_delivered_in_its_order_and_once() -> None:
    execution = run(library.load("unaligned"))
    received = [row.label for row in execution.events if row.kind == RECEIVE and row.channel == "in1->op"]
    assert received == ["1'", "2'", "3'", "4'", "5'", "6'"]
    recorded = [(row.time, row.channel) for row in rows_of(execution, RECORDED)]
    assert recorded == [(4, "in1->op")] * 3 + [(5, "in2->op")] * 4 + [(5, "op->sink")] * 3


# --------------------------------------------------------------------------- the timeout


def test_when_alignment_takes_too_long_it_turns_unaligned() -> None:
    """The fast barrier comes at 5. Until 9.5 comes a (8). op's barrier comes at 10.5, ahead of z (15); b (10.5) and c
    (11.5) come before the slow barrier (5 + 8)."""
    execution = run(library.load("alignment_timeout"))
    snapshot = only_snapshot(execution)
    stops = [(row.time, row.kind, row.channel) for row in rows_of(execution, BLOCKED, TIMER, UNBLOCKED)]
    assert stops == [(5, BLOCKED, "fast->op"), (9.5, TIMER, None), (9.5, UNBLOCKED, "fast->op")]
    assert snapshot.events["op"] == ("1'", "2'", "Z", "a'")
    assert bodies(snapshot) == {"slow->op": ["b", "c"], "op->sink": ["z"]}
    assert {row.process: row.time for row in rows_of(execution, RECORD)} == {
        "fast": 4, "slow": 5, "op": 9.5, "sink": 10.5,
    }  # fmt: skip
    assert done_at(execution) == 13 and failing(execution) == {}


def test_without_a_timeout_it_waits_for_the_slow_barrier_and_for_z() -> None:
    """op records at 13; its barrier is behind z, which comes at 15."""
    execution = run(with_timeout(library.load("alignment_timeout"), math.inf))
    assert done_at(execution) == 15 and bodies(only_snapshot(execution)) == {}


def test_a_file_may_say_that_it_waits_without_end() -> None:
    scenario = with_timeout(library.load("alignment_timeout"), math.inf)
    assert parse_toml(dumps(scenario), scenario.name).algorithm_parameters == {"alignment_timeout": math.inf}
    found = payload(compose(run(scenario)), ("right",))
    assert [own["value"] for own in found["parameters"]] == [None] and json.dumps(found, allow_nan=False)
    with pytest.raises(InputError, match="piggyback: expected a finite number"):
        parse_toml('processes = 2\nalgorithm = { kind = "chandy_lamport", piggyback = inf }', "test")


def test_what_waits_behind_a_barrier_comes_when_the_wait_is_over() -> None:
    """3 comes at 6.5 on a channel that is blocked until 9.5, and belongs to what comes after the snapshot."""
    scenario = library.load("alignment_timeout")
    script = tuple(replace(line, at=4.5) if line.label == "III" else line for line in scenario.script)
    execution = run(replace(scenario, script=script))
    (arrival,) = [row for row in execution.events if row.label == "3'"]
    assert arrival.time == 9.5 and arrival.kind == RECEIVE
    assert "3'" not in only_snapshot(execution).events["op"] and failing(execution) == {}


def test_a_barrier_that_was_sent_ahead_ends_the_wait() -> None:
    """c waits for b's barrier from 3 on; b itself waits for a2's until 6 and then sends its own ahead, there at 7."""
    scenario = system(
        "a1 a2 b c", "a1->b a2->b a1->c b->c", algorithm=NAME, algorithm_parameters={"alignment_timeout": 4.0},
        snapshots=(start("a1", 1), start("a2", 1)), script=(send("b", "c", 1, "m", label="m"),),
        delay=DelayRule("fixed", 9.0), marker_delay=DelayRule("fixed", 1.0),
        delays={},
    )  # fmt: skip
    slow = replace(scenario, script=(*scenario.script, send("a2", "b", 0.5, "s"), send("a1", "c", 0.5, "t")))
    execution = run(slow)
    assert {row.process: row.time for row in rows_of(execution, RECORD)} == {"a1": 1, "a2": 1, "b": 6, "c": 7}
    assert bodies(only_snapshot(execution)) == {"a2->b": ["s"], "b->c": ["m"], "a1->c": ["t"]}
    assert failing(execution) == {}


def test_two_snapshots_whose_barriers_come_crosswise_do_not_wait_for_each_other() -> None:
    """On in1 S1 comes first, on in2 S2: the barrier of S2 ends the wait for S1, and then op aligns for S2."""
    scenario = system(
        "in1 in2 op", "in1->op in2->op", algorithm=NAME, algorithm_parameters={"alignment_timeout": math.inf},
        snapshots=(start("in1", 1), start("in2", 4), start("in2", 2, "S2"), start("in1", 3, "S2")),
        script=(send("in2", "op", 2.5, 7, label="m"),),
    )  # fmt: skip
    execution = run(scenario)
    recorded = {(row.process, row.snapshot_id): row.time for row in rows_of(execution, RECORD)}
    assert (recorded["op", "S1"], recorded["op", "S2"]) == (3, 4)
    first, second = snapshots_of(execution)
    assert (bodies(first), bodies(second)) == ({"in2->op": [7]}, {}) and failing(execution) == {}


def test_on_a_circle_the_wait_has_to_end() -> None:
    """a needs b's barrier, which b sends when it has a's."""
    scenario = system(
        "s a b", "s->a a->b b->a", algorithm=NAME, algorithm_parameters={"alignment_timeout": 3.0},
        snapshots=(start("s", 1),), script=(send("b", "a", 1, "m", label="m"),), delay=DelayRule("fixed", 1.5),
    )  # fmt: skip
    execution = run(scenario)
    assert {row.process: row.time for row in rows_of(execution, RECORD)} == {"s": 1, "a": 5.5, "b": 7}
    assert failing(execution) == {}
    with pytest.raises(InputError, match=r"a -> b -> a wait for each other's barriers in a cycle; give a number of"):
        validate(with_timeout(scenario, math.inf))
    validate(with_timeout(library.load("unaligned"), math.inf))


def test_without_a_timeout_there_is_no_timer_and_no_price_for_one() -> None:
    plain = library.load("unaligned")
    assert plain.rules is UnalignedBarriers and not plain.rule_book().uses_control
    own, waits = plain.rule_book().messages(), with_timeout(plain, 5.0).rule_book().messages()
    assert (own, waits) == (3, 3 + 4)
    assert price_of(plain).steps < price_of(with_timeout(plain, 5.0)).steps


def test_an_aligned_barrier_waits_for_the_messages_in_front_of_it_and_one_sent_ahead_does_not() -> None:
    for timeout, behind in ((0.0, set()), (math.inf, {"z", "3", "d"})):
        execution = run(with_timeout(library.load("unaligned"), timeout))
        found = waits_behind(execution)
        markers = {flight.id for flight in execution.flights if flight.is_marker}
        assert {execution.flights[found[marker]].body for marker in markers & set(found)} <= behind
        assert bool(markers & set(found)) == bool(behind)


# --------------------------------------------------------------------------- any run


@examples(20)
@given(scenarios(schedulers=("timed", "random")), st.sampled_from([0.0, 2.0, 30.0]))
def test_every_check_holds_in_any_run(scenario: Scenario, timeout: float) -> None:
    execution = run(with_timeout(scenario, timeout))
    assert set(failing(execution)) <= ({f"S{n}:completion" for n in (1, 2, 3)} if has_holds(scenario) else set())
    assert run(execution.scenario, copied=True).events == execution.events
    for snapshot in snapshots_of(execution):
        for flight in execution.flights:
            assert "None" not in explain(execution, snapshot, flight.id)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processes", "sends", "timeout", "states", "transitions"),
    [(2, 1, 0.0, 91, 146), (3, 1, 0.0, 36_919, 137_249), (2, 1, 5.0, 65, 101), (3, 0, 5.0, 45, 101)],
)
def test_in_every_order_of_the_actions_every_check_holds(processes, sends, timeout, states, transitions) -> None:
    """With a timeout the timer may go off at any moment."""
    done = exploration(with_timeout(complete_graph(processes, sends), timeout))
    assert done.found.complete and done.shortest() == []
    assert (done.found.states, done.found.transitions) == (states, transitions)
    if processes == 2:
        assert plain_counts(done.scenario) == (states, transitions)


def diamond(timeout: float) -> Scenario:
    """A graph without circles: two sources, an operator, and two messages."""
    return system(
        "in1 in2 op", "in1->op in2->op", algorithm=NAME, algorithm_parameters={"alignment_timeout": timeout},
        script=(send("in1", "op", 1, "a"), send("in2", "op", 1, "b")), snapshots=(start("in1", 2), start("in2", 2)),
        workload="scripted",
    )  # fmt: skip


@pytest.mark.parametrize(("timeout", "states", "transitions"), [(0.0, 76, 144), (5.0, 52, 98), (math.inf, 36, 72)])
def test_every_order_on_a_graph_without_circles(timeout: float, states: int, transitions: int) -> None:
    scenario = diamond(timeout)
    done = exploration(scenario, own_order=True)
    assert done.found.complete and done.shortest() == []
    assert (done.found.states, done.found.transitions) == (states, transitions)
    assert (states, transitions) == plain_counts(scenario, own_order=True)


def test_without_fifo_the_shortest_wrong_run_has_five_actions() -> None:
    """What a barrier leaves behind is persisted; but a message that is sent after it may now pass it."""
    done = exploration(changed(complete_graph(2, 1), NAME, not_fifo=True))
    assert dict(done.shortest()) == {"channel_states": 5, "consistency": 5}


# --------------------------------------------------------------------------- what each rule is for


class KeepsNothing(UnalignedBarriers):
    """A barrier overtakes messages, and nobody persists them."""

    name = "test_keeps_nothing"

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        super().on_marker(process, marker, out)
        out.effects = [effect for effect in out.effects if not isinstance(effect, KeepOvertaken)]


def test_what_is_overtaken_and_not_persisted_is_lost(register: Register) -> None:
    execution = run(replace(library.load("unaligned"), algorithm=register(KeepsNothing)))
    assert failing(execution) == {"S1:channel_states": 'in1->op recorded [], but ["1","2","3"] crosses the cut'}


class BlocksNothing(Alignment):
    """A process waits for the other barriers and takes in what comes behind the first."""

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        super().on_marker(process, marker, out)
        out.effects = [effect for effect in out.effects if not isinstance(effect, Block)]


class Leaky(UnalignedBarriers):
    """Alignment without blocking."""

    name = "test_leaky"
    options: ClassVar[Mapping[str, type[SnapshotAlgorithm]]] = {"alignment_timeout": BlocksNothing}


def test_without_blocking_what_comes_behind_the_barrier_is_in_the_state(register: Register) -> None:
    """in1 records at 2.5, its barrier comes behind 2 at 22, and 4, sent at 3, before in2's barrier (23)."""
    scenario = with_timeout(library.load("unaligned"), math.inf)
    script = tuple(replace(line, at=3.0) if line.label == "IV" else line for line in scenario.script)
    early = replace(scenario, script=script, snapshots=(start("in1", 2.5), start("in2", 4)))
    assert failing(run(early)) == {}
    wrong = failing(run(replace(early, algorithm=register(Leaky))))
    assert wrong["S1:consistency"] == "message IV on in1->op is received inside the cut, but sent outside it"


# --------------------------------------------------------------------------- words


def test_it_is_said_that_the_barrier_has_overtaken_what_is_persisted() -> None:
    execution = run(library.load("unaligned"))
    snapshot, told = only_snapshot(execution), [text.sentence for text in narrate(execution)]
    assert any("persists what the barrier has overtaken: x, y and z" in text for text in told)
    assert any("sends a barrier on op->sink, ahead of all messages" in text for text in told)
    three = next(flight for flight in execution.flights if flight.body == "3")
    assert explain(execution, snapshot, three.id) == (
        "3 was overtaken by the barrier, and persisted: it was sent at III (step 7), before in1 recorded, and was "
        "still on its way in in1->op when the barrier came (step 13)."
    )
    assert why_channel(execution, snapshot, "op->sink").startswith("op->sink holds x, y and z. Persisted is what comes")
    shown: list[dict[str, Any]] = signs(compose(execution))
    (band,) = [sign for sign in shown if sign["key"] == "in-channel"]
    assert band["label"] == "persisted" and "the barrier has overtaken this message" in band["title"]


def test_a_wait_and_its_end_are_said() -> None:
    told = [(text.badge, text.sentence) for text in narrate(run(library.load("alignment_timeout")))]
    waits = "op receives the barrier from fast: it takes nothing more from fast->op until the other barriers come."
    assert ("Barriers are aligned", waits) in told
    (over,) = [sentence for badge, sentence in told if badge == "Alignment takes too long"]
    assert over.startswith("op has waited long enough for the missing barriers: it records its state")


def test_a_step_is_named_after_the_rule_that_it_carries_out_though_alignment_comes_first() -> None:
    badges = {step: text.badge for step, text in enumerate(narrate(run(library.load("alignment_timeout"))))}
    assert {step: badges[step] for step in (10, 13, 16, 19)} == {
        10: "Barriers are aligned", 13: "Alignment takes too long", 16: "The first barrier comes",
        19: "A barrier closes its channel",
    }  # fmt: skip


def test_only_barriers_sent_ahead_pass_messages_in_an_untimed_run() -> None:
    """Whatever the order, a barrier in its turn comes behind all that was sent before it."""
    for seed in range(20):
        execution = run(replace(diamond(math.inf), scheduler=SchedulerChoice("random"), seed=seed))
        for channel in ("in1->op", "in2->op"):
            came = [row for row in rows_of(execution, RECEIVE, MARKER_RECEIVE) if row.channel == channel]
            assert [row.message_id for row in came] == sorted(row.message_id or 0 for row in came)
        assert failing(execution) == {} and bodies(only_snapshot(execution)) == {}
