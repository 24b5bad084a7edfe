"""audit: which cuts of an event table are consistent, and which messages their channels hold."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pipeline import jobs
from pipeline.commands import Commands
from pipeline.cuts.audits import UNSORTED
from pipeline.spark.progress import bar
from pipeline.store.folder import Store

_ABOUT = """For each cut: consistent or not, with the message that decides, and the messages that each channel holds.
Writes DIR/audits and DIR/channels. An audit that finds inconsistent cuts has done its work: exit status 0."""

_RANDOM = """so many for each run: what all have done by some moment, in three of four with up to 3 events more or fewer
of each process; in the bundled scenarios 6 of 10 are consistent"""


def add(commands: Commands) -> None:
    """Adds the command."""
    command = commands.add_parser("audit", help="judge cuts of the events in a data folder", description=_ABOUT)
    command.add_argument("dir", metavar="DIR", help="a data folder; its events are enough")
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("--cuts", metavar="FILE", type=Path, help="Parquet or CSV of run_id, cut_id, process, index")
    which.add_argument("--snapshots", action="store_true", help="those that the snapshots recorded")
    which.add_argument("--random", metavar="K", type=int, help=_RANDOM)
    command.add_argument("--seed", metavar="X", type=int, default=0, help="of the random ones (0)")
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
        why = f"message {witness} came to its receiver inside it, and is not sent there"
        print(f"the first: cut {cut_id} of run {run_id}; {why}")
    if found.left_out:
        print(f"{found.left_out} snapshots were left out: given up, or not everybody recorded", file=sys.stderr)
    if not found.is_sorted:
        print(UNSORTED, file=sys.stderr)
    store = Store(arguments.dir)
    print(f"in {store.address_of('audits')} and {store.address_of('channels')}")
    return 0
