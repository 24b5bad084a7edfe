"""The books of a run, from its event table alone: nothing lost, nothing twice, nothing out of order, and all adds up.

A recovery takes events back. A *line* is what is left of the run: of each process, the events that no later restore has
taken back. Messages are counted on the line at the end. A snapshot is judged on the line of the epoch in
which it was taken, also where a later recovery has gone back to before it.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from sim.core.log import to_json
from sim.core.model import (
    APPLICATION_KINDS,
    PUT_BACK,
    RECEIVE,
    RECORD,
    RESTORE,
    SEND,
    Channel,
    Event,
)
from sim.core.workload import Workload
from sim.document.scenario import Scenario
from sim.run.as_of import snapshots_as_of
from sim.run.snapshots import COMPLETE, Snapshot


@dataclass(frozen=True)
class ChannelAudit:
    """Application messages of one channel on the line at the end.

    Of those `sent`, `received` were received, `lost` never will be, and `left` are in the channel. `duplicated` counts
    receipts of what was received before, `out_of_order` those after a message that was sent later (on a FIFO channel),
    and `unfounded` those of messages that were not sent on this line, or in an epoch before. `put_back`
    counts what recoveries have put back, in the whole run.
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
    """One snapshot: how it ended, in which epoch its parts were recorded, how many messages it has recorded in
    channels, and what is wrong with it, as sentences. One that is not complete is not judged."""

    id: str
    status: str
    epoch: int | None
    messages: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Audit:
    """All of it. `messages` counts the receipts of the whole run, those that were taken back as well. `recoveries`
    counts the lives after the first. `problems`: what is wrong with the goods at the end."""

    channels: tuple[ChannelAudit, ...]
    snapshots: tuple[SnapshotAudit, ...]
    messages: int
    recoveries: int
    problems: tuple[str, ...]

    def total(self, what: str) -> int:
        """The sum over all channels of one of their counts, such as "lost"."""
        return sum(getattr(own, what) for own in self.channels)

    @property
    def statuses(self) -> dict[str, int]:
        """How many snapshots ended how."""
        return dict(Counter(own.status for own in self.snapshots))

    @property
    def recorded(self) -> int:
        """The messages in the channels of all complete snapshots."""
        return sum(own.messages for own in self.snapshots if own.status == COMPLETE)

    @property
    def wrong(self) -> list[str]:
        """What is wrong, a sentence each (empty: the books are exact)."""
        found = []
        for own in self.channels:
            for what in ("lost", "duplicated", "out_of_order", "unfounded", "left"):
                count = getattr(own, what)
                words = "left in the channel at the end" if what == "left" else what.replace("_", " ")
                found += [f"{own.channel}: messages {words}: {count}"] if count else []
        found += [f"{own.id}: {problem}" for own in self.snapshots for problem in own.problems]
        return [*found, *self.problems]


def audit(table: Sequence[Event], scenario: Scenario) -> Audit:
    """The books of the run of `scenario` (as cluster.node.system.live has it) that left `table` behind.

    The processes are those that are there at first; nobody joins or leaves.
    """
    takings = _takings(table, scenario)
    complete = (own for own in takings.values() if own.snapshot.status == COMPLETE)
    epochs = {own.epoch for own in complete if own.epoch is not None}
    lives = _Lives(epochs | {_last_epoch(table)})
    for row in table:
        lives.read(row)
        taking = takings.get(row.snapshot_id or "") if row.kind == RECORD else None
        if taking is not None and row.row in taking.rows:
            taking.places[row.process] = len(lives.own.get(row.process, ()))
    judge = _Judge(scenario)
    lines = {epoch: _Line(judge, found) for epoch, found in lives.finished().items()}
    last = _Line(judge, lives.own)
    channels = tuple(_channel_audit(channel, last, lives) for channel in judge.channels)
    snapshots = tuple(judge.snapshot(own, lines) for own in takings.values())
    messages = sum(row.kind == RECEIVE for row in table)
    problems = tuple(judge.end(last))
    return Audit(channels, snapshots, messages, len({row.epoch for row in table if row.kind == RESTORE}), problems)


# ---------------------------------------------------------------------- what the rows say of snapshots


@dataclass
class _Taking:
    """A snapshot, and of its parts by process: in which epoch each was recorded, and after how many events on its line.

    `rows` are the numbers of their `record` rows.
    """

    snapshot: Snapshot
    rows: frozenset[int]
    epochs: dict[str, int]
    places: dict[str, int] = field(default_factory=dict)

    @property
    def epoch(self) -> int | None:
        """The incarnation in which it was recorded (None: in none, or in several)."""
        return next(iter(self.epochs.values())) if len({*self.epochs.values()}) == 1 else None

    def kept(self, channel: Channel) -> list[str]:
        """The bodies that were recorded in a channel, as JSON."""
        return [to_json(message.body) for message in self.snapshot.recorded_in(channel.name)]


