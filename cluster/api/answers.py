"""The bodies of answers. Field names are those of the system design document."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cluster.model import Epoch, Node, NodeStatus, Restored, Snapshot, Status


class ProblemBody(BaseModel):
    """An error (RFC 9457): `detail` is a sentence with the mistake and the remedy."""

    model_config = ConfigDict(title="Problem")

    type: str
    title: str
    status: int
    detail: str
    instance: str


class TriggerAnswer(BaseModel):
    """The answer to a request for a snapshot."""

    snapshot_id: str
    status: Status
    initiated_at: datetime
    estimated_completion_ms: int = Field(
        description="The median duration of the last completed snapshots, in milliseconds. Before the first one: the "
        "time of markers across the system by the delays that are set, and at most the time to live."
    )


class SnapshotAnswer(BaseModel):
    """The row of a snapshot in the registry."""

    snapshot_id: str
    status: Status
    reason: str
    snapshot_type: Literal["full", "incremental"] = Field(
        description="The actual type of a completed snapshot; of any other one, the type that was asked for."
    )
    base_snapshot_id: str | None = Field(description="The snapshot on which an incremental one is built.")
    initiated_by_node_id: str | None
    initiated_at: datetime
    ended_at: datetime | None
    duration_ms: int | None
    total_size_bytes: int
    nodes_completed: int
    nodes_failed: int = Field(description="If the snapshot has failed: the number of nodes whose part is not stored.")
    node_ids: list[str]
    epoch: int
    checkpoint_manifest_uri: str | None
    is_kept: bool = Field(description="Whether the system can go back to it.")

    @classmethod
    def of(cls, snapshot: Snapshot) -> SnapshotAnswer:
        """Return the answer about a row of the registry."""
        failed = snapshot.status.is_final and snapshot.status is not Status.COMPLETED
        return cls.model_validate(
            {
                "snapshot_id": snapshot.id,
                "status": snapshot.status,
                "reason": snapshot.reason,
                "snapshot_type": snapshot.type,
                "base_snapshot_id": snapshot.base,
                "initiated_by_node_id": snapshot.initiator,
                "initiated_at": snapshot.initiated_at,
                "ended_at": snapshot.ended_at,
                "duration_ms": None if snapshot.duration is None else round(snapshot.duration),
                "total_size_bytes": snapshot.size,
                "nodes_completed": len(snapshot.completed),
                "nodes_failed": len(set(snapshot.nodes) - set(snapshot.completed)) if failed else 0,
                "node_ids": list(snapshot.nodes),
                "epoch": snapshot.epoch,
                "checkpoint_manifest_uri": snapshot.manifest_uri,
                "is_kept": snapshot.is_kept,
            }
        )


class SnapshotsAnswer(BaseModel):
    """A page of snapshots, the newest first."""

    snapshots: list[SnapshotAnswer]
    next: str | None = Field(description="The address of the next page.")


class ProcessContents(BaseModel):
    """A process at a snapshot: its state, and the number of its application events inside the cut."""

    state: Any
    events: int


class ContentsAnswer(BaseModel):
    """The contents of a snapshot: states of processes, and bodies of messages in channels, the oldest first."""

    snapshot_id: str
    epoch: int
    processes: dict[str, ProcessContents]
    channels: dict[str, list[Any]]


class RestoreAnswer(BaseModel):
    """A finished rollback: the new epoch, and its first snapshot (null: it began from the initial states)."""

    epoch: int
    snapshot_id: str | None
    duration_ms: int

    @classmethod
    def of(cls, restored: Restored) -> RestoreAnswer:
        """Return the answer about a rollback."""
        return cls(epoch=restored.epoch, snapshot_id=restored.snapshot, duration_ms=round(restored.duration))


class EpochAnswer(BaseModel):
    """An epoch: the snapshot from which it began (null: the initial states), and the last one committed in it."""

    epoch: int
    began_at: datetime
    reason: str
    snapshot_id: str | None
    last_snapshot_id: str | None


class EpochsAnswer(BaseModel):
    """All epochs, the newest first."""

    epochs: list[EpochAnswer]

    @classmethod
    def of(cls, epochs: Sequence[Epoch]) -> EpochsAnswer:
        """Return the answer about epochs."""
        return cls(
            epochs=[
                EpochAnswer(
                    epoch=one.number, began_at=one.began_at, reason=one.reason,
                    snapshot_id=one.snapshot, last_snapshot_id=one.last,
                )
                for one in epochs
            ]
        )  # fmt: skip


class NodeAnswer(BaseModel):
    """The last report of a node: its process, its port, and totals since its start."""

    node_id: str
    status: NodeStatus
    pid: int | None
    port: int | None
    epoch: int
    counts: dict[str, int] | None

    @classmethod
    def of(cls, node: Node) -> NodeAnswer:
        """Return the answer about a node."""
        counts = None if node.counts is None else dict(node.counts)
        return cls(node_id=node.name, status=node.status, pid=node.pid, port=node.port, epoch=node.epoch, counts=counts)


class NodesAnswer(BaseModel):
    """All nodes, absent ones included."""

    nodes: list[NodeAnswer]


class HealthAnswer(BaseModel):
    """The health of the controller. While its registry does not answer, changes wait to be written."""

    status: Literal["ok"] = "ok"
    registry: Literal["ok", "unavailable"] = "ok"
    registry_changes_waiting: int = Field(0, description="The number of changes that wait.")
