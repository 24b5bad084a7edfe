"""Surviving lines: of each process, the events that no later restore has taken back."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from cluster.replay.goods import Goods
from sim.core.model import APPLICATION_KINDS, PUT_BACK, RECEIVE, RESTORE, SEND, Event


def last_epoch(table: Sequence[Event]) -> int:
    """The epoch that the last recovery in an event table began; 0 without a recovery."""
    return max((row.epoch for row in table if row.kind == RESTORE), default=0)


class Lines:
    """The line of each process while a table is read, and a copy of it at the end of each `wanted` epoch.

    `own` is the line and `epochs` the epoch of each process. `placed` has each message with each epoch in which it was
    sent or put back, and `put_back` counts the messages put back by channel.
    """

    def __init__(self, wanted: set[int]) -> None:
        self.own: dict[str, list[Event]] = {}
        self.epochs: dict[str, int] = {}
        self.placed: set[tuple[int | None, int]] = set()
        self.put_back: Counter[str] = Counter()
        self._finished: dict[int, dict[str, list[Event]]] = {epoch: {} for epoch in wanted}

    def read(self, row: Event) -> None:
        """Take in the next row."""
        if row.kind in APPLICATION_KINDS:
            self.own.setdefault(row.process, []).append(row)
        if row.kind in (SEND, PUT_BACK):
            self.placed.add((row.message_id, row.epoch))
            self.put_back[row.channel or ""] += row.kind == PUT_BACK
        elif row.kind == RESTORE:
            own = self.own.setdefault(row.process, [])
            self._note(row.process)
            self.epochs[row.process] = row.epoch
            del own[bisect_right(own, row.index or 0, key=index_of) :]

    def _note(self, process: str) -> None:
        epoch = self.epochs.get(process, 0)
        if epoch in self._finished:
            self._finished[epoch][process] = list(self.own[process])

    def finished(self) -> dict[int, dict[str, list[Event]]]:
        """The line of each process at the end of each wanted epoch, by epoch."""
        for process in self.own:
            self._note(process)
        return self._finished


def index_of(row: Event) -> int:
    """The number of an application event in its process."""
    return row.index or 0


class Flow:
    """The application messages of one channel on a line, in the order of sending, and in that of receipt."""

    def __init__(self, sends: list[Event], receipts: list[Event]) -> None:
        self.sends, self.receipts = sends, receipts
        ids = [row.message_id for row in receipts]
        self._is_plain = ids == [row.message_id for row in sends[: len(ids)]]  # then numbers alone decide

    def orphans(self, sent: int, received: int) -> list[Event]:
        """The receipts inside a cut whose sends lie outside it.

        `sent` and `received` are the cut's frontier at the source and at the target of the channel.
        """
        r, s = self._inside(sent, received)
        if self._is_plain:
            return self.receipts[s:r]
        known = {row.message_id for row in self.sends[:s]}
        return [row for row in self.receipts[:r] if row.message_id not in known]

    def crossing(self, sent: int, received: int) -> list[Event]:
        """The sends inside a cut whose receipts lie outside it. Like orphans."""
        r, s = self._inside(sent, received)
        if self._is_plain:
            return self.sends[r:s]
        known = {row.message_id for row in self.receipts[:r]}
        return [row for row in self.sends[:s] if row.message_id not in known]

    def _inside(self, sent: int, received: int) -> tuple[int, int]:
        return bisect_right(self.receipts, received, key=index_of), bisect_right(self.sends, sent, key=index_of)


class SurvivingLine:
    """A line of each process: its surviving events, and what follows from them."""

    def __init__(self, goods: Goods, events: Mapping[str, list[Event]]) -> None:
        self.events = {process: events.get(process, []) for process in goods.processes}
        self._goods = goods

    @cached_property
    def flows(self) -> dict[str, Flow]:
        """The flow of application messages on each channel, by its name."""
        found: dict[str, Flow] = {}
        rows: dict[tuple[str, str], list[Event]] = {}
        for own in self.events.values():
            for row in own:
                rows.setdefault((row.channel or "", row.kind), []).append(row)
        for channel in self._goods.channels:
            found[channel.name] = Flow(rows.get((channel.name, SEND), []), rows.get((channel.name, RECEIVE), []))
        return found

    @cached_property
    def ledger(self) -> dict[str, list[Counter[str]]]:
        """The goods of each process after 0, 1, 2, ... of its events: what it had at first, and what messages moved."""
        goods = self._goods
        return {
            process: list(accumulate(map(goods.change, own), _sum, initial=goods.at_first[process]))
            for process, own in self.events.items()
        }


def _sum(one: Counter[str], other: Counter[str]) -> Counter[str]:
    found = one.copy()
    found.update(other)
    return found
