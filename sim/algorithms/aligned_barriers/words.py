"""The rule book of aligned barriers in words, and its captions and reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from sim.algorithms.aligned_barriers.graph import OnDataflow
from sim.core.algorithm_words import CAPTIONS, Caption, Rule, RuleClause
from sim.core.model import CHANNEL_CLOSED, Event

STARTS = RuleClause(
    "A source starts a snapshot",
    "The source records its state and sends a barrier on each outgoing channel. Then it goes on with its work.",
)
BLOCKS = RuleClause(
    "A barrier comes before others",
    "The process takes nothing more from that channel: the channel is blocked. What is sent on it after the barrier "
    "waits. The process goes on with what its other channels bring.",
)
LAST = RuleClause(
    "The last barrier comes",
    "The process records its state and sends a barrier on each outgoing channel. Then it takes from the blocked "
    "channels again. The state of these channels is empty.",
)
BACK_EDGES = RuleClause(
    "Back edges",
    "A back edge is a channel that closes a cycle. The barrier on it comes round from the process itself, so no "
    "process waits for it. A process that records starts recording its back edges.",
)
KEEPS = RuleClause(
    "Message on a recorded channel",
    "The process has recorded, and the barrier of this channel has not come: the message is part of the state of the "
    "channel.",
)
CLOSES = RuleClause(
    "Barrier on a recorded channel",
    "The process stops recording that channel. Its state is the messages that came after the process recorded.",
)
CROSSES = RuleClause(
    "Barriers of two snapshots cross",
    "A process waits for the barriers of one snapshot at a time. When a barrier of another snapshot comes meanwhile, "
    "the process records for that one at once. From then on it records its other channels until their barriers come.",
)
PAPER = (
    "P. Carbone, G. Fóra, S. Ewen, S. Haridi and K. Tzoumas, Lightweight Asynchronous Snapshots for Distributed "
    "Dataflows, 2015"
)
CYCLES = f"{PAPER}, algorithm 2"


class AlignedWords(OnDataflow):
    """The words of aligned barriers."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("Sources", (STARTS,), f"{PAPER}, algorithm 1"),
        Rule("Alignment", (BLOCKS, LAST), f"{PAPER}, algorithm 1"),
        Rule("Cycles", (BACK_EDGES, KEEPS, CLOSES), CYCLES),
        Rule("Two snapshots at once", (CROSSES,), "Ours: in the paper, one coordinator numbers the snapshots"),
    )
    marker = "barrier"
    situations = ("marker_closes", "marker_crosses")
    captions: ClassVar[Mapping[str, Caption]] = {
        "initiates": CAPTIONS["initiates"]._replace(rule=STARTS.name),
        "marker": Caption(
            BLOCKS.name,
            "{process} receives the {marker}{of} from {source} and waits for others: it {clauses}.",
        ),
        "marker_records": Caption(
            LAST.name, "{process} receives the {marker}{of} from {source}, the last one it waits for: it {clauses}."
        ),
        "marker_closes": Caption(CLOSES.name, "{process} receives the {marker}{of} from {source}: it {clauses}."),
        "marker_crosses": Caption(
            CROSSES.name,
            "{process} receives the {marker}{of} from {source} while it waits for those of another snapshot: it "
            "{clauses}.",
        ),
        "kept": CAPTIONS["kept"]._replace(rule=KEEPS.name),
    }
    clauses: ClassVar[Mapping[str, str]] = {
        "block": "takes nothing more from {channels}",
        "unblock": "takes from {channels} again",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        "marker_records": "{target} had no other {marker} of {snapshot} to wait for: it recorded its state (step "
        "{second}). A {marker} is in no recorded state.",
        "marker_noted": "This {marker} of {snapshot} came at step {second}, before another one that {target} waited "
        "for. From then on, until it records, {target} takes nothing from {channel}. A {marker} is in no "
        "recorded state.",
        "not_recorded": "{process} has not recorded for {snapshot}: a {marker} that it waits for has not come.",
        "initiated": "{process} is a source. It started {snapshot} at step {step} and recorded at once.",
        "by_marker": "The {marker} of {snapshot} came from {source} on {channel} at step {step}, the last one that "
        "{process} waited for: it recorded.",
        "empty_at_once": "{channel} is empty: {target} recorded when the {marker} came on it (step {second}), so all "
        "that was sent before the {marker} had been received.",
        "empty_when_recorded": "{channel} is empty: all that was sent before the {marker} had been received, and "
        "{target} took nothing more from {channel} until it recorded (step {second}).",
    }

    def situation(self, key: str, rows: Sequence[Event]) -> str:
        """A barrier that ends the recording of a channel, or crosses those of another snapshot, has its own caption."""
        closed = {row.channel for row in rows if row.kind == CHANNEL_CLOSED}
        if key == "marker" and closed:
            return "marker_closes"
        if key == "marker_records":
            waited_for = (channel.name for channel in self.forward if channel.target_name == rows[0].process)
            return key if closed.issuperset(waited_for) else "marker_crosses"
        return key
