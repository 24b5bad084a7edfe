"""The page on the command lines, from their parsers."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from unittest.mock import patch

from cluster.__main__ import main as cluster_main
from diagrams.__main__ import main as diagrams_main
from pipeline.__main__ import main as pipeline_main
from sim.__main__ import main as sim_main
from tests.project.reference.markdown import cell, code, page, table

MAINS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "sim": sim_main, "diagrams": diagrams_main, "pipeline": pipeline_main, "cluster": cluster_main,
}  # fmt: skip


class Found(Exception):
    """Carries the parser of a command line out of the function that makes it."""


def parser_of(main: Callable[[Sequence[str]], int]) -> argparse.ArgumentParser:
    """The parser that a `main` would parse its arguments with."""

    def hand_out(self: argparse.ArgumentParser, *arguments: object) -> None:
        raise Found(self)

    with patch.object(argparse.ArgumentParser, "parse_args", hand_out):
        try:
            main([])
        except Found as found:
            own: argparse.ArgumentParser = found.args[0]
            return own
    raise AssertionError("this main parses no arguments")


def command_lines() -> str:
    """The page on all commands."""
    return page("Command lines", *(part for name, main in MAINS.items() for part in _program(name, parser_of(main))))


def _program(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## python -m {name}"
    yield cell(parser.description or "")
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            told = {own.dest: own.help for own in action._choices_actions}
            for command, own in action.choices.items():
                yield from _command(f"python -m {name} {command}", own, told.get(command))


def _command(call: str, parser: argparse.ArgumentParser, told: str | None) -> Iterator[str]:
    inner = [own for own in parser._actions if isinstance(own, argparse._SubParsersAction)]
    own = [
        action
        for action in parser._actions
        if not isinstance(action, argparse._SubParsersAction | argparse._HelpAction)
    ]
    yield f"### {call}"
    yield cell(parser.description or told or "")
    yield table(("argument", "meaning"), ((_argument(action), _help_of(parser, action)) for action in own))
    for group in inner:
        words = {each.dest: each.help for each in group._choices_actions}
        for name, each in group.choices.items():
            yield from _command(f"{call} {name}", each, words.get(name))


def _argument(action: argparse.Action) -> str:
    values = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    takes = "" if action.nargs == 0 else values if isinstance(values, str) else " ".join(values)
    return code(" ".join(part for part in (", ".join(action.option_strings), takes) if part))


def _help_of(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return parser._get_formatter()._expand_help(action) if action.help else ""
