"""The services of a cluster, such as its coordinator and its storage, in the process of the controller.

They follow the rule books of sim/services, one action at a time. A part is durable before its upload is answered, and a
manifest before its snapshot is called complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cluster.control.service_actions import Disk, ServiceActions
from cluster.control.service_messages import ServiceMessages
from cluster.control.service_timers import ServiceTimers
from cluster.node.clock import RunningClock
from cluster.node.event_log import RECOVER, acted_since, last_entry
from cluster.node.site import Done, Site
from sim.core.effects import Out
from sim.core.model import CRASH, RECOVERY, Message, Process, RecoveryState, Restorable
from sim.services import storage_words
from sim.services.coordinator import Coordinator
from sim.services.member import Member
from sim.services.rounds import Notes
from sim.services.storage import Storage
from sim.services.words import NAME as COORDINATOR

STORAGE = storage_words.NAME


class Services:
    """All services of one system. `recovery` is the state of its recoveries.

    `fence` ends a node that is silent for too long. It returns whether a recovery brings it back: then the node
    stays a member meanwhile, so that no snapshot is complete without it.
    """

    def __init__(
        self, site: Site, token: str, incarnation: str, disk: Disk, on_done: Callable[[Done], None], clock: RunningClock
    ) -> None:  # fmt: skip
        """`incarnation` is that of the controller, as in links.Address. `on_done` is called after each action.
        `clock` knows whether the controller stood still."""
        self.site, self.system, self._running_clock = site, site.system, clock
        self.recovery = RecoveryState()
        self.fence: Callable[[str], bool] = lambda name: False
        self._crashed: dict[str, int] = {}  # when each process has crashed last, by the clock of the log
        self._actions = ServiceActions(site, disk, on_done, self._give_up, lambda: self._timers.save())
        self._timers = ServiceTimers(site, clock, self._actions.put, lambda name: self.fence(name))
        self._messages = ServiceMessages(site, token, incarnation, disk, self._actions.put, self._refuse)
        self.receiver, self.connect = self._messages.receiver, self._messages.connect
        site.hand_over, site.set_timer = self._messages.hand_over, self._timers.set

    # ------------------------------------------------------------------ the services themselves

    def number(self, name: str) -> int:
        """Return the number of the service with a name."""
        return self.system.engine.number_of[name]

    def process(self, name: str) -> Process:
        """Return the process of a service, with its notes."""
        return self.site.processes[self.number(name)]

    @property
    def has_coordinator(self) -> bool:
        """Whether a coordinator starts the snapshots; an algorithm may have another service of that name."""
        return isinstance(self.system.engine.algorithm, Member)

    @property
    def members(self) -> tuple[str, ...]:
        """The processes that take part in snapshots, as the coordinator knows."""
        found: Notes = self.process(COORDINATOR).memory or Notes(self.system.scenario.processes, 0, 0)
        return found.members

    @property
    def time_to_live(self) -> float:
        """Seconds from the request for a snapshot, after which it is complete or has expired."""
        own = self._coordinator.settings.timeout if self.has_coordinator else self.storage.algorithm.storage.kept
        return self.system.seconds(own)

    @property
    def storage(self) -> Storage:
        """The rule book of the storage."""
        own = next(own for own in self.system.engine.services if own.name == STORAGE)
        assert isinstance(own, Storage)
        return own

    @property
    def _coordinator(self) -> Coordinator:
        own = next(own for own in self.system.engine.services if own.name == COORDINATOR)
        assert isinstance(own, Coordinator)
        return own

    # ------------------------------------------------------------------ work

    async def run(self) -> None:
        """Carry out everything that waits, one action at a time, for ever."""
        watching = asyncio.get_running_loop().create_task(self._running_clock.keep_looking(self.wakes))
        try:
            await self._actions.run(self.receiver.acknowledge)
        finally:
            watching.cancel()

    def wakes(self) -> bool:
        """Postpone all timers if the controller has stood still until now. Returns whether it has."""
        return self._timers.postpone()

    def close(self) -> None:
        """End all connections."""
        self._messages.close()
        self._actions.close()

    def _refuse(self, message: Message) -> None:
        """Tell a node that its part could not be written, so that it tries again."""
        service, snapshot = self.process(STORAGE), message.snapshot or ""
        source = message.channel.source_name
        self.site.rules.from_outside(service, lambda out: self.storage.refuse(service, source, snapshot, out))

    def _give_up(self, snapshot: str, reason: str) -> None:
        service = self.process(STORAGE)
        self.site.rules.from_outside(service, lambda out: self.storage.give_up(service, snapshot, reason, out))

    # ------------------------------------------------------------------ requests of the controller

    def begin_in(self, epoch: int) -> None:
        """Let the cluster begin in an epoch."""
        for service in self.site.processes.values():
            service.epoch = epoch
        self.recovery = self.recovery._replace(epoch=epoch)

    def begin_among(self, members: tuple[str, ...]) -> None:
        """Let the cluster begin with some nodes."""
        if self.has_coordinator:
            self._coordinator.begin_among(self.process(COORDINATOR), members)

    async def start(self) -> None:
        """Let every service begin that has work of its own."""
        for start in self.system.engine.starts:
            name = self.system.names[start.process]
            await self._actions.do(start.process, ["start", name], lambda name=name: self._start(name))  # type: ignore[misc]

    def _start(self, name: str) -> None:
        service = self.process(name)
        service.turn = 1
        self.site.rules.start(service)

    def want(self, snapshot: str, kind: str) -> None:
        """Set the type of a snapshot that is asked for, as [[snapshots]] does in a scenario (increments.TYPES)."""
        rules = self.storage.algorithm
        rules.storage = rules.storage._replace(types={**rules.storage.types, snapshot: kind})

    async def initiate(self, name: str, snapshot: str, action: list[Any]) -> None:
        """Ask a service for a snapshot. `action` says whether a user or the scenario asks."""
        rules = self.site.rules
        await self._actions.do(self.number(name), action, lambda: rules.initiate(self.process(name), snapshot))

    async def ask(self, name: str, what: str, act: Callable[[Process, Out], None]) -> None:
        """Ask the service `name` for something, on behalf of a user."""

        def own() -> None:
            service = self.process(name)
            self.site.rules.from_outside(service, lambda out: act(service, out))

        await self._actions.do(self.number(name), ["outside", what], own)

    async def give_up(self, snapshot: str, reason: str) -> bool:
        """End a snapshot that is not complete. A coordinator cancels it, and does not need the reason.

        Returns False if a coordinator leaves it to the storage, which is about to make it complete.
        """
        if not self.has_coordinator:
            await self.ask(STORAGE, "give up", lambda own, out: self.storage.give_up(own, snapshot, reason, out))
            return True
        await self.ask(COORDINATOR, "cancel", lambda own, out: self._coordinator.cancel(own, snapshot, out))
        notes: Notes = self.process(COORDINATOR).memory
        return snapshot not in notes.under_way

    # ------------------------------------------------------------------ crashes and recoveries

    async def crash(self, process: str, log: Path) -> None:
        """Tell all services that the process of a node has crashed. `log` is the event log of the node.

        If it has not been restored since it crashed last, the process is down all along, and nothing happens.
        """
        self.recovery = self.recovery._replace(failed=self.recovery.failed | {process})
        last = last_entry(log)

        def act() -> None:
            self.site.rules.emit((process, None, CRASH, None, None, None, None, None, None))
            for service in self.site.processes.values():
                self.site.rules.crashed(service, process)

        def is_up() -> bool:
            return acted_since(log, self._crashed.get(process, 0))

        done = await self._actions.do(-1, ["crash", process], act, last.clock if last else 0, is_up)
        if done is not None:
            self._crashed[process] = done.clock

    async def recover(self, goal: Restorable, epoch: int) -> Done:
        """Begin a recovery that goes back to `goal`: from now on all services are in the new epoch."""

        def act() -> None:
            services = list(self.site.processes.values())
            names = [service.name for service in services]
            body = {"epoch": epoch, "fence": True, "restores": list(goal.restores), "services": names}
            self.site.rules.emit((STORAGE, None, RECOVERY, None, None, None, None, body, goal.snapshot))
            for service in services:
                service.epoch = epoch
                self.site.rules.recover(service, goal)

        done = await self._actions.do(-1, [RECOVER, goal.snapshot, epoch], act)
        assert done is not None
        self.recovery = self.recovery._replace(epoch=epoch, goal=goal, failed=frozenset())
        return done

    def goal(self, wanted: str | None, present: list[str]) -> Restorable:
        """Return the goal of a recovery: the snapshot `wanted`, else the last valid one, else the initial states."""
        services = self.system.engine.services
        goals = (own.goal(self.process(own.name), wanted, self.recovery) for own in services)
        goal = next((found for found in goals if found is not None), Restorable(None, {}, {}))
        return goal._replace(restores=tuple(present))
