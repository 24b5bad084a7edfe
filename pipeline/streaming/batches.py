"""Carries out a batch of rows that Spark has read: writes them into the tables of the folder, and checks cuts.

Spark reads and parses the files on its workers. The rest of a batch's work is done in one place (foreachBatch), not in
Spark's stateful operators. Those divide the state by key, but a verdict needs the frontiers of all processes and the
messages of all channels, also after recoveries. Their output can only be appended, but a row of the tables changes when
a message is received at last. The work of a batch is small: a thousand rows take about 20 ms.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow

from pipeline.logs.growing import Grown
from pipeline.store.folder import Store
from pipeline.store.lock import FileLock
from pipeline.store.place import writing
from pipeline.store.schema import TRACE_TYPES, arrow_schema
from pipeline.streaming.auditing import audit
from pipeline.streaming.progress_file import FOLDER, LOCK, State, load, set_problem
from pipeline.streaming.run import Run
from pipeline.streaming.source import followed_format
from sim import VERSION
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PATIENCE_S = 30.0  # the time that a batch waits for an earlier one that is still carried out, such as after a restart
_OURS = "followed-"
_STATES: dict[str, State] = {}  # of this process, by the address of the folder


class Batches:
    """The function that Spark calls with each batch and its number; `form` is the format of the logs."""

    def __init__(self, where: Path, form: str) -> None:
        self._where, self._form = where, form

    def __call__(self, rows: DataFrame, batch: int) -> None:
        """Carries out a batch. Raises InputError, and writes its text into the folder."""
        _end_with_spark()
        store, table = Store(self._where), rows.toArrow()
        with alone(store):
            try:
                self.carry_out(store, table, batch)
            except InputError as problem:
                set_problem(store, str(problem))
                raise

    def carry_out(self, store: Store, rows: pyarrow.Table, batch: int) -> None:
        """Carries out a batch, unless it is done already. Raises InputError."""
        state = _STATES.pop(store.address, None)
        on_disk = load(store) if state is None or state.batch != batch - 1 else state
        if batch <= on_disk.batch:
            return
        first = on_disk.read
        touched = _take(on_disk, rows, self._form)
        for run in touched:
            events = on_disk.events[run.key]
            events.add(run.advance(events))
            on_disk.add_verdicts(audit(store, run, events))
            _write_trace(store, run, self._form)
        on_disk.save(batch, first)
        _STATES[store.address] = on_disk  # only after a batch that went well


@cache
def _end_with_spark() -> None:
    """Ends this process, which Spark has started for its batches, once Spark has ended: else it retries for long."""
    spark = os.getppid()

    def watch() -> None:
        while os.getppid() == spark:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def alone(store: Store) -> Iterator[None]:
    """Keeps other processes from carrying out a batch into the folder. Raises InputError if one takes too long."""
    with writing(store.address):
        store.place.make(FOLDER)
    lock, ends = FileLock(store.path / LOCK), time.monotonic() + PATIENCE_S
    while not lock.take():
        if time.monotonic() > ends:
            raise InputError(f"{store.address}: another process is still writing it; stop that one first")
    try:
        yield
    finally:
        lock.free()


def _take(state: State, rows: pyarrow.Table, form: str) -> list[Run]:
    """Adds the rows of a batch to their runs, file by file. Returns these runs. Raises InputError."""
    problems = rows["problem"].drop_null()
    if len(problems):
        raise InputError(problems[0].as_py())
    name_of = followed_format(form).name_of
    files: dict[str, dict[str, list[Grown]]] = {}
    columns = [rows[name].to_pylist() for name in ("file", *Grown._fields)]
    for file, *cells in zip(*columns, strict=True):
        row = Grown(*cells)
        files.setdefault(file, {}).setdefault(row.run, []).append(row)
    touched: dict[str, Run] = {}
    for file, runs in sorted(files.items()):  # Spark's tasks may end in any order
        for key, own in runs.items():
            touched[key] = state.run(key, name_of(key))
            state.read = touched[key].releasing.take(file, own, state.read)
    return list(touched.values())


def _write_trace(store: Store, run: Run, form: str) -> None:
    """Writes the row of a run in the table traces."""
    row = {
        "run_id": run.number, "name": run.name, "source": run.key or run.name, "format": form, "first_line": 1,
        "processes": list(run.members), "events": run.events, "messages": run.messages,
        "unreceived": len(run.open), "pairing": "given", "exact": True, "unknown_channels": [], "gaps": 0,
        "notes": [], "version": VERSION,
    }  # fmt: skip
    name = f"{_OURS}{run.number:06}"
    store.write_part("traces", name, pyarrow.Table.from_pylist([row], arrow_schema(TRACE_TYPES)))


def put_right(store: Store) -> None:
    """Writes the verdicts again if a user has audited other cuts into the folder meanwhile. Raises InputError."""
    known = (_OURS, "empty")
    if all(part.name.startswith(known) for table in ("audits", "channels") for part in store.parts(table)):
        return
    with alone(store):
        state = load(store)
        with store.replacing("audits", "channels"):
            pass
        for run in state.runs.values():
            run.cuts.dirty.update(number for number, one in enumerate(run.cuts.ids) if one is not None)
            audit(store, run, state.events[run.key])
