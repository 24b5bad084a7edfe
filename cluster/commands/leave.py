"""The command leave: end a node for good."""

from __future__ import annotations

import argparse

from cluster.commands.parsers import Commands, add_address, add_command, client_of, print_json


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "leave", "let a node leave the system, and end it", _leave, "leave P4")
    parser.add_argument("node", metavar="NODE", help="the node, such as P4")
    add_address(parser)


def _leave(arguments: argparse.Namespace) -> int:
    print_json(client_of(arguments).leave(arguments.node))
    return 0
