"""Event tables that the simulator has written are read unchanged, with all faults of their runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.logs.foreign_table import read_table
from sim.core.errors import InputError
from sim.core.model import COPIED, RESTORE, Event
from sim.document import library
from sim.document.files import parse_toml
from sim.run.execution import run
from tests.bundled import small
from tests.pipeline.some_recoveries import WRONG, recovered
from tests.tools import check_none, examples


def read(events: list[Event]):
    columns = {name: [getattr(event, name) for event in events] for name in Event._fields}
    return read_table(columns, lambda row: f"row {row}")


def test_a_table_is_read_as_it_was_written() -> None:
    tables = {name: run(library.load(name)).table for name in small()}
    found = {name: read(events) for name, events in tables.items()}
    check_none(name for name, own in found.items() if [Event(**row) for row in own.events.to_pylist()] != tables[name])
    check_none(name for name, own in found.items() if not own.exact)


@examples(30)
@given(wrong=st.sampled_from(WRONG), seed=st.integers(0, 10_000))
def test_a_run_that_is_rolled_back_is_read_as_it_was_written(wrong, seed):
    events = recovered(seed, wrong).table
    assert [Event(**row) for row in read(events).events.to_pylist()] == events


@pytest.fixture(scope="module")
def rolled_back() -> list[Event]:
    return run(library.load("recovery_without_fence")).table


def without(columns, events):
    return [event._replace(**dict.fromkeys(columns)) for event in events]


def test_without_epochs_the_restores_of_a_process_count_them(rolled_back):
    events = [event for event in rolled_back if event.kind not in ("recovery", "noted")]
    found = read(without(["epoch", "peer_index"], events)).events.to_pylist()
    for process in ("P1", "P2"):
        own = [row["epoch"] for row in found if row["process"] == process]
        assert own == [event.epoch for event in events if event.process == process]
    assert [row["peer_index"] for row in found] == [event.peer_index for event in events]


def test_a_restore_that_says_too_little_is_refused(rolled_back):
    first = next(event for event in rolled_back if event.kind == RESTORE)
    assert first.process == "P1"
    for change, told in (
        ({"index": None}, "a restore whose index is None; give the number of events that P1 keeps, 0 to 3"),
        ({"index": 4}, "a restore whose index is 4; give the number"),
        ({"epoch": 0}, "a restore with epoch 0 after epoch 0 of P1; it begins a later one"),
    ):
        wrong = [event._replace(**change) if event is first else event for event in rolled_back]
        with pytest.raises(InputError, match=told):
            read(wrong)


def test_a_message_is_received_once_more_for_each_restore_of_its_receiver(rolled_back):
    twice = [event for event in rolled_back if event.kind != RESTORE]
    with pytest.raises(InputError, match="the receive of message 0 again, after row"):
        read(without(["index", "peer_index"], twice))


def test_after_a_restore_channels_alone_do_not_pair_sends_with_receives(rolled_back):
    with pytest.raises(InputError, match="a table with one needs the column message_id"):
        read(without(["message_id", "peer_index"], rolled_back))


def test_a_copy_is_one_more_message() -> None:
    found = read(run(library.load("lost_and_copied")).events)
    assert (found.messages, found.unreceived) == (4, 1)


COPIED_MARKER = """
processes = 2
network = { layer = "raw" }
breaks = ["fifo"]
faults = [{ kind = "copy", channel = "P1->P2", snapshot = "S1" }]
snapshots = [{ id = "S1", process = "P1", at = 2 }]
script = [{ process = "P2", to = "P1", at = 1 }]
"""


def test_a_copy_of_a_marker_is_no_message_and_its_receipt_has_a_send() -> None:
    execution = run(parse_toml(COPIED_MARKER, "copied"))
    assert any(event.kind == COPIED and event.index is None for event in execution.events)
    assert (read(execution.events).messages, read(execution.events).unreceived) == (1, 0)


def test_a_copy_of_what_is_not_sent_yet_is_refused() -> None:
    events = run(library.load("lost_and_copied")).events
    wrong = [event._replace(index=7) if event.kind == COPIED else event for event in events]
    with pytest.raises(InputError, match="index is 7, but P1 has sent 1 events so far; name the send"):
        read(wrong)
