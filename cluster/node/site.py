"""The site of actions: it carries out the rules on its processes or services, one action at a time.

The three primitives of sim/core/rules.py are a socket, an event log and a timer here. The messages, rows and timers of
an action are collected first. `commit` writes the log, then hands the messages over, then sets the timers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from cluster.node.event_log import Entry, EventLog
from cluster.node.system import System
from sim.core.model import APP, Channel, Message, Process
from sim.core.rules import Row, Rules, count_message


class Wake(NamedTuple):
    """A timer that an action sets, or (`after` None) cancels."""

    process: int
    name: str
    after: float | None
    snapshot: str | None


class Done(NamedTuple):
    """The effects of an action, before any other node knows of it."""

    actor: int
    action: list[Any]
    clock: int
    rows: list[Row]
    sent: list[Message]
    wakes: list[Wake]
    before: dict[int, Process]
    sent_before: int


class Site:
    """Some processes or services that share a log and a clock. It is the environment of their rules (rules.World)."""

    def __init__(self, system: System, numbers: range, log: EventLog, began: float) -> None:
        """`began` is the start of the cluster, in seconds since 1970."""
        engine = system.engine
        self.system, self.log, self.began = system, log, began
        services = dict(enumerate(engine.services, start=len(engine.processes)))
        self.rules = Rules(engine.workload, engine.algorithm, services, self)
        self.rules.records_epochs, self.rules.counts_messages = engine.has_epochs or engine.has_logs, engine.has_logs
        names, count = engine.nodes, len(engine.processes)
        self.processes = {
            number: Process(names[number], number, engine.workload.initial(names[number]) if number < count else None)
            for number in numbers
        }
        self.clock = 0
        self.messages = 0  # sent so far by this site
        self.hand_over: Callable[[Message, int], None] = lambda message, clock: None
        self.set_timer: Callable[[Wake], None] = lambda wake: None
        self._rows: list[Row] = []
        self._sent: list[Message] = []
        self._wakes: list[Wake] = []

    @property
    def now(self) -> float:
        """The time since the cluster began, in time units."""
        return (time.time() - self.began) / self.system.unit

    def perform(self, actor: int, action: list[Any], act: Callable[[], None], seen: int = 0) -> Done:
        """Carry out one action, without an effect outside. `seen` is the clock of the message that it receives.

        An action that raises changes nothing.
        """
        self._rows, self._sent, self._wakes = [], [], []
        self.rules.emit = self._rows.append
        before = {number: process.copy() for number, process in self.processes.items()}
        messages = self.messages
        try:
            act()
        except BaseException:
            self.rules.drop_effects()
            self.processes, self.messages = before, messages
            raise
        self.clock = max(self.clock, seen) + 1
        return Done(actor, action, self.clock, self._rows, self._sent, self._wakes, before, messages)

    def undo(self, done: Done) -> None:
        """Undo an action that is not committed."""
        self.processes, self.messages = done.before, done.sent_before

    def commit(self, done: Done) -> None:
        """Write the action to the log, hand over what it sent, and set its timers."""
        process = self.processes.get(done.actor)
        index = process.index if process else 0
        self.log.append(Entry(done.clock, self.now, done.actor, done.action, done.rows, index, self.messages))
        for message in done.sent:
            self.hand_over(message, done.clock)
        for wake in done.wakes:
            self.set_timer(wake)

    # ------------------------------------------------------------------ the environment of a process (rules.World)

    def transmit(
        self, channel: Channel, kind: str, body: Any, snapshot: str | None = None, stamp: Any = None,
        sent_index: int | None = None, label: str | None = None, receive_label: str | None = None,
    ) -> int:  # fmt: skip
        """Collect a message. Its id is unique in the cluster."""
        engine, source = self.system.engine, self.processes[channel.source]
        number = self.messages * len(engine.nodes) + channel.source
        self.messages += 1
        message = Message(number, channel, kind, body, snapshot, stamp, sent_index, label, receive_label)
        message.epoch = source.epoch
        if engine.has_logs and kind == APP:
            count_message(source, channel)
        self._sent.append(message)
        return number

    def channel_to(self, source: int, target: str) -> Channel:
        """The channel from process number `source` to the process named `target`."""
        return self.system.engine.channel_to(source, target)

    def control_channel(self, source: int, target: str) -> Channel:
        """The channel for control messages from one process or service to another."""
        return self.system.engine.control_channel(source, target)

    def schedule(self, process: Process, name: str, after: float | None, snapshot: str | None) -> None:
        """Collect a timer."""
        self._wakes.append(Wake(process.number, name, after, snapshot))
