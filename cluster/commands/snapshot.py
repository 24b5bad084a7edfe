"""The command snapshot: take one, print the contents of one, or cancel one."""

from __future__ import annotations

import argparse

from cluster.commands.parsers import Commands, add_address, add_command, client_of, print_json
from cluster.model import SNAPSHOT_TYPES, Status


def add(commands: Commands) -> None:
    """Add the command."""
    about = "take a snapshot, and wait until it has ended (exit status 1 if it is not COMPLETED)"
    examples = ("snapshot --node P3", "snapshot --type full", "snapshot --show snap-0001-abcde")
    parser = add_command(commands, "snapshot", about, _snapshot, *examples)
    parser.add_argument("--node", help="the node that starts it (default: the coordinator chooses)")
    parser.add_argument("--root", metavar="NAME", help="the storage root, by its name or URI (default: the first)")
    about = "full, or only the changes since the last one (default: as the cluster was started)"
    parser.add_argument("--type", choices=SNAPSHOT_TYPES, help=about)
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--show", metavar="ID", help="take none: print the contents of this one")
    instead.add_argument("--cancel", metavar="ID", help="take none: cancel this one, which is under way")
    add_address(parser)


def _snapshot(arguments: argparse.Namespace) -> int:
    client = client_of(arguments)
    if arguments.show is not None:
        print_json(client.contents(arguments.show))
        return 0
    if arguments.cancel is not None:
        print_json(client.cancel(arguments.cancel))
        return 0
    started = client.trigger(arguments.node, arguments.type, arguments.root)
    found = client.wait(started["snapshot_id"])
    print_json(found)
    return 0 if found["status"] == Status.COMPLETED else 1
