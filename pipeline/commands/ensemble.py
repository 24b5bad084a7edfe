"""ensemble: runs every combination of parameters many times, into a data folder."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from pyarrow import compute
from pyarrow.dataset import field

from pipeline.commands import Commands
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import DEFAULTS, OPTIONS, Grid
from pipeline.ensembles.run import complete_ensemble, grid_of, is_done
from pipeline.spark.progress import bar
from pipeline.spark.restarting import ask
from pipeline.store.data_root import folder_path
from pipeline.store.folder import Store
from pipeline.store.free_space import check_free_space
from pipeline.store.manifest import ENSEMBLE
from sim.core.errors import InputError

_ABOUT = """Run every combination of the parameters, many times each, and keep what each run and snapshot came to.
Where several values make sense, give a list (4,8,16), a range (4..16:4), or both (2,4..16:4)."""


def add(commands: Commands) -> None:
    """Adds the command."""
    command = commands.add_parser("ensemble", help="run a grid of parameters, many runs each", description=_ABOUT)
    for option, words in OPTIONS.items():
        default = f" (default: {DEFAULTS[option]})" if option in DEFAULTS else ""
        command.add_argument(f"--{option.replace('_', '-')}", metavar="VALUES", help=words + default)
    command.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUES", help="a parameter of the workload; may be repeated"
    )
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="the data folder to write")
    command.add_argument(
        "--resume", action="store_true", help="complete what is in DIR; its parameters need not be said again"
    )
    command.set_defaults(act=_ensemble)


def _ensemble(arguments: argparse.Namespace) -> int:
    given = {option: text for option in OPTIONS if (text := getattr(arguments, option)) is not None}
    parameters = _parameters(arguments.set)
    check_free_space(arguments.out)
    if arguments.resume:
        store = Store.open(arguments.out)
        grid = grid_of(store)
        grid.agree(given, parameters)
    else:
        grid = Grid.read(given, parameters)
        cells_of(grid)  # an invalid cell is refused before a folder is made
        store = ask(lambda _: Store.create(arguments.out, ENSEMBLE, grid.to_json()))  # so is all, without Spark
    try:
        if not is_done(store, grid):
            with bar(grid.name, "runs") as progress:
                complete_ensemble(store, grid, progress)
    except KeyboardInterrupt:
        _print_result(store, grid)
        raise
    _print_result(store, grid)
    return 0


def _parameters(given: list[str]) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not equals or name.strip() in parameters:
            raise InputError(f"--set {text}: write NAME=VALUES, such as transfers=10,20, once for each parameter")
        parameters[name.strip()] = values.strip()
    return parameters


def _print_result(store: Store, grid: Grid) -> None:
    """Prints the counts, the first failure, and how to open a run or resume."""
    if not store.has("runs"):
        return
    rows = store.rows("runs")
    found = rows.to_table(["run_id", "snapshot_id"])
    failures = rows.to_table(["run_id", "snapshot_id", "error", "witness"], field("failed")).to_pylist()
    runs, snapshots = compute.count_distinct(found["run_id"]), compute.count(found["snapshot_id"])
    print(f"{grid.name}: {runs} of {grid.run_count} runs; cells: {grid.cell_count}; ", end="")
    print(f"snapshots: {snapshots}; failures: {len(failures)}")
    if failures:
        print(f"the first failure: run {failures[0]['run_id']}, {_failure(failures[0])}")
    first = failures[0]["run_id"] if failures else found["run_id"][0]
    print(f"in {store.path}{_how_to_open(store.path.resolve(), first)}")
    if runs.as_py() < grid.run_count:
        print(f"to complete it: python -m pipeline ensemble --out {shlex.quote(str(store.path))} --resume")


def _how_to_open(path: Path, run_id: int) -> str:
    try:
        folder_path(path.name, path.parent)
    except InputError:  # the catalog cannot open a folder of that name
        return ""
    root = shlex.quote(str(path.parent))
    return f"; to open a run: python -m pipeline catalog open {path.name} --root {root} --run {run_id}"


def _failure(row: dict[str, Any]) -> str:
    return str(row["error"]) if row["error"] is not None else f"{row['snapshot_id']}: {row['witness']}"
