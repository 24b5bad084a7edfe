"""The command fault: inject a fault into a running cluster."""

from __future__ import annotations

import argparse
from typing import Any

from cluster.commands.parsers import Commands, add_address, add_command, client_of
from cluster.model import FAULT_KINDS
from cluster.start.durations import delays
from sim.core.errors import InputError


def add(commands: Commands) -> None:
    """Add the command."""
    about = "inject a fault into a cluster that was started with --allow-faults"
    examples = (
        "fault kill P2", "fault freeze P2", "fault thaw P2", "fault sever 'P1->P2'", "fault mend",
        "fault delay --delay 50ms..200ms",
    )  # fmt: skip
    parser = add_command(commands, "fault", about, _fault, *examples)
    about = (
        "kill: kill -9 a node; freeze, thaw: stop its process, or let it go on; sever, mend: stop the delivery on "
        "channels, or resume it; delay: delay messages; lose: lose a share of them (they are sent again)"
    )
    parser.add_argument("kind", choices=FAULT_KINDS, help=about)
    parser.add_argument("about", nargs="*", metavar="WHERE", help="the node, or channels (default: all channels)")
    parser.add_argument("--delay", metavar="TIME", help="for delay: the delay, such as 50ms..200ms")
    parser.add_argument("--share", type=float, metavar="X", help="for lose: the share of them, from 0 to below 1")
    add_address(parser)


def _fault(arguments: argparse.Namespace) -> int:
    details: dict[str, Any] = {}
    if arguments.kind in ("kill", "freeze", "thaw"):
        if len(arguments.about) != 1:
            raise InputError(f"{arguments.kind}: name one node, such as P2")
        details["node_id"] = arguments.about[0]
    elif arguments.about:
        details["channels"] = arguments.about
    if arguments.kind == "delay":
        if arguments.delay is None:
            raise InputError("delay: say how long with --delay, such as 50ms..200ms; 0ms for none")
        low, high = delays(arguments.delay)
        details |= {"low_ms": low * 1000, "high_ms": high * 1000}
    if arguments.kind == "lose":
        if arguments.share is None:
            raise InputError("lose: say which share of the messages with --share, such as 0.3; 0 for none")
        details["share"] = arguments.share
    client_of(arguments).inject(arguments.kind, **details)
    return 0
