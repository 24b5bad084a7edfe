"""python -m cluster: run the rule books in processes of the operating system.

Exit status: 0 done; 1 a snapshot is not COMPLETED, or the audit of chaos has found a mistake; 2 bad input, with one
line on stderr; 130 ended by Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from cluster.commands import PARSERS
from sim.document.command_line import Parser, answer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line. Returns the exit status."""
    parser = Parser(prog="python -m cluster", description=__doc__.splitlines()[0] if __doc__ else "")
    commands: argparse._SubParsersAction[Parser] = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in PARSERS:
        add(commands)
    return answer(parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
