"""The table of trade-offs: the costs of each algorithm in identical cases, measured by the runs of an ensemble."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median_low
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.ensembles.chunks import Plan, chunk_size, measured
from pipeline.ensembles.options import NONE
from pipeline.ensembles.run import run_on_workers
from pipeline.spark.progress import Progress, silent
from pipeline.store.folder import Store
from pipeline.store.manifest import ENSEMBLE
from pipeline.store.place import Place
from pipeline.store.schema import RUN_TYPES
from pipeline.store.tables import Addition
from pipeline.tradeoffs.cases import ONE_NODE, RECOVERY, SNAPSHOT, Asked, Case, Setting, Where, cases_of
from sim import SAME_RUNS, VERSION
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.run.snapshots import COMPLETE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = Mapping[str, Any]

COSTS = (
    "end_to_end", "blocked_time", "delayed", "delayed_most", "delayed_messages", "recorded_messages", "recorded_bytes",
    "markers", "control_messages", "control_bytes", "stamp_bytes", "copied_pages", "state_bytes",
)  # fmt: skip
OF_RECOVERIES = ("recovery_time", "rolled_back", "put_back")
FIGURES = (*COSTS, *OF_RECOVERIES)
DIGITS = 3  # behind the point, of a value that is kept


class Figure(NamedTuple):
    """The measured values of a column: the median, the least and the greatest of the cases' medians, and a typical run.

    The typical run is one of the middle case, with its median as value.
    """

    median: float
    least: float
    most: float
    typical: Where


class Outcome(NamedTuple):
    """The outcome of a case: counts of its runs, a seed, and medians.

    runs: the number of runs. right: those with a complete snapshot and no failed check. consistent: those whose
    snapshot is a consistent cut. seed: that of the first run whose snapshot is not, or else of the first run. medians:
    those of `columns`, in their order (None: not measured).
    """

    kind: str
    setting: Setting
    runs: int
    right: int
    consistent: int
    seed: int
    medians: tuple[float | None, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns measured in cases of this kind: the costs of snapshots, or those of a recovery."""
        return OF_RECOVERIES if self.kind == RECOVERY else COSTS

    def median(self, column: str) -> float | None:
        """The median of one of FIGURES (None: not measured)."""
        return self.medians[self.columns.index(column)] if column in self.columns else None


@dataclass(frozen=True)
class Measured:
    """The measured values of one algorithm.

    `outcomes`: those of every case that ran. `figures`: by delay of markers and column. `refused`: by topology, why the
    rules do not accept it. `no_recovery`: why no recovery was carried out (None: there were some).
    """

    algorithm: str
    needs_fifo: bool
    outcomes: Sequence[Outcome]
    figures: Mapping[str, Mapping[str, Figure]]
    refused: Mapping[str, str]
    no_recovery: str | None = None

    def of_kind(self, *kinds: str) -> list[Outcome]:
        """The outcomes of some kinds of cases."""
        return [own for own in self.outcomes if own.kind in kinds]

    @property
    def usual(self) -> Mapping[str, Figure]:
        """The figures by column, with the usual delay of markers."""
        return next(iter(self.figures.values()), {})

    def median(self, column: str) -> float | None:
        """The median of a column, with the usual delay of markers (None: not measured)."""
        found = self.usual.get(column)
        return None if found is None else found.median


@dataclass(frozen=True)
class Table:
    """The measured values by algorithm. `runs` is the number of all runs."""

    asked: Asked
    rows: Mapping[str, Measured]
    runs: int
    version: str = field(default=VERSION)

    def outcome(self, algorithm: str, kind: str, setting: Setting) -> Outcome | None:
        """The outcome of an algorithm in a case (None: it did not run)."""
        own = self.rows.get(algorithm)
        found = (each for each in own.outcomes if (each.kind, each.setting) == (kind, setting)) if own else iter(())
        return next(found, None)

    def to_json(self) -> str:
        """This table as JSON, for `table_from_json`; a line for each outcome."""
        text = json.dumps(asdict(self), separators=(",", ":"))
        return text.replace(f'["{SNAPSHOT}",[', f'\n["{SNAPSHOT}",[') + "\n"


