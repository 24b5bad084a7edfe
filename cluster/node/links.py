"""A link carries messages from one node to another: in order, none lost, none twice, over connections that may drop.

Messages have sequence numbers. The receiver says up to which number it has taken all. What it has not is
sent again: on the next connection, or where a gap shows, once for each. The last message may be lost, which leaves no
gap; so after a silence the last one is sent again. A node that has started anew is another one: its links begin anew.

At most WINDOW application messages are on the wire or wait at the receiver; the others wait in an outbox. When that
is full, the sender begins nothing more until there is room: back-pressure. What it receives may still make it send an
answer; when those have filled the outbox once more, it receives nothing more either. (If it received nothing as soon as
the outbox is full, two that send to each other would wait for each other.) What is in a stream cannot be overtaken.
So a marker that goes ahead takes all of the outbox along, whatever the window says, and overtakes at the receiver.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from cluster.node.system import System
from cluster.wire.frames import AGAIN, DATA, HELLO, TAKEN, WELCOME, BadFrame, Connection, Transport
from sim.core.model import APP, CONTROL, MARKER, Channel, Message

WINDOW = 256  # application messages of a link that are sent and not delivered
SAMPLES = 512  # latencies that are kept
SILENCE = 0.3  # seconds without word of what was sent, after which the last message is sent again
WELCOME_S = 5.0  # for the answer to a hello, after which a new connection is tried
PAUSES = (0.02, 0.05, 0.1, 0.2, 0.5)  # seconds before the next try to connect


class Address(NamedTuple):
    """Where a node listens. `incarnation` differs for each start of the node."""

    host: str
    port: int
    incarnation: str


class Link:
    """The sending end: from process or service number `source` to `target`."""

    def __init__(
        self,
        system: System,
        source: int,
        target: int,
        token: str,
        incarnation: str,
        queue: int,
        on_room: Callable[[], None],
    ) -> None:
        """`incarnation` is the sender's; `queue` bounds the outbox; `on_room` is called when there is room again."""
        self._system, self._source, self.target = system, source, target
        self._token, self._incarnation, self._queue, self._on_room = token, incarnation, queue, on_room
        self.may_write: Callable[[], bool] = lambda: True  # asked in front of every write; `write` goes on later
        self._address: Address | None = None
        self._connection: Connection | None = None
        self._task: asyncio.Task[None] | None = None
        self._begin()

    def _begin(self) -> None:
        self._outbox: deque[tuple[Message, int]] = deque()
        self._unconfirmed: deque[tuple[int, Any]] = deque()  # sequence number and packed frame
        self._unwritten: list[Any] = []  # those of them that are not on the wire yet
        self._last = 0  # the last sequence number
        self._apps_sent = self._apps_taken = 0
        self._confirmed_at = time.monotonic()  # or when there was nothing to confirm

    @property
    def is_full(self) -> bool:
        """Whether the sender has to wait."""
        return len(self._outbox) >= self._queue

    @property
    def is_overfull(self) -> bool:
        """Whether the sender has to wait, and must not even receive what makes it send more."""
        return len(self._outbox) >= 2 * self._queue

    @property
    def is_idle(self) -> bool:
        """Whether nothing is on its way."""
        return not self._outbox and not self._unconfirmed

    @property
    def waiting(self) -> int:
        """The number of messages that the receiver has not confirmed."""
        return len(self._outbox) + len(self._unconfirmed)

    def connect(self, address: Address) -> None:
        """The other end is at this address. What was sent to an earlier incarnation of it is lost."""
        if address == self._address:
            return
        was_full = self.is_full
        if self._address is not None and address.incarnation != self._address.incarnation:
            self._begin()
        self._address = address
        self.close()
        self._task = asyncio.get_running_loop().create_task(self._run(address))
        if was_full and not self.is_full:
            self._on_room()

    def close(self) -> None:
        """End the connection."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def send(self, message: Message, clock: int) -> None:
        """Send a message after all that was sent before."""
        self._outbox.append((message, clock))
        is_ahead = message.kind == MARKER and self._system.engine.algorithm.goes_ahead(message.body)
        self._fill(whatever_the_window=is_ahead)

    def _fill(self, *, whatever_the_window: bool = False) -> None:
        """Put messages of the outbox on the wire, as far as the window is open."""
        outbox, frames = self._outbox, []
        while outbox:
            message, clock = outbox[0]
            is_app = message.kind == APP
            if is_app and self._apps_sent - self._apps_taken >= WINDOW and not whatever_the_window:
                break
            outbox.popleft()
            self._apps_sent += is_app
            self._last += 1
            if not self._unconfirmed:
                self._confirmed_at = time.monotonic()
            frame = self._system.transport.pack(data_frame(self._last, message, clock))
            self._unconfirmed.append((self._last, frame))
            frames.append(frame)
        if frames and self._connection is not None:
            if not self._unwritten:
                asyncio.get_running_loop().call_soon(self.write)
            self._unwritten += frames

    def write(self) -> None:
        """Write what one turn of the event loop has brought, and what might not be written before, at once."""
        if self._unwritten and self._connection is not None and self.may_write():
            self._connection.write(self._unwritten)
            self._unwritten = []

    async def _run(self, address: Address) -> None:
        """Connect, and again whenever the connection ends."""
        tries = 0
        while True:
            try:
                connection = await self._system.transport.connect(address.host, address.port, self._token)
            except OSError:
                await asyncio.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
                tries += 1
                continue
            try:
                hello = [HELLO, self._token, self._source, self.target, self._incarnation, address.incarnation]
                connection.write([self._system.transport.pack(hello)])
                async with asyncio.timeout(WELCOME_S):
                    welcome = await connection.read()
                if welcome[0] == WELCOME:
                    tries = 0
                    self._connection = connection
                    self._confirm(welcome[1])
                    self._again()
                    self._make_room(welcome[2])
                    await self._listen(connection)
            except (OSError, BadFrame):  # TimeoutError is an OSError
                pass
            finally:
                if self._connection is connection:
                    self._connection = None
                connection.close()
            await asyncio.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
            tries += 1

    async def _listen(self, connection: Connection) -> None:
        """Hear what the receiver says, until it says that this is the end."""
        watching = asyncio.get_running_loop().create_task(self._watch())
        try:
            while True:
                frame = await connection.read()
                if frame[0] == TAKEN:
                    self._confirm(frame[1])
                    self._make_room(frame[2])
                elif frame[0] == AGAIN:
                    self._confirm(frame[1] - 1)
                    self._again()
                else:
                    return
        finally:
            watching.cancel()

    async def _watch(self) -> None:
        """After a silence, send the last message again: if it is the one that is missing it comes, else a gap shows.

        Nothing is sent again while what was sent has not even left, so a receiver that stands still costs nothing.
        """
        while True:
            await asyncio.sleep(SILENCE)
            connection, is_silent = self._connection, time.monotonic() - self._confirmed_at >= SILENCE
            if connection is not None and self._unconfirmed and is_silent and not connection.has_unsent:
                self._unwritten = self._unwritten or [self._unconfirmed[-1][1]]
                self.write()

    def _make_room(self, apps_taken: int) -> None:
        """The other end has delivered so many application messages of this link."""
        before = self.is_full, self.is_overfull
        self._apps_taken = max(self._apps_taken, apps_taken)
        self._fill()
        if (self.is_full, self.is_overfull) != before:
            self._on_room()

    def _confirm(self, number: int) -> None:
        """The other end has taken everything up to a sequence number."""
        unconfirmed = self._unconfirmed
        while unconfirmed and unconfirmed[0][0] <= number:
            unconfirmed.popleft()
            self._confirmed_at = time.monotonic()

    def _again(self) -> None:
        """Send what is not confirmed again."""
        self._unwritten = [frame for _, frame in self._unconfirmed]
        self.write()


def data_frame(number: int, message: Message, clock: int) -> list[object]:
    """The frame of a message, with its sequence number and the clock of the action that sent it."""
    return [
        DATA, number, clock, message.channel.number, message.id, message.kind, message.body, message.snapshot,
        message.stamp, message.sent_index, message.label, message.receive_label, message.epoch, time.time(),
    ]  # fmt: skip


def message_of(frame: list[Any], system: System, source: int, target: int) -> tuple[int, int, Message]:
    """The sequence number, the clock and the message of a frame from `source`. Raises BadFrame."""
    _, number, clock, channel_number, identity, kind, body, snapshot, stamp, index, label, receive_label, epoch, _ = (
        frame
    )
    channel = system.channel_of.get(channel_number)
    if number < 1 or clock < 1:
        raise BadFrame("a message has a sequence number and a clock, whole numbers of at least 1")
    if channel is None or (channel.source, channel.target) != (source, target):
        raise BadFrame(f"there is no channel number {channel_number!r} between these two")
    is_control = system.is_control(channel)
    if kind != CONTROL if is_control else kind not in (APP, MARKER):
        raise BadFrame(f"a message on {channel.name} is not of the kind {kind!r}")
    if (kind == APP) != (index is not None) or (kind == MARKER and snapshot is None):
        raise BadFrame("an application message has an index, and a marker a snapshot")
    message = Message(identity, channel, kind, body, snapshot, stamp, index, label, receive_label, epoch=epoch)
    return number, clock, message


class Source:
    """The receiving end of a link: what has come from one incarnation of a node."""

    def __init__(self, transport: Transport, incarnation: str, before: Source | None) -> None:
        """`before` is the end for an earlier incarnation of that node: messages of it may still wait for delivery."""
        self.incarnation = incarnation
        self.received = 0  # the last sequence number before the first gap
        self.apps_taken = 0  # application messages delivered, or of no use any more
        self._transport = transport
        self._connection: Connection | None = None
        self._is_told = True  # whether the sender knows of both
        self._apps_received = 0
        self._stale = 0 if before is None else before.apps_waiting  # application messages of earlier lives that wait
        self._asked = 0  # the sequence number for which the sender was asked
        self._last = 0  # the sequence number that came last

    @property
    def apps_waiting(self) -> int:
        """The number of application messages that have come and are not delivered."""
        return self._stale + self._apps_received - self.apps_taken

    def welcome(self, connection: Connection) -> None:
        """There is a new connection: say how much was taken, for what was said last may be lost."""
        self.close()
        self._connection, self._is_told = connection, True
        self._asked = self._last = 0
        self._say([WELCOME, self.received, self.apps_taken])

    def _say(self, frame: list[Any]) -> None:
        if self._connection is not None:
            self._connection.write([self._transport.pack(frame)])

    def is_on(self, connection: Connection) -> bool:
        """Whether this is the connection on which messages come now."""
        return self._connection is connection

    def close(self) -> None:
        """Close the connection. The sender will connect again, and nothing of what it sent is lost."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def leave(self, connection: Connection) -> None:
        """A connection has ended."""
        if self._connection is connection:
            self._connection = None

    def is_next(self, number: int, kind: str) -> bool:
        """Whether this is the next message, which is to be taken.

        One that has come before is not, nor one after a gap. For that, the sender is asked once; and once more if it
        has begun to send again, and what is missing was lost again.
        """
        begins_again, self._last = number <= self._last, number
        missing = self.received + 1
        if number == missing:
            self.received = number
            self._apps_received += kind == APP
            self._is_told = False
            return True
        if number > missing and (self._asked != missing or begins_again):
            self._asked = missing
            self._say([AGAIN, missing])
        return False

    def take(self) -> None:
        """An application message is delivered. Those of earlier lives were there first."""
        if self._stale:
            self._stale -= 1
        else:
            self.apps_taken += 1
            self._is_told = False

    def tell(self) -> None:
        """Tell the sender how much was taken, unless it knows."""
        if not self._is_told and self._connection is not None:
            self._say([TAKEN, self.received, self.apps_taken])
            self._is_told = True


