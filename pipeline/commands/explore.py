"""explore: tries every run of a system on Spark's workers, and prints the figures of `python -m sim explore`."""

from __future__ import annotations

import argparse

from pipeline import jobs
from pipeline.commands import Commands
from pipeline.jobs import MOST_STATES, PARTS
from pipeline.spark.progress import bar
from sim.explore.command import add_faults, add_options, asked, may_happen, tell

_ABOUT = """Try every order of the actions, and find the shortest wrong run. The result is that of python -m sim
explore; use this command if the states do not fit into one machine's memory. The states are divided into parts. A
worker needs memory for one part of the states of one depth, and all workers must see the folder of the parts."""


def add(commands: Commands) -> None:
    """Adds the command."""
    command = commands.add_parser("explore", help="try every order of the actions, on all workers", description=_ABOUT)
    add_options(command, MOST_STATES)
    add_faults(command)
    command.add_argument(
        "--parts", type=int, default=PARTS, metavar="P", help=f"the number of parts (default: {PARTS})"
    )
    command.add_argument(
        "--scratch",
        metavar="DIR",
        help="a folder or a storage address that all workers reach (default: the folder for temporary files)",
    )
    command.set_defaults(act=_explore)


def _explore(arguments: argparse.Namespace) -> int:
    scenario = asked(arguments)
    with bar(scenario.name, "states") as progress:
        done = jobs.explore(
            scenario, own_order=arguments.own_order, parts=arguments.parts, most_states=arguments.max_states,
            may=may_happen(arguments), scratch=arguments.scratch, progress=progress,
        )  # fmt: skip
    return tell(done, arguments)
