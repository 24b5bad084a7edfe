"""Ends of a link for tests, and a network between them that cuts, delays and loses."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from cluster.node.links import Address, Link
from cluster.node.receiver import Receiver
from cluster.node.system import TCP, System, live
from cluster.start.full_graph import of_nodes
from cluster.wire.frames import Connection, Door, Listener
from cluster.wire.tcp import Tcp, TcpConnection
from sim.core.model import APP, MARKER, Message
from tests import waiting
from tests.waiting import budget_s

Value = TypeVar("Value")

TOKEN = "a token"
LISTENERS: list[Listener] = []  # of the ends that listen


def carried_out(work: Coroutine[Any, Any, Value]) -> Value:
    """Carry out what a test does; at the end nothing listens any more."""

    async def main() -> Value:
        try:
            return await work
        finally:
            while LISTENERS:
                await LISTENERS.pop().close()

    return waiting.carried_out(main())


def system_of(nodes: int = 3, algorithm: str = "chandy_lamport", transport: str = TCP) -> System:
    """A bank of so many nodes."""
    return System(live(of_nodes(nodes, "bank", algorithm), 0.01), 0.01, transport)


def message(system: System, number: int, *, source: int = 0, target: int = 1, epoch: int = 0, body: Any = 1) -> Message:
    """An application message."""
    channel = system.engine.between[source, target]
    return Message(number, channel, APP, body, None, None, number + 1, None, None, epoch=epoch)


def marker(system: System, number: int, body: Any = None, *, epoch: int = 0) -> Message:
    """A marker from the first node to the second."""
    return Message(number, system.engine.between[0, 1], MARKER, body, "S", None, None, None, None, epoch=epoch)


class End:
    """The receiving end, node number 1: what has come, and a socket on which it listens."""

    def __init__(self, system: System, incarnation: str = "receiver") -> None:
        self.system, self.incarnation = system, incarnation
        self.came: list[Message] = []
        self.hellos = 0
        self.door = Door(TOKEN)
        self.receiver = Receiver(system, range(1, 2), incarnation, self._take)
        self.takes_at_once = True
        self.port = 0

    def _take(self, own: Message, clock: int) -> None:
        self.came.append(own)
        if self.takes_at_once:
            self.receiver.taken(own)
        asyncio.get_running_loop().call_soon(self.receiver.acknowledge)

    def take_all(self) -> None:
        """Everything that has come is delivered."""
        for own in self.came:
            self.receiver.taken(own)
        self.receiver.acknowledge()

    async def _accept(self, connection: Connection) -> None:
        hello = await self.door.hello(connection)
        self.hellos += 1
        await self.receiver.accept(hello, connection)

    async def listen(self) -> End:
        """Begin to listen."""
        listener = await self.system.transport.listen(TOKEN, self._accept)
        LISTENERS.append(listener)
        self.port = listener.port
        return self

    def address(self, port: int | None = None) -> Address:
        """The address of its listener, or of the proxy before it."""
        return Address("127.0.0.1", port or self.port, self.incarnation)

    async def raw(self) -> Raw:
        """A connection of a stranger."""
        return Raw(self.system, *await asyncio.open_connection("127.0.0.1", self.port))


class Raw:
    """A TCP connection on which a test says what it likes."""

    def __init__(self, system: System, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.transport = Tcp(system.codec)
        self._connection = TcpConnection(self.transport, system.codec, reader, writer)

    def say(self, frame: list[Any]) -> None:
        """Send a frame."""
        self._connection.write([self.transport.pack(frame)])

    async def heard(self) -> list[Any]:
        """The next frame."""
        async with asyncio.timeout(budget_s()):
            return await self._connection.read()

    async def reason(self) -> str:
        """Why the other side ends the connection, which it does."""
        async with asyncio.timeout(budget_s()):
            while True:
                kind, *rest = await self._connection.read()
                if kind == "bye":
                    assert await self.reader.read() == b""
                    self.writer.close()
                    return str(rest[0])


def link_to(system: System, queue: int = 10**6, on_room: Callable[[], None] = lambda: None) -> Link:
    """The sending end, node number 0."""
    return Link(system, 0, 1, TOKEN, "sender", queue, on_room)


class Proxy:
    """Between two ends: hands bytes on in pieces, and cuts all connections when it is told to."""

    def __init__(self, target: int, seed: int, *, pause: float = 0.0, piece: int = 4096) -> None:
        """`piece` bytes at most at a time, with a pause after each, in seconds."""
        self.target, self._random, self._pause, self._piece = target, random.Random(seed), pause, piece
        self.connections = 0
        self.lost = 0  # bytes
        self.is_mute = False  # nothing goes back to the sender
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self) -> Proxy:
        """Begin to listen."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        self._writers |= {writer, back}
        for come, go, is_back in ((reader, back, False), (there, writer, True)):
            task = asyncio.get_running_loop().create_task(self._hand_on(come, go, is_back))
            self._tasks.add(task)

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_back: bool) -> None:
        try:
            while content := await reader.read(self._random.randint(1, self._piece)):
                if is_back and self.is_mute:
                    self.lost += len(content)
                    continue
                writer.write(content)
                await writer.drain()
                if self._pause:
                    await asyncio.sleep(self._random.random() * self._pause)  # time itself is tested: a slow network
        except OSError:
            pass
        finally:
            writer.close()

    def cut(self) -> None:
        """End all connections at once."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()
