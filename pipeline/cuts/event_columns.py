"""Columns of an event table, read with pyarrow, by workers and by the driver; other columns may be missing.

Row groups are chosen by the statistics of their run_ids. Texts are read as dictionaries, so work on a text is done once
for each distinct value. Numbers may have another numeric type, as pandas writes them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, NamedTuple

import numpy
import pyarrow
from numpy.typing import NDArray
from pyarrow import compute, parquet, types

from pipeline.store.folder import Store
from pipeline.store.parquet_files import metadata_of
from pipeline.store.place import Place
from pipeline.store.schema import Types
from sim.core.errors import InputError
from sim.core.model import EVENT_TYPES

DECIDE: Types = {
    name: EVENT_TYPES[name] for name in ("run_id", "process", "index", "kind", "channel", "peer_index", "message_id")
}
BATCH = 1 << 18  # rows: few enough that the columns stay in the processor's cache
LOWEST, HIGHEST = -(2**63), 2**63 - 1  # run_ids

Numbers = NDArray[numpy.int64]


class RowGroup(NamedTuple):
    """A row group of a part of the event table: its file and number there, rows, lowest and highest run_id, place."""

    part: str
    number: int
    rows: int
    first: int
    last: int
    place: Place


def row_groups(store: Store, needed: Types) -> list[RowGroup]:
    """The row groups of a folder's event table, in order. Raises InputError if it lacks one of the columns `needed`."""
    if not store.has("events"):
        raise InputError(f"{store.address}: holds no events; python -m pipeline ensemble or ingest writes them")
    found = []
    for part in store.parts("events"):
        metadata = metadata_of(store.place, part.file)
        _check_columns(f"{store.address}/{part.file}", metadata.schema.to_arrow_schema(), needed)
        column = next(i for i in range(metadata.num_columns) if metadata.schema.column(i).path == "run_id")
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            first, last = _range(group.column(column).statistics)
            found.append(RowGroup(part.file, number, group.num_rows, first, last, store.place))
    return found


def _check_columns(part: str, found: pyarrow.Schema, needed: Types) -> None:
    for name, kind in needed.items():
        if name not in found.names:
            raise InputError(f"{part}: has no column {name!r}; this needs {', '.join(needed)}")
        given = found.field(name).type
        if not fits(given, kind):
            raise InputError(f"{part}: column {name!r} is {given}; it has to be {kind}")


def fits(given: pyarrow.DataType, kind: str) -> bool:
    """Whether a column of type `given` can be read as texts, or as numbers."""
    if types.is_dictionary(given):
        given = given.value_type
    if kind == "string":
        return bool(types.is_null(given) or types.is_string(given) or types.is_large_string(given))
    return bool(types.is_null(given) or types.is_integer(given) or types.is_floating(given))


