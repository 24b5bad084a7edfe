"""All jobs, one after the other, and what comes of them: the same on every Spark."""

from __future__ import annotations

from pathlib import Path
from statistics import median_low
from typing import Any, NamedTuple

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
TABLES = {"ensemble": ("runs", "events", "audits", "channels"), "log": ("events", "traces", "audits", "channels")}
STATES = 65  # that other explorers count, too
GIVEN = {"workload": "bank", "processes": "3,4", "runs": 10, "events": "all"}


class Outcome(NamedTuple):
    """The rows of all tables, sorted, and the number of states that were explored."""

    rows: dict[str, list[str]]
    states: int


def all_jobs(where: Path | str, log: Path, session: Any = None) -> int:
    """Carries them out in a new folder; returns the number of states that were explored."""
    jobs.ensemble(f"{where}/ensemble", {"transfers": "20"}, session=session, **GIVEN)
    jobs.audit(f"{where}/ensemble", random=3, seed=1, session=session)
    jobs.summarize(f"{where}/ensemble", session=session)
    return jobs_without_an_ensemble(where, log, session)


def jobs_without_an_ensemble(where: Path | str, log: Path, session: Any = None) -> int:
    """Those of them that need none."""
    jobs.ingest(f"{where}/log", [log], "shiviz", session=session)
    jobs.audit(f"{where}/log", random=3, seed=1, session=session)
    return jobs.explore(complete_graph(2, 1), parts=2, scratch=where, session=session).found.states


def outcome(where: Path | str, states: int, *, has_summaries: bool = True) -> Outcome:
    """The results of jobs in a folder. The summaries, which are Spark's work, are compared with the runs."""
    there = [name for name in TABLES if Store(f"{where}/{name}").has("events")]
    if has_summaries and "ensemble" in there:
        check_summaries(Store(f"{where}/ensemble"))
    tables = [(name, table) for name in there for table in TABLES[name]]
    return Outcome({f"{name}/{table}": rows(Store(f"{where}/{name}"), table) for name, table in tables}, states)


def rows(store: Store, table: str) -> list[str]:
    return sorted(map(str, store.rows(table).to_table().to_pylist()))


def check_summaries(store: Store) -> None:
    """Each cell has its number of runs, and the median of its latencies; the longest snapshot is the longest."""
    runs, summaries, extremes = (
        store.rows(table).to_table().to_pylist() for table in ("runs", "summaries", "extremes")
    )
    assert [row["cell"] for row in summaries] == [0, 1]
    for cell in summaries:
        own = [row["latency"] for row in runs if row["cell"] == cell["cell"]]
        assert (cell["runs"], cell["latency_50"]) == (GIVEN["runs"], median_low(own))
    longest = [row["latency"] for row in extremes if row["why"] == "longest"]
    assert max(longest) == max(row["latency"] for row in runs)
