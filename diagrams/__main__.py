"""python -m diagrams: export a scenario's diagram, at any step, without a browser; list the formats.

Exit status: 0 done; 2 bad input, with one line on stderr.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from diagrams.export import check_draws_rows, check_meant, exporter, formats, options_of, read_options
from diagrams.scene.composition import compose
from diagrams.scene.export_options import SHARED, Option
from diagrams.scene.row import Row, row_of
from diagrams.scene.view import View
from sim.core.errors import InputError
from sim.document import library
from sim.document.command_line import Parser, answer
from sim.document.scenario import Scenario
from sim.edit.compared import all_compared
from sim.explain.domino import FAILED_HELP, with_failed
from sim.run.execution import run


def _export(arguments: Namespace) -> int:
    given = {flag[2:]: text for flag, text in vars(arguments).items() if flag.startswith("--") and text is not None}
    asked = read_options(arguments.format, given)
    check_meant(arguments.format, asked, is_row=arguments.algorithms is not None)
    scenario = with_failed(library.find(arguments.scenario), arguments.failed)
    if arguments.algorithms is None:
        row, scene = None, compose(run(scenario))
    else:
        check_draws_rows(arguments.format)
        row = _row(scenario, arguments.algorithms)
        scene = row.scenes[0]
    _write(Path(arguments.output), exporter(arguments.format).export(scene, View.of(scene, row=row, **asked)))
    return 0


def _row(scenario: Scenario, algorithms: str) -> Row:
    """The runs of a scenario under algorithms, named with commas between as in the command line. Raises InputError."""
    found = all_compared(scenario, [name.strip() for name in algorithms.split(",")])
    return row_of([(own.title, compose(own.execution) if own.execution else own.refused or "") for own in found])


def _formats(arguments: Namespace) -> int:
    print("formats")
    for name in formats():
        print(f"  {name:28} {exporter(name).TITLE} ({exporter(name).SUFFIX})")
        print(f"    {exporter(name).FOR}")
        for option in options_of(name):
            print(f"    --{option.name:24} {option.help}")
    return 0


def _write(output: Path, content: bytes) -> None:
    """Write a file completely or not at all; a pipe, a device or the target of a link is written directly."""
    try:
        if output.exists() and (not output.is_file() or output.is_symlink()):
            output.write_bytes(content)
            return
        whole = output.with_name(f".{os.getpid()}")
        try:
            whole.write_bytes(content)
            whole.replace(output)
        finally:
            whole.unlink(missing_ok=True)
    except OSError as problem:
        raise InputError(f"{output}: cannot be written ({problem.strerror}); name a file that you may write") from None


def _add_flags(command: Parser) -> None:
    """Add a flag for each field of a view, and for each option of a format."""
    for option in SHARED:
        _add_flag(command, option, option.help)
    shared = {option.name for option in SHARED}
    own = [(form, option) for form in formats() for option in options_of(form) if option.name not in shared]
    for name in dict.fromkeys(option.name for _, option in own):
        told = [(form, option) for form, option in own if option.name == name]
        _add_flag(command, told[0][1], "; ".join(f"{form}: {option.help}" for form, option in told))


def _add_flag(command: Parser, option: Option, words: str) -> None:
    flag = f"--{option.name}"
    if option.kind == "flag":
        command.add_argument(flag, dest=flag, action="store_const", const="yes", help=words)
        return
    command.add_argument(flag, dest=flag, metavar=option.metavar, help=words.replace("%", "%%"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line and carry it out. Return the exit status."""
    parser = Parser(prog="python -m diagrams", description="Draw executions.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("export", help="write a scenario's diagram, deck, table or document to a file")
    command.add_argument("scenario", metavar="SCENARIO")
    command.add_argument("--format", choices=formats(), required=True)
    command.add_argument("-o", dest="output", metavar="FILE", required=True)
    command.add_argument(
        "--algorithms", metavar="A,B,C",
        help="the scenario under each of these algorithms, at most four, as one figure, such as mattern,lai_yang; "
        "its steps are the moments at which one of the runs makes a step",
    )  # fmt: skip
    command.add_argument("--failed", metavar="P1,P2", help=FAILED_HELP)
    _add_flags(command)
    command.set_defaults(act=_export)
    command = commands.add_parser("formats", help="list the formats with their options")
    command.set_defaults(act=_formats)
    return answer(parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
