"""The bodies of requests and answers. Field names are those of the system design document.

A field that is not known is an error that names the nearest one. Values are taken as they are: "1" is no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from cluster.model import Epoch, Fault, Node, NodeStatus, Restored, Snapshot, Status, Wish
from sim.core.errors import brief, nearest

MOST_IN_A_PAGE = 200
USUAL_PAGE = 50
LONGEST_DELAY_MS = 3_600_000.0

Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Address = Annotated[str, StringConstraints(min_length=1, max_length=2_000, pattern=r"^[^\x00-\x1f\x7f]+$")]
Milliseconds = Annotated[float, Field(ge=0, le=LONGEST_DELAY_MS)]
Channels = Annotated[list[Name], Field(max_length=10_000, description="None of them means all channels.")]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _knows_all_fields(cls, values: Any) -> Any:
        if isinstance(values, dict):
            for name in values:
                if name not in cls.model_fields:
                    sentence = f"there is no field {brief(name)}; {nearest(str(name), cls.model_fields)}."
                    raise PydanticCustomError("sentence", "{sentence}", {"sentence": sentence})
        return values


class PageRequest(_Request):
    """Which snapshots are listed."""

    model_config = ConfigDict(strict=False)  # a query has nothing but strings

    status: Status | None = None
    limit: int = Field(default=USUAL_PAGE, ge=1, le=MOST_IN_A_PAGE)
    before: Name | None = Field(default=None, description="Only snapshots that are older than this one.")


class TriggerRequest(_Request):
    """A snapshot that somebody asks for. What is left out is up to the cluster."""

    model_config = ConfigDict(json_schema_extra={"example": {"snapshot_type": "full"}})

    initiated_by_node_id: Name | None = None
    snapshot_type: Literal["full", "incremental"] | None = Field(
        default=None, description="An incremental one is full if there is none that it could be built on."
    )
    target_storage_uri: Address | None = Field(default=None, description="One of the configured roots.")

    def wish(self) -> Wish:
        """What the controller is asked for."""
        return Wish(self.initiated_by_node_id, self.snapshot_type, self.target_storage_uri)


class RestoreRequest(_Request):
    """What to go back to: a snapshot, the last one of an epoch, or, with neither, the last one committed."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {},
            "not": {
                "required": ["snapshot_id", "epoch"],
                "properties": {"snapshot_id": {"type": "string"}, "epoch": {"type": "integer"}},
            },
        }
    )

    snapshot_id: Name | None = None
    epoch: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if self.snapshot_id is not None and self.epoch is not None:
            sentence = "it names a snapshot_id and an epoch; give one of them, or neither for the last snapshot."
            raise PydanticCustomError("sentence", "{sentence}", {"sentence": sentence})
        return self


class JoinRequest(_Request):
    """Which node joins; without one, the first that is absent."""

    model_config = ConfigDict(json_schema_extra={"example": {}})

    node_id: Name | None = None


class NodeFaultRequest(_Request):
    """The process of a node is ended with SIGKILL (kill), stopped with SIGSTOP (freeze), or goes on (thaw)."""

    kind: Literal["kill", "freeze", "thaw"]
    node_id: Name

    def fault(self) -> Fault:
        """What the controller is asked for."""
        return Fault(self.kind, node=self.node_id)


class CutRequest(_Request):
    """Channels deliver nothing (sever), or deliver again (mend)."""

    kind: Literal["sever", "mend"]
    channels: Channels = []

    def fault(self) -> Fault:
        """What the controller is asked for."""
        return Fault(self.kind, channels=tuple(self.channels))


class DelayRequest(_Request):
    """What comes on channels is delivered after `low_ms` to `high_ms` milliseconds."""

    kind: Literal["delay"]
    channels: Channels = []
    low_ms: Milliseconds = 0.0
    high_ms: Milliseconds

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.low_ms > self.high_ms:
            sentence = f"low_ms is {self.low_ms:g}; it should be at most high_ms, which is {self.high_ms:g}."
            raise PydanticCustomError("sentence", "{sentence}", {"sentence": sentence})
        return self

    def fault(self) -> Fault:
        """What the controller is asked for."""
        return Fault(self.kind, channels=tuple(self.channels), low=self.low_ms, high=self.high_ms)