def _range(statistics: Any) -> tuple[int, int]:
    """The lowest and highest run_id of a row group; LOWEST and HIGHEST if the file lacks them."""
    if statistics is None or not statistics.has_min_max:
        return LOWEST, HIGHEST
    try:
        ends = int(statistics.min // 1), int(-(-statistics.max // 1))
        return min(max(ends[0], LOWEST), HIGHEST), min(max(ends[1], LOWEST), HIGHEST)
    except (TypeError, ValueError, OverflowError):  # such as statistics of texts
        return LOWEST, HIGHEST


def batches(groups: Sequence[RowGroup], columns: Collection[str]) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of row groups in order, a batch at a time, with those of `columns` that are there.

    Raises InputError for a damaged part.
    """
    for (place, part), own in groupby(groups, lambda group: (group.place, group.part)):
        numbers, path = [group.number for group in own], place.inside(part)
        undamaged = _undamaged(f"{place.address}/{part}")
        there = metadata_of(place, part).schema.names
        texts = [name for name in columns if EVENT_TYPES[name] == "string" and name in there]
        with undamaged, parquet.ParquetFile(path, read_dictionary=texts, filesystem=place.filesystem) as file:
            yield from file.iter_batches(BATCH, row_groups=numbers, columns=list(columns), use_threads=False)


@contextmanager
def _undamaged(part: str) -> Iterator[None]:
    """Turns Arrow's exceptions for a damaged part into an InputError."""
    try:
        yield
    except (OSError, pyarrow.ArrowException) as problem:
        words = " ".join(str(problem).split())[:200]
        raise InputError(f"{part}: cannot be read ({words}); bring the log again, or make the folder anew") from None


def numbers_of(rows: pyarrow.RecordBatch | pyarrow.Table, name: str, kind: str, instead: int = 0) -> NDArray[Any]:
    """The numbers in column `name`, as `kind`, with `instead` for nulls. Raises InputError if one does not fit."""
    column, wanted = rows[name], pyarrow.type_for_alias(kind)
    try:
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        column = column.cast(wanted)
    except pyarrow.ArrowException as problem:
        words = " ".join(str(problem).split())[:200]
        raise InputError(f"column {name!r} cannot be read as {kind} ({words}); write whole numbers into it") from None
    if column.null_count:
        column = compute.fill_null(column, pyarrow.scalar(instead, wanted))
    found: NDArray[Any] = column.to_numpy() if isinstance(column, pyarrow.ChunkedArray) else column.to_numpy(False)
    return found


class Texts(NamedTuple):
    """A column of texts: values[codes[i]] is the text of row i; the code -1 stands for null."""

    codes: NDArray[numpy.int32]
    values: list[str]

    def where(self, rows: Numbers) -> Texts:
        """The texts of some rows."""
        return Texts(self.codes[rows], self.values)

    def are(self, text: str) -> NDArray[numpy.bool_]:
        """Whether each row has `text`."""
        code = self.values.index(text) if text in self.values else len(self.values)
        found: NDArray[numpy.bool_] = self.codes == code
        return found


def texts_of(rows: pyarrow.RecordBatch | pyarrow.Table, name: str) -> Texts:
    """The texts in column `name`."""
    column = rows[name]
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    if types.is_null(column.type):
        return Texts(numpy.full(len(column), -1, numpy.int32), [])
    if not types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = column.indices.cast(pyarrow.int32())
    if codes.null_count:
        codes = compute.fill_null(codes, pyarrow.scalar(-1, pyarrow.int32()))
    return Texts(codes.to_numpy(), column.dictionary.to_pylist())


class Names:
    """A numbering of texts in the order of their first use."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self.all = list(known)
        self._codes = {name: code for code, name in enumerate(known)}

    def __len__(self) -> int:
        return len(self.all)

    def code(self, name: str) -> int:
        """The number of a text."""
        code = self._codes.setdefault(name, len(self.all))
        if code == len(self.all):
            self.all.append(name)
        return code

    def codes(self, texts: Texts) -> NDArray[numpy.int32]:
        """The numbers of the texts of a column; -1 for null."""
        own = [-1 if name is None else self.code(name) for name in texts.values]
        return numpy.array([*own, -1], numpy.int32)[texts.codes]


class Segments(NamedTuple):
    """Segments of rows, each of one run: the place of the run in a sorted list of runs (-1: not in it), and rows."""

    places: NDArray[numpy.int32]
    lengths: Numbers

    @property
    def by_row(self) -> NDArray[numpy.int32]:
        """The place of the run of each row."""
        return numpy.repeat(self.places, self.lengths)


def segments(rows: pyarrow.RecordBatch, runs: Numbers) -> Segments:
    """The segments of some rows, by their run_ids. A run_id that is null is in no list."""
    run_ids = numbers_of(rows, "run_id", "int64")
    is_known = rows["run_id"].is_valid().to_numpy(False) if rows["run_id"].null_count else None
    is_first = numpy.ones(len(run_ids), bool)
    is_first[1:] = run_ids[1:] != run_ids[:-1]
    if is_known is not None:
        is_first[1:] |= is_known[1:] != is_known[:-1]
    starts = numpy.flatnonzero(is_first)
    own = run_ids[starts]
    found = numpy.minimum(numpy.searchsorted(runs, own), len(runs) - 1)
    is_there = runs[found] == own
    if is_known is not None:
        is_there &= is_known[starts]
    places = numpy.where(is_there, found, -1).astype(numpy.int32)
    return Segments(places, numpy.diff(starts, append=len(run_ids)))
