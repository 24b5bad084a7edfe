"""python -m tests.cluster.store.writer FOLDER: takes snapshots and gives old ones up, until it is killed.

Prints a line when a snapshot is COMPLETED, and one before it is given up.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cluster.node.folder import locked
from cluster.store.checkpoints import CheckpointStore
from cluster.store.registry import Registry
from tests.cluster.store.stored import CLUSTER, begin, take, unkeep

CHAIN, MOST = 3, 9  # snapshots that are built on one another, and those that are kept


def main(folder: Path) -> None:
    with locked(folder):
        registry = Registry.open_folder(folder)
        checkpoints = CheckpointStore({"main": str(folder / "root")}, CLUSTER)
        begin(registry)
        number = 0
        while True:
            last = registry.last_completed()
            base = last.id if last and number % CHAIN else None
            id = f"snap-{registry.reserve(1)[0]:04}-abcde"
            take(registry, checkpoints, id, base)
            print("done", id, flush=True)
            number += 1
            while len(kept := registry.kept()) > MOST:
                oldest = [each for each in kept if each.base is None][-1]
                chain = kept[: kept.index(oldest) + 1]
                needing = [each for each in chain if _leads_to(registry, each.id, oldest.id)]
                for each in needing:  # the newest first
                    print("gone", each.id, flush=True)
                    unkeep(registry, checkpoints, each)


def _leads_to(registry: Registry, id: str | None, end: str) -> bool:
    while id is not None and id != end:
        found = registry.snapshot(id)
        id = found.base if found else None
    return id == end


if __name__ == "__main__":
    main(Path(sys.argv[1]))