def table_of(asked: Asked, found: Iterable[tuple[Case, Sequence[Row]]]) -> Table:
    """The table of all cases, each with the rows of its runs."""
    cases = list(found)
    names = dict.fromkeys(case.algorithm for case, _ in cases)
    rows = {name: _measured(asked, name, [own for own in cases if own[0].algorithm == name]) for name in names}
    return Table(asked, rows, sum(own.runs for row in rows.values() for own in row.outcomes))


def _measured(asked: Asked, name: str, found: Sequence[tuple[Case, Sequence[Row]]]) -> Measured:
    ran = [(_outcome(case, rows), rows) for case, rows in found if case.document is not None]
    refused = {case.kind: case.refused for case, _ in reversed(found) if case.refused}
    return Measured(
        name,
        ALGORITHMS[name].needs_fifo,
        [outcome for outcome, _ in ran],
        {delay: _figures([own for own in ran if own[0].setting.marker_delay == delay], ALGORITHMS[name].one_node)
         for delay in asked.marker_delays},
        {case.setting.topology: case.refused for case, _ in found if case.kind == SNAPSHOT and case.refused},
        None if any(own.kind == RECOVERY for own, _ in ran) else refused[RECOVERY],
    )  # fmt: skip


def _outcome(case: Case, rows: Sequence[Row]) -> Outcome:
    """The outcome of a case. The rows of a run count as one run, which is right if all of its snapshots are right."""
    runs: dict[int, list[Row]] = {}
    for row in rows:
        runs.setdefault(row["seed"], []).append(row)
    wrong = [seed for seed, own in runs.items() if not all(row.get("consistent_cut") for row in own)]
    outcome = Outcome(
        case.kind,
        case.setting,
        len(runs),
        sum(all(row.get("status") == COMPLETE and not row["failed"] for row in own) for own in runs.values()),
        len(runs) - len(wrong),
        [*wrong, *runs][0],
        (),
    )
    return outcome._replace(medians=tuple(_median(rows, column) for column in outcome.columns))


def _median(rows: Sequence[Row], column: str) -> float | None:
    values = [value for row in rows if (value := _value(row, column)) is not None]
    return median_low(values) if values else None


def _value(row: Row, column: str) -> float | None:
    if row.get(column) is None or (column in OF_RECOVERIES and row.get("recovery_time") is None):
        return None
    value = row[column]
    return round(float(value), DIGITS) if RUN_TYPES[column] == "float64" else value


def _figures(found: Sequence[tuple[Outcome, Sequence[Row]]], is_alone: bool) -> dict[str, Figure]:
    """The figures by column, of the cases with one delay of markers.

    If `is_alone`, the algorithm is for one process, and its costs are those on one process.
    """
    figures = {}
    for column in FIGURES:
        kind = RECOVERY if column in OF_RECOVERIES else ONE_NODE if is_alone else SNAPSHOT
        of_kind = [(own, rows) for own, rows in found if own.kind == kind and own.median(column) is not None]
        if of_kind:
            medians = [own.median(column) or 0 for own, _ in of_kind]
            middle = median_low(medians)
            case, rows = of_kind[medians.index(middle)]
            seed = next(row["seed"] for row in rows if _value(row, column) == middle)
            figures[column] = Figure(middle, min(medians), max(medians), Where(kind, case.setting, seed))
    return figures


# ------------------------------------------------------------------ as JSON


