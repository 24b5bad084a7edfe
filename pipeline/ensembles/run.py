"""Carries out every run of a grid on Spark's workers; a task is a chunk of runs (pipeline/ensembles/chunks.py)."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow

from pipeline.ensembles.chunks import Plan, carry_out, plan_of
from pipeline.ensembles.grid import Grid
from pipeline.spark.interrupting import interrupted_by
from pipeline.spark.progress import Progress, silent
from pipeline.store.folder import Store
from pipeline.store.schema import Types, arrow_schema, spark_schema
from sim import VERSION
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def grid_of(store: Store) -> Grid:
    """The grid of an ensemble that was begun, to go on with. Raises InputError where that cannot be."""
    manifest = store.manifest
    if manifest.get("kind") != "ensemble":
        raise InputError(f"{store.path}: holds no ensemble; name a folder that ensemble has begun")
    if manifest["version"] != VERSION:
        raise InputError(
            f"{store.path}: was begun by version {manifest['version']}, whose runs may differ from those of this one "
            f"({VERSION}); go on with that one, or begin anew in another folder"
        )
    return Grid.from_json(manifest["about"])


def run_ensemble(
    spark: SparkSession,
    store: Store,
    grid: Grid,
    progress: Progress = silent,
    stop: threading.Event | None = None,
) -> None:
    """Carry out what is not yet done of `grid` in `store`, until all is done or `stop` is set: the manifest says which.

    `progress` counts runs. Raises InputError for a grid that makes no sense, a folder that cannot be written or is
    at work already, or where Spark gives up; what was finished by then is kept.
    """
    if store.status == "running" and store.manifest.get("pid") != os.getpid():
        raise InputError(f"{store.path}: is being written by another process; stop that one first")
    plan = plan_of(store, grid)
    chunks = _undone(store, plan)
    done = grid.run_count - sum(len(plan.run_ids(chunk)) for chunk in chunks)
    progress(done, grid.run_count)
    store.mark_running()
    try:
        for runs in _answers(spark, plan, chunks, stop or threading.Event()):
            done += runs
            progress(done, grid.run_count)
    except BaseException:
        with suppress(OSError, InputError):  # of a full disk: what is wrong has been said
            store.finish("stopped")
        raise
    store.finish("stopped" if _undone(store, plan) else "complete")


def is_done(store: Store, grid: Grid) -> bool:
    """Whether every run of `grid` is in `store`. Raises InputError for a grid that makes no sense."""
    return not _undone(store, plan_of(store, grid))


def _undone(store: Store, plan: Plan) -> list[int]:
    committed = {part.stem for part in store.parts("runs")}
    return [chunk for chunk in range(plan.chunk_count) if plan.part(chunk) not in committed]


def _answers(spark: SparkSession, plan: Plan, chunks: Sequence[int], stop: threading.Event) -> Iterator[int]:
    """How many runs each chunk had, as they are done in order; ends when all are, or when `stop` is set."""
    from pyspark.errors import PySparkException

    if not chunks or stop.is_set():
        return
    work = partial(_carry_out_all, plan, chunks)
    frame = spark.range(0, len(chunks), 1, len(chunks)).mapInArrow(work, spark_schema(_ANSWER))
    try:
        with interrupted_by(stop, spark):
            for answer in frame.toLocalIterator():
                if answer.problem is not None:
                    raise InputError(answer.problem)
                yield answer.runs
    except PySparkException as problem:
        if not stop.is_set():
            words = " ".join(str(problem).split())[:200]
            raise InputError(
                f"{plan.path}: Spark gave up ({words}); what was finished is kept, and --resume completes it"
            ) from None


# ------------------------------------------------------------------ on a worker

_ANSWER: Types = {"runs": "int64", "problem": "string"}  # to each chunk: how many runs it had, and what went wrong


def _carry_out_all(plan: Plan, chunks: Sequence[int], batches: Iterator[pyarrow.RecordBatch]) -> Iterator[Any]:
    """What a task does: its rows are places in `chunks`. A bad place for data is told at once, not tried again."""
    gc.freeze()  # Spark collects garbage after each task: it need not look at all the modules there are
    for batch in batches:
        for place in batch.column(0).to_pylist():
            answer: dict[str, list[Any]] = {"runs": [len(plan.run_ids(chunks[place]))], "problem": [None]}
            try:
                carry_out(plan, chunks[place])
            except InputError as problem:
                answer["problem"] = [str(problem)]
            yield pyarrow.RecordBatch.from_pydict(answer, arrow_schema(_ANSWER))
