"""The reconciliation of registry and storage after a crash.

The storage decides: a snapshot with a manifest is committed, and one that cannot be read back is not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from cluster.model import Epoch, Snapshot, Status, Unavailable
from cluster.store.chains import needed_by
from cluster.store.checkpoints import CheckpointStore, Damaged, Found
from cluster.store.manifest import LEASE, Manifest, PartEntry
from cluster.store.registry import Registry
from sim.core.errors import InputError

ENDED = "the cluster ended while it was under way"


def reconcile(registry: Registry, checkpoints: CheckpointStore) -> list[str]:
    """Mend every difference between registry and storage. Returns one sentence for each mend.

    No other controller may use the registry or the checkpoint store meanwhile. After it every snapshot that is kept can
    be restored, every other one has ended, and nothing is stored that no kept snapshot needs. Raises InputError, before
    anything is changed, if a storage root is not there, or is not the one under which a snapshot was stored.
    """
    try:
        work = _Reconciliation(registry, checkpoints)
        work.check_roots()
        work.take_in()
        work.end()
        work.unkeep()
        work.delete()
        registry.note_reconciled()
    except Unavailable as problem:
        raise InputError(str(problem)) from None
    return work.mends


class _Reconciliation:
    """One pass, and its knowledge of the storage. Its methods are called in their order here."""

    def __init__(self, registry: Registry, checkpoints: CheckpointStore) -> None:
        self.mends: list[str] = []
        self._registry = registry
        self._checkpoints = checkpoints
        self._found: dict[str, Found] = {root: checkpoints.found(root) for root in checkpoints.roots}
        self._root_of = {id: root for root, found in self._found.items() for id in found.snapshots}
        self._manifests: dict[str, Manifest | Damaged] = {
            id: self._manifest(root, id) for root, found in self._found.items() for id in sorted(found.manifests)
        }
        self._parts: dict[tuple[str, PartEntry], Damaged | None] = {}  # the damage of those that were read
        self._needed: dict[str, set[str]] = {}  # the nodes, by snapshot, of parts of those kept

    def _manifest(self, root: str, snapshot: str) -> Manifest | Damaged:
        try:
            return self._checkpoints.read_manifest(root, snapshot)
        except Damaged as problem:
            return problem

    def check_roots(self) -> None:
        """Raise InputError if a snapshot is under another root than the registry says."""
        for row in (*self._registry.kept(), *self._registry.running()):
            if row.root not in self._found:
                raise InputError(f"{row.id} is stored under the root {row.root!r}, which is not given now; give it too")
        for root, found in self._found.items():
            for id in sorted(found.snapshots):
                known = self._registry.snapshot(id)
                right = known.root if known else self._root_of[id]
                if right != root:
                    raise InputError(
                        f"{self._checkpoints.uri(root, id)} is a snapshot of the root {right!r}; "
                        "give the roots as they were, or move it away"
                    )

    def take_in(self) -> None:
        """Add a row for each manifest that the registry does not know, in the order of their commits."""
        lease = self._registry.lease()
        compared = 0 if lease is None else lease.reconciled
        strange = [
            manifest
            for id, manifest in self._manifests.items()
            if isinstance(manifest, Manifest)
            and self._registry.snapshot(id) is None
            # One of a controller that another had followed, whose start would have found it, was written after that.
            and manifest.details.get(LEASE, compared) >= compared
        ]
        epochs = {epoch.number for epoch in self._registry.epochs()}
        for manifest in sorted(strange, key=lambda one: (one.committed_at, one.snapshot_id)):
            if manifest.epoch not in epochs:
                self._registry.add_epoch(Epoch(manifest.epoch, manifest.initiated_at, "a stored snapshot is of it"))
                epochs.add(manifest.epoch)
            self._registry.put(self._completed(manifest))
            self.mends.append(f"{manifest.snapshot_id} is stored and was not in the registry: it is COMPLETED")

    def _completed(self, manifest: Manifest) -> Snapshot:
        """Return the row of a COMPLETED snapshot, from its manifest alone."""
        id = manifest.snapshot_id
        root = self._root_of[id]
        return Snapshot(
            id=id, status=Status.COMPLETED, type=manifest.type, root=root, epoch=manifest.epoch,
            initiated_at=manifest.initiated_at, initiator=manifest.initiator, base=manifest.base,
            ended_at=manifest.committed_at, nodes=manifest.nodes,
            completed=tuple(part.node for part in manifest.parts), size=manifest.size,
            manifest_uri=self._checkpoints.uri(root, id), is_kept=True,
        )  # fmt: skip

    def end(self) -> None:
        """End every snapshot under way: COMPLETED if its manifest was written, and FAILED otherwise."""
        for row in self._registry.running():
            manifest = self._manifests.get(row.id)
            if isinstance(manifest, Manifest):
                self._registry.put(self._completed(manifest))
                self.mends.append(f"{row.id} was committed when the cluster ended: it is COMPLETED")
            else:
                reason = ENDED if manifest is None else f"{ENDED}, and {manifest}"
                now = max(datetime.now(UTC), row.initiated_at)
                self._registry.put(replace(row, status=Status.FAILED, reason=reason, ended_at=now))
                self.mends.append(f"{row.id} is FAILED: {reason}")

    def unkeep(self) -> None:
        """Mark every kept snapshot that cannot be read back: it is FAILED, and kept no longer."""
        for row in self._registry.kept():
            try:
                manifest = self._usable(row.id)
                needed = needed_by(manifest, self._usable)
                for snapshot, entry in needed:
                    self._check_part(snapshot, entry)
            except Damaged as problem:
                reason = str(problem)
                self._registry.put(replace(row, status=Status.FAILED, reason=reason, is_kept=False))
                self.mends.append(f"{row.id} is FAILED: {reason}")
            else:
                for snapshot, entry in needed:
                    self._needed.setdefault(snapshot, set()).add(entry.node)
                self._needed.setdefault(row.id, set())  # a snapshot of no node has a manifest, too

    def _usable(self, snapshot: str) -> Manifest:
        """Return the manifest of a snapshot. Raises Damaged if it is damaged, or missing."""
        known = self._registry.snapshot(snapshot)
        root = self._root_of.get(snapshot) or (known.root if known else self._checkpoints.roots[0])
        found = self._manifests.get(snapshot) or Damaged(f"{self._checkpoints.uri(root, snapshot)} is missing")
        if isinstance(found, Damaged):
            raise found
        return found

    def _check_part(self, snapshot: str, entry: PartEntry) -> None:
        """Raise Damaged if a part cannot be read back. Each is read once."""
        if (snapshot, entry) not in self._parts:
            self._parts[snapshot, entry] = self._damage(snapshot, entry)
        if damage := self._parts[snapshot, entry]:
            raise damage

    def _damage(self, snapshot: str, entry: PartEntry) -> Damaged | None:
        try:
            self._checkpoints.read_part(self._root_of[snapshot], snapshot, entry)
        except Damaged as problem:
            return problem
        return None

    def delete(self) -> None:
        """Delete every file that no kept snapshot needs, and every file that was written in part."""
        for root, found in self._found.items():
            for id in sorted(found.snapshots):
                self._delete(root, id, found)
            if found.temporary:
                self._checkpoints.delete_temporary(root, found.temporary)
                self.mends.append(f"{root}: {_count(found.temporary, 'temporary file')} deleted")

    def _delete(self, root: str, snapshot: str, found: Found) -> None:
        nodes = found.parts.get(snapshot, frozenset())
        if snapshot not in self._needed:
            self._checkpoints.delete(root, snapshot)
            manifest = self._manifests.get(snapshot)
            why = "it has no manifest" if manifest is None else "it is not kept"
            why = str(manifest) if isinstance(manifest, Damaged) else why
            self.mends.append(f"{snapshot}: deleted from {root}, since {why}")
        elif unneeded := sorted(nodes - self._needed[snapshot]):
            self._checkpoints.delete_parts(root, snapshot, unneeded)
            self.mends.append(f"{snapshot}: {_count(unneeded, 'part')} deleted from {root}, since nothing needs them")


def _count(things: Sequence[str], name: str) -> str:
    return f"{len(things)} {name}" + ("" if len(things) == 1 else "s")
