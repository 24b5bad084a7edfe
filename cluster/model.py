"""The vocabulary of a live cluster: snapshots and their states, nodes, epochs, and what may be asked of it.

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
    """How a snapshot is. The last four are final, and have a reason unless the snapshot is COMPLETED."""

    INITIATED = "INITIATED"  # asked for, and not begun
    IN_PROGRESS = "IN_PROGRESS"
    COMPLETED = "COMPLETED"  # its manifest is written
    FAILED = "FAILED"
    EXPIRED = "EXPIRED"  # its time was over
    CANCELLED = "CANCELLED"  # somebody asked for that

    @property
    def is_final(self) -> bool:
        """Whether it never changes again."""
        return self not in (Status.INITIATED, Status.IN_PROGRESS)


SNAPSHOT_TYPES = FULL, INCREMENTAL = increments.TYPES


@dataclass(frozen=True)
class Snapshot:
    """A row of the registry.

    `base` is the snapshot on which an incremental one is built (None: it is whole). `initiator` is the node that was
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

    `snapshot` is what it began from (None: the initial states), `reason` says why it began, and `last` is the last
    snapshot committed in it (None: none was).
    """

    number: int
    began_at: datetime
    reason: str
    snapshot: str | None = None
    last: str | None = None


class NodeStatus(StrEnum):
    """How a node is."""

    STARTING = "STARTING"
    RUNNING = "RUNNING"
    FROZEN = "FROZEN"  # it runs, and has said nothing for a while: its process stands still, or cannot be heard
    FAILED = "FAILED"  # its process has ended, and the recovery has not begun
    RECOVERING = "RECOVERING"
    ABSENT = "ABSENT"  # it has left, or not joined yet


@dataclass(frozen=True)
class Node:
    """A node as it said last. `pid` and `port` are None where it has no process. `counts` are totals since its start:
    application messages `sent` and `received`, atomic `actions`, and `waiting` for delivery now."""

    name: str
    status: NodeStatus
    pid: int | None = None
    port: int | None = None
    epoch: int = 0
    counts: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Wish:
    """A snapshot that somebody asks for. None: any initiator, the type of the cluster's snapshots, the first root.

    One that is to be incremental is full where there is nothing to build on: before the first snapshot is COMPLETED, or
    where no part would be smaller. The registry has the type that it really has.
    """

    initiator: str | None = None
    type: str | None = None
    root_uri: str | None = None


@dataclass(frozen=True)
class Fault:
    """What is to be done to the cluster. `kind` is one of FAULT_KINDS.

    kill: end the process of `node` with SIGKILL. freeze, thaw: stop it with SIGSTOP, and let it go on with SIGCONT.
    sever, mend: `channels` deliver nothing, or deliver again. delay: what comes on `channels` is delivered after `low`
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
    """A finished rollback: the new epoch, what it began from (None: the initial states), and how long it took."""

    epoch: int
    snapshot: str | None
    duration: float


@dataclass(frozen=True)
class Answer:
    """What is sent for a request over HTTP. `body` is JSON."""

    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """The answer to a request with an idempotency key, and the digest of that request."""

    digest: str
    answer: Answer


class Problem(Exception):
    """What somebody asked for cannot be done. The text is one sentence: what, and what would be right.

    `status` is the HTTP status that says so: 404 unknown, 409 not now, 403 not allowed, 422 makes no sense, 503 what it
    needs does not answer. `headers` go with the answer.
    """

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, dict(headers or {})


class Unavailable(Problem):
    """The registry or the storage does not answer now: nobody knows what is there. The cluster goes on."""

    def __init__(self, sentence: str, after: float = 1.0) -> None:
        """The same may be asked again `after` so many seconds."""
        super().__init__(503, sentence, {"Retry-After": str(max(1, math.ceil(after)))})


class Superseded(Problem):
    """Another controller has the registry: this one writes nothing more."""

    def __init__(self, sentence: str) -> None:
        super().__init__(409, sentence)


class Controller(Protocol):
    """What can be asked of a running cluster. Everything raises Problem.

    What is no coroutine may be called in any thread; `snapshot`, `snapshots`, `contents` and `epochs` may wait for the
    registry or the storage, for some seconds at most, so an event loop calls them in threads. They raise Unavailable.
    """

    name: str  # of the scenario
    allows_faults: bool

    async def trigger(self, wish: Wish) -> Snapshot:
        """Ask for a snapshot. It is INITIATED."""

    def first_estimate(self) -> float:
        """Milliseconds that a snapshot may take, by the delays that are set: for want of one that was completed."""

    def snapshot(self, snapshot: str) -> Snapshot:
        """One snapshot (404: there is none)."""

    def snapshots(self, status: Status | None, limit: int, before: str | None) -> Sequence[Snapshot]:
        """At most `limit` snapshots, the newest first, that are older than the one called `before`."""

    async def cancel(self, snapshot: str) -> Snapshot:
        """Give up a snapshot under way (409: it has ended)."""

    def contents(self, snapshot: str) -> Mapping[str, Any]:
        """What was true at a snapshot, without going back to it: {"processes": {name: {"state", "events"}}, "channels":
        {name: [body]}, "epoch"}."""

    async def restore(self, snapshot: str | None, epoch: int | None) -> Restored:
        """Go back to a snapshot, to the last one of an epoch, or (both None) to the last one of all."""

    def epochs(self) -> Sequence[Epoch]:
        """All epochs, the newest first."""

    def nodes(self) -> Sequence[Node]:
        """All nodes that there may be."""

    async def join(self, node: str | None) -> Node:
        """A node that is absent becomes part of the system (None: the first such)."""

    async def leave(self, node: str) -> Node:
        """A node is no longer part of the system."""

    async def inject(self, fault: Fault) -> None:
        """Do something bad to the cluster (403: it does not allow that)."""

    def events(self) -> AsyncIterator[Mapping[str, Any]]:
        """The rows of all event logs from now on, as they come: columns of the event table, and `clock`, Lamport's."""

    def figures(self) -> Mapping[str, float]:
        """Totals and levels of the controller itself, by name, for /metrics: `recoveries`, `last_recovery_seconds`,
        `registry_up` (1 or 0) and `registry_changes_waiting`."""

    async def shut_down(self) -> None:
        """End the cluster."""
