"""audit: says whether cuts of an event table are consistent, and which messages their channels hold."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pipeline import jobs
from pipeline.commands import Commands
from pipeline.cuts.audits import UNSORTED
from pipeline.spark.progress import bar
from pipeline.store.folder import Store

_ABOUT = """Say for each cut whether it is consistent, name the message that decides, and list the messages in each
channel. The results go into DIR/audits and DIR/channels. The exit status is 0 even if cuts are inconsistent: finding
them is the purpose of an audit."""

_RANDOM = """audit this many random cuts of each run, for example --random 10. A cut holds all events up to a random
moment; in three cuts of four each process gets up to 3 events more or fewer. Of the bundled scenarios' cuts, 6 of 10
are consistent"""


def add(commands: Commands) -> None:
    """Adds the command."""
    command = commands.add_parser("audit", help="check cuts of the events in a data folder", description=_ABOUT)
    command.add_argument("dir", metavar="DIR", help="a data folder; it needs no table but events")
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("--cuts", metavar="FILE", type=Path, help="Parquet or CSV of run_id, cut_id, process, index")
    which.add_argument("--snapshots", action="store_true", help="audit the cuts that the snapshots recorded")
    which.add_argument("--random", metavar="K", type=int, help=_RANDOM)
    command.add_argument("--seed", metavar="X", type=int, default=0, help="the seed of the random cuts (default: 0)")
    command.set_defaults(act=_audit)


def _audit(arguments: argparse.Namespace) -> int:
    with bar("audit", "tasks") as progress:
        found = jobs.audit(
            arguments.dir, cuts=arguments.cuts, snapshots=arguments.snapshots, random=arguments.random,
            seed=arguments.seed, progress=progress,
        )  # fmt: skip
    print(
        f"{found.cuts} cuts, {found.inconsistent or 'none'} of them inconsistent; {found.messages} messages in channels"
    )
    if found.first is not None:
        run_id, cut_id, witness = found.first
        why = f"message {witness} is received inside the cut but sent outside"
        print(f"the first: cut {cut_id} of run {run_id}; {why}")
    if found.left_out:
        why = "they were aborted, or not every process recorded"
        print(f"{found.left_out} snapshots were left out: {why}", file=sys.stderr)
    if not found.is_sorted:
        print(UNSORTED, file=sys.stderr)
    store = Store(arguments.dir)
    print(f"in {store.address_of('audits')} and {store.address_of('channels')}")
    return 0
