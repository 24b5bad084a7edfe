"""The common part of the commands `explore` of sim and of pipeline: options, the explored system, and the answer."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sim.core.errors import InputError
from sim.document import library
from sim.document.scenario import Scenario
from sim.document.writing import dumps
from sim.explore.report import Exploration, changed, complete_graph
from sim.explore.world import MayHappen


def add_options(command: argparse.ArgumentParser, most_states: int) -> None:
    """Add the options that both have; `most_states` is the default bound."""
    command.add_argument("scenario", metavar="SCENARIO", nargs="?")
    command.add_argument(
        "--complete", type=int, metavar="N",
        help="instead of SCENARIO: N processes, such as 3, each of which may send to every other one (to every later "
        "one, with an algorithm of sources)",
    )  # fmt: skip
    command.add_argument("--sends", type=int, default=1, metavar="K", help="the number of messages of each of these")
    command.add_argument("--algorithm", metavar="A", help="another snapshot algorithm, such as lai_yang")
    command.add_argument("--not-fifo", action="store_true", help="messages of a channel may overtake each other")
    command.add_argument(
        "--own-order", action="store_true",
        help="only each process's own script lines keep their order (default: all of them, as in one run)",
    )  # fmt: skip
    command.add_argument(
        "--max-states",
        type=int,
        default=most_states,
        metavar="M",
        help=f"stop at more states (default: {most_states:,})",
    )
    command.add_argument("--save", metavar="FILE.toml", help="write the shortest wrong run to this scenario")
    command.add_argument("--json", action="store_true", help="one JSON document")


def add_faults(command: argparse.ArgumentParser) -> None:
    """Add the options for faults that may happen at any moment."""
    command.add_argument(
        "--crashes", type=int, default=0, metavar="N",
        help="at most N crashes in a run, of any process at any moment (default: 0)",
    )  # fmt: skip
    command.add_argument("--restarts", action="store_true", help="a process that has crashed may start again")
    command.add_argument(
        "--losses", type=int, default=0, metavar="N",
        help="at most N messages and markers are lost in transit, and are not resent (default: 0)",
    )  # fmt: skip
    command.add_argument(
        "--freezes", type=int, default=0, metavar="N",
        help="at most N times in a run a process freezes at any moment, and thaws at any later one (default: 0)",
    )  # fmt: skip


def asked(arguments: argparse.Namespace) -> Scenario:
    """The scenario that is to be explored. Raises InputError."""
    if (arguments.scenario is None) == (arguments.complete is None):
        raise InputError("give a SCENARIO, or --complete N with --sends K")
    if arguments.max_states < 1:
        raise InputError(f"--max-states {arguments.max_states}: give a number of states, at least 1")
    if arguments.scenario is None:
        scenario = complete_graph(arguments.complete, arguments.sends)
    else:
        scenario = library.find(arguments.scenario)
    return changed(scenario, arguments.algorithm, not_fifo=arguments.not_fifo)


def may_happen(arguments: argparse.Namespace) -> MayHappen:
    """The faults that may happen at any moment."""
    return MayHappen(arguments.crashes, arguments.restarts, arguments.losses, arguments.freezes)


def tell(done: Exploration, arguments: argparse.Namespace) -> int:
    """Print the findings and save the shortest wrong run. Returns the exit status; raises the interruption, if any."""
    print(json.dumps(done.to_json(), ensure_ascii=False) if arguments.json else "\n".join(done.in_words()))
    if arguments.save and done.runs:
        _save(Path(arguments.save), dumps(done.runs[done.shortest()[0][0]]))
    if done.found.stopped:
        raise done.found.stopped
    return 1 if done.runs else 0


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError(f"{path}: cannot be written ({problem.strerror}); name a file that you may write") from None
