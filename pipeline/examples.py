"""Makes the finished examples that come with the app: run `make examples` after a change of version or format."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pipeline.ensembles import cost_check as sizing
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.run import run_ensemble
from pipeline.ingest import carry_out, plan
from pipeline.spark import session as spark_session
from pipeline.store.examples import ENSEMBLE, LOG, LOG_FILE, SIZING
from pipeline.store.folder import Store
from pipeline.store.schema import TABLES
from pipeline.store.tables import GENERATIONS

FORM = "shiviz"
# The parameters that a click on Run takes, but without events: opening a run carries it out again.
GRID = {
    "workload": "bank", "algorithm": "chandy_lamport", "fifo": "yes", "processes": "3..9:2", "topology": "line",
    "delay": "uniform:1:9", "marker_delay": "exponential:2..10:2", "at": "15", "runs": "50", "seed": "0",
    "events": "none",
}  # fmt: skip
PARAMETERS = {"transfers": "30", "pace": "4"}


def make_ensemble(path: Path) -> None:
    """Makes the ensemble in a new folder. Raises InputError if there is no Spark."""
    _make_ensemble(path, Grid.read(GRID, PARAMETERS))


def make_sizing(path: Path) -> None:
    """Makes the ensemble of the simulated check in a new folder. Raises InputError if there is no Spark."""
    _make_ensemble(path, Grid.read(sizing.GRID, sizing.PARAMETERS))


def _make_ensemble(path: Path, grid: Grid) -> None:
    spark = spark_session.session()
    store = Store.create(path, "ensemble", grid.to_json())
    run_ensemble(spark, store, grid)
    _finish(store)


def make_log(path: Path) -> None:
    """Makes the folder of the log. Raises InputError if there is no Spark."""
    store = Store.create(path, "trace", {"files": [LOG_FILE.name], "format": FORM})
    carry_out(spark_session.session(), store, plan([Path(os.path.relpath(LOG_FILE))], FORM))
    _finish(store)


def _finish(store: Store) -> None:
    """Joins the parts of each table, since one process reads an example in one go."""
    tables = {table: store.rows(table).to_table() for table in filter(store.has, TABLES)}
    store.place.remove(GENERATIONS)
    for table, rows in tables.items():
        shutil.rmtree(store.path / table)
        store.write_part(table, "all", rows)
    store.finish()


if __name__ == "__main__":
    for path, make in ((ENSEMBLE, make_ensemble), (SIZING, make_sizing), (LOG, make_log)):
        shutil.rmtree(path, ignore_errors=True)
        make(path)
