"""Data folders with the event tables of simulated runs; and a disk that is full."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow

from pipeline.store.folder import Store
from pipeline.store.schema import arrow_schema
from sim.core.model import EVENT_TYPES, Event
from sim.run.execution import Execution


def folder_of(path: Path, events: Sequence[Event], parts: int = 1) -> Store:
    """A data folder without a manifest, with `events` in so many parts."""
    path.mkdir(parents=True, exist_ok=True)
    store = Store(path)
    size = -(-len(events) // parts) or 1
    for first in range(0, max(len(events), 1), size):
        columns = list(zip(*events[first : first + size], strict=True)) or [()] * len(EVENT_TYPES)
        store.write_part("events", f"part-{first:06}", pyarrow.table(columns, arrow_schema(EVENT_TYPES)))
    return store


def numbered(executions: Sequence[Execution]) -> list[Event]:
    """The events of several runs, with run_ids from 0."""
    return [event._replace(run_id=run) for run, execution in enumerate(executions) for event in execution.table]


def full_disk(rows: Any, file: IO[bytes]) -> None:
    """In the place of pyarrow's write_table: the disk is full when a part of the file has been written."""
    file.write(b"PAR1")
    raise OSError(errno.ENOSPC, "No space left on device")
