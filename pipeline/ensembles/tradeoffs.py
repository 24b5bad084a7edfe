"""The table of trade-offs: what each algorithm costs on the same systems, by the runs of an ensemble."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median_low
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.ensembles.chunks import measured, plan_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.run import run_on_workers
from pipeline.ensembles.tradeoff_grids import CYCLE, ONE_NODE, RECOVERY, SHAPES, Asked, Part, Where, parts_of, run_count
from pipeline.spark.progress import Progress, silent
from pipeline.store.folder import Store
from pipeline.store.manifest import ENSEMBLE
from pipeline.store.place import Place
from pipeline.store.schema import COSTS, RUN_TYPES
from sim import VERSION
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.run.snapshots import COMPLETE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = Mapping[str, Any]

OF_RECOVERIES = ("recovery_time", "rolled_back", "put_back")
FIGURES = ("recorded_messages", "recorded_bytes", "markers", "messages", *COSTS, *OF_RECOVERIES)


class Figure(NamedTuple):
    """What was measured in a column: the median, the least and the most, and the run whose value is the median."""

    median: float
    least: float
    most: float
    typical: Where


class Group(NamedTuple):
    """The medians, by column, of the runs with one delay of markers, or with one pace of writing."""

    marker_delay: str
    pace: float
    medians: Mapping[str, float]


class Tried(NamedTuple):
    """How an algorithm did on a topology: how many runs there were, in how many the snapshot was complete and no check
    failed, in how many it was a consistent cut; the median of the messages recorded; a typical run. Or why it was
    refused."""

    runs: int = 0
    right: int = 0
    consistent: int = 0
    recorded: float = 0.0
    typical: Where | None = None
    refused: str | None = None


@dataclass(frozen=True)
class Measured:
    """What was measured of one algorithm.

    `on` is the topology of its `figures` and `groups`; those of recoveries are from runs of their own. `tried` is by
    topology. `no_recovery` says why no recovery was carried out.
    """

    algorithm: str
    on: str
    needs_fifo: bool
    figures: Mapping[str, Figure]
    groups: Sequence[Group]
    tried: Mapping[str, Tried]
    no_recovery: str | None = None

    def median(self, column: str) -> float | None:
        """The median of a column (None: not measured)."""
        found = self.figures.get(column)
        return None if found is None else found.median


@dataclass(frozen=True)
class Table:
    """What all runs of a grid have said, by algorithm.

    `compared_on` is the topology of the figures of most algorithms, `runs` the number of all runs.
    """

    asked: Asked
    compared_on: str
    rows: Mapping[str, Measured]
    runs: int
    version: str = field(default=VERSION)

    def to_json(self) -> str:
        """This table as JSON, for `table_from_json`."""
        return json.dumps(asdict(self), separators=(",", ":")) + "\n"


def table_of(asked: Asked, found: Iterable[tuple[Part, Sequence[Row]]]) -> Table:
    """The table of all parts, each with the rows of its runs."""
    parts = list(found)
    on = compared_on(asked, [part for part, _ in parts])
    names = dict.fromkeys(part.algorithm for part, _ in parts)
    rows = {name: _measured(name, on, [own for own in parts if own[0].algorithm == name]) for name in names}
    return Table(asked, on, rows, run_count(part for part, _ in parts))


def compared_on(asked: Asked, parts: Iterable[Part]) -> str:
    """The topology that most algorithms accept, of several the last one of the list."""
    accepted = [part.topology for part in parts if part.kind == SHAPES and part.grid is not None]
    return max(reversed(asked.topologies), key=accepted.count)


def _measured(name: str, on: str, parts: Sequence[tuple[Part, Sequence[Row]]]) -> Measured:
    by_place = {(part.kind, part.topology): (part, rows) for part, rows in parts}
    alone = [own for own in parts if own[0].kind == ONE_NODE]
    tried = {part.topology: _tried(part, rows) for part, rows in parts if part.kind in (SHAPES, CYCLE)}
    main = (alone or [by_place[SHAPES, on]])[0]
    if main[0].grid is None:  # then one that it does accept, if any
        main = next((own for own in parts if own[0].kind in (SHAPES, CYCLE) and own[0].grid is not None), main)
    recovery, of_recovery = next(own for own in parts if own[0].kind == RECOVERY)
    columns = tuple(column for column in FIGURES if column not in OF_RECOVERIES)
    return Measured(
        name,
        main[0].topology,
        ALGORITHMS[name].needs_fifo,
        {**_figures(*main, columns), **_figures(recovery, _recovered(of_recovery), OF_RECOVERIES)},
        _groups(main[1], columns),
        tried,
        recovery.refused,
    )


def _tried(part: Part, rows: Sequence[Row]) -> Tried:
    if part.grid is None:
        return Tried(refused=part.refused)
    recorded = _figures(part, rows, ("recorded_messages",)).get("recorded_messages")
    return Tried(
        len(rows),
        sum(row.get("status") == COMPLETE and not row["failed"] for row in rows),
        sum(row.get("consistent_cut") is True for row in rows),
        recorded.median if recorded else 0.0,
        recorded and recorded.typical,
    )


def _recovered(rows: Sequence[Row]) -> list[Row]:
    """One row of each run in which a recovery was carried out."""
    return list({row["run_id"]: row for row in rows if row.get("recovery_time") is not None}.values())


def _figures(part: Part, rows: Sequence[Row], columns: Sequence[str]) -> dict[str, Figure]:
    found = {}
    for column in columns:
        known = [row for row in rows if row.get(column) is not None]
        if known:
            values = [row[column] for row in known]
            middle = median_low(values)
            typical = next(row for row in known if row[column] == middle)
            where = Where(part.kind, part.topology, typical["cell"], typical["seed"])
            least, most = _rounded(column, min(values)), _rounded(column, max(values))
            found[column] = Figure(_rounded(column, middle), least, most, where)
    return found


def _groups(rows: Sequence[Row], columns: Sequence[str]) -> list[Group]:
    by_key: dict[tuple[str, float], list[Row]] = {}
    for row in rows:
        pace = json.loads(row["parameters"]).get("pace", 0.0)
        by_key.setdefault((row["marker_delay"], pace), []).append(row)
    return [
        Group(*key, {
            column: _rounded(column, median_low(values))
            for column in columns
            if (values := [row[column] for row in own if row.get(column) is not None])
        })
        for key, own in by_key.items()
    ]  # fmt: skip


def _rounded(column: str, value: float) -> float:
    return round(float(value), 9) if RUN_TYPES[column] == "float64" else value


def table_from_json(text: str) -> Table:
    """The table that `Table.to_json` wrote. Raises InputError if it is no such table, or of another version."""
    try:
        values = json.loads(text)
        asked: dict[str, Any] = {
            name: tuple(own) if isinstance(own, list) else own for name, own in values["asked"].items()
        }
        rows = {name: _measured_from(own) for name, own in values["rows"].items()}
        table = Table(Asked(**asked), values["compared_on"], rows, values["runs"], values["version"])
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError("this is no table of trade-offs that this version knows; make it anew") from None
    if table.version != VERSION:
        raise InputError(f"this table was made by version {table.version}, and this is {VERSION}; make it anew")
    return table


def _measured_from(values: Mapping[str, Any]) -> Measured:
    def where(own: Any) -> Where | None:
        return None if own is None else Where(*own)

    def figure(median: float, least: float, most: float, typical: Sequence[Any]) -> Figure:
        return Figure(median, least, most, Where(*typical))

    return Measured(**{
        **values,
        "figures": {name: figure(*own) for name, own in values["figures"].items()},
        "groups": [Group(*own) for own in values["groups"]],
        "tried": {
            name: Tried(*own)._replace(typical=where(Tried(*own).typical)) for name, own in values["tried"].items()
        },
    })  # fmt: skip


def measured_at_once(asked: Asked, progress: Progress = silent, stop: threading.Event | None = None) -> Table | None:
    """The table, made in this process without Spark; None where `stop` was set before it was done.

    `progress` counts runs.
    """
    ends = stop or threading.Event()
    parts = parts_of(asked)
    total, done = run_count(parts), 0
    found = []
    for part in parts:
        rows: list[Row] = []
        for own in () if part.grid is None else rows_at_once(part.grid, ends):
            rows += own
            done += 1
            progress(done, total)
        found.append((part, rows))
    return None if ends.is_set() else table_of(asked, found)


def measured_on_workers(asked: Asked, place: Place, spark: SparkSession, progress: Progress = silent) -> Table:
    """The same table, made on Spark's workers, who write what they find into folders in `place`.

    `progress` counts runs. Raises InputError where Spark fails.
    """
    parts, folder = parts_of(asked), secrets.token_hex(4)  # asked again, it begins anew
    total, done = run_count(parts), 0
    found = []
    for number, part in enumerate(parts):
        rows: list[Row] = []
        if part.grid is not None:
            store = Store.create(f"{place.address}/{folder}-{number}", ENSEMBLE, part.grid.to_json())
            plan = plan_of(store, part.grid)
            for runs in run_on_workers(spark, plan, range(plan.chunk_count), threading.Event()):
                done += runs
                progress(done, total)
            rows = sorted(store.rows("runs").to_table().to_pylist(), key=lambda row: row["run_id"])
        found.append((part, rows))
    return table_of(asked, found)


def rows_at_once(grid: Grid, stop: threading.Event) -> Iterator[list[Row]]:
    """The rows of each run of a grid, in this process. Ends early when `stop` is set."""
    plan = plan_of(None, grid)
    for run_id in range(grid.run_count):
        if stop.is_set():
            return
        yield list(measured(plan, run_id)[0])
