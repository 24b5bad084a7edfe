"""The command chaos: run a cluster under random faults, and audit it."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path

from cluster.chaos import SNAPSHOTS_PER_SECOND, chaos
from cluster.commands.parsers import Commands, add_command, print_json
from cluster.commands.system_options import add_system, wanted_of
from sim.core.errors import InputError


def add(commands: Commands) -> None:
    """Add the command."""
    about = "run a cluster under random faults while snapshots are taken, and audit its messages and states"
    parser = add_command(commands, "chaos", about, _chaos, "chaos --seconds 60 --seed 1")
    add_system(parser)
    parser.set_defaults(seed=0, delay="5ms..30ms")
    parser.add_argument("--seconds", type=float, default=60.0, help="the length of the run (default: 60)")
    about = f"how many snapshots are requested in a second (default: {SNAPSHOTS_PER_SECOND:g})"
    parser.add_argument("--snapshots-per-second", type=float, default=SNAPSHOTS_PER_SECOND, metavar="R", help=about)
    about = "the folder for logs and an event table (default: a temporary one, deleted at the end)"
    parser.add_argument("--out", type=Path, help=about)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _chaos(arguments: argparse.Namespace) -> int:
    for name in ("seconds", "snapshots_per_second"):
        if not 0 < getattr(arguments, name) < math.inf:
            raise InputError(f"--{name.replace('_', '-')}: a number above 0, not {getattr(arguments, name):g}")
    if arguments.scenario is None and arguments.nodes is None:
        arguments.nodes = 4
    wanted = replace(wanted_of(arguments), folder=arguments.out)
    report = chaos(wanted, arguments.seconds, arguments.seed, snapshots_per_second=arguments.snapshots_per_second)
    if arguments.json:
        print_json(report.document())
    else:
        print(*report.lines(), sep="\n")
    return 1 if report.wrong else 0
