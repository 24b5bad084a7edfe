"""All jobs, one after the other, and what comes of them: the same on every Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline import jobs
from pipeline.store.folder import Store
from sim.explore.report import complete_graph

LOG = """\
a: sends
a {"a": 1}
b: receives
b {"b": 1, "a": 1}
b: answers
b {"b": 2, "a": 1}
a: receives
a {"a": 2, "b": 2}
"""
TABLES = {
    "ensemble": ("runs", "events", "audits", "channels", "summaries", "extremes"),
    "log": ("events", "traces", "audits", "channels"),
}
COUNTS = {"ensemble": {"runs": 20}, "log": {"events": 4, "traces": 1, "audits": 3}}
STATES = 65


def all_jobs(folder: Path, log: Path, session: Any = None) -> int:
    """Carries them out in a new folder; returns the number of states that were explored."""
    given = {"workload": "bank", "processes": "3,4", "runs": 10, "events": "all"}
    jobs.ensemble(folder / "ensemble", {"transfers": "20"}, session=session, **given)
    jobs.ingest(folder / "log", [log], "shiviz", session=session)
    for name in TABLES:
        jobs.audit(folder / name, random=3, seed=1, session=session)
    jobs.summarize(folder / "ensemble", session=session)
    return jobs.explore(complete_graph(2, 1), parts=2, scratch=folder, session=session).found.states


def outcome(folder: Path) -> dict[str, list[str]]:
    """The rows of all tables, sorted."""
    return {
        f"{name}/{table}": sorted(map(str, Store(folder / name).rows(table).to_table().to_pylist()))
        for name, tables in TABLES.items()
        for table in tables
    }
