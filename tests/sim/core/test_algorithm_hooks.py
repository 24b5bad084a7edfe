"""Every hook and capability, with the algorithms in tests/sim/rule_books.py."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.delays import DelayRule
from sim.core.engine import Engine
from sim.core.model import (
    CONTROL_SEND,
    INTERNAL,
    MARKER,
    MARKER_RECEIVE,
    RECEIVE,
    RECORD,
    RECORDED,
    SEND,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    Action,
    Deliver,
    Event,
    MessageReference,
    Send,
    State,
)
from sim.document import library
from sim.document.scenario import Scenario, SchedulerChoice, ScriptLine
from sim.explain.narration import sentences
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from tests.cases import each
from tests.sim.conftest import Register
from tests.sim.rule_books import (
    Aligned,
    Barrier,
    Collecting,
    Commanded,
    FirstOnly,
    Impatient,
    StopTheWorld,
    commanded,
    two,
)
from tests.sim.tools import bodies, failing, limit_ticks, only_snapshot, rows_of, send, start, system, verdicts

TIMED, RANDOM = SchedulerChoice("timed"), SchedulerChoice("random")


def delays_of(**at: float) -> dict[MessageReference, float]:
    """Delays of messages, by the label of the send."""
    return {MessageReference(label=label): delay for label, delay in at.items()}


def markers(snapshot: str = "S1", **delays: float) -> dict[MessageReference, float]:
    """Delays of markers; a channel P1->P2 is written P1_P2."""
    return {
        MessageReference(None, name.replace("_", "->"), MARKER, snapshot, 1): delay for name, delay in delays.items()
    }


# --------------------------------------------------------------------------- stamps: on_send, on_message


def test_a_stamp_makes_the_receiver_record_before_it_accepts_the_message_in_one_step() -> None:
    """m3 overtakes m2, and P2 first hears of the snapshot by m3's stamp."""
    execution = run(library.load("lai_yang"))
    rows = [row for row in execution.events if row.time == 5]
    assert [row.kind for row in rows] == [RECORD, CONTROL_SEND, RECEIVE]
    assert len({row.step for row in rows}) == 1
    assert rows[0].index == 2, "inside the cut: m1 received and m4 sent, but not the receipt of m3"
    assert failing(execution) == {}


# --------------------------------------------------------------------------- overtakes: unaligned barriers


def flink(algorithm: str, **changes: Any) -> Scenario:
    """in1: 1 2 3 | 4 5 6, in2: a b c d | e f, and x y z in the output buffer when the first barrier comes."""
    script = [send("op", "sink", at, body, label=body) for at, body in enumerate("xyz")]
    script += [
        send("in1", "op", at, body, label=f"n{body}") for at, body in zip((0, 1, 2, 4, 5, 6), "123456", strict=True)
    ]
    script += [send("in2", "op", at, body, label=body) for at, body in zip((0, 1, 2, 3, 5, 6), "abcdef", strict=True)]
    fields: dict[str, Any] = {
        "algorithm": algorithm,
        "script": tuple(script),
        "snapshots": (start("in1", 3), start("in2", 4)),
        "delay": DelayRule("fixed", 20.0, 20.0),
        "marker_delay": DelayRule("fixed", 1.0, 1.0),
    }
    return system("in1 in2 op sink", "in1->op in2->op op->sink", **{**fields, **changes})


def arrivals_of(execution: Execution, channel: str) -> list[Event]:
    """The rows of what arrives on a channel."""
    return [row for row in rows_of(execution, RECEIVE, MARKER_RECEIVE) if row.channel == channel]


def test_a_marker_passes_the_messages_in_front_of_it_and_they_are_recorded(register: Register) -> None:
    snapshot = only_snapshot(execution := run(flink(register(Barrier))))
    assert bodies(snapshot) == {
        "in1->op": ["1", "2", "3"],
        "in2->op": ["a", "b", "c", "d"],
        "op->sink": ["x", "y", "z"],
    }
    assert snapshot.events["op"] == ("x", "y", "z")
    arrivals = [row.kind for row in arrivals_of(execution, "in1->op")]
    assert arrivals == [MARKER_RECEIVE] + [RECEIVE] * 6
    recorded = [(row.time, row.body) for row in rows_of(execution, RECORDED) if row.channel == "in1->op"]
    assert recorded == [(4, '"1"'), (4, '"2"'), (4, '"3"')], "once, when the marker comes"
    assert any(
        "it records its state" in text and "what the barrier has overtaken: 1, 2 and 3" in text
        for text in sentences(execution)
    )
    assert failing(execution) == {}


