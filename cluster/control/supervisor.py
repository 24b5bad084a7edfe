"""The controller of a cluster: starts the nodes, runs the services, notices what fails, and brings it back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from cluster.control.injector import Injector
from cluster.control.members import Member, Members
from cluster.control.services import Services
from cluster.control.snapshot_rows import Bookkeeping
from cluster.control.snapshot_store import Store
from cluster.model import (
    FULL,
    INCREMENTAL,
    SNAPSHOT_TYPES,
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
from cluster.node.event_log import EventLog
from cluster.node.site import Site
from cluster.node.system import System
from cluster.node.tailing import follow
from cluster.stderr import warn
from sim.core.algorithm import ALL, ANY, SOURCES
from sim.core.errors import InputError
from sim.core.model import (
    CRASH,
    AgendaItem,
    Initiate,
    Process,
    Restorable,
)
from sim.core.recovery import contents
from sim.document.scenario import FaultLine, Initiation
from sim.document.validate import fitting_initiations
from sim.services.storage_words import NAME as STORAGE
from sim.services.words import CANCELLED
from sim.services.words import NAME as COORDINATOR

START_PAUSES = (0.1, 0.3, 1.0)  # seconds between two tries to start a node whose process has ended
WATCH_GAP = 0.02  # seconds between two looks at whether a node has ended
END_TIMEOUT = 3.0  # seconds for all to end
LEAVE_TIMEOUT = 2.0  # seconds that a process has to end that is told to
NODE_FAULTS = {CRASH: "kill", "freeze": "freeze", "thaw": "thaw"}  # of a scenario, and what they are here
GRACE = 0.2  # seconds for a coordinator to say what is missing in a snapshot whose time is over
MOMENT = 0.1  # seconds that a snapshot takes on channels without delays
CONTROLS = 4  # control messages, one after the other: it starts, a part comes, the manifest is asked for, it is written
DRAIN_PAUSE = 0.02  # seconds between two rounds of questions


class Supervisor:
    """A running cluster (cluster.model.Controller)."""

    def __init__(
        self, system: System, store: Store, logs: Path, *, queue: int, allows_faults: bool = False,
        delay: tuple[float, float] | None = None, first_epoch: int = 0, programs: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """`logs` is the folder of the event logs. `delay`: seconds, least and most, of every channel (None: as the
        scenario says). `first_epoch` is that of this start. `programs`: as in starting.Wanted."""
        self.system, self.store, self.logs = system, store, logs
        self.name, self.allows_faults = system.scenario.name, allows_faults
        self._delay, self._first_epoch = delay, first_epoch
        self._began = time.time()
        count = len(system.processes)
        path = logs / f"{count}.log"
        site = Site(system, range(count, len(system.names)), EventLog(path), self._began)
        self.members = Members(system, logs, queue=queue, programs=programs or {})
        self._injector = Injector(system, self.members)
        self.books = Bookkeeping(system, store, lambda: self.services, lambda: self.present, self._spawn)
        members = self.members
        self.services: Services = Services(
            site, members.token, members.incarnation, store, self.books.on_done, members.awake
        )
        self.services.receiver.is_over, self.services.is_fenced = members.is_over, self._is_fenced
        store.time_to_live = self.services.time_to_live
        self._tasks: set[asyncio.Task[Any]] = set()
        self._changes = asyncio.Lock()  # one change of the system at a time: recovery, join, leave
        self._recoveries, self._last_recovery = 0, 0.0
        self.ended = asyncio.Event()
        self._is_ending = False
        self.failure: BaseException | None = None

    # ------------------------------------------------------------------ beginning and end

    async def start(self, restore: str | None = None, *, restores: bool = False) -> None:
        """Start all nodes, and begin. `restores`: from a stored snapshot, `restore` or (None) the last one.

        Raises InputError if a node does not start.
        """
        loop = asyncio.get_running_loop()
        self.store.registry.watch(lambda problem: loop.call_soon_threadsafe(self._end_with, problem))
        await self.members.listen(self.services)
        self._spawn(self.services.run())
        for service in self.services.site.processes.values():
            service.epoch = self._first_epoch
        self.services.recovery = self.services.recovery._replace(epoch=self._first_epoch)
        await self.store.fill(self.services)
        begins = self._at_first(restore, restores=restores)
        self.services.begin_among(tuple(member.name for member in begins))
        await asyncio.gather(*(self._start_node(member) for member in begins))
        for member in begins:
            member.status = NodeStatus.RUNNING
        self._tell_addresses()
        self.members.tell_members()
        for member in begins:
            if not await self._hears(member, "knows"):
                raise InputError(f"node {member.name}: has ended as it started; what it wrote is above")
        self._began = self.services.site.began = time.time()
        if self._delay is not None:
            self._injector.delay(self.system.engine.channels, *self._delay)
        if restores:
            await self._recover(restore, "the cluster starts from it", is_first=True)
        await self.services.start()
        for member in begins:
            if not restores:
                self._tell_start(member, joins=False)
        self._plan_agenda()

    def _at_first(self, restore: str | None, *, restores: bool) -> list[Member]:
        """The nodes with which the system begins: those of the snapshot that it begins from, or of the scenario."""
        absent = self.system.scenario.absent
        names = [name for name in self.system.processes if name not in absent]
        stored = self.store.valid(self.services)
        own = self.store.registry.row(restore or stored[-1]) if restores and stored else None
        if own is not None:
            names = list(own.nodes)
        return [member for member in self.members if member.name in names]

    def _tell_start(self, member: Member, *, joins: bool) -> None:
        told = {"joins": joins, "began": self._began, "clock": self.services.site.clock}
        member.tell(self.system, "start", told)

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_end)
        return task

    def _on_task_end(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            self._end_with(problem)

    def _end_with(self, problem: BaseException) -> None:
        """The cluster cannot go on."""
        if not self._is_ending:
            self.failure = problem
            self.ended.set()

    async def shut_down(self) -> None:
        """Let `ended` be known: whoever runs the cluster closes it."""
        self.ended.set()

    async def close(self) -> None:
        """End all nodes and connections. What is under way has failed."""
        self._is_ending = True
        for task in (tasks := list(self._tasks)):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=END_TIMEOUT)  # from now on nobody starts a node
        for member in self.members:
            member.tell(self.system, "stop", {})
        ends = [member.process for member in self.members if member.process is not None]
        for process in ends:
            if process.stdin is not None:
                process.stdin.close()
        if ends:
            await asyncio.wait([asyncio.ensure_future(process.wait()) for process in ends], timeout=END_TIMEOUT)
        for process in ends:
            if process.returncode is None:
                process.kill()
                await process.wait()
        self.services.close()
        await self.members.close()
        for snapshot in self.store.registry.running():
            self.books.end(snapshot.id, Status.FAILED, "the cluster was ended while it was under way")
        self.services.site.log.close()

    # ------------------------------------------------------------------ nodes

    async def _start_node(self, member: Member, *, waits: bool = False) -> None:
        """Start the process of a node. Raises InputError if it does not report."""
        epoch, index = self.services.recovery.epoch, self.store.last_index(self.services, member.name)
        process = await self.members.start(member, began=self._began, epoch=epoch, index=index, waits=waits)
        self._spawn(self._watch(member, process))
        self._injector.tell(member)

    async def _watch(self, member: Member, process: asyncio.subprocess.Process) -> None:
        """Wait for the end of a node's process."""
        await process.wait()
        if member.process is not process or self._is_ending:
            return
        member.process, member.connection, member.pid = None, None, None
        if not (member.is_leaving or member.status is NodeStatus.STARTING):  # else who ends or starts it knows
            await self._has_ended(member)

    async def _has_ended(self, member: Member) -> None:
        """The process of a node that is part of the system has ended: it has crashed, and comes back if it can."""
        member.status = NodeStatus.FAILED
        warn(f"node {member.name} has ended")
        await self.services.crash(member.name, self.logs / f"{member.number}.log")
        if self.system.takes_back:
            await self._recover(None, f"{member.name} had ended", because_failed=True)

    def _is_fenced(self, name: str) -> bool:
        """A node is silent for too long: its process is ended, so that it is not half a member.

        Whoever starts or restores it waits for it meanwhile. Returns whether a recovery brings it back.
        """
        member = self.members.named(name)
        if member.is_leaving or not member.is_present:
            return False
        if member.status is NodeStatus.RUNNING:
            self._fence(member, "is taken for gone")
        return self.system.takes_back

    @staticmethod
    def _fence(member: Member, why: str) -> None:
        """End what is left of a node. What follows is what follows any end of it."""
        process = member.process
        if process is not None and process.returncode is None:
            warn(f"node {member.name} {why}: its process is ended")
            process.kill()

    async def _hears(self, member: Member, what: str, fits: Callable[[Any], bool] = lambda body: True) -> bool:
        """Wait until a node says something. One of which no word comes for too long is ended.

        Returns whether it has said it before its process has ended.
        """
        process, awake = member.process, self.members.awake

        async def hear() -> None:
            while not fits(await self.members.hear(member, what, None)):
                pass

        hearing, began = asyncio.ensure_future(hear()), awake.now
        try:
            while process is not None and member.process is process and not hearing.done():
                await asyncio.wait([hearing], timeout=WATCH_GAP)
                if awake.now - max(began, member.heard) > self.system.silence:
                    self._fence(member, "says nothing")
                    began = awake.now
            return hearing.done()
        finally:
            hearing.cancel()

    def _tell_addresses(self) -> None:
        self.services.connect(self.members.tell_addresses())

    # ------------------------------------------------------------------ recovery

    async def _recover(
        self, wanted: str | None, reason: str, *, is_first: bool = False, because_failed: bool = False
    ) -> Restored:
        """Go back to the snapshot `wanted`, or the last one that can be used.

        `because_failed`: not if another recovery has brought all nodes back meanwhile.
        """
        began = time.monotonic()
        async with self._changes:
            recovery = self.services.recovery
            if because_failed and not recovery.failed:
                return Restored(recovery.epoch, recovery.goal.snapshot, 0.0)
            while True:
                goal = await self._usable_goal(wanted)
                await self._start_again([own for own in self.members if own.is_present and own.process is None])
                for member in self.members:
                    if member.is_present:
                        member.status = NodeStatus.RECOVERING
                self._tell_addresses()
                self.members.tell_members()
                epoch, self.books.goes_back_as = self.services.recovery.epoch + 1, reason
                self.store.registry.check_epoch(epoch)
                done = await self.services.recover(goal, epoch)
                restored = [member for member in self.members if member.is_present]
                for member in restored:
                    self._restore(member, goal, epoch, done.clock)
                await asyncio.gather(*(self._is_restored(member, epoch) for member in restored))
                if all(member.status is NodeStatus.RUNNING for member in restored):
                    break
        took = (time.monotonic() - began) * 1000
        self._recoveries, self._last_recovery = self._recoveries + (not is_first), took / 1000
        self.store.registry.add_epoch(Epoch(epoch, datetime.now(UTC), reason, goal.snapshot))
        return Restored(epoch, goal.snapshot, took)

    async def _start_again(self, down: Sequence[Member]) -> None:
        """Start nodes whose processes have ended, each as often as it takes."""
        for pause in chain(START_PAUSES, repeat(START_PAUSES[-1])):
            for member in down:
                with suppress(InputError, OSError):
                    await self._start_node(member, waits=True)
            down = [own for own in down if own.process is None]
            if not down:
                return
            await asyncio.sleep(pause)

    async def _is_restored(self, member: Member, epoch: int) -> None:
        """Wait until a node is restored, or its process has ended."""
        if await self._hears(member, "restored", lambda body: body["epoch"] == epoch):
            member.status = NodeStatus.RUNNING

    async def _usable_goal(self, wanted: str | None) -> Restorable:
        """What is gone back to: read from the storage, and whole."""
        while True:
            goal = self.services.goal(wanted, self.present)
            if goal.snapshot is None:
                return goal
            problem = await self.store.damage(goal.snapshot)
            if problem is None:
                return goal
            if wanted is not None:
                raise Problem(409, problem)
            warn(problem)
            await self.services.ask(STORAGE, "forget", self.store.forgetting(goal.snapshot))
            self.books.end(goal.snapshot, Status.FAILED, problem, is_kept=False)

    def _restore(self, member: Member, goal: Restorable, epoch: int, clock: int) -> None:
        own = Process(member.name, member.number, None)
        present = {other.number for other in self.members if other.is_present}
        own.incoming = tuple(
            channel for channel in self.system.engine.channels
            if channel.target == member.number and channel.source in present
        )  # fmt: skip
        recovery = self.services.recovery._replace(goal=goal, epoch=epoch)
        back = list(contents(recovery, own, from_log=False))
        part = goal.parts.get(member.name)
        told = {
            "snapshot": goal.snapshot, "parts": {} if part is None else {member.name: part}, "epoch": epoch,
            "valid": sorted(goal.valid), "restores": list(goal.restores), "contents": back, "clock": clock,
        }  # fmt: skip
        member.tell(self.system, "restore", told)

    # ------------------------------------------------------------------ what may be asked (cluster.model.Controller)

    async def trigger(self, wish: Wish) -> Snapshot:
        """Ask for a snapshot."""
        root = self.store.vault.root_of(wish.root_uri) if wish.root_uri is not None else self.store.first_root
        kind = wish.type or (INCREMENTAL if self.store.is_incremental else FULL)
        if kind not in SNAPSHOT_TYPES:
            raise Problem(422, f"snapshot_type: {kind!r} is none of {', '.join(SNAPSHOT_TYPES)}")
        starters = self._starters(wish.initiator)
        if self._changes.locked():
            raise Problem(409, "the system is being changed or rolled back; ask again when all nodes are RUNNING")
        if len(self.books.open) >= (most := self.system.most_waiting):
            what = f"{len(self.books.open)} snapshots are under way or wait, and {most} may be"
            raise Problem(429, f"{what}; ask again when one of them has ended")
        name = self.store.registry.next_snapshot_id()
        own = Snapshot(
            name, Status.INITIATED, kind, root, self.services.recovery.epoch, datetime.now(UTC), wish.initiator
        )
        self.store.begin(name, root)
        self.books.put(own)
        self._spawn(self._expire(name))
        action = ["initiate", name]
        if wish.type is not None:
            self.services.want(name, wish.type)
            action.append(wish.type)
        for starter in starters:
            if starter in self.system.processes:
                number = self.system.engine.number_of[starter]
                told = {"snapshot": name, "action": action, "clock": self.services.site.clock}
                self.members[number].tell(self.system, "initiate", told)
            else:
                await self.services.initiate(starter, name, action)
        return own

    def _starters(self, initiator: str | None) -> list[str]:
        """Who starts a snapshot that `initiator` is asked for (None: whoever may)."""
        kind, able = self.system.scenario.rules.initiators, self.system.initiators
        if initiator is not None:
            if initiator not in self.system.processes:
                known = ", ".join(self.system.processes)
                raise Problem(404, f"initiated_by_node_id: there is no node {initiator!r}; there are {known}")
            if initiator not in able:
                title = self.system.scenario.rules.title
                raise Problem(409, f"under {title} {initiator} starts no snapshots; {', '.join(able)} may")
            status = self._shown(self.members[self.system.engine.number_of[initiator]])
            if status is not NodeStatus.RUNNING:
                raise Problem(409, f"{initiator} is {status}; ask one that is RUNNING")
            if kind == ANY:
                self._check_reach(initiator)
                return [initiator]
        if not able:
            raise Problem(
                409, f"nobody may start a snapshot under {self.system.scenario.rules.title} on these channels"
            )
        if kind == ALL:
            return [name for name in able if name in self.present]
        if COORDINATOR in able:
            return [COORDINATOR]
        if kind == SOURCES:
            return [name for name in able if name in self.present]
        there = [name for name in able if name in self.present or name not in self.system.processes]
        return self._fitting((there or able)[0])

    def _fitting(self, initiator: str) -> list[str]:
        """Who has to start a snapshot so that it reaches everybody: `initiator` alone if that is enough."""
        scenario = replace(self.system.scenario, snapshots=(Initiation("", initiator, 0.0),))
        return [start.process for start in fitting_initiations(scenario)]

    def _check_reach(self, initiator: str) -> None:
        """Raises Problem if a snapshot that `initiator` starts does not reach everybody."""
        if not self.services.has_coordinator and (others := self._fitting(initiator)) != [initiator]:
            what = f"a snapshot that {initiator} starts does not reach everybody"
            raise Problem(409, f"{what}; name no node, then {' and '.join(others)} will start it")

    @property
    def present(self) -> list[str]:
        """The names of the processes that are part of the system."""
        return self.members.present

    def snapshot(self, snapshot: str) -> Snapshot:
        """One snapshot."""
        return self.books.snapshot(snapshot)

    def snapshots(self, status: Status | None, limit: int, before: str | None) -> Sequence[Snapshot]:
        """A page of them, the newest first."""
        return self.books.snapshots(status, limit, before)

    async def cancel(self, snapshot: str) -> Snapshot:
        """Give a snapshot up."""
        own = await self._known(snapshot)
        if own.status.is_final:
            raise Problem(409, f"{snapshot} is {own.status}; only one that is under way can be cancelled")
        await self._give_up(snapshot, Status.CANCELLED, CANCELLED)
        return await self._known(snapshot)

    async def _known(self, snapshot: str) -> Snapshot:
        """One snapshot. If it is none of those that the controller remembers, the registry is asked in a thread."""
        known = self.store.registry.row(snapshot)
        return known if known is not None else await asyncio.to_thread(self.snapshot, snapshot)

    async def _give_up(self, snapshot: str, status: Status, reason: str) -> None:
        """End a snapshot that is not complete. Raises Problem if it is being completed."""
        self.books.given_up[snapshot] = status, reason
        if not await self.services.give_up(snapshot, reason):
            del self.books.given_up[snapshot]
            limit = f"within {self.services.time_to_live:g} s of its request"
            raise Problem(409, f"{snapshot}: its manifest is being written; it is complete or given up {limit}")
        if not self.services.has_coordinator:
            for member in self.members:
                member.tell(self.system, "abort", {"snapshot": snapshot, "clock": self.services.site.clock})
        self.books.end(snapshot, status, reason)

    async def _expire(self, snapshot: str) -> None:
        """End a snapshot when its time is over, from the request on: also if nobody has begun it.

        A coordinator that has begun it at once knows better who has sent no word, so it may say so.
        """
        limit = self.services.time_to_live
        await asyncio.sleep(limit + (GRACE if self.services.has_coordinator else 0.0))
        own = self.store.registry.row(snapshot)
        if own is not None and not own.status.is_final:
            with suppress(Problem):
                await self._give_up(snapshot, Status.EXPIRED, f"it was not complete within {limit:g} s")

    def contents(self, snapshot: str) -> Mapping[str, Any]:
        """What was true at a snapshot."""
        own = self.snapshot(snapshot)
        if not own.is_kept:
            raise Problem(409, f"{snapshot} is {own.status}, and nothing of it is stored any more")
        return self.store.contents(own)

    async def restore(self, snapshot: str | None, epoch: int | None) -> Restored:
        """Roll the system back."""
        if not self.system.takes_back:
            title = self.system.scenario.rules.title
            raise Problem(
                409, f"the rules of {title} do not allow for a recovery; run the cluster with Chandy-Lamport's"
            )
        if epoch is not None:
            last = self.store.registry.last_completed(epoch)
            if last is None:
                raise Problem(409, f"epoch {epoch}: no snapshot that was committed in it is stored; GET /v1/epochs")
            snapshot = last.id
        if snapshot is not None:
            own = await self._known(snapshot)
            if not own.is_kept or snapshot not in self.store.valid(self.services):
                raise Problem(409, f"{snapshot} is {own.status} and not stored; go back to one that is_kept")
            missing = [name for name in own.nodes if name not in self.present]
            if missing:
                raise Problem(409, f"{snapshot} has a part of {missing[0]}, which has left; let it join again first")
        reason = "somebody asked for it"
        return await self._recover(snapshot, reason)

    def epochs(self) -> Sequence[Epoch]:
        """All epochs."""
        return self.store.registry.epochs()

    def _shown(self, member: Member) -> NodeStatus:
        """How a node is now."""
        self.services.wakes()
        return member.shown(self.members.awake.now)

    def nodes(self) -> Sequence[Node]:
        """All nodes."""
        keys = ("sent", "received", "actions", "waiting")
        return [
            Node(
                member.name, self._shown(member), member.pid, member.address.port if member.address else None,
                member.report.get("epoch", 0), {key: member.report.get(key, 0) for key in keys},
            )
            for member in self.members
        ]  # fmt: skip

    async def join(self, node: str | None) -> Node:
        """A node that is absent becomes part of the system."""
        if not self.services.has_coordinator:
            raise Problem(409, "nodes join and leave only where there is a coordinator, which knows the members")
        absent = [member for member in self.members if not member.is_present]
        member = self.members.named(node) if node is not None else next(iter(absent), None)
        if member is None:
            raise Problem(409, f"all {len(self.members)} nodes are present; start the cluster with more by --most")
        if member.is_present:
            raise Problem(409, f"{member.name} is {member.status}; only one that is ABSENT can join")
        async with self._changes:
            try:
                await self._start_node(member)
            except InputError as problem:
                self._stays_away(member)
                raise Problem(409, f"{problem}; join it again") from None
            self._tell_addresses()
            self.members.tell_members()
            if not await self._all_know(member):
                self._stays_away(member)
                raise Problem(409, f"{member.name} has ended before it could take part; join it again")
            member.status = NodeStatus.RUNNING
            self._tell_start(member, joins=True)
            await self._is_known(member, is_member=True)
        return self._node(member)

    def _stays_away(self, member: Member) -> None:
        """A node that was to join has not come."""
        member.status, member.process, member.connection, member.address = NodeStatus.ABSENT, None, None, None
        self.members.tell_members()

    async def _all_know(self, joining: Member | None = None) -> bool:
        """Wait until all nodes know who is part of the system, or have ended. Returns whether `joining` knows it."""
        there = [own for own in self.members if own.connection is not None and (own.is_present or own is joining)]
        known = await asyncio.gather(*(self._hears(own, "knows") for own in there))
        return joining is None or dict(zip([own.name for own in there], known, strict=True)).get(joining.name, False)

    async def leave(self, node: str) -> Node:
        """A node is no longer part of the system."""
        member = self.members.named(node)
        if not self.services.has_coordinator:
            raise Problem(409, "nodes join and leave only where there is a coordinator, which knows the members")
        if (status := self._shown(member)) is not NodeStatus.RUNNING:
            raise Problem(409, f"{node} is {status}; only one that is RUNNING can leave")
        if len(self.present) <= 2:
            raise Problem(409, f"only {' and '.join(self.present)} are left; a system has at least two processes")
        async with self._changes:
            member.is_leaving = True
            member.tell(self.system, "leave", {})
            if not await self._hears(member, "left"):
                member.is_leaving = False
                self._spawn(self._has_ended(member))
                raise Problem(409, f"{node} has ended before it had left, and comes back; let it leave then")
            member.status = NodeStatus.ABSENT
            self.members.tell_members()
            await self._all_know()
            if member.process is not None:
                member.tell(self.system, "stop", {})
                member.connection, member.address, member.pid = None, None, None
                await self._ends(member.process)
                member.process = None
            await self._is_known(member, is_member=False)
        return self._node(member)

    async def _ends(self, process: asyncio.subprocess.Process) -> None:
        """Wait until a process has ended that was told to; it is killed if that takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_TIMEOUT):
                await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()

    async def _is_known(self, member: Member, *, is_member: bool) -> None:
        """Wait until the coordinator has heard of a change, or the process of the node has ended."""
        process = member.process
        while (member.name in self.services.members) != is_member and member.process is process:
            await asyncio.sleep(WATCH_GAP)

    def _node(self, member: Member) -> Node:
        return next(own for own in self.nodes() if own.name == member.name)

    async def inject(self, fault: Fault) -> None:
        """Do something bad to the cluster."""
        if not self.allows_faults:
            raise Problem(403, "this cluster allows no faults; start it with --allow-faults")
        self._injector.inject(fault)

    async def drain(self, timeout: float) -> bool:
        """Let the nodes begin nothing more, and wait until nothing is on its way. False: something still is.

        Two rounds of questions with the same answers, the second asked when the first is answered: then nothing was on
        its way in between (F. Mattern, "Algorithms for distributed termination detection", 1987, the four counters).
        """
        there = [member for member in self.members if member.is_present]
        answers: list[dict[str, int]] = []
        async with self._changes:
            for member in there:
                member.tell(self.system, "drain", {})
            try:
                async with asyncio.timeout(timeout):
                    while True:
                        before = answers
                        for member in there:
                            member.tell(self.system, "report", {})
                        answers = [await self.members.hear(member, "reported", None) for member in there]
                        if answers == before and not any(own["waiting"] or own["unconfirmed"] for own in answers):
                            return True
                        await asyncio.sleep(DRAIN_PAUSE)
            except TimeoutError:
                return False

    def events(self) -> AsyncIterator[Mapping[str, Any]]:
        """The rows of all event logs from now on."""
        return follow(self.logs, self.system.names)

    def figures(self) -> Mapping[str, float]:
        """Totals and levels."""
        registry = self.store.registry
        return {
            "recoveries": float(self._recoveries), "last_recovery_seconds": self._last_recovery,
            "registry_up": float(not registry.problem), "registry_changes_waiting": float(registry.waiting),
        }  # fmt: skip

    def first_estimate(self) -> float:
        """How long a snapshot may take before any has been completed, in milliseconds."""
        control = self.system.seconds(self.system.scenario.control_delay.high)
        across = self._injector.longest_way * self.system.hops + CONTROLS * control
        return 1000 * min(MOMENT + across, self.services.time_to_live)

    # ------------------------------------------------------------------ what the scenario plans

    def _plan_agenda(self) -> None:
        """The snapshots that the scenario asks services for, and its faults."""
        loop = asyncio.get_running_loop()
        for item in self.system.engine.agenda:
            if item.process in self.services.site.processes and item.after is None:
                loop.call_later(self.system.seconds(item.time), self._initiate_item, item)
        for line in self.system.scenario.faults:
            loop.call_later(self.system.seconds(line.at), lambda line=line: self._spawn(self._meet(line)))  # type: ignore[misc]

    def _initiate_item(self, item: AgendaItem) -> None:
        assert isinstance(item.action, Initiate)
        name, snapshot = self.system.names[item.process], item.action.snapshot
        self._spawn(self.services.initiate(name, snapshot, ["item", item.number]))

    async def _meet(self, line: FaultLine) -> None:
        """A fault that the scenario plans. One that is of no use now, such as killing a node that is down, is none."""
        try:
            if line.kind in NODE_FAULTS:
                self._injector.inject(Fault(NODE_FAULTS[line.kind], line.process))
            elif line.kind in ("sever", "mend"):
                self._injector.inject(Fault(line.kind, channels=line.channels))
            elif line.kind == "join":
                await self.join(line.process)
            elif line.kind == "leave" and line.process is not None:
                await self.leave(line.process)
        except Problem as problem:
            warn(problem)
