"""The conserved goods that each process holds, and the sums that show that nothing is lost."""

from __future__ import annotations

from collections import Counter
from typing import Any

from cluster.replay.holdings import Amount, Holdings
from cluster.replay.segment import Segment
from sim.explain.verdicts import sum_words
from sim.run.execution import Execution
from sim.run.snapshots import COMPLETE, Snapshot, snapshots_of
from sim.services.words import listing
from views.live import words

MOST_GOODS = 2  # that have room
MOST_TOTAL = 10**6  # in an endless stock no loss is visible


def amounts(own: Segment, held: Holdings) -> dict[str, Any]:
    """The goods of each process at the end of a diagram, their sum, and the sum of the last complete snapshot.

    Empty: nothing is conserved.
    """
    found = [amount for amount in held.amounts() if 0 < amount.total <= MOST_TOTAL][:MOST_GOODS]
    if not found:
        return {}
    each = {name: " / ".join(_short(amount.held[name]) for amount in found) for name in found[0].held}
    sums = "; ".join(amount_words(amount, is_one_epoch=held.is_one_epoch) for amount in found)
    return {"amounts": {"each": each, "sum": f"{sums}.", "recorded": _recorded(own)}}


def _short(amount: int | None) -> str:
    return "–" if amount is None else f"{amount}"


def amount_words(amount: Amount, *, is_one_epoch: bool) -> str:
    """Such as `358 at the processes + 42 in transit = 400 money`, and the reason if it is another sum than at first."""
    there = amount.in_processes + amount.on_the_way
    text = words.sum_of(amount.in_processes, amount.on_the_way)
    down = [name for name, own in amount.held.items() if own is None]
    if not is_one_epoch:
        return words.sum_during_recovery(amount.total, amount.unit)
    if down:
        return words.lost_with(text, amount.total, amount.unit, listing(down))
    return words.with_unit(text, amount.unit, None if there == amount.total else amount.total)


def _recorded(own: Segment) -> str:
    """The sum of the last complete snapshot that was recorded in the segment; empty: there is none."""
    execution = own.execution

    def is_seen(snapshot: Snapshot) -> bool:
        return all(execution.times[local.step] >= own.begin for local in snapshot.local.values())

    for snapshot in reversed(snapshots_of(execution)):
        if snapshot.status == COMPLETE and is_seen(snapshot):
            return words.recorded_sum(snapshot.id, recorded_words(execution, snapshot))
    return ""


def recorded_words(execution: Execution, snapshot: Snapshot) -> str:
    """Such as `350 in processes + 50 in channels = 400 money`, and the sum at the beginning if it differs."""
    workload = execution.engine.workload
    found, first = Counter[str](), +workload.total()
    for local in snapshot.local.values():
        found.update(workload.measure(local.state))
    for message in snapshot.recorded_messages:
        found.update(workload.measure_body(message.body))
    text = sum_words(execution, snapshot)
    wanted = ", ".join(f"{total} {good}" for good, total in first.items() if found[good] != total)
    return words.not_expected(text, wanted) if wanted else text
