"""The command down: end a running cluster."""

from __future__ import annotations

import argparse

from cluster.commands.parsers import Commands, add_address, add_command, client_of


def add(commands: Commands) -> None:
    """Add the command."""
    add_address(add_command(commands, "down", "end a running cluster, as Ctrl-C does", _down))


def _down(arguments: argparse.Namespace) -> int:
    client_of(arguments).down()
    return 0
