"""Two other ways to judge cuts: the reference, and a self-join in DuckDB that does not read peer_index.

Both give the verdicts as {(run_id, cut_id): witness or None} and the channels as {(run_id, cut_id, channel): messages}.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from pipeline.cuts.surviving import MARKS
from sim.core.model import Event
from tests.pipeline.cuts.random_tables import Line, as_table, frontiers
from tests.reference.messages import messages_of

Verdicts = dict[tuple[int, str], int | None]
Channels = dict[tuple[int, str, str], list[int]]


def by_reference(rows: Sequence[Event], lines: Sequence[Line]) -> tuple[Verdicts, Channels]:
    """The audit of each run by the definition; the messages of a channel are sorted."""
    verdicts: Verdicts = {}
    channels: Channels = {}
    tables = {run_id: sorted((r for r in rows if r.run_id == run_id), key=lambda r: r.row) for run_id, *_ in lines}
    runs = {run_id: messages_of(own) for run_id, own in tables.items()}
    for (run_id, cut_id), cut in frontiers(list(lines)).items():
        found = runs[run_id].of_events(cut)
        verdicts[run_id, cut_id] = next(iter(found.orphans), None)
        channels |= {(run_id, cut_id, channel): held for channel, held in found.held.items()}
    return verdicts, channels


def unordered(found: tuple[Verdicts, Channels]) -> tuple[Verdicts, Channels]:
    """The same, with the messages of every channel sorted."""
    return found[0], {key: sorted(held) for key, held in found[1].items()}


def unmarked(rows: Sequence[Event]) -> set[int]:
    """The runs without recoveries, losses and copies, of which sends and receives tell all."""
    return {row.run_id for row in rows} - {row.run_id for row in rows if row.kind in MARKS}


def by_duckdb(rows: Sequence[Event], lines: Sequence[Line]) -> tuple[Verdicts, Channels]:
    """The textbook join, of runs without marks: sends with the receives of the same message, then with the cuts."""
    base = duckdb.connect(config={"threads": 1})
    names = ("run_id", "process", "index", "kind", "channel", "message_id")
    types = 'run_id BIGINT, process TEXT, "index" INT, kind TEXT, channel TEXT, message_id BIGINT'
    base.execute(f"CREATE TABLE rows ({types})")
    base.executemany(
        "INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)", [[getattr(row, name) for name in names] for row in rows]
    )
    cuts = as_table(list(lines))
    base.register("cuts", cuts)
    base.execute("""
        CREATE TABLE crossing AS
        SELECT s.run_id, c.cut_id, s.channel, s.message_id, r."index" AS receipt,
            coalesce(a."index" >= s."index", false) AS is_sent, coalesce(b."index" >= r."index", false) AS is_received
        FROM rows s
        JOIN (SELECT DISTINCT run_id, cut_id FROM cuts) c USING (run_id)
        LEFT JOIN rows r ON r.kind = 'receive' AND r.run_id = s.run_id AND r.message_id = s.message_id
        LEFT JOIN cuts a ON a.run_id = s.run_id AND a.cut_id = c.cut_id AND a.process = s.process
        LEFT JOIN cuts b ON b.run_id = s.run_id AND b.cut_id = c.cut_id AND b.process = split_part(s.channel, '->', 2)
        WHERE s.kind = 'send';
    """)
    verdicts = base.execute("""
        SELECT run_id, cut_id, min(message_id) FILTER (NOT is_sent AND is_received)
        FROM (SELECT DISTINCT run_id, cut_id FROM cuts) LEFT JOIN crossing USING (run_id, cut_id) GROUP BY ALL
    """).fetchall()
    channels = base.execute("""
        SELECT run_id, cut_id, channel, list(message_id ORDER BY receipt NULLS LAST, message_id)
        FROM crossing WHERE is_sent AND NOT is_received GROUP BY ALL
    """).fetchall()
    base.close()
    return {(run, cut): witness for run, cut, witness in verdicts}, {
        (run, cut, c): held for run, cut, c, held in channels
    }