def _takings(table: Sequence[Event], scenario: Scenario) -> dict[str, _Taking]:
    """All snapshots, by id."""
    found = snapshots_as_of(table, scenario.processes, [own.name for own in scenario.channels], scenario.absent)
    recordings: dict[str, list[Event]] = {own.id: [] for own in found}
    local = {own.id: own.local for own in found}
    for row in table:
        if row.kind == RECORD and row.snapshot_id is not None:
            part = local[row.snapshot_id].get(row.process)
            if part is not None and part.step == row.step:
                recordings[row.snapshot_id].append(row)
    return {
        own.id: _Taking(own, frozenset(row.row for row in rows), {row.process: row.epoch for row in rows})
        for own in found
        for rows in [recordings[own.id]]
    }


# ---------------------------------------------------------------------- lives and lines


def _last_epoch(table: Sequence[Event]) -> int:
    return max((row.epoch for row in table if row.kind == RESTORE), default=0)


class _Lives:
    """The line of each process, as the table is read, and a copy of it at the end of the `wanted` epochs."""

    def __init__(self, wanted: set[int]) -> None:
        self.own: dict[str, list[Event]] = {}
        self.epochs: dict[str, int] = {}
        self.placed: set[tuple[int | None, int]] = set()  # a message, and an epoch in which it was sent or put back
        self.put_back: Counter[str] = Counter()
        self._finished: dict[int, dict[str, list[Event]]] = {epoch: {} for epoch in wanted}

    def read(self, row: Event) -> None:
        """The next row."""
        if row.kind in APPLICATION_KINDS:
            self.own.setdefault(row.process, []).append(row)
        if row.kind in (SEND, PUT_BACK):
            self.placed.add((row.message_id, row.epoch))
            self.put_back[row.channel or ""] += row.kind == PUT_BACK
        elif row.kind == RESTORE:
            own = self.own.setdefault(row.process, [])
            self._note(row.process)
            self.epochs[row.process] = row.epoch
            del own[bisect_right(own, row.index or 0, key=_index) :]

    def _note(self, process: str) -> None:
        epoch = self.epochs.get(process, 0)
        if epoch in self._finished:
            self._finished[epoch][process] = list(self.own[process])

    def finished(self) -> dict[int, dict[str, list[Event]]]:
        """The line of each process at the end of each wanted epoch, by epoch."""
        for process in self.own:
            self._note(process)
        return self._finished


def _index(row: Event) -> int:
    return row.index or 0


class _Flow:
    """The application messages of one channel on a line, in the order of sending, and in that of receipt."""

    def __init__(self, sends: list[Event], receipts: list[Event]) -> None:
        self.sends, self.receipts = sends, receipts
        ids = [row.message_id for row in receipts]
        self._is_plain = ids == [row.message_id for row in sends[: len(ids)]]  # then numbers alone decide

    def orphans(self, sent: int, received: int) -> list[Event]:
        """The receipts inside a cut of what is sent outside it."""
        r, s = self._inside(sent, received)
        if self._is_plain:
            return self.receipts[s:r]
        known = {row.message_id for row in self.sends[:s]}
        return [row for row in self.receipts[:r] if row.message_id not in known]

    def crossing(self, sent: int, received: int) -> list[Event]:
        """The sends inside a cut of what is not received inside it."""
        r, s = self._inside(sent, received)
        if self._is_plain:
            return self.sends[r:s]
        known = {row.message_id for row in self.receipts[:r]}
        return [row for row in self.sends[:s] if row.message_id not in known]

    def _inside(self, sent: int, received: int) -> tuple[int, int]:
        return bisect_right(self.receipts, received, key=_index), bisect_right(self.sends, sent, key=_index)


class _Line:
    """The events of each process that make up a line, and what follows of them."""

    def __init__(self, judge: _Judge, events: Mapping[str, list[Event]]) -> None:
        self.events = {process: events.get(process, []) for process in judge.processes}
        self._judge = judge

    @cached_property
    def flows(self) -> dict[str, _Flow]:
        """By channel."""
        found: dict[str, _Flow] = {}
        rows: dict[tuple[str, str], list[Event]] = {}
        for own in self.events.values():
            for row in own:
                rows.setdefault((row.channel or "", row.kind), []).append(row)
        for channel in self._judge.channels:
            found[channel.name] = _Flow(rows.get((channel.name, SEND), []), rows.get((channel.name, RECEIVE), []))
        return found

    @cached_property
    def ledger(self) -> dict[str, list[Counter[str]]]:
        """What each process has of each good after 0, 1, 2, ... of its events: what it had at first, and messages."""
        judge = self._judge
        return {
            process: list(accumulate(map(judge.change, own), _sum, initial=judge.at_first[process]))
            for process, own in self.events.items()
        }


def _sum(one: Counter[str], other: Counter[str]) -> Counter[str]:
    found = one.copy()
    found.update(other)
    return found


