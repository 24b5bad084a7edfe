"""The controller of a cluster: starts the nodes, runs the services, notices what fails, and brings it back."""

from __future__ import annotations

import asyncio
import json
import math
import os
import secrets
import shlex
import signal
import statistics
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cluster.event_log import EventLog, last_entry
from cluster.frames import CONTROLLER, DO, SAY, BadFrame, Connection, Door, Listener
from cluster.links import Address, Weather
from cluster.model import (
    FAULT_KINDS,
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
from cluster.services import Services
from cluster.site import Done, Site
from cluster.store import Store
from cluster.system import System
from cluster.tailing import follow
from sim.core.algorithm import ALL, ANY, SOURCES
from sim.core.errors import InputError
from sim.core.model import (
    COMMITTED,
    CRASH,
    DECISION,
    NOTED,
    AgendaItem,
    Channel,
    Initiate,
    Process,
    Restorable,
)
from sim.core.recovery import contents
from sim.document.scenario import FaultLine, Initiation
from sim.document.validate import fitting_initiations
from sim.document.writing import dumps
from sim.services.storage_words import NAME as STORAGE
from sim.services.words import CANCELLED, EXPIRED, ROLLED_BACK
from sim.services.words import NAME as COORDINATOR

START_TIMEOUT = 30.0  # seconds that a node has to start
START_TRIES = 5  # to start a node whose process has ended
RESTORE_TIMEOUT = 20.0  # seconds that a node has to be restored
WATCH_GAP = 0.02  # seconds between two looks at whether a node has ended
LEAVE_TIMEOUT = 2.0
DRAIN_PAUSE = 0.02  # seconds between two rounds of questions
_MANIFEST_MISSING = "its manifest is missing"


@dataclass
class Member:
    """What the controller knows of a node."""

    number: int
    name: str
    status: NodeStatus = NodeStatus.ABSENT
    process: asyncio.subprocess.Process | None = None
    connection: Connection | None = None
    address: Address | None = None
    pid: int | None = None
    report: dict[str, Any] = field(default_factory=dict)
    said: asyncio.Queue[tuple[str, Any]] = field(default_factory=asyncio.Queue)
    is_leaving: bool = False

    @property
    def is_present(self) -> bool:
        """Whether it is part of the system, running or not."""
        return self.status is not NodeStatus.ABSENT

    def tell(self, system: System, what: str, body: Any) -> None:
        """Say what to do."""
        if self.connection is not None:
            self.connection.write([system.transport.pack([DO, what, body])])


def _is_about(about: Any) -> bool:
    """Whether a node has said where it listens, and its pid."""
    return isinstance(about, dict) and all(type(about.get(key)) is int for key in ("port", "pid"))


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
        self._queue, self._delay, self._first_epoch, self._programs = queue, delay, first_epoch, programs or {}
        self._token, self._life = secrets.token_hex(16), secrets.token_hex(8)
        self._began = time.time()
        count = len(system.processes)
        path = logs / f"{count}.log"
        site = Site(system, range(count, len(system.names)), EventLog(path), self._began)
        self._door = Door(self._token)
        self.services = Services(site, self._token, self._life, store, self._on_done)
        self.members = [Member(number, name) for number, name in enumerate(system.processes)]
        self._port = 0
        self._listener: Listener | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._changes = asyncio.Lock()  # one change of the system at a time: recovery, join, leave
        self._given_up: dict[str, Status] = {}  # what somebody, or the clock, has made of a snapshot
        self._progress: dict[str, Snapshot] = {}  # rows that the registry has without their last `completed`
        self._recoveries, self._last_recovery = 0, 0.0
        self._goes_back_as = ""  # why the system is rolled back
        self._weather = Weather()  # what is injected, for nodes that start again
        self.ended = asyncio.Event()
        self._is_ending = False
        self.failure: BaseException | None = None

    # ------------------------------------------------------------------ beginning and end

    async def start(self, restore: str | None = None, *, restores: bool = False) -> None:
        """Start all nodes, and begin. `restores`: from a stored snapshot, `restore` or (None) the last one.

        Raises InputError if a node does not start.
        """
        self._listener = await self.system.transport.listen(self._token, self._accept)
        self._port = self._listener.port
        self._spawn(self.services.run())
        for service in self.services.site.processes.values():
            service.epoch = self._first_epoch
        self.services.life = self.services.life._replace(epoch=self._first_epoch)
        self.store.fill(self.services)
        self.store.registry.add_epoch(Epoch(self._first_epoch, datetime.now(UTC), "the cluster started"))
        begins = self._at_first(restore, restores=restores)
        await asyncio.gather(*(self._start_node(member) for member in begins))
        for member in begins:
            member.status = NodeStatus.RUNNING
        self._tell_addresses()
        self._tell_members()
        await asyncio.gather(*(self._hear(member, "knows") for member in begins))
        self._began = self.services.site.began = time.time()
        if self._delay is not None:
            self._inject_delay(self.system.engine.channels, *self._delay)
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
        own = self.store.registry.snapshot(restore or stored[-1]) if restores and stored else None
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
        if not task.cancelled() and task.exception() is not None and not self._is_ending:
            self.failure = task.exception()
            self.ended.set()

    async def shut_down(self) -> None:
        """Let `ended` be known: whoever runs the cluster closes it."""
        self.ended.set()

    async def close(self) -> None:
        """End all nodes and connections. What is under way has failed."""
        self._is_ending = True
        for member in self.members:
            member.tell(self.system, "stop", {})
        ends = [member.process for member in self.members if member.process is not None]
        for process in ends:
            if process.stdin is not None:
                process.stdin.close()
        if ends:
            await asyncio.wait([asyncio.ensure_future(process.wait()) for process in ends], timeout=3.0)
        for process in ends:
            if process.returncode is None:
                process.kill()
                await process.wait()
        for task in list(self._tasks):
            task.cancel()
        self.services.close()
        if self._listener is not None:
            await self._listener.close()
        for snapshot in self.store.registry.running():
            self._end(snapshot.id, Status.FAILED, "the cluster was ended while it was under way")
        self.services.site.log.close()

    # ------------------------------------------------------------------ nodes

    async def _start_node(self, member: Member, *, waits: bool = False) -> None:
        """Start the process of a node, and wait until it has reported. Raises InputError if it does not."""
        member.status = NodeStatus.STARTING
        member.is_leaving = False
        told = {
            "scenario": dumps(self.system.scenario), "name": self.name, "unit": self.system.unit, "waits": waits,
            "number": member.number, "folder": str(self.logs), "token": self._token, "life": secrets.token_hex(8),
            "began": self._began, "queue": self._queue, "host": "127.0.0.1", "port": self._port,
            "epoch": self.services.life.epoch, "index": self.store.last_index(self.services, member.name),
            "transport": self.system.transport_name,
        }  # fmt: skip
        command = [sys.executable, "-m", "cluster.node"]
        if member.name in self._programs:
            command = shlex.split(self._programs[member.name])
            told |= self.system.about(member.number)
        member.said = asyncio.Queue()
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
        member.process = process
        assert process.stdin is not None
        process.stdin.write((json.dumps(told) + "\n").encode())
        hello = asyncio.ensure_future(self._hear(member, "hello", START_TIMEOUT))
        end = asyncio.ensure_future(process.wait())
        await asyncio.wait([hello, end], return_when=asyncio.FIRST_COMPLETED)
        end.cancel()
        if not hello.done() or hello.exception() is not None:
            hello.cancel()
            if process.returncode is None:
                process.kill()
            how = f"ended with status {process.returncode}" if process.returncode is not None else "said nothing"
            raise InputError(f"node {member.name}: did not start, it {how}; what it wrote is above")
        self._spawn(self._watch(member, process))
        self._tell_weather(member)

    def _tell_weather(self, member: Member) -> None:
        """A node that has started anew does not know what has been injected into the channels to it."""
        weather = self._weather
        for channel in self.system.engine.channels:
            if channel.target != member.number:
                continue
            own = {"channels": [channel.number]}
            member.tell(self.system, "sever" if channel in weather.severed else "mend", own)
            if channel.number in weather.delays:
                low, high = weather.delays[channel.number]
                member.tell(self.system, "delay", {**own, "low": low, "high": high})
            if channel.number in weather.shares:
                member.tell(self.system, "lose", {**own, "share": weather.shares[channel.number]})

    async def _watch(self, member: Member, process: asyncio.subprocess.Process) -> None:
        """Wait for the end of a node's process."""
        await process.wait()
        if member.process is not process or self._is_ending:
            return
        member.process, member.connection, member.pid = None, None, None
        if member.is_leaving:
            return
        member.status = NodeStatus.FAILED
        last = last_entry(self.logs / f"{member.number}.log")
        print(f"node {member.name} has ended", file=sys.stderr, flush=True)
        await self.services.crash(member.name, last.clock if last else 0)
        if self.system.takes_back:
            await self._recover(None, f"{member.name} had ended", because_failed=True)

    async def _accept(self, connection: Connection) -> None:
        """A node reports, or sends something to a service."""
        hello = await self._door.hello(connection)
        if hello[1] != CONTROLLER:
            await self.services.receiver.accept(hello, connection)
            return
        number, _, life, about = hello
        if number not in range(len(self.members)) or not _is_about(about):
            raise BadFrame("a node that reports says its number, its port and its pid")
        member = self.members[number]
        member.connection, member.pid = connection, about["pid"]
        member.address = Address("127.0.0.1", about["port"], life)
        member.said.put_nowait(("hello", {}))
        while True:
            frame = await connection.read()
            if frame[0] != SAY:
                raise BadFrame(f"a node says {frame[0]!r}")
            if frame[1] == "report":
                member.report = frame[2]
            else:
                member.said.put_nowait((frame[1], frame[2]))

    async def _hear(self, member: Member, what: str, timeout: float | None = START_TIMEOUT) -> Any:
        """Wait until a node says something. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while True:
                said, body = await member.said.get()
                if said == what:
                    return body

    def _tell_addresses(self) -> None:
        """Tell everybody where the others listen."""
        known = {own.number: own.address for own in self.members if own.address is not None and own.connection}
        own = Address("127.0.0.1", self._port, self._life)
        services = dict.fromkeys(range(len(self.members), len(self.system.names)), own)
        for member in self.members:
            others = {
                number: list(at) for number, at in {**known, **services}.items() if number != member.number and at
            }
            member.tell(self.system, "peers", others)
        self.services.connect(known)

    def _tell_members(self) -> None:
        present = [member.number for member in self.members if member.is_present]
        for member in self.members:
            member.tell(self.system, "members", present)

    @property
    def present(self) -> list[str]:
        """The names of the processes that are part of the system."""
        return [member.name for member in self.members if member.is_present]

    # ------------------------------------------------------------------ recovery

    async def _recover(
        self, wanted: str | None, reason: str, *, is_first: bool = False, because_failed: bool = False
    ) -> Restored:
        """Go back to the snapshot `wanted`, or the last one that can be used.

        `because_failed`: not if another recovery has brought all nodes back meanwhile.
        """
        began = time.monotonic()
        async with self._changes:
            life = self.services.life
            if because_failed and not life.has_failed:
                return Restored(life.epoch, life.goal.snapshot, 0.0)
            while True:
                goal = await self._usable_goal(wanted)
                for member in self.members:
                    if member.is_present and member.process is None:
                        await self._start_again(member)
                    if member.is_present:
                        member.status = NodeStatus.RECOVERING
                self._tell_addresses()
                self._tell_members()
                epoch, self._goes_back_as = self.services.life.epoch + 1, reason
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

    async def _start_again(self, member: Member) -> None:
        """Start a node whose process has ended. What has ended it may do so again. Raises InputError in the end."""
        for _ in range(START_TRIES - 1):
            with suppress(InputError):
                return await self._start_node(member, waits=True)
        await self._start_node(member, waits=True)

    async def _is_restored(self, member: Member, epoch: int) -> None:
        """Wait until a node is restored, or its process has ended. One that does neither in time is killed."""
        process, end = member.process, time.monotonic() + RESTORE_TIMEOUT

        async def hear() -> None:
            while (await self._hear(member, "restored", None))["epoch"] != epoch:
                pass
            member.status = NodeStatus.RUNNING

        hearing = asyncio.ensure_future(hear())
        while process is not None and member.process is process and not hearing.done():
            await asyncio.wait([hearing], timeout=WATCH_GAP)
            if time.monotonic() > end and process.returncode is None:
                process.kill()
        hearing.cancel()

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
            print(problem, file=sys.stderr, flush=True)
            await self.services.ask(STORAGE, "forget", self.store.forgetting(goal.snapshot))
            self._end(goal.snapshot, Status.FAILED, problem, is_kept=False)

    def _restore(self, member: Member, goal: Restorable, epoch: int, clock: int) -> None:
        own = Process(member.name, member.number, None)
        present = {other.number for other in self.members if other.is_present}
        own.incoming = tuple(
            channel for channel in self.system.engine.channels
            if channel.target == member.number and channel.source in present
        )  # fmt: skip
        life = self.services.life._replace(goal=goal, epoch=epoch)
        back = list(contents(life, own, from_log=False))
        part = goal.parts.get(member.name)
        told = {
            "snapshot": goal.snapshot, "parts": {} if part is None else {member.name: part}, "epoch": epoch,
            "valid": sorted(goal.valid), "restores": list(goal.restores), "contents": back, "clock": clock,
        }  # fmt: skip
        member.tell(self.system, "restore", told)

    # ------------------------------------------------------------------ the registry follows the services

    def _on_done(self, done: Done) -> None:
        """An action of the services has happened: what it says of snapshots is written into the registry."""
        for row in done.rows:
            process, kind, body, snapshot = row[0], row[2], row[7], row[8]
            if snapshot is None:
                continue
            if kind == NOTED and process == COORDINATOR and "starts" in body:
                self._begins(snapshot, body)
            elif kind == COMMITTED:
                self._committed(snapshot, body)
            elif kind == DECISION and body["outcome"] != "complete":
                self._decided(snapshot, body)
            elif kind == NOTED and process == STORAGE and "deletes" in body:
                self._deleted(snapshot, body)
            elif kind == "control_receive" and process == STORAGE and isinstance(body, Mapping) and "part" in body:
                self._part_came(snapshot, (row[3] or "").partition("->")[0])

    def _row(self, snapshot: str) -> Snapshot:
        """The registry's row of a snapshot; one that the coordinator began by itself gets one now."""
        own = self._progress.get(snapshot) or self.store.registry.snapshot(snapshot)
        if own is None:
            kind = INCREMENTAL if self.store.is_incremental else FULL
            root, epoch = self.store.first_root, self.services.life.epoch
            own = Snapshot(snapshot, Status.INITIATED, kind, root, epoch, datetime.now(UTC))
        return own

    def _put(self, own: Snapshot) -> None:
        """Write a row into the registry."""
        self._progress.pop(own.id, None)
        self.store.registry.put(own)

    def _begins(self, snapshot: str, body: Any) -> None:
        own = self._row(snapshot)
        first = own.initiator or body["starts"][0]
        self._put(replace(own, status=Status.IN_PROGRESS, nodes=tuple(body["among"]), initiator=first))

    def _part_came(self, snapshot: str, node: str) -> None:
        own = self._row(snapshot)
        if own.status.is_final:
            return
        nodes = own.nodes or tuple(self.present)
        completed = tuple(dict.fromkeys((*own.completed, node)))
        told = replace(own, status=Status.IN_PROGRESS, nodes=nodes, completed=completed)
        if own.status is not told.status:
            self._put(told)
        self._progress[snapshot] = told  # written with what comes next: nobody needs it after a crash

    def _committed(self, snapshot: str, body: Any) -> None:
        own = self._row(snapshot)
        bases = [base for base in body.get("bases", {}).values() if base is not None]
        done = replace(
            own, status=Status.COMPLETED, ended_at=datetime.now(UTC), is_kept=True, reason="",
            size=self.store.size_of(snapshot), manifest_uri=self.store.uri_of(snapshot),
            nodes=own.nodes or tuple(body["parts"]), completed=tuple(body["parts"]),
            base=bases[0] if bases else None, type=INCREMENTAL if bases else FULL,
        )  # fmt: skip
        self._put(done)

    def _decided(self, snapshot: str, body: Any) -> None:
        status = Status.EXPIRED if body["outcome"] == EXPIRED else Status.FAILED
        reason = body["reason"] + (f": {body['detail']}" if body["detail"] else "")
        self._end(snapshot, self._given_up.get(snapshot, status), self.system.in_seconds(reason))

    def _deleted(self, snapshot: str, body: Any) -> None:
        own = self.store.registry.snapshot(snapshot)
        if own is not None and not own.status.is_final and not self.services.has_coordinator:
            status = Status.EXPIRED if body["reason"] == _MANIFEST_MISSING else Status.FAILED
            self._end(snapshot, self._given_up.get(snapshot, status), body["reason"])
        self._spawn(self.store.delete(snapshot, body["deletes"]))
        self._note_kept()

    def _note_kept(self) -> None:
        """Snapshots that the storage does not keep are not restorable any more."""
        valid = set(self.store.valid(self.services))
        for own in self.store.registry.kept():
            if own.id not in valid:
                self.store.registry.put(replace(own, is_kept=False))

    def _end(self, snapshot: str, status: Status, reason: str, *, is_kept: bool = False) -> None:
        own = self._row(snapshot)
        if own.status is Status.COMPLETED and status is not Status.FAILED:
            return
        if reason == ROLLED_BACK:
            reason += f": {self._goes_back_as}"
        ended = datetime.now(UTC) if own.ended_at is None else own.ended_at
        self._put(replace(own, status=status, reason=reason, ended_at=ended, is_kept=is_kept))

    # ------------------------------------------------------------------ what may be asked (cluster.model.Controller)

    async def trigger(self, wish: Wish) -> Snapshot:
        """Ask for a snapshot."""
        root = self.store.vault.root_of(wish.root_uri) if wish.root_uri is not None else self.store.first_root
        usual = INCREMENTAL if self.store.is_incremental else FULL
        if wish.type is not None and wish.type != usual:
            if wish.type not in SNAPSHOT_TYPES:
                raise Problem(422, f"snapshot_type: {wish.type!r} is none of {', '.join(SNAPSHOT_TYPES)}")
            how = "without" if usual == INCREMENTAL else "with"
            what = f"this cluster takes snapshots of the type {usual!r}"
            raise Problem(409, f"{what}; ask for that, or start it {how} --incremental")
        starters = self._starters(wish.initiator)
        if self._changes.locked():
            raise Problem(409, "the system is being changed or rolled back; ask again when all nodes are RUNNING")
        name = self.store.registry.next_snapshot_id()
        own = Snapshot(name, Status.INITIATED, usual, root, self.services.life.epoch, datetime.now(UTC), wish.initiator)
        self.store.begin(name, root)
        self.store.registry.put(own)
        for starter in starters:
            if starter in self.system.processes:
                number = self.system.engine.number_of[starter]
                told = {"snapshot": name, "clock": self.services.site.clock}
                self.members[number].tell(self.system, "initiate", told)
            else:
                await self.services.initiate(starter, name)
        if not self.services.has_coordinator:
            self._spawn(self._expire(name))
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
            member = self.members[self.system.engine.number_of[initiator]]
            if member.status is not NodeStatus.RUNNING:
                raise Problem(409, f"{initiator} is {member.status}; ask one that is RUNNING")
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

    def snapshot(self, snapshot: str) -> Snapshot:
        """One snapshot."""
        own = self._progress.get(snapshot) or self.store.registry.snapshot(snapshot)
        if own is None:
            raise Problem(404, f"there is no snapshot {snapshot!r}; GET /v1/snapshots lists those that there are")
        return own

    def snapshots(self, status: Status | None, limit: int, before: str | None) -> Sequence[Snapshot]:
        """A page of them, the newest first."""
        if before is not None:
            self.snapshot(before)
        return [self._progress.get(own.id, own) for own in self.store.registry.page(status, limit, before)]

    async def cancel(self, snapshot: str) -> Snapshot:
        """Give a snapshot up."""
        own = self.snapshot(snapshot)
        if own.status.is_final:
            raise Problem(409, f"{snapshot} is {own.status}; only one that is under way can be cancelled")
        await self._give_up(snapshot, Status.CANCELLED, CANCELLED)
        return self.snapshot(snapshot)

    async def _give_up(self, snapshot: str, status: Status, reason: str) -> None:
        """End a snapshot that is not complete."""
        self._given_up[snapshot] = status
        await self.services.give_up(snapshot, reason)
        if not self.services.has_coordinator:
            for member in self.members:
                member.tell(self.system, "abort", {"snapshot": snapshot, "clock": self.services.site.clock})
        self._end(snapshot, status, reason)

    async def _expire(self, snapshot: str) -> None:
        """Where no coordinator does, end a snapshot that is not complete when its time is over."""
        patience = self.system.seconds(self.system.scenario.storage_settings().kept)
        await asyncio.sleep(patience)
        if not self.snapshot(snapshot).status.is_final:
            await self._give_up(snapshot, Status.EXPIRED, f"it was not complete within {patience:g} s")

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
            own = self.snapshot(snapshot)
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

    def nodes(self) -> Sequence[Node]:
        """All nodes."""
        keys = ("sent", "received", "actions", "waiting")
        return [
            Node(
                member.name, member.status, member.pid, member.address.port if member.address else None,
                member.report.get("epoch", 0), {key: member.report.get(key, 0) for key in keys},
            )
            for member in self.members
        ]  # fmt: skip

    def node(self, name: str) -> Member:
        """What is known of a node (404: there is none)."""
        for member in self.members:
            if member.name == name:
                return member
        raise Problem(404, f"there is no node {name!r}; there are {', '.join(self.system.processes)}")

    async def join(self, node: str | None) -> Node:
        """A node that is absent becomes part of the system."""
        if not self.services.has_coordinator:
            raise Problem(409, "nodes join and leave only where there is a coordinator, which knows the members")
        absent = [member for member in self.members if not member.is_present]
        member = self.node(node) if node is not None else next(iter(absent), None)
        if member is None:
            raise Problem(409, f"all {len(self.members)} nodes are present; start the cluster with more by --most")
        if member.is_present:
            raise Problem(409, f"{member.name} is {member.status}; only one that is ABSENT can join")
        async with self._changes:
            await self._start_node(member)
            self._tell_addresses()
            self._tell_members()
            everybody = [own for own in self.members if own.connection is not None]
            await asyncio.gather(*(self._hear(own, "knows") for own in everybody))
            member.status = NodeStatus.RUNNING
            self._tell_start(member, joins=True)
            await self._is_known(member.name, is_member=True)
        return next(own for own in self.nodes() if own.name == member.name)

    async def leave(self, node: str) -> Node:
        """A node is no longer part of the system."""
        member = self.node(node)
        if not self.services.has_coordinator:
            raise Problem(409, "nodes join and leave only where there is a coordinator, which knows the members")
        if member.status is not NodeStatus.RUNNING:
            raise Problem(409, f"{node} is {member.status}; only one that is RUNNING can leave")
        if len(self.present) <= 2:
            raise Problem(409, f"only {' and '.join(self.present)} are left; a system has at least two processes")
        async with self._changes:
            member.is_leaving = True
            member.tell(self.system, "leave", {})
            await self._hear(member, "left", LEAVE_TIMEOUT)
            member.status = NodeStatus.ABSENT
            self._tell_members()
            everybody = [own for own in self.members if own.is_present]
            await asyncio.gather(*(self._hear(own, "knows") for own in everybody))
            if member.process is not None:
                member.tell(self.system, "stop", {})
                member.connection, member.address, member.pid = None, None, None
                await member.process.wait()
                member.process = None
            await self._is_known(node, is_member=False)
        return next(own for own in self.nodes() if own.name == node)

    async def _is_known(self, name: str, *, is_member: bool) -> None:
        """Wait until the coordinator has heard of a change."""
        async with asyncio.timeout(START_TIMEOUT):
            while (name in self.services.members) != is_member:
                await asyncio.sleep(0.01)

    async def inject(self, fault: Fault) -> None:
        """Do something bad to the cluster."""
        if not self.allows_faults:
            raise Problem(403, "this cluster allows no faults; start it with --allow-faults")
        await self._inject(fault)

    async def _inject(self, fault: Fault) -> None:
        if fault.kind not in FAULT_KINDS:
            raise Problem(422, f"kind: {fault.kind!r} is none of {', '.join(FAULT_KINDS)}")
        if fault.kind == "kill":
            member = self.node(fault.node or "")
            if member.process is None:
                raise Problem(409, f"{member.name} is {member.status}; it has no process to kill")
            os.kill(member.process.pid, signal.SIGKILL)
            return
        channels = self._channels(fault.channels)
        if fault.kind == "delay":
            if not 0 <= fault.low <= fault.high < math.inf:
                raise Problem(422, "low_ms and high_ms: from 0, and the second not below the first")
            self._inject_delay(channels, fault.low / 1000, fault.high / 1000)
            return
        weather, told = self._weather, {}
        if fault.kind == "lose":
            if not 0 <= fault.share < 1:
                raise Problem(422, "share: a number from 0, below 1")
            told["share"] = fault.share
            weather.shares.update((channel.number, fault.share) for channel in channels)
        elif fault.kind == "sever":
            weather.severed |= frozenset(channels)
        else:
            weather.severed -= frozenset(channels)
        for number, own in self._by_target(channels).items():
            self.members[number].tell(self.system, fault.kind, {"channels": own, **told})

    def _channels(self, names: Sequence[str]) -> list[Channel]:
        known = {channel.name: channel for channel in self.system.engine.channels}
        for name in names:
            if name not in known:
                raise Problem(
                    404, f"channels: there is no channel {name!r}; there are {', '.join(list(known)[:6])} ..."
                )
        return [known[name] for name in names] if names else list(known.values())

    @staticmethod
    def _by_target(channels: Sequence[Channel]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for channel in channels:
            found.setdefault(channel.target, []).append(channel.number)
        return found

    def _inject_delay(self, channels: Sequence[Channel], low: float, high: float) -> None:
        self._weather.delays.update((channel.number, (low, high)) for channel in channels)
        for number, own in self._by_target(channels).items():
            self.members[number].tell(self.system, "delay", {"channels": own, "low": low, "high": high})

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
                        answers = [await self._hear(member, "reported") for member in there]
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
        return {"recoveries": float(self._recoveries), "last_recovery_seconds": self._last_recovery}

    @property
    def typical_duration(self) -> float | None:
        """The median duration of the last snapshots, in milliseconds (None: there is none)."""
        took = [own.duration for own in self.store.registry.page(Status.COMPLETED, 20, None)]
        known = [own for own in took if own is not None]
        return statistics.median(known) if known else None

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
            if line.kind == CRASH:
                await self._inject(Fault("kill", line.process))
            elif line.kind in ("sever", "mend"):
                await self._inject(Fault(line.kind, channels=line.channels))
            elif line.kind == "join":
                await self.join(line.process)
            elif line.kind == "leave" and line.process is not None:
                await self.leave(line.process)
        except Problem as problem:
            print(problem, file=sys.stderr, flush=True)
