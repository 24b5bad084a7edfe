"""The parts that a snapshot needs: its own, and behind an incremental part the same node's part in the base."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cluster.store.checkpoints import Damaged
from cluster.store.manifest import Manifest, PartEntry


class Needed(NamedTuple):
    """A part that is needed, and the id of its snapshot."""

    snapshot: str
    entry: PartEntry


def chain_of(manifest: Manifest, node: str, manifest_of: Callable[[str], Manifest]) -> tuple[Needed, ...]:
    """The parts needed to restore one node: its part, the part that this is built on, and so on to a complete one.

    `manifest_of` returns the manifest of a base, and raises Damaged if it cannot be used. Raises Damaged if the bases
    lead in a circle.
    """
    found: list[Needed] = []
    seen = {manifest.snapshot_id}
    entry = manifest.part(node)
    while entry is not None:
        found.append(Needed(manifest.snapshot_id, entry))
        if entry.is_whole or manifest.base is None:
            break
        if manifest.base in seen:
            raise Damaged(f"{manifest.snapshot_id} is damaged: its bases lead in a circle")
        seen.add(manifest.base)
        manifest = manifest_of(manifest.base)
        entry = manifest.part(node)
    return tuple(found)


def needed_by(manifest: Manifest, manifest_of: Callable[[str], Manifest]) -> tuple[Needed, ...]:
    """The parts needed to restore all nodes of a snapshot. Like chain_of."""
    return tuple(needed for part in manifest.parts for needed in chain_of(manifest, part.node, manifest_of))