def test_only_the_marker_passes_the_messages_keep_their_order(register: Register) -> None:
    execution = run(flink(register(Barrier), scheduler=RANDOM, seed=3))
    for channel in ("in1->op", "in2->op", "op->sink"):
        received = [row.message_id for row in arrivals_of(execution, channel) if row.kind == RECEIVE]
        assert received == sorted(received, key=lambda message: message or 0)
    assert failing(execution) == {}


def test_no_message_passes_a_marker(register: Register) -> None:
    """The message behind a slow marker is due first, and waits."""
    slow = flink(register(Barrier), marker_delay=DelayRule("fixed", 50.0, 50.0))
    received = [(row.kind, row.time) for row in arrivals_of(run(slow), "in1->op")]
    assert received[3:5] == [(MARKER_RECEIVE, 53), (RECEIVE, 53)]


def test_the_second_marker_does_not_pass_the_first(register: Register) -> None:
    twice = flink(
        register(Barrier),
        snapshots=(start("in1", 3), start("in2", 4), start("in1", 5, "S2"), start("in2", 5, "S2")),
        delays=markers("S1", in1_op=9),
    )
    order = [row.snapshot_id for row in arrivals_of(run(twice), "in1->op") if row.kind == MARKER_RECEIVE]
    assert order == ["S1", "S2"]


# --------------------------------------------------------------------------- block and unblock: aligned barriers


def carbone(algorithm: str, **changes: Any) -> Scenario:
    """Two sources, two counters: y y | o and y | from s1, g g | o and g g g | o from s2."""
    traffic = {("s1", "c1"): "yy|o", ("s1", "c2"): "y|", ("s2", "c1"): "gg|o", ("s2", "c2"): "ggg|o"}
    script = [
        send(source, target, place + (2.0 if source == "s2" else 0.0), letter, label=f"{source}{target}{place}")
        for (source, target), letters in traffic.items()
        for place, letter in enumerate(letters.replace("|", "---|")[: letters.index("|")])
    ]
    script += [send("s1", "c1", 4, "o", label="s1o"), send("s2", "c1", 7, "o", label="s2o1")]
    script += [send("s2", "c2", 7, "o", label="s2o2")]
    fields: dict[str, Any] = {
        "algorithm": algorithm,
        "script": tuple(script),
        "snapshots": (start("s1", 3), start("s2", 6)),
    }
    return system("s1 s2 c1 c2 p1 p2", "s1->c1 s1->c2 s2->c1 s2->c2 c1->p1 c2->p2", **{**fields, **changes})


def received_bodies(execution: Execution, process: str, most: int) -> str:
    """What a process received in its first `most` events."""
    return "".join(
        json.loads(e.body or "")
        for e in execution.events
        if e.process == process and e.kind == RECEIVE and (e.index or 0) <= most
    )


def test_aligned_barriers_leave_no_channel_state(register: Register) -> None:
    execution = run(carbone(register(Aligned)))
    snapshot = only_snapshot(execution)
    assert snapshot.status == "complete" and bodies(snapshot) == {}
    seen = {name: sorted(received_bodies(execution, name, snapshot.local[name].inside)) for name in ("c1", "c2")}
    assert seen == {"c1": list("ggyy"), "c2": list("gggy")}
    assert failing(execution) == {}


@each("seed", range(10))
def test_aligned_barriers_in_any_order(register: Register, seed: int) -> None:
    execution = run(carbone(register(Aligned), scheduler=RANDOM, seed=seed))
    assert bodies(only_snapshot(execution)) == {} and failing(execution) == {}


def behind_a_barrier(algorithm: str, scheduler: SchedulerChoice, last_barrier: float) -> Scenario:
    """d waits for the barrier of b, and the message of c comes on a channel that is blocked: the last of six."""
    return system(
        "a b c d",
        "a->b a->c a->d b->c b->d c->d",
        algorithm=algorithm,
        snapshots=(start("a", 1),),
        script=(send("c", "d", 9, "behind the barrier"),),
        delays=markers(b_d=last_barrier),
        scheduler=scheduler,
    )


