"""Clocks instead of markers: every process records at an agreed time, by its own clock.

The initiator announces the time, and an announcement arrives when its receiver's clock shows that time: its delay is
the skew of that clock. Messages are white if they leave before the sender's alarm, red if after it. As with Lai and
Yang, the state of a channel is its white messages. Their rule that a white process records before it receives a red
message is missing. If all clocks agree, the rule is not needed. If they do not, there is no snapshot without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from sim.algorithms.lai_yang import LaiYang
from sim.core.algorithm_words import CAPTIONS, Caption, Rule, RuleClause
from sim.core.broken_rule import BrokenRule
from sim.core.effects import Out
from sim.core.model import Channel, Message, Process

ALARM = "alarm"
AGREED = RuleClause(
    "The agreed time has come",
    "All processes have agreed on a time. When the clock of a process shows it, the process records its state.",
)
WHITE = RuleClause(
    "A message from before the agreed time",
    "Each message says whether it was sent before the agreed time, by its sender's clock. Such a message that comes to "
    "a process after its own agreed time is part of the state of the channel.",
)
COUNTED = RuleClause(
    "Messages are counted",
    "A process that records tells each neighbour how many messages it has sent to it before. When as many have come, "
    "the state of the channel is complete.",
)


Counts = Mapping[Channel, int]
CountsOfSnapshots = Mapping[tuple[str, Channel], int]


class Notes(NamedTuple):
    """The notes of a process. Never mutated.

    `sent` and `received` count the messages of each channel. By snapshot and channel: `early` counts the messages that
    were sent after the agreed time and came before it; `white` those sent before it that have come; `announced` those
    sent before it.
    """

    sent: Counts = {}  # noqa: RUF012  # replaced, never changed
    received: Counts = {}  # noqa: RUF012
    early: CountsOfSnapshots = {}  # noqa: RUF012
    white: CountsOfSnapshots = {}  # noqa: RUF012
    announced: CountsOfSnapshots = {}  # noqa: RUF012


class SkewedClocks(BrokenRule, LaiYang):
    """Each process records when its own clock shows the agreed time; no marker and no red message makes it record."""

    name = "skewed_clocks"
    title = "Clocks instead of markers"
    switch = "Clocks instead of markers"
    breaks = "There is no common clock: only a message can tell a process that another one has recorded."
    said_in = "Chandy & Lamport 1985"
    shown_by = "single_token"
    order = 100
    rules: ClassVar[tuple[Rule, ...]] = (Rule("Clocks", (AGREED, WHITE, COUNTED), "no paper: this does not work"),)
    control_message = "clock"
    captions: ClassVar[Mapping[str, Caption]] = {
        **{key: caption for key, caption in LaiYang.captions.items() if key != "message_records"},  # no message does
        "initiates": CAPTIONS["initiates"]._replace(
            rule=AGREED.name, sentence="The agreed time of {snapshot} has come by the clock of {process}: it {clauses}."
        ),
        "control_records": Caption(
            AGREED.name, "The agreed time{of} has come by the clock of {process}: it {clauses}."
        ),
        "control": Caption(COUNTED.name, "{source} tells {process} {content}{per}: {process} {clauses}."),
        "message": Caption(WHITE.name, "{process} {clauses}{per}."),
        "kept": Caption(
            WHITE.name,
            "For {snapshots} the message is from before the agreed time, and {process} has recorded: it is part of the "
            "state of {channel}.",
        ),
    }
    clauses: ClassVar[Mapping[str, str]] = {**LaiYang.clauses, "record": "records its state {state}"}
    reasons: ClassVar[Mapping[str, str]] = {
        **LaiYang.reasons,
        "control_records": "The agreed time came by the clock of {target} (step {second}): it recorded for {snapshot}. "
        "The announcement of the time is in no recorded state.",
        "by_control": "The agreed time came by the clock of {process} at step {step}: it recorded.",
        "control_noted": "{target} received this at step {second}. It travels outside all channels, so no state holds "
        "it.",
    }
    control = "how many messages it sent to them before"
    blank: ClassVar[Any] = Notes()

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """The time has come by this process's clock. An alarm rings when it comes by that of another."""
        if snapshot not in process.snapshots:
            for name in self.graph.processes:
                if name != process.name:
                    out.tell(name, ALARM, snapshot)
            self._record(process, snapshot, out)

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        """Every message is taken in at once, also one from after the time by a process whose time has not come."""
        notes, channel = process.memory or Notes(), message.channel
        white = [snapshot for snapshot in process.snapshots if snapshot not in message.stamp]
        early = {
            (snapshot, channel): notes.early.get((snapshot, channel), 0) + 1
            for snapshot in message.stamp
            if snapshot not in process.snapshots
        }
        process.memory = notes._replace(
            received={**notes.received, channel: notes.received.get(channel, 0) + 1},
            white={**notes.white, **{(own, channel): notes.white[own, channel] + 1 for own in white}},
            early={**notes.early, **early},
        )
        for snapshot in white:
            out.keep(message, snapshot)
            self._close_if_all_have_come(process, channel, snapshot, out)

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        """An alarm makes the process record. A count that comes before the alarm waits for it."""
        snapshot = message.snapshot
        assert snapshot is not None
        if message.body == ALARM:
            if snapshot not in process.snapshots:
                self._record(process, snapshot, out)
            return
        notes = process.memory or Notes()
        channel = next(own for own in process.incoming if own.source == message.channel.source)
        process.memory = notes._replace(announced={**notes.announced, (snapshot, channel): message.body})
        if snapshot in process.snapshots:
            self._close_if_all_have_come(process, channel, snapshot, out)

    def _record(self, process: Process, snapshot: str, out: Out) -> None:
        """Record, and tell every neighbour how many messages were sent to it before."""
        notes = process.memory or Notes()
        white = {
            (snapshot, channel): notes.received.get(channel, 0) - notes.early.get((snapshot, channel), 0)
            for channel in process.incoming
        }
        process.memory = notes._replace(white={**notes.white, **white})
        out.record(snapshot)
        for channel in process.outgoing:
            out.tell(channel.target_name, notes.sent.get(channel, 0), snapshot)
        for channel in process.incoming:
            self._close_if_all_have_come(process, channel, snapshot, out)

    def control_words(self, body: Any, channel: str) -> str:
        """An alarm, or a count."""
        return "the agreed time" if body == ALARM else super().control_words(body, channel)
