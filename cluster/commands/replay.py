"""The command replay: a recorded run of a cluster, as a scenario or as an event table."""

from __future__ import annotations

import argparse
from pathlib import Path

from cluster.commands.parsers import Commands, add_command
from cluster.replay.event_table import write_table
from cluster.replay.scenario import check, replayed
from sim.core.errors import InputError
from sim.document.writing import dumps


def add(commands: Commands) -> None:
    """Add the command."""
    about = "replay a recorded run: in the simulation, which has to give the same rows, or as a data folder"
    examples = ("replay data/live --scenario again.toml", "replay data/live --table data/audit")
    parser = add_command(commands, "replay", about, _replay, *examples, also=("tell",))
    about = "the folder of the cluster (of several starts, the last counts), or the logs of one start: DIR/logs/1"
    parser.add_argument("folder", type=Path, metavar="DIR", help=about)
    about = "write a scenario for Explore and python -m sim run, and check that it gives the same rows"
    parser.add_argument("--scenario", type=Path, metavar="FILE", help=about)
    about = "write a data folder: python -m pipeline audit DIR --cuts DIR/cuts.csv"
    parser.add_argument("--table", type=Path, metavar="DIR", help=about)


def _replay(arguments: argparse.Namespace) -> int:
    if arguments.scenario is None and arguments.table is None:
        raise InputError("say what to write: --scenario FILE, --table DIR, or both")
    logs = _logs_of(arguments.folder)
    try:
        if arguments.scenario is not None:
            scenario = replayed(logs)
            arguments.scenario.write_text(dumps(scenario), "utf-8")
            print(f"{check(logs, scenario):,} rows: the replay in the simulation gives the same")
        if arguments.table is not None:
            write_table(logs, arguments.table)
    except OSError as problem:
        where = problem.filename or arguments.table or arguments.scenario
        raise InputError(f"{where}: cannot be read or written ({problem.strerror}); name another place") from None
    return 0


def _logs_of(folder: Path) -> Path:
    """Return the event logs of the last start in a cluster's folder, or `folder` itself if it is such logs."""
    if (folder / "scenario.toml").exists():
        return folder
    starts = [path for path in (folder / "logs").glob("*") if path.name.isdecimal()]
    if not starts:
        raise InputError(f"{folder}: there are no event logs of a cluster; name the folder that --out named")
    return max(starts, key=lambda path: int(path.name))