def table_from_json(text: str) -> Table:
    """The table that `Table.to_json` wrote. Raises InputError if it is no such table, or of another version."""
    try:
        values = json.loads(text)
        asked: dict[str, Any] = {
            name: tuple(own) if isinstance(own, list) else own for name, own in values["asked"].items()
        }
        rows = {name: _measured_from(own) for name, own in values["rows"].items()}
        table = Table(Asked(**asked), rows, values["runs"], values["version"])
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError("this is no table of trade-offs that this version knows; make it anew") from None
    if table.version not in SAME_RUNS:
        raise InputError(f"this table was made by version {table.version}, and this is {VERSION}; make it anew")
    return table


def _measured_from(values: Mapping[str, Any]) -> Measured:
    def where(kind: str, setting: Sequence[Any], seed: int) -> Where:
        return Where(kind, Setting(*setting), seed)

    def figure(median: float, least: float, most: float, typical: Sequence[Any]) -> Figure:
        return Figure(median, least, most, where(*typical))

    def outcome(kind: str, setting: Sequence[Any], *own: Any) -> Outcome:
        runs, right, consistent, seed, medians = own
        return Outcome(kind, Setting(*setting), runs, right, consistent, seed, tuple(medians))

    return Measured(**{
        **values,
        "outcomes": [outcome(*own) for own in values["outcomes"]],
        "figures": {
            delay: {name: figure(*own) for name, own in columns.items()} for delay, columns in values["figures"].items()
        },
    })  # fmt: skip


# ------------------------------------------------------------------ making it


def measured_at_once(asked: Asked, progress: Progress = silent, stop: threading.Event | None = None) -> Table | None:
    """The table, made in this process without Spark; None if `stop` is set before it is done.

    `progress` counts runs.
    """
    ends = stop or threading.Event()
    cases = cases_of(asked)
    plan = plan_of_cases(asked, cases)
    rows: list[Row] = []
    for done, own in enumerate(rows_at_once(plan, ends), 1):
        rows += own
        progress(done, plan.run_count)
    return None if ends.is_set() else table_of(asked, _by_case(cases, rows))


def measured_on_workers(asked: Asked, place: Place, spark: SparkSession, progress: Progress = silent) -> Table:
    """The same table, made on Spark's workers, which write their results into a folder in `place`.

    `progress` counts runs. Raises InputError if Spark fails.
    """
    cases, folder = cases_of(asked), secrets.token_hex(4)  # asked again, it begins anew
    store = Store.create(f"{place.address}/{folder}", ENSEMBLE, asdict(asked))
    plan, done = plan_of_cases(asked, cases, store.adding()), 0
    for runs in run_on_workers(spark, plan, range(plan.chunk_count), threading.Event()):
        done += runs
        progress(done, plan.run_count)
    rows = sorted(store.rows("runs").to_table().to_pylist(), key=lambda row: row["run_id"])
    return table_of(asked, _by_case(cases, rows))


def plan_of_cases(asked: Asked, cases: Sequence[Case], into: Addition | None = None) -> Plan:
    """All runs of these cases as those of one ensemble: a cell for each case that its algorithm accepts."""
    documents = tuple(case.document for case in cases if case.document is not None)
    return Plan(
        into, None, "bank", documents, asked.runs, asked.seed, NONE, chunk_size(len(documents) * asked.runs),
        by_numba=False, costs=True,
    )  # fmt: skip


def rows_at_once(plan: Plan, stop: threading.Event) -> Iterator[list[Row]]:
    """Yield the rows of each run of a plan, made in this process. Ends early when `stop` is set."""
    for run_id in range(plan.run_count):
        if stop.is_set():
            return
        yield list(measured(plan, run_id)[0])


def _by_case(cases: Sequence[Case], rows: Iterable[Row]) -> Iterator[tuple[Case, list[Row]]]:
    """Each case with the rows of its runs; none where its algorithm refuses it."""
    by_cell: dict[int, list[Row]] = {}
    for row in rows:
        by_cell.setdefault(row["cell"], []).append(row)
    cells = iter(range(len(cases)))
    for case in cases:
        yield case, [] if case.document is None else by_cell[next(cells)]
