"""The tables of a data folder, and their replacement: complete tables, several at once, on any storage.

A new table is a new generation: its parts lie beside the old ones, under hidden names that end with the name of the
generation. `_tables.json` says which generation of each table counts. Writing that file is the one step that replaces
tables, and it is atomic on every storage. After it new parts get names that are not hidden, and old ones are removed,
for readers that know nothing of generations. A process that is killed before that step has changed nothing. If it is
killed later, the tables are replaced, and the next replacement in the folder does the remaining renaming and removing.

A table that was never replaced has no generation: its parts are all files there that are not hidden.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import NamedTuple

import pyarrow
from pyarrow import fs, parquet

from pipeline.store.parquet_files import metadata_of
from pipeline.store.place import HIDDEN, Place, writing
from pipeline.store.schema import TABLES, arrow_schema
from sim.core.errors import InputError

GENERATIONS = f"{HIDDEN}tables.json"
MOST_BYTES = 100_000
REPLACING = f"{HIDDEN}replacing"  # the lock of processes that write GENERATIONS
PATIENCE_S = 60.0  # the time that they wait for each other
ABANDONED_S = 86_400.0  # after which parts that were not put in place are removed
_GENERATION = re.compile(r"\.g[0-9a-f]{8}$")
_SUFFIX = ".parquet"
_AT_ONCE = 16  # calls of a storage


class Part(NamedTuple):
    """A part of a table: its name, and its file in the place of the data folder."""

    name: str
    file: str


class Written(NamedTuple):
    """A worker's report of a written part: its table and name, and its number of rows."""

    table: str
    name: str
    rows: int


class Replacement:
    """A new generation of some tables. Workers get it and write parts; the driver keeps their reports."""

    def __init__(self, place: Place, tables: Sequence[str], generation: str) -> None:
        self.place = place
        self.tables = tuple(tables)
        self.generation = generation
        self.kept: set[Written] = set()

    def __reduce__(self) -> tuple[type[Replacement], tuple[Place, Sequence[str], str]]:
        return Replacement, (self.place, self.tables, self.generation)

    def write_part(self, table: str, name: str, rows: pyarrow.Table) -> Written:
        """Writes or replaces a part. Raises InputError if it cannot be written."""
        with writing(f"{self.place.address}/{table}"):
            return write_parquet(self.place, table, name, self.file(table, name), rows)

    def take_back(self, written: Written) -> None:
        """Removes a part that was written. Raises InputError if it cannot be removed."""
        with writing(f"{self.place.address}/{written.table}"):
            self.place.remove(self.file(written.table, written.name))

    def keep(self, written: Written) -> None:
        """Keeps a part for the new table. Parts that are not kept are removed in the end."""
        self.kept.add(written)

    def file(self, table: str, name: str) -> str:
        """The file of a part until it is put in place."""
        return f"{table}/{HIDDEN}{name}.{self.generation}{_SUFFIX}"


class Addition:
    """More parts for the tables of a place as they are now; workers get it.

    A worker that writes after the tables have been replaced adds nothing to the new ones.
    """

    def __init__(self, place: Place, generations: Mapping[str, str]) -> None:
        self.place = place
        self._generations = dict(generations)

    def write_part(self, table: str, name: str, rows: pyarrow.Table) -> Written:
        """Writes or replaces a part. Raises InputError if it cannot be written."""
        generation = self._generations.get(table)
        ending = "" if generation is None else f".{generation}"
        with writing(f"{self.place.address}/{table}"):
            return write_parquet(self.place, table, name, f"{table}/{name}{ending}{_SUFFIX}", rows)


