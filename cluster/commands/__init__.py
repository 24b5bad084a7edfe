"""The commands of `python -m cluster`: each module with a function `add` is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cluster.commands import (
    chaos,
    down,
    fault,
    inversions,
    join,
    leave,
    replay,
    restore,
    snapshot,
    status,
    up,
)
from cluster.commands.parsers import Commands

PARSERS: Sequence[Callable[[Commands], None]] = (
    up.add, status.add, snapshot.add, restore.add, down.add, join.add, leave.add, fault.add, replay.add, chaos.add,
    inversions.add,
)  # fmt: skip
