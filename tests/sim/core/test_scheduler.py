"""The schedulers: ties, FIFO, holds, lines that wait for an event, ticks, random and manual choices."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from sim.core.delays import HOLD
from sim.core.errors import InputError
from sim.core.model import (
    INTERNAL,
    MARKER,
    MARKER_RECEIVE,
    MARKER_SEND,
    RECEIVE,
    RECORD,
    RECORDED,
    SEND,
    MessageReference,
)
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario, SchedulerChoice, ScriptLine
from sim.document.writing import dumps
from sim.run.execution import run
from tests.sim.tools import limit_ticks, send, start, summary, system

RANDOM = SchedulerChoice("random")
NOT_FIFO: dict[str, Any] = {"algorithm": "lai_yang", "not_fifo": ("P1->P2",)}


def manual(*order: str) -> SchedulerChoice:
    return SchedulerChoice("manual", order=order)


# --------------------------------------------------------------------------- steps


def test_steps_are_numbered_from_1_and_the_rows_of_a_step_share_its_number() -> None:
    execution = run(library.load("lecture"))
    assert [e.step for e in execution.events if e.step <= 6] == [1, 2, 3, 4, 5, 5, 5, 6, 6, 6, 6, 6]
    assert execution.steps == 18 and execution.events[-1].step == 18
    assert execution.engine.initial().messages == 0


def test_a_first_marker_its_recording_and_the_markers_it_causes_are_one_step() -> None:
    rows = [e for e in run(library.load("lecture")).events if e.step == 6]
    assert [(e.kind, e.channel) for e in rows] == [
        (MARKER_RECEIVE, "P1->P3"), (RECORD, None), (MARKER_SEND, "P3->P1"), (MARKER_SEND, "P3->P2"),
        ("channel_closed", "P1->P3"),
    ]  # fmt: skip


def test_an_initiation_at_a_process_that_has_recorded_is_a_step_without_rows() -> None:
    """P2 receives a marker of S1 at 2 and is to initiate S1 at 3."""
    once = system("P1 P2", snapshots=(start("P1", 1),))
    twice = system("P1 P2", snapshots=(start("P1", 1), start("P2", 3)))
    assert [e.kind for e in run(twice).events] == [e.kind for e in run(once).events]
    assert run(twice).steps == run(once).steps + 1
    assert {1, 2, 3, 4} - {e.step for e in run(twice).events} == {3}


# --------------------------------------------------------------------------- ties in time


def test_script_then_initiations_then_deliveries() -> None:
    """All at time 2: a message that is due, an initiation, and lines of two processes."""
    scenario = system(
        "P1 P2",
        script=(
            send("P2", "P1", 1, label="m", receive_label="n"),
            ScriptLine("P2", 2, label="b"),
            ScriptLine("P1", 2, label="a"),
        ),
        snapshots=(start("P1", 2),),
    )
    at_2 = [e.label or e.kind for e in run(scenario).events if e.time == 2]
    assert at_2 == ["b", "a", RECORD, MARKER_SEND, RECORDED, "n"]


def test_a_turn_comes_after_the_script_and_before_initiations() -> None:
    scenario = system(
        "P1 P2",
        workload="token_ring",
        parameters={"tokens": {"P1": 1}, "hold": 2.0, "rounds": 1},
        script=(ScriptLine("P1", 2, label="a"),),
        snapshots=(start("P1", 2),),
    )
    assert [e.kind for e in run(scenario).events if e.time == 2] == [INTERNAL, SEND, RECORD, MARKER_SEND]


def test_ties_of_script_lines_follow_their_listed_order() -> None:
    lines = tuple(ScriptLine(process, 3, label=label) for process, label in (("P2", "a"), ("P1", "b"), ("P2", "c")))
    assert summary(system("P1 P2", script=lines)) == ["3 P2 internal a", "3 P1 internal b", "3 P2 internal c"]


def test_ties_of_deliveries_follow_the_listed_order_of_channels_and_not_that_of_sending() -> None:
    lines = (send("P1", "P2", 1), send("P3", "P2", 1), send("P2", "P3", 1))
    for channels in ("P3->P2 P2->P3 P1->P2", "P1->P2 P3->P2 P2->P3"):
        rows = run(system("P1 P2 P3", channels, script=lines)).events
        assert [e.channel for e in rows if e.kind == RECEIVE] == channels.split()


def test_ties_on_a_channel_follow_the_order_of_sending_even_without_fifo() -> None:
    """Both are due at 6: the one sent first, though it is slower, arrives first."""
    lines = (send("P1", "P2", 1, "slow", label="a"), send("P1", "P2", 5, "quick", label="b"))
    scenario = system("P1 P2", script=lines, delays={MessageReference(label="a"): 5.0}, **NOT_FIFO)
    assert [e.body for e in run(scenario).events if e.kind == RECEIVE] == ['"slow"', '"quick"']


def test_ties_under_the_tick_scheduler_too() -> None:
    """At 2 a message is due, a line of its receiver comes first and so does an initiation."""
    lines = (send("P1", "P2", 0.5, receive_label="n"), ScriptLine("P2", 2, label="a"))
    scenario = system("P1 P2", script=lines, snapshots=(start("P2", 2),), scheduler=SchedulerChoice("tick"))
    assert [e.label or e.kind for e in run(scenario).events if e.time == 2] == ["a", RECORD, MARKER_SEND, RECORDED, "n"]


# --------------------------------------------------------------------------- FIFO and holds


def test_a_quick_message_waits_behind_a_slow_one() -> None:
    lines = (send("P1", "P2", 1, label="slow"), send("P1", "P2", 2, label="quick"), send("P2", "P1", 2, label="other"))
    scenario = system("P1 P2", script=lines, delays={MessageReference(label="slow"): 10.0})
    arrivals = [(e.time, e.channel) for e in run(scenario).events if e.kind == RECEIVE]
    assert arrivals == [(3, "P2->P1"), (11, "P1->P2"), (11, "P1->P2")]


def test_a_held_message_holds_back_only_later_messages_of_its_channel() -> None:
    lines = (
        send("P1", "P2", 1, label="before"), send("P1", "P2", 2, label="held"), send("P1", "P2", 3, label="behind"),
        send("P2", "P1", 3, label="elsewhere"),
    )  # fmt: skip
    held = {MessageReference(label="held"): HOLD}
    for scheduler in (SchedulerChoice(), SchedulerChoice("tick"), RANDOM):
        scenario = system("P1 P2", script=lines, delays=held, snapshots=(start("P2", 4),), scheduler=scheduler)
        execution = run(scenario)
        received = [e for e in execution.events if e.kind == RECEIVE]
        sent = {e.message_id: e.label for e in execution.events if e.kind == SEND}
        assert {sent[e.message_id] for e in received} == {"before", "elsewhere"}
        assert all(e.time < math.inf for e in execution.events)


def test_messages_may_overtake_each_other_on_a_channel_that_is_not_fifo() -> None:
    lines = (send("P1", "P2", 1, "slow", label="a"), send("P1", "P2", 2, "quick"))
    scenario = system("P1 P2", script=lines, delays={MessageReference(label="a"): 9.0}, **NOT_FIFO)
    assert [e.body for e in run(scenario).events if e.kind == RECEIVE] == ['"quick"', '"slow"']


@pytest.mark.parametrize("seed", [1, 2])
def test_no_channel_is_fifo_where_the_scenario_says_all_whichever_channels_a_seed_draws(seed: int) -> None:
    text = f'processes = 5\nseed = {seed}\ntopology = {{ kind = "random", extra = 4 }}\nnot_fifo = ["all"]'
    scenario = parse_toml(text, "all")
    assert len(scenario.channels) == 9 and not any(channel.fifo for channel in scenario.channels)
    assert parse_toml(dumps(scenario), "all") == scenario


# --------------------------------------------------------------------------- lines that wait for an event


def test_a_line_after_an_event_happens_that_much_later_or_never() -> None:
    """P2.3 never happens."""
    lines = (
        ScriptLine("P2", 3, after="F", label="late"),
        send("P1", "P2", 4, label="B", receive_label="F"),
        ScriptLine("P1", 0, after="B", label="at once"),
        ScriptLine("P2", 1, after="P2.3"),
    )
    assert summary(system("P1 P2", script=lines)) == [
        "4 P1 send B", "4 P1 internal at once", "5 P2 receive F", "8 P2 internal late",
    ]  # fmt: skip


def test_a_line_may_wait_for_an_event_by_its_number() -> None:
    lines = (send("P1", "P2", 4), ScriptLine("P2", 2, after="P2.1", label="a"), ScriptLine("P1", 0, "P1.1", label="b"))
    assert summary(system("P1 P2", script=lines))[1:] == ["4 P1 internal b", "5 P2 receive P2.1", "7 P2 internal a"]


def test_a_number_means_the_event_also_where_it_has_a_label() -> None:
    """P1.1 has the label A; a line that waits for P1.1 must not wait for ever."""
    lines = (ScriptLine("P1", 1, label="A"), ScriptLine("P1", 1, after="P1.1", label="B"))
    assert summary(system("P1 P2", script=lines)) == ["1 P1 internal A", "2 P1 internal B"]


def test_a_delay_may_name_its_message_by_the_number_of_the_send() -> None:
    """Also if that send has a label: the delay must not be ignored silently."""
    for label in (None, "A"):
        scenario = system(
            "P1 P2", script=(send("P1", "P2", 1, label=label),), delays={MessageReference(label="P1.1"): 9.0}
        )
        assert [e.time for e in run(scenario).events if e.kind == RECEIVE] == [10]


def test_an_initiation_may_wait_for_an_event_too() -> None:
    scenario = system("P1 P2", script=(ScriptLine("P1", 4, label="A"),), snapshots=(start("P2", 2, after="A"),))
    assert [e.time for e in run(scenario).events if e.kind == RECORD] == [6, 7]


def test_lines_that_wait_need_not_wait_for_each_other() -> None:
    """Two lines of one process after one event, the later one listed first."""
    lines = (ScriptLine("P1", 9, "A", label="b"), ScriptLine("P1", 2, "A", label="a"), ScriptLine("P1", 1, label="A"))
    assert summary(system("P1 P2", script=lines)) == ["1 P1 internal A", "3 P1 internal a", "10 P1 internal b"]


@pytest.mark.parametrize("kind", ["timed", "tick", "random"])
def test_lines_that_wait_happen_once_under_every_scheduler(kind: str) -> None:
    lines = (ScriptLine("P1", 1, label="A"), ScriptLine("P2", 1, "A", label="B"), send("P2", "P1", 0, after="B"))
    kinds = Counter(e.kind for e in run(system("P1 P2", script=lines, scheduler=SchedulerChoice(kind))).events)
    assert kinds == {INTERNAL: 2, SEND: 1, RECEIVE: 1}


# --------------------------------------------------------------------------- chance


def test_a_random_schedule_depends_on_its_seed_and_time_is_the_step() -> None:
    lines = tuple(send(f"P{1 + n % 3}", f"P{1 + (n + 1) % 3}", n) for n in range(9))
    orders = set()
    for seed in (0, 0, 1, 2):
        execution = run(system("P1 P2 P3", script=lines, scheduler=RANDOM, seed=seed))
        assert all(e.time == e.step for e in execution.events)
        orders.add(tuple((e.process, e.kind) for e in execution.events))
    assert len(orders) == 3


def test_the_random_scheduler_is_uniform() -> None:
    """Two first steps are possible: in 400 seeds each is taken about half of the time."""
    lines = (ScriptLine("P1", 1), ScriptLine("P2", 1))
    first = Counter(
        run(system("P1 P2", script=lines, scheduler=RANDOM, seed=seed)).events[0].process for seed in range(400)
    )
    assert 150 < first["P1"] < 250


# --------------------------------------------------------------------------- ticks


def test_a_source_delivers_one_message_at_a_tick_in_string_order() -> None:
    """P10 sorts before P2; both of P1's messages are due at tick 2."""
    lines = (send("P1", "P2", 0), send("P1", "P10", 0), send("P2", "P10", 0))
    scenario = system("P2 P1 P10", script=lines, scheduler=SchedulerChoice("tick"))
    received = [(e.time, e.channel) for e in run(scenario).events if e.kind == RECEIVE]
    assert received == [(2, "P1->P10"), (2, "P2->P10"), (3, "P1->P2")]


