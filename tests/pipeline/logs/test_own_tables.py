"""Event tables that the simulator has written are read as they are, whatever fails in their runs."""

from __future__ import annotations

import pytest

from pipeline.logs.foreign_table import read_table
from sim.core.errors import InputError
from sim.core.model import COPIED, Event
from sim.document import library
from sim.run.execution import run
from tests.bundled import small


def read(events: list[Event]):
    columns = {name: [getattr(event, name) for event in events] for name in Event._fields}
    return read_table(columns, lambda row: f"row {row}")


@pytest.mark.parametrize("name", small())
def test_a_table_is_read_as_it_was_written(name: str) -> None:
    events = run(library.load(name)).events
    found = read(events)
    assert [Event(**row) for row in found.events.to_pylist()] == events
    assert found.exact


def test_a_copy_is_one_more_message() -> None:
    found = read(run(library.load("lost_and_copied")).events)
    assert (found.messages, found.unreceived) == (4, 1)


def test_a_copy_of_what_is_not_sent_yet_is_refused() -> None:
    events = run(library.load("lost_and_copied")).events
    wrong = [event._replace(index=7) if event.kind == COPIED else event for event in events]
    with pytest.raises(InputError, match="index is 7, but P1 has sent 1 events so far; name the send"):
        read(wrong)
