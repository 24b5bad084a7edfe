"""The outgoing links of a node: one to each other node, and to the services of the controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any

from cluster.node.links import Address, Link
from cluster.node.system import System
from sim.core.model import Message


class Outgoing:
    """The links from process number `number`. A link begins with the first message that needs it."""

    def __init__(
        self, system: System, number: int, task: Mapping[str, Any], on_room: Callable[[], None],
        may_write: Callable[[], bool],
    ) -> None:  # fmt: skip
        """`task` is the first line from the controller; `on_room` and `may_write` are those of Link."""
        self._system, self._number = system, number
        self._token, self._incarnation, self._queue = task["token"], task["incarnation"], task["queue"]
        self._on_room, self._may_write = on_room, may_write
        self._links: dict[int, Link] = {}
        self.addresses: dict[int, Address] = {}

    def send(self, message: Message, clock: int) -> None:
        """Send a message to its target. `clock` is that of the action that sends it."""
        self._link(message.channel.target).send(message, clock)

    def _link(self, target: int) -> Link:
        link = self._links.get(target)
        if link is None:
            link = Link(
                self._system, self._number, target, self._token, self._incarnation, self._queue, self._on_room
            )  # fmt: skip
            if target < len(self._system.processes):
                link.may_write = self._may_write
            self._links[target] = link
            if target in self.addresses:
                link.connect(self.addresses[target])
        return link

    def connect(self, addresses: Mapping[int, Address]) -> None:
        """Note the addresses of other nodes, and connect the links to them."""
        for number, address in addresses.items():
            self.addresses[number] = address
            if number in self._links:
                self._links[number].connect(address)

    def close_all_but(self, present: Set[int]) -> None:
        """Close the links to processes that are not present."""
        for number in range(len(self._system.processes)):
            if number not in present and number in self._links:
                self._links.pop(number).close()

    def write(self) -> None:
        """Write what the links held back while the process stood still."""
        for link in self._links.values():
            link.write()

    @property
    def is_full(self) -> bool:
        """Whether a link has no room: then the process begins nothing."""
        return any(link.is_full for link in self._links.values())

    @property
    def is_overfull(self) -> bool:
        """Whether a link has not even room for answers: then the process receives nothing."""
        return any(link.is_overfull for link in self._links.values())

    @property
    def waiting(self) -> int:
        """The number of messages that no receiver has confirmed."""
        return sum(link.waiting for link in self._links.values())
