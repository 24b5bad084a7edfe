"""The checks of a snapshot. Each gives a Verdict, with a witness if the check fails.

Each is judged as of the completion of its snapshot. If possible, the losses and copies in transit are placed at the cut
so that the recorded channels are right. An algorithm declares which checks apply to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from sim.core import deadline
from sim.core.model import COPIED, CRASH, DECISION, LEAVE, MARKER_CARRIED, MARKER_SEND
from sim.core.notation import caption, message_sent, where_sent
from sim.run.as_of import as_of
from sim.run.execution import Execution, once
from sim.run.snapshots import COMPLETE, GIVEN_UP, Snapshot, snapshots_of
from sim.theory.positions import Cut, Order, is_inside

CHECKS = (
    "completion",  # every process has recorded, and every channel is closed
    "one_marker",  # every channel carried exactly one marker; at most one if the snapshot is not complete
    "consistency",  # no message was received inside the cut and sent outside it
    "channel_states",  # every channel's recorded messages are those that cross the cut, in their order
    "one_outcome",  # a snapshot that is given up is given up by all: no running process keeps a part of it
    "conservation",  # what is conserved adds up, in the recorded processes and channels
)


class Verdict(NamedTuple):
    """Whether a check holds (None: undecided, as on an aborted snapshot).

    If it does not hold, `witness` names the message, channel, process or good that shows this.
    """

    check: str
    holds: bool | None
    witness: str | None = None


@once
def verdicts_of(execution: Execution) -> dict[str, list[Verdict]]:
    """The verdicts on every snapshot of a run, by snapshot id: one for each check that applies, in the order of CHECKS.

    Consistency is undecided until every member has recorded; channel states and conservation until the snapshot is
    complete; all checks if it was given up. Conservation applies only if the workload conserves something, and is
    undecided where a state was lost inside the cut. Losses and copies of the network are counted.
    """
    checks = checks_of(execution)
    judged = {snapshot.id: _Judged(execution, snapshot) for snapshot in snapshots_of(execution)}
    return {name: [_verdict(own, check) for check in checks] for name, own in judged.items()}


Witness = str | None
UNDECIDED = ""  # the witness of a check that cannot decide


def checks_of(execution: Execution) -> list[str]:
    """The checks that apply to the snapshots of a run, in the order of CHECKS."""
    wanted = [check for check in CHECKS if check in execution.engine.algorithm.checks]
    return wanted if conserved_by(execution) else [check for check in wanted if check != "conservation"]


class _Judged:
    """A snapshot, the run as it was when it was complete, and what several checks ask."""

    def __init__(self, execution: Execution, snapshot: Snapshot) -> None:
        self.execution, self.then = execution, as_of(execution, snapshot)
        self.snapshot: Snapshot = self.then.snapshot
        self.order: Order = self.then.order
        self.workload = execution.engine.workload

    @property
    def channels(self) -> list[str]:
        """The channels between two who take part."""
        return self.then.channels

    @property
    def cut(self) -> Cut:
        """The cut at which goods are counted."""
        return self.then.placed

    def caption(self, channel: str) -> str:
        return caption(self.execution.scenario.processes, channel)

    # ------------------------------------------------------------------ what decides nothing

    @cached_property
    def loses_states(self) -> bool:
        """Whether the state of one who takes part is lost inside."""
        own = zip(self.execution.scenario.processes, self.order.lines, self.cut, strict=False)
        members = {*self.snapshot.members}
        return any(at.kind in (CRASH, LEAVE) for name, line, count in own if name in members for at in line[:count])

    @cached_property
    def holds_everything(self) -> bool:
        """Whether inside nothing has gone from those who take part to others, or come from others."""
        members = {*self.snapshot.members}
        ways = [way for name, own in self.order.ways.items() if len(members & {*name.split("->")}) == 1 for way in own]
        return not any(is_inside(way.sent, self.cut) or is_inside(way.out, self.cut) for way in ways)


def _verdict(judged: _Judged, check: str) -> Verdict:
    snapshot = judged.snapshot
    has_cut = all(process in snapshot.local for process in snapshot.members)
    is_complete = snapshot.status == COMPLETE
    ready = {"consistency": has_cut, "channel_states": is_complete, "conservation": is_complete}.get(check, True)
    if (snapshot.status in GIVEN_UP and check != "one_outcome") or not ready:
        return Verdict(check, None)
    if check == "conservation" and (judged.loses_states or not judged.holds_everything):
        return Verdict(check, None)
    deadline.check()
    witness = _WITNESS_OF[check](judged)
    return Verdict(check, None if witness == UNDECIDED else witness is None, witness or None)


def _completion(judged: _Judged) -> Witness:
    snapshot = judged.snapshot
    for process in snapshot.members:
        if process not in snapshot.local:
            return f"{process} has not recorded"
    if snapshot.status == COMPLETE:
        return None
    if snapshot.torn:
        has_left = any(row.kind == LEAVE and row.process == snapshot.torn for row in judged.then.events)
        return f"{snapshot.torn} has {'left before all was done' if has_left else 'lost its part in a crash'}"
    still_open = (judged.caption(name) for name in judged.channels if name not in snapshot.channels)
    return next((f"{name} is not closed" for name in still_open), "it is not done")


def _one_marker(judged: _Judged) -> Witness:
    """A process that forgot its recording in a crash may send anything then."""
    own = (row for row in judged.then.events if row.snapshot_id == judged.snapshot.id)
    sent = Counter(row.channel for row in own if row.kind in (MARKER_SEND, MARKER_CARRIED))
    least = 1 if judged.snapshot.status == COMPLETE else 0
    wrong = [name for name in judged.channels if not least <= sent[name] <= 1]
    for channel in wrong:
        if channel.split("->")[0] not in judged.snapshot.forgetful:
            return f"{judged.caption(channel)} carried {sent[channel]} {judged.execution.engine.algorithm.marker}s"
    return UNDECIDED if wrong else None


def _one_outcome(judged: _Judged) -> Witness:
    execution, snapshot = judged.execution, judged.snapshot
    decisions = sum(row.kind == DECISION and row.snapshot_id == snapshot.id for row in execution.events)
    if decisions > 1:
        return f"{snapshot.id} is decided {decisions} times"
    up = {process.name for process in execution.final.processes if process.alive}
    if snapshot.status in GIVEN_UP:
        return next((f"{name} keeps its part" for name in snapshot.local if name in up), None)
    return None


def _consistency(judged: _Judged) -> Witness:
    if judged.order.is_consistent(judged.then.cut):
        return None
    orphans = judged.order.orphans(judged.then.cut)
    messages = orphans or judged.order.unsent(judged.then.cut)
    if not messages:  # only a departure follows what is no message to its process
        early = judged.order.early(judged.then.cut)
        return f"{early} leaves inside the cut, but a message from or to it is sent outside it before"
    message = messages[0]
    flight = judged.execution.flights[message]
    end = "received" if message in judged.order.receipts else "lost on arrival"
    where = where_sent(is_unsent=not orphans)
    return f"{message_sent(flight.send)} on {judged.caption(flight.channel.name)} is {end} inside the cut, but {where}"


def _channel_states(judged: _Judged) -> Witness:
    for channel in judged.channels:
        if judged.then.right_at[channel] is None:
            recorded, found = judged.then.recorded(channel), judged.then.crossing(channel, judged.then.cut)
            told = f"[{','.join(recorded)}], but [{','.join(found)}] crosses the cut"
            return f"{judged.caption(channel)} recorded {told}"
    return None


@once
def conserved_by(execution: Execution) -> Counter[str]:
    """The total of each good that the workload conserves (empty: nothing is conserved)."""
    return execution.engine.workload.total()


def _conservation(judged: _Judged) -> Witness:
    workload, snapshot = judged.workload, judged.snapshot
    total: Counter[str] = Counter()
    for process in snapshot.members:
        total.update(workload.measure(workload.initial(process)))
    found: Counter[str] = Counter()
    for local in snapshot.local.values():
        found.update(workload.measure(local.state))
    for message in snapshot.recorded_messages:
        found.update(workload.measure_body(message.body))
    amounts = {"lost": Counter[str](), "copied": Counter[str]()}
    for line, count in zip(judged.order.lines, judged.cut, strict=True):
        for position in line[:count]:
            if position.message is not None:
                body = judged.execution.flights[position.message].body
                amounts["copied" if position.kind == COPIED else "lost"].update(workload.measure_body(body))
    for good in sorted(total):
        lost, copied = (own[good] for own in amounts.values())
        if found[good] + lost - copied != total[good]:
            told = "".join(f", {how} {own[good]}" for how, own in amounts.items() if own[good])
            return f"{found[good]} {good} recorded of {total[good]}{told}"
    return None


_WITNESS_OF: dict[str, Callable[[_Judged], Witness]] = {
    "completion": _completion, "one_marker": _one_marker, "consistency": _consistency,
    "channel_states": _channel_states, "conservation": _conservation, "one_outcome": _one_outcome,
}  # fmt: skip