def test_a_head_that_is_not_due_blocks_its_own_channel_only() -> None:
    lines = (send("P1", "P2", 0, "head", label="a"), send("P1", "P2", 0, "behind"), send("P1", "P3", 0))
    scenario = system(
        "P1 P2 P3", script=lines, scheduler=SchedulerChoice("tick"), delays={MessageReference(label="a"): 4.0}
    )
    assert [(e.time, e.channel) for e in run(scenario).events if e.kind == RECEIVE] == [
        (2, "P1->P3"), (5, "P1->P2"), (6, "P1->P2"),
    ]  # fmt: skip


@pytest.mark.parametrize(("delay", "arrives"), [(6.0, True), (7.0, False)])
def test_ticks_end_so_many_after_the_last_snapshot_is_complete(delay: float, arrives: bool) -> None:
    """Complete at tick 4: with 3 extra ticks a message that is due at 7 arrives, and one that is due at 8 does not."""
    scenario = system(
        "P1 P2",
        script=(send("P1", "P2", 0.5, label="m"),),
        snapshots=(start("P1", 0),),
        scheduler=SchedulerChoice("tick", extra=3),
        delays={MessageReference(label="m"): delay},
    )
    rows = run(scenario).events
    assert [e.time for e in rows if e.kind == MARKER_RECEIVE] == [2, 4]
    assert [e.time for e in rows if e.kind == RECEIVE] == ([7] if arrives else [])


