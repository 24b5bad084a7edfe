"""The bodies of requests. Field names are those of the system design document.

An unknown field is an error that names the nearest one. Values are taken as they are: "1" is no number.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from cluster.model import Fault, Status, Wish
from sim.core.errors import brief, nearest

MOST_IN_A_PAGE = 200
USUAL_PAGE = 50
LONGEST_DELAY_MS = 3_600_000.0

Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Address = Annotated[str, StringConstraints(min_length=1, max_length=2_000, pattern=r"^[^\x00-\x1f\x7f]+$")]
Milliseconds = Annotated[float, Field(ge=0, le=LONGEST_DELAY_MS)]
Channels = Annotated[list[Name], Field(max_length=10_000, description="An empty list means all channels.")]


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
    """The page of snapshots to list."""

    model_config = ConfigDict(strict=False)  # the values of a query are strings

    status: Status | None = None
    limit: int = Field(default=USUAL_PAGE, ge=1, le=MOST_IN_A_PAGE)
    before: Name | None = Field(default=None, description="Only snapshots that are older than this one.")


class TriggerRequest(_Request):
    """A request for a snapshot. The cluster chooses every value that is left out."""

    model_config = ConfigDict(json_schema_extra={"example": {"snapshot_type": "full"}})

    initiated_by_node_id: Name | None = None
    snapshot_type: Literal["full", "incremental"] | None = Field(
        default=None, description="An incremental snapshot is full if there is no snapshot to build it on."
    )
    target_storage_uri: Address | None = Field(default=None, description="One of the configured roots.")

    def wish(self) -> Wish:
        """Return the request for the controller."""
        return Wish(self.initiated_by_node_id, self.snapshot_type, self.target_storage_uri)


class RestoreRequest(_Request):
    """The goal of a rollback: a snapshot, the last one of an epoch, or, with neither, the last one committed."""

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
    """The node that joins; without one, the first that is absent."""

    model_config = ConfigDict(json_schema_extra={"example": {}})

    node_id: Name | None = None


class NodeFaultRequest(_Request):
    """The process of a node is ended with SIGKILL (kill), stopped with SIGSTOP (freeze), or goes on (thaw)."""

    kind: Literal["kill", "freeze", "thaw"]
    node_id: Name

    def fault(self) -> Fault:
        """Return the fault for the controller."""
        return Fault(self.kind, node=self.node_id)


class CutRequest(_Request):
    """Channels deliver nothing (sever), or deliver again (mend)."""

    kind: Literal["sever", "mend"]
    channels: Channels = []

    def fault(self) -> Fault:
        """Return the fault for the controller."""
        return Fault(self.kind, channels=tuple(self.channels))


class DelayRequest(_Request):
    """Messages on channels are delivered after `low_ms` to `high_ms` milliseconds."""

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
        """Return the fault for the controller."""
        return Fault(self.kind, channels=tuple(self.channels), low=self.low_ms, high=self.high_ms)


class LoseRequest(_Request):
    """A share of the frames on channels is lost, and sent again."""

    kind: Literal["lose"]
    channels: Channels = []
    share: Annotated[float, Field(ge=0, le=1)]

    def fault(self) -> Fault:
        """Return the fault for the controller."""
        return Fault(self.kind, channels=tuple(self.channels), share=self.share)


FaultRequest = Annotated[NodeFaultRequest | CutRequest | DelayRequest | LoseRequest, Field(discriminator="kind")]
