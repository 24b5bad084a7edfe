"""The plan of a scenario in a running cluster: the snapshots that it asks services for, and its faults."""

from __future__ import annotations

import asyncio

from cluster.control.cluster_parts import ClusterParts
from cluster.control.membership import Membership
from cluster.model import Fault, Problem
from cluster.stderr import warn
from sim.core.model import CRASH, AgendaItem, Initiate
from sim.document.scenario import FaultLine

NODE_FAULTS = {CRASH: "kill", "freeze": "freeze", "thaw": "thaw"}  # kinds of a scenario's faults, and of the cluster's


class ScenarioPlan:
    """Carries out the snapshots and the faults of a scenario at their times."""

    def __init__(self, parts: ClusterParts, membership: Membership) -> None:
        self._parts, self._membership = parts, membership

    def begin(self) -> None:
        """Set a timer for each snapshot and each fault."""
        parts, loop = self._parts, asyncio.get_running_loop()
        for item in parts.system.engine.agenda:
            if item.process in parts.services.site.processes and item.after is None:
                loop.call_later(parts.system.seconds(item.time), self._initiate, item)
        for line in parts.system.scenario.faults:
            loop.call_later(parts.system.seconds(line.at), self._begin, line)

    def _initiate(self, item: AgendaItem) -> None:
        assert isinstance(item.action, Initiate)
        name, snapshot = self._parts.system.names[item.process], item.action.snapshot
        self._parts.tasks.spawn(self._parts.services.initiate(name, snapshot, ["item", item.number]))

    def _begin(self, line: FaultLine) -> None:
        self._parts.tasks.spawn(self._carry_out(line))

    async def _carry_out(self, line: FaultLine) -> None:
        """Carry out a planned fault. One that is impossible now, such as killing a node that is down, is a warning."""
        try:
            if line.kind in NODE_FAULTS:
                self._parts.injector.inject(Fault(NODE_FAULTS[line.kind], line.process))
            elif line.kind in ("sever", "mend"):
                self._parts.injector.inject(Fault(line.kind, channels=line.channels))
            elif line.kind == "join":
                await self._membership.join(line.process)
            elif line.kind == "leave" and line.process is not None:
                await self._membership.leave(line.process)
        except Problem as problem:
            warn(problem)
