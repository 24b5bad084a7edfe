"""Every command line ends in order at SIGINT and SIGTERM, and at once at a second one."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.tools import ROOT

COMMAND = """
import argparse, signal, sys
from sim.document.command_line import Parser, answer
def act(arguments):
    try:
        print("begun", flush=True)
        signal.pause()
    finally:
        print("saved", flush=True)
        if arguments.slow:
            signal.pause()
parser = Parser()
parser.add_argument("--slow", action="store_true")
parser.set_defaults(act=act)
sys.exit(answer(parser, sys.argv[1:]))
"""


def begun(*arguments: str) -> subprocess.Popen[str]:
    """A command that has begun its work."""
    words = [sys.executable, "-c", COMMAND, *arguments]
    command = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert command.stdout is not None and command.stdout.readline() == "begun\n"
    return command


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_lets_a_command_save_its_work(number: int, status: int) -> None:
    with begun() as command:
        command.send_signal(number)
        assert command.communicate() == ("saved\n", "stopped\n")
        assert command.returncode == status


def test_the_second_signal_ends_it_at_once() -> None:
    with begun("--slow") as command:
        assert command.stdout is not None
        command.send_signal(signal.SIGTERM)
        assert command.stdout.readline() == "saved\n"
        command.send_signal(signal.SIGINT)
        assert command.communicate() == ("", "")
        assert command.returncode == -signal.SIGINT
