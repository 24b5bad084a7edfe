"""explore: every run of a system, its states spread over Spark's workers; the figures of `python -m sim explore`."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from pipeline.commands import Commands
from pipeline.exploring.spread import explored
from pipeline.spark.progress import bar
from sim.core.errors import InputError
from sim.explore.command import add_options, asked, tell

MOST_STATES = 1_000_000_000
PARTS, MOST_PARTS = 16, 4_096

_ABOUT = """Try every order of the actions, and find the shortest wrong run: the same as python -m sim explore, for
systems whose states one machine's memory does not hold. The states are in parts; a worker needs memory for one part of
the states of one depth, and all workers see the folder in which the parts are."""


def add(commands: Commands) -> None:
    """Adds the command."""
    command = commands.add_parser("explore", help="try every order of the actions, on all workers", description=_ABOUT)
    add_options(command, MOST_STATES)
    command.add_argument(
        "--parts", type=int, default=PARTS, metavar="P", help=f"how many parts the states are in ({PARTS})"
    )
    command.add_argument(
        "--scratch", type=Path, metavar="DIR", help="a folder that all workers see (default: one for temporary files)"
    )
    command.set_defaults(act=_explore)


def _explore(arguments: argparse.Namespace) -> int:
    scenario = asked(arguments)
    if not 1 <= arguments.parts <= MOST_PARTS:
        raise InputError(f"--parts {arguments.parts}: give a number of parts from 1 to {MOST_PARTS:,}")
    try:
        scratch = tempfile.TemporaryDirectory(prefix="explore-", dir=arguments.scratch)
    except OSError as problem:
        raise InputError(f"--scratch {arguments.scratch}: {problem.strerror}; name a folder that is there") from None
    with scratch as folder, bar(scenario.name, "states") as progress:
        done = explored(
            scenario, Path(folder), own_order=arguments.own_order, parts=arguments.parts,
            most_states=arguments.max_states, progress=progress,
        )  # fmt: skip
    return tell(done, arguments)
