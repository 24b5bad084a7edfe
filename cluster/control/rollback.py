"""The rollback of a system to a snapshot, after a failure or on request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, repeat

from cluster.control.cluster_parts import ClusterParts
from cluster.control.members import Member
from cluster.control.node_processes import NodeProcesses
from cluster.model import Epoch, NodeStatus, Problem, Restored, Status
from cluster.stderr import warn
from sim.core.errors import InputError
from sim.core.model import Process, Restorable
from sim.core.recovery import contents
from sim.services.storage_words import NAME as STORAGE

START_PAUSES = (0.1, 0.3, 1.0)  # seconds between two tries to start a node whose process has ended


class Rollback:
    """Takes all nodes back to a snapshot, in a new epoch. `count` rollbacks are done; the last took `last` seconds."""

    def __init__(self, parts: ClusterParts) -> None:
        self._parts = parts
        self.nodes = NodeProcesses(parts, lambda reason: self.roll_back(None, reason, because_failed=True))
        self.count, self.last = 0, 0.0

    async def restore(self, snapshot: str | None, epoch: int | None) -> Restored:
        """Go back to a snapshot, to the last one of an epoch, or (both None) to the last one. Raises Problem."""
        parts = self._parts
        if not parts.system.takes_back:
            title = parts.system.scenario.rules.title
            raise Problem(409, f"{title} does not support recovery; run the cluster with Chandy-Lamport")
        if epoch is not None:
            last = parts.store.registry.last_completed(epoch)
            if last is None:
                raise Problem(409, f"epoch {epoch}: no snapshot that was committed in it is stored; GET /v1/epochs")
            snapshot = last.id
        if snapshot is not None:
            own = await parts.rows.known(snapshot)
            if not own.is_kept or snapshot not in parts.store.valid(parts.services):
                raise Problem(409, f"{snapshot} is {own.status} and not stored; go back to one that is_kept")
            missing = [name for name in own.nodes if name not in parts.members.present]
            if missing:
                raise Problem(409, f"{snapshot} has a part of {missing[0]}, which has left; let it join again first")
        return await self.roll_back(snapshot, "a user asked for it")

    async def roll_back(
        self, wanted: str | None, reason: str, *, is_first: bool = False, because_failed: bool = False
    ) -> Restored:
        """Go back to the snapshot `wanted`, or (None) to the last one that can be used.

        `is_first`: at the start of the cluster. `because_failed`: do nothing if another recovery has brought all nodes
        back meanwhile. Raises Problem if `wanted` is damaged.
        """
        parts, began = self._parts, time.monotonic()
        async with parts.changes:
            recovery = parts.services.recovery
            if because_failed and not recovery.failed:
                return Restored(recovery.epoch, recovery.goal.snapshot, 0.0)
            while True:
                goal = await self._usable_goal(wanted)
                epoch = parts.services.recovery.epoch + 1
                if await self._is_done(goal, epoch, reason):
                    break
        took = time.monotonic() - began
        self.count, self.last = self.count + (not is_first), took
        parts.store.registry.add_epoch(Epoch(epoch, datetime.now(UTC), reason, goal.snapshot))
        return Restored(epoch, goal.snapshot, took * 1000)

    async def _is_done(self, goal: Restorable, epoch: int, reason: str) -> bool:
        """Try to take all nodes back to `goal`. Returns whether they all run: if one has ended, it is tried again."""
        parts, members = self._parts, self._parts.members
        await self._start_again([own for own in members if own.is_present and own.process is None])
        for member in members:
            if member.is_present:
                member.status = NodeStatus.RECOVERING
        self.nodes.tell_addresses()
        members.tell_members()
        parts.rows.goes_back_as = reason
        parts.store.registry.check_epoch(epoch)
        done = await parts.services.recover(goal, epoch)
        restored = [member for member in members if member.is_present]
        for member in restored:
            self._tell_restore(member, goal, epoch, done.clock)
        await asyncio.gather(*(self._is_restored(member, epoch) for member in restored))
        return all(member.status is NodeStatus.RUNNING for member in restored)

    async def _start_again(self, down: Sequence[Member]) -> None:
        """Start nodes whose processes have ended, each as often as it takes."""
        for pause in chain(START_PAUSES, repeat(START_PAUSES[-1])):
            for member in down:
                with suppress(InputError, OSError):
                    await self.nodes.start(member, waits=True)
            down = [own for own in down if own.process is None]
            if not down:
                return
            await asyncio.sleep(pause)

    async def _is_restored(self, member: Member, epoch: int) -> None:
        """Wait until a node is restored, or its process has ended."""
        if await self.nodes.hears(member, "restored", lambda body: body["epoch"] == epoch):
            member.status = NodeStatus.RUNNING

    async def _usable_goal(self, wanted: str | None) -> Restorable:
        """Return the goal of a rollback: read from the storage, and complete. Raises Problem if `wanted` is damaged."""
        parts = self._parts
        while True:
            goal = parts.services.goal(wanted, parts.members.present)
            if goal.snapshot is None:
                return goal
            problem = await parts.store.damage(goal.snapshot)
            if problem is None:
                return goal
            if wanted is not None:
                raise Problem(409, problem)
            warn(problem)
            await parts.services.ask(STORAGE, "forget", parts.store.forgetting(goal.snapshot))
            parts.rows.end(goal.snapshot, Status.FAILED, problem, is_kept=False)

    def _tell_restore(self, member: Member, goal: Restorable, epoch: int, clock: int) -> None:
        parts = self._parts
        own = Process(member.name, member.number, None)
        present = {other.number for other in parts.members if other.is_present}
        own.incoming = tuple(
            channel for channel in parts.system.engine.channels
            if channel.target == member.number and channel.source in present
        )  # fmt: skip
        recovery = parts.services.recovery._replace(goal=goal, epoch=epoch)
        back = list(contents(recovery, own, from_log=False))
        part = goal.parts.get(member.name)
        body = {
            "snapshot": goal.snapshot, "parts": {} if part is None else {member.name: part}, "epoch": epoch,
            "valid": sorted(goal.valid), "restores": list(goal.restores), "contents": back, "clock": clock,
        }  # fmt: skip
        member.tell(parts.system, "restore", body)
