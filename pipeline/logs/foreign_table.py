"""Checks foreign event tables and fills in missing columns.

A table must have the columns `process`, `kind`, and `message_id` or `channel`. Message ids pair sends with receives;
without them, the messages of a channel are received in FIFO order. `index` and `peer_index` are computed, and must
agree with the table's own values.

After a recovery a message may be received again: once more for each `restore` of its receiver. Then the `peer_index` of
its send is that of the last receive that no restore has taken back (sim/theory/surviving.py). Where a table has no
epochs, that of a row is the number of restores of its process so far.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from pipeline.logs.column_types import Columns, Where, order_of, typed
from pipeline.logs.event_rows import EventRows, to_table
from pipeline.logs.format import Reading, check_processes
from pipeline.logs.pairing import FIFO, GIVEN, UNKNOWN
from sim import VERSION
from sim.core import model
from sim.core.errors import InputError, brief, nearest
from sim.document.validate import name_problem

_AS_GIVEN = ("process", "kind", "channel", "label", "body", "snapshot_id", "state_size", "epoch")
_AT_SOURCE = (*model.SENT, model.FULL, model.COPIED, model.RESENT, model.DROPPED)
_AT_TARGET = (
    *model.RECEIVED, model.CHANNEL_CLOSED, model.RECORDED, model.BLOCKED, model.UNBLOCKED, model.ROOM, model.PUT_BACK,
    model.FENCED,
)  # fmt: skip
# The meaning of `index` on rows other than application events: the number of events inside the recording; the send of
# the message; the number of events kept.
_WITH_INDEX = (model.RECORD, model.COPIED, model.RESTORE)


def read_table(columns: Columns, where: Where) -> Reading:
    """The execution whose rows are in `columns`, lists of one length; a missing value is None.

    `where` names a row in errors. Raises InputError for invalid or contradictory rows.
    """
    table = _TableReader(columns, where)
    events, notes = to_table(table.rows)
    return Reading(
        events, table.processes(), **table.rows.counts(), pairing=table.how, exact=not table.unknown,
        unknown_channels=sorted(table.unknown), notes=[*table.notes, *notes],
    )  # fmt: skip


class _TableReader:
    """Checks and completes the rows of one execution."""

    def __init__(self, columns: Columns, where: Where) -> None:
        cells = typed(columns, where)
        order = order_of(cells["row"], where)
        self.given: Columns = {name: [values[row] for row in order] for name, values in cells.items()}
        self.how = GIVEN
        self.unknown: set[str] = set()
        self.notes: list[str] = []
        self.rows = EventRows(
            event=[],
            index=[],
            partner=[-1] * len(order),
            where=lambda row: where(order[row]),
            **{name: self.given[name] for name in _AS_GIVEN},
        )
        for row in range(len(order)):
            self._check(row)
        check_processes(len(self.processes()), where(order[0]))
        self._number()
        self.restores = self._restores()
        self._pair()
        for row in range(len(order)):
            self._check_peer(row)
        for name in ("time", "step"):
            if None not in self.given[name]:
                setattr(self.rows, name, self.given[name])

    def processes(self) -> list[str]:
        """The processes with rows, in their order, then other receivers of messages. Services are no processes."""
        rows = list(zip(self.rows.kind, self.rows.process, self.rows.channel, strict=True))
        may_be_services = {process for kind, process, _ in rows if kind in model.SERVICE_KINDS}
        certain = [process for kind, process, _ in rows if kind not in model.SERVICE_KINDS]
        channels = (channel for kind, _, channel in rows if channel is not None and kind not in model.SERVICE_KINDS)
        certain += [name for channel in channels for name in channel.split("->")]
        targets = [(channel or "").partition("->")[2] for kind, _, channel in rows if kind == model.CONTROL_SEND]
        return list(dict.fromkeys([*certain, *(name for name in targets if name and name not in may_be_services)]))

    def _fail(self, row: int, problem: str) -> InputError:
        return InputError(f"{self.rows.where(row)}: {problem}")

    # ------------------------------------------------------------------ rows one by one

    def _check(self, row: int) -> None:
        process, kind, channel = self.rows.process[row], self.rows.kind[row], self.rows.channel[row]
        if kind not in model.KINDS:
            raise self._fail(
                row,
                f"kind is {brief(kind)}, which this version ({VERSION}) does not know; was it written by a newer one? "
                f"{nearest(str(kind), model.KINDS)}",
            )
        problem = name_problem(process or "")
        if problem:
            raise self._fail(row, f"process: {problem}")
        if channel is None:
            return
        source, arrow, target = channel.partition("->")
        if not arrow or name_problem(source) or name_problem(target) or source == target:
            raise self._fail(row, f"channel {brief(channel)} is none; it joins two processes, as P1->P2 does")
        own = source if kind in _AT_SOURCE else target if kind in _AT_TARGET else process
        if own != process:
            does = "sends on" if kind in model.SENT else "receives from"
            raise self._fail(
                row, f"{process} {does} {channel}, which it is not the end of; a channel is source->target"
            )

    def _number(self) -> None:
        """Numbers all events, and the application events of each process. Rows with the same index are one event."""
        last: dict[str, tuple[int, int]] = defaultdict(lambda: (0, -1))  # per process: index, event
        events = 0
        for row, (process, kind) in enumerate(zip(self.rows.process, self.rows.kind, strict=True)):
            given = self.given["index"][row]
            index, event = last[process]
            if kind in model.APPLICATION_KINDS and not (given == index > 0):
                index += 1
                if given not in (None, index):
                    raise self._fail(
                        row, f"index is {given}, but this is event {index} of {process}; events count from 1"
                    )
                last[process] = (index, events)
                event = -1
            if kind == model.RECORD and given is not None and given > index:
                raise self._fail(row, f"index is {given}, but {process} has recorded after {index} events")
            if kind == model.COPIED and given is not None and given > index:
                raise self._fail(row, f"index is {given}, but {process} has sent {index} events so far; name the send")
            if kind == model.RESTORE and (given is None or not 0 <= given <= index):
                raise self._fail(
                    row,
                    f"a restore whose index is {given}; give the number of events that {process} keeps, 0 to {index}",
                )
            if kind not in model.APPLICATION_KINDS or event < 0:
                event = events
                events += 1
            self.rows.event.append(event)
            self.rows.index.append(index if kind in model.APPLICATION_KINDS else given if kind in _WITH_INDEX else None)

    def _restores(self) -> dict[str, list[int]]:
        """The rows of the restores of each process. They fill in missing epochs, and have to agree with given ones."""
        found: dict[str, list[int]] = defaultdict(list)
        now: dict[str, int] = defaultdict(int)  # the epoch of each process
        given = self.given["epoch"]
        is_given = any(epoch is not None for epoch in given)
        for row, (process, kind) in enumerate(zip(self.rows.process, self.rows.kind, strict=True)):
            epoch = (given[row] or 0) if is_given else now[process] + (kind == model.RESTORE)
            if kind == model.RESTORE:
                if epoch <= now[process]:
                    raise self._fail(
                        row,
                        f"a restore with epoch {epoch} after epoch {now[process]} of {process}; it begins a later one",
                    )
                found[process].append(row)
            now[process] = max(now[process], epoch)
            given[row] = epoch
        return found

    def _is_gone(self, row: int) -> bool:
        """Whether a later restore of its process keeps fewer events than the index of a row."""
        later = (own for own in self.restores.get(self.rows.process[row], ()) if own > row)
        return any((self.rows.index[own] or 0) < (self.rows.index[row] or 0) for own in later)

    def _check_peer(self, row: int) -> None:
        given, partner = self.given["peer_index"][row], self.rows.partner[row]
        if given is None or self.rows.kind[row] not in (*model.APPLICATION_KINDS, model.COPIED):
            return
        found = self.rows.index[partner] if partner >= 0 else None
        if given != found:
            right = "there is none" if found is None else f"that is {found} ({self.rows.where(partner)})"
            raise self._fail(row, f"peer_index is {given}, but {right}; it is the partner's index")

    # ------------------------------------------------------------------ pairs

    def _pair(self) -> None:
        ends = [row for row, kind in enumerate(self.rows.kind) if kind in (model.SEND, model.RECEIVE)]
        ids = self.given["message_id"]
        if any(ids[row] is not None for row in ends):
            self._pair_ids(model.SEND, model.RECEIVE, copies=True)
            self._pair_ids(model.MARKER_SEND, model.MARKER_RECEIVE, copies=False)
            self._pair_ids(model.CONTROL_SEND, model.CONTROL_RECEIVE)
            if all(isinstance(number, int) for number in ids if number is not None):
                self.rows.message = ids
        elif ends:
            self._pair_in_order(ends)
        for row in ends:
            if self.rows.channel[row] is None:
                self._fill_channel(row)
        senders = {self.rows.process[row] for row in ends if self.rows.kind[row] == model.INTERNAL}
        known = self.processes() if senders else []
        self.unknown.update(f"{sender}->{other}" for sender in senders for other in known if other != sender)

    def _pair_ids(self, send: str, receive: str, *, copies: bool | None = None) -> None:
        """Pairs sends and receives by message_id. `copies`: whether copies have an index (None: there are none)."""
        rows_of: dict[str, dict[Any, list[int]]] = {send: defaultdict(list), receive: defaultdict(list)}
        for row, (kind, number) in enumerate(zip(self.rows.kind, self.given["message_id"], strict=True)):
            if kind == model.COPIED and copies == (self.rows.index[row] is not None):
                kind = send
            if kind not in rows_of:
                continue
            if number is None:
                raise self._fail(
                    row, f"a {kind} without message_id, though other rows have one; every message has its own"
                )
            own = rows_of[kind][number]
            if own and not (kind == model.RECEIVE and len(own) <= self._restores_before(row)):
                raise self._fail(
                    row,
                    f"the {kind} of message {number} again, after {self.rows.where(own[-1])}; "
                    "every message has its own id",
                )
            own.append(row)
        for number, found in rows_of[receive].items():
            for row in sorted(found, key=lambda own: not self._is_gone(own)):  # the last one is the partner
                if number not in rows_of[send]:
                    raise self._fail(row, f"receives message {number}, which no row sends; a receive needs its send")
                self._join(rows_of[send][number][0], row)

    def _restores_before(self, row: int) -> int:
        return sum(own < row for own in self.restores.get(self.rows.process[row], ()))

    def _pair_in_order(self, ends: list[int]) -> None:
        self.how = FIFO
        if self.restores:
            raise self._fail(
                next(iter(self.restores.values()))[0],
                "after a restore messages are received again; a table with one needs the column message_id",
            )
        waiting: dict[str, list[int]] = defaultdict(list)
        for row in ends:
            if self.rows.channel[row] is None:
                raise self._fail(row, f"a {self.rows.kind[row]} with neither message_id nor channel; give one of them")
            if self.rows.kind[row] == model.SEND:
                waiting[self.rows.channel[row] or ""].append(row)
        for sends in waiting.values():
            sends.reverse()
        for row in ends:
            if self.rows.kind[row] == model.RECEIVE:
                sends = waiting[self.rows.channel[row] or ""]
                if not sends:
                    more = f"receives more messages from {self.rows.channel[row]} than are sent"
                    raise self._fail(row, f"{more}; a receive needs its send")
                self._join(sends.pop(), row)

    def _join(self, send: int, receive: int) -> None:
        rows = self.rows
        channel = f"{rows.process[send]}->{rows.process[receive]}"
        for row in (send, receive):
            if rows.channel[row] is None:
                rows.channel[row] = channel
        if rows.process[send] == rows.process[receive] or rows.channel[send] != rows.channel[receive]:
            sent = f"{rows.channel[send]} ({rows.where(send)})"
            raise self._fail(
                receive, f"receives from {rows.channel[receive]} what was sent on {sent}; they have to agree"
            )
        rows.partner[send], rows.partner[receive] = -1 if self._is_gone(receive) else receive, send

    def _fill_channel(self, row: int) -> None:
        """Makes a send without channel and receive internal."""
        self.rows.kind[row] = model.INTERNAL
        if self.how != UNKNOWN:
            self.notes.append(
                f"{self.rows.where(row)} sends a message that no process receives, and the table does not name its "
                "receiver: the state of the channels is unknown"
            )
        self.how = UNKNOWN
