"""python -m diagrams: export a scenario's diagram, at any step, without a browser.

Exit status: 0 done; 2 bad input, with one line on stderr.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from diagrams.export.svg import svg
from diagrams.scene import Scene, compose
from sim import library
from sim.execution import run
from sim.scenario import ScenarioError
from sim.writing import dumps

FORMATS: dict[str, Callable[[Scene, int], str]] = {
    "svg": svg,
    "toml": lambda scene, step: dumps(scene.execution.scenario),
}


def _export(arguments: argparse.Namespace) -> int:
    scene = compose(run(library.find(arguments.scenario)))
    step = scene.last if arguments.step is None else arguments.step
    if not 0 <= step <= scene.last:
        raise ScenarioError(f"--step {step}: {arguments.scenario} has steps 0 to {scene.last}")
    output = Path(arguments.output)
    try:
        output.write_text(FORMATS[arguments.format](scene, step), encoding="utf-8")
    except OSError as problem:
        raise ScenarioError(f"{output}: cannot be written ({problem.strerror}); name a file of yours") from None
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Parses the command line and does what it says. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m diagrams", description="Draw executions.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("export", help="write a scenario's diagram to a file")
    command.add_argument("scenario", metavar="SCENARIO")
    command.add_argument("--format", choices=sorted(FORMATS), required=True)
    command.add_argument("-o", dest="output", metavar="FILE", required=True)
    command.add_argument("--step", type=int, metavar="K", help="the step to show (default: the last)")
    command.set_defaults(act=_export)
    chosen = parser.parse_args(arguments)
    try:
        status: int = chosen.act(chosen)
    except ScenarioError as problem:
        print(problem, file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
