"""The audit of a run, from its event table alone: nothing lost, nothing twice, nothing out of order, and all adds up.

A recovery takes events back. A *line* is what is left of the run: of each process, the events that no later restore has
taken back. Messages are counted on the line at the end. A snapshot is judged on the line of its own epoch, even if a
later recovery has gone back to before it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from cluster.replay.goods import Goods
from cluster.replay.recordings import Recording, recordings
from cluster.replay.surviving_lines import Lines, SurvivingLine, index_of, last_epoch
from sim.core.model import RECEIVE, RECORD, RESTORE, Channel, Event
from sim.document.scenario import Scenario
from sim.run.snapshots import COMPLETE


@dataclass(frozen=True)
class ChannelAudit:
    """The counts of application messages of one channel, on the line at the end.

    Of the `sent` messages, `received` were received, `lost` never will be, and `left` are in the channel. `duplicated`
    counts receipts of a message that was received before. `out_of_order` counts receipts after a message that was sent
    later (on a FIFO channel). `unfounded` counts receipts of messages that were not sent on this line, or in an epoch
    before. `put_back` counts the messages that recoveries have put back, in the whole run.
    """

    channel: str
    sent: int
    received: int
    put_back: int
    left: int
    lost: int
    duplicated: int
    out_of_order: int
    unfounded: int


@dataclass(frozen=True)
class SnapshotAudit:
    """One snapshot: its status, the epoch in which its parts were recorded, and its problems as sentences.

    `messages` counts the messages that it has recorded in channels. Only a complete snapshot is judged.
    """

    id: str
    status: str
    epoch: int | None
    messages: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Audit:
    """The audit of a run. `problems` are those of the conserved goods at the end, as sentences.

    `messages` counts the receipts of the whole run, with those that were taken back. `recoveries` counts the epochs
    after the first.
    """

    channels: tuple[ChannelAudit, ...]
    snapshots: tuple[SnapshotAudit, ...]
    messages: int
    recoveries: int
    problems: tuple[str, ...]

    def total(self, count: str) -> int:
        """The sum of one count over all channels, such as "lost"."""
        return sum(getattr(own, count) for own in self.channels)

    @property
    def statuses(self) -> dict[str, int]:
        """The number of snapshots by status."""
        return dict(Counter(own.status for own in self.snapshots))

    @property
    def recorded(self) -> int:
        """The number of messages in the channels of all complete snapshots."""
        return sum(own.messages for own in self.snapshots if own.status == COMPLETE)

    @property
    def wrong(self) -> list[str]:
        """All problems, one sentence each (empty: the audit holds)."""
        found = []
        for own in self.channels:
            for what in ("lost", "duplicated", "out_of_order", "unfounded", "left"):
                count = getattr(own, what)
                words = "left in the channel at the end" if what == "left" else what.replace("_", " ")
                found += [f"{own.channel}: messages {words}: {count}"] if count else []
        found += [f"{own.id}: {problem}" for own in self.snapshots for problem in own.problems]
        return [*found, *self.problems]


def audit(table: Sequence[Event], scenario: Scenario) -> Audit:
    """The audit of the run of `scenario` (as cluster.node.system.live returns it) that left `table` behind.

    The processes are those that are there at first: no process joins or leaves.
    """
    snapshots = recordings(table, scenario)
    complete = (own for own in snapshots.values() if own.snapshot.status == COMPLETE)
    epochs = {own.epoch for own in complete if own.epoch is not None}
    lines = Lines(epochs | {last_epoch(table)})
    for row in table:
        lines.read(row)
        recording = snapshots.get(row.snapshot_id or "") if row.kind == RECORD else None
        if recording is not None and row.row in recording.rows:
            recording.places[row.process] = len(lines.own.get(row.process, ()))
    goods = Goods(scenario)
    last = SurvivingLine(goods, lines.own)
    judge = _Judge(goods, scenario.rules.checks, lines)
    return Audit(
        channels=tuple(_channel_audit(channel, last, lines) for channel in goods.channels),
        snapshots=tuple(judge.snapshot(own) for own in snapshots.values()),
        messages=sum(row.kind == RECEIVE for row in table),
        recoveries=len({row.epoch for row in table if row.kind == RESTORE}),
        problems=tuple(_problems_at_the_end(goods, last)),
    )


def _channel_audit(channel: Channel, line: SurvivingLine, lines: Lines) -> ChannelAudit:
    flow, epoch = line.flows[channel.name], lines.epochs.get(channel.target_name, 0)
    order = {row.message_id: place for place, row in enumerate(flow.sends)}
    counts = Counter[str]()
    known: set[int | None] = set()
    latest = -1
    for row in flow.receipts:
        place = order.get(row.message_id)
        counts["duplicated"] += row.message_id in known
        counts["unfounded"] += place is None or (row.message_id, row.epoch) not in lines.placed
        counts["out_of_order"] += channel.fifo and place is not None and place < latest
        latest = max(latest, -1 if place is None else place)
        known.add(row.message_id)
    waits = [place for place, row in enumerate(flow.sends) if row.message_id not in known]
    lost = [
        place
        for place in waits
        if (flow.sends[place].message_id, epoch) not in lines.placed or (channel.fifo and place < latest)
    ]
    return ChannelAudit(
        channel.name, sent=len(flow.sends), received=len(flow.receipts), put_back=lines.put_back[channel.name],
        left=len(waits) - len(lost), lost=len(lost), duplicated=counts["duplicated"],
        out_of_order=counts["out_of_order"], unfounded=counts["unfounded"],
    )  # fmt: skip


def _problems_at_the_end(goods: Goods, line: SurvivingLine) -> Iterator[str]:
    """A sentence for each good of which the processes and channels have too much or too little at the end."""
    found = Counter[str]()
    for own in line.ledger.values():
        found.update(own[-1])
    for flow in line.flows.values():
        known = {row.message_id for row in flow.receipts}
        for row in flow.sends:
            if row.message_id not in known:
                found.update(goods.in_row(row))
    for problem in goods.imbalance(found):
        yield f"at the end: {problem}"


class _Judge:
    """Judges snapshots, each on the line of its epoch, by the checks that apply to the scenario."""

    def __init__(self, goods: Goods, checks: Collection[str], lines: Lines) -> None:
        self._goods, self._checks = goods, checks
        self._lines = {epoch: SurvivingLine(goods, found) for epoch, found in lines.finished().items()}

    def snapshot(self, recording: Recording) -> SnapshotAudit:
        """The audit of one snapshot."""
        own, problems = recording.snapshot, tuple[str, ...]()
        if own.status == COMPLETE:
            problems = tuple(self._problems(recording))
        return SnapshotAudit(own.id, own.status, recording.epoch, len(own.recorded_messages), problems)

    def _problems(self, recording: Recording) -> Iterator[str]:
        cut = recording.snapshot.frontier
        missing = [name for name in self._goods.processes if name not in cut]
        if missing:
            yield f"complete, though {missing[0]} has not recorded"
            return
        if recording.epoch is None:
            yield f"recorded in several epochs: {recording.epochs}"
            return
        line = self._lines[recording.epoch]
        for process in self._goods.processes:
            inside = bisect_right(line.events[process], cut[process], key=index_of)
            place = recording.places[process]
            if inside != place:
                yield f"{process} recorded after {place} of its events, and its part has {inside}"
        yield from self._cut_problems(recording, line)
        if "conservation" in self._checks:
            yield from self._goods_problems(recording, line)

    def _cut_problems(self, recording: Recording, line: SurvivingLine) -> Iterator[str]:
        cut = recording.snapshot.frontier
        for channel in self._goods.channels:
            flow = line.flows[channel.name]
            at = cut[channel.source_name], cut[channel.target_name]
            if "consistency" in self._checks:
                for row in flow.orphans(*at)[:1]:
                    yield f"message {row.message_id} on {channel.name} is received inside the cut, but sent outside it"
            if "channel_states" in self._checks:
                crossing = [row.body or "null" for row in flow.crossing(*at)]
                kept = recording.kept(channel)
                if crossing != kept if channel.fifo else sorted(crossing) != sorted(kept):
                    yield f"{channel.name} recorded [{','.join(kept)}], but [{','.join(crossing)}] crosses the cut"

    def _goods_problems(self, recording: Recording, line: SurvivingLine) -> Iterator[str]:
        found = Counter[str]()
        for process in self._goods.processes:
            own = self._goods.in_state(recording.snapshot.local[process].state)
            due = line.ledger[process][recording.places[process]]
            if any(own[good] != due[good] for good in {*own, *due}):
                yield f"{process} recorded {dict(own)}, and had {dict(due)} then"
            found.update(own)
        for message in recording.snapshot.recorded_messages:
            found.update(self._goods.in_body(message.body))
        yield from self._goods.imbalance(found)
