"""A link carries messages from one node to another: in order, none lost, none twice, over connections that may drop.

Messages have sequence numbers. The receiver confirms the number up to which it has taken all messages. The others are
sent again, on the next connection or after a gap, once for each gap. If the last message is lost, no gap shows, so it
is sent again after a silence. A node that has started again is another incarnation: its links begin anew.

At most WINDOW application messages are on the wire or wait at the receiver. The others wait in an outbox. While it is
full, the sender begins nothing: this is back-pressure. A message that it receives may still make it send an answer.
When answers have filled the outbox a second time, it receives nothing either. (If it stopped receiving at once, two
nodes could wait for each other.) A message in a stream cannot be overtaken. So a marker that goes ahead takes the whole
outbox along, beyond the window, and overtakes at the receiver.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from cluster.node.data_frames import data_frame
from cluster.node.system import System
from cluster.wire.frames import AGAIN, HELLO, TAKEN, WELCOME, BadFrame, Connection
from sim.core.model import APP, MARKER, Message

WINDOW = 256  # application messages of a link that are sent and not yet delivered
SILENCE = 0.3  # seconds without a confirmation, after which the last message is sent again
WELCOME_S = 5.0  # for the answer to a hello, before a new connection is tried
PAUSES = (0.02, 0.05, 0.1, 0.2, 0.5)  # seconds before the next try to connect


class Address(NamedTuple):
    """The address on which a node listens. `incarnation` differs for each start of the node."""

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
        self._unwritten: list[Any] = []  # frames that are not on the wire yet
        self._last = 0  # the last sequence number
        self._apps_sent = self._apps_taken = 0
        self._confirmed_at = time.monotonic()  # or when there was nothing to confirm

    @property
    def is_full(self) -> bool:
        """Whether the sender has to wait."""
        return len(self._outbox) >= self._queue

    @property
    def is_overfull(self) -> bool:
        """Whether the sender has to wait, and must not even receive a message that may make it send more."""
        return len(self._outbox) >= 2 * self._queue

    @property
    def is_idle(self) -> bool:
        """Whether no message is in transit."""
        return not self._outbox and not self._unconfirmed

    @property
    def waiting(self) -> int:
        """The number of messages that the receiver has not confirmed."""
        return len(self._outbox) + len(self._unconfirmed)

    def connect(self, address: Address) -> None:
        """Connect to this address. Messages that were sent to an earlier incarnation of the node are lost."""
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
        """Send a message, after all that were sent before."""
        self._outbox.append((message, clock))
        is_ahead = message.kind == MARKER and self._system.engine.algorithm.goes_ahead(message.body)
        self._fill(is_beyond_window=is_ahead)

    def _fill(self, *, is_beyond_window: bool = False) -> None:
        """Put messages of the outbox on the wire, as far as the window is open, or all of them."""
        outbox, frames = self._outbox, []
        while outbox:
            message, clock = outbox[0]
            is_app = message.kind == APP
            if is_app and self._apps_sent - self._apps_taken >= WINDOW and not is_beyond_window:
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
        """Write the frames of one turn of the event loop together, and those that could not be written before."""
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
        """Handle the confirmations of the receiver, until it ends the connection."""
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
        """After a silence, send the last message again: either it was missing, or a gap shows now.

        Nothing is sent again while frames have not even left, so a receiver that stands still costs nothing.
        """
        while True:
            await asyncio.sleep(SILENCE)
            connection, is_silent = self._connection, time.monotonic() - self._confirmed_at >= SILENCE
            if connection is not None and self._unconfirmed and is_silent and not connection.has_unsent:
                self._unwritten = self._unwritten or [self._unconfirmed[-1][1]]
                self.write()

    def _make_room(self, apps_taken: int) -> None:
        """Note that the other end has delivered `apps_taken` application messages of this link."""
        before = self.is_full, self.is_overfull
        self._apps_taken = max(self._apps_taken, apps_taken)
        self._fill()
        if (self.is_full, self.is_overfull) != before:
            self._on_room()

    def _confirm(self, number: int) -> None:
        """Note that the other end has taken all messages up to a sequence number."""
        unconfirmed = self._unconfirmed
        while unconfirmed and unconfirmed[0][0] <= number:
            unconfirmed.popleft()
            self._confirmed_at = time.monotonic()

    def _again(self) -> None:
        """Send all unconfirmed messages again."""
        self._unwritten = [frame for _, frame in self._unconfirmed]
        self.write()
