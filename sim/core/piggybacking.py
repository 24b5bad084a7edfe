"""Markers that ride on messages: rules that an algorithm with markers may add to its own, as an option.

A marker only has to come before what its sender sends after it recorded. So it may travel with the first such message
and costs no message of its own (piggybacking):

1. A process that records sends no markers. The marker of each outgoing channel waits for the next message there.
2. That message carries the marker, in its stamp. Its receiver handles the marker first, by the rules of the algorithm,
   and takes in the message afterwards: the message was sent after the recording.
3. A channel on which nothing is sent would never get its marker. So if the process has sent nothing on a channel for
   `piggyback` time units after it recorded, it sends a marker by itself there: a bare marker.

A marker is never late by more than this time, and every channel carries one marker of each snapshot, bare or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import Caption, Rule, RuleClause, Stamp
from sim.core.effects import Out, SendMarker
from sim.core.model import MARKER, Channel, Event, Message, Process, Timer
from sim.core.parameters import Parameter

PIGGYBACK = Parameter("number", 0.0, "time units that a marker waits for a message to ride on (0: not at all)")

Markers = tuple[tuple[str, Any], ...]  # of one channel: the snapshot of each, and what the marker carries
Waiting = Mapping[Channel, Markers]

RIDES = RuleClause(
    "Markers wait for messages",
    "A process that has recorded does not send its markers at once. The marker of a channel rides on the next message "
    "that the process sends there.",
)
CARRIED = RuleClause(
    "A message carries a marker",
    "The receiver first follows the marker-receiving rule, and only then takes in the message: it was sent after its "
    "sender had recorded.",
)
BARE = RuleClause(
    "A bare marker",
    "Where a process sends no message on a channel for a given time after it recorded, it sends a marker by itself.",
)
OURS = "Markers on messages are a known saving; the bare marker after a given time is ours"


class Piggybacking(SnapshotAlgorithm):
    """The rules of the option. Among the notes of a process, `memory["waiting"]` are the markers that wait."""

    piggyback: float
    allows_crashes = False
    allows_coordinator = False
    allows_recovery = False

    # ------------------------------------------------------------------ rules

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """Rule 1, where the algorithm sends its markers."""
        own = Out()
        super().on_initiate(process, snapshot, own)
        self._let_wait(process, own, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """Rule 1, where the algorithm sends its markers."""
        own = Out()
        super().on_marker(process, marker, own)
        self._let_wait(process, own, out)

    def on_send(self, process: Process, channel: Channel, out: Out) -> Markers | None:
        """Rule 2: the stamp is the markers that wait for a message on this channel."""
        waiting = dict(self._markers_that_wait(process))
        riding = waiting.pop(channel, None)
        if riding is None:
            return None
        self._now_wait(process, waiting)
        for snapshot, _ in riding:
            out.carry_marker(channel, snapshot)
            if all(snapshot != name for markers in waiting.values() for name, _ in markers):
                out.cancel_timer(_timer(snapshot))
        return riding

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        """Rule 2: the markers come before the message that carries them."""
        for snapshot, body in message.stamp or ():
            if snapshot not in process.aborted:
                marker = Message(message.id, message.channel, MARKER, body, snapshot, None, None, None, None)
                self.on_marker(process, marker, out)

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        """Rule 3."""
        if timer.snapshot is None or timer.name != _timer(timer.snapshot):
            super().on_timer(process, timer, out)
            return
        waiting = self._markers_that_wait(process)
        for channel, markers in waiting.items():
            for snapshot, body in markers:
                if snapshot == timer.snapshot:
                    out.send_marker(channel, snapshot, body)
        others = {
            channel: tuple(marker for marker in markers if marker[0] != timer.snapshot)
            for channel, markers in waiting.items()
        }
        self._now_wait(process, {channel: markers for channel, markers in others.items() if markers})

    def messages(self) -> int:
        """No marker more than without the option, and a timer at each process."""
        return super().messages() + len(self.graph.processes)

    def _let_wait(self, process: Process, own: Out, out: Out) -> None:
        """Pass on what the algorithm asks for in `own`, but let the markers wait."""
        waiting = dict(self._markers_that_wait(process))
        snapshots: dict[str, None] = {}
        for effect in own.effects:
            if isinstance(effect, SendMarker):
                waiting[effect.channel] = (*waiting.get(effect.channel, ()), (effect.snapshot, effect.body))
                snapshots[effect.snapshot] = None
            else:
                out.effects.append(effect)
        self._now_wait(process, waiting)
        for snapshot in snapshots:
            out.set_timer(_timer(snapshot), self.piggyback, snapshot)

    @staticmethod
    def _markers_that_wait(process: Process) -> Waiting:
        found: Waiting = (process.memory or {}).get("waiting", {})
        return found

    @staticmethod
    def _now_wait(process: Process, waiting: Waiting) -> None:
        others = {key: notes for key, notes in (process.memory or {}).items() if key != "waiting"}
        process.memory = {**others, **({"waiting": waiting} if waiting else {})} or None

    # ------------------------------------------------------------------ words

    rules: ClassVar[tuple[Rule, ...]] = (Rule("Markers on messages", (RIDES, CARRIED, BARE), OURS),)
    stamps: ClassVar[tuple[Stamp, ...]] = (
        Stamp("plain", "An open head: a message that carries no marker.", "open"),
        Stamp(
            "carrying", "A filled head: this message carries a marker, which its receiver handles before it.", "full"
        ),
    )  # fmt: skip
    situations = ("initiates_quietly",)
    captions: ClassVar[Mapping[str, Caption]] = {
        "initiates_quietly": Caption(
            RIDES.name,
            "{process} starts snapshot {snapshot}: it {clauses}. Its {marker}s wait for messages to ride on.",
        ),
        "message_records": Caption(
            CARRIED.name,
            "{message} from {source} carries {process}'s first {marker}{of}: before {process} takes it in, it "
            "{clauses}.",
        ),
        "message": Caption(CARRIED.name, "Its {marker}{of} comes first: {process} {clauses}."),
        "carries": Caption(RIDES.name, ""),
        "timer": Caption(
            BARE.name, "For some time {process} has sent nothing that the {marker}{of} could ride on: it {clauses}."
        ),
    }  # fmt: skip
    clauses: ClassVar[Mapping[str, str]] = {
        "marker": "sends a bare {marker} on {channels}",
        "markers": "sends bare {marker}s on {channels}",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        "not_recorded": "{process} has not recorded for {snapshot}: no {marker} of it has come to {process}, bare or "
        "on a message.",
        "by_message": "{message} came from {source} on {channel} at step {step}, with {process}'s first {marker} of "
        "{snapshot}: it recorded before it took the message in.",
    }

    def situation(self, key: str, rows: Sequence[Event]) -> str:
        """A process that starts a snapshot says that its markers wait, if it has any to send."""
        key = super().situation(key, rows)
        sends = any(channel.source_name == rows[0].process for channel in self.graph.channels)
        return "initiates_quietly" if key == "initiates" and sends else key

    def stamp_of(self, stamp: Any) -> str | None:
        """Whether a message carries a marker."""
        return "carrying" if stamp else "plain"

    def stamp_words(self, stamp: Any) -> str:
        """The load of a message in words, as in "stamped with the marker of S1"."""
        names = [snapshot for snapshot, _ in stamp or ()]
        if not names:
            return ""
        return f"with the {self.marker}{'s' if len(names) > 1 else ''} of {' and '.join(names)}"


def _timer(snapshot: str) -> str:
    """The name of the timer after which bare markers are sent."""
    return f"bare {snapshot}"
