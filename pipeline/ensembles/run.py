"""Carries out the runs of a grid on Spark's workers; a task is a chunk of runs (pipeline/ensembles/chunks.py)."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow

from pipeline.ensembles.chunks import Plan, carry_out, plan_of, run_ids_of
from pipeline.ensembles.compacting import compact
from pipeline.ensembles.grid import Grid
from pipeline.spark.interrupting import interrupted_by
from pipeline.spark.kinds import kind_of
from pipeline.spark.losses import in_one_sentence
from pipeline.spark.progress import Progress, silent
from pipeline.spark.reaching import check_reach
from pipeline.spark.restarting import carried_out
from pipeline.store.folder import Store
from pipeline.store.manifest import COMPLETE, ENSEMBLE, STOPPED
from pipeline.store.schema import Types, arrow_schema, spark_schema
from pipeline.store.tables import not_seen
from sim import SAME_RUNS, VERSION
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def grid_of(store: Store) -> Grid:
    """The grid of an ensemble that is to be resumed. Raises InputError if this version cannot resume it."""
    manifest = store.manifest
    if manifest is None or manifest.kind != ENSEMBLE:
        raise InputError(f"{store.address}: holds no ensemble; name a folder that ensemble has begun")
    if manifest.version not in SAME_RUNS:
        raise InputError(
            f"{store.address}: was begun by version {manifest.version}, whose runs may differ from those of this one "
            f"({VERSION}); go on with that one, or begin anew in another folder"
        )
    return Grid.from_json(manifest.about)


def run_ensemble(
    spark: SparkSession,
    store: Store,
    grid: Grid,
    progress: Progress = silent,
    stop: threading.Event | None = None,
) -> None:
    """Carries out the missing runs of `grid` in `store`, until all are done or `stop` is set; the status says which.

    `progress` counts runs. Raises InputError for an invalid grid, for a folder that cannot be written or that another
    process writes, and if Spark fails; SparkLost if Spark has ended. Finished chunks are kept.
    """
    plan = plan_of(store, grid)
    with _being_written(store, plan):
        _run_missing(spark, store, plan, progress, stop)


def complete_ensemble(
    store: Store,
    grid: Grid,
    progress: Progress = silent,
    stop: threading.Event | None = None,
    session: SparkSession | None = None,
) -> None:
    """Does the work of `run_ensemble` with the Spark of `carried_out`, and goes on with a new Spark if that is lost.

    The folder is running and locked meanwhile, even while Spark starts again. Raises InputError like `run_ensemble`.
    """
    plan = plan_of(store, grid)
    with _being_written(store, plan):
        carried_out(lambda spark, report: _run_missing(spark, store, plan, report, stop), progress, stop, session)


@contextmanager
def _being_written(store: Store, plan: Plan) -> Iterator[None]:
    """In the block the folder is running; afterwards it is complete or stopped."""
    store.mark_running()
    try:
        yield
    except BaseException:
        with suppress(InputError):  # such as a full disk: the first exception reports it
            store.finish(STOPPED)
        raise
    store.finish(STOPPED if _undone(store, plan) else COMPLETE)


def _run_missing(
    spark: SparkSession, store: Store, plan: Plan, progress: Progress, stop: threading.Event | None
) -> None:
    """Carries out the missing chunks until `stop` is set. When all are done, it joins and sums up the runs."""
    check_reach(spark, store.place)
    chunks, total = _undone(store, plan), plan.run_count
    done = total - sum(len(plan.run_ids(chunk)) for chunk in chunks)
    progress(done, total)
    for runs in run_on_workers(spark, plan, chunks, stop or threading.Event()):
        done += runs
        progress(done, total)
    if done == total:
        if lost := _undone(store, plan):
            raise InputError(f"{store.address}: {not_seen(len(lost))}")
        _tidy_up(spark, store, stop or threading.Event())


def _tidy_up(spark: SparkSession, store: Store, stop: threading.Event) -> None:
    """Joins the parts and sums up the runs, unless `stop` is set."""
    from pipeline.ensembles.summaries import summarize  # imports PySpark, which is slow

    kept = "; all runs are kept: go on later (--resume)"
    try:
        with in_one_sentence(spark, f"{store.address}: ", kept), interrupted_by(stop, spark):
            compact(spark, store)
            summarize(spark, store)
    except InputError:
        if not stop.is_set():
            raise


def is_done(store: Store, grid: Grid) -> bool:
    """Whether every run of `grid` is in `store`, and nothing is left to do. Raises InputError for an invalid grid."""
    return store.status == COMPLETE and store.has("sample") and not _undone(store, plan_of(store, grid))


def _undone(store: Store, plan: Plan) -> list[int]:
    """The chunks whose runs are in no part, neither in one of their own nor in a joined one."""
    ends = {ids.start: ids.stop for ids in (run_ids_of(part.name) for part in store.parts("runs"))}
    missing, end = [], 0
    for chunk in range(plan.chunk_count):
        ids = plan.run_ids(chunk)
        end = max(end, ends.get(ids.start, 0))
        if end < ids.stop:
            missing.append(chunk)
    return missing


def run_on_workers(spark: SparkSession, plan: Plan, chunks: Sequence[int], stop: threading.Event) -> Iterator[int]:
    """The number of runs of each chunk, as soon as it is done, in order. Ends early when `stop` is set."""
    if not chunks or stop.is_set():
        return
    assert plan.into is not None
    work = partial(_run_task, plan, chunks)
    kept = "; what was finished is kept: go on later (--resume)"
    try:
        with in_one_sentence(spark, f"{plan.into.place.address}: ", kept), interrupted_by(stop, spark):
            for result in kind_of(spark).results(work, len(chunks), spark_schema(_RESULT_TYPES)):
                if result.problem is not None:
                    raise InputError(result.problem)
                yield result.runs
    except InputError:
        if not stop.is_set():
            raise


# ------------------------------------------------------------------ on a worker

_RESULT_TYPES: Types = {"runs": "int64", "problem": "string"}  # a row for each chunk; problem: why it cannot be written


def _run_task(plan: Plan, chunks: Sequence[int], batches: Iterator[pyarrow.RecordBatch]) -> Iterator[Any]:
    """Carries out the chunks in `batches`. Results report problems, since Spark would retry after an error."""
    gc.freeze()  # Spark collects garbage after each task; this keeps the imported modules out of it
    for chunk in (chunks[index] for batch in batches for index in batch.column(0).to_pylist()):
        result: dict[str, list[Any]] = {"runs": [len(plan.run_ids(chunk))], "problem": [None]}
        try:
            carry_out(plan, chunk)
        except InputError as problem:
            result["problem"] = [str(problem)]
        yield pyarrow.RecordBatch.from_pydict(result, arrow_schema(_RESULT_TYPES))
