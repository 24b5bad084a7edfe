"""audit: which cuts of an event table are consistent, and which messages their channels hold."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.commands import Commands
from pipeline.spark.progress import Progress, bar
from pipeline.spark.restarting import ask
from pipeline.store.folder import Store
from sim.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.cuts.audits import Audit

MOST_RANDOM = 10_000

_ABOUT = """For each cut: consistent or not, with the message that decides, and the messages that each channel holds.
Writes DIR/audits and DIR/channels. An audit that finds inconsistent cuts has done its work: exit status 0."""


def add(commands: Commands) -> None:
    """Adds the command."""
    command = commands.add_parser("audit", help="judge cuts of the events in a data folder", description=_ABOUT)
    command.add_argument("dir", metavar="DIR", type=Path, help="a data folder; its events are enough")
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("--cuts", metavar="FILE", type=Path, help="Parquet or CSV of run_id, cut_id, process, index")
    which.add_argument("--snapshots", action="store_true", help="those that the snapshots recorded")
    which.add_argument("--random", metavar="K", type=int, help="so many for each run")
    command.add_argument("--seed", metavar="X", type=int, default=0, help="of the random ones (0)")
    command.set_defaults(act=_audit)


def _audit(arguments: argparse.Namespace) -> int:
    store = Store.open(arguments.dir)
    if arguments.random is not None and not 1 <= arguments.random <= MOST_RANDOM:
        raise InputError(f"--random {arguments.random}: ask for 1 to {MOST_RANDOM} cuts of each run")
    with bar("audit", "steps") as progress:
        found = ask(lambda spark: _found(spark, store, arguments, progress))
    print(
        f"{found.cuts} cuts, {found.inconsistent or 'none'} of them inconsistent; {found.messages} messages in channels"
    )
    if found.first is not None:
        run_id, cut_id, witness = found.first
        print(f"the first: cut {cut_id} of run {run_id}; message {witness} was received inside it and sent outside")
    print(f"in {store.folder('audits')} and {store.folder('channels')}")
    return 0


def _found(spark: SparkSession, store: Store, arguments: argparse.Namespace, progress: Progress) -> Audit:
    """What the audit of the cuts that `arguments` ask for has found."""
    from pipeline.cuts import cut_sources
    from pipeline.cuts.audits import audit

    if arguments.cuts is not None:
        wanted = cut_sources.from_file(spark, arguments.cuts)
    elif arguments.snapshots:
        wanted, left_out = cut_sources.from_snapshots(store.read(spark, "events"))
        if left_out:
            print(f"{left_out} snapshots were left out: not every process recorded", file=sys.stderr)
    else:
        wanted = cut_sources.at_random(store.read(spark, "events"), arguments.random, arguments.seed)
    return audit(spark, store, wanted, progress)
