"""What a snapshot algorithm is: a rule book that sees one process and an `Out`.

A rule never touches the network, the clock or another process. It says what it wants by calling
`Out`, which only collects; the engine carries the effects out, in order, within the same atomic
action. Hence "record the state and send the markers" is one action by construction.
"""

from __future__ import annotations

from typing import Any

from sim.model import Channel, Message, Process
from sim.registry import Registry

Effect = tuple[Any, ...]


class Out:
    """Collects the effects that a rule (or a reactive workload) asks for. Effects are (name, *arguments)."""

    __slots__ = ("effects",)

    def __init__(self) -> None:
        self.effects: list[Effect] = []

    def record(self, snapshot: str) -> None:
        """Record the state of this process for `snapshot`."""
        self.effects.append(("record", snapshot))

    def start_recording(self, channel: Channel, snapshot: str) -> None:
        """From now on, what arrives on `channel` belongs to its recorded state (and is delivered as well)."""
        self.effects.append(("start_recording", channel, snapshot))

    def keep(self, message: Message, snapshot: str) -> None:
        """Record this one message in its channel's state, without recording what follows it."""
        self.effects.append(("keep", message, snapshot))

    def close(self, channel: Channel, snapshot: str) -> None:
        """The state of `channel` is what was recorded on it since `start_recording`: nothing, if that never was."""
        self.effects.append(("close", channel, snapshot))

    def send_marker(self, channel: Channel, snapshot: str, body: Any = None) -> None:
        """Send a marker of `snapshot` on `channel`, in the same FIFO stream as the messages."""
        self.effects.append(("send_marker", channel, snapshot, body))

    def send(self, target: str, body: Any = None) -> None:
        """Send an application message to the process named `target` (reactive workloads)."""
        self.effects.append(("send", target, body))

    def block(self, channel: Channel) -> None:
        """Deliver nothing more on `channel` until it is unblocked (aligned barriers)."""
        self.effects.append(("block", channel))

    def unblock(self, channel: Channel) -> None:
        """Deliver on `channel` again."""
        self.effects.append(("unblock", channel))

    def pause(self) -> None:
        """This process takes no internal or send action until it resumes (stop-the-world); it still receives."""
        self.effects.append(("pause",))

    def resume(self) -> None:
        """This process computes again."""
        self.effects.append(("resume",))

    def abort(self, snapshot: str) -> None:
        """Throw away what this process has recorded for `snapshot`."""
        self.effects.append(("abort", snapshot))


class SnapshotAlgorithm:
    """The hooks of an algorithm, each doing nothing, and the capabilities it declares.

    The engine never asks which algorithm it runs: it calls the hooks and honours the capabilities
    when it says which actions are enabled.
    """

    name = ""
    title = ""
    source = ""
    needs_fifo = True  # refuse scenarios with a channel that is not FIFO
    overtakes = False  # its markers may be delivered ahead of the messages in front of them
    pauses = False  # it may pause processes

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """The scenario asks `process` to initiate `snapshot`. Must do nothing if it has recorded it already."""

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """`process` receives `marker`, which names its channel and its snapshot."""

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        """`process` is about to receive `message`: called before the workload sees it."""

    def on_send(self, process: Process, channel: Channel, out: Out) -> Any:
        """`process` is about to send on `channel`. Returns the stamp that travels with the message."""
        return None


ALGORITHMS: Registry[type[SnapshotAlgorithm]] = Registry("sim.algorithms", SnapshotAlgorithm)
