"""P. Carbone, G. Fóra, S. Ewen, S. Haridi and K. Tzoumas, "Lightweight Asynchronous Snapshots for Distributed
Dataflows", 2015 (arXiv:1506.08603), algorithms 1 and 2: asynchronous barrier snapshotting, as in Apache Flink.

The graph is a dataflow: sources without incoming channels, operators, and sinks without outgoing ones. Channels are
FIFO. Every source starts a snapshot: it records its state and sends a barrier on each outgoing channel.

Algorithm 1, for acyclic graphs. When the barrier of a snapshot comes on a channel, the process takes nothing more from
that channel: it is blocked. When the barrier has come on every incoming channel, the process records its state, sends a
barrier on each outgoing channel, and unblocks. All that was sent before a barrier is in the state of its receiver then,
and nothing else is: the states of the channels are empty.

Algorithm 2, for graphs with circles. A process on a circle would wait for its own barrier. So some channels are *back
edges*: without them the graph has no circle. A process does not wait for the barriers on its back edges: it records as
soon as all others have come. From then on it records what its back edges bring, until their barrier comes.

The paper's coordinator numbers the snapshots, so barriers of two snapshots come in the same order everywhere. Here
sources may start them in different orders; two barriers then cross, and a process that waited for both, with a channel
blocked for each, would wait for ever. So a process aligns one snapshot at a time. When a barrier of another one comes
meanwhile, it records for that one at once, and records what comes on its channels until their barriers come, as Chandy
and Lamport's process does.

Without alignment (Flink's checkpointing mode "at least once") nothing is blocked: until the last barrier comes, a
process goes on taking what was sent behind the others, and has it in the state that it records. After a recovery the
senders send that once more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import ClassVar

from sim.core.algorithm import SOURCES, SnapshotAlgorithm
from sim.core.algorithm_words import CAPTIONS, Caption, Rule, RuleClause
from sim.core.cost_model import CostModel, Formula, Load
from sim.core.effects import Out
from sim.core.model import CHANNEL_CLOSED, Channel, Event, Message, Process
from sim.core.parameters import Parameter

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
    "A back edge is a channel that closes a circle. The barrier on it comes round from the process itself, so no "
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
GOES_ON = RuleClause(
    "A barrier stops nothing",
    "The process notes that the barrier has come, and goes on with what all its channels bring. What was sent behind "
    "the barrier is in its state when the last barrier comes and it records: after a recovery that comes once more.",
)
PAPER = (
    "P. Carbone, G. Fóra, S. Ewen, S. Haridi and K. Tzoumas, Lightweight Asynchronous Snapshots for Distributed "
    "Dataflows, 2015"
)
CYCLES = f"{PAPER}, algorithm 2"
FLINK = (
    "P. Carbone, S. Ewen, G. Fóra, S. Haridi, S. Richter and K. Tzoumas, State Management in Apache Flink, PVLDB "
    "10(12), 2017"
)


RECORDS_AT = Formula(
    "A process records",
    "rec = channels on the longest way from the source × D, where D = max(S, d)",
    "Carbone et al., 2015, algorithm 1: a process records when the last barrier comes; on a FIFO channel a barrier "
    "overtakes no message",
)
BLOCKED = Formula(
    "A channel i → j is blocked for",
    "recⱼ − (recᵢ + D)",
    "Carbone et al., 2015, algorithm 1: from its barrier until the last barrier of j",
)


class WithoutAlignment(SnapshotAlgorithm):
    """What `align = false` changes. A process remembers, by snapshot, the channels on which its barrier has come."""

    def aligns_another(self, process: Process, snapshot: str) -> bool:
        """Nothing is aligned, so that no two snapshots are in each other's way."""
        return False

    def wait_for_others(self, process: Process, channel: Channel, snapshot: str, out: Out) -> None:
        """Note the channel of a barrier, or record if it is the last."""
        noted: Mapping[str, tuple[Channel, ...]] = process.memory or {}
        come = (*noted.get(snapshot, ()), channel)
        others = {name: channels for name, channels in noted.items() if name != snapshot}
        if self.waits(process, come):  # type: ignore[attr-defined]
            process.memory = {**others, snapshot: come}
            return
        process.memory = others or None
        self.record(process, snapshot, out)  # type: ignore[attr-defined]
        for own in process.incoming:
            if own in come:
                out.close(own, snapshot)

    rules: ClassVar[tuple[Rule, ...]] = (Rule("Without alignment", (GOES_ON,), FLINK),)
    captions: ClassVar[Mapping[str, Caption]] = {
        "marker": Caption(
            GOES_ON.name,
            "{process} receives the {marker}{of} from {source} and waits for others. It goes on taking from {channel}.",
        ),
    }
    reasons: ClassVar[Mapping[str, str]] = {
        "marker_noted": "This {marker} of {snapshot} came at step {second}, before another one that {target} waited "
        "for. {target} went on taking from {channel} all the same. A {marker} is in no recorded state.",
        "empty_when_recorded": "{channel} is empty: all that was sent before the {marker} had been received when "
        "{target} recorded (step {second}), and what was sent behind it may have been received, too.",
    }


