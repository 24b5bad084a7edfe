"""The engine: which actions are enabled, and what one action does (Dijkstra, EWD864a).

`enabled(state)` and `step(state, action)` are the model; `perform` is the same step done in place,
for ensembles. Time is only a number that is written into the rows: schedulers know about it, the
rules do not. The engine asks no algorithm for its name: it calls hooks and honours capabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sim.algorithm import Effect, Out, SnapshotAlgorithm
from sim.model import (
    APP,
    CHANNEL_CLOSED,
    INTERNAL,
    MARKER,
    MARKER_RECEIVE,
    MARKER_SEND,
    RECEIVE,
    RECORD,
    SEND,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    Action,
    AgendaItem,
    Channel,
    Deliver,
    Initiate,
    Internal,
    LocalSnapshot,
    Message,
    Process,
    Send,
    State,
    label_of,
)
from sim.workload import Refused, Workload

LOG_WIDTH = 12  # columns of a log row: those of Event between `row` and the end, `body` not yet JSON


class Engine:
    """The rules of one system: its processes, channels, workload, algorithm and agenda."""

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
        self.agenda = agenda
        self.between = {(channel.source, channel.target): channel for channel in channels}
        self.number_of = {name: number for number, name in enumerate(processes)}
        self.awaited: frozenset[str | None] = frozenset(item.after for item in agenda if item.after is not None)
        self._timed = {(item.process, item.place): item for item in agenda if item.place is not None}
        self._waiting: list[list[AgendaItem]] = [[] for _ in processes]
        for item in agenda:
            if item.place is None:
                self._waiting[item.process].append(item)
        self._out = Out()
        self._on_message = self._hook("on_message")
        self._on_send = self._hook("on_send")
        self._after_send = workload.after_send
        self._after_receive = workload.after_receive
        self._effects: dict[str, Callable[..., None]] = {
            "record": self._record, "start_recording": self._start_recording, "keep": self._keep_one,
            "close": self._close, "abort": self._abort, "send_marker": self._send_marker, "send": self._send_to,
            "block": self._block, "unblock": self._unblock, "pause": self._pause, "resume": self._resume,
        }  # fmt: skip

    def _hook(self, name: str) -> Callable[..., Any] | None:
        """The algorithm's hook, or None where it is the one that does nothing (never call it then)."""
        overridden = getattr(type(self.algorithm), name) is not getattr(SnapshotAlgorithm, name)
        return getattr(self.algorithm, name) if overridden else None

    # ------------------------------------------------------------------ states

    def initial(self) -> State:
        """Step 0: every process in its initial state, every channel empty."""
        processes = [Process(name, i, self.workload.initial(name)) for i, name in enumerate(self.processes)]
        for channel in self.channels:
            processes[channel.source].outgoing += (channel,)
            processes[channel.target].incoming += (channel,)
        state = State(processes, [[] for _ in self.channels])
        state.waiting = frozenset(item.number for item in self.agenda if item.after is not None)
        return state

    def enabled(self, state: State) -> list[Action]:
        """Every action that may happen next, each process's own first, then the deliveries by channel.

        A send that the workload cannot do now, for want of money, is not among them.
        """
        return [
            action
            for action in self._candidates(state)
            if self.is_enabled(state, action) and not (type(action) is Send and self._is_refused(state, action))
        ]

    def _is_refused(self, state: State, action: Send) -> bool:
        try:
            self.workload.after_send(state.processes[action.channel.source], action.body)
        except Refused:
            return True
        return False

    def planned(self, state: State, process: Process) -> list[AgendaItem]:
        """What `process` may do next, where it is enabled: its next timed item and those that wait, as listed."""
        timed = self._timed.get((process.number, process.position))
        waiting = [item for item in self._waiting[process.number] if item.number in state.waiting]
        return waiting if timed is None else sorted([timed, *waiting], key=lambda item: item.number)

    def _candidates(self, state: State) -> Iterator[Action]:
        planned = [item for process in state.processes for item in self.planned(state, process)]
        for item in sorted(planned, key=lambda item: item.number):
            yield item.action
        if self.workload.takes_turns:
            for process in state.processes:
                turn = self.workload.turn(process)
                if turn is not None:
                    yield turn
        for channel in self.channels:
            for message in state.queues[channel.number]:
                yield Deliver(message)

    def is_enabled(self, state: State, action: Action) -> bool:
        """The one place that says whether an action may happen in a state."""
        if type(action) is Deliver:
            message = action.message
            channel = message.channel
            queue = state.queues[channel.number]
            if not queue or channel in state.blocked:
                return False
            return queue[0] is message or self._passes(message, queue)
        process = state.processes[action.channel.source if type(action) is Send else action.process]  # type: ignore[union-attr]
        if process.paused and type(action) is not Initiate:
            return False
        if action.item is None:  # type: ignore[union-attr]
            return True
        item = self.agenda[action.item]  # type: ignore[union-attr]
        if item.after is None:
            return process.position == item.place
        return item.number in state.waiting and item.after in state.happened

    def _passes(self, message: Message, queue: list[Message]) -> bool:
        """Whether a message behind the oldest may be delivered: never on a FIFO channel, but for overtaking markers."""
        if not message.channel.fifo:
            return message in queue
        if self.algorithm.overtakes and message.kind == MARKER:
            return message is next(other for other in queue if other.kind == MARKER)
        return False

    # ------------------------------------------------------------------ steps

    def step(self, state: State, action: Action, number: int = 0, time: float = 0.0) -> tuple[State, list[Any]]:
        """The successor of `state`, which is left as it was, and the rows of the step (flat, LOG_WIDTH each).

        Raises Refused when the workload cannot do it.
        """
        log: list[Any] = []
        successor = self.copy_for(state, action)
        self.perform(successor, action, log, number, time)
        return successor, log

    def copy_for(self, state: State, action: Action) -> State:
        """A copy of `state` in which `perform` may do `action` without touching the original."""
        return state.copy_around(state.processes[self.actor(action)])

    @staticmethod
    def actor(action: Action) -> int:
        """The number of the process that performs `action`."""
        if type(action) is Deliver:
            return action.channel.target
        return action.channel.source if type(action) is Send else action.process  # type: ignore[union-attr]

    def perform(self, state: State, action: Action, log: list[Any], number: int, time: float) -> list[Message]:
        """Do `action` in place, append its rows to `log`, return the messages it sent. Raises Refused."""
        self._state, self._log, self._number, self._time = state, log, number, time
        self._sent: list[Message] = []
        if type(action) is Deliver:
            self._deliver(action)
        elif type(action) is Send:
            process = state.processes[action.channel.source]
            self._advance(process, action.item)
            self._send(process, action.channel, action.body, action.label, action.receive_label)
        elif type(action) is Internal:
            process = state.processes[action.process]
            self._advance(process, action.item)
            process.state = self.workload.after_internal(process, action.body)
            process.index += 1
            self._log += (
                number, time, process.name, process.index, INTERNAL, None, None, None,
                action.label, action.body, None, None,
            )  # fmt: skip
            if self.awaited:
                self._notice(process, action.label)
        elif type(action) is Initiate:
            process = state.processes[action.process]
            self._advance(process, action.item)
            self.algorithm.on_initiate(process, action.snapshot, self._out)
            self._carry_out(process)
        return self._sent

    def _advance(self, process: Process, item: int | None) -> None:
        """What the process had planned is done: an agenda item, or a turn of its workload."""
        if item is None:
            process.turn += 1
        elif self.agenda[item].after is None:
            process.position += 1
        else:
            self._state.waiting -= {item}

    def _deliver(self, action: Deliver) -> None:
        message = action.message
        channel = message.channel
        queue = self._state.queues[channel.number]
        if queue[0] is message:
            queue.pop(0)
        else:
            queue.remove(message)
        process = self._state.processes[channel.target]
        if message.kind == MARKER:
            self._control_row(process, MARKER_RECEIVE, message.snapshot, channel.name, message.id)
            self.algorithm.on_marker(process, message, self._out)
            self._carry_out(process)
            return
        if self._on_message is not None:
            self._on_message(process, message, self._out)
            self._carry_out(process)
        if process.recording:
            self._keep(process, message)
        process.state = self._after_receive(process, message, self._out)
        process.index = index = process.index + 1
        self._log += (
            self._number, self._time, process.name, index, RECEIVE, channel.name, message.sent_index,
            message.id, message.receive_label, message.body, None, None,
        )  # fmt: skip
        if self.awaited:
            self._notice(process, message.receive_label)
        if self._out.effects:
            self._carry_out(process)

    def _carry_out(self, process: Process) -> None:
        """Apply what a rule asked for, in its order, within the same action."""
        effects: list[Effect] = self._out.effects
        self._out.effects = []
        for name, *arguments in effects:
            self._effects[name](process, *arguments)

    # ------------------------------------------------------------------ rows

    def _notice(self, process: Process, label: str | None) -> None:
        """The application event that has just happened may be one that the agenda waits for."""
        names = {label, label_of(process.name, process.index, None)} & self.awaited
        if names:
            self._state.happened |= names

    def _control_row(
        self, process: Process, kind: str, snapshot: str | None, channel: str | None = None,
        message: int | None = None, body: Any = None, index: int | None = None,
    ) -> None:  # fmt: skip
        self._log += (
            self._number, self._time, process.name, index, kind, channel, None, message, None, body, snapshot, None,
        )  # fmt: skip

    # ------------------------------------------------------------------ sends

    def _send(
        self, process: Process, channel: Channel, body: Any, label: str | None = None, receive_label: str | None = None
    ) -> None:
        stamp = None
        if self._on_send is not None:
            stamp = self._on_send(process, channel, self._out)
            self._carry_out(process)
        process.state = self._after_send(process, body)
        process.index = index = process.index + 1
        state = self._state
        number = state.messages
        state.messages = number + 1
        message = Message(number, channel, APP, body, None, stamp, index, label, receive_label)
        state.queues[channel.number].append(message)
        self._sent.append(message)
        self._log += (
            self._number, self._time, process.name, index, SEND, channel.name, None, number, label, body, None, None,
        )  # fmt: skip
        if self.awaited:
            self._notice(process, label)

    def _send_to(self, process: Process, target: str, body: Any) -> None:
        self._send(process, self.between[process.number, self.number_of[target]], body)

    def _send_marker(self, process: Process, channel: Channel, snapshot: str, body: Any) -> None:
        state = self._state
        marker = Message(state.messages, channel, MARKER, body, snapshot, None, None, None, None)
        state.messages += 1
        state.queues[channel.number].append(marker)
        self._sent.append(marker)
        self._control_row(process, MARKER_SEND, snapshot, channel.name, marker.id)

    # ------------------------------------------------------------------ recording

    def _record(self, process: Process, snapshot: str) -> None:
        local = LocalSnapshot(process.state, process.index, {}, False)
        process.snapshots = {**process.snapshots, snapshot: local}
        self._control_row(process, RECORD, snapshot, body=process.state, index=process.index)
        self._complete_if_closed(process, snapshot)

    def _start_recording(self, process: Process, channel: Channel, snapshot: str) -> None:
        recorded = {**process.recording.get(channel, {}), snapshot: ()}
        process.recording = {**process.recording, channel: recorded}

    def _keep(self, process: Process, message: Message) -> None:
        """Record XOR deliver is a slip: a recorded message is delivered as well."""
        open_here = process.recording.get(message.channel)
        if open_here:
            kept = {snapshot: (*messages, message) for snapshot, messages in open_here.items()}
            process.recording = {**process.recording, message.channel: kept}

    def _keep_one(self, process: Process, message: Message, snapshot: str) -> None:
        open_here = process.recording.get(message.channel, {})
        kept = {**open_here, snapshot: (*open_here.get(snapshot, ()), message)}
        process.recording = {**process.recording, message.channel: kept}

    def _close(self, process: Process, channel: Channel, snapshot: str) -> None:
        recording = process.recording.copy()
        open_here = recording.pop(channel, {}).copy()
        messages = open_here.pop(snapshot, ())
        if open_here:
            recording[channel] = open_here
        process.recording = recording
        local = process.snapshots[snapshot]
        local = local._replace(channels={**local.channels, channel: messages})
        process.snapshots = {**process.snapshots, snapshot: local}
        bodies = [message.body for message in messages]
        self._control_row(process, CHANNEL_CLOSED, snapshot, channel.name, body=bodies)
        self._complete_if_closed(process, snapshot)

    def _complete_if_closed(self, process: Process, snapshot: str) -> None:
        """A process is done with a snapshot when it has recorded and closed every incoming channel."""
        local = process.snapshots[snapshot]
        if len(local.channels) == len(process.incoming):
            process.snapshots = {**process.snapshots, snapshot: local._replace(complete=True)}
            self._control_row(process, SNAPSHOT_COMPLETE, snapshot)

    def _abort(self, process: Process, snapshot: str) -> None:
        process.snapshots = {key: kept for key, kept in process.snapshots.items() if key != snapshot}
        remaining = {
            channel: {key: kept for key, kept in here.items() if key != snapshot}
            for channel, here in process.recording.items()
        }
        process.recording = {channel: here for channel, here in remaining.items() if here}
        self._control_row(process, SNAPSHOT_ABORTED, snapshot)

    # ------------------------------------------------------------------ capabilities

    def _block(self, process: Process, channel: Channel) -> None:
        self._state.blocked |= {channel}

    def _unblock(self, process: Process, channel: Channel) -> None:
        self._state.blocked -= {channel}

    def _pause(self, process: Process) -> None:
        if not self.algorithm.pauses:
            raise TypeError(f"{self.algorithm.title} pauses a process; it must declare `pauses = True`")
        process.paused = True

    def _resume(self, process: Process) -> None:
        process.paused = False
