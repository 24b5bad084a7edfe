"""F. Mattern, "Efficient Algorithms for Distributed Snapshots and Global Virtual Time Approximation", Journal of
Parallel and Distributed Computing 18(4), 1993: one counter for each process.

Channels need not be FIFO. As with Lai and Yang, a process is white until it records and red afterwards, and every
message has the colour of its sender. But no process counts the messages of single channels:

1. A process counts the messages that it has sent, less those that it has received. When it turns red, it records its
   state and reports this counter to the initiator, in a control message. The initiator need not be a neighbour.
2. A white process turns red before it takes in a red message. So red messages spread the snapshot.
3. A white message that comes to a red process is part of the state of its channel. The process reports it, and the
   initiator subtracts 1.
4. The sum of all counters is the number of white messages that are on their way. When every process has reported and
   the sum is zero, the initiator knows that the snapshot is complete. It tells the others, which close their channels.

A process that receives no red message would stay white, and the snapshot would never be complete. So the initiator
announces the snapshot to every process when it turns red itself, and an announcement turns a white process red (the
parameter `announce`). Without announcements, rule 2 alone has to reach every process.

A sum of zero says nothing until all have reported: a counter that is missing may be the one that is not zero. Once all
have reported, all are red, so no white message is sent any more and the sum can only fall.

A stamp lists the snapshots for which the sender is red, each with its initiator, so snapshots may overlap. Each has one
initiator, which alone knows the sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from sim.core.algorithm_words import CAPTIONS, Caption, Rule, RuleClause
from sim.core.colours import COLOURS, HOLDS, ON_ITS_WAY, RECORDS, RED_MESSAGE, WHITE_MESSAGE, Coloured
from sim.core.cost_model import IN_CHANNELS, CostModel, Formula, Load, Place
from sim.core.effects import Out
from sim.core.model import Channel, Message, Process
from sim.core.parameters import Parameter

BEGINS, LATE, OVER = "begins", "late", "over"  # what control messages say; a number is the counter of a process


def signed(count: int) -> str:
    """`+2`, `0`, `-1`."""
    return f"{count:+d}" if count else "0"


class Notes(NamedTuple):
    """The notes of a process. Never mutated.

    `counter` is the number of messages sent less those received. By snapshot: `initiators` names its initiator; `sums`
    is the sum of the counters so far; `reported` names the processes that have reported. The last two are kept at the
    initiator, until it knows that the snapshot is complete.
    """

    counter: int = 0
    initiators: Mapping[str, str] = {}  # replaced, never changed
    sums: Mapping[str, int] = {}
    reported: Mapping[str, frozenset[str]] = {}


STARTS = RuleClause(
    "The initiator turns red",
    "A white process may start a snapshot at any moment: it records its state and is red. Its own counter is the first "
    "in the sum: the messages that it has sent less those that it has received.",
)
RED = RuleClause(
    RED_MESSAGE,
    "The process records its state, turns red, and reports its counter to the initiator. Only then does it take in the "
    "message.",
)
ANNOUNCED = RuleClause(
    "An announcement comes to a white process",
    "The process records its state, turns red, and reports its counter to the initiator. So the snapshot reaches "
    "processes that receive no red message.",
)
WHITE = RuleClause(
    WHITE_MESSAGE,
    "The message is part of the state of the channel on which it came. The process reports it: one white message less "
    "is on its way.",
)
SUM = RuleClause(
    "The sum",
    "The initiator adds up the counters, and subtracts 1 for each white message that came to a red process. When every "
    "process has reported and the sum is zero, no white message is on its way: the snapshot is complete, and the "
    "initiator tells the others.",
)
PAPER = (
    "F. Mattern, Efficient Algorithms for Distributed Snapshots and Global Virtual Time Approximation, Journal of "
    "Parallel and Distributed Computing 18(4), 1993"
)


RECORDS_AT = Formula(
    "A process records",
    "rec = min(S, channels on the shortest way from the initiator × d)",
    "the rules of Mattern, 1993: the announcement, which goes to every process directly, or the first red message (the "
    "next one is sent up to a message's gap later)",
)


class Mattern(Coloured):
    """White and red messages, and one counter for each process, added up by the initiator."""

    name = "mattern"
    title = "Mattern's counters"
    source = "Mattern 1993"
    one_initiator = True
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "announce": Parameter("flag", True, "the initiator announces the snapshot to every process"),
    }
    announce: bool

    blank: ClassVar[Any] = Notes()  # the notes of a process that remembers nothing yet

    # ------------------------------------------------------------------ rules

    @classmethod
    def cost_model(cls, load: Load) -> CostModel:
        """An announcement or a red message comes first. The model does not say when the initiator knows the end."""

        def records_at(place: Place) -> float:
            if place.nearest <= 1:
                return place.nearest * load.with_next
            return min(load.marker_delay, place.nearest * (load.delay + load.gap / 2))

        return CostModel(records_at, (RECORDS_AT, IN_CHANNELS))

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """Rule 1, and the announcements."""
        if snapshot in process.snapshots:
            return
        notes = process.memory or self.blank
        sums = {**notes.sums, snapshot: notes.counter}
        process.memory = notes._replace(sums=sums, reported={**notes.reported, snapshot: frozenset({process.name})})
        self._turn_red(process, snapshot, process.name, out)
        if self.announce:
            self._tell_others(process, BEGINS, snapshot, out)
        self._look_at_sum(process, snapshot, out)

    def reaches_all(self) -> bool:
        """Announcements need no channel."""
        return self.announce

    def on_send(self, process: Process, channel: Channel, out: Out) -> tuple[tuple[str, str], ...]:
        """The stamp: the snapshots for which the sender is red, each with its initiator."""
        notes = process.memory or self.blank
        process.memory = notes._replace(counter=notes.counter + 1)
        return tuple((snapshot, notes.initiators[snapshot]) for snapshot in process.snapshots)

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        """Rules 2 and 3. The message itself is counted after the recording."""
        red_already = tuple(process.snapshots)
        red = dict(message.stamp)
        for snapshot, initiator in red.items():
            if snapshot not in process.snapshots:
                self._turn_red(process, snapshot, initiator, out)
        notes = process.memory or self.blank
        process.memory = notes._replace(counter=notes.counter - 1)
        for snapshot in red_already:
            if snapshot not in red and not process.snapshots[snapshot].done:
                out.keep(message, snapshot)
                self._report_late(process, snapshot, out)

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        """An announcement, a report, or the end."""
        snapshot, source = message.snapshot, message.channel.source_name
        assert snapshot is not None
        if message.body == BEGINS:
            if snapshot not in process.snapshots:
                self._turn_red(process, snapshot, source, out)
        elif message.body == OVER:
            self._close(process, snapshot, out)
        elif message.body == LATE:
            self._add(process, snapshot, -1, source, out)
        else:
            self._add(process, snapshot, message.body, source, out)

    @staticmethod
    def _turn_red(process: Process, snapshot: str, initiator: str, out: Out) -> None:
        """Record, and report the counter to the initiator."""
        notes = process.memory or Notes()
        process.memory = notes._replace(initiators={**notes.initiators, snapshot: initiator})
        out.record(snapshot)
        if process.name != initiator:
            out.tell(initiator, notes.counter, snapshot)

    def _report_late(self, process: Process, snapshot: str, out: Out) -> None:
        """A white message has come to a red process."""
        initiator = process.memory.initiators[snapshot]
        if process.name == initiator:
            self._add(process, snapshot, -1, initiator, out)
        else:
            out.tell(initiator, LATE, snapshot)

    def _add(self, process: Process, snapshot: str, count: int, source: str, out: Out) -> None:
        """Rule 4: something new for the sum. The first report of a process is its counter: they keep their order."""
        notes = process.memory
        if snapshot in notes.sums:
            sums = {**notes.sums, snapshot: notes.sums[snapshot] + count}
            reported = {**notes.reported, snapshot: notes.reported[snapshot] | {source}}
            process.memory = notes._replace(sums=sums, reported=reported)
            self._look_at_sum(process, snapshot, out)

    def _look_at_sum(self, process: Process, snapshot: str, out: Out) -> None:
        """Rule 4: whether all have reported and the sum is zero. Then there is nothing more to add up."""
        notes = process.memory
        out.note(snapshot, notes.sums[snapshot])
        if notes.sums[snapshot] == 0 and len(notes.reported[snapshot]) == len(self.graph.processes):
            process.memory = notes._replace(
                sums={name: own for name, own in notes.sums.items() if name != snapshot},
                reported={name: own for name, own in notes.reported.items() if name != snapshot},
            )
            out.collected(snapshot)
            self._close(process, snapshot, out)
            self._tell_others(process, OVER, snapshot, out)

    def _tell_others(self, process: Process, what: str, snapshot: str, out: Out) -> None:
        for name in self.graph.processes:
            if name != process.name:
                out.tell(name, what, snapshot)

    @staticmethod
    def _close(process: Process, snapshot: str, out: Out) -> None:
        for channel in process.incoming:
            out.close(channel, snapshot)

    def messages(self) -> int:
        """Announcements, counters and the end. What is reported of white messages depends on the traffic."""
        return (3 if self.announce else 2) * (len(self.graph.processes) - 1)

    # ------------------------------------------------------------------ words

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("Colours", (COLOURS,), PAPER),
        Rule("A process records", (STARTS, RED, ANNOUNCED), PAPER),
        Rule("The state of a channel", (WHITE,), PAPER),
        Rule("Counters", (SUM,), PAPER),
    )
    control_message = "notice"
    control = "what has changed"
    captions: ClassVar[Mapping[str, Caption]] = {
        **Coloured.captions,
        "initiates": CAPTIONS["initiates"]._replace(rule=STARTS.name),
        "control_records": Caption(
            ANNOUNCED.name, "{source} tells {process} {content}{per}: {process} is white, so it {clauses}."
        ),
        "control": Caption(SUM.name, "{source} tells {process} {content}{per}: {process} {clauses}."),
    }
    clauses: ClassVar[Mapping[str, str]] = {
        **Coloured.clauses,
        "close": "closes {channel}, whose state is {contents}",
        "collected": "knows that nothing of {snapshot} is missing, as all have reported",
        "nothing": "takes note of it",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        **Coloured.reasons,
        "channel": HOLDS + " At step {second} {target} knew that no white message was on its way.",
        "channel_open": HOLDS + " {target} has not heard yet that no white message is on its way.",
        "held": ON_ITS_WAY + ", so the sum of the counters is not zero.",
        "not_recorded": "{process} has not recorded for {snapshot}: no red message and no announcement has come to it.",
        "by_control": "{source} announced {snapshot} to {process} at step {step}: {process} was white, and recorded.",
        "still_recorded": RECORDS + " {target} has not heard yet that no more of it is on its way; so far came {held}.",
        "empty_at_once": "{channel} is empty: when {target} recorded (step {second}), all had reported and the sum "
        "of the counters was zero.",
        "recorded_until": "{target} has been red since its own recording (step {first}). At step {second} it knew "
        "that no white message was on its way. In between came {held}.",
        "control_closes": "With this notice {target} knew that no white message was on its way: it closed its "
        "channels (step {second}). A notice is in no recorded state.",
        "control_records": "This notice announced {snapshot} to {target}. It was white, and recorded (step "
        "{second}). A notice is in no recorded state.",
        "control_noted": "{target} received this notice at step {second}. A notice is in no recorded state.",
        "control_held": "This notice has not come to {target}.",
    }

    def stamp_words(self, stamp: Any) -> str:
        """`white`, or `red for S1`."""
        return f"red for {' and '.join(snapshot for snapshot, _ in stamp)}" if stamp else "white"

    def note_words(self, body: Any) -> str:
        """The sum at the initiator."""
        return f"sets the sum to {signed(body)}"

    def control_words(self, body: Any, channel: str) -> str:
        """A notice in words."""
        said = {
            BEGINS: "that a snapshot has begun",
            LATE: "that a white message has come to it",
            OVER: "that no white message is on its way",
        }
        return said.get(body) or f"its counter, {signed(body)}"
