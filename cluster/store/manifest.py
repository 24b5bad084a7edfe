"""The manifest of a stored snapshot: its parts, with checksums. Writing the manifest commits the snapshot.

It is a JSON object with the fields of Manifest, and `sha256`, the checksum of all the others. Times are in UTC.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cluster.model import SNAPSHOT_TYPES
from sim.core.errors import brief

CHECKSUM = "sha256"
LEASE = (
    "lease"  # in the details: the number of the lease of the controller that has written it (cluster/store/lease.py)
)


@dataclass(frozen=True)
class PartEntry:
    """The part that one node has stored: its size in bytes, and its checksum (64 hexadecimal digits).

    `is_whole` says that nothing else is needed to restore the node, even if its snapshot has a base. Otherwise the part
    of the same node in the base is needed as well, if the base has one.
    """

    node: str
    size: int
    sha256: str
    is_whole: bool = False

    @classmethod
    def of(cls, node: str, data: bytes, is_whole: bool = False) -> PartEntry:
        """The entry of a part with the content `data`."""
        return cls(node, len(data), hashlib.sha256(data).hexdigest(), is_whole)


@dataclass(frozen=True)
class Manifest:
    """A committed snapshot.

    `cluster` is the id of the cluster, and `scenario` the name or fingerprint of the scenario that it runs. `base` is
    the snapshot on which an incremental one is built. `details` is any JSON that the owner wants to keep with it.
    """

    snapshot_id: str
    cluster: str
    scenario: str
    algorithm: str
    epoch: int
    type: str
    initiated_at: datetime
    committed_at: datetime
    nodes: tuple[str, ...]
    parts: tuple[PartEntry, ...]
    base: str | None = None
    initiator: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The bytes of all parts and of the manifest itself."""
        return sum(part.size for part in self.parts) + len(encoded(self))

    def part(self, node: str) -> PartEntry | None:
        """The entry of a node; None if it took no part."""
        return next((part for part in self.parts if part.node == node), None)


def encoded(manifest: Manifest) -> bytes:
    """The content of a manifest's file. Raises ValueError or TypeError if `details` is no JSON."""
    fields = {
        **{name: getattr(manifest, name) for name in ("snapshot_id", "cluster", "scenario", "algorithm", "epoch")},
        "type": manifest.type,
        "base": manifest.base,
        "initiator": manifest.initiator,
        "initiated_at": manifest.initiated_at.astimezone(UTC).isoformat(),
        "committed_at": manifest.committed_at.astimezone(UTC).isoformat(),
        "nodes": list(manifest.nodes),
        "parts": [vars(part) for part in manifest.parts],
        "details": dict(manifest.details),
    }
    return json.dumps({**fields, CHECKSUM: _checksum(fields)}, indent=1, allow_nan=False).encode()


def _checksum(fields: Mapping[str, Any]) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def decoded(content: bytes) -> Manifest:
    """The manifest in the content of a file. Raises ValueError, with the problem in a few words."""
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("is no JSON") from None
    if not isinstance(fields, dict) or CHECKSUM not in fields:
        raise ValueError(f"is no manifest: it has no {CHECKSUM!r}")
    stated = fields.pop(CHECKSUM)
    try:
        found = _checksum(fields)
    except ValueError:
        raise ValueError("has a number that is no JSON") from None
    if stated != found:
        raise ValueError("was changed: its checksum differs")
    return _manifest(fields)


def _manifest(fields: Mapping[str, Any]) -> Manifest:
    kind = _typed(fields, "type", str)
    if kind not in SNAPSHOT_TYPES:
        raise ValueError(f"has 'type' {brief(kind)}, which is none of {', '.join(SNAPSHOT_TYPES)}")
    return Manifest(
        snapshot_id=_typed(fields, "snapshot_id", str),
        cluster=_typed(fields, "cluster", str),
        scenario=_typed(fields, "scenario", str),
        algorithm=_typed(fields, "algorithm", str),
        epoch=_typed(fields, "epoch", int),
        type=kind,
        initiated_at=_time(fields, "initiated_at"),
        committed_at=_time(fields, "committed_at"),
        nodes=tuple(_texts(_typed(fields, "nodes", list))),
        parts=tuple(_part(entry) for entry in _typed(fields, "parts", list)),
        base=_typed(fields, "base", str, type(None)),
        initiator=_typed(fields, "initiator", str, type(None)),
        details=_typed(fields, "details", dict),
    )


def _part(entry: object) -> PartEntry:
    if not isinstance(entry, dict):
        raise ValueError("has a part that is no object")
    return PartEntry(
        _typed(entry, "node", str),
        _typed(entry, "size", int),
        _typed(entry, "sha256", str),
        _typed(entry, "is_whole", bool),
    )


def _typed(fields: Mapping[str, Any], name: str, *types: type) -> Any:
    value = fields.get(name)
    if name not in fields or type(value) not in types:
        raise ValueError(f"has no usable {name!r}: {brief(value)}")
    return value


def _texts(values: Sequence[Any]) -> Sequence[str]:
    if not all(isinstance(value, str) for value in values):
        raise ValueError("has a node whose name is no text")
    return values


def _time(fields: Mapping[str, Any], name: str) -> datetime:
    try:
        time = datetime.fromisoformat(_typed(fields, name, str))
    except ValueError:
        time = datetime.min
    if time.tzinfo is None:
        raise ValueError(f"has no usable {name!r}: {brief(fields.get(name))}")
    return time.astimezone(UTC)
