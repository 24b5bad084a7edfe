"""The cells of the matrix: who is hit by what, and when; every pair of values is in one, or is named as meaningless."""

from __future__ import annotations

from itertools import combinations, product
from typing import NamedTuple

from tests.tools import pairs

NODE, NODES, CONTROLLER, EVERYTHING = "one node", "two nodes", "the controller", "everything"
SQLITE, POSTGRESQL, FOLDER, S3, NETWORK = "SQLite", "PostgreSQL", "a storage folder", "S3", "the network between two"
WHO = NODE, NODES, CONTROLLER, EVERYTHING, SQLITE, POSTGRESQL, FOLDER, S3, NETWORK

KILL, HALF, THREE, SLOW, HANG = (
    "is killed",
    "stops for half the limit",
    "stops for thrice the limit",
    "is slow",
    "hangs",
)
REFUSE, FULL, LOCKED = "refuses", "has a full disk", "is locked"
WHAT = KILL, HALF, THREE, SLOW, HANG, REFUSE, FULL, LOCKED

CALM, UNDER_WAY, COMMITTING = "calm", "snapshot under way", "committing"
RESTORING, JOINING, LEAVING = "restoring", "joining", "leaving"
WHEN = CALM, UNDER_WAY, COMMITTING, RESTORING, JOINING, LEAVING

PROCESSES = NODE, NODES, CONTROLLER, EVERYTHING
_HANGS = "a process that hangs stands still, as one that is stopped does"
_REFUSES = "nobody asks a process of the cluster but over the network, which has a row of its own"
_IS_LOCKED = "only a database has locks that others can hold"
_IS_FILE = "it is files, and no process that could be killed or stopped"
MEANINGLESS: dict[tuple[str, str], str] = {
    **{(who, HANG): _HANGS for who in PROCESSES},
    **{(who, REFUSE): _REFUSES for who in PROCESSES},
    **{(who, LOCKED): _IS_LOCKED for who in (*PROCESSES, FOLDER, S3, NETWORK)},
    **{(who, what): _IS_FILE for who in (SQLITE, FOLDER) for what in (KILL, HALF, THREE)},
    (POSTGRESQL, FULL): "its disk is not that of the logs, and what it cannot write it refuses",
    (S3, KILL): "for who asks it, a service that is no more refuses",
    (S3, FULL): "it has no disk of this machine, and what it cannot write it refuses",
    (NETWORK, KILL): "it is no process; what is cut off refuses",
    (NETWORK, FULL): "it has no disk",
}


class Cell(NamedTuple):
    """A cell of the matrix: `who` is hit by `what`, and `when`."""

    who: str
    what: str
    when: str

    def __str__(self) -> str:
        return f"{self.who} {self.what} - {self.when}"


# Those that `make test` has: each of them has broken a cluster once.
TELLING = (
    Cell(NODE, THREE, UNDER_WAY),
    Cell(CONTROLLER, THREE, CALM),
    Cell(SQLITE, LOCKED, COMMITTING),
    Cell(NODE, KILL, RESTORING),
    Cell(S3, HANG, UNDER_WAY),
)


def is_possible(cell: tuple[str, ...]) -> bool:
    """Whether a cell means something."""
    return cell[:2] not in MEANINGLESS


def cells() -> list[Cell]:
    """Few cells with every pair of values that means something, those of TELLING first. Always the same ones."""
    return [Cell(*own) for own in pairs(WHO, WHAT, WHEN, first=TELLING, is_possible=is_possible)]


def uncovered(chosen: list[Cell]) -> set[tuple[str, str]]:
    """The pairs of values, of two columns, that are in no cell."""
    columns = WHO, WHAT, WHEN
    wanted = {pair for one, other in combinations(columns, 2) for pair in product(one, other)}
    return wanted - {pair for cell in chosen for pair in combinations(cell, 2)}
