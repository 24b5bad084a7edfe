"""Small ensembles, and what lies in their folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyarrow import dataset

from pipeline.ensembles.grid import Grid
from pipeline.spark import session
from pipeline.store.folder import Store

# P1 cannot pay 6 at time 9 in some of the runs. S2 begins after P1's fifth event, which there is not in all of them.
MIXED = """
processes = 3
workload = { kind = "bank", balance = 20, transfers = 2, pace = 5 }
delay = { kind = "uniform", low = 1, high = 7 }
script = [{ process = "P1", at = 9, to = "P2", body = 6 }]
snapshots = [{ id = "S1", process = "P1", at = 3 }, { id = "S2", process = "P2", at = 1, after = "P1.5" }]
"""
RUNS, SEED = 30, 100

MANY = 32 * session.cores()  # runs in chunks of eight or more: several rounds of them, however many work at once
LONG = {"processes": "4", "runs": str(MANY), "seed": "3"}, {"transfers": "400"}


def begin(path: Path, given: dict[str, str], parameters: dict[str, str] | None = None) -> tuple[Store, Grid]:
    grid = Grid.read(given, parameters)
    return Store.create(path, "ensemble", grid.to_json()), grid


def rows(store: Store, table: str) -> list[dict[str, Any]]:
    """A table as it lies on the disk, read without Spark."""
    found: list[dict[str, Any]] = dataset.dataset([str(part) for part in store.parts(table)]).to_table().to_pylist()
    return found


def content(store: Store) -> dict[str, bytes]:
    """Every part, by its table and name."""
    return {f"{table}/{part.name}": part.read_bytes() for table in ("runs", "events") for part in store.parts(table)}
