"""The examples that come with the app are those that this version makes: `make examples` makes them anew."""

from __future__ import annotations

import pytest

from pipeline import examples
from pipeline.cuts import one_execution
from pipeline.ensembles import queries
from pipeline.ensembles.chunks import measured, plan_of
from pipeline.ensembles.run import grid_of
from pipeline.ingest import _read_execution, plan
from pipeline.store import catalog
from pipeline.store.examples import ENSEMBLE, FOLDER, LOG, LOG_FILE, SIZING
from pipeline.store.folder import Store
from pipeline.store.manifest import COMPLETE, FORMAT
from pipeline.store.schema import COSTS
from sim import VERSION
from sim.core.model import Event


def test_an_example_is_whole_and_of_this_version():
    for path in (ENSEMBLE, SIZING, LOG):
        manifest = Store.open(path).manifest
        assert (manifest.format, manifest.version, manifest.status) == (FORMAT, VERSION, COMPLETE), path
        assert (manifest.host, manifest.pid) == (None, None), path


@pytest.mark.slow
@pytest.mark.parametrize("path", [ENSEMBLE, SIZING], ids=lambda path: path.name)
def test_the_runs_are_those_that_this_version_makes(path):
    store = Store.open(path)
    plan = plan_of(store, grid_of(store))
    for run_id in (0, 333, 999):
        (made,), _ = measured(plan, run_id)
        kept = {**queries.run_of(store, run_id, "S1"), "document": made["document"]}
        assert {
            **dict.fromkeys(COSTS),
            "consistent_cut": None,
            **made,
            "has_events": False,
            "engine": kept["engine"],
        } == kept


def test_the_log_is_read_as_this_version_reads_it():
    store = Store.open(LOG)
    (piece,) = plan([LOG_FILE], examples.FORM).pieces
    row, made = _read_execution(examples.FORM, piece, 0)
    assert made is not None
    (kept,) = one_execution.executions(store)
    assert {**row, "source": kept["source"], "problem": None} == kept
    events = [Event(*cells) for cells in zip(*(column.to_pylist() for column in made.columns), strict=True)]
    assert events == one_execution.window(store, 0, 0, len(events) + 1)


def test_the_examples_are_small_and_not_among_what_the_user_keeps():
    assert sum(file.stat().st_size for file in FOLDER.rglob("*")) < 600_000
    assert not {ENSEMBLE, SIZING, LOG} & {entry.path for entry in catalog.entries()}