class Receiver:
    """The receiving ends of all links to a node, or to the services of the controller."""

    def __init__(self, system: System, numbers: range, incarnation: str, take: Callable[[Message, int], None]) -> None:
        """`numbers` are those of the processes or services here, and `incarnation` is theirs.

        `take` is called with each message, once and in order, and with the clock of the action that sent it.
        """
        self._system, self._numbers, self._incarnation, self._take = system, numbers, incarnation, take
        self._sources: dict[tuple[int, int], Source] = {}
        self.is_lost: Callable[[Channel], bool] = lambda channel: False
        self.is_over: Callable[[int, str], bool] = lambda number, incarnation: (
            False
        )  # whether an incarnation of a node is not its last
        self.latencies: deque[float] = deque(maxlen=SAMPLES)

    async def accept(self, hello: list[Any], connection: Connection) -> None:
        """A node has said hello (frames.Door). Take what it sends until the connection ends. Raises BadFrame."""
        number, target, incarnation, wanted = hello
        if target not in self._numbers:
            raise BadFrame(f"nobody here has the number {target}")
        if number not in range(len(self._system.names)) or number in self._numbers:
            raise BadFrame(f"no other node of this cluster has the number {number}")
        if wanted != self._incarnation:
            raise BadFrame("the one that is wanted has ended, and this is another; ask the controller where it is")
        if self.is_over(number, incarnation):
            raise BadFrame(f"this incarnation of {self._system.names[number]} is over, or is not known here as yet")
        pair = number, target
        source = self._sources.get(pair)
        if source is None or source.incarnation != incarnation:
            if source is not None:
                source.close()
            source = self._sources[pair] = Source(self._system.transport, incarnation, source)
        source.welcome(connection)
        try:
            while True:
                frame = await connection.read()
                if not source.is_on(connection):
                    return  # it has connected again meanwhile
                if frame[0] != DATA:
                    raise BadFrame(f"a node sends messages, not {frame[0]!r}")
                number_of_frame, clock, message = message_of(frame, self._system, *pair)
                if self.is_lost(message.channel):
                    continue  # the sender will find out
                if source.is_next(number_of_frame, message.kind):
                    self.latencies.append(time.time() - frame[-1])
                    self._take(message, clock)
        finally:
            source.leave(connection)

    def taken(self, message: Message) -> None:
        """An application message is delivered, or of no use any more: its sender may send another."""
        source = self._sources.get((message.channel.source, message.channel.target))
        if source is not None:
            source.take()

    def tell(self) -> None:
        """Tell all senders how much was taken."""
        for source in self._sources.values():
            source.tell()

    def drop(self, number: int) -> None:
        """Close the connections from a node. It will connect again, and nothing of what it sent is lost."""
        for (own, _), source in self._sources.items():
            if own == number:
                source.close()


class LinkConditions:
    """What somebody injects into the channels that come to a node: partition, delays and losses."""

    def __init__(self) -> None:
        self.severed: frozenset[Channel] = frozenset()
        self.delays: dict[int, tuple[float, float]] = {}  # by channel number, in seconds
        self.shares: dict[int, float] = {}  # of frames that are lost, by channel number
