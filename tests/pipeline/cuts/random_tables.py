"""Random event tables with all that makes audits hard, and random cuts of them; the same for the same seed.

Runs have negative and huge numbers. Messages overtake each other and get lost, and one event sends several. Logs have
gaps. Systems recover, some processes only, and messages are fenced, received again, or only in an abandoned future. The
rows are interleaved or shuffled, in several parts and row groups, with columns as pandas writes them, or too few.
"""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from pipeline.store.folder import Store
from pipeline.store.schema import CUT_TYPES, arrow_schema
from sim.core.model import EVENT_TYPES, Event
from tests.sim.tools import row_of

RUNS = (-(2**63), -5, 0, 1, 2**40, 2**63 - 1)
Line = tuple[int, str, str, int]


def random_run(draw: random.Random, run_id: int) -> list[Event]:
    """The rows of a run, in their order."""
    names = draw.sample(["A", "B", "C", "D", "E"], draw.randint(2, 5))
    recoveries, losses, gaps = draw.choice((0, 0, 2)), draw.random() < 0.7, draw.random() < 0.3
    last, epoch, message = dict.fromkeys(names, 0), 0, 0
    rows: list[Event] = []
    in_flight: list[Event] = []

    def add(process: str, index: int | None, kind: str, **columns: Any) -> Event:
        row = row_of(len(rows), process, index, kind, **columns)._replace(run_id=run_id, epoch=epoch)
        rows.append(row)
        return row

    for _ in range(draw.randint(5, 80)):
        process, what = draw.choice(names), draw.random()
        if what < 0.45:
            last[process] += 1 + (gaps and draw.random() < 0.2)
            for target in draw.sample([n for n in names if n != process], draw.choice((1, 1, min(2, len(names) - 1)))):
                in_flight.append(add(process, last[process], "send", channel=f"{process}->{target}", message=message))
                message += 1
        elif what < 0.8 and in_flight:
            sent = in_flight.pop(draw.randrange(len(in_flight)))
            target = (sent.channel or "").partition("->")[2]
            if losses and draw.random() < 0.15:
                add(target, None, draw.choice(("lost", "fenced")), channel=sent.channel, message=sent.message_id)
                if draw.random() < 0.3:  # a copy was lost, and the message still comes
                    in_flight.append(sent)
                continue
            last[target] += 1 + (gaps and draw.random() < 0.2)
            add(target, last[target], "receive", channel=sent.channel, message=sent.message_id)
        elif what < 0.9:
            last[process] += 1
            add(process, last[process], "internal")
        elif what < 0.95:
            add(process, last[process], "record", snapshot_id="S")
        elif recoveries:
            recoveries -= 1
            epoch += 1
            for name in names:
                if draw.random() < 0.7:
                    add(name, draw.randint(0, last[name]), "restore")
            there = surviving(rows)
            known = {row.message_id for row in [*in_flight, *(row for row in there if row.kind == "receive")]}
            kept = [row for row in there if row.kind == "send" and row.message_id not in known]
            in_flight += [row for row in kept if draw.random() < 0.5]  # the channels are put back
    return _with_partners(draw, rows)


def surviving(rows: list[Event]) -> list[Event]:
    """The application events of a run that no restore of a later epoch has removed."""
    restores = [row for row in rows if row.kind == "restore"]
    return [
        row
        for row in rows
        if row.kind in ("send", "receive", "internal")
        and not any(
            r.process == row.process and r.epoch > row.epoch and (r.index or 0) < (row.index or 0) for r in restores
        )
    ]


def _with_partners(draw: random.Random, rows: list[Event]) -> list[Event]:
    """The rows with their peer_index: of the receive that survives. Some tables still have that of one that is gone."""
    received: dict[int | None, Event] = {}
    if draw.random() < 0.3:
        received |= {row.message_id: row for row in rows if row.kind == "receive"}
    received |= {row.message_id: row for row in surviving(rows) if row.kind == "receive"}
    sent = {row.message_id: row for row in rows if row.kind == "send"}
    partners = {"send": received, "receive": sent}
    found = []
    for row in rows:
        partner = partners.get(row.kind, {}).get(row.message_id)
        found.append(row if partner is None else row._replace(peer_index=partner.index))
    return found


