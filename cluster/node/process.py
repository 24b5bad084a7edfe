"""A node: one process of the system in a process of the operating system. The controller starts it.

Its standard input is a pipe that the controller holds. The first line of the pipe tells the node its task. At the end
of the pipe the node ends, however the controller has ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from cluster.node.agenda import Agenda
from cluster.node.event_log import severed_in
from cluster.node.inbox import Inbox
from cluster.node.local_process import LocalProcess
from cluster.node.orders import Orders
from cluster.node.site import Done
from cluster.node.system import System
from cluster.stderr import warn
from cluster.wire.frames import CONTROLLER, DO, HELLO, SAY, BadFrame, Connection, Door
from sim.core.errors import InputError
from sim.document.files import read_toml

TRY_AGAIN = 0.1  # seconds after which a node connects to the controller again, if it was refused
STATUS_GAP = 0.25  # seconds between two reports to the controller


class Node:
    """Runs the process number `number`: connects it with other nodes and the controller."""

    def __init__(self, system: System, number: int, task: dict[str, Any], folder: Path) -> None:
        """`task` is the first line from the controller, and `folder` is that of the event logs."""
        self._system, self._token, self._incarnation = system, task["token"], task["incarnation"]
        log = folder / f"{number}.log"
        self._local = LocalProcess(system, number, task, log)
        self._agenda = Agenda(self._local, log, lambda: self._inbox.pump_soon())
        severed = severed_in(log)
        channels = frozenset(own for own in system.engine.channels if own.name in severed)
        self._inbox = Inbox(self._local, self._agenda, self._incarnation, channels, self._is_over)
        self._local.on_acted, self._local.on_room = self._on_acted, self._inbox.pump_soon
        self._orders = Orders(self._local, self._agenda, self._inbox, self.say, self._tally)
        self._door = Door(self._token)
        self._control: Connection | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self, controller: tuple[str, int]) -> None:
        """Listen, report to the controller, and carry out its orders until it ends."""
        listener = await self._system.transport.listen(self._token, self._accept, self._on_call)
        control, frame = await self._introduced(controller, {"port": listener.port, "pid": os.getpid()})
        for work in (self._report(), self._local.running_clock.keep_looking(self._local.notice_standstill)):
            self._tasks.append(asyncio.get_running_loop().create_task(work))
        while True:
            if frame[0] != DO:
                raise BadFrame(f"the controller says {frame[0]!r}")
            self._local.notice_standstill()
            self._orders.obey(frame[1], frame[2])
            frame = await control.read()

    async def _introduced(self, controller: tuple[str, int], about: dict[str, int]) -> tuple[Connection, list[Any]]:
        """The connection to the controller, and its first order.

        If strangers fill its port, a connection may be refused or cut off: the node tries until its pipe ends.
        """
        transport = self._system.transport
        hello = transport.pack([HELLO, self._token, self._local.number, CONTROLLER, self._incarnation, about])
        while True:
            with suppress(OSError):
                self._control = control = await transport.connect(*controller, self._token)
                control.write([hello])
                try:
                    return control, await control.read()
                except OSError:
                    control.close()
            await asyncio.sleep(TRY_AGAIN)

    async def _accept(self, connection: Connection) -> None:
        """Take what another node, or a service of the controller, sends to this one."""
        await self._inbox.receiver.accept(await self._door.hello(connection), connection)

    def _is_over(self, number: int, incarnation: str) -> bool:
        """Whether an incarnation of another node is not the last one that the controller has announced."""
        addresses = self._local.outgoing.addresses
        return number not in addresses or addresses[number].incarnation != incarnation

    def _on_call(self, snapshot: str) -> bool:
        """Start a snapshot that a caller asks for. Returns whether this node did not know of it."""
        local = self._local
        local.notice_standstill()
        process = local.process
        if not local.may_initiate or snapshot in process.snapshots or snapshot in process.aborted:
            return False
        return local.act(["initiate", snapshot], lambda: local.site.rules.initiate(local.process, snapshot))

    def _on_acted(self, done: Done) -> None:
        self._agenda.notice(done.rows)
        self._agenda.plan_turn()
        self._inbox.pump_soon()

    # ------------------------------------------------------------------ reports

    def say(self, what: str, body: Any) -> None:
        """Send the controller a report of the kind `what`."""
        if self._control is not None:
            self._control.write([self._system.transport.pack([SAY, what, body])])

    def _tally(self) -> dict[str, int]:
        """Counts of messages and actions, and of what is in transit.

        `waiting` messages wait here for delivery. No other node has confirmed `unconfirmed` messages of this one.
        """
        in_transit = {"waiting": self._inbox.waiting, "unconfirmed": self._local.outgoing.waiting}
        return {**self._local.counts, **in_transit}

    async def _report(self) -> None:
        received = self._inbox.receiver.latencies
        while True:
            process = self._local.process
            latencies = sorted(received)
            quantiles = [latencies[int(len(latencies) * part)] for part in (0.5, 0.99)] if latencies else []
            received.clear()
            report = {
                **self._tally(), "clock": self._local.site.clock, "index": process.index, "epoch": process.epoch,
                "latency": quantiles,
            }  # fmt: skip
            self.say("report", report)
            await asyncio.sleep(STATUS_GAP)


def _end_with_controller() -> None:
    """Wait until the controller's end of the pipe is closed; then this process ends at once."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)


def _end_on_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """End the node when a rule raises: it must not go on without what the rule was about.

    An error of one connection ends that connection only.
    """
    if isinstance(problem := context.get("exception"), InputError):
        warn(problem)
    else:
        with suppress(OSError):
            loop.default_exception_handler(context)
    if "transport" not in context:
        os._exit(1)


async def _main() -> None:
    line = sys.stdin.buffer.readline()
    if not line:
        return  # the controller has ended meanwhile
    task = json.loads(line)
    scenario = read_toml(task["scenario"], task["name"])
    system = System(scenario, task["unit"], task["transport"])
    asyncio.get_running_loop().set_exception_handler(_end_on_error)
    threading.Thread(target=_end_with_controller, daemon=True).start()
    node = Node(system, task["number"], task, Path(task["folder"]))
    with suppress(OSError, asyncio.CancelledError):
        await node.run((task["host"], task["port"]))
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(_main())
