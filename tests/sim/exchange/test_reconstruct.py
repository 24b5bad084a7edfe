"""A scenario reconstructed from a table has the same events in the same order, the same messages and clocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.core.model import APPLICATION_KINDS, RECEIVE, SEND, Event
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario, ScriptLine
from sim.document.validate import validate
from sim.document.writing import dumps
from sim.exchange.reconstruct import MOST_LABEL, reconstruct
from sim.run.execution import run
from sim.theory.causality import History
from sim.theory.surviving import is_gone
from tests.cases import each
from tests.sim.strategies import scenarios
from tests.sim.tools import row_of, send, system
from tests.tools import examples


def application(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event.kind in APPLICATION_KINDS and not is_gone(event)]


def valid(events: Sequence[Event], processes: Sequence[str], name: str) -> Scenario:
    """The scenario reconstructed from events, once it is found to be valid."""
    again = reconstruct(events, tuple(processes), name)
    validate(again)
    return again


def reconstructed(scenario: Scenario) -> tuple[list[Event], list[Event]]:
    """The application events of a run, and those of the scenario reconstructed from them, a valid file."""
    before = application(run(scenario).events)
    again = valid(before, scenario.processes, "again")
    assert parse_toml(dumps(again), "again") == again
    return before, application(run(again).events)


COPIES = "lost_and_copied"


def kinds(events: Sequence[Event]) -> list[Any]:
    return [(event.process, event.index, event.kind, event.channel, event.peer_index) for event in events]


def causes(events: Sequence[Event], processes: Sequence[str]) -> dict[Any, Any]:
    return History(processes, events).clocks


@pytest.mark.slow
@examples(15)
@given(scenarios())
def test_a_run_of_any_workload_is_reconstructed(scenario: Scenario) -> None:
    """With any scheduler, with held messages, with ties, and with several events in one step."""
    before, after = reconstructed(scenario)
    assert kinds(after) == kinds(before)
    assert [event.label for event in after] == [event.label for event in before]
    assert causes(after, scenario.processes) == causes(before, scenario.processes)
    assert [event.body for event in after if event.kind == SEND] == [e.body for e in before if e.kind == SEND]


def is_rolled_back(name: str) -> bool:
    return library.load(name).recovery is not None


@each("name", lambda: [name for name in library.names() if is_rolled_back(name)])
def test_what_survives_of_a_run_that_is_rolled_back_is_reconstructed(name: str) -> None:
    """From its table. What a wrong recovery lets in, with a send that is gone, becomes an internal event."""
    execution = run(library.load(name))
    again = run(valid(execution.table, execution.scenario.processes, "again"))
    before, after = application(execution.events), application(again.events)
    sent = {event.message_id for event in before if event.kind == SEND}
    lone = [event for event in before if event.kind == "receive" and event.message_id not in sent]
    assert len(lone) == {"recovery_of_one": 1, "recovery_tutorial": 1, "recovery_without_fence": 1}.get(name, 0)
    changed = {(event.process, event.index) for event in lone}
    assert [e[:3] for e in kinds(after) if e[:2] not in changed] == [
        e[:3] for e in kinds(before) if e[:2] not in changed
    ]
    assert all(event.kind == "internal" for event in after if (event.process, event.index) in changed)
    assert not any(is_gone(event) for event in after)


@pytest.mark.slow
@each("name", lambda: [name for name in library.names() if name != COPIES and not is_rolled_back(name)])
def test_a_bundled_scenario_is_reconstructed_at_its_own_times(name: str) -> None:
    scenario = library.load(name)
    before, after = reconstructed(scenario)
    assert kinds(after) == kinds(before) and [e.label for e in after] == [e.label for e in before]
    alike = all(a.time < b.time for a, b in pairwise(before))
    assert not alike or [event.time for event in after] == pytest.approx([event.time for event in before])


def test_the_receive_of_a_copy_becomes_an_internal_event() -> None:
    before, after = reconstructed(library.load(COPIES))
    changed = [(new.kind, new.label) for old, new in zip(before, after, strict=True) if old.kind != new.kind]
    assert changed == [("internal", "(P2.3, receives a copy on P1->P2)")]


# --------------------------------------------------------------------------- windows


@examples(15)
@given(scenarios(), st.data())
def test_a_window_is_reconstructed(scenario: Scenario, data: Any) -> None:
    """Messages received after it are held; receives of messages sent before it become internal events."""
    rows = application(run(scenario).events)
    assume(rows)
    first = data.draw(st.integers(0, len(rows) - 1))
    window = rows[first : first + data.draw(st.integers(1, len(rows)))]
    again = valid(window, scenario.processes, "window")
    after = application(run(again).events)
    sent = {event.message_id for event in window if event.kind == SEND}
    received = {event.message_id for event in window if event.kind == RECEIVE}
    assert [event.process for event in after] == [event.process for event in window]
    for old, new in zip(window, after, strict=True):
        cut_off = old.kind == RECEIVE and old.message_id not in sent
        assert new.kind == ("internal" if cut_off else old.kind) and new.channel == (None if cut_off else old.channel)
        assert (new.kind == SEND and new.peer_index is None) == (old.kind == SEND and old.message_id not in received)
        assert f"{old.process}.{old.index}" in str(new.label) or new.label == old.label
        assert not cut_off or f"receives what was sent before on {old.channel}" in str(new.label)


def test_a_window_far_into_a_log_begins_at_its_own_time_0() -> None:
    lines = tuple(send("P1", "P2", 1_000_000 + n, label=f"s{n}", receive_label=f"r{n}") for n in range(4))
    again = valid(run(system("P1 P2", script=lines)).events[2:], ("P1", "P2"), "late")
    assert again.story == "Rows 2 to 7 of a table of events. Its time 1e+06 is time 0 here."
    assert run(again).events[0].time == 0 and max(event.time for event in run(again).events) < 10


# --------------------------------------------------------------------------- logs of other systems


def test_an_event_of_several_partners_becomes_several_and_says_so() -> None:
    rows = [
        row_of(0, "P1", 1, SEND, "P1->P2", 0, label="flush", time=1.0),
        row_of(1, "P1", 1, SEND, "P1->P3", 1, label="flush", time=1.0),
        row_of(2, "P3", 1, RECEIVE, "P1->P3", 1, label="P3.1"),
        row_of(3, "P3", 1, SEND, "P3->P2", 2, label="P3.1"),
        row_of(4, "P2", 1, RECEIVE, "P1->P2", 0, label="sync"),
        row_of(5, "P2", 1, RECEIVE, "P3->P2", 2, label="sync"),
        row_of(6, "P2", 2, "internal", label="sync"),
        row_of(7, "P2", 3, "internal", label="P2.3"),
    ]
    again = valid(rows, ("P1", "P2", "P3"), "several")
    assert [(e.process, e.index, e.kind, e.label) for e in run(again).events] == [
        ("P1", 1, SEND, "flush (P1.1, 1 of 2)"),
        ("P1", 2, SEND, "flush (P1.1, 2 of 2)"),
        ("P3", 1, RECEIVE, "(P3.1, 1 of 2)"),
        ("P3", 2, SEND, "(P3.1, 2 of 2)"),
        ("P2", 1, RECEIVE, "sync (P2.1, 1 of 2)"),
        ("P2", 2, RECEIVE, "sync (P2.1, 2 of 2)"),
        ("P2", 3, "internal", "sync (P2.2)"),
        ("P2", 4, "internal", "(P2.3)"),
    ]
    assert [line.at for line in again.script[:2]] == [1.0, 1.0], "the log's own times, while they keep the order"


def test_a_channel_on_which_messages_overtake_is_not_fifo() -> None:
    rows = [
        row_of(0, "P1", 1, SEND, "P1->P2", 0),
        row_of(1, "P1", 2, SEND, "P1->P2", 1),
        row_of(2, "P2", 1, SEND, "P2->P1", 2),
        row_of(3, "P2", 2, RECEIVE, "P1->P2", 1),
        row_of(4, "P1", 3, RECEIVE, "P2->P1", 2),
    ]
    again = valid(rows, ("P1", "P2"), "lost")
    assert again.not_fifo == ("P1->P2",), "the first message never arrives, the second one does"
    assert [(e.process, e.kind, e.peer_index) for e in run(again).events] == [
        ("P1", SEND, None), ("P1", SEND, 2), ("P2", SEND, 3), ("P2", RECEIVE, 2), ("P1", RECEIVE, 1),
    ]  # fmt: skip


@each(
    "times",
    [
        [1.0, 1.0, 1.0, 1.0],
        [0.1, 0.1 + 2**-56, 0.3, 0.3],
        [-5.0, -4.0, -4.0, 0.0],
        [3.0, 2.0, 1.0, 0.0],
        [1e300, 1e300, 2e300, 2e300],
        [1700000000.123, 1700000000.123, 1700000000.124, 1700000000.125],
    ],
)
def test_the_order_is_kept_whatever_the_times(times: list[float]) -> None:
    rows = [
        row_of(0, "P1", 1, SEND, "P1->P2", 0, time=times[0]),
        row_of(1, "P2", 1, RECEIVE, "P1->P2", 0, time=times[1]),
        row_of(2, "P2", 2, SEND, "P2->P1", 1, time=times[2]),
        row_of(3, "P1", 2, RECEIVE, "P2->P1", 1, time=times[3]),
    ]
    again = valid(rows, ("P1", "P2"), "times")
    assert kinds(run(again).events) == [
        ("P1", 1, SEND, "P1->P2", 1), ("P2", 1, RECEIVE, "P1->P2", 1),
        ("P2", 2, SEND, "P2->P1", 2), ("P1", 2, RECEIVE, "P2->P1", 2),
    ]  # fmt: skip


def test_labels_that_a_scenario_cannot_have_are_changed() -> None:
    long = "x" * 1000
    labels = [long, "P2.1", "same", "same", "same (P1.4)", " ", None]
    rows = [row_of(number, "P1", number + 1, "internal", label=label) for number, label in enumerate(labels)]
    again = valid([*rows, row_of(7, "P2", 1, "internal")], ("P1", "P2"), "labels")
    labels_now = [line.label for line in again.script]
    assert labels_now == [
        long[: MOST_LABEL - 1] + "…", "P2.1 (P1.2)", "same (P1.3)", "same (P1.4)", "same (P1.4)'", None, None, None,
    ]  # fmt: skip


BODIES = {
    '"text"': "text", "5": 5, '{"a": [1]}': {"a": [1]}, "null": None, "true": "true", "[null]": "[null]",
    str(10**30): str(10**30),
}  # fmt: skip


@each("body, value", [(None, None), *BODIES.items()])
def test_a_body_that_a_scenario_cannot_hold_is_its_json_as_text(body: str | None, value: Any) -> None:
    again = valid([row_of(0, "P1", 1, SEND, "P1->P2", 0)._replace(body=body)], ("P1", "P2"), "body")
    assert again.script == (ScriptLine("P1", 0.0, None, "P2", value),)


def test_a_message_without_a_body_does_not_get_its_labels_as_body() -> None:
    rows = [row_of(0, "P1", 1, SEND, "P1->P2", 0, label="ask"), row_of(1, "P2", 1, RECEIVE, "P1->P2", 0, label="hear")]
    again = valid(rows, ("P1", "P2"), "bare")
    assert [event.body for event in run(again).events] == ["{}", "{}"]
    assert parse_toml(dumps(again), "bare") == again


def test_no_rows_give_no_events() -> None:
    again = valid([], ("P1", "P2"), "nothing")
    assert run(again).events == []
