"""The control messages of services: they arrive in the order of their channel, and a part only when it is written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cluster.control.service_actions import Disk, Job, raising
from cluster.model import Problem
from cluster.node.links import Address, Link
from cluster.node.receiver import Receiver
from cluster.node.site import Site
from sim.core.faults import fence_off
from sim.core.model import Channel, Message
from sim.services.uploads import Part

_QUEUE = 10_000  # control messages of a service that wait for a node


class ServiceMessages:
    """Sends the control messages of services, and receives theirs. `receiver` takes the connections of nodes."""

    def __init__(
        self, site: Site, token: str, incarnation: str, disk: Disk, put: Callable[[Job], None],
        refuse: Callable[[Message], None],
    ) -> None:  # fmt: skip
        """`put` lets a job wait. `refuse` tells a node that its part could not be written."""
        self._site, self._system = site, site.system
        count = len(self._system.processes)
        self.receiver = Receiver(self._system, range(count, len(self._system.names)), incarnation, self._take)
        self._token, self._incarnation, self._disk, self._put, self._refuse = token, incarnation, disk, put, refuse
        self._preparing: dict[Channel, asyncio.Task[None]] = {}  # by channel, the last part that is being written
        self._links: dict[tuple[int, int], Link] = {}
        self._addresses: dict[int, Address] = {}
        self._busy_until: dict[Channel, float] = {}
        self._delays = self._system.scenario.delays_of_a_run()

    def connect(self, addresses: dict[int, Address]) -> None:
        """Connect to nodes, whose addresses are given by number."""
        self._addresses = addresses
        for (_, target), link in self._links.items():
            if target in addresses:
                link.connect(addresses[target])

    def close(self) -> None:
        """End all connections."""
        for link in self._links.values():
            link.close()
        for task in self._preparing.values():
            task.cancel()

    def hand_over(self, message: Message, clock: int) -> None:
        """Send a control message of a service. `clock` is that of its action."""
        source, target = message.channel.source, message.channel.target
        if target in self._site.processes:  # from one service to another
            self._take(message, clock)
            return
        link = self._links.get((source, target))
        if link is None:
            link = Link(self._system, source, target, self._token, self._incarnation, _QUEUE, lambda: None)
            self._links[source, target] = link
            if target in self._addresses:
                link.connect(self._addresses[target])
        link.send(message, clock)

    def _take(self, message: Message, clock: int) -> None:
        """Take a control message that has come."""
        loop = asyncio.get_running_loop()
        actor, channel = message.channel.target, message.channel
        action = ["control", channel.name, message.id, message.epoch]
        job = Job(actor, action, lambda: self._hear(message), clock)
        delay = self._system.seconds(self._delays.of(message))
        due = max(loop.time() + delay, self._busy_until.get(channel, 0.0) + 1e-6)
        if isinstance(message.stamp, Part) or channel in self._preparing:
            before = self._preparing.get(channel)
            self._preparing[channel] = loop.create_task(self._prepare(job, message, before, due))
        elif delay <= 0 and due <= loop.time() + 1e-5:
            self._put(job)
        else:
            self._busy_until[channel] = due
            loop.call_at(due, self._put, job)

    async def _prepare(self, job: Job, message: Message, before: asyncio.Task[None] | None, due: float) -> None:
        """Write the part that a message brings; then it is its turn, after those that came `before` on its channel."""
        try:
            if isinstance(message.stamp, Part) and message.epoch == self._site.processes[job.actor].epoch:
                await self._disk.write_part(message.snapshot or "", message.channel.source_name, message.stamp)
        except Problem:
            job = job._replace(action=["outside", "refuse"], act=lambda: self._refuse(message))
        except Exception as problem:
            job = job._replace(act=raising(problem))
        if before is not None:
            await asyncio.wait([before])
        await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
        self._put(job)
        if self._preparing.get(message.channel) is asyncio.current_task():
            del self._preparing[message.channel]

    def _hear(self, message: Message) -> None:
        service = self._site.processes[message.channel.target]
        if message.epoch < service.epoch:
            fence_off(message, self._site.rules.emit)
        else:
            self._site.rules.receive_control(service, message)
