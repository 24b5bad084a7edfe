"""The command join: start a node that is absent."""

from __future__ import annotations

import argparse

from cluster.commands.parsers import Commands, add_address, add_command, client_of, print_json


def add(commands: Commands) -> None:
    """Add the command."""
    about = "start a node that is absent, so that it joins the system"
    parser = add_command(commands, "join", about, _join, "join", "join P4")
    parser.add_argument("node", nargs="?", metavar="NODE", help="the node (default: the first that is absent)")
    add_address(parser)


def _join(arguments: argparse.Namespace) -> int:
    print_json(client_of(arguments).join(arguments.node))
    return 0
