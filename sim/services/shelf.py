"""The contents of a storage: writes that wait, parts that are staged, valid snapshots, and the parts they need."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

from sim.core.model import LocalSnapshot, RecoveryState, Restorable
from sim.core.recovery import is_taken_back, links
from sim.core.recovery_line import TAKEN_BACK, Receipt, latest_line
from sim.services.increments import Storage as Index
from sim.services.increments import Stored as Entry
from sim.services.increments import chain_of, deletable, restored
from sim.services.settings import StorageSettings
from sim.services.uploads import Part

_PRESENT = TAKEN_BACK - 1  # more events than any checkpoint contains


class Waiting(NamedTuple):
    """A write that waits: the `part` of a `process`, or the manifest of a snapshot (process and part are None)."""

    snapshot: str
    process: str | None
    part: Part | None
    size: int


class Stored(NamedTuple):
    """A valid snapshot: its parts by process, and the bytes of all parts and of the manifest."""

    parts: Mapping[str, Part]
    size: int


class Shelf(NamedTuple):
    """The contents of the storage.

    `queue` holds the writes that wait; the storage does the first of them now. `staged` holds parts of snapshots that
    are not valid, by snapshot and process; `valid` the valid snapshots, in the order of their manifests; `deleted` the
    ids of valid snapshots that were deleted; `ended` the ids of those that will never be valid. `needed` holds parts
    of deleted snapshots on which others are built. `checkpoints` holds uncoordinated checkpoints: (snapshot, process,
    part). `refused` counts the 503s. `has_failed`: a process has crashed, and the recovery has not begun.
    """

    queue: tuple[Waiting, ...] = ()
    staged: Mapping[str, Mapping[str, Part]] = {}  # replaced, never changed
    valid: Mapping[str, Stored] = {}  # likewise
    deleted: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    checkpoints: tuple[tuple[str, str, Part], ...] = ()
    refused: int = 0
    needed: Mapping[tuple[str, str], Part] = {}  # by snapshot and process; replaced, never changed
    has_failed: bool = False


def is_behind(parts: Mapping[str, Part], shelf: Shelf) -> bool:
    """Whether a process has fewer events in `parts` than in its part of the last valid snapshot."""
    last = next(reversed([*shelf.valid.values()]), None)
    before = last.parts if last else {}
    return any(part.local.inside < before[name].local.inside for name, part in parts.items() if name in before)


def base_of(shelf: Shelf, snapshot: str) -> str | None:
    """The base of the parts of a snapshot that is not valid yet, as far as its parts have arrived (None: no base)."""
    waiting = (own.part for own in shelf.queue if own.snapshot == snapshot and own.part is not None)
    parts = (*shelf.staged.get(snapshot, {}).values(), *waiting)
    return next((part.base for part in parts if part.base is not None), None)


def _parts_of(shelf: Shelf, process: str) -> dict[str, Part]:
    """All stored parts of a process by snapshot: those still needed, then the valid ones, then those under way."""
    found = {snapshot: part for (snapshot, who), part in shelf.needed.items() if who == process}
    found |= {name: own.parts[process] for name, own in shelf.valid.items() if process in own.parts}
    return found | _under_way_of(shelf, process)


def _under_way_of(shelf: Shelf, process: str) -> dict[str, Part]:
    """The parts of a process that wait for their manifest or for their turn to be written, by snapshot."""
    found = {name: own[process] for name, own in shelf.staged.items() if process in own}
    return found | {own.snapshot: own.part for own in shelf.queue if own.process == process and own.part is not None}


def index_of(shelf: Shelf, process: str) -> Index:
    """The stored snapshots of a process with their bases."""
    parts = tuple(Entry(snapshot, part.base) for snapshot, part in _parts_of(shelf, process).items())
    valid = tuple(name for name, own in shelf.valid.items() if process in own.parts)
    return Index(parts, valid, tuple(_under_way_of(shelf, process)))


def parts_needed(shelf: Shelf, snapshot: str, process: str) -> list[Part]:
    """The chain of a process's part of a snapshot: the parts needed to restore it, the complete one first."""
    parts = _parts_of(shelf, process)
    return [parts[name] for name in reversed(chain_of(index_of(shelf, process), snapshot))]


def complete_part(shelf: Shelf, snapshot: str, process: str) -> LocalSnapshot:
    """The part of a process in a snapshot, with its state rebuilt from the chain."""
    chain, state = parts_needed(shelf, snapshot, process), None
    for part in chain:
        state = restored(state, part.document)
    return chain[-1].local._replace(state=state)


def line_of(
    checkpoints: tuple[tuple[str, str, Part], ...], names: tuple[str, ...], recovery: RecoveryState
) -> tuple[dict[str, LocalSnapshot], tuple[str, ...]]:
    """The checkpoints of the recovery line (missing: the initial state), and the processes that keep their states.

    `recovery` names the processes that have failed; if it names none, all processes are rolled back on purpose.
    """
    of: dict[str, dict[int, LocalSnapshot]] = {name: {} for name in names}
    for _, process, part in checkpoints:
        of[process][part.local.inside] = part.local._replace(state=restored(None, part.document))
    present = {name: _PRESENT for name in names if recovery.failed and name not in recovery.failed}
    receipts = (
        Receipt(names[to], index, names[source], TAKEN_BACK if is_taken_back(recovery, source, sent) else sent, 0)
        for to, index, source, sent in links(recovery.receipts)
    )
    found = latest_line(of, present, receipts)
    return {name: of[name][inside] for name, inside in found.line.items() if inside in of[name]}, found.kept


def restorable(shelf: Shelf, wanted: str | None, settings: StorageSettings) -> Restorable:
    """The snapshot `wanted` if it is valid, else the last valid one, else the initial state."""
    snapshot = wanted if wanted in shelf.valid else next(reversed([*shelf.valid]), None)
    if snapshot is None:
        return Restorable(None, {}, {})
    known = [*shelf.valid]
    parts, valid = shelf.valid[snapshot].parts, frozenset((*shelf.deleted, *known[: known.index(snapshot) + 1]))
    sizes = [sum(part.size for part in parts_needed(shelf, snapshot, name)) for name in parts]
    fetched = accumulate(settings.takes(size) for size in sizes)
    takes = {name: 2 * settings.latency + time for name, time in zip(parts, fetched, strict=True)}
    return Restorable(snapshot, {name: complete_part(shelf, snapshot, name) for name in parts}, takes, valid)


def restorable_line(shelf: Shelf, names: tuple[str, ...], recovery: RecoveryState) -> Restorable:
    """The recovery line of the uncoordinated checkpoints of the processes `names`."""
    line, keeps = line_of(shelf.checkpoints, names, recovery)
    series = shelf.checkpoints[-1][0] if shelf.checkpoints else None
    return Restorable(series, line, {}, frozenset([series] if series else []), keeps=keeps)


def without_unneeded(shelf: Shelf) -> tuple[Shelf, Mapping[str, list[str]]]:
    """The shelf without those parts of deleted snapshots on which no kept one is built; their processes by snapshot."""
    gone = {process: deletable(index_of(shelf, process), 0) for process in {who for _, who in shelf.needed}}
    old: dict[str, list[str]] = {}
    for snapshot, process in shelf.needed:
        if snapshot in gone[process]:
            old.setdefault(snapshot, []).append(process)
    kept = {own: part for own, part in shelf.needed.items() if own[0] not in gone[own[1]]}
    return shelf._replace(needed=kept), old