UNBOUNDED = {
    "a delay": "[[delays]]\nchannel = 'P1->P2'\ndelay = 1e12\n",
    "all delays": "[delay]\nvalue = 1e12\n",
    "the script": "[[script]]\nprocess = 'P1'\nat = 1e12\n",
    "until": "",
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_no_run_goes_through_more_than_a_million_ticks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """.events files are held to 1,000,000 ticks, and a scenario must be too: it is refused, or skips ahead."""
    limit_ticks(monkeypatch, 1_000_100)
    until = "until = 1000000000000\n" if name == "until" else ""
    text = 'processes = ["P1", "P2"]\n' + UNBOUNDED[name] + f"[scheduler]\nkind = 'tick'\n{until}"
    text += "[[script]]\nprocess = 'P1'\nat = 1\nto = 'P2'\n"
    text += "[[snapshots]]\nid = 'S1'\nprocess = 'P1'\nat = 2\n"
    try:
        run(parse_toml(text, "far"))
    except InputError as refusal:
        assert "tick" in str(refusal)


# --------------------------------------------------------------------------- by hand


def token_by_hand(*order: str) -> Scenario:
    """Chandy & Lamport's example 2.2, with choices made by hand."""
    lines = (send("p", "q", 1, "M"), send("q", "p", 1, "M'"))
    return system("p q", script=lines, snapshots=(start("p", 0),), scheduler=manual(*order))


def test_choices_are_followed_and_the_run_ends_with_them() -> None:
    scenario = token_by_hand("initiate S1 at p", "act p", "act q", "deliver q->p", "deliver p->q")
    assert [(e.step, e.kind) for e in run(scenario).events if e.kind != MARKER_SEND] == [
        (1, RECORD), (2, SEND), (3, SEND), (4, RECORDED), (4, RECEIVE), (5, MARKER_RECEIVE), (5, RECORD),
        (5, "channel_closed"), (5, "snapshot_complete"),
    ]  # fmt: skip
    assert run(scenario).steps == 5


def test_a_choice_that_is_not_enabled_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError) as refusal:
        run(token_by_hand("initiate S1 at p", "deliver q->p"))
    assert "choice 2, 'deliver q->p', is not enabled" in str(refusal.value)
    assert sorted(str(refusal.value).partition("enabled are: ")[2].split(", ")) == ["act p", "act q", "deliver p->q"]


