"""The effects that a rule may ask for. `Out` collects them; sim/core/rules.py carries them out."""

from __future__ import annotations

from typing import Any, NamedTuple

from sim.core.model import Channel, Message


class Record(NamedTuple):
    """Record the state of this process."""

    snapshot: str


class Listen(NamedTuple):
    """Record every message that arrives on `channel`, until the channel is closed."""

    channel: Channel
    snapshot: str


class Keep(NamedTuple):
    """Record this one message."""

    message: Message
    snapshot: str


class KeepOvertaken(NamedTuple):
    """Record the messages that `marker`, which has just arrived, has overtaken."""

    marker: Message


class Close(NamedTuple):
    """Stop recording `channel`: its state is the messages recorded so far."""

    channel: Channel
    snapshot: str


class SendMarker(NamedTuple):
    """Send a marker on `channel`, in order with the application messages."""

    channel: Channel
    snapshot: str
    body: Any


class CarryMarker(NamedTuple):
    """A marker rides on the message that is about to be sent on `channel`."""

    channel: Channel
    snapshot: str


class SendMessage(NamedTuple):
    """Send an application message to the process named `target`."""

    target: str
    body: Any


class Tell(NamedTuple):
    """Send a control message to the process or service named `target`."""

    target: str
    body: Any
    snapshot: str | None
    load: Any


class SetTimer(NamedTuple):
    """Set the timer `name` to go off in `after` time units; this replaces an earlier one with that name."""

    name: str
    after: float
    snapshot: str | None


class CancelTimer(NamedTuple):
    """Cancel the timer `name`."""

    name: str


class Block(NamedTuple):
    """Deliver nothing more on `channel`."""

    channel: Channel
    snapshot: str | None


class Unblock(NamedTuple):
    """Deliver on `channel` again."""

    channel: Channel
    snapshot: str | None


class Pause(NamedTuple):
    """This process begins no internal event and no send; it still receives, and answers what it receives."""

    snapshot: str | None


class Resume(NamedTuple):
    """This process goes on after a pause."""

    snapshot: str | None


class StandStill(NamedTuple):
    """This process begins nothing and takes nothing from its channels until GoOn, although its algorithm allows it."""


class GoOn(NamedTuple):
    """This process does again what its algorithm allows."""


class Note(NamedTuple):
    """Show something of the rules that no other effect shows."""

    snapshot: str
    body: Any


class Collected(NamedTuple):
    """This process knows that every part of the snapshot is there."""

    snapshot: str


class Decide(NamedTuple):
    """A service has decided how a snapshot ended."""

    snapshot: str
    outcome: str
    reason: str
    detail: str


class Forget(NamedTuple):
    """Discard what this process has recorded for a complete snapshot that is kept no longer."""

    snapshot: str


class Commit(NamedTuple):
    """The manifest of a snapshot is written: the workload may give its outputs to the environment."""

    snapshot: str


class Give(NamedTuple):
    """This process gives an output to the environment."""

    body: Any


class Manifest(NamedTuple):
    """A storage has written the manifest of a snapshot, which is valid from now on."""

    snapshot: str
    body: Any


class Abort(NamedTuple):
    """Discard what this process has recorded, and record nothing more for this snapshot."""

    snapshot: str


Effect = (
    Record | Listen | Keep | KeepOvertaken | Close | SendMarker | SendMessage | Tell | SetTimer | CancelTimer | Block
    | Unblock | Pause | Resume | StandStill | GoOn | Note | Collected | CarryMarker | Decide | Forget | Abort | Commit
    | Give | Manifest
)  # fmt: skip


