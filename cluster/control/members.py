"""The nodes of a cluster as its controller knows them: their processes, connections and reports."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster.control.services import Services
from cluster.model import NodeStatus, Problem
from cluster.node.clock import RunningClock
from cluster.node.links import Address
from cluster.node.system import System
from cluster.wire.frames import CONTROLLER, DO, SAY, Accept, BadFrame, Connection, Door, Listener
from sim.core.errors import InputError
from sim.document.writing import dumps

START_TIMEOUT = 10.0  # seconds that a node has to start
QUIET = 1.0  # seconds of silence after which a node, which reports more often, is called FROZEN


@dataclass
class Member:
    """A node as the controller knows it."""

    number: int
    name: str
    status: NodeStatus = NodeStatus.ABSENT
    process: asyncio.subprocess.Process | None = None
    connection: Connection | None = None
    address: Address | None = None
    pid: int | None = None
    incarnation: str = ""  # of its last process, as in links.Address
    heard: float = 0.0  # the time of its last word, by the clock of cluster.node.clock
    report: dict[str, Any] = field(default_factory=dict)
    said: asyncio.Queue[tuple[str, Any]] = field(default_factory=asyncio.Queue)
    is_leaving: bool = False

    @property
    def is_present(self) -> bool:
        """Whether it is part of the system, running or not."""
        return self.status is not NodeStatus.ABSENT

    def shown(self, now: float) -> NodeStatus:
        """Return the status of the node at `now`."""
        is_quiet = self.status is NodeStatus.RUNNING and self.process is not None and now - self.heard > QUIET
        return NodeStatus.FROZEN if is_quiet else self.status

    def tell(self, system: System, what: str, body: Any) -> None:
        """Send an order to the node."""
        if self.connection is not None:
            self.connection.write([system.transport.pack([DO, what, body])])


def _is_about(about: Any) -> bool:
    """Return whether a node has named its port and its pid."""
    return isinstance(about, dict) and all(type(about.get(key)) is int for key in ("port", "pid"))


class Members:
    """All nodes, absent ones included, by number. They report to a port of the controller, as do its services."""

    def __init__(self, system: System, logs: Path, *, queue: int, programs: Mapping[str, str]) -> None:
        """`logs` is the folder of the event logs. `queue`, `programs`: as in cluster.start.wanted.Wanted."""
        self.system, self._logs, self._queue, self._programs = system, logs, queue, programs
        self.token, self.incarnation = secrets.token_hex(16), secrets.token_hex(8)
        self.port = 0
        self._all = [Member(number, name) for number, name in enumerate(system.processes)]
        self._door = Door(self.token)
        self.running_clock = RunningClock(QUIET / 2)
        self._listener: Listener | None = None

    def __iter__(self) -> Iterator[Member]:
        return iter(self._all)

    def __getitem__(self, number: int) -> Member:
        return self._all[number]

    def __len__(self) -> int:
        return len(self._all)

    def named(self, name: str) -> Member:
        """Return a node. Raises Problem: 404, there is none."""
        for member in self:
            if member.name == name:
                return member
        raise Problem(404, f"there is no node {name!r}; there are {', '.join(self.system.processes)}")

    @property
    def present(self) -> list[str]:
        """The names of the processes that are part of the system."""
        return [member.name for member in self if member.is_present]

    async def listen(self, services: Services) -> None:
        """Listen for the reports of nodes, and for their messages to services."""
        self._listener = await self.system.transport.listen(self.token, self._for(services))
        self.port = self._listener.port

    async def close(self) -> None:
        """Listen no more."""
        if self._listener is not None:
            await self._listener.close()

    async def start(
        self, member: Member, *, began: float, epoch: int, index: int, waits: bool
    ) -> asyncio.subprocess.Process:  # fmt: skip
        """Start the process of a node, and wait until it has reported. Raises InputError if it does not.

        `began` is the start of the cluster, `epoch` the first epoch of the node, and `index` the number of its last
        stored event. `waits`: it does nothing until it is restored.
        """
        member.status, member.is_leaving, member.incarnation = NodeStatus.STARTING, False, secrets.token_hex(8)
        settings = {
            "scenario": dumps(self.system.scenario), "name": self.system.scenario.name, "unit": self.system.unit,
            "number": member.number, "folder": str(self._logs), "token": self.token, "incarnation": member.incarnation,
            "began": began, "queue": self._queue, "host": "127.0.0.1", "port": self.port, "waits": waits,
            "epoch": epoch, "index": index, "transport": self.system.transport_name,
        }  # fmt: skip
        command = [sys.executable, "-m", "cluster.node.process"]
        if member.name in self._programs:
            command = shlex.split(self._programs[member.name])
            settings |= self.system.about(member.number)
        member.said, member.connection = asyncio.Queue(), None
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
        member.process = process
        assert process.stdin is not None
        process.stdin.write((json.dumps(settings) + "\n").encode())
        hello = asyncio.ensure_future(self.hear(member, "hello", START_TIMEOUT))
        end = asyncio.ensure_future(process.wait())
        await asyncio.wait([hello, end], return_when=asyncio.FIRST_COMPLETED)
        end.cancel()
        if not hello.done() or hello.exception() is not None:
            hello.cancel()
            if process.returncode is None:
                process.kill()
            member.process = None
            how = f"ended with status {process.returncode}" if process.returncode is not None else "said nothing"
            raise InputError(f"node {member.name}: did not start, it {how}; what it wrote is above")
        return process

    def _for(self, services: Services) -> Accept:
        async def accept(connection: Connection) -> None:
            """Take the reports of a node, or its messages to a service."""
            hello = await self._door.hello(connection)
            if hello[1] != CONTROLLER:
                await services.receiver.accept(hello, connection)
                return
            number, _, incarnation, about = hello
            if number not in range(len(self)) or not _is_about(about):
                raise BadFrame("a node that reports says its number, its port and its pid")
            member = self[number]
            if self.is_over(number, incarnation):
                raise BadFrame(f"this incarnation of {member.name} is over: it was taken for gone, or has begun anew")
            member.connection, member.pid, member.heard = connection, about["pid"], self.running_clock.now
            member.address = Address("127.0.0.1", about["port"], incarnation)
            member.said.put_nowait(("hello", {}))
            while True:
                frame = await connection.read()
                if frame[0] != SAY:
                    raise BadFrame(f"a node says {frame[0]!r}")
                member.heard = self.running_clock.now
                if frame[1] == "report":
                    member.report = frame[2]
                else:
                    member.said.put_nowait((frame[1], frame[2]))

        return accept

    def is_over(self, number: int, incarnation: str) -> bool:
        """Return whether an incarnation of a node is over: it is not that of its last process, and is heard no more."""
        return self[number].incarnation != incarnation or self[number].process is None

    async def hear(self, member: Member, what: str, timeout: float | None = START_TIMEOUT) -> Any:
        """Wait until a node says `what`, and return the body. Raises TimeoutError after `timeout` seconds."""
        async with asyncio.timeout(timeout):
            while True:
                said, body = await member.said.get()
                if said == what:
                    return body

    def tell_addresses(self) -> dict[int, Address]:
        """Tell every node the addresses of the others. Returns the addresses of the nodes, by number."""
        known = {own.number: own.address for own in self if own.address is not None and own.connection}
        own = Address("127.0.0.1", self.port, self.incarnation)
        services = dict.fromkeys(range(len(self), len(self.system.names)), own)
        for member in self:
            others = {
                number: list(at) for number, at in {**known, **services}.items() if number != member.number and at
            }
            member.tell(self.system, "peers", others)
        return known

    def tell_members(self) -> None:
        """Tell every node the numbers of the members."""
        present = [member.number for member in self if member.is_present]
        for member in self:
            member.tell(self.system, "members", present)
