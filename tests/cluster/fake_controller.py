"""A cluster that there is not: it keeps snapshots in a list, and they end when a test says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from cluster.model import (
    INCREMENTAL,
    Epoch,
    Fault,
    Node,
    NodeStatus,
    Problem,
    Restored,
    Snapshot,
    Status,
    Wish,
)

START = datetime(2026, 5, 23, 8, 12, tzinfo=UTC)
ROOT = "s3://company-checkpoints/production-stream-01/"


class FakeController:
    """A Controller of three nodes, of which the third is absent."""

    name = "lecture"

    def __init__(self, allows_faults: bool = True) -> None:
        self.allows_faults = allows_faults
        self.rows: list[Snapshot] = []  # the oldest first
        self.faults: list[Fault] = []
        self.restored: list[str | None] = []
        self.readers: list[asyncio.Queue[Mapping[str, Any] | None]] = []
        self.ended = False
        self.gate: asyncio.Event | None = None  # a restore waits for it
        self.waiting = 0  # restores that have come to it
        self.members = [
            Node("P1", NodeStatus.RUNNING, 101, 5001, 0, {"sent": 7, "received": 5, "actions": 20, "waiting": 1}),
            Node("P2", NodeStatus.FAILED),
            Node("P3", NodeStatus.ABSENT),
        ]

    async def trigger(self, wish: Wish) -> Snapshot:
        if wish.initiator is not None:
            self._node(wish.initiator)
        if wish.root_uri not in (None, ROOT):
            raise Problem(422, f"{wish.root_uri} is no configured root; known: {ROOT}.")
        return self.add(wish)

    def add(self, wish: Wish) -> Snapshot:
        """Ask for a snapshot."""
        number = len(self.rows)
        self.rows.append(
            Snapshot(
                f"snap-{number}", Status.INITIATED, wish.type or "full", ROOT, len(self.restored),
                START + timedelta(seconds=number), wish.initiator,
                "snap-0" if wish.type == INCREMENTAL else None, nodes=("P1", "P2"),
            )
        )  # fmt: skip
        return self.rows[-1]

    def finish(self, snapshot: str, status: Status, milliseconds: float = 1120.0, completed: int = 2) -> None:
        """Let a snapshot end."""
        place, row = self._row(snapshot)
        ended = row.initiated_at + timedelta(milliseconds=milliseconds)
        good = status is Status.COMPLETED
        self.rows[place] = replace(
            row, status=status, ended_at=ended, completed=row.nodes[:completed], size=4096 if good else 0,
            manifest_uri=f"{ROOT}{row.id}.json" if good else None, is_kept=good,
            reason="" if good else "as a test wants",
        )  # fmt: skip

    def _row(self, snapshot: str) -> tuple[int, Snapshot]:
        for place, row in enumerate(self.rows):
            if row.id == snapshot:
                return place, row
        raise Problem(404, f"There is no snapshot {snapshot!r}.")

    def first_estimate(self) -> float:
        return 1500.0

    def snapshot(self, snapshot: str) -> Snapshot:
        return self._row(snapshot)[1]

    def snapshots(self, status: Status | None, limit: int, before: str | None) -> Sequence[Snapshot]:
        older = self.rows if before is None else self.rows[: self._row(before)[0]]
        return [row for row in reversed(older) if status is None or row.status is status][:limit]

    async def cancel(self, snapshot: str) -> Snapshot:
        if self.snapshot(snapshot).status.is_final:
            raise Problem(409, f"{snapshot} has ended; only a snapshot under way can be cancelled.")
        self.finish(snapshot, Status.CANCELLED, completed=1)
        return self.snapshot(snapshot)

    def contents(self, snapshot: str) -> Mapping[str, Any]:
        row = self.snapshot(snapshot)
        if not row.is_kept:
            raise Problem(409, f"{snapshot} is not stored.")
        processes = {"P1": {"state": {"money": 70}, "events": 3}, "P2": {"state": None, "events": 0}}
        return {"processes": processes, "channels": {"P1->P2": [30, "x"]}, "epoch": row.epoch}

    async def restore(self, snapshot: str | None, epoch: int | None) -> Restored:
        if self.gate is not None:
            self.loop = asyncio.get_running_loop()
            self.waiting += 1
            await self.gate.wait()
        if snapshot is not None:
            self.snapshot(snapshot)
        if epoch is not None and epoch > len(self.restored):
            raise Problem(404, f"There is no epoch {epoch}.")
        self.restored.append(snapshot)
        return Restored(len(self.restored), snapshot, 812.4)

    def open_gate(self) -> None:
        """Let the restores go on, from the thread of a test."""
        assert self.gate is not None
        self.loop.call_soon_threadsafe(self.gate.set)

    def epochs(self) -> Sequence[Epoch]:
        recovered = [Epoch(n, START, "asked for", one) for n, one in enumerate(self.restored, 1)]
        return [*reversed(recovered), Epoch(0, START, "the start", None, "snap-0")]

    def nodes(self) -> Sequence[Node]:
        return self.members

    def _node(self, name: str) -> Node:
        for node in self.members:
            if node.name == name:
                return node
        raise Problem(404, f"There is no node {name!r}; known: P1, P2, P3.")

    def _become(self, node: Node, status: NodeStatus) -> Node:
        changed = replace(node, status=status)
        self.members[self.members.index(node)] = changed
        return changed

    async def join(self, node: str | None) -> Node:
        absent = [one for one in self.members if one.status is NodeStatus.ABSENT]
        chosen = self._node(node) if node is not None else absent[0] if absent else None
        if chosen not in absent:
            raise Problem(409, "No such node is absent.")
        assert chosen is not None
        return self._become(chosen, NodeStatus.STARTING)

    async def leave(self, node: str) -> Node:
        chosen = self._node(node)
        if chosen.status is NodeStatus.ABSENT:
            raise Problem(409, f"{node} is absent already.")
        return self._become(chosen, NodeStatus.ABSENT)

    async def inject(self, fault: Fault) -> None:
        if fault.node is not None:
            self._node(fault.node)
        self.faults.append(fault)

    async def events(self) -> AsyncIterator[Mapping[str, Any]]:
        self.loop = asyncio.get_running_loop()
        mine: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
        self.readers.append(mine)
        try:
            while (row := await mine.get()) is not None:
                yield row
        finally:
            self.readers.remove(mine)

    def emit(self, row: Mapping[str, Any] | None) -> None:
        """A row of an event log, for all who read now (None: there are no more), from the thread of a test."""
        for reader in list(self.readers):
            self.loop.call_soon_threadsafe(reader.put_nowait, row)

    def figures(self) -> Mapping[str, float]:
        return {"recoveries": float(len(self.restored)), "last_recovery_seconds": 0.8}

    async def shut_down(self) -> None:
        self.ended = True
