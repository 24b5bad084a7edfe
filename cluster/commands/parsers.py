"""Common parts of the commands: a parser, the options that name a running cluster, its client, an answer as JSON."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from cluster.client import TOKEN, USUAL_URL, Client
from sim.document.command_line import Parser

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # the class takes no parameter at run time


def add_command(
    commands: Commands, name: str, about: str, act: Callable[[argparse.Namespace], int], *examples: str,
    also: Sequence[str] = (),
) -> Parser:  # fmt: skip
    """Add a command, and return its parser. `examples` are lines at the end of its help, `also` its other names."""
    lines = "\n".join(f"  python -m cluster {example}" for example in examples)
    parser = commands.add_parser(
        name, aliases=also, help=about, description=f"{about[0].upper()}{about[1:]}.",
        epilog=lines and f"examples:\n{lines}", formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.set_defaults(act=act)
    return parser


def add_address(parser: Parser) -> None:
    """Add the options that name a running cluster: --url and --token."""
    parser.add_argument("--url", default=USUAL_URL, help=f"the address that up has printed (default: {USUAL_URL})")
    add_token(parser)


def add_token(parser: Parser) -> None:
    """Add the option --token."""
    about = f"the secret that every request to the cluster must carry (default: the variable {TOKEN})"
    parser.add_argument("--token", default=os.environ.get(TOKEN), help=about)


def client_of(arguments: argparse.Namespace) -> Client:
    """Return a client of the cluster that --url and --token name."""
    return Client(arguments.url, arguments.token or None)


def print_json(answer: Any) -> None:
    """Print an answer as JSON."""
    print(json.dumps(answer, ensure_ascii=False, indent=1))