@pytest.mark.parametrize("scheduler", [TIMED, RANDOM, SchedulerChoice("tick")])
def test_more_channels_than_processes_may_be_blocked(register: Register, scheduler: SchedulerChoice) -> None:
    execution = run(behind_a_barrier(register(Aligned), scheduler, last_barrier=20.0))
    assert failing(execution) == {}
    (arrival,) = [e for e in execution.events if e.kind == RECEIVE]
    (record,) = [e for e in execution.events if e.kind == RECORD and e.process == "d"]
    assert arrival.step > record.step or scheduler.kind == "random"


def test_idle_ticks_are_skipped_while_a_channel_is_blocked(register: Register, monkeypatch: pytest.MonkeyPatch) -> None:
    """d waits for a barrier that is a million million ticks away."""
    scenario = behind_a_barrier(register(Aligned), SchedulerChoice("tick"), last_barrier=1e12)
    limit_ticks(monkeypatch, 10_000)
    assert failing(run(scenario)) == {}


# --------------------------------------------------------------------------- pauses: stop the world


def busy(algorithm: str, **changes: Any) -> Scenario:
    """Three processes that send of their own accord and by script while two snapshots are taken."""
    script = [ScriptLine("P1", float(at)) for at in (3, 5, 7)]
    script += [send("P2", "P3", at, 1) for at in (4.0, 6.0, 8.0, 10.0)]
    fields: dict[str, Any] = {
        "algorithm": algorithm,
        "workload": "bank",
        "parameters": {"transfers": 4, "pace": 3.0},
        "script": tuple(script),
        "snapshots": (start("P1", 4), start("P2", 40, "S2")),
        "delay": DelayRule("uniform", 1.0, 6.0),
    }
    return system("P1 P2 P3", **{**fields, **changes})


def acts_while_paused(events: list[Event]) -> Iterator[Event]:
    """Internal events and sends of a process that has recorded and is not done; receives are allowed."""
    paused: set[str] = set()
    for event in events:
        if event.kind == RECORD:
            paused.add(event.process)
        elif event.kind == SNAPSHOT_COMPLETE:
            paused.discard(event.process)
        elif event.kind in (INTERNAL, SEND) and event.process in paused:
            yield event


@each("scheduler", [TIMED, RANDOM])
@each("seed", range(10))
def test_a_paused_process_computes_nothing_and_sends_nothing(
    register: Register, scheduler: SchedulerChoice, seed: int
) -> None:
    execution = run(busy(register(StopTheWorld), seed=seed, scheduler=scheduler))
    assert list(acts_while_paused(execution.events)) == []
    assert failing(execution) == {}
    assert sum(e.kind in (INTERNAL, SEND) for e in execution.events) == 7 + 3 * 4, "and afterwards it does it all"


def test_without_the_pause_the_same_processes_do_act_meanwhile() -> None:
    assert list(acts_while_paused(run(busy("chandy_lamport")).events)) != []


def test_what_was_due_during_the_pause_happens_when_it_ends(register: Register) -> None:
    """P1 records at 4 and is done at 8; its line at 5 happens at 8, in the listed order, and not at 5."""
    scenario = system(
        "P1 P2",
        algorithm=register(StopTheWorld),
        script=tuple(
            ScriptLine("P1", at, label=label) for at, label in ((1.0, "A"), (5.0, "B"), (6.0, "C"), (9.0, "D"))
        ),
        snapshots=(start("P1", 4),),
        delay=DelayRule("fixed", 2.0, 2.0),
    )
    done = [(e.time, e.label) for e in run(scenario).events if e.kind == INTERNAL]
    assert done == [(1, "A"), (8, "B"), (8, "C"), (9, "D")]


def test_a_paused_process_still_initiates(register: Register) -> None:
    """Two overlapping snapshots at one process, the second while the first pauses it."""
    scenario = busy(register(StopTheWorld), snapshots=(start("P1", 4), start("P1", 4.5, "S2")))
    records = [(e.snapshot_id, e.time) for e in run(scenario).events if e.kind == RECORD and e.process == "P1"]
    assert records[:2] == [("S1", 4), ("S2", 4.5)]


