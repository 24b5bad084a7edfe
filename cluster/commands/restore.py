"""The command restore: roll the system back to a snapshot."""

from __future__ import annotations

import argparse

from cluster.commands.parsers import Commands, add_address, add_command, client_of, print_json


def add(commands: Commands) -> None:
    """Add the command."""
    about = "roll the complete system back to a snapshot: all states, and all channels"
    examples = ("restore", "restore snap-0001-abcde", "restore --epoch 0")
    parser = add_command(commands, "restore", about, _restore, *examples)
    parser.add_argument("snapshot", nargs="?", metavar="ID", help="the snapshot (default: the last that is stored)")
    parser.add_argument("--epoch", type=int, metavar="E", help="instead of ID: the last one committed in this epoch")
    add_address(parser)


def _restore(arguments: argparse.Namespace) -> int:
    print_json(client_of(arguments).restore(arguments.snapshot, arguments.epoch))
    return 0
