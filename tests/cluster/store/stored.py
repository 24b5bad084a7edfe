"""Snapshots for the tests of checkpoint store, registry and reconciliation."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cluster.model import FULL, INCREMENTAL, Epoch, Snapshot, Status
from cluster.store.checkpoints import CheckpointStore
from cluster.store.manifest import Manifest, PartEntry
from cluster.store.registry import Registry

CLUSTER = "cluster-1"
START = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
NODES = ("P1", "P2")


def content(snapshot: str, node: str) -> bytes:
    """The bytes that a node stores in a snapshot."""
    return f"{node} in {snapshot}".encode() * 3


def manifest(
    id: str, parts: tuple[PartEntry, ...], base: str | None = None, number: int = 0, epoch: int = 0
) -> Manifest:
    """A manifest that was committed so many minutes after START."""
    return Manifest(
        snapshot_id=id, cluster=CLUSTER, scenario="bank", algorithm="chandy_lamport", epoch=epoch,
        type=INCREMENTAL if base else FULL, initiated_at=START, committed_at=START + timedelta(minutes=number),
        nodes=NODES, parts=parts, base=base, initiator="P1", details={"clock": 7},
    )  # fmt: skip


def row(id: str, status: Status = Status.INITIATED, base: str | None = None, **changes: object) -> Snapshot:
    """A row of the registry."""
    values = {"type": INCREMENTAL if base else FULL, "root": "main", "epoch": 0, "initiated_at": START, **changes}
    return Snapshot(id=id, status=status, base=base, **values)  # type: ignore[arg-type]


def begin(registry: Registry) -> None:
    """The epoch that the snapshots are of."""
    if registry.last_epoch() is None:
        registry.add_epoch(Epoch(0, START, "the cluster began"))


def store(
    checkpoints: CheckpointStore, id: str, base: str | None = None, whole: tuple[str, ...] = (), number: int = 0
) -> Manifest:
    """Stores parts and manifest of a snapshot. The parts of the nodes in `whole` need no base."""
    parts = tuple(checkpoints.write_part("main", id, node, content(id, node), node in whole) for node in NODES)
    stored = manifest(id, parts, base, number)
    checkpoints.write_manifest("main", stored)
    return stored


def take(
    registry: Registry, checkpoints: CheckpointStore, id: str, base: str | None = None, whole: tuple[str, ...] = ()
) -> Snapshot:
    """Takes a snapshot as a cluster does: row, parts, manifest, row."""
    registry.put(row(id, base=base, nodes=NODES))
    stored = store(checkpoints, id, base, whole)
    done = row(
        id, Status.COMPLETED, base, nodes=NODES, completed=NODES, size=stored.size, is_kept=True,
        ended_at=stored.committed_at, manifest_uri=checkpoints.uri("main", id), initiator="P1",
    )  # fmt: skip
    registry.put(done)
    return done


def unkeep(registry: Registry, checkpoints: CheckpointStore, done: Snapshot) -> None:
    """Gives up a stored snapshot, as retention does: the row first."""
    registry.put(replace(done, is_kept=False))
    checkpoints.delete(done.root, done.id)
