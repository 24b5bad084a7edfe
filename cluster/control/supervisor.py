"""The controller of a cluster: begins and ends it, and hands every request to the feature that carries it out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster.control.cluster_parts import ClusterParts
from cluster.control.draining import is_drained
from cluster.control.members import Member
from cluster.control.membership import Membership
from cluster.control.rollback import Rollback
from cluster.control.scenario_plan import ScenarioPlan
from cluster.control.snapshot_requests import SnapshotRequests
from cluster.control.snapshot_store import Store
from cluster.model import Epoch, Fault, Node, NodeStatus, Problem, Restored, Snapshot, Status, Wish
from cluster.node.system import System
from cluster.node.tailing import follow
from sim.core.errors import InputError

END_TIMEOUT = 3.0  # seconds for all to end


class Supervisor:
    """A running cluster (cluster.model.Controller)."""

    def __init__(
        self, system: System, store: Store, logs: Path, *, queue: int, allows_faults: bool = False,
        delay: tuple[float, float] | None = None, first_epoch: int = 0, programs: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """`logs` is the folder of the event logs, and `first_epoch` the epoch of this start. `queue`, `programs` and
        `delay`: as in cluster.start.wanted.Wanted."""
        self.system, self.store, self.logs = system, store, logs
        self.name, self.allows_faults = system.scenario.name, allows_faults
        self._delay, self._first_epoch = delay, first_epoch
        self._parts = parts = ClusterParts(system, store, logs, queue=queue, programs=programs or {})
        self.members, self.services, self._tasks = parts.members, parts.services, parts.tasks
        self.rollback = Rollback(parts)
        self._nodes = self.rollback.nodes
        self._membership = Membership(parts, self._nodes)
        self._requests = SnapshotRequests(parts, self._nodes)
        self._plan = ScenarioPlan(parts, self._membership)

    @property
    def ended(self) -> asyncio.Event:
        """An event that is set when the cluster has to end."""
        return self._tasks.ended

    @property
    def failure(self) -> BaseException | None:
        """The problem because of which the cluster has to end, if it is one."""
        return self._tasks.failure

    @property
    def present(self) -> list[str]:
        """The names of the processes that are part of the system."""
        return self.members.present

    # ------------------------------------------------------------------ beginning and end

    async def start(self, restore: str | None = None, *, restores: bool = False) -> None:
        """Start all nodes, and begin. `restores`: from a stored snapshot, `restore` or (None) the last one.

        Raises InputError if a node does not start.
        """
        loop = asyncio.get_running_loop()
        self.store.registry.watch(lambda problem: loop.call_soon_threadsafe(self._tasks.fail, problem))
        await self.members.listen(self.services)
        self._tasks.spawn(self.services.run())
        self.services.begin_in(self._first_epoch)
        await self.store.fill(self.services)
        begins = self._at_first(restore, restores=restores)
        self.services.begin_among(tuple(member.name for member in begins))
        await self._start_nodes(begins)
        self._parts.began = self.services.site.began = time.time()
        if self._delay is not None:
            self._parts.injector.delay(self.system.engine.channels, *self._delay)
        if restores:
            await self.rollback.roll_back(restore, "the cluster starts from it", is_first=True)
        await self.services.start()
        for member in begins:
            if not restores:
                self._nodes.tell_start(member, joins=False)
        self._plan.begin()

    def _at_first(self, restore: str | None, *, restores: bool) -> list[Member]:
        """Return the nodes with which the system begins: those of its first snapshot, or those of the scenario."""
        absent = self.system.scenario.absent
        names = [name for name in self.system.processes if name not in absent]
        stored = self.store.valid(self.services)
        own = self.store.registry.row(restore or stored[-1]) if restores and stored else None
        if own is not None:
            names = list(own.nodes)
        return [member for member in self.members if member.name in names]

    async def _start_nodes(self, begins: Sequence[Member]) -> None:
        """Start the first nodes, and wait until each knows the others. Raises InputError."""
        await asyncio.gather(*(self._nodes.start(member) for member in begins))
        for member in begins:
            member.status = NodeStatus.RUNNING
        self._nodes.tell_addresses()
        self.members.tell_members()
        for member in begins:
            if not await self._nodes.hears(member, "knows"):
                raise InputError(f"node {member.name}: has ended as it started; what it wrote is above")

    async def shut_down(self) -> None:
        """Set `ended`, so that the program that runs the cluster closes it."""
        self.ended.set()

    async def close(self) -> None:
        """End all nodes and connections. Snapshots under way have failed."""
        await self._tasks.cancel(END_TIMEOUT)  # from now on nothing starts a node
        for member in self.members:
            member.tell(self.system, "stop", {})
        await self._end([member.process for member in self.members if member.process is not None])
        self.services.close()
        await self.members.close()
        for snapshot in self.store.registry.running():
            self._parts.rows.end(snapshot.id, Status.FAILED, "the cluster was ended while it was under way")
        self.services.site.log.close()

    @staticmethod
    async def _end(processes: Sequence[asyncio.subprocess.Process]) -> None:
        """Wait until processes have ended; those that take too long are killed."""
        for process in processes:
            if process.stdin is not None:
                process.stdin.close()
        if processes:
            await asyncio.wait([asyncio.ensure_future(process.wait()) for process in processes], timeout=END_TIMEOUT)
        for process in processes:
            if process.returncode is None:
                process.kill()
                await process.wait()

    # ------------------------------------------------------------------ requests (cluster.model.Controller)

    async def trigger(self, wish: Wish) -> Snapshot:
        """Ask for a snapshot."""
        return await self._requests.trigger(wish)

    def snapshot(self, snapshot: str) -> Snapshot:
        """Return one snapshot."""
        return self._parts.rows.snapshot(snapshot)

    def snapshots(self, status: Status | None, limit: int, before: str | None) -> Sequence[Snapshot]:
        """Return a page of snapshots, the newest first."""
        return self._parts.rows.snapshots(status, limit, before)

    async def cancel(self, snapshot: str) -> Snapshot:
        """Cancel a snapshot that is under way."""
        return await self._requests.cancel(snapshot)

    def contents(self, snapshot: str) -> Mapping[str, Any]:
        """Return the states and the messages of a snapshot."""
        own = self.snapshot(snapshot)
        if not own.is_kept:
            raise Problem(409, f"{snapshot} is {own.status}, and nothing of it is stored any more")
        return self.store.contents(own)

    async def restore(self, snapshot: str | None, epoch: int | None) -> Restored:
        """Roll the system back."""
        return await self.rollback.restore(snapshot, epoch)

    def epochs(self) -> Sequence[Epoch]:
        """Return all epochs."""
        return self.store.registry.epochs()

    def nodes(self) -> Sequence[Node]:
        """Return all nodes."""
        return self._nodes.nodes()

    async def join(self, node: str | None) -> Node:
        """Make an absent node part of the system."""
        return await self._membership.join(node)

    async def leave(self, node: str) -> Node:
        """Let a node leave the system."""
        return await self._membership.leave(node)

    async def inject(self, fault: Fault) -> None:
        """Inject a fault."""
        if not self.allows_faults:
            raise Problem(403, "this cluster allows no faults; start it with --allow-faults")
        self._parts.injector.inject(fault)

    async def drain(self, timeout: float) -> bool:
        """Let the nodes begin nothing more. Returns whether all messages have arrived within `timeout` seconds."""
        return await is_drained(self._parts, timeout)

    def events(self) -> AsyncIterator[Mapping[str, Any]]:
        """Return the rows of all event logs from now on."""
        return follow(self.logs, self.system.names)

    def figures(self) -> Mapping[str, float]:
        """Return totals and levels, by name."""
        registry = self.store.registry
        return {
            "recoveries": float(self.rollback.count), "last_recovery_seconds": self.rollback.last,
            "registry_up": float(not registry.problem), "registry_changes_waiting": float(registry.waiting),
        }  # fmt: skip

    def first_estimate(self) -> float:
        """Return the milliseconds that a snapshot may take before any has been completed."""
        return self._requests.first_estimate()
