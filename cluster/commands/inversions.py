"""The command inversions: an experiment with markers that are calls of their own."""

from __future__ import annotations

import argparse

from cluster.commands.parsers import Commands, add_command, print_json
from sim.core.errors import InputError


def add(commands: Commands) -> None:
    """Add the command."""
    about = "an experiment: how often the order changes if a marker is a call of its own, outside the stream"
    parser = add_command(commands, "inversions", about, _inversions, "inversions --messages 30000 --at-once 64")
    parser.add_argument("--messages", type=int, default=10_000, metavar="N", help="the number (default: 10000)")
    about = "calls under way at the same time (default: 64)"
    parser.add_argument("--at-once", type=int, default=64, metavar="N", help=about)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _inversions(arguments: argparse.Namespace) -> int:
    from cluster.rpc import inversions  # gRPC takes a moment to load

    for name, most in (("messages", 1_000_000), ("at_once", 1_000)):
        if not 1 <= getattr(arguments, name) <= most:
            raise InputError(f"--{name.replace('_', '-')}: from 1 to {most:,}, not {getattr(arguments, name)}")
    found = [inversions.run(way, arguments.messages, at_once=arguments.at_once) for way in inversions.WAYS]
    if arguments.json:
        print_json([own._asdict() for own in found])
        return 0
    for own in found:
        print(f"{own.way}: {own.messages:,} messages, {own.markers:,} markers")
        print(f"  {own.early:,} markers came too early, and left out {own.left_out:,} messages sent before them")
        print(f"  {own.late:,} markers came too late, and let in {own.let_in:,} messages sent after them")
        print(f"  {own.overtaken:,} messages came after one that was sent later")
    return 0
