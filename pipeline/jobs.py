"""The jobs as functions, for notebooks and for the command line: ensemble, ingest, audit, summarize, tradeoffs,
explore.

`session` is a SparkSession of the caller's own, classic or Connect. The job runs in a second session with the same
settings, and leaves the caller's as it was. None stands for the Spark of this process (SPARK_REMOTE, or a local
server). Input is checked before Spark starts, as far as possible. All functions raise InputError, in one sentence, for
bad input and if Spark fails.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow

from pipeline import formats
from pipeline.cuts.audits import Audit
from pipeline.cuts.audits import audit as judge_cuts
from pipeline.cuts.cut_lines import slices_of
from pipeline.cuts.cut_sources import from_file
from pipeline.cuts.event_columns import DECIDE, row_groups
from pipeline.cuts.random_cuts import AtRandom
from pipeline.cuts.snapshot_cuts import OfSnapshots
from pipeline.cuts.tasks import tasks_of
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.options import OPTIONS
from pipeline.ensembles.run import complete_ensemble, grid_of, is_done
from pipeline.exploring.spread import explored
from pipeline.ingest import Row, carry_out, plan
from pipeline.logs.format import NO_OPTIONS, Options
from pipeline.spark.preparing import borrowed
from pipeline.spark.progress import Progress, silent
from pipeline.spark.reaching import check_reach
from pipeline.spark.restarting import ask
from pipeline.store.addresses import place_of
from pipeline.store.folder import Store
from pipeline.store.free_space import check_free_space
from pipeline.store.local_folder import LocalFolder
from pipeline.store.manifest import ENSEMBLE, TRACE
from pipeline.store.place import Place, writing
from pipeline.tradeoffs.cases import Asked
from pipeline.tradeoffs.table import Table, measured_at_once, measured_on_workers
from sim.core.errors import InputError, nearest
from sim.document import library
from sim.document.scenario import Scenario
from sim.explore.report import Exploration
from sim.explore.world import NO_FAULTS, MayHappen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_RANDOM = 10_000  # cuts of each run
MOST_STATES = 1_000_000_000
PARTS, MOST_PARTS = 16, 4_096
NOTHING: Mapping[str, object] = {}


def ensemble(
    out: Path | str,
    parameters: Mapping[str, object] = NOTHING,
    *,
    resume: bool = False,
    progress: Progress = silent,
    session: SparkSession | None = None,
    **given: object,
) -> Store:
    """Runs a grid of parameters into the data folder `out`, a new one, or completes what is there (`resume`).

    given: the options of `python -m pipeline ensemble`, written as there: processes="4,8,16", runs=100. parameters:
    those of the workload, such as {"transfers": "10,20"}. `progress` counts runs.
    """
    for option in given:
        if option not in OPTIONS:
            raise InputError(f"{option}: is no option of an ensemble; {nearest(option, OPTIONS)}")
    options = {option: str(value) for option, value in given.items()}
    texts = {name: str(value) for name, value in parameters.items()}
    check_free_space(out)
    if resume:
        store = Store.open(out)
        grid = grid_of(store)
        grid.agree(options, texts)
        if is_done(store, grid):
            return store
    else:
        grid = Grid.read(options, texts)
        cells_of(grid)  # an invalid cell is refused before a folder is made
        store = Store.create(out, ENSEMBLE, grid.to_json())
    with ExitStack() as stack:
        with nullcontext() if resume else _taken_back(store):
            spark = stack.enter_context(borrowed(session))
            ask(lambda spark: check_reach(spark, store.place), spark)
        complete_ensemble(store, grid, progress, session=spark)
    return store


@contextmanager
def _taken_back(store: Store) -> Iterator[None]:
    """Deletes a folder that stays empty because there is no Spark, or none that reaches the folder."""
    try:
        yield
    except BaseException:
        with suppress(InputError):  # the first exception says what is wrong
            store.delete()
        raise


def ingest(
    out: Path | str,
    logs: Sequence[Path | str],
    form: str,
    options: Options = NO_OPTIONS,
    *,
    quarantine: bool = False,
    progress: Progress = silent,
    session: SparkSession | None = None,
) -> list[Row]:
    """Reads logs into the data folder `out`, a new one. Returns the rows of its table traces.

    form, options: a format and its options, as `python -m pipeline formats` lists them. `quarantine` sets executions
    with contradictions aside. `progress` counts executions.
    """
    paths = [Path(log) for log in logs]
    todo = plan(paths, form, options, quarantine=quarantine)
    about = {
        "files": [str(path) for path in paths], "format": form, **formats.all_options(form, options),
        "quarantine": quarantine,
    }  # fmt: skip
    check_free_space(out)
    made = [Store.create(out, TRACE, about)]
    try:
        with borrowed(session) as spark:
            return ask(lambda spark: carry_out(spark, _one(made, out, about), todo, progress), spark)
    finally:
        for store in made:  # no Spark has written them
            store.delete()


def _one(made: list[Store], out: Path | str, about: Mapping[str, object]) -> Store:
    """The folder that was made, or a new one if that was deleted because Spark was lost."""
    return made.pop() if made else Store.create(out, TRACE, about)


def audit(
    folder: Path | str,
    *,
    cuts: Path | str | None = None,
    snapshots: bool = False,
    random: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
    session: SparkSession | None = None,
) -> Audit:
    """Judges cuts of a data folder's events: those in the file `cuts`, of `snapshots`, or `random` ones per run.

    Writes the tables audits and channels, and returns their counts. `progress` counts tasks.
    """
    store = Store.open(folder)
    if (cuts is not None) + snapshots + (random is not None) != 1:
        raise InputError("an audit needs one kind of cuts: give a file, the snapshots, or a number of random ones")
    if random is not None and not 1 <= random <= MOST_RANDOM:
        raise InputError(f"--random {random}: ask for 1 to {MOST_RANDOM} cuts of each run")

    groups = row_groups(store, DECIDE)
    wanted: pyarrow.Table | AtRandom | OfSnapshots = OfSnapshots()
    if cuts is not None:
        wanted = from_file(Path(cuts))
        for part in slices_of(wanted):  # raises InputError for cuts that make no sense, and for missing runs
            tasks_of(part, groups, {})
    elif random is not None:
        wanted = AtRandom(random, seed)
    with borrowed(session) as spark:
        return ask(lambda spark: judge_cuts(spark, store, wanted, progress), spark)


def summarize(folder: Path | str, *, session: SparkSession | None = None) -> Store:
    """Writes the tables summaries and extremes of an ensemble."""
    store = Store.open(folder)
    store.rows("runs")  # raises InputError if there are none

    def written(spark: SparkSession) -> None:
        from pipeline.ensembles.summaries import summarize

        summarize(spark, store)

    with borrowed(session) as spark:
        ask(written, spark)
    return store


def explore(
    scenario: Scenario | str,
    *,
    own_order: bool = False,
    parts: int = PARTS,
    most_states: int = MOST_STATES,
    may: MayHappen = NO_FAULTS,
    scratch: Path | str | None = None,
    progress: Progress = silent,
    session: SparkSession | None = None,
) -> Exploration:
    """Tries every order of the actions of a scenario, given by its name or path: `python -m sim explore`, on workers.

    may: the faults that may happen at any moment, such as MayHappen(crashes=1, losses=1).
    scratch: a folder or a storage address that all workers reach (None: the folder for temporary files); its content
    is removed in the end.
    `progress` counts states. Ctrl-C ends the search early; then the exploration says so.
    """
    system = library.find(scenario) if isinstance(scenario, str) else scenario
    if not 1 <= parts <= MOST_PARTS:
        raise InputError(f"--parts {parts}: give a number of parts from 1 to {MOST_PARTS:,}")
    with _scratch(scratch) as place, borrowed(session) as spark:
        return explored(
            system, place, own_order=own_order, parts=parts, most_states=most_states, progress=progress,
            session=spark, may=may,
        )  # fmt: skip


def tradeoffs(
    *,
    on_spark: bool = False,
    scratch: Path | str | None = None,
    progress: Progress = silent,
    session: SparkSession | None = None,
    **given: object,
) -> Table:
    """Measures the costs of all algorithms on identical systems: the table of trade-offs.

    given: the options of `python -m pipeline tradeoffs`, written as there: processes="4,8", runs=100. The runs are
    carried out in this process, or on Spark's workers (`on_spark`), with a scratch folder like that of `explore`.
    `progress` counts runs.
    """
    asked = Asked.read({option: str(value) for option, value in given.items()})
    if not on_spark:
        table = measured_at_once(asked, progress)
        assert table is not None
        return table
    with _scratch(scratch) as place, borrowed(session) as spark:

        def measured(spark: SparkSession) -> Table:
            check_reach(spark, place)
            return measured_on_workers(asked, place, spark, progress)

        return ask(measured, spark)


@contextmanager
def _scratch(where: Path | str | None) -> Iterator[Place]:
    """A new folder in `where` (None: among temporary files), removed with its content in the end. Raises InputError."""
    if where is not None and not place_of(where).is_there() and isinstance(place_of(where), LocalFolder):
        raise InputError(f"--scratch {where}: is no folder; name an existing one, or a storage address")
    parent = tempfile.gettempdir() if where is None else where
    place = place_of(f"{parent}/explore-{secrets.token_hex(4)}")
    with writing(place.address), place.made():
        try:
            yield place
        finally:
            with suppress(OSError):
                place.remove_all()
