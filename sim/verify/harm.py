"""The harm behind a failing check: the messages that speak against a snapshot, and the step at which it shows."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from sim.run.execution import Execution, once
from sim.run.snapshots import Snapshot, snapshots_of
from sim.verify.checks import Verdict, verdicts_of


class Against(NamedTuple):
    """The messages, by id, that speak against a snapshot, as far as its failing checks say so.

    `orphans` are received inside its cut and sent outside it. `lost` cross the cut and are not recorded; `extra` are
    recorded and do not cross it.
    """

    orphans: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()
    extra: frozenset[int] = frozenset()


class Harm(NamedTuple):
    """A check that does not hold; the message that shows it (None: no single one does), and the step at which."""

    snapshot: Snapshot
    verdict: Verdict
    message: int | None
    step: int


def harms(execution: Execution) -> list[Harm]:
    """Every check that does not hold, snapshot by snapshot."""
    return [
        Harm(snapshot, verdict, _message(execution, snapshot, verdict.check), _step(execution, snapshot))
        for snapshot in snapshots_of(execution)
        for verdict in verdicts_of(execution)[snapshot.id]
        if verdict.holds is False
    ]


def against(execution: Execution, snapshot: Snapshot) -> Against:
    """The messages that speak against a snapshot."""
    return _against_all(execution)[snapshot.id]


@once
def _against_all(execution: Execution) -> dict[str, Against]:
    """The messages that speak against each snapshot, by its id."""
    return {snapshot.id: _against(execution, snapshot) for snapshot in snapshots_of(execution)}


def _against(execution: Execution, snapshot: Snapshot) -> Against:
    failing = {verdict.check for verdict in verdicts_of(execution)[snapshot.id] if verdict.holds is False}
    orphans = execution.history.violations(snapshot.frontier) if "consistency" in failing else []
    if "channel_states" not in failing:
        return Against(frozenset(orphans))
    crossing = {message for found in execution.history.in_channels(snapshot.frontier).values() for message in found}
    kept = {message.id for message in snapshot.recorded_messages}
    return Against(frozenset(orphans), frozenset(crossing - kept), frozenset(kept - crossing))


def _step(execution: Execution, snapshot: Snapshot) -> int:
    """The step at which the verdicts on a snapshot are known."""
    return execution.steps if snapshot.completed is None else snapshot.completed


def _message(execution: Execution, snapshot: Snapshot, check: str) -> int | None:
    if check == "one_marker":
        return _second_marker(execution, snapshot)
    found = against(execution, snapshot)
    if check == "consistency":
        return min(found.orphans, default=None)
    if check == "channel_states":
        return min(found.lost | found.extra, default=None)
    if check == "conservation":
        return min(found.orphans | found.lost | found.extra, default=None)
    return None


def _second_marker(execution: Execution, snapshot: Snapshot) -> int | None:
    """The first marker of a snapshot on a channel that has carried one before."""
    sent: Counter[str] = Counter()
    for flight in execution.flights:
        if flight.is_marker and flight.send.snapshot_id == snapshot.id:
            sent[flight.channel.name] += 1
            if sent[flight.channel.name] > 1:
                return flight.id
    return None
