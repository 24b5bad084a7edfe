"""What a rule may ask for: each effect is a small value. `Out` collects them, sim/core/rules.py carries them out."""

from __future__ import annotations

from typing import Any, NamedTuple

from sim.core.model import Channel, Message


class Record(NamedTuple):
    """Record the state of this process."""

    snapshot: str


class Listen(NamedTuple):
    """Record whatever arrives on `channel` from now on, until it is closed."""

    channel: Channel
    snapshot: str


class Keep(NamedTuple):
    """Record this one message, once."""

    message: Message
    snapshot: str


class KeepOvertaken(NamedTuple):
    """Record the messages that the marker which has just come has overtaken."""

    marker: Message


class Close(NamedTuple):
    """The state of `channel` is what has been recorded on it."""

    channel: Channel
    snapshot: str


class SendMarker(NamedTuple):
    """A marker on `channel`, in the same stream as the messages."""

    channel: Channel
    snapshot: str
    body: Any


class SendMessage(NamedTuple):
    """An application message to the process named `target`."""

    target: str
    body: Any


class Tell(NamedTuple):
    """A control message to the process or service named `target`."""

    target: str
    body: Any
    snapshot: str | None


class SetTimer(NamedTuple):
    """An alarm `after` time units from now, instead of one of that name that is set."""

    name: str
    after: float
    snapshot: str | None


class CancelTimer(NamedTuple):
    """The alarm of that name does not go off."""

    name: str


class Block(NamedTuple):
    """Take nothing more from `channel`."""

    channel: Channel
    snapshot: str | None


class Unblock(NamedTuple):
    """Take from `channel` again."""

    channel: Channel
    snapshot: str | None


class Pause(NamedTuple):
    """This process does nothing of its own accord; it still receives."""

    snapshot: str | None


class Resume(NamedTuple):
    """This process computes again."""

    snapshot: str | None


class Abort(NamedTuple):
    """Throw away what this process has recorded, for good."""

    snapshot: str


Effect = (
    Record | Listen | Keep | KeepOvertaken | Close | SendMarker | SendMessage | Tell | SetTimer | CancelTimer | Block
    | Unblock | Pause | Resume | Abort
)  # fmt: skip


class Out:
    """Collects the effects that a rule (or a reactive workload) asks for, in their order."""

    __slots__ = ("effects",)

    def __init__(self) -> None:
        self.effects: list[Effect] = []

    def record(self, snapshot: str) -> None:
        """Record the state of this process for `snapshot`."""
        self.effects.append(Record(snapshot))

    def start_recording(self, channel: Channel, snapshot: str) -> None:
        """From now on, what arrives on `channel` belongs to its recorded state (and is delivered as well)."""
        self.effects.append(Listen(channel, snapshot))

    def keep(self, message: Message, snapshot: str) -> None:
        """Record this one message in its channel's state, once, and nothing that follows it."""
        self.effects.append(Keep(message, snapshot))

    def keep_overtaken(self, marker: Message) -> None:
        """Record the messages that `marker`, which has just come, has overtaken; they are delivered later as well.

        They are recorded in the order in which they were sent, which on a FIFO channel is that of their receipt.
        """
        self.effects.append(KeepOvertaken(marker))

    def close(self, channel: Channel, snapshot: str) -> None:
        """The state of `channel` is what has been recorded on it for `snapshot`: nothing, if nothing was."""
        self.effects.append(Close(channel, snapshot))

    def send_marker(self, channel: Channel, snapshot: str, body: Any = None) -> None:
        """Send a marker of `snapshot` on `channel`, in the same FIFO stream as the messages."""
        self.effects.append(SendMarker(channel, snapshot, body))

    def send(self, target: str, body: Any = None) -> None:
        """Send an application message to the process named `target` (reactive workloads)."""
        self.effects.append(SendMessage(target, body))

    def tell(self, target: str, body: Any = None, snapshot: str | None = None) -> None:
        """Send a control message to the process or service named `target`: it is in no channel and in no cut."""
        self.effects.append(Tell(target, body, snapshot))

    def set_timer(self, name: str, after: float, snapshot: str | None = None) -> None:
        """Have `on_timer` called `after` time units from now; a timer of that name that is set is set anew."""
        self.effects.append(SetTimer(name, after, snapshot))

    def cancel_timer(self, name: str) -> None:
        """The timer of that name does not go off."""
        self.effects.append(CancelTimer(name))

    def block(self, channel: Channel, snapshot: str | None = None) -> None:
        """Deliver nothing more on `channel` until it is unblocked (aligned barriers).

        The row says for which snapshot: the one given, else that of the marker, control message or timer at hand.
        """
        self.effects.append(Block(channel, snapshot))

    def unblock(self, channel: Channel, snapshot: str | None = None) -> None:
        """Deliver on `channel` again."""
        self.effects.append(Unblock(channel, snapshot))

    def pause(self, snapshot: str | None = None) -> None:
        """This process takes no internal or send action until it resumes (stop-the-world).

        It still receives, and a reactive workload still answers what it receives.
        """
        self.effects.append(Pause(snapshot))

    def resume(self, snapshot: str | None = None) -> None:
        """This process computes again."""
        self.effects.append(Resume(snapshot))

    def abort(self, snapshot: str) -> None:
        """Throw away what this process has recorded for `snapshot`, and ignore the markers of it that still come."""
        self.effects.append(Abort(snapshot))
