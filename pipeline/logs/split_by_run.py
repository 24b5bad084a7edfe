"""Splits an event table into runs: by the column run_id; a table without it is one run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pipeline.logs.format import Piece, check_executions
from sim.core.errors import InputError, brief

SAME = object()  # the run of a row without run_id: that of the row before it


class Record(NamedTuple):
    """Rows of a run: their position in the file from `begin` up to `end`, their line, and why they cannot be read."""

    run: object
    begin: int
    end: int
    line: int
    problem: str | None = None


def pieces_by_run(path: Path, records: Iterable[Record], how: str = "") -> list[Piece]:
    """A piece for each run of a file. Raises InputError if there are no rows, or the rows of a run are not together."""
    first: dict[object, Record] = {}
    last: dict[object, Record] = {}
    problems: dict[object, str] = {}
    current: object = SAME
    for record in records:
        run = current if record.run is SAME else record.run
        if run not in first:
            first[run] = record
            check_executions(len(first), str(path))
        elif run != current:
            raise InputError(
                f"{path}:{record.line}: goes on with run {brief(run)} of line {first[run].line} after another; rows of "
                "a run stand together: sort them by run_id"
            )
        current = run
        last[run] = record
        if record.problem is not None:
            problems.setdefault(run, record.problem)
    if not first:
        raise InputError(f"{path}: has no rows; bring an event table")
    names = [path.stem] if len(first) == 1 else [f"{path.stem} run {run}" for run in first]
    return [
        Piece(
            name, str(path), (str(path.resolve()),), first[run].begin, last[run].end, first[run].line, how,
            problems.get(run),
        )
        for name, run in zip(names, first, strict=True)
    ]  # fmt: skip
