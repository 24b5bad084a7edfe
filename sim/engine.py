"""The engine: which actions are enabled, and what one action does (Dijkstra, EWD864a).

`enabled(state)` and `step(state, action)` are the model; `perform` is the same step done in place,
for ensembles. Time is only a number that is written into the rows: schedulers know about it, the
rules do not. The engine asks no algorithm for its name: it calls hooks and honours capabilities.
"""

from __future__ import annotations

from collections import deque
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
from sim.workload import Workload

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
        self.awaited = frozenset(item.after for item in agenda if item.after is not None)
        self._out = Out()
        self._on_message = self._hook("on_message")
        self._on_send = self._hook("on_send")
        self._effects: dict[str, Callable[..., None]] = {
            "record": self._record, "start_recording": self._start_recording, "close": self._close,
            "send_marker": self._send_marker, "send": self._send_to, "block": self._block,
            "unblock": self._unblock, "pause": self._pause, "resume": self._resume, "abort": self._abort,
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
        state = State(processes, [deque() for _ in self.channels])
        state.waiting = frozenset(item.number for item in self.agenda if item.after is not None)
        return state

    def enabled(self, state: State) -> list[Action]:
        """Every action that may happen next, each process's own first, then the deliveries by channel."""
        return [action for action in self._candidates(state) if self.is_enabled(state, action)]

    def _candidates(self, state: State) -> Iterator[Action]:
        for item in self.agenda:
            yield item.action
        if self.workload.takes_turns:
            for process in state.processes:
                turn = self.turn(process)
                if turn is not None:
                    yield turn
        for channel in self.channels:
            for message in state.queues[channel.number]:
                yield Deliver(channel, message)

    def turn(self, process: Process) -> Action | None:
        """What the workload lets `process` do of its own accord, if anything."""
        return self.workload.turn(process) if self.workload.turn_gap(process) is not None else None

    def is_enabled(self, state: State, action: Action) -> bool:
        """The one place that says whether an action may happen in a state."""
        if type(action) is Deliver:
            return self._is_deliverable(state, action)
        actor = action.channel.source if type(action) is Send else action.process  # type: ignore[union-attr]
        process = state.processes[actor]
        if process.paused and type(action) is not Initiate:
            return False
        if action.item is None:  # type: ignore[union-attr]
            return True
        item = self.agenda[action.item]  # type: ignore[union-attr]
        if item.after is None:
            return process.position == item.place
        return item.number in state.waiting and item.after in state.happened

    def _is_deliverable(self, state: State, action: Deliver) -> bool:
        """FIFO: only the oldest; a marker of an overtaking algorithm may pass application messages."""
        channel, message = action
        queue = state.queues[channel.number]
        if not queue or channel in state.blocked:
            return False
        if queue[0] is message:
            return True
        if not channel.fifo:
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
        return state.copy_around(state.processes[self._actor(action)])

    @staticmethod
    def _actor(action: Action) -> int:
        if isinstance(action, Deliver):
            return action.channel.target
        return action.channel.source if isinstance(action, Send) else action.process

    def perform(self, state: State, action: Action, log: list[Any], number: int, time: float) -> list[Message]:
        """Do `action` in place, append its rows to `log`, return the messages it sent. Raises Refused."""
        self._state, self._log, self._number, self._time = state, log, number, time
        self._sent: list[Message] = []
        if type(action) is Deliver:
            self._deliver(action)
            return self._sent
        process = state.processes[self._actor(action)]
        if action.item is None:  # type: ignore[union-attr]
            process.turn += 1
        elif self.agenda[action.item].after is None:  # type: ignore[union-attr]
            process.position += 1
        else:
            state.waiting -= {action.item}  # type: ignore[union-attr]
        if type(action) is Send:
            self._send(process, action.channel, action.body, action.label, action.receive_label)
        elif type(action) is Internal:
            process.state = self.workload.after_internal(process, action.body)
            self._application_event(process, INTERNAL, None, None, None, action.label, action.body)
        elif type(action) is Initiate:
            self.algorithm.on_initiate(process, action.snapshot, self._out)
            self._carry_out(process)
        return self._sent

    def _deliver(self, action: Deliver) -> None:
        channel, message = action
        queue = self._state.queues[channel.number]
        if queue[0] is message:
            queue.popleft()
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
        process.state = self.workload.after_receive(process, message, self._out)
        self._application_event(
            process, RECEIVE, channel.name, message.sent_index, message.id, message.receive_label, message.body
        )
        if self._out.effects:
            self._carry_out(process)

    def _carry_out(self, process: Process) -> None:
        """Apply what a rule asked for, in its order, within the same action."""
        effects: list[Effect] = self._out.effects
        self._out.effects = []
        for name, *arguments in effects:
            self._effects[name](process, *arguments)

    # ------------------------------------------------------------------ rows

    def _application_event(
        self, process: Process, kind: str, channel: str | None, peer: int | None, message: int | None,
        label: str | None, body: Any,
    ) -> None:  # fmt: skip
        index = process.index + 1
        process.index = index
        self._log += (
            self._number, self._time, process.name, index, kind, channel, peer, message, label, body, None, None,
        )  # fmt: skip
        if self.awaited:
            name = label_of(process.name, index, label)
            if name in self.awaited:
                self._state.happened |= {name}

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
        process.state = self.workload.after_send(process, body)
        message = self._put(channel, APP, body, None, stamp, process.index + 1, label, receive_label)
        self._application_event(process, SEND, channel.name, None, message.id, label, body)

    def _send_to(self, process: Process, target: str, body: Any) -> None:
        self._send(process, self.between[process.number, self.number_of[target]], body)

    def _send_marker(self, process: Process, channel: Channel, snapshot: str, body: Any) -> None:
        marker = self._put(channel, MARKER, body, snapshot, None, None, None, None)
        self._control_row(process, MARKER_SEND, snapshot, channel.name, marker.id)

    def _put(
        self, channel: Channel, kind: str, body: Any, snapshot: str | None, stamp: Any,
        sent_index: int | None, label: str | None, receive_label: str | None,
    ) -> Message:  # fmt: skip
        state = self._state
        message = Message(state.messages, channel, kind, body, snapshot, stamp, sent_index, label, receive_label)
        state.messages += 1
        state.queues[channel.number].append(message)
        self._sent.append(message)
        return message

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

    def _close(self, process: Process, channel: Channel, snapshot: str) -> None:
        open_here = dict(process.recording.get(channel, {}))
        messages = open_here.pop(snapshot, ())
        process.recording = {c: kept for c, kept in process.recording.items() if c is not channel}
        if open_here:
            process.recording = {**process.recording, channel: open_here}
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
        process.paused = True

    def _resume(self, process: Process) -> None:
        process.paused = False
