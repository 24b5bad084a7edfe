"""Small ensembles, and functions that read their folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyarrow import dataset

from pipeline.ensembles.grid import Grid
from pipeline.spark import local_server
from pipeline.store.folder import Store

# In some of the runs, P1 cannot pay 6 at time 9. S2 begins after P1's fifth event, which some of the runs do not have.
MIXED = """
processes = 3
workload = { kind = "bank", balance = 20, transfers = 2, pace = 5 }
delay = { kind = "uniform", low = 1, high = 7 }
script = [{ process = "P1", at = 9, to = "P2", body = 6 }]
snapshots = [{ id = "S1", process = "P1", at = 3 }, { id = "S2", process = "P2", at = 1, after = "P1.5" }]
"""
RUNS, SEED = 30, 100

MANY = 32 * local_server.cores()  # runs; chunks have eight or more, so that every worker gets several
# Not compiled: long enough to be stopped on the way.
LONG = {"processes": "4", "runs": str(MANY), "seed": "3", "algorithm": "lai_yang"}, {"transfers": "400"}


def begin(path: Path, given: dict[str, str], parameters: dict[str, str] | None = None) -> tuple[Store, Grid]:
    grid = Grid.read(given, parameters)
    return Store.create(path, "ensemble", grid.to_json()), grid


def rows(store: Store, table: str) -> list[dict[str, Any]]:
    """The rows of a table, read without Spark."""
    found: list[dict[str, Any]] = dataset.dataset([str(file) for file in files_of(store, table)]).to_table().to_pylist()
    return found


def content(store: Store) -> dict[str, bytes]:
    """The bytes of every part, by table and name."""
    tables = ("runs", "events")
    return {
        f"{table}/{part.name}": (store.path / part.file).read_bytes() for table in tables for part in store.parts(table)
    }


def files_of(store: Store, table: str) -> list[Path]:
    """The files of a table's parts."""
    return [store.path / part.file for part in store.parts(table)]
