"""The delivery of messages at a node: from the links, through a lane for each channel, to the rule book."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from cluster.node.agenda import Agenda
from cluster.node.lanes import Arrival, Lane
from cluster.node.link_conditions import LinkConditions
from cluster.node.local_process import LocalProcess
from cluster.node.receiver import Receiver
from sim.core.faults import fence_off
from sim.core.model import APP, CONTROL, MARKER, Channel, Message

ROUNDS = 16  # of deliveries and turns, until other tasks have their turn in the event loop


class Inbox:
    """Delivers what has come, and lets the agenda begin what is due, a few rounds at a time.

    Nothing is delivered until `has_begun` is set, by a start or a restore. `since` is the epoch in which this
    incarnation of the node began: it takes no message of an earlier epoch.
    """

    def __init__(
        self, local: LocalProcess, agenda: Agenda, incarnation: str, severed: frozenset[Channel],
        is_over: Callable[[int, str], bool],
    ) -> None:  # fmt: skip
        """`incarnation` is that of this node, `severed` are the channels that its log leaves severed, and `is_over`
        is that of Receiver."""
        self._local, self._agenda = local, agenda
        self.receiver = Receiver(local.system, range(local.number, local.number + 1), incarnation, self._take)
        self.receiver.is_lost, self.receiver.is_over = self._is_lost, is_over
        self.conditions = LinkConditions()
        self.conditions.severed = severed  # until the controller says otherwise
        self.has_begun, self.since = False, 0
        self._lanes: dict[int, Lane] = {}
        self._random = random.Random(f"{incarnation} {local.name}")
        self._delays = local.system.scenario.delays_of_a_run()
        self._pumping: asyncio.Handle | None = None
        self._wake_at: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> int:
        """The number of messages that wait here for delivery."""
        return sum(len(lane.waiting) for lane in self._lanes.values())

    def put_back(self, message: Message) -> None:
        """Put a message of a snapshot back into its channel."""
        self._lane(message.channel).put_back(message)

    # ------------------------------------------------------------------ what comes

    def _is_lost(self, channel: Channel) -> bool:
        share = self.conditions.shares.get(channel.number)
        return share is not None and self._random.random() < share

    def _take(self, message: Message, clock: int) -> None:
        lane = self._lane(message.channel)
        lane.add(message, asyncio.get_running_loop().time(), self._delay(message), clock)
        self.pump_soon()

    def _lane(self, channel: Channel) -> Lane:
        lane = self._lanes.get(channel.number)
        if lane is None:
            lane = self._lanes[channel.number] = Lane(self._local.system, channel)
        return lane

    def _delay(self, message: Message) -> float:
        """The seconds that a message has to wait: as a user has injected, else as the scenario says."""
        injected = self.conditions.delays.get(message.channel.number)
        if injected is not None:
            return self._random.uniform(*injected)
        return self._local.system.seconds(self._delays.of(message))

    # ------------------------------------------------------------------ rounds

    def pump_soon(self) -> None:
        """Deliver and begin what may be, in the next turn of the event loop."""
        if self._pumping is None:
            self._pumping = asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        self._pumping = None
        if not self.has_begun:
            return
        self._local.notice_standstill()
        if self._wake_at is not None:
            self._wake_at.cancel()
            self._wake_at = None
        soonest: float | None = None
        is_more = True
        for _ in range(ROUNDS):
            is_more, soonest = self._round()
            if not is_more:
                break
        self.receiver.acknowledge()
        if is_more:
            self.pump_soon()
        elif soonest is not None and soonest < asyncio.get_running_loop().time() + 1e6:
            self._wake_at = asyncio.get_running_loop().call_at(soonest, self.pump_soon)

    def _round(self) -> tuple[bool, float | None]:
        """Deliver one message of each lane, and begin what is due.

        Returns whether anything was done, and when a lane has more by itself (None: none has).
        """
        now = asyncio.get_running_loop().time()
        soonest: float | None = None
        actions = self._local.counts["actions"]
        is_more = False
        for lane in [*self._lanes.values()]:
            process = self._local.process
            waits = process.stands and not self._local.system.is_control(lane.channel)
            if waits or lane.channel in self.conditions.severed or lane.channel in process.blocked:
                continue
            found = lane.take(process, now, is_stopped=self._local.outgoing.is_overfull)
            if isinstance(found, float):
                soonest = found if soonest is None else min(soonest, found)
            elif found is not None:
                is_more = True
                self._deliver(*found)
        self._agenda.begin_what_is_due()
        return is_more or self._local.counts["actions"] != actions, soonest

    def _deliver(self, arrival: Arrival, overtaken: list[Message]) -> None:
        message = arrival.message
        process, rules = self._local.process, self._local.site.rules
        if message.kind == APP and not message.is_again:
            self.receiver.taken(message)
        if not process.alive and process.epoch == message.epoch:
            return  # the process has left
        if message.epoch < self.since:
            return  # an earlier incarnation was to have it: lost, as is what never came
        action = ["control" if message.kind == CONTROL else "deliver", message.channel.name, message.id, message.epoch]
        if message.is_again:
            action.append("again")

        def act() -> None:
            own = self._local.process
            if message.epoch < own.epoch:
                fence_off(message, rules.emit)
            elif message.kind == CONTROL:
                rules.receive_control(own, message)
            elif message.kind == MARKER:
                rules.receive_marker(own, message, overtaken)
            else:
                rules.receive(own, message)

        self._local.act(action, act, arrival.clock)
        if message.kind == APP:
            self._local.counts["received"] += 1
