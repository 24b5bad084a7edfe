"""The common parts of all command lines: the parser, the exit status, the end by a signal. Every error is one line.

Exit status: 0 done; 2 bad input; 130 stopped by Ctrl-C (SIGINT), 143 by SIGTERM. A command may document others.
"""

from __future__ import annotations

import argparse
import io
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from sim.core.errors import InputError


class Parser(argparse.ArgumentParser):
    """A parser that prints an error as one line."""

    def error(self, message: str) -> NoReturn:
        """Prints one line on stderr and exits with status 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


class Stopped(KeyboardInterrupt):
    """A signal asks the command to stop. `status` is the exit status that says so."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """The first Ctrl-C or SIGTERM raises Stopped in the block. A second one ends the process at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        raise Stopped(number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def answer(parser: Parser, arguments: Sequence[str] | None, goodbye: str = "stopped") -> int:
    """Parses `arguments` and calls the `act` of the chosen command. Returns the exit status.

    `goodbye` is what a command says that a signal has stopped.
    """
    chosen = parser.parse_args(arguments)
    try:
        with stopped_by_signals():
            return _act(chosen)
    except Stopped as stopped:
        print(goodbye, file=sys.stderr)
        return stopped.status


def _act(chosen: argparse.Namespace) -> int:
    """Carries out the chosen command. Returns the exit status."""
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
