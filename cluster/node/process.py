"""A node: one process of the system in a process of the operating system; the controller starts it.

Its standard input is a pipe that the controller holds. The first line says what to do. At the end of the pipe the node
ends, too, however the controller has ended.

A node that has stood still notices it before it does anything, and before it writes to a socket. Then it is thawed, as
a process of the simulation is: the rule book says what it asks, and what it may do until it is answered.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from cluster.node.clock import RunningClock
from cluster.node.event_log import FREEZE, THAW, EventLog, last_entry, read_log, severed_in
from cluster.node.lanes import Lane
from cluster.node.link_conditions import LinkConditions
from cluster.node.links import Address, Link
from cluster.node.receiver import Receiver
from cluster.node.site import Site, Wake
from cluster.node.system import System
from cluster.stderr import warn
from cluster.wire.frames import CONTROLLER, DO, HELLO, SAY, BadFrame, Connection, Door
from sim.core.errors import InputError
from sim.core.faults import fence_off
from sim.core.model import (
    APP,
    APPLICATION_KINDS,
    CONTROL,
    DOWN,
    FROZEN,
    JOIN,
    LEAVE,
    MARKER,
    THAWED,
    UP,
    AgendaItem,
    Channel,
    Initiate,
    Internal,
    Message,
    Process,
    Restorable,
    Send,
    Timer,
    label_of,
)
from sim.core.workload import Refused
from sim.document.files import read_toml

TRY_AGAIN = 0.1  # seconds after which a node connects to the controller again, if it was refused
STATUS_GAP = 0.25  # seconds between two reports to the controller
ROUNDS = 16  # of deliveries and turns, until others have their turn in the event loop
SHORTEST = 0.0005  # seconds: the event loop waits for no shorter time
_NOTHING: tuple[Any, ...] = ()


class Node:
    """Runs the process number `number`."""

    def __init__(self, system: System, number: int, told: dict[str, Any], folder: Path) -> None:
        """`told` is what the controller says at the start."""
        self.system, self.number = system, number
        self.name = system.names[number]
        self._log = folder / f"{number}.log"
        last = last_entry(self._log)
        self.site = Site(system, range(number, number + 1), EventLog(self._log), told["began"])
        self.token, self.incarnation = told["token"], told["incarnation"]
        self._queue = told["queue"]
        self.process.epoch = self.process.incarnation = told["epoch"]
        self._is_reborn = told["waits"]
        self._since = 0  # the epoch in which this incarnation of the node began: it takes nothing that is older
        self.process.alive = not told["waits"]  # a node that starts again waits until it is restored
        self.process.index = told["index"]
        if last is not None:
            self.site.clock, self.site.messages, self.process.index = last.clock, last.sent, last.index
        self.site.hand_over, self.site.set_timer = self._hand_over, self._set_timer
        self._links: dict[int, Link] = {}
        self._addresses: dict[int, Address] = {}
        self._running_clock = RunningClock(system.longest_standstill)
        self._door = Door(told["token"])
        self._receiver = Receiver(system, range(number, number + 1), self.incarnation, self._take)
        self._receiver.is_lost, self._receiver.is_over = self._is_lost, self._is_over
        self._lanes: dict[int, Lane] = {}
        self._conditions = LinkConditions()
        severed = severed_in(self._log)  # as its log has it, until the controller says otherwise
        self._conditions.severed = frozenset(own for own in system.engine.channels if own.name in severed)
        self._random = random.Random(f"{told['incarnation']} {self.name}")
        self._delays = system.scenario.delays_of_a_run()
        self._timers: dict[str, tuple[asyncio.TimerHandle, Wake]] = {}
        self._turn: asyncio.TimerHandle | None = None
        self._turn_is_due = False
        self._timed = self._own_items()  # script lines and initiations at a time, the next one first
        self._items: list[AgendaItem] = []  # those that wait for an event that has happened, and are due
        self._pumping: asyncio.Handle | None = None
        self._wake_at: asyncio.TimerHandle | None = None
        self._has_begun = False  # by a start or a restore: nothing is delivered before
        self._is_working = False  # between start (or restore) and the order to begin nothing more
        self._item_timer: asyncio.TimerHandle | None = None
        self._counts = {"sent": 0, "received": 0, "actions": 0}
        self._control: Connection | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def process(self) -> Process:
        """The process as it is now."""
        return self.site.processes[self.number]

    # ------------------------------------------------------------------ connections

    async def run(self, controller: tuple[str, int]) -> None:
        """Listen, report to the controller, and do what it says until it ends."""
        listener = await self.system.transport.listen(self.token, self._accept, self._on_call)
        control, frame = await self._introduced(controller, {"port": listener.port, "pid": os.getpid()})
        for work in (self._report(), self._running_clock.keep_looking(self._wakes)):
            self._tasks.append(asyncio.get_running_loop().create_task(work))
        while True:
            if frame[0] != DO:
                raise BadFrame(f"the controller says {frame[0]!r}")
            self._obey(frame[1], frame[2])
            frame = await control.read()

    async def _introduced(self, controller: tuple[str, int], about: dict[str, int]) -> tuple[Connection, list[Any]]:
        """The connection to the controller, and its first order.

        Where strangers fill its port, a connection may be refused or cut off: the node tries until its pipe ends.
        """
        transport = self.system.transport
        hello = transport.pack([HELLO, self.token, self.number, CONTROLLER, self.incarnation, about])
        while True:
            with suppress(OSError):
                self._control = control = await transport.connect(*controller, self.token)
                control.write([hello])
                try:
                    return control, await control.read()
                except OSError:
                    control.close()
            await asyncio.sleep(TRY_AGAIN)

    async def _accept(self, connection: Connection) -> None:
        """Another node, or the controller's services, have something for this one."""
        await self._receiver.accept(await self._door.hello(connection), connection)

    def _is_over(self, number: int, incarnation: str) -> bool:
        """Whether an incarnation of another node is not the one that the controller has told of last."""
        return number not in self._addresses or self._addresses[number].incarnation != incarnation

    def _on_call(self, snapshot: str) -> bool:
        """Somebody calls this node to start a snapshot, or tells it of one."""
        self._wakes()
        process = self.process
        if not (self._is_working and process.alive) or snapshot in process.snapshots or snapshot in process.aborted:
            return False
        return self._act(["initiate", snapshot], lambda: self.site.rules.initiate(self.process, snapshot))

    def _is_lost(self, channel: Channel) -> bool:
        share = self._conditions.shares.get(channel.number)
        return share is not None and self._random.random() < share

    def _take(self, message: Message, clock: int) -> None:
        """A message has come."""
        lane = self._lane(message.channel)
        lane.add(message, asyncio.get_running_loop().time(), self._delay(message), clock)
        self._pump_soon()

    def _lane(self, channel: Channel) -> Lane:
        lane = self._lanes.get(channel.number)
        if lane is None:
            lane = self._lanes[channel.number] = Lane(self.system, channel)
        return lane

    def _delay(self, message: Message) -> float:
        """Seconds that a message has to wait: what somebody has injected, else what the scenario says."""
        injected = self._conditions.delays.get(message.channel.number)
        if injected is not None:
            return self._random.uniform(*injected)
        return self.system.seconds(self._delays.of(message))

    def _hand_over(self, message: Message, clock: int) -> None:
        self._link(message.channel.target).send(message, clock)
        if message.kind == APP:
            self._counts["sent"] += 1

    def _link(self, target: int) -> Link:
        link = self._links.get(target)
        if link is None:
            link = Link(self.system, self.number, target, self.token, self.incarnation, self._queue, self._pump_soon)
            if target < len(self.system.processes):
                link.may_write = self._may_write
            self._links[target] = link
            if target in self._addresses:
                link.connect(self._addresses[target])
        return link

    # ------------------------------------------------------------------ what the controller says

    def _obey(self, what: str, told: Any) -> None:
        self._wakes()
        order = getattr(self, f"_do_{what}", None)
        if order is None:
            raise BadFrame(f"there is no order {what!r}")
        order(told)

    def _do_peers(self, told: Any) -> None:
        """Where the others listen."""
        for number, address in told.items():
            self._addresses[number] = own = Address(*address)
            if number in self._links:
                self._links[number].connect(own)

    def _do_members(self, told: Any) -> None:
        """Which processes are present: the channels from and to the others are not there."""
        process, present = self.process, set(told)
        channels = self.system.engine.channels
        process.outgoing = tuple(own for own in channels if own.source == self.number and own.target in present)
        process.incoming = tuple(own for own in channels if own.target == self.number and own.source in present)
        for number in range(len(self.system.processes)):
            if number not in present and number in self._links:
                self._links.pop(number).close()
        self.say("knows", {})

    def _do_start(self, told: Any) -> None:
        """Begin."""
        self._has_begun = self._is_working = True
        self.site.began = told["began"]
        self.site.clock = max(self.site.clock, told["clock"])
        if told["joins"]:
            self._act([JOIN], self._join)
        else:
            for name, after in self.system.engine.algorithm.first_timers().items():
                self._set_timer(Wake(self.number, name, after, None))
        self._plan_items()
        self._plan_turn()
        self._pump_soon()

    def _join(self) -> None:
        process = self.process
        self.site.rules.emit((process.name, None, JOIN, None, None, None, None, process.state, None))
        self.site.rules.begin_again(process)

    def _do_restore(self, told: Any) -> None:
        """Go back to a part of a snapshot."""
        goal = Restorable(told["snapshot"], told["parts"], {}, frozenset(told["valid"]), tuple(told["restores"]))
        for handle, _ in self._timers.values():
            handle.cancel()
        self._timers.clear()
        if self._turn is not None:
            self._turn.cancel()
        self._turn, self._turn_is_due = None, False
        self._has_begun = self._is_working = True

        def restore() -> None:
            rules, process = self.site.rules, self.process
            rules.restore(process, goal, told["epoch"])
            for message in told["contents"]:
                self._lane(message.channel).put_back(message)
                rules.put_back(process, goal.snapshot, message)

        if self._is_reborn:
            self._is_reborn, self._since = False, told["epoch"]
        self._act(["restore", told["epoch"]], restore, told["clock"])
        self._plan_items()
        self.say("restored", {"epoch": told["epoch"], "clock": self.site.clock})

    def _do_initiate(self, told: Any) -> None:
        """Somebody outside asks this process to start a snapshot."""
        snapshot = told["snapshot"]
        if self.process.alive:
            self._act(told["action"], lambda: self.site.rules.initiate(self.process, snapshot), told["clock"])

    def _do_abort(self, told: Any) -> None:
        """Somebody outside has given a snapshot up that nobody coordinates."""
        snapshot, rules = told["snapshot"], self.site.rules
        if self.process.alive:
            ask = lambda: rules.from_outside(self.process, lambda out: out.abort(snapshot))  # noqa: E731
            self._act(["outside", "abort"], ask, told["clock"])

    def _do_sever(self, told: Any) -> None:
        """Some channels to this process deliver nothing any more."""
        self._change_conditions(told, DOWN, lambda severed, channels: severed | channels)

    def _do_mend(self, told: Any) -> None:
        """They deliver again."""
        self._change_conditions(told, UP, lambda severed, channels: severed - channels)

    def _change_conditions(self, told: Any, kind: str, change: Any) -> None:
        for number in told["channels"]:
            channel = self.system.channel_of[number]
            severed = change(self._conditions.severed, frozenset([channel]))
            if severed == self._conditions.severed:
                continue
            self._conditions.severed = severed
            row = (channel.source_name, None, kind, channel.name, None, None, None, None, None)
            self._act([kind, channel.name], lambda row=row: self.site.rules.emit(row))
            if kind == DOWN:
                self._receiver.drop(channel.source)

    def _do_delay(self, told: Any) -> None:
        """What comes on some channels is delivered so many seconds later."""
        for number in told["channels"]:
            self._conditions.delays[number] = (told["low"], told["high"])

    def _do_lose(self, told: Any) -> None:
        """A share of the frames on some channels is lost."""
        for number in told["channels"]:
            self._conditions.shares[number] = told["share"]

    def _do_drain(self, told: Any) -> None:
        """Begin nothing more."""
        self._is_working = False

    def _do_report(self, told: Any) -> None:
        """Say at once what is on its way."""
        self.say("reported", {**self._counts, **self._on_the_way})

    def _do_leave(self, told: Any) -> None:
        """This process is no longer part of the system."""
        process = self.process
        self._is_working = False

        def leave() -> None:
            self.site.rules.leave(process)
            self._emit_row(LEAVE)

        self._act([LEAVE], leave)
        process.alive, process.present = False, False
        for handle, _ in self._timers.values():
            handle.cancel()
        self._timers.clear()
        self.say("left", {})

    def _do_stop(self, told: Any) -> None:
        """End in good order."""
        raise asyncio.CancelledError

    def say(self, what: str, body: Any) -> None:
        """Tell the controller something."""
        if self._control is not None:
            self._control.write([self.system.transport.pack([SAY, what, body])])

    @property
    def _on_the_way(self) -> dict[str, int]:
        """Messages that wait here for delivery, and those of this node that nobody else has for certain."""
        return {
            "waiting": sum(len(lane.waiting) for lane in self._lanes.values()),
            "unconfirmed": sum(link.waiting for link in self._links.values()),
        }

    async def _report(self) -> None:
        while True:
            process = self.process
            latencies = sorted(self._receiver.latencies)
            quantiles = [latencies[int(len(latencies) * part)] for part in (0.5, 0.99)] if latencies else []
            report = {
                **self._counts,
                **self._on_the_way,
                "clock": self.site.clock,
                "index": process.index,
                "epoch": process.epoch,
                "latency": quantiles,
            }
            self._receiver.latencies.clear()
            self.say("report", report)
            await asyncio.sleep(STATUS_GAP)

    # ------------------------------------------------------------------ standing still

    def _wakes(self) -> bool:
        """Before anything else is done: if this node has stood still until now, its process is thawed.

        Its timers have stood still as well: they go off later, by as long. Returns whether it has.
        """
        gap = self._running_clock.look()
        if not gap:
            return False
        loop = asyncio.get_running_loop()
        for name, (handle, wake) in self._timers.items():
            handle.cancel()
            self._timers[name] = loop.call_at(handle.when() + gap, self._fire, wake), wake
        if self._is_working and self.process.alive:
            self._act([FREEZE], lambda: self._emit_row(FROZEN))
            self._act([THAW], self._thaw)
        return True

    def _thaw(self) -> None:
        self._emit_row(THAWED)
        self.site.rules.thaw(self.process)

    def _may_write(self) -> bool:
        """Whether anything may be sent to another node."""
        self._wakes()
        return not self.process.stands

    def _emit_row(self, kind: str) -> None:
        """A row of what happens to the process of this node."""
        self.site.rules.emit((self.name, None, kind, None, None, None, None, None, None))

    # ------------------------------------------------------------------ actions

    def _act(self, action: list[Any], act: Any, seen: int = 0) -> bool:
        """Carry out one action and let the others know. Returns whether the workload allowed it."""
        try:
            done = self.site.perform(self.number, action, act, seen)
        except Refused as reason:
            warn(f"{self.name}: {reason}")
            return False
        stood = done.before[self.number].stands
        self.site.commit(done)
        if stood and not self.process.stands:
            for link in self._links.values():
                link.write()
        self._counts["actions"] += 1
        for row in done.rows:
            if row[2] in APPLICATION_KINDS:
                self._notice(row)
        self._plan_turn()
        self._pump_soon()
        return True

    def _pump_soon(self) -> None:
        if self._pumping is None:
            self._pumping = asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        """Deliver what may be delivered, one of each lane in turn, and begin what is due; a few rounds of it."""
        self._pumping = None
        if not self._has_begun:
            return
        self._wakes()
        if self._wake_at is not None:
            self._wake_at.cancel()
            self._wake_at = None
        soonest: float | None = None
        is_more = True
        for _ in range(ROUNDS):
            is_more, soonest = self._round()
            if not is_more:
                break
        self._receiver.tell()
        if is_more:
            self._pump_soon()
        elif soonest is not None and soonest < asyncio.get_running_loop().time() + 1e6:
            self._wake_at = asyncio.get_running_loop().call_at(soonest, self._pump_soon)

    def _round(self) -> tuple[bool, float | None]:
        """One of each lane, and what is due. Returns whether something was done, and when a lane has more by itself."""
        now = asyncio.get_running_loop().time()
        soonest: float | None = None
        actions = self._counts["actions"]
        is_more = False
        for lane in [*self._lanes.values()]:
            process = self.process
            waits = process.stands and not self.system.is_control(lane.channel)
            if waits or lane.channel in self._conditions.severed or lane.channel in process.blocked:
                continue
            is_stopped = any(link.is_overfull for link in self._links.values())
            found = lane.take(process, now, is_stopped=is_stopped)
            if isinstance(found, float):
                soonest = found if soonest is None else min(soonest, found)
            elif found is not None:
                is_more = True
                self._deliver(*found)
        self._begin_what_is_due()
        return is_more or self._counts["actions"] != actions, soonest

    def _deliver(self, arrival: Any, overtaken: list[Message]) -> None:
        message: Message = arrival.message
        process, rules = self.process, self.site.rules
        if message.kind == APP and not message.is_again:
            self._receiver.taken(message)
        if not process.alive and process.epoch == message.epoch:
            return  # it has left
        if message.epoch < self._since:
            return  # it was sent to the incarnation before, and is lost with others that never came
        action = ["control" if message.kind == CONTROL else "deliver", message.channel.name, message.id, message.epoch]
        if message.is_again:
            action.append("again")

        def act() -> None:
            own = self.process
            if message.epoch < own.epoch:
                fence_off(message, rules.emit)
            elif message.kind == CONTROL:
                rules.receive_control(own, message)
            elif message.kind == MARKER:
                rules.receive_marker(own, message, overtaken)
            else:
                rules.receive(own, message)

        self._act(action, act, arrival.clock)
        if message.kind == APP:
            self._counts["received"] += 1

    @property
    def _may_begin(self) -> bool:
        """Whether the process may begin something: it stands still while it is paused, or where a link is full."""
        process = self.process
        return (
            self._is_working
            and process.alive
            and not process.stands
            and not process.paused
            and not any(link.is_full for link in self._links.values())
        )

    def _may_carry_out(self, item: AgendaItem) -> bool:
        """Whether a script line may be carried out. A process that stands still may initiate a snapshot."""
        return self._may_begin or (isinstance(item.action, Initiate) and self._is_working and self.process.alive)

    def _begin_what_is_due(self) -> None:
        while self._items and self._may_carry_out(self._items[0]):
            self._carry_out(self._items.pop(0))
        while self._timed and self._may_carry_out(self._timed[0]) and self._timed[0].time <= self.site.now:
            self._carry_out(self._timed.pop(0))
            self._plan_items()
        if self._turn_is_due and self._may_begin:
            self._turn_is_due = False
            self._take_turn()

    # ------------------------------------------------------------------ turns and script lines

    def _plan_turn(self) -> None:
        """The next turn of the workload, unless one is planned."""
        workload, process = self.system.engine.workload, self.process
        if not workload.takes_turns or not self._is_working or self._turn is not None or self._turn_is_due:
            return
        gap = workload.turn_gap(process) if process.alive else None
        if gap is None:
            return
        seconds = self.system.seconds(gap)
        if seconds < SHORTEST:
            self._turn_is_due = True
        else:
            self._turn = asyncio.get_running_loop().call_later(seconds, self._turn_comes)

    def _turn_comes(self) -> None:
        self._turn, self._turn_is_due = None, True
        self._pump_soon()

    def _take_turn(self) -> None:
        action = self.system.engine.workload.turn(self.process)
        if action is None:
            return

        def act() -> None:
            process, rules = self.process, self.site.rules
            process.turn += 1
            if isinstance(action, Internal):
                rules.internal(process, action.body, action.label)
            elif isinstance(action, Send):
                rules.send(process, action.channel, action.body, action.label, action.receive_label)

        if not self._act(["turn"], act):
            self._plan_turn()

    def _own_items(self) -> list[AgendaItem]:
        """What the scenario plans for this process at a time, but for what an earlier incarnation has done.

        Script lines are the world outside: no recovery repeats them.
        """
        own = [item for item in self.system.engine.agenda if item.process == self.number and item.rank is not None]
        done: set[int] = set()
        if own and self._log.exists():
            done = {entry.action[1] for entry in read_log(self._log) if entry.action[0] == "item"}
        return sorted((item for item in own if item.number not in done), key=lambda item: item.rank or 0)

    def _plan_items(self) -> None:
        """Wake up when the next one is due."""
        if self._item_timer is not None:
            self._item_timer.cancel()
        if self._timed:
            after = max(0.0, self.system.seconds(self._timed[0].time - self.site.now))
            self._item_timer = asyncio.get_running_loop().call_later(after + 1e-4, self._pump_soon)

    def _plan_item(self, item: AgendaItem) -> None:
        """An item whose event has happened comes so much later."""

        def come() -> None:
            self._items.append(item)
            self._pump_soon()

        asyncio.get_running_loop().call_later(self.system.seconds(item.time), come)

    def _carry_out(self, item: AgendaItem) -> None:
        action = item.action

        def act() -> None:
            process, rules = self.process, self.site.rules
            if isinstance(action, Initiate):
                rules.initiate(process, action.snapshot)
            elif isinstance(action, Internal):
                rules.internal(process, action.body, action.label)
            elif isinstance(action, Send):
                rules.send(process, action.channel, action.body, action.label, action.receive_label)

        self._act(["item", item.number], act)

    def _notice(self, row: Any) -> None:
        """An event has happened: the items of this process that wait for it are planned."""
        names = {row[6], label_of(row[0], row[1], None)} & self.system.engine.awaited
        for item in self.system.engine.agenda if names else _NOTHING:
            if item.process == self.number and item.after in names:
                self._plan_item(item)

    # ------------------------------------------------------------------ timers

    def _set_timer(self, wake: Wake) -> None:
        old = self._timers.pop(wake.name, None)
        if old is not None:
            old[0].cancel()
        if wake.after is not None:
            loop = asyncio.get_running_loop()
            handle = loop.call_later(self.system.seconds(wake.after), self._fire, wake)
            self._timers[wake.name] = (handle, wake)

    def _fire(self, wake: Wake) -> None:
        if self._wakes():
            return  # it has stood still with the node, and goes off later
        del self._timers[wake.name]
        timer = Timer(wake.process, wake.name, wake.after or 0.0, wake.snapshot, 0)
        self._act(["timer", wake.name], lambda: self.site.rules.fire(self.process, timer))


def _end_with_controller() -> None:
    """Blocks until the controller's end of the pipe is closed; then this process ends at once."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)


def _end_on_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A rule that raises ends the node: it must not go on without what the rule was about.

    What goes wrong with one connection ends that connection only.
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
    told = json.loads(line)
    scenario = read_toml(told["scenario"], told["name"])
    system = System(scenario, told["unit"], told["transport"])
    asyncio.get_running_loop().set_exception_handler(_end_on_error)
    threading.Thread(target=_end_with_controller, daemon=True).start()
    node = Node(system, told["number"], told, Path(told["folder"]))
    with suppress(OSError, asyncio.CancelledError):
        await node.run((told["host"], told["port"]))
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(_main())
