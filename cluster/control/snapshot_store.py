"""The snapshots of a cluster in its storage: parts and manifests are written and read here.

The storage may hang: it is asked in threads of its own, and each request has a deadline. A write for a snapshot under
way has the remaining time of that snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from cluster.control.services import STORAGE, Services
from cluster.model import FULL, INCREMENTAL, Problem, Snapshot, Unavailable
from cluster.node.system import System
from cluster.store.checkpoints import CheckpointStore
from cluster.store.manifest import LEASE, Manifest, PartEntry
from cluster.store.threads import Threads
from cluster.store.write_behind import WriteBehind
from cluster.store.writer import ticks
from sim.core.effects import Out
from sim.core.errors import InputError
from sim.core.log import to_json
from sim.core.model import Process
from sim.services.increments import restored
from sim.services.shelf import Shelf, Stored
from sim.services.uploads import Part

T = TypeVar("T")

MOST_THREADS = 8  # that wait for the storage
READ_S, DELETE_S, FILL_S = 5.0, 60.0, 60.0  # to read a snapshot, to delete one, and to read one at a start


class Store:
    """Writes parts and manifests (cluster.control.service_actions.Disk), and reads them back."""

    def __init__(self, system: System, registry: WriteBehind, checkpoints: CheckpointStore, cluster_id: str) -> None:
        self.system, self.registry, self.checkpoints = system, registry, checkpoints
        self.time_to_live = 0.0  # seconds that a snapshot has
        self.problems: dict[str, str] = {}  # by snapshot under way: why a part or the manifest is not written
        self.expired: set[str] = set()  # snapshots whose manifest was not written in time
        self._cluster = cluster_id
        self._threads = Threads("storage", MOST_THREADS)
        self._began: dict[str, float] = {}  # of snapshots under way, in ticks
        self._root_of: dict[str, str] = {}
        self._entries: dict[str, dict[str, PartEntry]] = {}  # of snapshots under way: by snapshot and node
        self._parts: dict[str, dict[str, Part]] = {}  # likewise
        self._sizes: dict[str, int] = {}
        self._deleted: set[str] = set()
        self._undeleted: dict[
            str, set[str]
        ] = {}  # of snapshots that are not kept: the nodes of which a part is still there

    @property
    def is_incremental(self) -> bool:
        """Whether parts are stored as differences to those before."""
        return bool((self.system.scenario.storage or {}).get("incremental"))

    @property
    def first_root(self) -> str:
        """The name of the root of snapshots whose request names none."""
        return self.checkpoints.roots[0]

    # ------------------------------------------------------------------ writing

    def begin(self, snapshot: str, root: str) -> None:
        """Begin the time of a snapshot, which will be stored under a root."""
        self._root_of[snapshot] = root
        self._began.setdefault(snapshot, ticks())

    def _left(self, snapshot: str) -> float:
        """Return the seconds that a snapshot still has."""
        return max(0.0, self._began.setdefault(snapshot, ticks()) + self.time_to_live - ticks())

    def _root(self, snapshot: str) -> str:
        known = self._root_of.get(snapshot)
        if known is None:
            own = self.registry.row(snapshot)
            known = self._root_of[snapshot] = own.root if own else self.first_root
        return known

    async def write_part(self, snapshot: str, node: str, part: Part) -> None:
        """Write a part, durably. Raises Problem, unless the snapshot is deleted meanwhile and needs no part."""
        data = self.system.codec.pack(part)
        root, is_full = self._root(snapshot), part.base is None

        def write() -> PartEntry:
            written = self.checkpoints.write_part(root, snapshot, node, data, is_full)
            self._delete_again(root, snapshot)
            return written

        try:
            entry = await self._written(snapshot, f"the part of {node}", write)
        except Problem:
            if snapshot in self._deleted:
                return
            raise
        self._entries.setdefault(snapshot, {})[node] = entry
        self._parts.setdefault(snapshot, {})[node] = part

    async def write_manifest(self, snapshot: str, body: Any) -> None:
        """Write the manifest, durably: the snapshot is valid from now on. Raises Problem.

        One that is written too late, or for a snapshot that was given up meanwhile, is deleted again.
        """
        await self.registry.check_lease()
        entries, root = self._entries.get(snapshot, {}), self._root(snapshot)
        own = self.registry.row(snapshot)
        scenario, now = self.system.scenario, datetime.now(UTC)
        bases = [part.base for part in self._parts.get(snapshot, {}).values() if part.base is not None]
        manifest = Manifest(
            snapshot_id=snapshot, cluster=self._cluster, scenario=scenario.name, algorithm=scenario.algorithm,
            epoch=own.epoch if own else 0, type=INCREMENTAL if bases else FULL,
            initiated_at=own.initiated_at if own else now, committed_at=now, nodes=tuple(body["parts"]),
            parts=tuple(entries[node] for node in body["parts"]), base=bases[0] if bases else None,
            initiator=own.initiator if own else None, details={LEASE: self.registry.fence},
        )  # fmt: skip

        def write() -> None:
            self.checkpoints.write_manifest(root, manifest)
            self._delete_again(root, snapshot)

        await self._written(snapshot, "its manifest", write)
        self._sizes[snapshot] = manifest.size
        self._forget(snapshot)

    async def _written(self, snapshot: str, what: str, write: Callable[[], T]) -> T:
        """Call `write`, and return its result. Raises Problem, at the latest when the time of the snapshot is over."""
        try:
            found = await self._threads.within(self._left(snapshot), write)
        except TimeoutError:
            self.expired.add(snapshot)
            self.problems[snapshot] = f"{what} was not written within {self.time_to_live:g} s of the request"
            raise Unavailable(self.problems[snapshot]) from None
        except Problem as problem:
            self.problems[snapshot] = str(problem)
            raise
        self.problems.pop(snapshot, None)
        return found

    def _forget(self, snapshot: str) -> None:
        """Forget a snapshot of which nothing more is written."""
        for known in (self._entries, self._parts, self._began):
            known.pop(snapshot, None)

    def _delete_again(self, root: str, snapshot: str) -> None:
        """Delete the files of a snapshot that was deleted while they were written."""
        if snapshot in self._deleted:
            self.checkpoints.delete(root, snapshot)

    async def delete(self, snapshot: str, nodes: list[str]) -> None:
        """Delete the parts of some nodes; with the last parts, all of the snapshot.

        Newer snapshots may be built on the parts of other nodes.
        """
        self._forget(snapshot)
        own = self.registry.row(snapshot)
        left = self._undeleted.setdefault(snapshot, set(own.completed if own else nodes))
        left -= set(nodes)
        root = self._root(snapshot)
        if not left:
            self._deleted.add(snapshot)
        with suppress(Problem, TimeoutError):  # the next start finds it, and deletes it
            if left:
                await self._threads.within(DELETE_S, lambda: self.checkpoints.delete_parts(root, snapshot, nodes))
            else:
                await self._threads.within(DELETE_S, lambda: self.checkpoints.delete(root, snapshot))

    def size_of(self, snapshot: str) -> int:
        """Return the bytes of a snapshot that was committed since the start (0: it was not)."""
        return self._sizes.get(snapshot, 0)

    def uri_of(self, snapshot: str) -> str:
        """Return the address of the manifest of a snapshot."""
        return self.checkpoints.uri(self._root(snapshot), snapshot)

    # ------------------------------------------------------------------ reading

    def _read(self, snapshot: str, node: str | None = None) -> dict[str, Part]:
        """Read the parts of a snapshot, or the part of one node, from the storage. Raises Problem."""
        root = self._root(snapshot)
        manifest = self.checkpoints.read_manifest(root, snapshot)
        found = {}
        for entry in manifest.parts:
            if node not in (None, entry.node):
                continue
            part = self.system.codec.unpack(self.checkpoints.read_part(root, snapshot, entry))
            if not isinstance(part, Part):
                raise Problem(
                    409, f"{snapshot}: the part of {entry.node} holds {type(part).__name__}, and no part of a snapshot"
                )
            found[entry.node] = part
        return found

    def _state(self, snapshot: str, node: str, known: dict[str, dict[str, Part]]) -> Any:
        """Return the state of a node in a snapshot, from the full part on which it is built. Raises Problem."""
        if node not in known.setdefault(snapshot, {}):  # of a base, only the parts that others need are still there
            known[snapshot] |= self._read(snapshot, node)
        part = known[snapshot][node]
        base = None if part.base is None else self._state(part.base, node, known)
        return restored(base, part.document)

    async def damage(self, snapshot: str) -> str | None:
        """Return the damage of a stored snapshot (None: there is none, or the storage does not answer)."""
        try:
            await self._threads.within(READ_S, lambda: self._contents(snapshot))
        except (Unavailable, TimeoutError):
            return None
        except Problem as problem:
            return str(problem)
        return None

    def _contents(self, snapshot: str) -> dict[str, tuple[Any, Part]]:
        known: dict[str, dict[str, Part]] = {snapshot: self._read(snapshot)}
        return {node: (self._state(snapshot, node, known), part) for node, part in known[snapshot].items()}

    def contents(self, own: Snapshot) -> Mapping[str, Any]:
        """Return the states and the messages of a snapshot as JSON values. Waits for the storage. Raises Problem."""
        try:
            found = self._threads.wait(READ_S, lambda: self._contents(own.id))
        except TimeoutError:
            where = f"{self.checkpoints.uri(own.root, own.id)} was not read within {READ_S:g} s"
            raise Unavailable(f"{where}; see that its storage works, and ask again") from None
        processes, channels = {}, {}
        for node, (state, part) in found.items():
            processes[node] = {"state": state, "events": part.local.inside}
            for channel in self.system.engine.channels:
                if channel.target_name == node and channel.source_name in found:
                    kept = part.local.kept.get(channel, ())
                    channels[channel.name] = [message.body for message in kept]
        return {"epoch": own.epoch, "processes": processes, "channels": channels}

    async def fill(self, services: Services) -> None:
        """Read all stored snapshots into the notes of the storage service, at the start. Raises InputError."""
        rows = sorted(self.registry.kept(), key=lambda own: (own.ended_at or own.initiated_at, own.id))
        valid: dict[str, Stored] = {}
        for own in rows:
            valid[own.id] = Stored(await self._filled(own.id, partial(self._read, own.id)), own.size)
        if rows:
            needed = await self._filled(rows[-1].id, partial(self._needed_by, valid))
            services.process(STORAGE).memory = Shelf(valid=valid, needed=needed)

    async def _filled(self, snapshot: str, read: Callable[[], T]) -> T:
        """Call `read`, which reads a snapshot at the start, and return its result. Raises InputError."""
        try:
            return await self._threads.within(FILL_S, read)
        except TimeoutError:
            raise InputError(f"{snapshot} was not read within {FILL_S:g} s; see that its storage works") from None
        except Problem as problem:
            raise InputError(str(problem)) from None

    def _needed_by(self, valid: Mapping[str, Stored]) -> dict[tuple[str, str], Part]:
        """Read the parts, by snapshot and node, on which `valid` snapshots are built, and that belong to others."""
        needed: dict[tuple[str, str], Part] = {}
        for own in valid.values():
            for node, part in own.parts.items():
                while (base := part.base) is not None and base not in valid and (base, node) not in needed:
                    part = needed[base, node] = self._read(base, node)[node]
        return needed

    def valid(self, services: Services) -> list[str]:
        """Return the snapshots to which the system can go back, the oldest first."""
        shelf = services.process(STORAGE).memory
        return [*shelf.valid] if isinstance(shelf, Shelf) else []

    def last_index(self, services: Services, node: str) -> int:
        """Return the highest index of an event of a node in stored snapshots: the next event has a higher one."""
        shelf = services.process(STORAGE).memory
        known = (own.parts[node].local.inside for own in shelf.valid.values() if node in own.parts) if shelf else ()
        return max(known, default=0)

    @staticmethod
    def forgetting(snapshot: str) -> Callable[[Process, Out], None]:
        """Return an action by which the storage service forgets a damaged snapshot."""

        def forget(service: Process, out: Out) -> None:
            shelf: Shelf = service.memory
            valid = {name: own for name, own in shelf.valid.items() if name != snapshot}
            service.memory = shelf._replace(valid=valid, ended=(*shelf.ended, snapshot))
            out.note(snapshot, {"forgets": to_json([*shelf.valid[snapshot].parts]), "reason": "it is damaged"})

        return forget
