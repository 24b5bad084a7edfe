"""Ingest: reads foreign logs into the event table of a data folder.

A format (pipeline/formats) finds the executions in the files. Workers read one execution at a time and write parts
under hidden names, which become the event table when all executions are read. If anything fails before that, the data
folder is removed: it never holds half a log. An execution with contradictions ends the ingest; with `quarantine` it is
set aside instead.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow

from pipeline import formats
from pipeline.logs.copies import copied, fetched
from pipeline.logs.format import NEVER, NO_OPTIONS, Options, Piece, Reading, check_executions
from pipeline.spark import session as spark_session
from pipeline.spark.interrupting import interrupted_by
from pipeline.spark.kinds import kind_of
from pipeline.spark.losses import in_one_sentence
from pipeline.spark.progress import Progress, silent
from pipeline.spark.reaching import check_reach
from pipeline.store.folder import Store
from pipeline.store.schema import TRACE_TYPES, arrow_schema, spark_schema
from pipeline.store.tables import Replacement, Written
from sim import VERSION
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_SIZE = 8_000_000  # bytes of text in a task of several executions
MOST_PIECES = 250  # executions in a task
MOST_TASKS = 4_096
MOST_ROWS = 1_000_000  # rows that a worker holds before it writes them
PATIENCE_S = 1.0  # the time for which workers of a Spark that has ended may still write into the folder

Row = dict[str, Any]
# failure: why the worker cannot write (null: it can); part: the part of events that it has written after this execution
# (null: none); rows: their number in that part.
_RESULT_TYPES = {**TRACE_TYPES, "failure": "string", "part": "string", "rows": "int64"}


class Plan(NamedTuple):
    """The executions to read, in order: pieces[i] gets run_id i. `form` is the name of their format.

    If `copies`, the paths of the pieces name copies in the data folder (pipeline/logs/copies.py).
    """

    form: str
    pieces: list[Piece]
    quarantine: bool
    copies: bool = False

    def tasks(self) -> list[range]:
        """The executions of each task, by run_id."""
        found: list[range] = []
        least = -(-len(self.pieces) // MOST_TASKS)
        begin, size = 0, 0
        for number, piece in enumerate(self.pieces):
            size += piece.end - piece.begin
            count = number + 1 - begin
            if (size >= MOST_SIZE or count == MOST_PIECES) and count >= least:
                found.append(range(begin, number + 1))
                begin, size = number + 1, 0
        return [*found, range(begin, len(self.pieces))] if begin < len(self.pieces) else found


def plan(
    files: Sequence[Path],
    form: str,
    options: Options = NO_OPTIONS,
    *,
    quarantine: bool = False,
    stop: threading.Event = NEVER,
) -> Plan:
    """Finds the executions in `files`, in the order of the files.

    Raises InputError for bad files or options, or when `stop` is set.
    """
    module = formats.find(form)
    formats.check_options(form, options)
    if not files:
        raise InputError(f"no log is named; give the paths of {module.TITLE}")
    found = Plan(form, list(module.pieces(files, options, stop)), quarantine)
    check_executions(len(found.pieces), ", ".join(map(str, files)))
    for piece in found.pieces:
        if piece.problem is not None and not quarantine:
            raise InputError(piece.problem)
    return found


def carry_out(
    spark: SparkSession, store: Store, todo: Plan, progress: Progress = silent, stop: threading.Event = NEVER
) -> list[Row]:
    """Reads the executions of `todo` into `store`, a new folder: its events and traces. Returns the rows of traces.

    `progress` counts executions. Raises InputError for the first problem, SparkLost if Spark has ended, or when `stop`
    is set, and then removes the folder.
    """
    with _all_or_nothing(store):
        check_reach(spark, store.place)
        rows: list[Row] = []
        with store.replacing("events") as new, _for_workers(spark, store, todo) as own:
            progress(0, len(todo.pieces))
            for row in _read_on_workers(spark, store, new, own, stop):
                rows.append(row)
                progress(len(rows), len(todo.pieces))
            rows.sort(key=lambda row: int(row["run_id"]))
            if all(row["problem"] is not None for row in rows):
                raise InputError(rows[0]["problem"])
        store.write_part("traces", "traces", pyarrow.Table.from_pylist(rows, arrow_schema(TRACE_TYPES)))
        store.finish()
    return rows


@contextmanager
def _for_workers(spark: SparkSession, store: Store, todo: Plan) -> Iterator[Plan]:
    """The plan with logs that workers can read: those on this machine, or copies of them."""
    if spark_session.is_own(spark):
        yield todo
        return
    with copied(store.place, todo.pieces) as pieces:
        yield todo._replace(pieces=pieces, copies=True)


@contextmanager
def _all_or_nothing(store: Store) -> Iterator[None]:
    """Removes the data folder if the block raises an exception."""
    try:
        yield
    except BaseException:
        with suppress(InputError):  # the folder stays: the page History says so, and can delete it
            _delete(store)
        raise


def _delete(store: Store) -> None:
    """Removes the data folder, if need be once no worker writes into it any more. Raises InputError if it stays."""
    ends = time.monotonic() + PATIENCE_S
    while True:
        try:
            return store.delete()
        except InputError:
            if time.monotonic() > ends:
                raise
        time.sleep(0.05)


def _read_on_workers(
    spark: SparkSession, store: Store, new: Replacement, todo: Plan, stop: threading.Event
) -> Iterator[Row]:
    """Yield the rows of traces, each as soon as its execution is read; parts of events are kept in `new`.

    Raises InputError for the first execution that is refused.
    """
    tasks = todo.tasks()
    work = partial(_run_task, store, new, todo, tasks)
    kept = "; nothing is kept, so bring the log again"
    try:
        with in_one_sentence(spark, f"{store.address}: ", kept), interrupted_by(stop, spark):
            for result in kind_of(spark).results(work, len(tasks), spark_schema(_RESULT_TYPES)):
                row = result.asDict()
                problem = row.pop("failure") or (None if todo.quarantine else row["problem"])
                if problem is not None:
                    raise InputError(problem)
                if (part := row.pop("part")) is not None:
                    new.keep(Written("events", part, row.pop("rows")))
                yield {name: row[name] for name in TRACE_TYPES}
    except InputError:
        if stop.is_set():
            raise InputError(f"{store.address}: it was stopped{kept}") from None
        raise


# ------------------------------------------------------------------ on a worker


def _run_task(
    store: Store, new: Replacement, todo: Plan, tasks: Sequence[range], batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """Reads the executions of the tasks in `batches`. Rows report problems, since Spark would retry after an error."""
    gc.disable()  # reading makes no cycles, and the collector would scan millions of events again and again
    try:
        for task in (index for batch in batches for index in batch.column(0).to_pylist()):
            for row in _read_executions(store, new, todo, tasks[task]):
                yield pyarrow.RecordBatch.from_pylist([row], arrow_schema(_RESULT_TYPES))
    finally:
        gc.enable()


def _read_executions(store: Store, new: Replacement, todo: Plan, run_ids: range) -> Iterator[Row]:
    """Reads executions one at a time, writes their events, and yields a row (_RESULT_TYPES) for each."""
    pieces = todo.pieces[run_ids.start : run_ids.stop]
    with fetched(store.place, pieces) if todo.copies else nullcontext(pieces) as own:
        yield from _read_pieces(store, new, todo.form, own, run_ids)


def _read_pieces(store: Store, new: Replacement, form: str, pieces: Sequence[Piece], run_ids: range) -> Iterator[Row]:
    held: list[pyarrow.Table] = []
    first = run_ids[0]
    for run_id, piece in zip(run_ids, pieces, strict=True):
        row, events = _read_execution(form, piece, run_id)
        if events is not None:
            held.append(events)
        if run_id == run_ids[-1] or sum(len(events) for events in held) >= MOST_ROWS:
            try:
                row |= _write(store, new, f"runs-{first:08}-{run_id:08}", held)
            except InputError as problem:
                row["failure"] = str(problem)
            held, first = [], run_id + 1
        yield row


def _write(store: Store, new: Replacement, name: str, held: Sequence[pyarrow.Table]) -> Row:
    """Writes one part, unless the folder was removed because the ingest has ended. Returns its name and rows."""
    if not held:
        return {}
    if store.manifest is None:
        raise InputError(f"{store.address}: was removed, or workers do not see it; bring the log again")
    written = new.write_part("events", name, pyarrow.concat_tables(held))
    if store.manifest is None:  # removed a moment ago: a storage would keep the part for ever
        new.take_back(written)
        return {}
    return {"part": written.name, "rows": written.rows}


def _read_execution(form: str, piece: Piece, run_id: int) -> tuple[Row, pyarrow.Table | None]:
    """An execution's row of traces, and its events; None instead of events if it is refused."""
    row: Row = {
        "run_id": run_id, "name": piece.name, "source": piece.source, "format": form, "first_line": piece.first_line,
        "version": VERSION,
    }  # fmt: skip
    try:
        if piece.problem is not None:
            raise InputError(piece.problem)
        found = formats.find(form).read(piece)
        _check_processes(piece, found)
    except InputError as problem:
        return {**row, "problem": str(problem)}, None
    row |= {
        "processes": found.processes, "events": found.count, "messages": found.messages, "unreceived": found.unreceived,
        "pairing": found.pairing, "exact": found.exact, "unknown_channels": found.unknown_channels, "gaps": found.gaps,
        "notes": found.notes,
    }  # fmt: skip
    return row, found.events.set_column(0, "run_id", pyarrow.repeat(pyarrow.scalar(run_id), found.events.num_rows))


def _check_processes(piece: Piece, found: Reading) -> None:
    if len(found.processes) < 2:
        whose = f"are of {found.processes[0]!r} alone" if found.processes else "are of no process"
        raise InputError(
            f"{piece.source}:{piece.first_line}: all {found.count} events {whose}, so no process sends to "
            "another; bring the logs of the other processes as well"
        )
