"""The recovery line of uncoordinated checkpoints in a history (sim/core/recovery_line.py has the rule)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from sim.core.recovery_line import TAKEN_BACK, Receipt, Recovery, latest_line
from sim.theory.causality import History


def recovery_line(
    history: History, checkpoints: Mapping[str, Sequence[int]], failed: Collection[str] | None = None
) -> Recovery:
    """The latest consistent cut with a checkpoint of every process in `failed` (None: of all), and the search for it.

    `checkpoints` has for each process the number of events in each of its checkpoints. A process that did not fail may
    keep the state that it has at the end of `history`.
    """
    present = {} if failed is None else {name: len(own) for name, own in history.of.items() if name not in failed}
    return latest_line({name: checkpoints.get(name, ()) for name in history.processes}, present, _receipts(history))


def _receipts(history: History) -> Iterator[Receipt]:
    for message, receive in history.receives.items():
        sender, send = (receive.channel or "").partition("->")[0], history.sends.get(message)
        sent = TAKEN_BACK if send is None else send.index or 0
        yield Receipt(receive.process, receive.index or 0, sender, sent, message)
