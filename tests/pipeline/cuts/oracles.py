"""Two other ways to judge cuts: the simulator's own, and a self-join in DuckDB that does not read peer_index.

Both give the verdicts as {(run_id, cut_id): witness or None} and the channels as {(run_id, cut_id, channel): messages}.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from sim.core.model import Event
from sim.theory.causality import History
from tests.pipeline.cuts.random_tables import Line, as_table, frontiers, surviving

Verdicts = dict[tuple[int, str], int | None]
Channels = dict[tuple[int, str, str], list[int]]


def by_simulator(rows: Sequence[Event], lines: Sequence[Line]) -> tuple[Verdicts, Channels]:
    """What sim.theory says of the surviving line of each run."""
    verdicts: Verdicts = {}
    channels: Channels = {}
    histories: dict[int, tuple[History, set[int | None]]] = {}
    for run_id in {row.run_id for row in rows}:
        own = sorted((row for row in rows if row.run_id == run_id), key=lambda row: row.row)
        history = History(sorted({row.process for row in own}), surviving(own))
        ended = {row.message_id for row in own if row.kind in ("lost", "fenced")} - set(history.receives)
        histories[run_id] = history, ended
    for (run_id, cut_id), cut in frontiers(list(lines)).items():
        history, ended = histories[run_id]
        verdicts[run_id, cut_id] = history.violation(cut)
        for channel, messages in history.in_channels(cut).items():
            held = [message for message in messages if message not in ended]
            if held:
                channels[run_id, cut_id, channel] = held
    return verdicts, channels


def by_duckdb(rows: Sequence[Event], lines: Sequence[Line]) -> tuple[Verdicts, Channels]:
    """The textbook join: sends with the receives of the same message, then with the cuts."""
    base = duckdb.connect(config={"threads": 1})
    names = ("run_id", "process", "index", "kind", "channel", "message_id", "epoch")
    base.execute(
        'CREATE TABLE rows (run_id BIGINT, process TEXT, "index" INT, kind TEXT, channel TEXT, message_id BIGINT, '
        "epoch INT)"
    )
    base.executemany(
        "INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?)", [[getattr(row, name) for name in names] for row in rows]
    )
    cuts = as_table(list(lines))
    base.register("cuts", cuts)
    base.execute("""
        CREATE VIEW kept AS SELECT * FROM rows e WHERE kind IN ('send', 'receive') AND NOT EXISTS (
            SELECT 1 FROM rows r WHERE r.kind = 'restore' AND r.run_id = e.run_id AND r.process = e.process
            AND r.epoch > e.epoch AND r."index" < e."index"
        );
        CREATE TABLE crossing AS
        SELECT s.run_id, c.cut_id, s.channel, s.message_id, r."index" AS receipt,
            coalesce(a."index" >= s."index", false) AS is_sent, coalesce(b."index" >= r."index", false) AS is_received
        FROM kept s
        JOIN (SELECT DISTINCT run_id, cut_id FROM cuts) c USING (run_id)
        LEFT JOIN kept r ON r.kind = 'receive' AND r.run_id = s.run_id AND r.message_id = s.message_id
        LEFT JOIN cuts a ON a.run_id = s.run_id AND a.cut_id = c.cut_id AND a.process = s.process
        LEFT JOIN cuts b ON b.run_id = s.run_id AND b.cut_id = c.cut_id AND b.process = split_part(s.channel, '->', 2)
        WHERE s.kind = 'send' AND NOT (r.message_id IS NULL AND EXISTS (
            SELECT 1 FROM rows l WHERE l.kind IN ('lost', 'fenced') AND l.run_id = s.run_id
            AND l.message_id = s.message_id
        ));
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
