"""The services of a cluster, such as its coordinator and its storage, in the process of the controller.

They follow the rule books of sim/services, one action at a time. What an action makes durable is durable before anybody
hears of the action: a part before its upload is answered, a manifest before its snapshot is called complete.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from cluster.model import Problem
from cluster.node.clock import RunningClock
from cluster.node.event_log import RECOVER, acted_since, last_entry
from cluster.node.links import Address, Link
from cluster.node.receiver import Receiver
from cluster.node.site import Done, Site, Wake
from sim.core.effects import Out
from sim.core.faults import fence_off
from sim.core.model import COMMITTED, CRASH, RECOVERY, Channel, Message, Process, RecoveryState, Restorable, Timer
from sim.services import storage_words
from sim.services.coordinator import Coordinator, Notes, silent_in
from sim.services.member import Member
from sim.services.storage import Storage
from sim.services.uploads import Part
from sim.services.words import NAME as COORDINATOR

STORAGE = storage_words.NAME
_QUEUE = 10_000  # control messages of a service that wait for a node


class Disk(Protocol):
    """Where parts and manifests are written. Both raise Problem."""

    async def write_part(self, snapshot: str, node: str, part: Part) -> None:
        """Write a part, durably."""

    async def write_manifest(self, snapshot: str, body: Any) -> None:
        """Write the manifest, durably: the snapshot is valid from now on."""


class Job(NamedTuple):
    """An action that waits for its turn; `done` hears of it. `manifest` is one that is written: it may say so."""

    actor: int
    action: list[Any]
    act: Callable[[], None]
    seen: int = 0
    done: asyncio.Future[Done | None] | None = None
    is_wanted: Callable[[], bool] = lambda: True  # when its turn has come
    manifest: tuple[str, Any] | None = None


class Services:
    """All services of one system. `on_done` is called after each action."""

    def __init__(
        self, site: Site, token: str, incarnation: str, disk: Disk, on_done: Callable[[Done], None], clock: RunningClock
    ) -> None:  # fmt: skip
        """`incarnation` is that of the controller, as in links.Address. `clock` stops while the controller does."""
        self.site, self.system = site, site.system
        count = len(self.system.processes)
        self.receiver = Receiver(self.system, range(count, len(self.system.names)), incarnation, self._take)
        self._token, self._incarnation, self._disk, self._on_done = token, incarnation, disk, on_done
        self._jobs: asyncio.Queue[Job] = asyncio.Queue()
        self._first: deque[Job] = deque()  # jobs that come before those
        self._held: list[Job] = []  # jobs of the storage while it writes a manifest
        self._writing: asyncio.Task[None] | None = None  # that manifest
        self._preparing: dict[Channel, asyncio.Task[None]] = {}  # by channel, the last part that is being written
        self._links: dict[tuple[int, int], Link] = {}
        self._addresses: dict[int, Address] = {}
        self._timers: dict[tuple[int, str], tuple[Wake, asyncio.TimerHandle]] = {}
        self._busy_until: dict[Channel, float] = {}
        self._delays = self.system.scenario.delays_of_a_run()
        self.recovery = RecoveryState()
        self._running_clock = clock
        # Whether who is silent for too long is ended, and comes back by a recovery: then it stays a member meanwhile,
        # so no snapshot is complete without it.
        self.is_fenced: Callable[[str], bool] = lambda name: False
        self._crashed: dict[str, int] = {}  # when each process has crashed last, by the clock of the log
        site.hand_over, site.set_timer = self._hand_over, self._set_timer

    # ------------------------------------------------------------------ who is there

    def number(self, name: str) -> int:
        """The number of the service with a name."""
        return self.system.engine.number_of[name]

    def process(self, name: str) -> Process:
        """A service's notes."""
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

    def want(self, snapshot: str, kind: str) -> None:
        """A snapshot that is asked for is to have a type, as one of [[snapshots]] in a scenario (increments.TYPES)."""
        rules = self.storage.algorithm
        rules.storage = rules.storage._replace(types={**rules.storage.types, snapshot: kind})

    # ------------------------------------------------------------------ messages

    def connect(self, addresses: dict[int, Address]) -> None:
        """Where the nodes listen."""
        self._addresses = addresses
        for (_, target), link in self._links.items():
            if target in addresses:
                link.connect(addresses[target])

    def _hand_over(self, message: Message, clock: int) -> None:
        source, target = message.channel.source, message.channel.target
        if target in self.site.processes:  # from one service to another
            self._take(message, clock)
            return
        link = self._links.get((source, target))
        if link is None:
            link = Link(self.system, source, target, self._token, self._incarnation, _QUEUE, lambda: None)
            self._links[source, target] = link
            if target in self._addresses:
                link.connect(self._addresses[target])
        link.send(message, clock)

    def _take(self, message: Message, clock: int) -> None:
        """A control message has come."""
        loop = asyncio.get_running_loop()
        actor, channel = message.channel.target, message.channel
        action = ["control", channel.name, message.id, message.epoch]
        job = Job(actor, action, lambda: self._hear(message), clock)
        delay = self.system.seconds(self._delays.of(message))
        due = max(loop.time() + delay, self._busy_until.get(channel, 0.0) + 1e-6)
        if isinstance(message.stamp, Part) or channel in self._preparing:
            before = self._preparing.get(channel)
            self._preparing[channel] = loop.create_task(self._prepare(job, message, before, due))
        elif delay <= 0 and due <= loop.time() + 1e-5:
            self._jobs.put_nowait(job)
        else:
            self._busy_until[channel] = due
            loop.call_at(due, self._jobs.put_nowait, job)

    async def _prepare(self, job: Job, message: Message, before: asyncio.Task[None] | None, due: float) -> None:
        """Write the part that a message brings; then it is its turn, after those that came `before` on its channel."""
        try:
            if isinstance(message.stamp, Part) and message.epoch == self.site.processes[job.actor].epoch:
                await self._disk.write_part(message.snapshot or "", message.channel.source_name, message.stamp)
        except Problem:
            job = job._replace(action=["outside", "refuse"], act=lambda: self._refuse(message))
        except Exception as problem:
            job = job._replace(act=_raising(problem))
        if before is not None:
            await asyncio.wait([before])
        await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
        self._jobs.put_nowait(job)
        if self._preparing.get(message.channel) is asyncio.current_task():
            del self._preparing[message.channel]

    def _hear(self, message: Message) -> None:
        service = self.site.processes[message.channel.target]
        if message.epoch < service.epoch:
            fence_off(message, self.site.rules.emit)
        else:
            self.site.rules.receive_control(service, message)

    def _refuse(self, message: Message) -> None:
        """A part could not be written: the node has to try again."""
        service, snapshot = self.process(STORAGE), message.snapshot or ""
        source = message.channel.source_name
        self.site.rules.from_outside(service, lambda out: self.storage.refuse(service, source, snapshot, out))

    def _set_timer(self, wake: Wake) -> None:
        key = wake.process, wake.name
        old = self._timers.pop(key, None)
        if old is not None:
            old[1].cancel()
        if wake.after is not None:
            seconds = self.system.seconds(wake.after)
            self._timers[key] = wake, asyncio.get_running_loop().call_later(seconds, self._ring, wake)

    def wakes(self) -> bool:
        """Before a timer goes off: if the controller has stood still until now, all timers go off later, by as long.

        So nobody is judged by what the controller could not hear. Returns whether it has.
        """
        gap = self._running_clock.look()
        for key, (wake, handle) in self._timers.items() if gap else ():
            handle.cancel()
            again = asyncio.get_running_loop().call_at(handle.when() + gap, self._ring, wake)
            self._timers[key] = wake, again
        return gap > 0

    def _ring(self, wake: Wake) -> None:
        """A timer goes off, unless it is cancelled or set anew before its turn has come."""
        if self.wakes():
            return
        timer = Timer(wake.process, wake.name, wake.after or 0.0, wake.snapshot, 0)
        key = wake.process, wake.name

        def is_set() -> bool:
            if key not in self._timers or self._timers[key][0] is not wake:
                return False
            silent = silent_in(wake.name)
            if silent is not None and self.is_fenced(silent):
                self._set_timer(wake)  # it stays a member, and its silence begins anew
                return False
            return True

        def act() -> None:
            del self._timers[key]
            self.site.rules.fire(self.site.processes[wake.process], timer)

        self._jobs.put_nowait(Job(wake.process, ["timer", wake.name], act, is_wanted=is_set))

    # ------------------------------------------------------------------ actions

    async def run(self) -> None:
        """Carry out what waits, one action at a time, for ever."""
        watching = asyncio.get_running_loop().create_task(self._running_clock.keep_looking(self.wakes))
        try:
            while True:
                job = self._first.popleft() if self._first else await self._jobs.get()
                if self._writing is not None and job.actor == self.number(STORAGE):
                    self._held.append(job)
                else:
                    self._carry_out(job)
                    self.receiver.acknowledge()
        finally:
            watching.cancel()

    async def do(
        self, actor: int, action: list[Any], act: Callable[[], None], seen: int = 0,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Done | None:  # fmt: skip
        """Carry out an action in its turn. Returns what it did (None: then it was not wanted any more)."""
        done: asyncio.Future[Done | None] = asyncio.get_running_loop().create_future()
        self._jobs.put_nowait(Job(actor, action, act, seen, done=done, is_wanted=is_wanted))
        return await done

    def _carry_out(self, job: Job) -> None:
        if not job.is_wanted():
            if job.done is not None and not job.done.cancelled():
                job.done.set_result(None)
            return
        timers = dict(self._timers)
        try:
            done = self.site.perform(job.actor, job.action, job.act, job.seen)
        except BaseException as problem:
            if job.done is None or job.done.cancelled():
                raise
            job.done.set_exception(problem)
            return
        manifest = next(((row[8] or "", row[7]) for row in done.rows if row[2] == COMMITTED), None)
        if manifest is not None and manifest != job.manifest:
            self.site.undo(done)  # it happens when that is written
            self._timers = timers
            self._writing = asyncio.get_running_loop().create_task(self._write_manifest(job, *manifest))
            return
        self.site.commit(done)
        self._on_done(done)
        if job.done is not None and not job.done.cancelled():
            job.done.set_result(done)

    async def _write_manifest(self, job: Job, snapshot: str, body: Any) -> None:
        """Write the manifest that a job says is written, and let the job happen; else the snapshot is given up.

        Meanwhile the storage does nothing else. The other services go on.
        """
        next_jobs = [job._replace(manifest=(snapshot, body))]
        try:
            await self._disk.write_manifest(snapshot, body)
        except Problem as problem:
            reason = f"its manifest could not be written: {problem}"
            number = self.number(STORAGE)
            given_up = Job(number, ["outside", "give up"], lambda: self._give_up(snapshot, reason))
            next_jobs = [given_up, *([] if job.actor == number else [job])]
        except Exception as problem:
            next_jobs = [job._replace(act=_raising(problem))]
        self._writing = None
        self._first.extend((*next_jobs, *self._held))
        self._held.clear()
        self._jobs.put_nowait(Job(-1, [], lambda: None, is_wanted=lambda: False))  # wakes `run`

    def _give_up(self, snapshot: str, reason: str) -> None:
        service = self.process(STORAGE)
        self.site.rules.from_outside(service, lambda out: self.storage.give_up(service, snapshot, reason, out))

    # ------------------------------------------------------------------ what the controller does

    def begin_among(self, members: tuple[str, ...]) -> None:
        """The cluster begins with these nodes."""
        if self.has_coordinator:
            self._coordinator.begin_among(self.process(COORDINATOR), members)

    async def start(self) -> None:
        """Every service begins that has work of its own."""
        for start in self.system.engine.starts:
            name = self.system.names[start.process]
            await self.do(start.process, ["start", name], lambda name=name: self._start(name))  # type: ignore[misc]

    def _start(self, name: str) -> None:
        service = self.process(name)
        service.turn = 1
        self.site.rules.start(service)

    async def initiate(self, name: str, snapshot: str, action: list[Any]) -> None:
        """A service is asked for a snapshot; `action` says by whom: by somebody outside, or by the scenario."""
        await self.do(
            self.number(name),
            action,
            lambda: self.site.rules.initiate(self.process(name), snapshot),
        )

    async def ask(self, name: str, what: str, act: Callable[[Process, Out], None]) -> None:
        """Somebody outside asks the service `name` for something."""

        def own() -> None:
            service = self.process(name)
            self.site.rules.from_outside(service, lambda out: act(service, out))

        await self.do(self.number(name), ["outside", what], own)

    async def give_up(self, snapshot: str, reason: str) -> bool:
        """End a snapshot that is not complete; with a coordinator, because somebody cancels it.

        False: a coordinator leaves it to the storage, which is about to make it complete.
        """
        if not self.has_coordinator:
            await self.ask(STORAGE, "give up", lambda own, out: self.storage.give_up(own, snapshot, reason, out))
            return True
        await self.ask(COORDINATOR, "cancel", lambda own, out: self._coordinator.cancel(own, snapshot, out))
        notes: Notes = self.process(COORDINATOR).memory
        return snapshot not in notes.under_way

    @property
    def _coordinator(self) -> Coordinator:
        own = next(own for own in self.system.engine.services if own.name == COORDINATOR)
        assert isinstance(own, Coordinator)
        return own

    async def crash(self, process: str, log: Path) -> None:
        """A node has ended, of which this is the log: the services hear that its process crashes.

        Where it has not been restored since that crashed last, the process is down all along.
        """
        self.recovery = self.recovery._replace(failed=self.recovery.failed | {process})
        last = last_entry(log)

        def act() -> None:
            self.site.rules.emit((process, None, CRASH, None, None, None, None, None, None))
            for service in self.site.processes.values():
                self.site.rules.crashed(service, process)

        def is_up() -> bool:
            return acted_since(log, self._crashed.get(process, 0))

        done = await self.do(-1, ["crash", process], act, last.clock if last else 0, is_up)
        if done is not None:
            self._crashed[process] = done.clock

    async def recover(self, goal: Restorable, epoch: int) -> Done:
        """A recovery begins, which goes back to `goal`: the services are in the new epoch."""

        def act() -> None:
            services = list(self.site.processes.values())
            told = [service.name for service in services]
            body = {"epoch": epoch, "fence": True, "restores": list(goal.restores), "services": told}
            self.site.rules.emit((STORAGE, None, RECOVERY, None, None, None, None, body, goal.snapshot))
            for service in services:
                service.epoch = epoch
                self.site.rules.recover(service, goal)

        done = await self.do(-1, [RECOVER, goal.snapshot, epoch], act)
        assert done is not None
        self.recovery = self.recovery._replace(epoch=epoch, goal=goal, failed=frozenset())
        return done

    def goal(self, wanted: str | None, present: list[str]) -> Restorable:
        """What a recovery goes back to: the snapshot `wanted`, else the last valid one, else the initial states."""
        services = self.system.engine.services
        goals = (own.goal(self.process(own.name), wanted, self.recovery) for own in services)
        goal = next((found for found in goals if found is not None), Restorable(None, {}, {}))
        return goal._replace(restores=tuple(present))

    def close(self) -> None:
        """End all connections."""
        for link in self._links.values():
            link.close()
        for task in (self._writing, *self._preparing.values()):
            if task is not None:
                task.cancel()


def _raising(problem: Exception) -> Callable[[], None]:
    """An action that fails, as what had to be done before it has."""

    def act() -> None:
        raise problem

    return act
