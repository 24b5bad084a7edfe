"""The process of the system that a node carries out, with its site, its timers and its links to other nodes.

A node that stood still notices it before it does anything, and before it writes to a socket. Then the process is
thawed, as in the simulation: the rule book says what it asks, and what it may do until it has an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cluster.node.clock import RunningClock
from cluster.node.event_log import FREEZE, THAW, EventLog, last_entry
from cluster.node.outgoing import Outgoing
from cluster.node.site import Done, Site, Wake
from cluster.node.system import System
from cluster.node.timers import Timers
from cluster.stderr import warn
from sim.core.model import APP, FROZEN, THAWED, Message, Process, Timer
from sim.core.workload import Refused


class LocalProcess:
    """The process number `number`. Its actions happen one at a time.

    `is_working` says whether the process may begin something: it does from its start or a restore until the controller
    drains the cluster. `is_reborn` says whether the node started again and has not been restored yet.
    """

    def __init__(self, system: System, number: int, task: dict[str, Any], log: Path) -> None:
        """`task` is the first line from the controller, and `log` is the path of the event log."""
        self.system, self.number, self.name = system, number, system.names[number]
        last = last_entry(log)
        self.site = Site(system, range(number, number + 1), EventLog(log), task["began"])
        self.process.epoch = self.process.incarnation = task["epoch"]
        self.is_reborn = task["waits"]
        self.process.alive = not task["waits"]  # a node that starts again waits until it is restored
        self.process.index = task["index"]
        if last is not None:
            self.site.clock, self.site.messages, self.process.index = last.clock, last.sent, last.index
        self.is_working = False
        self.counts = {"sent": 0, "received": 0, "actions": 0}
        self.on_acted: Callable[[Done], None] = lambda done: None  # called after each action
        self.on_room: Callable[[], None] = lambda: None  # called when a link that was full has room again
        self.running_clock = RunningClock(system.longest_standstill)
        self.outgoing = Outgoing(system, number, task, lambda: self.on_room(), self._may_write)
        self.timers = Timers(system, self.notice_standstill, self._fire)
        self.site.hand_over, self.site.set_timer = self._hand_over, self.timers.set

    @property
    def process(self) -> Process:
        """The process as it is now."""
        return self.site.processes[self.number]

    @property
    def may_begin(self) -> bool:
        """Whether the process may begin something: not while it stands still or is paused, nor while a link is full."""
        process = self.process
        return (
            self.is_working
            and process.alive
            and not process.stands
            and not process.paused
            and not self.outgoing.is_full
        )

    @property
    def may_initiate(self) -> bool:
        """Whether the process may initiate a snapshot. It may while it stands still."""
        return self.is_working and self.process.alive

    def act(self, action: list[Any], act: Callable[[], None], seen: int = 0) -> bool:
        """Carry out one action, log it and let other nodes know. Returns whether the workload allowed it.

        `seen` is the Lamport clock of the message or order that causes the action (0: none).
        """
        try:
            done = self.site.perform(self.number, action, act, seen)
        except Refused as reason:
            warn(f"{self.name}: {reason}")
            return False
        stood = done.before[self.number].stands
        self.site.commit(done)
        if stood and not self.process.stands:
            self.outgoing.write()
        self.counts["actions"] += 1
        self.on_acted(done)
        return True

    def emit_row(self, kind: str) -> None:
        """Emit a row of the kind `kind` that names this process and nothing else."""
        self.site.rules.emit((self.name, None, kind, None, None, None, None, None, None))

    def notice_standstill(self) -> bool:
        """Thaw the process if this node has stood still until now. Returns whether it has.

        Call it before anything else is done. The timers stood still as well: they go off later, by as long.
        """
        gap = self.running_clock.look()
        if not gap:
            return False
        self.timers.postpone(gap)
        if self.is_working and self.process.alive:
            self.act([FREEZE], lambda: self.emit_row(FROZEN))
            self.act([THAW], self._thaw)
        return True

    def _thaw(self) -> None:
        self.emit_row(THAWED)
        self.site.rules.thaw(self.process)

    def _may_write(self) -> bool:
        """Whether anything may be sent to another node."""
        self.notice_standstill()
        return not self.process.stands

    def _hand_over(self, message: Message, clock: int) -> None:
        self.outgoing.send(message, clock)
        if message.kind == APP:
            self.counts["sent"] += 1

    def _fire(self, wake: Wake) -> None:
        timer = Timer(wake.process, wake.name, wake.after or 0.0, wake.snapshot, 0)
        self.act(["timer", wake.name], lambda: self.site.rules.fire(self.process, timer))
