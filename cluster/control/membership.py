"""Changes of the members: nodes that join, and nodes that leave."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from cluster.control.cluster_parts import ClusterParts
from cluster.control.members import Member
from cluster.control.node_processes import WATCH_GAP, NodeProcesses
from cluster.model import Node, NodeStatus, Problem
from sim.core.errors import InputError

LEAVE_TIMEOUT = 2.0  # seconds that a process has to end after it was asked to
_NO_COORDINATOR = "nodes join and leave only if a coordinator knows the members; start the cluster with one"


class Membership:
    """Lets nodes join and leave, one at a time."""

    def __init__(self, parts: ClusterParts, nodes: NodeProcesses) -> None:
        self._parts, self._nodes = parts, nodes

    async def join(self, node: str | None) -> Node:
        """Make a node that is absent part of the system (None: the first such). Raises Problem."""
        parts, members = self._parts, self._parts.members
        if not parts.services.has_coordinator:
            raise Problem(409, _NO_COORDINATOR)
        absent = [member for member in members if not member.is_present]
        member = members.named(node) if node is not None else next(iter(absent), None)
        if member is None:
            raise Problem(409, f"all {len(members)} nodes are present; start the cluster with more by --most")
        if member.is_present:
            raise Problem(409, f"{member.name} is {member.status}; only one that is ABSENT can join")
        async with parts.changes:
            try:
                await self._nodes.start(member)
            except InputError as problem:
                self._stays_away(member)
                raise Problem(409, f"{problem}; join it again") from None
            self._nodes.tell_addresses()
            members.tell_members()
            if not await self._all_know(member):
                self._stays_away(member)
                raise Problem(409, f"{member.name} has ended before it could take part; join it again")
            member.status = NodeStatus.RUNNING
            self._nodes.tell_start(member, joins=True)
            await self._is_known(member, is_member=True)
        return self._nodes.node(member)

    def _stays_away(self, member: Member) -> None:
        """Note that a node has failed to join."""
        member.status, member.process, member.connection, member.address = NodeStatus.ABSENT, None, None, None
        self._parts.members.tell_members()

    async def _all_know(self, joining: Member | None = None) -> bool:
        """Wait until all nodes know the members, or have ended. Returns whether `joining` knows them."""
        there = [
            own for own in self._parts.members if own.connection is not None and (own.is_present or own is joining)
        ]
        known = await asyncio.gather(*(self._nodes.hears(own, "knows") for own in there))
        return joining is None or dict(zip([own.name for own in there], known, strict=True)).get(joining.name, False)

    async def leave(self, node: str) -> Node:
        """Let a node leave the system, and end its process. Raises Problem."""
        parts, members = self._parts, self._parts.members
        member = members.named(node)
        if not parts.services.has_coordinator:
            raise Problem(409, _NO_COORDINATOR)
        if (status := self._nodes.status(member)) is not NodeStatus.RUNNING:
            raise Problem(409, f"{node} is {status}; only one that is RUNNING can leave")
        if len(members.present) <= 2:
            raise Problem(409, f"only {' and '.join(members.present)} are left; a system has at least two processes")
        async with parts.changes:
            member.is_leaving = True
            member.tell(parts.system, "leave", {})
            if not await self._nodes.hears(member, "left"):
                member.is_leaving = False
                parts.tasks.spawn(self._nodes.has_ended(member))
                raise Problem(409, f"{node} has ended before it had left, and comes back; let it leave then")
            member.status = NodeStatus.ABSENT
            members.tell_members()
            await self._all_know()
            if member.process is not None:
                member.tell(parts.system, "stop", {})
                member.connection, member.address, member.pid = None, None, None
                await self._ends(member.process)
                member.process = None
            await self._is_known(member, is_member=False)
        return self._nodes.node(member)

    async def _ends(self, process: asyncio.subprocess.Process) -> None:
        """Wait until a process has ended; it is killed after LEAVE_TIMEOUT."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_TIMEOUT):
                await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()

    async def _is_known(self, member: Member, *, is_member: bool) -> None:
        """Wait until the coordinator has heard of a change, or the process of the node has ended."""
        process = member.process
        while (member.name in self._parts.services.members) != is_member and member.process is process:
            await asyncio.sleep(WATCH_GAP)
