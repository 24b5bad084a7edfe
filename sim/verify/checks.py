"""The checks of a snapshot. Each gives a Verdict, with a witness if the check fails.

The checks here use messages, recorded states and vector clocks. sim/verify/table_checks.py computes the same verdicts
independently, from the event table alone; tests compare the two. An algorithm declares which checks apply to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from sim.core import deadline
from sim.core.log import to_json
from sim.core.model import APP, CRASH, DECISION, LEAVE, LOST, MARKER_CARRIED, RESTORE
from sim.core.notation import caption, message_sent
from sim.run.execution import Execution, Flight, once
from sim.run.snapshots import COMPLETE, GIVEN_UP, Snapshot, snapshots_of
from sim.theory.causality import History

CHECKS = (
    "completion",  # every process has recorded, and every channel is closed
    "one_marker",  # every channel carried exactly one marker; at most one if the snapshot is not complete
    "consistency",  # no message was received inside the cut and sent outside it
    "channel_states",  # every channel's recorded messages are those that cross the cut, in their order
    "one_outcome",  # a snapshot that is given up is given up by all: nobody who is up keeps a part of it
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

    Consistency is undecided until every process has recorded; channel states and conservation until the snapshot is
    complete; all checks if it was aborted. Conservation applies only if the workload conserves something, and is
    undecided where a crash may have taken some of it away. What a raw network loses and copies is counted.
    """
    checks = checks_of(execution)
    return {
        snapshot.id: [_verdict(execution, snapshot, check) for check in checks] for snapshot in snapshots_of(execution)
    }


Witness = str | None


def checks_of(execution: Execution) -> list[str]:
    """The checks that apply to the snapshots of a run, in the order of CHECKS."""
    wanted = [check for check in CHECKS if check in execution.engine.algorithm.checks]
    return wanted if conserved_by(execution) else [check for check in wanted if check != "conservation"]


def _verdict(execution: Execution, snapshot: Snapshot, check: str) -> Verdict:
    has_cut = all(process in snapshot.local for process in snapshot.members)
    is_complete = snapshot.status == COMPLETE
    adds_up = is_complete and not loses_states(execution) and _holds_everything(execution, snapshot)
    ready = {"consistency": has_cut, "channel_states": is_complete, "conservation": adds_up}.get(check, True)
    if (snapshot.status in GIVEN_UP and check != "one_outcome") or not ready or snapshot.is_over:
        return Verdict(check, None)
    deadline.check()
    witness = _WITNESS_OF[check](execution, snapshot)
    return Verdict(check, witness is None, witness)


@once
def loses_states(execution: Execution) -> bool:
    """Whether the state of a process is lost in a run, and no recovery brings one back."""
    lost: set[str] = set()
    for event in execution.events:
        if event.kind in (CRASH, LEAVE):
            lost.add(event.process)
        elif event.kind == RESTORE:
            lost.discard(event.process)
    return bool(lost)


def _holds_everything(execution: Execution, snapshot: Snapshot) -> bool:
    """Whether nothing has gone, before its snapshot, from those that take part in it to others, or come from others."""
    others = {*execution.scenario.processes} - {*snapshot.members}
    events = (event for name, inside in snapshot.frontier.items() for event in execution.history.of[name][:inside])
    return not others or all(others.isdisjoint((event.channel or "").split("->")) for event in events)


def _channels(execution: Execution, snapshot: Snapshot) -> list[str]:
    """The channels from and to processes that take part in a snapshot."""
    names = [channel.name for channel in execution.engine.channels]
    if len(snapshot.members) == len(execution.scenario.processes):
        return names
    return [name for name in names if {*name.split("->")} <= {*snapshot.members}]


def _completion(execution: Execution, snapshot: Snapshot) -> Witness:
    for process in snapshot.members:
        if process not in snapshot.local:
            return f"{process} has not recorded"
    if snapshot.status == COMPLETE:
        return None
    if snapshot.torn:
        return f"{snapshot.torn} has lost its part in a crash"
    channels = _channels(execution, snapshot)
    still_open = (_caption(execution, name) for name in channels if name not in snapshot.channels)
    return next((f"{name} is not closed" for name in still_open), "it is not done")


def _caption(execution: Execution, channel: str) -> str:
    return caption(execution.scenario.processes, channel)


@once
def _markers_sent(execution: Execution) -> Counter[tuple[str | None, str]]:
    """How many markers each channel carried, also on messages, by snapshot id and channel name."""
    markers = (flight for flight in execution.flights if flight.is_marker and flight.copied is None)
    sent = Counter((flight.send.snapshot_id, flight.channel.name) for flight in markers)
    sent.update((row.snapshot_id, row.channel or "") for row in execution.events if row.kind == MARKER_CARRIED)
    return sent