class Out:
    """Collects the effects that a rule (or a reactive workload) asks for, in order."""

    __slots__ = ("effects",)

    def __init__(self) -> None:
        self.effects: list[Effect] = []

    def record(self, snapshot: str) -> None:
        """Record the state of this process for `snapshot`."""
        self.effects.append(Record(snapshot))

    def start_recording(self, channel: Channel, snapshot: str) -> None:
        """Record every message that arrives on `channel` until it is closed. The messages are delivered as well."""
        self.effects.append(Listen(channel, snapshot))

    def keep(self, message: Message, snapshot: str) -> None:
        """Record this one message in the state of its channel. Recording it again changes nothing."""
        self.effects.append(Keep(message, snapshot))

    def keep_overtaken(self, marker: Message) -> None:
        """Record the messages that `marker`, which has just arrived, has overtaken. They are delivered later as well.

        They are recorded in the order of sending.
        """
        self.effects.append(KeepOvertaken(marker))

    def close(self, channel: Channel, snapshot: str) -> None:
        """Stop recording `channel` for `snapshot`. Its state is the messages recorded so far, or empty."""
        self.effects.append(Close(channel, snapshot))

    def send_marker(self, channel: Channel, snapshot: str, body: Any = None) -> None:
        """Send a marker of `snapshot` on `channel`, in order with the application messages."""
        self.effects.append(SendMarker(channel, snapshot, body))

    def carry_marker(self, channel: Channel, snapshot: str) -> None:
        """A marker of `snapshot` rides on the message that is being sent on `channel`, in its stamp (`on_send`)."""
        self.effects.append(CarryMarker(channel, snapshot))

    def send(self, target: str, body: Any = None) -> None:
        """Send an application message to the process named `target` (reactive workloads)."""
        self.effects.append(SendMessage(target, body))

    def tell(self, target: str, body: Any = None, snapshot: str | None = None, load: Any = None) -> None:
        """Send a control message to the process or service named `target`. It belongs to no channel and no cut.

        Its receiver finds `load`, which no row shows, in the stamp of the message.
        """
        self.effects.append(Tell(target, body, snapshot, load))

    def set_timer(self, name: str, after: float, snapshot: str | None = None) -> None:
        """Have `on_timer` called in `after` time units. This replaces an earlier timer with that name."""
        self.effects.append(SetTimer(name, after, snapshot))

    def cancel_timer(self, name: str) -> None:
        """Cancel the timer `name`."""
        self.effects.append(CancelTimer(name))

    def block(self, channel: Channel, snapshot: str | None = None) -> None:
        """Deliver nothing more on `channel` until it is unblocked (aligned barriers).

        The event row names `snapshot`; if None, the snapshot of the marker, control message or timer being handled.
        """
        self.effects.append(Block(channel, snapshot))

    def unblock(self, channel: Channel, snapshot: str | None = None) -> None:
        """Deliver on `channel` again."""
        self.effects.append(Unblock(channel, snapshot))

    def pause(self, snapshot: str | None = None) -> None:
        """This process begins nothing, neither an internal event nor a send, until it resumes (stop-the-world).

        It still receives. What a reactive workload answers is part of the receipt, so it is sent: without it the
        state of the process would be one in the middle of an action. Rules that wait for empty channels count it.
        """
        self.effects.append(Pause(snapshot))

    def resume(self, snapshot: str | None = None) -> None:
        """This process goes on after a pause."""
        self.effects.append(Resume(snapshot))

    def stand_still(self) -> None:
        """This process begins nothing, and no channel delivers anything to it, until it goes on.

        What the algorithm blocks and pauses meanwhile, or no longer, holds from then on.
        """
        self.effects.append(StandStill())

    def go_on(self) -> None:
        """This process no longer stands still. What the algorithm has blocked or paused stays so."""
        self.effects.append(GoOn())

    def note(self, snapshot: str, body: Any) -> None:
        """Show something of the rules that no other effect shows, such as a sum: a row of its own, with this body."""
        self.effects.append(Note(snapshot, body))

    def collected(self, snapshot: str) -> None:
        """This process, which started `snapshot`, knows that every part of it is there: an event of its own."""
        self.effects.append(Collected(snapshot))

    def decide(self, snapshot: str, outcome: str, reason: str = "", detail: str = "") -> None:
        """This service has decided, once, how `snapshot` ended: "complete", "expired" or "failed", and why."""
        self.effects.append(Decide(snapshot, outcome, reason, detail))

    def forget(self, snapshot: str) -> None:
        """Discard what this process has recorded for `snapshot`, which is complete and no longer kept."""
        self.effects.append(Forget(snapshot))

    def commit(self, snapshot: str) -> None:
        """This process hears that `snapshot` is valid: the workload may give its outputs to the environment."""
        self.effects.append(Commit(snapshot))

    def give(self, body: Any) -> None:
        """This process gives an output to the environment, which no recovery takes back."""
        self.effects.append(Give(body))

    def manifest(self, snapshot: str, body: Any) -> None:
        """This service has written the manifest of `snapshot`, which is valid now; `body` says what it holds."""
        self.effects.append(Manifest(snapshot, body))

    def abort(self, snapshot: str) -> None:
        """Discard what this process has recorded for `snapshot`, and ignore its later markers."""
        self.effects.append(Abort(snapshot))
