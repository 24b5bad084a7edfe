"""The run of a cluster as an event table in Parquet, as the pipeline reads it, with the cuts of its snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from cluster.replay.scenario import SCENARIO, table
from sim.core.model import EVENT_TYPES, RECEIVE, Event
from sim.document.files import read_toml
from sim.document.scenario import Scenario
from sim.run.as_of import snapshots_as_of

CUTS = "cuts.csv"


def write_table(logs: Path, folder: Path) -> None:
    """Write `folder`/events, the event table, and `folder`/cuts.csv: run_id, cut_id, process, index."""
    events, scenario = table(logs), read_toml((logs / SCENARIO).read_text("utf-8"), logs.name)
    (folder / "events").mkdir(parents=True, exist_ok=True)
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in EVENT_TYPES.items()])
    columns = {name: [getattr(event, name) for event in events] for name in EVENT_TYPES}
    pyarrow.parquet.write_table(pa.table(columns, schema=schema), folder / "events" / "part-0.parquet")
    cuts = pa.table(cut_columns(events, scenario))
    pyarrow.csv.write_csv(cuts, folder / CUTS)


def cut_columns(events: Sequence[Event], scenario: Scenario) -> dict[str, list[object]]:
    """The frontiers of the snapshots that all their members have recorded, as columns: one row for each process.

    The frontier of a process that is no member has the events that causality requires, directly or through others.
    """
    found: dict[str, list[object]] = {"run_id": [], "cut_id": [], "process": [], "index": []}
    for snapshot in snapshots_as_of(
        events, scenario.processes, [own.name for own in scenario.channels], scenario.absent
    ):
        is_cut = bool(snapshot.local) and {*snapshot.local} >= {*snapshot.members}
        inside = _with_others(snapshot.frontier, events) if is_cut else {}
        for process, index in inside.items():
            for column, value in zip(found, (0, snapshot.id, process, index), strict=True):
                found[column].append(value)
    return found


def _with_others(frontier: Mapping[str, int], events: Sequence[Event]) -> dict[str, int]:
    """A frontier with the events of other processes that causality requires."""
    receipts = [row for row in events if row.kind == RECEIVE and row.peer_index is not None]
    inside, before = dict(frontier), dict[str, int]()
    while inside != before:
        before = dict(inside)
        for row in receipts:
            sender = (row.channel or "").partition("->")[0]
            if sender not in frontier and (row.index or 0) <= inside.get(row.process, 0):
                inside[sender] = max(row.peer_index or 0, inside.get(sender, 0))
    return inside
