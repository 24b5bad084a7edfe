"""The folder of a cluster: one folder of event logs for each start, and the first epoch of a start."""

from __future__ import annotations

from pathlib import Path

from cluster.node.event_log import last_epoch
from cluster.store.holder import Holder, Lease
from cluster.store.registry import Registry
from sim.core.errors import InputError

LOGS = "logs"


def make(folder: Path) -> None:
    """Make a folder, unless it is there. Raises InputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"--out: {folder} cannot be made ({problem.strerror}); name another folder") from None


def first_epoch(registry: Registry, folder: Path, before: Lease | None) -> int:
    """Return an epoch that no earlier controller of this cluster has begun, even if the registry does not know it.

    Each start writes its first epoch before it makes a folder for its logs, so the last logs know of all that follow.
    If they are elsewhere, the epochs that the last controller had in reserve are left out. `before` is its lease.
    """
    last, number = registry.last_epoch(), _last_logs(folder)
    logged = None if number == 0 else last_epoch(folder / LOGS / str(number))
    known = [-1 if last is None else last.number, -1 if logged is None else logged]
    own = Holder.here(folder)
    if before is not None and before.is_held and (before.holder.host, before.holder.folder) != (own.host, own.folder):
        known.append(before.epochs)
    return max(known) + 1


def _last_logs(folder: Path) -> int:
    """Return the number of the folder with the event logs of the last start (0: there was none)."""
    logs = folder / LOGS
    logs.mkdir(exist_ok=True)
    return max((int(path.name) for path in logs.iterdir() if path.name.isdecimal()), default=0)


def next_logs(folder: Path) -> Path:
    """Make a new folder for the event logs of this start (logs/1, logs/2, ...), and return it."""
    found = folder / LOGS / str(_last_logs(folder) + 1)
    found.mkdir()
    return found