def _channel_audit(channel: Channel, line: _Line, lives: _Lives) -> ChannelAudit:
    flow, epoch = line.flows[channel.name], lives.epochs.get(channel.target_name, 0)
    order = {row.message_id: place for place, row in enumerate(flow.sends)}
    counts = Counter[str]()
    known: set[int | None] = set()
    latest = -1
    for row in flow.receipts:
        place = order.get(row.message_id)
        counts["duplicated"] += row.message_id in known
        counts["unfounded"] += place is None or (row.message_id, row.epoch) not in lives.placed
        counts["out_of_order"] += channel.fifo and place is not None and place < latest
        latest = max(latest, -1 if place is None else place)
        known.add(row.message_id)
    waits = [place for place, row in enumerate(flow.sends) if row.message_id not in known]
    lost = [
        place
        for place in waits
        if (flow.sends[place].message_id, epoch) not in lives.placed or (channel.fifo and place < latest)
    ]
    return ChannelAudit(
        channel.name, sent=len(flow.sends), received=len(flow.receipts), put_back=lives.put_back[channel.name],
        left=len(waits) - len(lost), lost=len(lost), duplicated=counts["duplicated"],
        out_of_order=counts["out_of_order"], unfounded=counts["unfounded"],
    )  # fmt: skip


# ---------------------------------------------------------------------- what is true of a cut


class _Judge:
    """What a scenario asks of its snapshots and of the goods at the end."""

    def __init__(self, scenario: Scenario) -> None:
        workload: Workload = scenario.engine().workload
        self.processes = [name for name in scenario.processes if name not in scenario.absent]
        present = {*self.processes}
        self.channels = [own for own in scenario.channels if {own.source_name, own.target_name} <= present]
        self.at_first = {name: Counter(workload.measure(workload.initial(name))) for name in self.processes}
        self._total = sum(self.at_first.values(), Counter[str]())
        self._workload, self._checks = workload, scenario.rules.checks

    def change(self, row: Event) -> Counter[str]:
        """What an event changes of the goods of its process."""
        if row.kind not in (SEND, RECEIVE):
            return Counter()
        sign = 1 if row.kind == RECEIVE else -1
        return Counter({good: sign * amount for good, amount in self._body(row.body).items()})

    def _body(self, text: str | None) -> dict[str, int]:
        return self._workload.measure_body(json.loads(text or "null"))

    def snapshot(self, taking: _Taking, lines: Mapping[int, _Line]) -> SnapshotAudit:
        """The books of one snapshot."""
        own, problems = taking.snapshot, tuple[str, ...]()
        if own.status == COMPLETE:
            problems = tuple(self._problems(taking, lines))
        return SnapshotAudit(own.id, own.status, taking.epoch, len(own.recorded_messages), problems)

    def _problems(self, taking: _Taking, lines: Mapping[int, _Line]) -> Iterator[str]:
        cut = taking.snapshot.frontier
        missing = [name for name in self.processes if name not in cut]
        if missing:
            yield f"complete, though {missing[0]} has not recorded"
            return
        if taking.epoch is None:
            yield f"recorded in several lives: {taking.epochs}"
            return
        line = lines[taking.epoch]
        for process in self.processes:
            inside = bisect_right(line.events[process], cut[process], key=_index)
            if inside != taking.places[process]:
                yield f"{process} recorded after {taking.places[process]} of its events, and its part has {inside}"
        yield from self._cut_problems(taking, line)
        if "conservation" in self._checks:
            yield from self._goods_problems(taking, line)

    def _cut_problems(self, taking: _Taking, line: _Line) -> Iterator[str]:
        cut = taking.snapshot.frontier
        for channel in self.channels:
            flow = line.flows[channel.name]
            at = cut[channel.source_name], cut[channel.target_name]
            if "consistency" in self._checks:
                for row in flow.orphans(*at)[:1]:
                    yield f"message {row.message_id} on {channel.name} is received inside the cut, but sent outside it"
            if "channel_states" in self._checks:
                crossing = [row.body or "null" for row in flow.crossing(*at)]
                kept = taking.kept(channel)
                if crossing != kept if channel.fifo else sorted(crossing) != sorted(kept):
                    yield f"{channel.name} recorded [{','.join(kept)}], but [{','.join(crossing)}] crosses the cut"

    def _goods_problems(self, taking: _Taking, line: _Line) -> Iterator[str]:
        found = Counter[str]()
        for process in self.processes:
            own = Counter(self._workload.measure(taking.snapshot.local[process].state))
            due = line.ledger[process][taking.places[process]]
            if any(own[good] != due[good] for good in {*own, *due}):
                yield f"{process} recorded {dict(own)}, and had {dict(due)} then"
            found.update(own)
        for message in taking.snapshot.recorded_messages:
            found.update(self._workload.measure_body(message.body))
        yield from self._imbalance(found)

    def end(self, line: _Line) -> Iterator[str]:
        """What is wrong with the goods at the end."""
        found = Counter[str]()
        for own in line.ledger.values():
            found.update(own[-1])
        for flow in line.flows.values():
            known = {row.message_id for row in flow.receipts}
            for row in flow.sends:
                if row.message_id not in known:
                    found.update(self._body(row.body))
        for problem in self._imbalance(found):
            yield f"at the end: {problem}"

    def _imbalance(self, found: Counter[str]) -> Iterator[str]:
        for good in sorted({*found, *self._total}):
            if found[good] != self._total[good]:
                yield f"{found[good]} {good} there, {self._total[good]} at first"
