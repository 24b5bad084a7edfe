"""The commands of `python -m pipeline`: one module each, found by its presence here.

A module has `add(commands)`, which adds its parser and sets `act` to what the command does: a function
of the parsed arguments that returns the exit status, and raises InputError with one sentence for bad input.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from typing import TYPE_CHECKING

from sim.document.command_line import Parser

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[Parser]


def add_all(commands: Commands) -> None:
    """Add every command there is, in the order of their names."""
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}").add(commands)
