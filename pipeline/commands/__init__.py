"""The commands of `python -m pipeline`: each module in this folder is one.

A module has a function `add(commands)`, which adds the command's parser. Its `act` is a function from the parsed
arguments to the exit status; it raises InputError for bad input.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from typing import TypeAlias

from sim.document.command_line import Parser

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # the class takes no parameter at run time

OUT = "the data folder to write: a path, or an address such as s3://bucket/bank"  # the help text of --out


def add_all(commands: Commands) -> None:
    """Adds all commands, sorted by name."""
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}").add(commands)
