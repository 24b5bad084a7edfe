"""An audit in this process, without Spark: the tasks of the driver, carried out by the function of the workers."""

from __future__ import annotations

from typing import Any

import pyarrow

from pipeline.cuts.audits import _jobs
from pipeline.cuts.event_columns import DECIDE, row_groups
from pipeline.cuts.judging import judge
from pipeline.cuts.random_cuts import AtRandom
from pipeline.store.folder import Store
from pipeline.store.tables import Written
from tests.pipeline.cuts.oracles import Channels, Verdicts


def audited_here(store: Store, cuts: pyarrow.Table | AtRandom) -> tuple[list[dict[str, Any]], Verdicts, Channels]:
    """The results of the workers, and the tables that they write."""
    told: list[dict[str, Any]] = []
    with store.replacing("audits", "channels") as new:
        for tasks in _jobs(cuts, row_groups(store, DECIDE), {}, set()):
            numbers = pyarrow.record_batch({"id": range(len(tasks))})
            told += [row for batch in judge(new, tasks, iter([numbers])) for row in batch.to_pylist()]
        for row in told:
            if row["part"] is not None:
                new.keep(Written("audits", row["part"], row["cuts"]))
                new.keep(Written("channels", row["part"], row["channels"]))
    return told, *tables_of(store)


def tables_of(store: Store) -> tuple[Verdicts, Channels]:
    """The rows of the tables audits and channels."""
    audits, channels = (store.rows(table).to_table().to_pylist() for table in ("audits", "channels"))
    verdicts = {(row["run_id"], row["cut_id"]): row["witness"] for row in audits}
    assert len(verdicts) == len(audits)
    assert all(row["consistent"] == (row["witness"] is None) for row in audits)
    held = {(row["run_id"], row["cut_id"], row["channel"]): row["messages"] for row in channels}
    assert len(held) == len(channels)
    return verdicts, held
