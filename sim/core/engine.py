"""The engine: which actions are enabled, and what one action does (Dijkstra, EWD864a).

`enabled(state)` and `step(state, action)` are the model. `perform` is the same step in place, which is faster. What an
action does to its process is in sim/core/rules.py; the engine keeps states, channels, timers and the agenda. It knows
no time: the schedulers do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sim.core.algorithm import Service, SnapshotAlgorithm
from sim.core.deadline import in_time
from sim.core.effects import Out
from sim.core.log import INDEX, KIND
from sim.core.model import (
    APP,
    APPLICATION_KINDS,
    CONTROL,
    MARKER,
    Action,
    AgendaItem,
    Channel,
    Deliver,
    Fire,
    Hear,
    Initiate,
    Internal,
    Message,
    Process,
    Send,
    Start,
    State,
    Timer,
    label_of,
)
from sim.core.rules import ROW_WIDTH, Rules
from sim.core.workload import Refused, Workload

_PROCESS, _LABEL = 0, 6  # columns of a row


class Engine:
    """One system: processes, channels, workload, algorithm, services and agenda.

    Services are numbered after the processes. After `perform`, if `set_by` is the very list that it returned,
    `scheduled` holds the timers that the action set.
    """

    def __init__(
        self,
        processes: tuple[str, ...],
        channels: tuple[Channel, ...],
        workload: Workload,
        algorithm: SnapshotAlgorithm,
        agenda: tuple[AgendaItem, ...] = (),
    ) -> None:
        self.processes = processes
        self.channels = channels
        self.workload = workload
        self.algorithm = algorithm
        self.services = tuple(kind(algorithm) for kind in algorithm.services)
        self.nodes = processes + tuple(service.name for service in self.services)
        self.agenda = agenda
        self.between = {(channel.source, channel.target): channel for channel in channels}
        self.number_of = {name: number for number, name in enumerate(self.nodes)}
        self.awaited: frozenset[str | None] = frozenset(item.after for item in agenda if item.after is not None)
        self._timed = {(item.process, item.rank): item for item in agenda if item.rank is not None}
        self._waiting: list[list[AgendaItem]] = [[] for _ in self.nodes]
        for item in agenda:
            if item.rank is None:
                self._waiting[item.process].append(item)
        self._control: dict[tuple[int, int], Channel] = {}
        eager = (own for own in self.services if type(own).on_start is not Service.on_start)
        self.starts = tuple(Start(self.number_of[service.name]) for service in eager)  # the first actions of a run
        self.scheduled: list[Timer] = []
        self.set_by: list[Message] | None = None
        self._rows: list[Any] = []
        self.rules = Rules(workload, algorithm, dict(enumerate(self.services, start=len(processes))), self)
        self._send, self._receive = self.rules.send, self.rules.receive

    # ------------------------------------------------------------------ states

    def initial(self) -> State:
        """Step 0: every process in its initial state, every channel empty."""
        processes = [Process(name, i, self.workload.initial(name)) for i, name in enumerate(self.processes)]
        services = [Process(own.name, i, None) for i, own in enumerate(self.services, start=len(processes))]
        for channel in self.channels:
            processes[channel.source].outgoing += (channel,)
            processes[channel.target].incoming += (channel,)
        state = State(processes, [[] for _ in self.channels], services)
        state.waiting = frozenset(item.number for item in self.agenda if item.after is not None)
        return state

    def enabled(self, state: State) -> list[Action]:
        """Every action that may happen next: agenda items, turns, deliveries, control messages, timers.

        An action that the workload refuses, such as a send without the money, is not enabled. Until every service has
        started, nothing else is enabled.
        """
        starts: list[Action] = [action for action in self.starts if self.is_enabled(state, action)]
        return starts or [
            action
            for action in in_time(self._candidates(state))
            if self.is_enabled(state, action) and not self._is_refused(state, action)
        ]

    def _is_refused(self, state: State, action: Action) -> bool:
        try:
            if type(action) is Send:
                self.workload.after_send(state.processes[action.channel.source], action.body)
            elif type(action) is Internal:
                self.workload.after_internal(state.processes[action.process], action.body, Out())
        except Refused:
            return True
        return False

    def planned(self, state: State, process: Process) -> list[AgendaItem]:
        """The agenda items that `process` may carry out next, once enabled: the next timed one, and all that wait."""
        timed = self._timed.get((process.number, process.position))
        waiting = [item for item in self._waiting[process.number] if item.number in state.waiting]
        return waiting if timed is None else sorted([timed, *waiting], key=lambda item: item.number)

    def _candidates(self, state: State) -> Iterator[Action]:
        nodes = [*state.processes, *state.services]
        planned = [item for process in nodes for item in self.planned(state, process)]
        for item in sorted(planned, key=lambda item: item.number):
            yield item.action
        for process in state.processes:
            yield from self.workload.options(process)
        for channel in self.channels:
            for message in state.queues[channel.number]:
                yield Deliver(message)
        for channel in sorted(state.control, key=lambda channel: channel.number):
            yield Hear(state.control[channel][0])
        for key in sorted(state.timers):
            yield Fire(state.timers[key])

    def is_enabled(self, state: State, action: Action) -> bool:
        """Whether `action` may happen in `state`, apart from refusals of the workload."""
        if type(action) is Deliver:
            message = action.message
            channel = message.channel
            queue = state.queues[channel.number]
            blocked = state.processes[channel.target].blocked
            if not queue or (blocked and channel in blocked):
                return False
            return queue[0] is message or self._passes(message, queue)
        if type(action) is Hear:
            return state.control.get(action.channel, (None,))[0] is action.message
        if type(action) is Fire:
            return state.timers.get((action.timer.process, action.timer.name)) is action.timer
        process = state.node(action.channel.source if type(action) is Send else action.process)  # type: ignore[union-attr]
        if type(action) is Start:
            return process.turn == 0
        if process.paused and type(action) is not Initiate:
            return False
        if action.item is None:
            return True
        item = self.agenda[action.item]
        if item.after is None:
            return process.position == item.rank
        return item.number in state.waiting and item.after in state.happened

    def _passes(self, message: Message, queue: list[Message]) -> bool:
        """Whether a message that is not the oldest may be delivered: on FIFO channels only an overtaking marker may."""
        if not message.channel.fifo:
            return message in queue
        if self.algorithm.overtakes and message.kind == MARKER:
            return message is next(other for other in queue if other.kind == MARKER)
        return False

    # ------------------------------------------------------------------ steps

    def step(self, state: State, action: Action) -> tuple[State, list[Any]]:
        """The successor of `state`, and the rows of the step (flat, ROW_WIDTH values each). `state` does not change.

        Raises Refused if the workload cannot carry out `action`.
        """
        rows: list[Any] = []
        successor = self.copy_for(state, action)
        self.perform(successor, action, rows)
        return successor, rows

    def copy_for(self, state: State, action: Action) -> State:
        """A copy of `state` for `perform` to change: carrying out `action` in it leaves `state` unchanged."""
        return state.copy_for(state.node(self.actor(action)))

    @staticmethod
    def actor(action: Action) -> int:
        """The number of the process (or service) that performs `action`."""
        if isinstance(action, Deliver):
            return action.message.channel.target
        if type(action) is Fire:
            return action.timer.process
        return action.channel.source if type(action) is Send else action.process  # type: ignore[union-attr]

    def perform(self, state: State, action: Action, rows: list[Any]) -> list[Message]:
        """Carry out `action` in place and append its rows to `rows`. Returns the messages it sent.

        Raises Refused if the workload cannot carry out `action`.
        """
        self._state = state
        sent: list[Message] = []
        self._sent = sent
        if rows is not self._rows:
            self._rows, self.rules.emit = rows, rows.extend
        awaited = self.awaited
        begin = len(rows) if awaited else 0
        kind = type(action)
        try:
            if kind is Deliver:
                message = action.message  # type: ignore[union-attr]
                channel = message.channel
                queue = state.queues[channel.number]
                if message.kind == APP and queue[0] is message:
                    queue.pop(0)
                    self._receive(state.processes[channel.target], message)
                else:
                    self._deliver(state, message)
            elif kind is Send:
                process = state.processes[action.channel.source]  # type: ignore[union-attr]
                if action.item is None:
                    process.turn += 1
                else:
                    self._advance(process, action.item)
                self._send(process, action.channel, action.body, action.label, action.receive_label)  # type: ignore[union-attr]
            else:
                self._perform_other(state, action)
        except BaseException:
            self.rules.drop_effects()
            raise
        if awaited:
            self._notice(rows, begin)
        return sent

    def _perform_other(self, state: State, action: Action) -> None:
        """Carry out an action that is neither a send nor a delivery on a channel."""
        process = state.node(self.actor(action))
        if type(action) is Internal:
            self._advance(process, action.item)
            self.rules.internal(process, action.body, action.label)
        elif type(action) is Initiate:
            self._advance(process, action.item)
            self.rules.initiate(process, action.snapshot)
        elif type(action) is Hear:
            left = state.control.pop(action.channel)[1:]
            if left:
                state.control[action.channel] = left
            self.rules.receive_control(process, action.message)
        elif type(action) is Fire:
            del state.timers[process.number, action.timer.name]
            self.rules.fire(process, action.timer)
        else:
            process.turn = 1
            self.rules.start(process)

    def _advance(self, process: Process, item: int | None) -> None:
        """Mark agenda item number `item` as carried out (None: count a turn of the workload)."""
        if item is None:
            process.turn += 1
        elif self.agenda[item].after is None:
            process.position += 1
        else:
            self._state.waiting -= {item}

    def _deliver(self, state: State, message: Message) -> None:
        """Deliver a marker, or a message that overtakes others."""
        channel = message.channel
        queue = state.queues[channel.number]
        overtaken: Sequence[Message] = ()
        if queue[0] is message:
            queue.pop(0)
        else:
            overtaken = queue[: queue.index(message)]
            queue.remove(message)
        if message.kind == APP:
            self.rules.receive(state.processes[channel.target], message)
        else:
            self.rules.receive_marker(state.processes[channel.target], message, overtaken)

    def _notice(self, rows: list[Any], begin: int) -> None:
        """Add the events in the new rows to `happened` if an agenda item waits for them."""
        for row in range(begin, len(rows), ROW_WIDTH):
            if rows[row + KIND] in APPLICATION_KINDS:
                numbered = label_of(rows[row + _PROCESS], rows[row + INDEX], None)
                names = {rows[row + _LABEL], numbered} & self.awaited
                if names:
                    self._state.happened |= names

    # ------------------------------------------------------------------ the world around a process (rules.World)

    def transmit(
        self, channel: Channel, kind: str, body: Any, snapshot: str | None = None, stamp: Any = None,
        sent_index: int | None = None, label: str | None = None, receive_label: str | None = None,
    ) -> int:  # fmt: skip
        """Put a message at the end of its channel. Returns its id."""
        state = self._state
        number = state.messages
        state.messages = number + 1
        message = Message(number, channel, kind, body, snapshot, stamp, sent_index, label, receive_label)
        if kind == CONTROL:
            state.control[channel] = (*state.control.get(channel, ()), message)
        else:
            state.queues[channel.number].append(message)
        self._sent.append(message)
        return number

    def channel_to(self, source: int, target: str) -> Channel:
        """The channel from process number `source` to the process named `target`."""
        return self.between[source, self.number_of[target]]

    def control_channel(self, source: int, target: str) -> Channel:
        """The channel for control messages from one process or service to another. Its number follows the graph's."""
        if self.number_of.get(target, source) == source:
            who = f"{self.algorithm.title}: {self.nodes[source]}"
            raise TypeError(f"{who} tells {target!r} something; name another process or a service")
        pair = source, self.number_of[target]
        if pair not in self._control:
            number = len(self.channels) + source * len(self.nodes) + pair[1]
            self._control[pair] = Channel(number, *pair, f"{self.nodes[source]}->{target}")
        return self._control[pair]

    def schedule(self, process: Process, name: str, after: float | None, snapshot: str | None) -> None:
        """Set a timer, replacing an earlier one with that name (`after` None: only cancel that one)."""
        state = self._state
        state.timers.pop((process.number, name), None)
        if after is not None:
            if self.set_by is not self._sent:
                self.scheduled, self.set_by = [], self._sent
            timer = Timer(process.number, name, after, snapshot, state.timers_set)
            state.timers_set += 1
            state.timers[process.number, name] = timer
            self.scheduled.append(timer)
