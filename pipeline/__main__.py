"""python -m pipeline: run ensembles of executions, read logs of other programs, audit both.

Exit status: 0 done; 2 bad input, with one line on stderr; 130 stopped by Ctrl-C (SIGINT), 143 by SIGTERM. Finished
work is kept then. A second signal ends the command at once.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

from pipeline.commands import add_all
from sim.document.command_line import Parser, answer


def main(arguments: Sequence[str] | None = None) -> int:
    """Parses the command line and carries out the command. Returns the exit status."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.getLogger("pipeline").setLevel(logging.INFO)
    parser = Parser(prog="python -m pipeline", description="Ensembles and logs on Spark.")
    add_all(parser.add_subparsers(required=True, metavar="COMMAND"))
    return answer(parser, arguments, "stopped; what was finished is kept")


if __name__ == "__main__":
    sys.exit(main())
