"""How much of what is conserved each process holds, and the sums that show that nothing is lost."""

from __future__ import annotations

from collections import Counter
from typing import Any

from cluster.replay.holdings import Amount, Holdings
from cluster.replay.segment import Segment
from sim.explain.verdicts import sum_words
from sim.run.execution import Execution
from sim.run.snapshots import COMPLETE, Snapshot, snapshots_of
from sim.services.words import listing

MOST_GOODS = 2  # that have room
MOST_TOTAL = 10**6  # of a stock that never ends nobody sees what is missing


def amounts(own: Segment, held: Holdings) -> dict[str, Any]:
    """What each process holds at the end of a diagram, and the sums: of then, and of its last complete snapshot.

    Empty: nothing is conserved.
    """
    found = [amount for amount in held.amounts() if 0 < amount.total <= MOST_TOTAL][:MOST_GOODS]
    if not found:
        return {}
    each = {name: " / ".join(_short(amount.held[name]) for amount in found) for name in found[0].held}
    words = "; ".join(amount_words(amount, is_one_epoch=held.is_one_epoch) for amount in found)
    return {"amounts": {"each": each, "sum": f"{words}.", "recorded": _recorded(own)}}


def _short(amount: int | None) -> str:
    return "–" if amount is None else f"{amount}"


def amount_words(amount: Amount, *, is_one_epoch: bool) -> str:
    """Such as `358 at the processes + 42 on the way = 400 money`, and why it is not what there was at first."""
    there = amount.in_processes + amount.on_the_way
    told = f"{amount.in_processes} at the processes + {amount.on_the_way} on the way = {there}"
    down = [name for name, own in amount.held.items() if own is None]
    if not is_one_epoch:
        return f"All go back: the sum of {amount.total} {amount.unit} is there again when they are"
    if down:
        return f"{told} of {amount.total} {amount.unit}; the rest is lost with {listing(down)}"
    return f"{told} {amount.unit}" if there == amount.total else f"{told} {amount.unit}, not {amount.total}"


def _recorded(own: Segment) -> str:
    """The sum of the last complete snapshot that was recorded in the segment; empty: there is none."""
    execution = own.execution

    def is_seen(snapshot: Snapshot) -> bool:
        return all(execution.times[local.step] >= own.begin for local in snapshot.local.values())

    for snapshot in reversed(snapshots_of(execution)):
        if snapshot.status == COMPLETE and is_seen(snapshot):
            return f"{snapshot.id} recorded {recorded_words(execution, snapshot)}."
    return ""


def recorded_words(execution: Execution, snapshot: Snapshot) -> str:
    """Such as `350 in processes + 50 in channels = 400 money`, and if that is not so, what there was at first."""
    workload = execution.engine.workload
    found, first = Counter[str](), +workload.total()
    for local in snapshot.local.values():
        found.update(workload.measure(local.state))
    for message in snapshot.recorded_messages:
        found.update(workload.measure_body(message.body))
    told = sum_words(execution, snapshot)
    wanted = ", ".join(f"{total} {good}" for good, total in first.items() if found[good] != total)
    return f"{told}, not {wanted}" if wanted else told
