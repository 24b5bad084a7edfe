"""T. H. Lai and T. H. Yang, "On Distributed Snapshots", Information Processing Letters 25(3), 1987.

Channels need not be FIFO, so a marker cannot separate the messages sent before a recording from those sent after it.
Instead every message is stamped. A process is white until it records and red afterwards; its messages have its colour.

1. A white process may record at any moment; it turns red.
2. A white process records before it receives a red message.
3. The state of a channel is the white messages that its receiver receives when it is red.

A process that records tells each neighbour, in a control message, how many white messages it has sent to it. (F.
Mattern discusses such counts in "Efficient Algorithms for Distributed Snapshots and Global Virtual Time Approximation",
Journal of Parallel and Distributed Computing 18(4), 1993.) A count makes a white process record. A channel is closed
when that many white messages have been received. So every snapshot completes, even if no process sends a red message.

A stamp lists all snapshots for which the sender is red, so snapshots may overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from sim.core.algorithm_words import CAPTIONS, Caption, Rule, RuleClause
from sim.core.colours import COLOURS, HOLDS, ON_ITS_WAY, RECORDS, RED_MESSAGE, WHITE_MESSAGE, Coloured
from sim.core.cost_model import IN_CHANNELS, CostModel, Formula, Load
from sim.core.effects import Out
from sim.core.model import Channel, Message, Process

Counts = Mapping[Channel, int]
CountsOfSnapshots = Mapping[tuple[str, Channel], int]


class Notes(NamedTuple):
    """The notes of a process. Never mutated.

    `sent` and `received` count the messages of each channel. By snapshot and channel, `white` counts the white messages
    received, and `announced` is the number sent, once the sender has told it.
    """

    sent: Counts = {}  # noqa: RUF012  # replaced, never changed
    received: Counts = {}  # noqa: RUF012
    white: CountsOfSnapshots = {}  # noqa: RUF012
    announced: CountsOfSnapshots = {}  # noqa: RUF012


TURNS_RED = RuleClause(
    "A white process turns red", "A white process may start a snapshot at any moment: it records its state and is red."
)
RED = RuleClause(
    RED_MESSAGE,
    "The process records its state and turns red. Only then does it take in the message.",
)
WHITE = RuleClause(WHITE_MESSAGE, "The message is part of the state of the channel on which it came.")
FIRST_COUNT = RuleClause(
    "A count comes to a white process", "The process records its state, turns red, and keeps the count."
)
COUNTED = RuleClause(
    "White messages are counted",
    "A process that turns red tells each neighbour how many white messages it has sent to it: the count. When as many "
    "white messages as the count says have come on a channel, the state of that channel is complete.",
)
PAPER = "T. H. Lai and T. H. Yang, On Distributed Snapshots, Information Processing Letters 25(3), 1987"
COUNTS = (
    "F. Mattern, Efficient Algorithms for Distributed Snapshots and Global Virtual Time Approximation, Journal of "
    "Parallel and Distributed Computing 18(4), 1993"
)


RECORDS_AT = Formula(
    "A process records",
    "rec = channels on the shortest way from the initiator × D, where D = min(S, d)",
    "the rules of Lai and Yang, 1987: the first red message or count makes a process record (the next red message is "
    "sent up to a message's gap later)",
)


class LaiYang(Coloured):
    """White and red messages, and counts of the white messages."""

    name = "lai_yang"
    title = "Lai-Yang"
    source = "Lai & Yang 1987"

    blank: ClassVar[Any] = Notes()  # the notes of a process that remembers nothing yet

    # ------------------------------------------------------------------ rules

    @classmethod
    def cost_model(cls, load: Load) -> CostModel:
        """A count or a red message comes first; a channel is closed when its count and its white messages have come."""
        hop = load.with_next
        return CostModel(lambda place: place.nearest * hop, (RECORDS_AT, IN_CHANNELS), closes_after=load.latest)

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """Rule 1."""
        if snapshot not in process.snapshots:
            self._turn_red(process, snapshot, out)

    def on_send(self, process: Process, channel: Channel, out: Out) -> tuple[str, ...]:
        """The stamp: the snapshots for which the sender is red."""
        notes = process.memory or self.blank
        process.memory = notes._replace(sent={**notes.sent, channel: notes.sent.get(channel, 0) + 1})
        return tuple(process.snapshots)

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        """Rules 2 and 3."""
        red_already = tuple(process.snapshots)
        for snapshot in message.stamp:
            if snapshot not in process.snapshots and snapshot not in process.aborted:
                self._turn_red(process, snapshot, out)
        notes, channel = process.memory or Notes(), message.channel
        white = [snapshot for snapshot in red_already if snapshot not in message.stamp]
        counts = {(snapshot, channel): notes.white[snapshot, channel] + 1 for snapshot in white}
        received = {**notes.received, channel: notes.received.get(channel, 0) + 1}
        process.memory = notes._replace(received=received, white={**notes.white, **counts})
        for snapshot in white:
            out.keep(message, snapshot)
            self._close_if_all_have_come(process, channel, snapshot, out)

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        """A count: the sender has sent `message.body` white messages to `process`."""
        snapshot = message.snapshot
        assert snapshot is not None
        if snapshot in process.aborted:
            return
        if snapshot not in process.snapshots:
            self._turn_red(process, snapshot, out)
        channel = next(own for own in process.incoming if own.source == message.channel.source)
        notes = process.memory
        process.memory = notes._replace(announced={**notes.announced, (snapshot, channel): message.body})
        self._close_if_all_have_come(process, channel, snapshot, out)

    @staticmethod
    def _turn_red(process: Process, snapshot: str, out: Out) -> None:
        """Record, and tell every neighbour how many white messages were sent to it."""
        notes = process.memory or Notes()
        white = {(snapshot, channel): notes.received.get(channel, 0) for channel in process.incoming}
        process.memory = notes._replace(white={**notes.white, **white})
        out.record(snapshot)
        for channel in process.outgoing:
            out.tell(channel.target_name, notes.sent.get(channel, 0), snapshot)

    @staticmethod
    def _close_if_all_have_come(process: Process, channel: Channel, snapshot: str, out: Out) -> None:
        notes = process.memory
        if notes.announced.get((snapshot, channel)) == notes.white[snapshot, channel]:
            out.close(channel, snapshot)

    # ------------------------------------------------------------------ words

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("Colours", (COLOURS,), PAPER),
        Rule("A process records", (TURNS_RED, RED), PAPER),
        Rule("The state of a channel", (WHITE,), PAPER),
        Rule("Counts", (FIRST_COUNT, COUNTED), COUNTS),
    )
    control_message = "count"
    control = "how many white messages it has sent each"
    captions: ClassVar[Mapping[str, Caption]] = {
        **Coloured.captions,
        "initiates": CAPTIONS["initiates"]._replace(rule=TURNS_RED.name),
        "control_records": Caption(
            FIRST_COUNT.name,
            "{source} tells {process} {content}{per}: {process} is white, so it {clauses}.",
        ),
        "control": Caption(COUNTED.name, "{source} tells {process} {content}{per}: {process} {clauses}."),
    }
    clauses: ClassVar[Mapping[str, str]] = {
        **Coloured.clauses,
        "empty": "finds that no white message of {channel} is on its way",
        "close": "has all white messages of {channel}, whose state is {contents}",
        "nothing": "waits for those that have not come",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        **Coloured.reasons,
        "channel": HOLDS + " By step {second} all white messages of {channel} had come.",
        "channel_open": HOLDS + " As far as {target} knows, more white messages are to come.",
        "held": ON_ITS_WAY + ", so {channel} is not closed.",
        "not_recorded": "{process} has not recorded for {snapshot}: no red message and no count has come to it.",
        "by_control": "{source} told {process} its count at step {step}: {process} was white, and recorded.",
        "still_recorded": RECORDS + " As far as {target} knows, more of it is to come; so far came {held}.",
        "empty_at_once": "{channel} is empty: when {target} recorded (step {second}), all white messages had come.",
        "recorded_until": "{target} has been red since its own recording (step {first}), and by step {second} all "
        "white messages of {channel} had come. After the recording came {held}.",
        "control_closes": "This count told {target} how many white messages there are on {channel}, and all had "
        "come: it closed {channel} (step {second}). A count is in no recorded state.",
        "control_records": "This count made {target} record for {snapshot} (step {second}), which was white. A count "
        "is in no recorded state.",
        "control_noted": "{target} received this count at step {second} and waits for the white messages that have "
        "not come. A count is in no recorded state.",
        "control_held": "This count has not come to {target}.",
    }

    def stamp_words(self, stamp: Any) -> str:
        """`white`, or `red for S1`."""
        return f"red for {' and '.join(stamp)}" if stamp else "white"

    def control_words(self, body: Any, channel: str) -> str:
        """A count in words."""
        return f"that it has sent {body} white message{'' if body == 1 else 's'} on {channel}"
