"""ensemble: runs every combination of parameters many times, and writes the results into a data folder."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from pyarrow import compute
from pyarrow.dataset import field

from pipeline import jobs
from pipeline.commands import Commands
from pipeline.ensembles.options import DEFAULTS, OPTIONS
from pipeline.ensembles.run import grid_of
from pipeline.spark.progress import bar
from pipeline.store.data_root import folder_path
from pipeline.store.folder import Store
from pipeline.store.schema import DISPUTED, NUMBA
from sim.core.errors import InputError

_ABOUT = """Run every combination of the parameters, many times each, and keep a row of measures for each run and
snapshot. Most options take several values: a list (4,8,16), a range (4..16:4), or both (2,4..16:4)."""


def add(commands: Commands) -> None:
    """Adds the command."""
    command = commands.add_parser("ensemble", help="run a grid of parameters, many runs each", description=_ABOUT)
    for option, words in OPTIONS.items():
        default = f" (default: {DEFAULTS[option]})" if option in DEFAULTS else ""
        command.add_argument(f"--{option.replace('_', '-')}", metavar="VALUES", help=words + default)
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="a parameter of the workload, such as transfers=10,20; may be repeated",
    )
    command.add_argument(
        "--out",
        required=True,
        metavar="DIR",
        help="the data folder to write: a path, or an address such as s3://bucket/bank",
    )
    command.add_argument(
        "--resume", action="store_true", help="complete the ensemble in DIR; its parameters need not be given again"
    )
    command.set_defaults(act=_ensemble)


def _ensemble(arguments: argparse.Namespace) -> int:
    given = {option: text for option in OPTIONS if (text := getattr(arguments, option)) is not None}
    try:
        with bar("ensemble", "runs") as progress:
            jobs.ensemble(
                arguments.out, _parameters(arguments.set), resume=arguments.resume, progress=progress, **given
            )
    except KeyboardInterrupt:
        _print_result(Store(arguments.out))
        raise
    _print_result(Store(arguments.out))
    return 0


def _parameters(given: list[str]) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not equals or name.strip() in parameters:
            raise InputError(f"--set {text}: write NAME=VALUES, such as transfers=10,20, once for each parameter")
        parameters[name.strip()] = values.strip()
    return parameters


def _print_result(store: Store) -> None:
    """Prints the counts, the first failure, and how to open a run or resume."""
    if not store.has("runs"):
        return
    grid = grid_of(store)
    rows = store.rows("runs")
    found = rows.to_table(["run_id", "snapshot_id"])
    failures = rows.to_table(["run_id", "snapshot_id", "error", "witness"], field("failed")).to_pylist()
    runs, snapshots = compute.count_distinct(found["run_id"]), compute.count(found["snapshot_id"])
    print(f"{grid.name}: {runs} of {grid.run_count} runs; cells: {grid.cell_count}; ", end="")
    print(f"snapshots: {snapshots}; failures: {len(failures)}")
    if failures:
        print(f"the first failure: run {failures[0]['run_id']}, {_failure(failures[0])}")
    disputed, compiled = (
        compute.count_distinct(rows.to_table(["run_id"], field("engine") == engine)["run_id"]).as_py()
        for engine in (DISPUTED, NUMBA)
    )
    if disputed:
        print(
            f"In a test Numba gave another result than Python, so Python did {disputed} runs again; {compiled} others "
            "are as Numba made them. Please report this."
        )
    first = failures[0]["run_id"] if failures else found["run_id"][0]
    print(f"in {store.address}{_how_to_open(store, first)}")
    if runs.as_py() < grid.run_count:
        print(f"to complete it: python -m pipeline ensemble --out {shlex.quote(store.address)} --resume")


def _how_to_open(store: Store, run_id: int) -> str:
    try:
        path = store.path.resolve()
        folder_path(path.name, path.parent)
    except InputError:  # the catalog cannot open a folder of that name
        return ""
    root = shlex.quote(str(path.parent))
    return f"; to open a run: python -m pipeline catalog open {path.name} --root {root} --run {run_id}"


def _failure(row: dict[str, Any]) -> str:
    return str(row["error"]) if row["error"] is not None else f"{row['snapshot_id']}: {row['witness']}"
