"""What must be true of a snapshot, each a Verdict that names its witness.

This is the first of two code paths: it reads the messages, the local recordings and vector clocks.
sim/table_checks.py computes the same verdicts from the event table alone; the two must agree.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from sim.causality import History
from sim.execution import Execution, to_json
from sim.snapshots import Snapshot, snapshots_of

CHECKS = {
    "completion": "every process has recorded, and every channel is closed",
    "one_marker": "every channel carried exactly one marker",
    "consistency": "no message was received inside the cut and sent outside it",
    "channel_states": "every channel's recorded messages are those that cross the cut, in their order",
    "conservation": "what is conserved adds up, in the recorded processes and channels",
}


class Verdict(NamedTuple):
    """`witness` names the message, channel or process that decides against it (None where it holds)."""

    check: str
    holds: bool
    witness: str | None = None


def verdicts_of(execution: Execution) -> dict[str, list[Verdict]]:
    """The verdicts on every snapshot of a run, by snapshot id, in the order of CHECKS.

    Consistency needs every process to have recorded, channel states and conservation a complete
    snapshot; before that they are undecided and left out.
    """
    return {snapshot.id: _verdicts(execution, execution.history, snapshot) for snapshot in snapshots_of(execution)}


def _verdicts(execution: Execution, history: History, snapshot: Snapshot) -> list[Verdict]:
    found = [_completion(execution, snapshot), _one_marker(execution, snapshot)]
    if len(snapshot.local) == len(execution.scenario.processes):
        found.append(_consistency(history, snapshot))
    if snapshot.status == "complete":
        found.append(_channel_states(execution, history, snapshot))
        found += _conservation(execution, snapshot)
    return [Verdict(check, witness is None, witness) for check, witness in found]


Finding = tuple[str, str | None]


def _completion(execution: Execution, snapshot: Snapshot) -> Finding:
    for process in execution.scenario.processes:
        if process not in snapshot.local:
            return "completion", f"{process} has not recorded"
    for channel in execution.engine.channels:
        if channel.name not in snapshot.channels:
            return "completion", f"{channel.name} is not closed"
    return "completion", None


def _one_marker(execution: Execution, snapshot: Snapshot) -> Finding:
    sent = Counter(f.channel.name for f in execution.flights if f.is_marker and f.send.snapshot_id == snapshot.id)
    least = 1 if snapshot.status == "complete" else 0
    for channel in execution.engine.channels:
        if not least <= sent[channel.name] <= 1:
            return "one_marker", f"{channel.name} carried {sent[channel.name]} markers"
    return "one_marker", None


def _consistency(history: History, snapshot: Snapshot) -> Finding:
    if history.is_consistent(snapshot.frontier):
        return "consistency", None
    message = history.violation(snapshot.frontier)
    assert message is not None  # an effect inside without its cause crosses some channel backwards
    return "consistency", f"message {history.sends[message].label} on {history.sends[message].channel}"


def _channel_states(execution: Execution, history: History, snapshot: Snapshot) -> Finding:
    crossing = history.in_channels(snapshot.frontier)
    for channel in execution.engine.channels:
        recorded = [message.body for message in snapshot.channels[channel.name]]
        found = [execution.flights[message].body for message in crossing.get(channel.name, [])]
        if recorded != found:
            return "channel_states", f"{channel.name} recorded {to_json(recorded)}, the cut finds {to_json(found)}"
    return "channel_states", None


def _conservation(execution: Execution, snapshot: Snapshot) -> list[Finding]:
    workload = execution.engine.workload
    total: Counter[str] = Counter()
    for process in execution.scenario.processes:
        total.update(workload.measure(workload.initial(process)))
    if not total:
        return []
    found: Counter[str] = Counter()
    for local in snapshot.local.values():
        found.update(workload.measure(local.state))
    for message in snapshot.recorded_messages:
        found.update(workload.measure_body(message.body))
    for good in sorted(total):
        if found[good] != total[good]:
            return [("conservation", f"{found[good]} {good} recorded of {total[good]}")]
    return [("conservation", None)]
