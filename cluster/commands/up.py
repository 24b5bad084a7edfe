"""The command up: start a cluster in the foreground."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from cluster.commands.parsers import Commands, add_command, add_token
from cluster.commands.system_options import add_system, wanted_of
from cluster.start.foreground import up
from cluster.start.wanted import PORT
from sim.core.errors import InputError


def add(commands: Commands) -> None:
    """Add the command."""
    about = "start a cluster in the foreground, one process of the operating system for each node; Ctrl-C ends it"
    examples = (
        "up lecture", "up --nodes 4 --out data/live --allow-faults --delay 50ms..200ms",
        "up --nodes 4 --out data/live --restore",
    )  # fmt: skip
    parser = add_command(commands, "up", about, _up, *examples)
    add_system(parser)
    about = "the folder for logs and snapshots (default: a temporary one, deleted at the end)"
    parser.add_argument("--out", type=Path, metavar="DIR", help=about)
    about = "a storage root for snapshots: a path or s3://bucket/folder; may be repeated (default: DIR/snapshots)"
    parser.add_argument("--root", action="append", default=[], metavar="NAME=URI", help=about)
    about = "a database that lists snapshots, such as postgresql://user@host/database (default: a file in DIR)"
    parser.add_argument("--registry", metavar="URL", help=about)
    about = "begin from a snapshot in DIR (without ID: the last one)"
    parser.add_argument("--restore", nargs="?", const="", metavar="ID", help=about)
    about = "the address of its API (default: 127.0.0.1, for this machine only; another one needs a token)"
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help=about)
    parser.add_argument("--port", type=int, default=PORT, help=f"its port (default: {PORT}; 0: any that is free)")
    about = "run a node as another program, such as 'P3=node p3.js'; with --transport grpc; may be repeated"
    parser.add_argument("--program", action="append", default=[], metavar="NODE=COMMAND", help=about)
    about = "let python -m cluster fault kill nodes and sever channels"
    parser.add_argument("--allow-faults", action="store_true", help=about)
    add_token(parser)


def _up(arguments: argparse.Namespace) -> int:
    wanted = wanted_of(arguments)
    roots = _pairs(arguments.root, "--root: {} is no root; write NAME=URI, such as archive=s3://bucket/folder")
    wanted.programs = _pairs(arguments.program, "--program: {} is none; write NODE=COMMAND, such as 'P3=node p3.js'")
    if arguments.restore is not None and arguments.out is None:
        raise InputError("--restore: a snapshot is in the folder of a cluster; name it with --out")
    wanted.folder, wanted.roots, wanted.registry = arguments.out, roots, arguments.registry
    wanted.restores, wanted.restore = arguments.restore is not None, arguments.restore or None
    wanted.host, wanted.port, wanted.token = arguments.host, arguments.port, arguments.token or None
    wanted.allows_faults = arguments.allow_faults
    return up(wanted)


def _pairs(texts: Sequence[str], complaint: str) -> dict[str, str]:
    """Return the values of texts NAME=VALUE, by name. Raises InputError."""
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value:
            raise InputError(complaint.format(repr(text)))
        found[name] = value
    return found
