"""The parser and the exit status that all command lines share. Every error is one line."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from typing import NoReturn

from sim.core.errors import InputError


class Parser(argparse.ArgumentParser):
    """A parser that prints an error as one line."""

    def error(self, message: str) -> NoReturn:
        """Prints one line on stderr and exits with status 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def answer(parser: Parser, arguments: Sequence[str] | None) -> int:
    """Parses `arguments` and calls the `act` of the chosen command. Returns the exit status (2: bad input)."""
    chosen = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status: int = chosen.act(chosen)
    except InputError as problem:
        print(problem, file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output, such as `head`, has closed it
        sys.stderr.close()
        return 0
    return status
