"""What the command lines share: one line for every complaint, and the exit status."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from typing import NoReturn

from sim.core.errors import InputError


class Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        """One line on stderr, exit status 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def answer(parser: Parser, arguments: Sequence[str] | None) -> int:
    """Does what the command line says, by the chosen command's `act`. Returns the exit status."""
    chosen = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status: int = chosen.act(chosen)
    except InputError as problem:
        print(problem, file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        sys.stderr.close()
        return 0
    return status