def random_table(seed: int) -> list[Event]:
    """The rows of several runs; each run in its order, unless the table is shuffled."""
    draw = random.Random(seed)
    runs = [random_run(draw, run_id) for run_id in RUNS]
    how = draw.choice(("sorted", "interleaved", "shuffled"))
    if how == "sorted":
        return [row for rows in runs for row in rows]
    turns = [place for place, rows in enumerate(runs) for _ in rows]
    draw.shuffle(turns)
    ways = [iter(rows) for rows in runs]
    mixed = [next(ways[place]) for place in turns]
    if how == "shuffled":
        draw.shuffle(mixed)
    return mixed


def write_table(path: Path, rows: list[Event], seed: int) -> Store:
    """A data folder with the rows, in several parts and row groups, in types that vary."""
    draw = random.Random(seed)
    whole = pyarrow.table(list(zip(*rows, strict=True)), arrow_schema(EVENT_TYPES))
    if draw.random() < 0.5:  # as pandas writes numbers with gaps, and other texts
        schema = whole.schema
        for name, kind in (("peer_index", "float64"), ("index", "float64"), ("process", "large_string")):
            schema = schema.set(schema.get_field_index(name), pyarrow.field(name, kind))
        whole = whole.cast(schema)
    if draw.random() < 0.5:
        needed = ["run_id", "row", "process", "index", "kind", "channel", "peer_index", "message_id", "epoch"]
        whole = whole.select(draw.sample(needed, len(needed)))
        whole = whole.append_column("__index_level_0__", pyarrow.array(range(len(whole))))
    folder = path / "events"
    folder.mkdir(parents=True)
    ends = sorted({0, len(whole), *(draw.randint(0, len(whole)) for _ in range(draw.randint(0, 3)))})
    size, statistics = draw.choice((3, 20, 1000)), draw.random() < 0.7
    for first, last in pairwise(ends):
        parquet.write_table(
            whole.slice(first, last - first), folder / f"part-{first:06}.parquet",
            row_group_size=size, write_statistics=statistics, use_dictionary=draw.random() < 0.7,
        )  # fmt: skip
    return Store(path)


def random_cuts(rows: list[Event], seed: int, most: int = 12) -> list[Line]:
    """Lines of cuts: at the ends, beyond them, in between; some processes are missing. Every run has one at least."""
    draw = random.Random(seed)
    ends: dict[int, dict[str, int]] = {}
    for row in rows:
        if row.kind in ("send", "receive", "internal"):
            own = ends.setdefault(row.run_id, {})
            own[row.process] = max(own.get(row.process, 0), row.index or 0)
    lines = []
    for run_id, own in ends.items():
        for cut in range(draw.randint(1, most)):
            for name in draw.sample(sorted(own), draw.randint(1, len(own))):
                end = own[name]
                lines.append((run_id, f"cut-{cut}", name, draw.choice((0, end, end + 3, *[draw.randint(0, end)] * 5))))
    draw.shuffle(lines)
    return lines


def as_table(lines: list[Line]) -> pyarrow.Table:
    """Lines as a table of CUT_TYPES."""
    columns = list(zip(*lines, strict=True)) if lines else [()] * len(CUT_TYPES)
    return pyarrow.table([list(column) for column in columns], schema=arrow_schema(CUT_TYPES))


def frontiers(lines: list[Line]) -> dict[tuple[int, str], dict[str, int]]:
    """The number of events inside, by run, cut and process."""
    found: dict[tuple[int, str], dict[str, int]] = {}
    for run_id, cut_id, process, index in lines:
        found.setdefault((run_id, cut_id), {})[process] = index
    return found
