"""python -m tests.cluster.matrix.launcher up ...: a cluster that gates hinder, in the folder of the variable GATES.

They say how its storage behaves, its registry, and the network between two of its nodes.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cluster.matrix.gates import FULL, REFUSE, Gates
from tests.cluster.matrix.proxy import Proxy

VARIABLE = "GATES"
DISK, REGISTRY, CABLE, COMMIT = "folder", "registry", "cable", "commit"  # the gates
ENDS = 0, 1  # the numbers of the nodes between which the cable is
WORDS = {REFUSE: "disk I/O error", FULL: "database or disk is full"}  # SQLite's own
ERRORS = {REFUSE: errno.EIO, FULL: errno.ENOSPC}


def hinder_storage(gates: Gates) -> None:
    """A folder behaves as its gate says; a manifest is written when the gate for it says so, wherever it goes."""
    from cluster.store import places

    def hindered(own: Callable[..., Any], is_folder: bool) -> Callable[..., Any]:
        def act(self: Any, name: str, *others: Any) -> Any:
            if own.__name__ == "write" and name.endswith(".json"):
                gates.passes(COMMIT)
            problem = ERRORS.get(gates.passes(DISK)) if is_folder else None
            if problem == errno.EIO or (problem == errno.ENOSPC and own.__name__ == "write"):
                raise OSError(problem, os.strerror(problem))
            return own(self, name, *others)

        return act

    for place in (places.LocalFolder, places.Bucket):
        for method in ("write", "read", "listing", "remove", "remove_folder"):
            own = getattr(place, method)
            setattr(place, method, hindered(own, place is places.LocalFolder))


def hinder_registry(gates: Gates) -> None:
    """A database of SQLite behaves as its gate says."""

    class Cursor(sqlite3.Cursor):
        def execute(self, *statement: Any) -> Any:
            words = WORDS.get(gates.passes(REGISTRY))
            if words is not None:
                raise sqlite3.OperationalError(words)
            return super().execute(*statement)

    class Connection(sqlite3.Connection):
        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

    connect = sqlite3.dbapi2.connect

    def connected(*arguments: Any, **settings: Any) -> Any:
        return connect(*arguments, **{"factory": Connection, **settings})

    sqlite3.connect = sqlite3.dbapi2.connect = connected


def hinder_network(gates: Gates) -> None:
    """Messages between the nodes ENDS go over a cable that behaves as its gate says."""
    from cluster.control.members import Member

    tell = Member.tell

    def told(self: Any, system: Any, what: str, body: Any) -> Any:
        if what == "peers" and self.number in ENDS:
            (other,) = set(ENDS) - {self.number}
            if other in body:
                host, port, *rest = body[other]
                body = {**body, other: [host, over(host, port), *rest]}
        return tell(self, system, what, body)

    cables: dict[tuple[str, int], Proxy] = {}

    def over(host: str, port: int) -> int:
        known = cables.get((host, port))
        if known is None:
            known = cables[host, port] = Proxy(gates, CABLE, (host, port))
        return known.port

    Member.tell = told  # type: ignore[method-assign]


def main() -> int:
    """Run a command of python -m cluster."""
    gates = Gates(Path(os.environ[VARIABLE]))
    hinder_registry(gates)
    hinder_storage(gates)
    hinder_network(gates)
    from cluster.__main__ import main as command

    return command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