def _one_marker(execution: Execution, snapshot: Snapshot) -> Witness:
    sent = _markers_sent(execution)
    least = 1 if snapshot.status == COMPLETE else 0
    for channel in _channels(execution, snapshot):
        count = sent[snapshot.id, channel]
        if not least <= count <= 1:
            name = _caption(execution, channel)
            return f"{name} carried {count} {execution.engine.algorithm.marker}s"
    return None


def _one_outcome(execution: Execution, snapshot: Snapshot) -> Witness:
    decisions = sum(row.kind == DECISION and row.snapshot_id == snapshot.id for row in execution.events)
    if decisions > 1:
        return f"{snapshot.id} is decided {decisions} times"
    up = {process.name for process in execution.final.processes if process.alive}
    if snapshot.status in GIVEN_UP:
        return next((f"{name} keeps its part" for name in snapshot.local if name in up), None)
    return None


def _consistency(execution: Execution, snapshot: Snapshot) -> Witness:
    history = execution.history
    frontier = history.with_causes_elsewhere(snapshot.frontier)
    if history.is_consistent(frontier):
        return None
    message = history.violation(frontier)
    assert message is not None  # the cut is inconsistent, so some message is received inside and sent outside
    send = history.sends[message]
    name = _caption(execution, send.channel or "")
    return f"{message_sent(send)} on {name} is received inside the cut, but sent outside it"


def _channel_states(execution: Execution, snapshot: Snapshot) -> Witness:
    crossing = execution.history.in_channels(snapshot.frontier)
    for channel in _channels(execution, snapshot):
        kept = snapshot.channels.get(channel, snapshot.open.get(channel, ()))
        recorded = [message.body for message in kept]
        found = [execution.flights[message].body for message in crossing.get(channel, [])]
        if recorded != found:
            name = _caption(execution, channel)
            return f"{name} recorded {to_json(recorded)}, but {to_json(found)} crosses the cut"
    return None


@once
def conserved_by(execution: Execution) -> Counter[str]:
    """The total of each good that the workload conserves (empty: nothing is conserved)."""
    workload = execution.engine.workload
    total: Counter[str] = Counter()
    for process in execution.scenario.processes:
        total.update(workload.measure(workload.initial(process)))
    return total


def _conservation(execution: Execution, snapshot: Snapshot) -> Witness:
    workload, total = execution.engine.workload, conserved_by(execution).copy()
    for process in set(execution.scenario.processes) - {*snapshot.members}:
        total.subtract(workload.measure(workload.initial(process)))
    found: Counter[str] = Counter()
    for local in snapshot.local.values():
        found.update(workload.measure(local.state))
    for message in snapshot.recorded_messages:
        found.update(workload.measure_body(message.body))
    amounts = _amounts_of_network(execution, snapshot)
    for good in sorted(total):
        of_good = {how: own[good] for how, own in amounts.items()}
        if found[good] + of_good["lost"] - of_good["copied"] != total[good]:
            return unbalanced(found[good], good, total[good], of_good)
    return None


def _amounts_of_network(execution: Execution, snapshot: Snapshot) -> dict[str, Counter[str]]:
    """How much of each good the network has lost and copied of what was sent inside the cut."""
    found = {"lost": Counter[str](), "copied": Counter[str]()}
    for flight in execution.flights:
        inside = snapshot.frontier.get(flight.send.process, 0)
        if flight.kind == APP and (flight.send.index or 0) <= inside:
            amount = execution.engine.workload.measure_body(flight.body)
            found["lost"].update(amount if _is_lost_on_its_way(flight, execution.history) else {})
            found["copied"].update(amount if flight.copied else {})
    return found


def _is_lost_on_its_way(flight: Flight, history: History) -> bool:
    """Whether the network loses a message. What comes to a process that is down, a recovery has to bring back."""
    lost = flight.lost
    if lost is None or lost.kind != LOST or flight.id in history.receives:
        return False
    return lost.process == flight.channel.source_name


def unbalanced(found: int, good: str, total: int, by_network: Mapping[str, int]) -> str:
    """The witness of goods that do not add up; `by_network`: how much the network has lost and copied."""
    told = "".join(f", {how} {amount}" for how, amount in by_network.items() if amount)
    return f"{found} {good} recorded of {total}{told}"


_WITNESS_OF: dict[str, Callable[[Execution, Snapshot], Witness]] = {
    "completion": _completion, "one_marker": _one_marker, "consistency": _consistency,
    "channel_states": _channel_states, "conservation": _conservation, "one_outcome": _one_outcome,
}  # fmt: skip
