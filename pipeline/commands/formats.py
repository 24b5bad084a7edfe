"""formats: prints the log formats that ingest reads, with their suffixes and options."""

from __future__ import annotations

import argparse

from pipeline import formats
from pipeline.commands import Commands
from pipeline.logs.format import ANYTHING


def add(commands: Commands) -> None:
    """Adds the command."""
    command = commands.add_parser("formats", help="the log formats that ingest reads")
    command.set_defaults(act=_formats)


def _formats(arguments: argparse.Namespace) -> int:
    print("formats")
    for name in formats.names():
        suffixes = [suffix if suffix != ANYTHING else "any other" for suffix in formats.suffixes_of(name)]
        print(f"  {name:28} {formats.find(name).TITLE}" + (f" ({', '.join(suffixes)})" if suffixes else ""))
        for option in formats.options_of(name):
            print(f"    --{option.name:24} {option.help or option.label}")
    return 0