class LoseRequest(_Request):
    """A share of the frames on channels is lost, and sent again."""

    kind: Literal["lose"]
    channels: Channels = []
    share: Annotated[float, Field(ge=0, le=1)]

    def fault(self) -> Fault:
        """What the controller is asked for."""
        return Fault(self.kind, channels=tuple(self.channels), share=self.share)


FaultRequest = Annotated[NodeFaultRequest | CutRequest | DelayRequest | LoseRequest, Field(discriminator="kind")]


class ProblemBody(BaseModel):
    """An error (RFC 9457): `detail` is a sentence that says what is wrong, and what would be right."""

    model_config = ConfigDict(title="Problem")

    type: str
    title: str
    status: int
    detail: str
    instance: str


class TriggerAnswer(BaseModel):
    """A snapshot that was asked for."""

    snapshot_id: str
    status: Status
    initiated_at: datetime
    estimated_completion_ms: int = Field(
        description="The median duration of the last completed snapshots, in milliseconds. Before there is one: how "
        "long markers may take across the system by the delays that are set, and at most the time to live."
    )


class SnapshotAnswer(BaseModel):
    """What the registry knows of a snapshot."""

    snapshot_id: str
    status: Status
    reason: str
    snapshot_type: Literal["full", "incremental"] = Field(
        description="Of a completed snapshot, what it is; of any other, what it was to be."
    )
    base_snapshot_id: str | None = Field(description="What an incremental snapshot is built on.")
    initiated_by_node_id: str | None
    initiated_at: datetime
    ended_at: datetime | None
    duration_ms: int | None
    total_size_bytes: int
    nodes_completed: int
    nodes_failed: int = Field(description="Nodes of a snapshot that came to nothing whose part is not stored.")
    node_ids: list[str]
    epoch: int
    checkpoint_manifest_uri: str | None
    is_kept: bool = Field(description="Whether the system can go back to it.")

    @classmethod
    def of(cls, snapshot: Snapshot) -> SnapshotAnswer:
        """The answer about a row of the registry."""
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
    """A process at a snapshot: its state, and how many of its application events are inside the cut."""

    state: Any
    events: int


class ContentsAnswer(BaseModel):
    """What was true at a snapshot: the states of processes, and the bodies of messages in channels, oldest first."""

    snapshot_id: str
    epoch: int
    processes: dict[str, ProcessContents]
    channels: dict[str, list[Any]]


class RestoreAnswer(BaseModel):
    """A finished rollback: the new epoch, and what it began from (null: the initial states)."""

    epoch: int
    snapshot_id: str | None
    duration_ms: int

    @classmethod
    def of(cls, restored: Restored) -> RestoreAnswer:
        """The answer about a rollback."""
        return cls(epoch=restored.epoch, snapshot_id=restored.snapshot, duration_ms=round(restored.duration))


class EpochAnswer(BaseModel):
    """An epoch of the system: what it began from (null: the initial states), and the last snapshot committed in it."""

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
        """The answer about epochs."""
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
    """A node as it said last: its process, its port, and totals since its start."""

    node_id: str
    status: NodeStatus
    pid: int | None
    port: int | None
    epoch: int
    counts: dict[str, int] | None

    @classmethod
    def of(cls, node: Node) -> NodeAnswer:
        """The answer about a node."""
        counts = None if node.counts is None else dict(node.counts)
        return cls(node_id=node.name, status=node.status, pid=node.pid, port=node.port, epoch=node.epoch, counts=counts)


class NodesAnswer(BaseModel):
    """All nodes that there may be."""

    nodes: list[NodeAnswer]


class HealthAnswer(BaseModel):
    """The controller answers. While its registry does not, the cluster goes on, and changes wait to be written."""

    status: Literal["ok"] = "ok"
    registry: Literal["ok", "unavailable"] = "ok"
    registry_changes_waiting: int = Field(0, description="Changes that are not written into the registry yet.")
