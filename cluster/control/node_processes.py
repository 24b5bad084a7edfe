"""The processes of nodes: their start, their end, and their silence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from cluster.control.cluster_parts import ClusterParts
from cluster.control.members import Member
from cluster.model import Node, NodeStatus
from cluster.stderr import warn

WATCH_GAP = 0.02  # seconds between two looks at whether a node has ended


class NodeProcesses:
    """Starts the process of each node, and notices if it ends or says nothing.

    `recover` is called with the reason after a node has ended, if the system supports recovery.
    """

    def __init__(self, parts: ClusterParts, recover: Callable[[str], Awaitable[object]]) -> None:
        self._parts, self._recover = parts, recover
        parts.services.fence = self._fence_silent

    def nodes(self) -> list[Node]:
        """Return all nodes, as they are now."""
        keys = ("sent", "received", "actions", "waiting")
        return [
            Node(
                member.name, self.status(member), member.pid, member.address.port if member.address else None,
                member.report.get("epoch", 0), {key: member.report.get(key, 0) for key in keys},
            )
            for member in self._parts.members
        ]  # fmt: skip

    def node(self, member: Member) -> Node:
        """Return a node as it is now."""
        return next(own for own in self.nodes() if own.name == member.name)

    def status(self, member: Member) -> NodeStatus:
        """Return the status of a node now."""
        self._parts.services.wakes()
        return member.shown(self._parts.members.running_clock.now)

    async def start(self, member: Member, *, waits: bool = False) -> None:
        """Start the process of a node. `waits`: it does nothing until it is restored.

        Raises InputError if the node does not report.
        """
        parts = self._parts
        epoch, index = parts.services.recovery.epoch, parts.store.last_index(parts.services, member.name)
        process = await parts.members.start(member, began=parts.began, epoch=epoch, index=index, waits=waits)
        parts.tasks.spawn(self._watch(member, process))
        parts.injector.tell(member)

    def tell_addresses(self) -> None:
        """Tell all nodes and services where the others listen."""
        self._parts.services.connect(self._parts.members.tell_addresses())

    def tell_start(self, member: Member, *, joins: bool) -> None:
        """Tell a node to begin its work. `joins`: it joins a system that runs already."""
        body = {"joins": joins, "began": self._parts.began, "clock": self._parts.services.site.clock}
        member.tell(self._parts.system, "start", body)

    async def _watch(self, member: Member, process: asyncio.subprocess.Process) -> None:
        """Wait for the end of a node's process."""
        await process.wait()
        if member.process is not process or self._parts.tasks.is_ending:
            return
        member.process, member.connection, member.pid = None, None, None
        if not (member.is_leaving or member.status is NodeStatus.STARTING):  # else its start or its leaving handles it
            await self.has_ended(member)

    async def has_ended(self, member: Member) -> None:
        """Handle the end of a node that is part of the system: it has crashed, and comes back if it can."""
        parts = self._parts
        member.status = NodeStatus.FAILED
        warn(f"node {member.name} has ended")
        await parts.services.crash(member.name, parts.logs / f"{member.number}.log")
        if parts.system.takes_back:
            await self._recover(f"{member.name} had ended")

    def _fence_silent(self, name: str) -> bool:
        """End the process of a node that is silent for too long, so that it is not half a member.

        A start or a recovery that waits for the node ends it itself. Returns whether a recovery brings it back.
        """
        member = self._parts.members.named(name)
        if member.is_leaving or not member.is_present:
            return False
        if member.status is NodeStatus.RUNNING:
            self._fence(member, "is taken for gone")
        return self._parts.system.takes_back

    @staticmethod
    def _fence(member: Member, why: str) -> None:
        """Kill the process of a node, if it still runs. Its end is then handled as any other."""
        process = member.process
        if process is not None and process.returncode is None:
            warn(f"node {member.name} {why}: its process is ended")
            process.kill()

    async def hears(self, member: Member, what: str, fits: Callable[[Any], bool] = lambda body: True) -> bool:
        """Wait until a node says `what`, with a body that `fits`. A node that is silent for too long is ended.

        Returns whether it has said it before its process has ended.
        """
        process, running_clock = member.process, self._parts.members.running_clock

        async def hear() -> None:
            while not fits(await self._parts.members.hear(member, what, None)):
                pass

        hearing, began = asyncio.ensure_future(hear()), running_clock.now
        try:
            while process is not None and member.process is process and not hearing.done():
                await asyncio.wait([hearing], timeout=WATCH_GAP)
                if running_clock.now - max(began, member.heard) > self._parts.system.silence:
                    self._fence(member, "says nothing")
                    began = running_clock.now
            return hearing.done()
        finally:
            hearing.cancel()