def test_when_nothing_is_enabled_any_more_a_choice_says_so() -> None:
    with pytest.raises(InputError, match="enabled are: none"):
        run(system("p q", script=(ScriptLine("p", 1),), scheduler=manual("act p", "act p")))


def test_a_held_message_cannot_be_chosen() -> None:
    scenario = token_by_hand("initiate S1 at p", "act p", "deliver p->q")
    held = MessageReference(None, "p->q", MARKER, "S1")
    assert run(scenario).steps == 3
    with pytest.raises(InputError, match="not enabled"):
        run(replace(scenario, delays={held: HOLD}))


# --------------------------------------------------------------------------- bounds


def test_a_run_is_bounded() -> None:
    scenario = system("P1 P2", workload="bank", parameters={"transfers": 100, "pace": 1.0})
    with pytest.raises(InputError, match="goes on after 50 steps; bound its workload"):
        run(scenario, most_steps=50)
    steps = run(scenario).steps
    with pytest.raises(InputError, match="goes on"):
        run(scenario, most_steps=steps - 1)
    assert run(scenario, most_steps=steps).steps == steps, "a run of exactly so many steps does not go on"


def test_a_run_under_ticks_ends_when_nothing_finite_remains() -> None:
    """As under the timed scheduler; only COS 418's cases stop a few ticks after their snapshots."""
    text = (
        "processes = 3\ntopology = { kind = 'ring' }\nworkload = { kind = 'token_ring', rounds = 3 }\n"
        "delay = { kind = 'fixed', value = 10 }\nsnapshots = [{ id = 'S1', process = 'P1', at = 1.5 }]\n"
    )
    timed, ticked = (run(parse_toml(text + f"scheduler = {{ kind = '{kind}' }}", "x")) for kind in ("timed", "tick"))
    assert timed.steps == ticked.steps
    assert not any(ticked.final.queues)
