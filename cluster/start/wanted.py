"""The description of a cluster that is to start, and its usual values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cluster.node.system import TCP, USUAL, Patience
from sim.document.scenario import Scenario

UNIT = 0.01  # seconds of a time unit
PORT = 8765
QUEUE = 100  # messages that wait to be sent on a channel until its sender waits; a snapshot may have to keep them all


@dataclass
class Wanted:
    """The cluster that is to start. Durations are in seconds.

    `folder` None: a temporary folder, deleted at the end. `delay`: the least and the most of every channel (None: as
    the scenario says). `programs` holds, by name, the commands of nodes that are not `python -m cluster.node.process`
    (docs/live.md). `roots` are the storage roots, by name (none: a folder in `folder`). `registry` is the URL of a
    database (None: a file in `folder`). `restores`: it begins from the snapshot `restore`, or (None) the last one.
    """

    scenario: Scenario
    folder: Path | None = None
    unit: float = UNIT
    delay: tuple[float, float] | None = None
    has_coordinator: bool = True
    queue: int = QUEUE
    transport: str = TCP
    programs: Mapping[str, str] = field(default_factory=dict)
    allows_faults: bool = False
    roots: Mapping[str, str] = field(default_factory=dict)
    registry: str | None = None
    restores: bool = False
    restore: str | None = None
    host: str = "127.0.0.1"
    port: int = PORT
    token: str | None = None
    patience: Patience = USUAL
