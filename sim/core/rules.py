"""What one action does to ONE process: the rules of its workload and its algorithm, carried out.

There are three things that a process does to the world around it: it transmits a message, it emits a row of the event
table, and it schedules a timer. A `World` does these. The engine is one, which keeps all processes, channels and
timers in a State; a live process of an operating system is another. Neither time nor another process is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from sim.core.algorithm import BY_NOTHING, Service, SnapshotAlgorithm
from sim.core.effects import (
    Abort,
    Block,
    CancelTimer,
    Close,
    Keep,
    KeepOvertaken,
    Listen,
    Out,
    Pause,
    Record,
    Resume,
    SendMarker,
    SendMessage,
    SetTimer,
    Tell,
    Unblock,
)
from sim.core.model import (
    APP,
    BLOCKED,
    CHANNEL_CLOSED,
    CONTROL,
    CONTROL_RECEIVE,
    CONTROL_SEND,
    INTERNAL,
    MARKER,
    MARKER_RECEIVE,
    MARKER_SEND,
    PAUSED,
    RECEIVE,
    RECORD,
    RECORDED,
    RESUMED,
    SEND,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    TIMER,
    UNBLOCKED,
    Channel,
    LocalSnapshot,
    Message,
    Process,
    Timer,
)
from sim.core.workload import Workload

# A row as a rule makes it: process, index, kind, channel, peer_index, message_id, label, body (a value), snapshot_id.
Row = tuple[str, int | None, str, str | None, int | None, int | None, str | None, Any, str | None]
ROW_WIDTH = 9


class World(Protocol):
    """What is around a process. `emit` takes a Row."""

    def transmit(
        self, channel: Channel, kind: str, body: Any, snapshot: str | None = None, stamp: Any = None,
        sent_index: int | None = None, label: str | None = None, receive_label: str | None = None,
    ) -> int:  # fmt: skip
        """Send a message on `channel`, and return its id."""

    def control_channel(self, source: int, target: str) -> Channel:
        """The way of control messages from process number `source` to the process or service named `target`."""

    def channel_to(self, source: int, target: str) -> Channel:
        """The channel from process number `source` to the process named `target`."""

    def schedule(self, process: Process, name: str, after: float | None, snapshot: str | None) -> None:
        """Set the timer `name` of `process`, instead of one of that name; `after` None: it does not go off."""


class Rules:
    """The rules of one system; each method carries out one action on the process it is given, in place.

    It rebinds fields of that process and mutates no value. `emit` takes the rows, in their order; it is an attribute,
    so that a log's own `extend` can be put there. Raises Refused where the workload cannot do it.
    """

    def __init__(
        self, workload: Workload, algorithm: SnapshotAlgorithm, services: Mapping[int, Service], world: World
    ) -> None:
        self.workload = workload
        self.algorithm = algorithm
        self.world = world
        self._transmit = world.transmit
        self.emit: Callable[[Row], None] = list[Any]().extend
        self._services = services
        self._out = Out()
        self._snapshot: str | None = None  # the one that the action at hand is about
        self._overtaken: Sequence[Message] = ()  # by the marker at hand
        self._on_message = self._hook("on_message")
        self._on_send = self._hook("on_send")
        self._on_done = self._hook("on_done")
        self._on_abort = self._hook("on_abort")
        self._after_send = workload.after_send
        self._after_receive = workload.after_receive
        self._do: dict[type, Callable[[Process, Any], None]] = {
            Record: self._record, Listen: self._listen, Keep: self._keep_one, KeepOvertaken: self._keep_overtaken,
            Close: self._close, SendMarker: self._send_marker, SendMessage: self._send_to, Tell: self._tell,
            SetTimer: self._set_timer, CancelTimer: self._cancel_timer, Block: self._block, Unblock: self._unblock,
            Pause: self._pause, Resume: self._resume, Abort: self._abort,
        }  # fmt: skip

    def _hook(self, name: str) -> Callable[..., Any] | None:
        """The algorithm's hook, or None where it is the one that does nothing (never call it then)."""
        overridden = getattr(type(self.algorithm), name) is not getattr(SnapshotAlgorithm, name)
        return getattr(self.algorithm, name) if overridden else None

    def _book(self, process: Process) -> Any:
        """Who says what `process` does: its service, else the algorithm."""
        return self._services.get(process.number, self.algorithm) if self._services else self.algorithm

    # ------------------------------------------------------------------ actions

    def internal(self, process: Process, body: Any, label: str | None) -> None:
        """One internal event."""
        process.state = self.workload.after_internal(process, body, self._out)
        process.index = index = process.index + 1
        self.emit((process.name, index, INTERNAL, None, None, None, label, body, None))
        if self._out.effects:
            self._obey(process)

    def send(
        self, process: Process, channel: Channel, body: Any, label: str | None = None, receive_label: str | None = None
    ) -> None:
        """One message of the application."""
        stamp = None
        if self._on_send is not None:
            stamp = self._on_send(process, channel, self._out)
            if self._out.effects:  # which happen before the send
                self._obey(process)
        process.state = self._after_send(process, body)
        process.index = index = process.index + 1
        number = self._transmit(channel, APP, body, None, stamp, index, label, receive_label)
        self.emit((process.name, index, SEND, channel.name, None, number, label, body, None))

    def receive(self, process: Process, message: Message) -> None:
        """A message of the application arrives. What records it does not keep it from being delivered."""
        if self._on_message is not None:
            self._on_message(process, message, self._out)
            self._obey(process)
        if process.listening:
            for snapshot in process.listening.get(message.channel, ()):
                self._keep(process, message, snapshot)
        out = self._out
        process.state = self._after_receive(process, message, out)
        process.index = index = process.index + 1
        self.emit((
            process.name, index, RECEIVE, message.channel.name, message.sent_index, message.id, message.receive_label,
            message.body, None,
        ))  # fmt: skip
        if out.effects:
            self._obey(process)

    def receive_marker(self, process: Process, marker: Message, overtaken: Sequence[Message] = ()) -> None:
        """A marker arrives, ahead of those of the `overtaken` messages of its channel that were sent before it.

        One of a snapshot that has ended here, finished or aborted, changes nothing.
        """
        snapshot = marker.snapshot
        assert snapshot is not None
        self._about(process, MARKER_RECEIVE, snapshot, marker.channel.name, marker.id)
        local = process.snapshots.get(snapshot)
        if snapshot in process.ended or (local is not None and local.done and self.algorithm.closes_by != BY_NOTHING):
            return
        self._snapshot, self._overtaken = snapshot, overtaken
        self.algorithm.on_marker(process, marker, self._out)
        self._obey(process)
        self._snapshot, self._overtaken = None, ()

    def receive_control(self, process: Process, message: Message) -> None:
        """A control message arrives, at a process or at a service."""
        snapshot = message.snapshot
        self._about(process, CONTROL_RECEIVE, snapshot, message.channel.name, message.id, message.body)
        self._snapshot = snapshot
        self._book(process).on_control(process, message, self._out)
        self._obey(process)
        self._snapshot = None

    def initiate(self, process: Process, snapshot: str) -> None:
        """The scenario asks for a snapshot; one that was aborted here stays so."""
        if snapshot in process.ended:
            return
        self._snapshot = snapshot
        self._book(process).on_initiate(process, snapshot, self._out)
        self._obey(process)
        self._snapshot = None

    def fire(self, process: Process, timer: Timer) -> None:
        """A timer goes off."""
        self.emit((process.name, None, TIMER, None, None, None, timer.name, None, timer.snapshot))
        self._snapshot = timer.snapshot
        self._book(process).on_timer(process, timer, self._out)
        self._obey(process)
        self._snapshot = None

    def forget(self) -> None:
        """An action was refused half-way: what it asked for is not to be done."""
        self._out.effects, self._snapshot, self._overtaken = [], None, ()

    def start(self, service: Process) -> None:
        """A service begins its work."""
        self._services[service.number].on_start(service, self._out)
        self._obey(service)

    # ------------------------------------------------------------------ effects

    def _obey(self, process: Process) -> None:
        """Carry out what was asked for, in its order, until nothing remains: an effect may lead to more."""
        out = self._out
        while out.effects:
            effects, out.effects = out.effects, []
            for effect in effects:
                self._do[type(effect)](process, effect)

    def _about(
        self, process: Process, kind: str, snapshot: str | None, channel: str | None = None, message: int | None = None,
        body: Any = None, index: int | None = None,
    ) -> None:  # fmt: skip
        """Emit a row that is no application event."""
        self.emit((process.name, index, kind, channel, None, message, None, body, snapshot))

    def _send_to(self, process: Process, effect: SendMessage) -> None:
        out = self._out
        later, out.effects = out.effects, []  # what is asked for because of this send comes before what waits already
        self.send(process, self.world.channel_to(process.number, effect.target), effect.body)
        out.effects = later

    def _send_marker(self, process: Process, effect: SendMarker) -> None:
        channel, snapshot = effect.channel, effect.snapshot
        number = self._transmit(channel, MARKER, effect.body, snapshot)
        self._about(process, MARKER_SEND, snapshot, channel.name, number)

    def _tell(self, process: Process, effect: Tell) -> None:
        channel, snapshot = self.world.control_channel(process.number, effect.target), effect.snapshot
        self._check_uses_control("tells others something")
        number = self._transmit(channel, CONTROL, effect.body, snapshot)
        self._about(process, CONTROL_SEND, snapshot, channel.name, number, effect.body)

    def _set_timer(self, process: Process, effect: SetTimer) -> None:
        if not effect.after >= 0:
            raise TypeError(f"{self.algorithm.title} sets a timer {effect.after} time units ahead; give at least 0")
        self._check_uses_control("sets a timer")
        self.world.schedule(process, effect.name, effect.after, effect.snapshot)

    def _check_uses_control(self, does: str) -> None:
        """Raises TypeError where a rule book does what it cannot hear of again: schedulers rely on it."""
        if not self.algorithm.uses_control:
            raise TypeError(
                f"{self.algorithm.title} {does}, but it has neither on_control nor on_timer, and no service"
            )

    def _cancel_timer(self, process: Process, effect: CancelTimer) -> None:
        self.world.schedule(process, effect.name, None, None)

    # ------------------------------------------------------------------ recording

    def _record(self, process: Process, effect: Record) -> None:
        snapshot = effect.snapshot
        if snapshot in process.ended:
            return
        local = LocalSnapshot(process.state, process.index, {}, frozenset(), False)
        process.snapshots = {**process.snapshots, snapshot: local}
        self._about(process, RECORD, snapshot, body=process.state, index=process.index)
        self._done_if_closed(process, snapshot)

    def _listen(self, process: Process, effect: Listen) -> None:
        channel, snapshot = effect
        open_here = process.listening.get(channel, ())
        if snapshot not in process.ended and snapshot not in open_here:
            process.listening = {**process.listening, channel: (*open_here, snapshot)}

    def _keep(self, process: Process, message: Message, snapshot: str) -> None:
        """Add a message to the state of its channel, unless it is there already."""
        local = process.snapshots.get(snapshot)
        if local is None:
            if snapshot in process.ended:
                return
            raise TypeError(f"{self.algorithm.title} keeps a message, but {process.name} has not recorded")
        channel = message.channel
        if channel in local.closed:
            raise TypeError(f"{self.algorithm.title} keeps a message of {channel.name}, which is closed")
        before = local.kept.get(channel, ())
        if message in before:
            return
        kept = {**local.kept, channel: (*before, message)}
        process.snapshots = {**process.snapshots, snapshot: local._replace(kept=kept)}
        self._about(process, RECORDED, snapshot, channel.name, message.id, message.body)

    def _keep_one(self, process: Process, effect: Keep) -> None:
        self._keep(process, effect.message, effect.snapshot)

    def _keep_overtaken(self, process: Process, effect: KeepOvertaken) -> None:
        assert effect.marker.snapshot is not None
        for message in self._overtaken:
            if message.kind == APP:
                self._keep(process, message, effect.marker.snapshot)

    def _close(self, process: Process, effect: Close) -> None:
        channel, snapshot = effect
        local = process.snapshots.get(snapshot)
        if local is None and snapshot in process.ended:
            return
        if local is None:
            raise TypeError(f"{self.algorithm.title} closes {channel.name}, but {process.name} has not recorded")
        self._stop_listening(process, snapshot, channel)
        process.snapshots = {**process.snapshots, snapshot: local._replace(closed=local.closed | {channel})}
        bodies = [message.body for message in local.kept.get(channel, ())]
        self._about(process, CHANNEL_CLOSED, snapshot, channel.name, body=bodies)
        self._done_if_closed(process, snapshot)

    @staticmethod
    def _stop_listening(process: Process, snapshot: str, channel: Channel) -> None:
        open_here = process.listening.get(channel, ())
        if snapshot not in open_here:
            return
        listening = process.listening.copy()
        others = tuple(other for other in listening.pop(channel) if other != snapshot)
        if others:
            listening[channel] = others
        process.listening = listening

    def _done_if_closed(self, process: Process, snapshot: str) -> None:
        """A process is done with a snapshot when it has recorded and every incoming channel is closed."""
        local = process.snapshots[snapshot]
        if local.done or (self.algorithm.closes_by != BY_NOTHING and len(local.closed) < len(process.incoming)):
            return
        process.snapshots = {**process.snapshots, snapshot: local._replace(done=True)}
        self._about(process, SNAPSHOT_COMPLETE, snapshot)
        if self._on_done is not None:
            self._on_done(process, snapshot, self._out)

    def _abort(self, process: Process, effect: Abort) -> None:
        snapshot = effect.snapshot
        if snapshot in process.ended:
            return
        process.ended |= {snapshot}
        process.snapshots = {key: kept for key, kept in process.snapshots.items() if key != snapshot}
        for channel in tuple(process.listening):
            self._stop_listening(process, snapshot, channel)
        self._about(process, SNAPSHOT_ABORTED, snapshot)
        if self._on_abort is not None:
            self._on_abort(process, snapshot, self._out)

    # ------------------------------------------------------------------ blocking and pausing

    def _block(self, process: Process, effect: Block) -> None:
        if effect.channel not in process.blocked:
            process.blocked |= {effect.channel}
            self._about(process, BLOCKED, effect.snapshot or self._snapshot, effect.channel.name)

    def _unblock(self, process: Process, effect: Unblock) -> None:
        if effect.channel in process.blocked:
            process.blocked -= {effect.channel}
            self._about(process, UNBLOCKED, effect.snapshot or self._snapshot, effect.channel.name)

    def _pause(self, process: Process, effect: Pause) -> None:
        if not self.algorithm.pauses:
            raise TypeError(f"{self.algorithm.title} pauses a process; it must declare `pauses = True`")
        if not process.paused:
            process.paused = True
            self._about(process, PAUSED, effect.snapshot or self._snapshot)

    def _resume(self, process: Process, effect: Resume) -> None:
        if process.paused:
            process.paused = False
            self._about(process, RESUMED, effect.snapshot or self._snapshot)
