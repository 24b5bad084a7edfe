"""Logs that grow in pieces, and a follower without Spark: the source and the batches, called as Spark calls them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow

from pipeline.cuts.event_columns import DECIDE, row_groups
from pipeline.cuts.judging import audits_table, channels_table, crossings_of
from pipeline.cuts.snapshot_cuts import OfSnapshots
from pipeline.cuts.tasks import drawn_tasks_of
from pipeline.logs.format import NO_OPTIONS, Options
from pipeline.store.folder import Store
from pipeline.store.schema import arrow_schema
from pipeline.streaming import batches
from pipeline.streaming.batches import Batches
from pipeline.streaming.following import opened
from pipeline.streaming.source import SOURCE_TYPES, GrowingLogs, Offset
from sim.core.model import Event

Rows = list[dict[str, Any]]


class ByHand:
    """Follows a folder of logs into `out`, a batch at each call."""

    def __init__(self, out: Path, logs: Path, form: str, most: int = 10_000_000, given: Options = NO_OPTIONS) -> None:
        self.out, self.form = out, form
        self.store = opened(out, [logs], form, given)
        options = {"logs": json.dumps([str(logs)]), "form": form, "most": str(most), "options": json.dumps(given)}
        self._reader = GrowingLogs(options).streamReader(None)
        self.offsets: list[Offset] = [{}]  # those that are checkpointed: of the beginning of each batch, and the last

    def plan(self) -> bool:
        """Plans a batch, as far as the files have grown. Returns whether there is one to carry out."""
        latest = self._reader.latestOffset(self.offsets[-1], None)
        if latest == self.offsets[-1]:
            return False
        self.offsets.append(latest)
        return True

    def carry_out(self) -> None:
        """Carries out the batch that was planned last, once more if it was before."""
        start, end = self.offsets[-2:]
        rows = [own for part in self._reader.partitions(start, end) for own in self._reader.read(part)]
        table = pyarrow.Table.from_batches(rows, arrow_schema(SOURCE_TYPES))
        Batches(self.out, self.form).carry_out(Store(self.out), table, len(self.offsets) - 2)

    def catch_up(self) -> None:
        """Batches, until there is nothing to read."""
        while self.plan():
            self.carry_out()

    def forget(self) -> None:
        """Forgets the process that has carried out batches so far, with its memory."""
        batches._STATES.clear()


def written(store: Store) -> tuple[Rows, Rows]:
    """The tables audits and channels, in order."""
    if not store.has("audits"):
        return [], []
    return _sorted(store.rows("audits").to_table().to_pylist()), _sorted(store.rows("channels").to_table().to_pylist())


def by_the_batch_audit(store: Store) -> tuple[Rows, Rows]:
    """The batch audit's results for the snapshots in the same events, which are not written."""
    audits: Rows = []
    channels: Rows = []
    for drawn in drawn_tasks_of(OfSnapshots(), row_groups(store, DECIDE), {}) if store.has("events") else ():
        for task in (own for own in drawn.of_cuts() if own.cuts.size):
            found = crossings_of(task)
            assert found is not None
            audits += audits_table(task.cuts, found[1]).to_pylist()
            channels += channels_table(task, found[0].channels, found[1].held).to_pylist()
    return _sorted(audits), _sorted(channels)


def _sorted(rows: Rows) -> Rows:
    return sorted(rows, key=lambda row: (row["run_id"], row["cut_id"], row.get("channel", "")))


# ---------------------------------------------------------------------- files


def json_lines(events: Sequence[Event]) -> list[str]:
    """Rows of an event table as a program writes them that knows its own side only: no partner of a send, no row."""
    unknown = ("run_id", "row", "step", "time")
    rows = [{key: value for key, value in own._asdict().items() if key not in unknown} for own in events]
    for row in rows:
        row["peer_index"] = None
    return [json.dumps({key: value for key, value in row.items() if value is not None}) + "\n" for row in rows]


def by_process(events: Sequence[Event]) -> dict[str, list[str]]:
    """A file for each process, by name."""
    names = dict.fromkeys(event.process for event in events)
    return {f"{name}.jsonl": json_lines([own for own in events if own.process == name]) for name in names}


def pieces(files: Mapping[str, Sequence[str]], draw: random.Random) -> Iterator[tuple[str, bytes]]:
    """The content of files in random pieces, in the middle of lines too. Some files come long after the others."""
    left = {name: "".join(lines).encode() for name, lines in files.items()}
    late = {name for name in left if draw.random() < 0.3}
    while left:
        names = [name for name in left if name not in late] or list(left)
        name = draw.choice(names)
        size = draw.choice((1, 40, 300, 2_000, 10_000))
        yield name, left[name][:size]
        left[name] = left[name][size:]
        if not left[name]:
            del left[name]
        if draw.random() < 0.05:
            late.clear()


def append(folder: Path, name: str, content: bytes) -> None:
    """Appends to a file."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("ab") as file:
        file.write(content)
