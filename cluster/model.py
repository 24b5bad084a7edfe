"""The vocabulary of a live cluster: snapshots and their states, nodes, epochs, faults, and its controller.

The words are those of the system design: a node runs one process of the system; the controller runs the services and
answers over HTTP. Durations are in milliseconds, sizes in bytes, times in UTC.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from sim.services import increments


class Status(StrEnum):
    """The status of a snapshot. The last four are final, and have a reason unless the snapshot is COMPLETED."""

    INITIATED = "INITIATED"  # requested, and not begun
    IN_PROGRESS = "IN_PROGRESS"
    COMPLETED = "COMPLETED"  # its manifest is written
    FAILED = "FAILED"
    EXPIRED = "EXPIRED"  # it took too long
    CANCELLED = "CANCELLED"  # on request

    @property
    def is_final(self) -> bool:
        """Whether it never changes again."""
        return self not in (Status.INITIATED, Status.IN_PROGRESS)


SNAPSHOT_TYPES = FULL, INCREMENTAL = increments.TYPES


@dataclass(frozen=True)
class Snapshot:
    """A row of the registry.

    `base` is the snapshot on which an incremental one is built (None: it is full). `initiator` is the node that was
    asked to start it (None: the coordinator chose). `root` names the configured root under which it is stored. `nodes`
    are those that take part, `completed` those of which the part is stored. `size` counts the bytes of all parts and of
    the manifest. `is_kept`: its parts are still stored, so the system can go back to it.
    """

    id: str
    status: Status
    type: str
    root: str
    epoch: int
    initiated_at: datetime
    initiator: str | None = None
    base: str | None = None
    reason: str = ""
    ended_at: datetime | None = None
    nodes: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    size: int = 0
    manifest_uri: str | None = None
    is_kept: bool = False

    @property
    def duration(self) -> float | None:
        """Milliseconds from the request to the end (None: it has not ended)."""
        return None if self.ended_at is None else (self.ended_at - self.initiated_at).total_seconds() * 1000


@dataclass(frozen=True)
class Epoch:
    """The time of the system from one recovery to the next.

    It began from `snapshot` (None: the initial states), for a `reason`. `last` is the last snapshot committed in it
    (None: none was).
    """

    number: int
    began_at: datetime
    reason: str
    snapshot: str | None = None
    last: str | None = None


class NodeStatus(StrEnum):
    """The status of a node."""

    STARTING = "STARTING"
    RUNNING = "RUNNING"
    FROZEN = "FROZEN"  # it has said nothing for a while: its process stands still, or cannot be heard
    FAILED = "FAILED"  # its process has ended, and the recovery has not begun
    RECOVERING = "RECOVERING"
    ABSENT = "ABSENT"  # it has left, or not joined yet


@dataclass(frozen=True)
class Node:
    """The last report of a node. `pid` and `port` are None if it has no process. `counts` are totals since its start:
    application messages `sent` and `received`, atomic `actions`, and `waiting` for delivery now."""

    name: str
    status: NodeStatus
    pid: int | None = None
    port: int | None = None
    epoch: int = 0
    counts: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Wish:
    """A request for a snapshot. None: any initiator, the type of the cluster's snapshots, the first root.

    An incremental snapshot is full before the first one is COMPLETED, and if no part would be smaller. The registry has
    its actual type.
    """

    initiator: str | None = None
    type: str | None = None
    root_uri: str | None = None


@dataclass(frozen=True)
class Fault:
    """A fault to inject into the cluster. `kind` is one of FAULT_KINDS.

    kill: end the process of `node` with SIGKILL. freeze, thaw: stop it with SIGSTOP, and let it go on with SIGCONT.
    sever, mend: `channels` deliver nothing, or deliver again. delay: messages on `channels` are delivered after `low`
    to `high` milliseconds. lose: a `share` (0 to 1) of the frames on `channels` is lost, and sent again. No `channels`
    means all of them.
    """

    kind: str
    node: str | None = None
    channels: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    share: float = 0.0


FAULT_KINDS = ("kill", "freeze", "thaw", "sever", "mend", "delay", "lose")


@dataclass(frozen=True)
class Restored:
    """A finished rollback: the new epoch, its snapshot (None: the initial states), and the milliseconds it took."""

    epoch: int
    snapshot: str | None
    duration: float


@dataclass(frozen=True)
class Answer:
    """An answer to a request over HTTP. `body` is JSON."""

    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """The answer to a request with an idempotency key, and the digest of that request."""

    digest: str
    answer: Answer


class Problem(Exception):
    """A request that cannot be carried out. The text is one sentence: the mistake, and the remedy.

    `status` is its HTTP status: 404 unknown, 409 not now, 403 not allowed, 422 an impossible value, 503 the registry or
    the storage does not answer. `headers` go with the answer.
    """

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, dict(headers or {})


class Unavailable(Problem):
    """The registry or the storage does not answer now, so its contents are unknown. The cluster goes on."""

    def __init__(self, sentence: str, after: float = 1.0) -> None:
        """The request may be sent again `after` some seconds."""
        super().__init__(503, sentence, {"Retry-After": str(max(1, math.ceil(after)))})


class Superseded(Problem):
    """Another controller has taken the registry: this one writes nothing more."""

    def __init__(self, sentence: str) -> None:
        super().__init__(409, sentence)


class Controller(Protocol):
    """The requests to a running cluster. Every method raises Problem.

    Methods that are no coroutines may be called in any thread. `snapshot`, `snapshots`, `contents` and `epochs` may
    wait for the registry or the storage, for some seconds at most: an event loop calls them in threads. They raise
    Unavailable.
    """

    name: str  # of the scenario
    allows_faults: bool

    async def trigger(self, wish: Wish) -> Snapshot:
        """Ask for a snapshot, and return it at once: it is INITIATED."""

    def first_estimate(self) -> float:
        """Return the milliseconds that a snapshot may take by the delays that are set, before any is COMPLETED."""

    def snapshot(self, snapshot: str) -> Snapshot:
        """Return one snapshot (404: there is none)."""

    def snapshots(self, status: Status | None, limit: int, before: str | None) -> Sequence[Snapshot]:
        """Return at most `limit` snapshots, the newest first, that are older than the one called `before`."""

    async def cancel(self, snapshot: str) -> Snapshot:
        """Cancel a snapshot under way (409: it has ended)."""

    def contents(self, snapshot: str) -> Mapping[str, Any]:
        """Return the contents of a snapshot: {"processes": {name: {"state", "events"}}, "channels": {name: [body]},
        "epoch"}."""

    async def restore(self, snapshot: str | None, epoch: int | None) -> Restored:
        """Go back to a snapshot, to the last one of an epoch, or (both None) to the last one of all."""

    def epochs(self) -> Sequence[Epoch]:
        """Return all epochs, the newest first."""

    def nodes(self) -> Sequence[Node]:
        """Return all nodes, absent ones included."""

    async def join(self, node: str | None) -> Node:
        """Let an absent node join the system (None: the first such)."""

    async def leave(self, node: str) -> Node:
        """Let a node leave the system."""

    async def inject(self, fault: Fault) -> None:
        """Inject a fault (403: the cluster does not allow that)."""

    def events(self) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the rows of all event logs from now on: columns of the event table, and `clock`, a Lamport clock."""

    def figures(self) -> Mapping[str, float]:
        """Return totals and levels of the controller itself for /metrics: `recoveries`, `last_recovery_seconds`,
        `registry_up` (1 or 0) and `registry_changes_waiting`."""

    async def shut_down(self) -> None:
        """End the cluster."""
