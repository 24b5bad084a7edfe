"""Snapshots on request: who starts one, how it is cancelled, and when it expires."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from cluster.control.cluster_parts import ClusterParts
from cluster.control.node_processes import NodeProcesses
from cluster.model import FULL, INCREMENTAL, SNAPSHOT_TYPES, NodeStatus, Problem, Snapshot, Status, Wish
from sim.core.algorithm import ALL, ANY, SOURCES
from sim.document.scenario import Initiation
from sim.document.validate import fitting_initiations
from sim.services.words import CANCELLED
from sim.services.words import NAME as COORDINATOR

GRACE = 0.2  # seconds for a coordinator to say what is missing in a snapshot whose time is over
MOMENT = 0.1  # seconds that a snapshot takes on channels without delays
CONTROLS = 4  # control messages, one after the other: it starts, a part comes, the manifest is asked for, it is written


class SnapshotRequests:
    """Starts snapshots that users ask for, and ends those that are cancelled or take too long."""

    def __init__(self, parts: ClusterParts, nodes: NodeProcesses) -> None:
        self._parts, self._nodes = parts, nodes

    async def trigger(self, wish: Wish) -> Snapshot:
        """Ask for a snapshot, and return it at once. Raises Problem."""
        parts = self._parts
        root, kind = self._root_and_type(wish)
        starters = self._starters(wish.initiator)
        if parts.changes.locked():
            raise Problem(409, "the system is being changed or rolled back; ask again when all nodes are RUNNING")
        if len(parts.rows.open) >= (most := parts.system.most_waiting):
            what = f"{len(parts.rows.open)} snapshots are under way or wait, and {most} may be"
            raise Problem(429, f"{what}; ask again when one of them has ended")
        name = parts.store.registry.next_snapshot_id()
        epoch = parts.services.recovery.epoch
        own = Snapshot(name, Status.INITIATED, kind, root, epoch, datetime.now(UTC), wish.initiator)
        parts.store.begin(name, root)
        parts.rows.put(own)
        parts.tasks.spawn(self._expire(name))
        action = ["initiate", name]
        if wish.type is not None:
            parts.services.want(name, wish.type)
            action.append(wish.type)
        for starter in starters:
            if starter in parts.system.processes:
                number = parts.system.engine.number_of[starter]
                body = {"snapshot": name, "action": action, "clock": parts.services.site.clock}
                parts.members[number].tell(parts.system, "initiate", body)
            else:
                await parts.services.initiate(starter, name, action)
        return own

    def _root_and_type(self, wish: Wish) -> tuple[str, str]:
        """Return the name of the root and the type of a snapshot that is asked for. Raises Problem if there is none."""
        store = self._parts.store
        root = store.checkpoints.root_of(wish.root_uri) if wish.root_uri is not None else store.first_root
        kind = wish.type or (INCREMENTAL if store.is_incremental else FULL)
        if kind not in SNAPSHOT_TYPES:
            raise Problem(422, f"snapshot_type: {kind!r} is none of {', '.join(SNAPSHOT_TYPES)}")
        return root, kind

    def _starters(self, initiator: str | None) -> list[str]:
        """Return the processes and services that start a snapshot if a user names `initiator` (None: no node).

        Raises Problem if it may not, does not run, or does not reach all processes.
        """
        system, present = self._parts.system, self._parts.members.present
        kind, able = system.scenario.rules.initiators, system.initiators
        if initiator is not None:
            self._check_initiator(initiator)
            if kind == ANY:
                self._check_reach(initiator)
                return [initiator]
        if not able:
            raise Problem(409, f"no process may start a snapshot under {system.scenario.rules.title} on these channels")
        if kind == ALL:
            return [name for name in able if name in present]
        if COORDINATOR in able:
            return [COORDINATOR]
        if kind == SOURCES:
            return [name for name in able if name in present]
        there = [name for name in able if name in present or name not in system.processes]
        return self._fitting((there or able)[0])

    def _check_initiator(self, initiator: str) -> None:
        """Raise Problem if a node is unknown, does not run, or may not start a snapshot."""
        system = self._parts.system
        if initiator not in system.processes:
            known = ", ".join(system.processes)
            raise Problem(404, f"initiated_by_node_id: there is no node {initiator!r}; there are {known}")
        if initiator not in system.initiators:
            title, able = system.scenario.rules.title, ", ".join(system.initiators)
            raise Problem(409, f"under {title} {initiator} starts no snapshots; {able} may")
        status = self._nodes.status(self._parts.members.named(initiator))
        if status is not NodeStatus.RUNNING:
            raise Problem(409, f"{initiator} is {status}; ask one that is RUNNING")

    def _fitting(self, initiator: str) -> list[str]:
        """Return the processes that have to start a snapshot so that it reaches all: `initiator` and maybe others."""
        scenario = replace(self._parts.system.scenario, snapshots=(Initiation("", initiator, 0.0),))
        return [start.process for start in fitting_initiations(scenario)]

    def _check_reach(self, initiator: str) -> None:
        """Raise Problem if a snapshot that `initiator` starts does not reach all processes."""
        if not self._parts.services.has_coordinator and (others := self._fitting(initiator)) != [initiator]:
            what = f"a snapshot that {initiator} starts does not reach all processes"
            raise Problem(409, f"{what}; name no node, then {' and '.join(others)} will start it")

    async def cancel(self, snapshot: str) -> Snapshot:
        """Cancel a snapshot that is under way. Raises Problem."""
        own = await self._parts.rows.known(snapshot)
        if own.status.is_final:
            raise Problem(409, f"{snapshot} is {own.status}; only one that is under way can be cancelled")
        await self._give_up(snapshot, Status.CANCELLED, CANCELLED)
        return await self._parts.rows.known(snapshot)

    async def _give_up(self, snapshot: str, status: Status, reason: str) -> None:
        """End a snapshot that is not complete. Raises Problem if it is being completed."""
        parts = self._parts
        parts.rows.given_up[snapshot] = status, reason
        if not await parts.services.give_up(snapshot, reason):
            del parts.rows.given_up[snapshot]
            limit = f"within {parts.services.time_to_live:g} s of its request"
            raise Problem(409, f"{snapshot}: its manifest is being written; it is complete or given up {limit}")
        if not parts.services.has_coordinator:
            for member in parts.members:
                member.tell(parts.system, "abort", {"snapshot": snapshot, "clock": parts.services.site.clock})
        parts.rows.end(snapshot, status, reason)

    async def _expire(self, snapshot: str) -> None:
        """End a snapshot when its time is over, counted from the request, even if it has not begun.

        A coordinator that has begun it at once knows which nodes have sent no word, so it has a moment to say so.
        """
        services = self._parts.services
        limit = services.time_to_live
        await asyncio.sleep(limit + (GRACE if services.has_coordinator else 0.0))
        own = self._parts.store.registry.row(snapshot)
        if own is not None and not own.status.is_final:
            with suppress(Problem):
                await self._give_up(snapshot, Status.EXPIRED, f"it was not complete within {limit:g} s")

    def first_estimate(self) -> float:
        """Return the milliseconds that a snapshot may take before any has been completed."""
        system = self._parts.system
        control = system.seconds(system.scenario.control_delay.high)
        across = self._parts.injector.longest_way * system.hops + CONTROLS * control
        return 1000 * min(MOMENT + across, self._parts.services.time_to_live)
