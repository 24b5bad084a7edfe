"""The effects of one action on ONE process: its workload and its algorithm are asked, and their effects carried out.

A process acts on its surroundings, its `World`, in three ways: it transmits messages, emits rows of the event table and
schedules timers. In a simulation the engine is the `World` of all processes; a test or a live process may have another.
Nothing here knows the time or another process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from sim.core.algorithm import BY_NOTHING, Service, SnapshotAlgorithm
from sim.core.effects import (
    Abort,
    Block,
    CancelTimer,
    CarryMarker,
    Close,
    Collected,
    Commit,
    Decide,
    Forget,
    Give,
    GoOn,
    Keep,
    KeepOvertaken,
    Listen,
    Manifest,
    Note,
    Out,
    Pause,
    Record,
    Resume,
    SendMarker,
    SendMessage,
    SetTimer,
    StandStill,
    Tell,
    Unblock,
)
from sim.core.model import (
    APP,
    BLOCKED,
    CHANNEL_CLOSED,
    COLLECTED,
    COMMITTED,
    CONTROL,
    CONTROL_RECEIVE,
    CONTROL_SEND,
    DECISION,
    INTERNAL,
    MARKER,
    MARKER_CARRIED,
    MARKER_RECEIVE,
    MARKER_SEND,
    NOTED,
    OUTPUT,
    PAUSED,
    PUT_BACK,
    RECEIVE,
    RECORD,
    RECORDED,
    RESTORE,
    RESUMED,
    SEND,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    STATE_CHANGED,
    TIMER,
    UNBLOCKED,
    Channel,
    LocalSnapshot,
    Message,
    Process,
    Restorable,
    Timer,
)
from sim.core.recovery import restore
from sim.core.workload import Workload

# A row of the log: process, index, kind, channel, peer_index, message_id, label, body (a value, not JSON), snapshot_id.
Row = tuple[str, int | None, str, str | None, int | None, int | None, str | None, Any, str | None]
ROW_WIDTH = 9


def count_message(process: Process, channel: Channel) -> None:
    """`process` has sent or received one more message on `channel`, which is a log."""
    process.offsets = {**process.offsets, channel: process.offsets.get(channel, 0) + 1}


class World(Protocol):
    """The surroundings of a process: how it sends messages and sets timers."""

    def transmit(
        self, channel: Channel, kind: str, body: Any, snapshot: str | None = None, stamp: Any = None,
        sent_index: int | None = None, label: str | None = None, receive_label: str | None = None,
    ) -> int:  # fmt: skip
        """Send a message on `channel`, and return its id."""

    def control_channel(self, source: int, target: str) -> Channel:
        """The channel for control messages from process number `source` to the process or service named `target`."""

    def channel_to(self, source: int, target: str) -> Channel:
        """The channel from process number `source` to the process named `target`."""

    def schedule(self, process: Process, name: str, after: float | None, snapshot: str | None) -> None:
        """Set the timer `name` of `process`, replacing an earlier one; `after` None: only cancel it."""


class Rules:
    """The rules of one system. Each public method but `drop_effects` carries out one action on one process, in place.

    Methods rebind fields of the process and mutate no value. They call `emit` with each Row, in order; the engine sets
    `emit` to the `extend` of its log. They raise Refused if the workload cannot carry out the action.
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
        self._snapshot: str | None = None  # the snapshot of the marker, control message or timer being handled
        self._overtaken: Sequence[Message] = ()  # by the marker being handled
        self._on_message = self._hook("on_message")
        self._on_send = self._hook("on_send")
        self._on_acted = self._hook("on_acted")
        self._on_done = self._hook("on_done")
        self._on_abort = self._hook("on_abort")
        self._on_restart = self._hook("on_restart")
        self._on_thaw = self._hook("on_thaw")
        self._on_leave = self._hook("on_leave")
        self._on_restore = self._hook("on_restore")
        self.records_epochs = False  # whether a recording holds what only a recovery needs
        self.counts_messages = False  # whether channels are logs, of which a process knows its offsets
        self._copies_states = algorithm.copies_states
        self._after_send = workload.after_send
        self._after_receive = workload.after_receive
        self._do: dict[type, Callable[[Process, Any], None]] = {
            Record: self._record, Listen: self._listen, Keep: self._keep_one, KeepOvertaken: self._keep_overtaken,
            Close: self._close, SendMarker: self._send_marker, SendMessage: self._send_to, Tell: self._tell,
            SetTimer: self._set_timer, CancelTimer: self._cancel_timer, Block: self._block, Unblock: self._unblock,
            Pause: self._pause, Resume: self._resume, Note: self._note, Collected: self._collected,
            CarryMarker: self._carry_marker, Decide: self._decide, Forget: self._forget, Abort: self._abort,
            Commit: self._commit, Give: self._give, Manifest: self._manifest, StandStill: self._stand_still,
            GoOn: self._go_on,
        }  # fmt: skip

    def _hook(self, name: str) -> Callable[..., Any] | None:
        """The algorithm's hook called `name`, or None if the algorithm does not override it."""
        overridden = getattr(type(self.algorithm), name) is not getattr(SnapshotAlgorithm, name)
        return getattr(self.algorithm, name) if overridden else None

    def _rule_book(self, process: Process) -> Any:
        """The service with the number of `process`, else the algorithm."""
        return self._services.get(process.number, self.algorithm) if self._services else self.algorithm

    # ------------------------------------------------------------------ actions

    def internal(self, process: Process, body: Any, label: str | None) -> None:
        """`process` has an internal event."""
        process.state = self.workload.after_internal(process, body, self._out)
        process.index = index = process.index + 1
        self.emit((process.name, index, INTERNAL, None, None, None, label, body, None))
        if not self._copies_states:
            self._change_recorded(process)
        if self._out.effects:
            self._carry_out(process)
        if self._on_acted is not None:
            self._acted(process)

    def send(
        self, process: Process, channel: Channel, body: Any, label: str | None = None,
        receive_label: str | None = None, *, is_answer: bool = False,
    ) -> None:  # fmt: skip
        """`process` sends an application message; `is_answer`: as part of another action."""
        stamp = None
        if self._on_send is not None:
            stamp = self._on_send(process, channel, self._out)
            if self._out.effects:  # carried out before the send
                self._carry_out(process)
        process.state = self._after_send(process, body)
        process.index = index = process.index + 1
        number = self._transmit(channel, APP, body, None, stamp, index, label, receive_label)
        self.emit((process.name, index, SEND, channel.name, None, number, label, body, None))
        if not self._copies_states:
            self._change_recorded(process)
        if self._on_acted is not None and not is_answer:
            self._acted(process)

    def receive(self, process: Process, message: Message) -> None:
        """`process` receives an application message. A message that is recorded is delivered as well."""
        if self._on_message is not None:
            self._on_message(process, message, self._out)
            self._carry_out(process)
        if process.listening:
            for snapshot in process.listening.get(message.channel, ()):
                self._keep(process, message, snapshot)
        out = self._out
        process.state = self._after_receive(process, message, out)
        process.index = index = process.index + 1
        if self.counts_messages:
            count_message(process, message.channel)
        self.emit((
            process.name, index, RECEIVE, message.channel.name, message.sent_index, message.id, message.receive_label,
            message.body, None,
        ))  # fmt: skip
        if not self._copies_states:
            self._change_recorded(process)
        if out.effects:
            self._carry_out(process)
        if self._on_acted is not None:
            self._acted(process)

    def _acted(self, process: Process) -> None:
        """The end of an action with application events."""
        assert self._on_acted is not None
        self._on_acted(process, self._out)
        self._carry_out(process)

    def receive_marker(self, process: Process, marker: Message, overtaken: Sequence[Message] = ()) -> None:
        """`process` receives a marker, ahead of the `overtaken` messages, which were sent before it on its channel.

        A marker of a snapshot that `process` has completed or aborted changes nothing.
        """
        snapshot = marker.snapshot
        assert snapshot is not None
        self._emit_row(process, MARKER_RECEIVE, snapshot, marker.channel.name, marker.id)
        local = process.snapshots.get(snapshot)
        if snapshot in process.aborted or (local is not None and local.done and self.algorithm.closes_by != BY_NOTHING):
            return
        self._snapshot, self._overtaken = snapshot, overtaken
        self.algorithm.on_marker(process, marker, self._out)
        self._carry_out(process)
        self._snapshot, self._overtaken = None, ()

    def receive_control(self, process: Process, message: Message) -> None:
        """`process`, which may be a service, receives a control message."""
        snapshot = message.snapshot
        self._emit_row(process, CONTROL_RECEIVE, snapshot, message.channel.name, message.id, message.body)
        self._snapshot = snapshot
        self._rule_book(process).on_control(process, message, self._out)
        self._carry_out(process)
        self._snapshot = None

    def initiate(self, process: Process, snapshot: str) -> None:
        """`process` initiates `snapshot`, unless it has aborted it."""
        if snapshot in process.aborted:
            return
        self._snapshot = snapshot
        self._rule_book(process).on_initiate(process, snapshot, self._out)
        self._carry_out(process)
        self._snapshot = None

    def fire(self, process: Process, timer: Timer) -> None:
        """`timer`, which `process` has set, goes off."""
        self.emit((process.name, None, TIMER, None, None, None, timer.name, None, timer.snapshot))
        self._snapshot = timer.snapshot
        self._rule_book(process).on_timer(process, timer, self._out)
        self._carry_out(process)
        self._snapshot = None

    def begin_again(self, process: Process) -> None:
        """`process` has started again after a crash, or has joined."""
        process.incarnation += 1
        if self._on_restart is not None:
            self._on_restart(process, self._out)
            self._carry_out(process)

    def thaw(self, process: Process) -> None:
        """`process` goes on after it has stood still."""
        if self._on_thaw is not None:
            self._on_thaw(process, self._out)
            self._carry_out(process)

    def leave(self, process: Process) -> None:
        """`process` is about to leave. One that is down or frozen says nothing."""
        if process.alive and not process.frozen and self._on_leave is not None:
            self._on_leave(process, self._out)
            self._carry_out(process)

    def restore(self, process: Process, goal: Restorable, epoch: int) -> None:
        """`process` goes back to its part of `goal`, and begins a new epoch. What is not valid is thrown away."""
        for name in process.snapshots:
            if name not in goal.valid:
                self._emit_row(process, SNAPSHOT_ABORTED, name)
        part = restore(process, goal, epoch, self.workload.initial(process.name))
        process.incarnation = max(process.incarnation + 1, epoch)
        body = {"epoch": epoch, "state": process.state}
        self._emit_row(process, RESTORE, goal.snapshot, body=body, index=part.inside)
        process.state = self.workload.after_restore(process, self._out)
        self._carry_out(process)
        if self._on_restore is not None:
            self._on_restore(process, self._out)
            self._carry_out(process)

    def put_back(self, process: Process, snapshot: str | None, message: Message) -> None:
        """A recovery puts `message` back into its channel, which leads to `process`."""
        self._emit_row(process, PUT_BACK, snapshot, message.channel.name, message.id, message.body)

    def recover(self, service: Process, goal: Restorable) -> None:
        """A recovery begins, which goes back to `goal`: `service` hears of it."""
        self._services[service.number].on_recovery(service, goal, self._out)
        self._carry_out(service)

    def crashed(self, service: Process, process: str) -> None:
        """The platform tells `service` that `process` has crashed."""
        self._services[service.number].on_crash(service, process, self._out)
        self._carry_out(service)

    def from_outside(self, process: Process, ask: Callable[[Out], None]) -> None:
        """Carry out a request from outside the system to `process`, which may be a service: `ask` makes it."""
        ask(self._out)
        self._carry_out(process)

    def drop_effects(self) -> None:
        """Forget the effects that a refused action has asked for."""
        self._out.effects, self._snapshot, self._overtaken = [], None, ()

    def start(self, service: Process) -> None:
        """`service` starts."""
        self._services[service.number].on_start(service, self._out)
        self._carry_out(service)

    # ------------------------------------------------------------------ effects

    def _carry_out(self, process: Process) -> None:
        """Carry out the effects in order, also those that an effect causes, until none remain."""
        out = self._out
        while out.effects:
            effects, out.effects = out.effects, []
            for effect in effects:
                self._do[type(effect)](process, effect)

    def _emit_row(
        self, process: Process, kind: str, snapshot: str | None, channel: str | None = None, message: int | None = None,
        body: Any = None, index: int | None = None,
    ) -> None:  # fmt: skip
        """Emit a row that is no application event."""
        self.emit((process.name, index, kind, channel, None, message, None, body, snapshot))

    def _send_to(self, process: Process, effect: SendMessage) -> None:
        out = self._out
        later, out.effects = out.effects, []  # effects caused by this send come before those that wait
        self.send(process, self.world.channel_to(process.number, effect.target), effect.body, is_answer=True)
        out.effects = later

    def _send_marker(self, process: Process, effect: SendMarker) -> None:
        channel, snapshot = effect.channel, effect.snapshot
        number = self._transmit(channel, MARKER, effect.body, snapshot)
        self._emit_row(process, MARKER_SEND, snapshot, channel.name, number, effect.body)

    def _carry_marker(self, process: Process, effect: CarryMarker) -> None:
        self._emit_row(process, MARKER_CARRIED, effect.snapshot, effect.channel.name)

    def _tell(self, process: Process, effect: Tell) -> None:
        channel, snapshot = self.world.control_channel(process.number, effect.target), effect.snapshot
        self._check_uses_control("tells others something")
        number = self._transmit(channel, CONTROL, effect.body, snapshot, effect.load)
        self._emit_row(process, CONTROL_SEND, snapshot, channel.name, number, effect.body)

    def _set_timer(self, process: Process, effect: SetTimer) -> None:
        if not effect.after >= 0:
            raise TypeError(f"{self.algorithm.title} sets a timer {effect.after} time units ahead; give at least 0")
        self._check_uses_control("sets a timer")
        self.world.schedule(process, effect.name, effect.after, effect.snapshot)

    def _check_uses_control(self, does: str) -> None:
        """Raises TypeError if no hook could handle a control message or timer; schedulers ignore both then."""
        if not self.algorithm.uses_control:
            raise TypeError(
                f"{self.algorithm.title} {does}, but it has neither on_control nor on_timer, and no service"
            )

    def _cancel_timer(self, process: Process, effect: CancelTimer) -> None:
        self.world.schedule(process, effect.name, None, None)

    # ------------------------------------------------------------------ recording

    def _record(self, process: Process, effect: Record) -> None:
        snapshot = effect.snapshot
        if snapshot in process.aborted:
            return
        local = LocalSnapshot(process.state, process.index, {}, frozenset(), False)
        if self.records_epochs:
            local = local._replace(turn=process.turn, offsets=process.offsets)
        process.snapshots = {**process.snapshots, snapshot: local}
        self._emit_row(process, RECORD, snapshot, body=process.state, index=process.index)
        self._done_if_closed(process, snapshot)

    def _change_recorded(self, process: Process) -> None:
        """Update recordings that are no copies: the present state counts in every part that is not complete."""
        for snapshot, local in process.snapshots.items():
            if not local.done and local.state != process.state:
                process.snapshots = {**process.snapshots, snapshot: local._replace(state=process.state)}
                self._emit_row(process, STATE_CHANGED, snapshot, body=process.state)

    def _listen(self, process: Process, effect: Listen) -> None:
        channel, snapshot = effect
        open_here = process.listening.get(channel, ())
        if snapshot not in process.aborted and snapshot not in open_here:
            process.listening = {**process.listening, channel: (*open_here, snapshot)}

    def _keep(self, process: Process, message: Message, snapshot: str) -> None:
        """Add a message to the recorded state of its channel, unless it is in it."""
        local = process.snapshots.get(snapshot)
        if local is None:
            if snapshot in process.aborted:
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
        self._emit_row(process, RECORDED, snapshot, channel.name, message.id, message.body)

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
        if local is None and snapshot in process.aborted:
            return
        if local is None:
            raise TypeError(f"{self.algorithm.title} closes {channel.name}, but {process.name} has not recorded")
        self._stop_listening(process, snapshot, channel)
        process.snapshots = {**process.snapshots, snapshot: local._replace(closed=local.closed | {channel})}
        bodies = [message.body for message in local.kept.get(channel, ())]
        self._emit_row(process, CHANNEL_CLOSED, snapshot, channel.name, body=bodies)
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
        """Complete `snapshot` at a process that has recorded and closed every incoming channel."""
        local = process.snapshots[snapshot]
        if local.done:
            return
        if self.algorithm.closes_by != BY_NOTHING:
            missing = len(process.incoming) - len(local.closed)
            if missing > 0 or not local.closed.issuperset(process.incoming):
                return
        process.snapshots = {**process.snapshots, snapshot: local._replace(done=True)}
        self._emit_row(process, SNAPSHOT_COMPLETE, snapshot)
        if self._on_done is not None:
            self._on_done(process, snapshot, self._out)

    def _note(self, process: Process, effect: Note) -> None:
        self._emit_row(process, NOTED, effect.snapshot, body=effect.body)

    def _collected(self, process: Process, effect: Collected) -> None:
        if effect.snapshot not in process.aborted:
            self._emit_row(process, COLLECTED, effect.snapshot)

    def _decide(self, process: Process, effect: Decide) -> None:
        body = {"outcome": effect.outcome, "reason": effect.reason, "detail": effect.detail}
        self._emit_row(process, DECISION, effect.snapshot, body=body)

    def _forget(self, process: Process, effect: Forget) -> None:
        process.snapshots = {key: kept for key, kept in process.snapshots.items() if key != effect.snapshot}
        process.aborted |= {effect.snapshot}
        self._emit_row(process, NOTED, effect.snapshot, body="forgets")

    def _abort(self, process: Process, effect: Abort) -> None:
        snapshot = effect.snapshot
        if snapshot in process.aborted:
            return
        process.aborted |= {snapshot}
        process.snapshots = {key: kept for key, kept in process.snapshots.items() if key != snapshot}
        for channel in tuple(process.listening):
            self._stop_listening(process, snapshot, channel)
        self._emit_row(process, SNAPSHOT_ABORTED, snapshot)
        if self._on_abort is not None:
            self._on_abort(process, snapshot, self._out)

    def _commit(self, process: Process, effect: Commit) -> None:
        part = process.snapshots.get(effect.snapshot)
        if part is not None:
            process.state = self.workload.after_commit(process, part.state, self._out)

    def _give(self, process: Process, effect: Give) -> None:
        process.outside += 1
        self._emit_row(process, OUTPUT, None, body=effect.body)

    def _manifest(self, process: Process, effect: Manifest) -> None:
        self._emit_row(process, COMMITTED, effect.snapshot, body=effect.body)

    # ------------------------------------------------------------------ blocking and pausing

    def _block(self, process: Process, effect: Block) -> None:
        if effect.channel not in process.blocked:
            process.blocked |= {effect.channel}
            self._show_block(process, BLOCKED, effect.channel, effect.snapshot)

    def _unblock(self, process: Process, effect: Unblock) -> None:
        if effect.channel in process.blocked:
            process.blocked -= {effect.channel}
            self._show_block(process, UNBLOCKED, effect.channel, effect.snapshot)

    def _pause(self, process: Process, effect: Pause) -> None:
        if not self.algorithm.pauses:
            raise TypeError(f"{self.algorithm.title} pauses a process; it must declare `pauses = True`")
        if not process.paused:
            process.paused = True
            self._show_pause(process, PAUSED, effect.snapshot)

    def _resume(self, process: Process, effect: Resume) -> None:
        if process.paused:
            process.paused = False
            self._show_pause(process, RESUMED, effect.snapshot)

    def _stand_still(self, process: Process, effect: StandStill) -> None:
        if not process.stands:
            self._show_standstill(process, PAUSED, BLOCKED)
            process.stands = True

    def _go_on(self, process: Process, effect: GoOn) -> None:
        if process.stands:
            process.stands = False
            self._show_standstill(process, RESUMED, UNBLOCKED)

    def _show_standstill(self, process: Process, pause: str, block: str) -> None:
        """The rows of a process that stands still or goes on: of what its algorithm does not hold by itself."""
        if not process.paused:
            self._show_pause(process, pause, None)
        for channel in process.incoming:
            if channel not in process.blocked:
                self._show_block(process, block, channel, None)

    def _show_pause(self, process: Process, kind: str, snapshot: str | None) -> None:
        if not process.stands:  # else it has been said of all that it does
            self._emit_row(process, kind, snapshot or self._snapshot)

    def _show_block(self, process: Process, kind: str, channel: Channel, snapshot: str | None) -> None:
        if not process.stands:
            self._emit_row(process, kind, snapshot or self._snapshot, channel.name)
