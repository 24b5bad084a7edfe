"""A streaming source of Spark: the rows of files that grow, from the end of the last batch on.

Spark's own file source reads a new file once, and never the lines appended later. Here an offset is, for each file, the
byte after the last complete line that was read. So a batch can be read again exactly, and an incomplete line waits.
Files may come at any time, and grow at different speeds. A batch has at most MOST_BYTES, the same share of each file,
so no file runs far ahead of the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from pipeline import formats
from pipeline.logs.format import MOST_EXECUTIONS, Options
from pipeline.logs.growing import GROWN_TYPES, Followed, Grown, can_be_followed, complete_until, texts
from pipeline.store.schema import Types, arrow_schema, spark_schema
from sim.core.errors import InputError

NAME = "growing_logs"
MOST_BYTES = 16_000_000  # of all files in a batch: about 50,000 actions of a cluster, which take two seconds
LEAST_BYTES = 64_000  # of a file
BATCH = 8_192  # rows that a worker sends at a time
_NO_OPTIONS = "options", "{}"
PART_BYTES = 4_000_000  # that a task reads

# `file` is the file of the row; `problem` says why its line cannot be read (null: it can).
SOURCE_TYPES: Types = {"file": "string", **GROWN_TYPES, "problem": "string"}

Offset = dict[str, int]  # by file


def followed_format(form: str) -> Followed:
    """A format that can be followed. Raises InputError for any other."""
    module: object = formats.find(form)
    if can_be_followed(module):
        return module
    can = ", ".join(name for name in formats.names() if can_be_followed(formats.find(name)))
    raise InputError(f"--follow: {form} cannot be followed, since its files are read as a whole; these can: {can}")


def files_of(logs: Sequence[str], pattern: str) -> list[str]:
    """The existing files: those named, and all matching files of named folders and their subfolders."""
    found: dict[str, None] = {}
    for log in logs:
        path = Path(log)
        paths = sorted(path.rglob(pattern)) if path.is_dir() else [path]
        found.update((str(one), None) for one in paths if one.is_file())
    if len(found) > MOST_EXECUTIONS:
        raise InputError(f"{logs[0]}: holds more than {MOST_EXECUTIONS:,} files; follow fewer")
    return list(found)


class GrowingLogs(DataSource):
    """The source, for `spark.readStream.format(NAME)`, with the options `logs`, a list in JSON, and `form`."""

    @classmethod
    def name(cls) -> str:
        """Like Spark's."""
        return NAME

    def schema(self) -> str:
        """Like Spark's."""
        return spark_schema(SOURCE_TYPES)

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        """Like Spark's."""
        most = int(self.options.get("most", MOST_BYTES))
        logs, options = (json.loads(self.options.get(name, default)) for name, default in (("logs", "[]"), _NO_OPTIONS))
        return _Reader(logs, self.options["form"], options, most)


class _Reader(DataSourceStreamReader):
    def __init__(self, logs: Sequence[str], form: str, options: Options, most: int) -> None:
        self._logs, self._form, self._options, self._most = logs, form, options, most

    def initialOffset(self) -> Offset:
        return {}

    def latestOffset(self, start: Offset, limit: object) -> Offset:
        """The ends of the complete lines, as far as one batch may go."""
        module = followed_format(self._form)
        files = files_of(self._logs, module.FILES)
        ahead = {file: size for file in files if (size := _size(file)) > start.get(file, 0)}
        share = max(LEAST_BYTES, self._most // max(1, len(ahead)))
        ends = {file: _end(module, file, start.get(file, 0), share, self._options) for file in ahead}
        return {**start, **{file: end for file, end in ends.items() if end > start.get(file, 0)}}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The tasks, about one for each core: files are grouped until a task has enough to read."""
        tasks: list[list[tuple[str, int, int]]] = []
        room = 0
        for file, until in sorted(end.items()):
            begin = start.get(file, 0)
            if until > begin:
                if room <= 0:
                    tasks.append([])
                    room = PART_BYTES
                tasks[-1].append((file, begin, until))
                room -= until - begin
        return [InputPartition(task) for task in tasks]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """The rows of a task. A row reports a problem, since Spark would retry after an error."""
        module = followed_format(self._form)
        for file, begin, end in partition.value:
            found = _rows(module, file, begin, end, self._options)
            while some := list(islice(found, BATCH)):
                columns = zip(*some, strict=True)
                arrays = [
                    pyarrow.array(column, own.type)
                    for column, own in zip(columns, arrow_schema(SOURCE_TYPES), strict=True)
                ]
                yield pyarrow.RecordBatch.from_arrays(arrays, schema=arrow_schema(SOURCE_TYPES))


def _size(file: str) -> int:
    try:
        return Path(file).stat().st_size
    except OSError:  # it is gone
        return 0


def _end(module: Followed, file: str, begin: int, most: int, options: Options) -> int:
    """The end of the last complete record, as far as a batch may go. A later batch may read an unreadable file."""
    path = Path(file)
    try:
        end = complete_until(path, begin, most)
        complete = getattr(module, "complete", None)
        if complete is None or end == begin:
            return end
        lines = list(texts(path, begin, end))
        count = complete(lines, path, options)
        return lines[count].begin if count < len(lines) else end
    except OSError:
        return begin
    except InputError:
        return end  # reading it will report the problem


def _rows(module: Followed, file: str, begin: int, end: int, options: Options) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of some lines of a file, as in SOURCE_TYPES; after an error, the last row has the problem."""
    path = Path(file)
    try:
        for row in module.rows(texts(path, begin, end), path, options):
            yield (file, *row, None)
    except (InputError, OSError) as problem:
        said = str(problem) if isinstance(problem, InputError) else f"{file}: cannot be read ({problem.strerror})"
        nothing = Grown(end, "", "", None, "", None, None, None, None, None, None, None, None, None)
        yield (file, *nothing, said)
