"""python -m diagrams: export a scenario's diagram, at any step, without a browser.

Exit status: 0 done; 2 bad input, with one line on stderr.
"""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path

from diagrams import theme
from diagrams.export import View, exporter, formats
from diagrams.scene import compose
from sim import library
from sim.command import Parser, answer
from sim.execution import run
from sim.scenario import ORIENTATIONS, ScenarioError


def _export(arguments: Namespace) -> int:
    scene = compose(run(library.find(arguments.scenario)))
    view = View.of(scene, arguments.step, arguments.orientation, arguments.theme, arguments.steps)
    _write(Path(arguments.output), exporter(arguments.format).export(scene, view))
    return 0


def _write(output: Path, content: bytes) -> None:
    """Writes a file as a whole or not at all; what is no file (a pipe, /dev/stdout) is written to directly."""
    try:
        if output.exists() and not output.is_file():
            output.write_bytes(content)
            return
        whole = output.with_name(f".{os.getpid()}")
        try:
            whole.write_bytes(content)
            whole.replace(output)
        finally:
            whole.unlink(missing_ok=True)
    except OSError as problem:
        raise ScenarioError(f"{output}: cannot be written ({problem.strerror}); name a file of yours") from None


def _range(text: str) -> tuple[int, int]:
    """`3-7` as the pair of its ends."""
    ends = re.fullmatch(r"(\d+)-(\d+)", text)
    if ends is None:
        raise ArgumentTypeError(f"{text!r} is no range of steps; give the first and the last one, such as 3-7")
    return int(ends[1]), int(ends[2])


def main(arguments: Sequence[str] | None = None) -> int:
    """Parses the command line and does what it says. Returns the exit status."""
    parser = Parser(prog="python -m diagrams", description="Draw executions.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("export", help="write a scenario's diagram, deck, table or document to a file")
    command.add_argument("scenario", metavar="SCENARIO")
    command.add_argument("--format", choices=formats(), required=True)
    command.add_argument("-o", dest="output", metavar="FILE", required=True)
    command.add_argument("--step", type=int, metavar="K", help="the step to show (default: the last)")
    command.add_argument("--orientation", choices=ORIENTATIONS, help="where time runs (default: as the scenario says)")
    command.add_argument("--theme", choices=sorted(theme.PALETTES, reverse=True), default="light")
    command.add_argument("--steps", type=_range, metavar="A-B", help="the steps of a deck or gif (default: all)")
    command.set_defaults(act=_export)
    return answer(parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
