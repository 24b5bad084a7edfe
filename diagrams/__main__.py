"""python -m diagrams: export a scenario's diagram, at any step, without a browser.

Exit status: 0 done; 2 bad input, with one line on stderr.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from diagrams.export import exporter, formats
from diagrams.scene import compose
from sim import library
from sim.command import Parser, answer
from sim.execution import run
from sim.scenario import ScenarioError


def _export(arguments: Namespace) -> int:
    scene = compose(run(library.find(arguments.scenario)))
    step = scene.last if arguments.step is None else arguments.step
    if not 0 <= step <= scene.last:
        raise ScenarioError(f"--step {step}: {arguments.scenario} has steps 0 to {scene.last}")
    output = Path(arguments.output)
    try:
        output.write_text(exporter(arguments.format)(scene, step), encoding="utf-8")
    except OSError as problem:
        raise ScenarioError(f"{output}: cannot be written ({problem.strerror}); name a file of yours") from None
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Parses the command line and does what it says. Returns the exit status."""
    parser = Parser(prog="python -m diagrams", description="Draw executions.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("export", help="write a scenario's diagram to a file")
    command.add_argument("scenario", metavar="SCENARIO")
    command.add_argument("--format", choices=formats(), required=True)
    command.add_argument("-o", dest="output", metavar="FILE", required=True)
    command.add_argument("--step", type=int, metavar="K", help="the step to show (default: the last)")
    command.set_defaults(act=_export)
    return answer(parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
