"""The rows of snapshots in the registry: every action of the services is written into them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from cluster.control.services import Services
from cluster.control.snapshot_store import Store
from cluster.model import FULL, INCREMENTAL, Problem, Snapshot, Status
from cluster.node.site import Done
from cluster.node.system import System
from sim.core.model import COMMITTED, CONTROL_RECEIVE, DECISION, NOTED
from sim.services.storage_words import NAME as STORAGE
from sim.services.words import EXPIRED, ROLLED_BACK
from sim.services.words import NAME as COORDINATOR

_MANIFEST_MISSING = "its manifest is missing"


class SnapshotRows:
    """The rows of snapshots, in the registry of a store.

    `given_up` holds, by snapshot, the status and the reason with which a user or a timeout has ended it. `goes_back_as`
    is the reason of the last recovery. `open` are the snapshots that have not ended.
    """

    def __init__(
        self, system: System, store: Store, services: Callable[[], Services], present: Callable[[], Sequence[str]],
        spawn: Callable[[Coroutine[Any, Any, Any]], Any],
    ) -> None:  # fmt: skip
        """`present` returns the names of the members; `spawn` carries out work in the background."""
        self._system, self._store, self._services, self._present, self._spawn = system, store, services, present, spawn
        self.given_up: dict[str, tuple[Status, str]] = {}
        self.goes_back_as = ""
        self.open: set[str] = set()

    def snapshot(self, snapshot: str) -> Snapshot:
        """Return one snapshot. Raises Problem."""
        own = self._store.registry.snapshot(snapshot)
        if own is None:
            raise Problem(404, f"there is no snapshot {snapshot!r}; GET /v1/snapshots lists those that there are")
        return own

    def snapshots(self, status: Status | None, limit: int, before: str | None) -> Sequence[Snapshot]:
        """Return at most `limit` snapshots, older than `before`, the newest first. Raises Problem."""
        if before is not None:
            self.snapshot(before)
        return self._store.registry.page(status, limit, before)

    async def known(self, snapshot: str) -> Snapshot:
        """Return one snapshot; the registry is asked in a thread if the controller does not remember it."""
        own = self._store.registry.row(snapshot)
        return own if own is not None else await asyncio.to_thread(self.snapshot, snapshot)

    def on_done(self, done: Done) -> None:
        """Write into the registry what an action of the services means for snapshots."""
        for row in done.rows:
            process, kind, body, snapshot = row[0], row[2], row[7], row[8]
            if snapshot is None:
                continue
            if kind == NOTED and process == COORDINATOR and "starts" in body:
                self._begins(snapshot, body)
            elif kind == COMMITTED:
                self._committed(snapshot, body)
            elif kind == DECISION and body["outcome"] != "complete":
                self._decided(snapshot, body)
            elif kind == NOTED and process == STORAGE and "deletes" in body:
                self._deleted(snapshot, body)
            elif kind == CONTROL_RECEIVE and process == STORAGE and isinstance(body, Mapping) and "part" in body:
                self._part_came(snapshot, (row[3] or "").partition("->")[0])

    def _row(self, snapshot: str) -> Snapshot:
        """Return the registry's row of a snapshot, or a new one if the coordinator began the snapshot by itself."""
        own = self._store.registry.row(snapshot)
        if own is None:
            kind = INCREMENTAL if self._store.is_incremental else FULL
            root, epoch = self._store.first_root, self._services().recovery.epoch
            own = Snapshot(snapshot, Status.INITIATED, kind, root, epoch, datetime.now(UTC))
        return own

    def put(self, own: Snapshot) -> None:
        """Write the row of a snapshot into the registry."""
        (self.open.discard if own.status.is_final else self.open.add)(own.id)
        self._store.registry.put(own)

    def _begins(self, snapshot: str, body: Any) -> None:
        own = self._row(snapshot)
        self._store.begin(snapshot, own.root)
        first = own.initiator or body["starts"][0]
        self.put(replace(own, status=Status.IN_PROGRESS, nodes=tuple(body["among"]), initiator=first))

    def _part_came(self, snapshot: str, node: str) -> None:
        own = self._row(snapshot)
        if own.status.is_final:
            return
        nodes = own.nodes or tuple(self._present())
        completed = tuple(dict.fromkeys((*own.completed, node)))
        changed = replace(own, status=Status.IN_PROGRESS, nodes=nodes, completed=completed)
        if own.status is not changed.status:
            self.put(changed)
        self._store.registry.note(changed)

    def _committed(self, snapshot: str, body: Any) -> None:
        own = self._row(snapshot)
        bases = [base for base in body.get("bases", {}).values() if base is not None]
        done = replace(
            own, status=Status.COMPLETED, ended_at=datetime.now(UTC), is_kept=True, reason="",
            size=self._store.size_of(snapshot), manifest_uri=self._store.uri_of(snapshot),
            nodes=own.nodes or tuple(body["parts"]), completed=tuple(body["parts"]),
            base=bases[0] if bases else None, type=INCREMENTAL if bases else FULL,
        )  # fmt: skip
        self.put(done)

    def _decided(self, snapshot: str, body: Any) -> None:
        reason = body["reason"] + (f": {body['detail']}" if body["detail"] else "")
        problem = self._store.problems.pop(snapshot, "")
        reason = self._system.in_seconds(reason) + (f": {problem}" if problem else "")
        self._ends(snapshot, reason, is_late=body["outcome"] == EXPIRED)

    def _ends(self, snapshot: str, reason: str, *, is_late: bool) -> None:
        """End a snapshot that is not complete; the reason for which it was given up, if any, comes first."""
        is_late = is_late or snapshot in self._store.expired
        status = Status.EXPIRED if is_late else Status.FAILED
        self.end(snapshot, *self.given_up.get(snapshot, (status, reason)))

    def _deleted(self, snapshot: str, body: Any) -> None:
        own = self._store.registry.row(snapshot)
        if own is not None and not own.status.is_final and not self._services().has_coordinator:
            self._ends(snapshot, body["reason"], is_late=body["reason"] == _MANIFEST_MISSING)
        self._spawn(self._store.delete(snapshot, body["deletes"]))
        self._note_kept()

    def _note_kept(self) -> None:
        """Mark the snapshots that the storage does not keep any more."""
        valid = set(self._store.valid(self._services()))
        for own in self._store.registry.kept():
            if own.id not in valid:
                self._store.registry.put(replace(own, is_kept=False))

    def end(self, snapshot: str, status: Status, reason: str, *, is_kept: bool = False) -> None:
        """End a snapshot, once. One that is complete can only become FAILED, if it turns out to be damaged."""
        own = self._row(snapshot)
        if own.status.is_final and (own.status is not Status.COMPLETED or status is not Status.FAILED):
            return
        if reason == ROLLED_BACK:
            reason += f": {self.goes_back_as}"
        ended = datetime.now(UTC) if own.ended_at is None else own.ended_at
        self.put(replace(own, status=status, reason=reason, ended_at=ended, is_kept=is_kept))