def test_in_no_schedule_at_all_does_a_paused_process_act(register: Register) -> None:
    """Every interleaving of two processes with two actions each and one snapshot."""
    scenario = system(
        "P1 P2",
        algorithm=register(StopTheWorld),
        script=(send("P1", "P2", 1), send("P2", "P1", 1), ScriptLine("P1", 2), ScriptLine("P2", 2)),
        snapshots=(start("P1", 0),),
    )
    engine = scenario.engine()
    seen = paused = 0
    for state in every_state(engine, engine.initial()):
        own = {actor(action) for action in engine.enabled(state) if not isinstance(action, Deliver)}
        asleep = {process.number for process in state.processes if process.paused}
        assert not own & asleep
        seen, paused = seen + 1, paused + len(asleep)
    assert seen > 20 and paused > 5


def every_state(engine: Engine, state: State) -> Iterator[State]:
    yield state
    for action in engine.enabled(state):
        yield from every_state(engine, engine.step(state, action)[0])


def actor(action: Action) -> int:
    """Who does something that is no delivery."""
    assert not isinstance(action, Deliver)
    return action.channel.source if isinstance(action, Send) else action.process


# --------------------------------------------------------------------------- abort


def given_up(algorithm: str, **changes: Any) -> Scenario:
    """P1 starts "drop" and "keep"; then a message reaches it on a channel it records, and "drop" is given up there."""
    return system(
        "P1 P2",
        algorithm=algorithm,
        workload="bank",
        script=(send("P2", "P1", 1, 5),),
        snapshots=(start("P1", 2, "drop"), start("P1", 2, "keep")),
        delay=DelayRule("fixed", 3.0, 3.0),
        **changes,
    )


def test_abort_throws_away_what_the_process_recorded_for_that_snapshot_only(register: Register) -> None:
    execution = run(given_up(register(Impatient)))
    drop, keep = (next(s for s in snapshots_of(execution) if s.id == name) for name in ("drop", "keep"))
    assert (drop.status, keep.status) == ("aborted", "complete")
    assert bodies(keep) == {"P2->P1": [5]}
    aborted = [(e.process, e.snapshot_id, e.time) for e in execution.events if e.kind == SNAPSHOT_ABORTED]
    assert aborted == [("P1", "drop", 4)]
    assert all(process.listening == {} for process in execution.final.processes)
    judged = {name: {verdict.holds for verdict in row} for name, row in verdicts(execution).items()}
    assert judged == {"drop": {None}, "keep": {True}}, "undecided, not failed, and alike on both paths"


# --------------------------------------------------------------------------- effects of a reactive workload


def test_a_receive_and_the_sends_it_causes_are_one_step_and_two_events() -> None:
    scenario = system(
        "P1 P2",
        workload="trade",
        parameters={"goods": {"P1": {"cash": 5}, "P2": {"pens": 3}}, "ships": {"P2": "pens"}},
        script=(send("P1", "P2", 1, {"cash": 1, "order": 2}, label="A", receive_label="B"),),
        snapshots=(start("P1", 0.5),),
    )
    execution = run(scenario)
    at_p2 = [(e.step, e.kind, e.index) for e in execution.events if e.process == "P2" and e.index and e.kind != RECORD]
    ((step, *receive), (same_step, *answer)) = at_p2
    assert step == same_step and (receive, answer) == ([RECEIVE, 1], [SEND, 2])
    assert failing(execution) == {}


# --------------------------------------------------------------------------- both ways of running a rule

SYSTEMS: list[tuple[type[SnapshotAlgorithm], Callable[..., Scenario]]] = [
    (Aligned, carbone), (Barrier, flink), (Collecting, two), (Commanded, commanded), (FirstOnly, two), (Impatient, two),
    (Impatient, given_up), (StopTheWorld, busy),
]  # fmt: skip


WAYS = [
    (rule, made, kind)
    for rule, made in SYSTEMS
    for kind in ("timed", "random", "tick")
    if not (rule.overtakes and kind == "tick")  # refused: test_the_tick_scheduler_refuses_what_it_cannot_do
]


@each("rule, made, kind", WAYS)
def test_copied_and_in_place_give_the_same_events(
    register: Register, rule: type[SnapshotAlgorithm], made: Callable[..., Scenario], kind: str
) -> None:
    scenario = made(register(rule), scheduler=SchedulerChoice(kind), seed=5)
    assert run(scenario, copied=True).events == run(scenario).events
    verdicts(run(scenario))  # which are the same on both code paths