class AlignedBarriers(SnapshotAlgorithm):
    """Channels are blocked from their barrier until the last barrier; back edges are recorded instead."""

    name = "aligned_barriers"
    title = "Aligned barriers"
    source = "Carbone et al. 2015, algorithms 1 and 2"
    initiators = SOURCES
    allows_recovery = True
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "back_edges": Parameter(
            "texts", (), "the channels that close circles (default: found by a search from the sources)"
        ),
        "align": Parameter(
            "flag", True, "wait for the last barrier (false: at least once, what is behind a barrier is let through)"
        ),
    }
    options: ClassVar[Mapping[str, type[SnapshotAlgorithm]]] = {"align": WithoutAlignment}
    back_edges: Sequence[str]

    # ------------------------------------------------------------------ the graph

    def problems(self) -> Iterator[tuple[str, str]]:
        """Back edges are channels, and the graph has no circle without them."""
        names = {channel.name for channel in self.graph.channels}
        for name in self.back_edges:
            if name not in names:
                yield "back_edges", f"{name!r} is no channel of this topology; write it as P1->P2"
        targets = {channel.target_name for channel in self.graph.channels}
        waited_for = {channel.target_name for channel in self._forward}
        for process in self.graph.processes if self.back_edges else ():
            if process in targets and process not in waited_for:
                yield "back_edges", f"only back edges lead to {process}, so it would wait for nothing; leave one out"
        order = TopologicalSorter({name: self._sources_of(name) for name in self.graph.processes})
        try:
            order.prepare()
        except CycleError as found:
            circle = "->".join(found.args[1])
            yield "back_edges", f"{circle} is a circle without a back edge; list one of its channels as well"

    def _sources_of(self, process: str) -> list[str]:
        return [channel.source_name for channel in self._forward if channel.target_name == process]

    @property
    def _forward(self) -> list[Channel]:
        return [channel for channel in self.graph.channels if channel.name not in self._back]

    @cached_property
    def _back(self) -> frozenset[str]:
        """The names of the back edges: those given, or those that a depth-first search from the sources finds."""
        return frozenset(self.back_edges or _back_edges(self.graph.processes, self.graph.channels))

    @classmethod
    def cost_model(cls, load: Load) -> CostModel:
        """The last barrier comes on the longest way. Nothing is recorded; what comes on a blocked channel waits."""
        hop = load.behind
        return CostModel(
            lambda place: place.farthest * hop, (RECORDS_AT, BLOCKED), keeps=False, closes_after=hop, blocks_after=hop
        )

    # ------------------------------------------------------------------ rules

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """A source has no barriers to wait for."""
        if snapshot not in process.snapshots:
            self.record(process, snapshot, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """A barrier: of a snapshot that has been recorded, of another one than the one being aligned, or of that."""
        channel, snapshot = marker.channel, marker.snapshot
        assert snapshot is not None
        if snapshot in process.snapshots:
            out.close(channel, snapshot)
        elif self.aligns_another(process, snapshot):
            self.record(process, snapshot, out)
            out.close(channel, snapshot)
        else:
            self.wait_for_others(process, channel, snapshot, out)

    def aligns_another(self, process: Process, snapshot: str) -> bool:
        """Whether `process` waits for the barriers of another snapshot."""
        return process.memory is not None and process.memory != snapshot

    def wait_for_others(self, process: Process, channel: Channel, snapshot: str, out: Out) -> None:
        """Block the channel of a barrier, or record if it is the last."""
        come = process.blocked | {channel}
        if self.waits(process, come):
            process.memory = snapshot  # the one for which channels are blocked
            out.block(channel)
            return
        process.memory = None
        self.record(process, snapshot, out)
        in_order = [own for own in process.incoming if own in come]
        for own in in_order:
            out.close(own, snapshot)
        for own in in_order:
            out.unblock(own)

    def waits(self, process: Process, come: Collection[Channel]) -> bool:
        """Whether a barrier is missing that `process` waits for: on a channel that is no back edge."""
        return any(own not in come and own.name not in self._back for own in process.incoming)

    @staticmethod
    def record(process: Process, snapshot: str, out: Out) -> None:
        """Record the state, send the barriers, and record every channel whose barrier is still to come."""
        out.record(snapshot)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)
        for channel in process.incoming:
            out.start_recording(channel, snapshot)

    # ------------------------------------------------------------------ words

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("Sources", (STARTS,), f"{PAPER}, algorithm 1"),
        Rule("Alignment", (BLOCKS, LAST), f"{PAPER}, algorithm 1"),
        Rule("Circles", (BACK_EDGES, KEEPS, CLOSES), CYCLES),
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
            waited_for = (channel.name for channel in self._forward if channel.target_name == rows[0].process)
            return key if closed.issuperset(waited_for) else "marker_crosses"
        return key


def _back_edges(processes: Sequence[str], channels: Sequence[Channel]) -> Iterator[str]:
    """The channels that close a circle in a depth-first search from the sources, then from what they do not reach."""
    after: dict[str, list[Channel]] = {name: [] for name in processes}
    for channel in channels:
        after[channel.source_name].append(channel)
    targets = {channel.target_name for channel in channels}
    seen: set[str] = set()
    for first in sorted(processes, key=lambda name: name in targets):
        if first not in seen:
            yield from _search(first, after, seen)


def _search(first: str, after: Mapping[str, Iterable[Channel]], seen: set[str]) -> Iterator[str]:
    """The channels, of those that can be reached from `first`, that lead back to a process on the way to them."""
    seen.add(first)
    way = {first: iter(after[first])}  # the way to the process being searched, each with its channels still to try
    while way:
        process, rest = next(reversed(way.items()))
        channel = next(rest, None)
        if channel is None:
            del way[process]
        elif channel.target_name in way:
            yield channel.name
        elif channel.target_name not in seen:
            seen.add(channel.target_name)
            way[channel.target_name] = iter(after[channel.target_name])