class Tables:
    """The tables at a place."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def parts(self, table: str) -> list[Part]:
        """The finished parts of a table, sorted by name. Raises OSError."""
        return self._parts(table, self._generations().get(table))

    def adding(self) -> Addition:
        """An addition to the present generations. Raises OSError."""
        return Addition(self.place, self._generations())

    def begin(self, tables: Sequence[str]) -> Replacement:
        """A new generation of `tables`."""
        return Replacement(self.place, tables, f"g{secrets.token_hex(4)}")

    def put_in_place(self, new: Replacement) -> None:
        """Replaces the tables of `new`. Raises OSError, and InputError if kept parts are missing."""
        for table in set(new.tables) - {written.table for written in new.kept}:
            new.keep(new.write_part(table, "empty", arrow_schema(TABLES[table]).empty_table()))
        self._check(new)
        with self._alone():
            known = {**self._generations(), **dict.fromkeys(new.tables, new.generation)}
            self.place.write(GENERATIONS, lambda file: file.write(json.dumps(known).encode()))
            with suppress(OSError):  # the tables are replaced; the next replacement removes the rest
                self._tidy(known)

    def give_up(self, new: Replacement) -> None:
        """Removes the parts of `new`, unless it counts by now: a process that is stopped late has replaced tables."""
        with suppress(OSError, InputError):
            if new.generation in self._generations().values():
                return
            for table in new.tables:
                for part in self._parts(table, new.generation):
                    self.place.remove(part.file)
                self.place.unmake(table)

    # ------------------------------------------------------------------ generations

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keeps other processes from replacing tables here in the block. Raises InputError if one takes too long."""
        lock, ends = self.place.lock(REPLACING), time.monotonic() + PATIENCE_S
        while not lock.take():
            if time.monotonic() > ends:
                raise InputError(f"{self.place.address}: another process replaces its tables; try again later")
        try:
            yield
        finally:
            lock.free()

    def _generations(self) -> dict[str, str]:
        """The generation of each table that was ever replaced. Raises OSError; InputError if the file is damaged."""
        try:
            found = json.loads(self.place.read(GENERATIONS, MOST_BYTES))
            if isinstance(found, dict) and all(_GENERATION.fullmatch(f".{one}") for one in found.values()):
                return found
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError):
            pass
        raise InputError(
            f"{self.place.address}/{GENERATIONS}: does not say which tables count; restore it, or delete the folder"
        )

    def _parts(self, table: str, generation: str | None) -> list[Part]:
        found: dict[str, Part] = {}
        for name, file in self._files(table):
            if generation is None:
                if file[0] not in "._" and not _GENERATION.search(name):
                    found[name] = Part(name, f"{table}/{file}")
            elif name.endswith(f".{generation}"):
                own = name.removesuffix(f".{generation}").removeprefix(HIDDEN)
                if own not in found or file[0] != HIDDEN:  # a storage renames by copying: for a moment both exist
                    found[own] = Part(own, f"{table}/{file}")
        if not found and generation is None and self._is_file(table):
            return [Part(table, table)]
        return sorted(found.values())

    def _files(self, table: str) -> Iterator[tuple[str, str]]:
        """The Parquet files in the folder of a table: name without suffix, and file."""
        for file in self.place.names(table):
            if file.endswith(_SUFFIX):
                yield file.removesuffix(_SUFFIX), file

    def _is_file(self, table: str) -> bool:
        found = self.place.filesystem.get_file_info(self.place.inside(table))
        return bool(found.type == fs.FileType.File)

    def _check(self, new: Replacement) -> None:
        """Raises InputError unless every kept part exists with all of its rows. Removes other parts."""
        there = {(table, part.name): part for table in new.tables for part in self._parts(table, new.generation)}
        kept = {(written.table, written.name): written for written in new.kept}
        for key in there.keys() - kept.keys():
            self.place.remove(there[key].file)
        missing = [key for key in kept if key not in there]
        if missing:
            raise InputError(f"{self.place.address}: {not_seen(len(missing))}")

        def check(key: tuple[str, str]) -> None:
            found = metadata_of(self.place, there[key].file).num_rows
            if found != kept[key].rows:
                words = f"{'/'.join(key)} has {found} rows and should have {kept[key].rows}; try again"
                raise InputError(f"{self.place.address}: {words}")

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(check, kept))

    def _tidy(self, generations: Mapping[str, str]) -> None:
        """Renames the parts that count, so that they are not hidden, then removes older ones."""
        for table, generation in generations.items():
            files = self.place.names(table)
            ending = f".{generation}{_SUFFIX}"
            for file in files:
                if file.endswith(ending) and file[0] == HIDDEN:
                    self.place.rename(f"{table}/{file}", f"{table}/{file.removeprefix(HIDDEN)}")
            for file in files:
                is_old = file[0] != HIDDEN and file.endswith(_SUFFIX) and not file.endswith(ending)
                if is_old or (file[0] == HIDDEN and self._is_abandoned(f"{table}/{file}")):
                    self.place.remove(f"{table}/{file}")

    def _is_abandoned(self, file: str) -> bool:
        found = self.place.filesystem.get_file_info(self.place.inside(file))
        return found.mtime_ns is not None and time.time() - found.mtime_ns / 1e9 > ABANDONED_S


def write_parquet(place: Place, table: str, name: str, file: str, rows: pyarrow.Table) -> Written:
    """Writes a part of a table. Raises OSError."""
    place.make(table)
    place.write(file, lambda opened: parquet.write_table(rows, opened))
    return Written(table, name, rows.num_rows)


def not_seen(parts: int) -> str:
    """The error for parts that workers have written and this machine does not see."""
    return (
        f"workers have written {parts} parts that are not here; name a folder that this machine and all workers share, "
        "or a storage address, such as s3://bucket/name"
    )
