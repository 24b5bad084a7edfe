"""The receiving ends of the links to a node: each message is taken once and in order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from cluster.node.data_frames import message_of
from cluster.node.system import System
from cluster.wire.frames import AGAIN, DATA, TAKEN, WELCOME, BadFrame, Connection, Transport
from sim.core.model import APP, Channel, Message

SAMPLES = 512  # latencies that are kept


class Source:
    """The receiving end of a link, from one incarnation of a node."""

    def __init__(self, transport: Transport, incarnation: str, before: Source | None) -> None:
        """`before` is the end for an earlier incarnation of that node: its messages may still wait for delivery."""
        self.incarnation = incarnation
        self.received = 0  # the last sequence number before the first gap
        self.apps_taken = 0  # application messages that were delivered or dropped
        self._transport = transport
        self._connection: Connection | None = None
        self._is_acknowledged = True  # whether the sender knows both
        self._apps_received = 0
        self._stale = (
            0 if before is None else before.apps_waiting
        )  # waiting application messages of earlier incarnations
        self._asked = 0  # the sequence number that the sender was last asked for
        self._last = 0  # the sequence number that came last

    @property
    def apps_waiting(self) -> int:
        """The number of application messages that have come and wait for delivery."""
        return self._stale + self._apps_received - self.apps_taken

    def welcome(self, connection: Connection) -> None:
        """Take a new connection, and say how much was taken: the last acknowledgement may be lost."""
        self.close()
        self._connection, self._is_acknowledged = connection, True
        self._asked = self._last = 0
        self._say([WELCOME, self.received, self.apps_taken])

    def _say(self, frame: list[Any]) -> None:
        if self._connection is not None:
            self._connection.write([self._transport.pack(frame)])

    def is_on(self, connection: Connection) -> bool:
        """Whether messages come on this connection now."""
        return self._connection is connection

    def close(self) -> None:
        """Close the connection. The sender will connect again, and no message is lost."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def leave(self, connection: Connection) -> None:
        """Note that a connection has ended."""
        if self._connection is connection:
            self._connection = None

    def is_next(self, number: int, kind: str) -> bool:
        """Whether this is the next message, so that it is taken.

        A message that has come before is not, nor one after a gap. For a gap, the sender is asked once. It is asked
        once more if it has begun to send again, and the missing message was lost again.
        """
        begins_again, self._last = number <= self._last, number
        missing = self.received + 1
        if number == missing:
            self.received = number
            self._apps_received += kind == APP
            self._is_acknowledged = False
            return True
        if number > missing and (self._asked != missing or begins_again):
            self._asked = missing
            self._say([AGAIN, missing])
        return False

    def take(self) -> None:
        """Note that an application message is delivered. Those of earlier incarnations come first."""
        if self._stale:
            self._stale -= 1
        else:
            self.apps_taken += 1
            self._is_acknowledged = False

    def acknowledge(self) -> None:
        """Tell the sender how much was taken, unless it knows."""
        if not self._is_acknowledged and self._connection is not None:
            self._say([TAKEN, self.received, self.apps_taken])
            self._is_acknowledged = True


class Receiver:
    """The receiving ends of all links to a node, or to the services of the controller."""

    def __init__(self, system: System, numbers: range, incarnation: str, take: Callable[[Message, int], None]) -> None:
        """`numbers` are those of the local processes or services, and `incarnation` is theirs.

        `take` is called with each message, once and in order, and with the clock of the action that sent it.
        """
        self._system, self._numbers, self._incarnation, self._take = system, numbers, incarnation, take
        self._sources: dict[tuple[int, int], Source] = {}
        self.is_lost: Callable[[Channel], bool] = lambda channel: False
        # Whether an incarnation of a node is not its last.
        self.is_over: Callable[[int, str], bool] = lambda number, incarnation: False
        self.latencies: deque[float] = deque(maxlen=SAMPLES)

    async def accept(self, hello: list[Any], connection: Connection) -> None:
        """Take the messages of a node that has said hello (frames.Door), until the connection ends. Raises BadFrame."""
        number, target, incarnation, wanted = hello
        if target not in self._numbers:
            raise BadFrame(f"no process or service here has the number {target}")
        if number not in range(len(self._system.names)) or number in self._numbers:
            raise BadFrame(f"no other node of this cluster has the number {number}")
        if wanted != self._incarnation:
            raise BadFrame(
                "the incarnation that is wanted has ended; ask the controller for the address of the new one"
            )
        if self.is_over(number, incarnation):
            raise BadFrame(f"this incarnation of {self._system.names[number]} is over, or not known here yet")
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
                    return  # the node has connected again meanwhile
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
        """Note that an application message is delivered or dropped: its sender may send another."""
        source = self._sources.get((message.channel.source, message.channel.target))
        if source is not None:
            source.take()

    def acknowledge(self) -> None:
        """Tell all senders how much was taken."""
        for source in self._sources.values():
            source.acknowledge()

    def drop(self, number: int) -> None:
        """Close the connections from a node. It will connect again, and no message is lost."""
        for (own, _), source in self._sources.items():
            if own == number:
                source.close()
