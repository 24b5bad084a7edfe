"""The run of a cluster as an event table: Parquet, as the pipeline reads it, and the cuts of its snapshots."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from cluster.retold import table
from sim.core.model import EVENT_TYPES, RECORD, Event

CUTS = "cuts.csv"


def write_table(logs: Path, folder: Path) -> None:
    """Write `folder`/events, the event table, and `folder`/cuts.csv: run_id, cut_id, process, index."""
    events = table(logs)
    (folder / "events").mkdir(parents=True, exist_ok=True)
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in EVENT_TYPES.items()])
    columns = {name: [getattr(event, name) for event in events] for name in EVENT_TYPES}
    pyarrow.parquet.write_table(pa.table(columns, schema=schema), folder / "events" / "part-0.parquet")
    cuts = pa.table(cut_columns(events))
    pyarrow.csv.write_csv(cuts, folder / CUTS)


def cut_columns(events: list[Event]) -> dict[str, list[object]]:
    """The frontiers of the snapshots that every process recorded: one row for each process."""
    inside: dict[str, dict[str, int]] = {}
    for event in events:
        if event.kind == RECORD and event.snapshot_id is not None:
            inside.setdefault(event.snapshot_id, {})[event.process] = event.index or 0
    found: dict[str, list[object]] = {"run_id": [], "cut_id": [], "process": [], "index": []}
    everybody = max((len(own) for own in inside.values()), default=0)
    for snapshot, own in inside.items():
        for process, index in own.items() if len(own) == everybody else ():
            for column, value in zip(found, (0, snapshot, process, index), strict=True):
                found[column].append(value)
    return found
