"""A window of an execution: its complete events, and the state before it, so that every cut through it can be checked.

The rows of an execution are in a causal order, so the rows before any row form a consistent cut. Hence a message that
violates a cut through the window is sent and received in the window. At such a cut a channel holds its messages from
the beginning of the window, except those received inside the cut. It also holds the messages that the window adds.

After recoveries a window has surviving events only, and lost messages are in no channel. So the indices of its events
may have gaps.

This takes scans of a few columns, without Spark. Only the first messages that wait in a channel are kept in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Sized
from typing import NamedTuple

import numpy
import pyarrow
from pyarrow import compute
from pyarrow.dataset import field

from pipeline.cuts import one_execution
from pipeline.cuts.one_execution import WhatIsLeft
from pipeline.store.folder import Store
from pipeline.store.schema import arrow_schema
from sim.core.deadline import check
from sim.core.model import APPLICATION_KINDS, COPIED, EVENT_TYPES, RECEIVE, SEND, Event, label_of

FEW = 6  # messages of a channel that are named, besides those that are received in the window
_NO_SENDS = arrow_schema({name: EVENT_TYPES[name] for name in ("channel", "peer_index", "message_id")}).empty_table()
_SENDS = field("kind").isin([SEND, COPIED]) & field("index").is_valid()  # the copy of a marker has no index


class Held(NamedTuple):
    """The messages in a channel: their number, and the names of the first ones in the order of receipt.

    A message has the name of its send. Messages that are never received come last, in the order of sending.
    """

    size: int
    names: list[str]


class LogWindow(NamedTuple):
    """Rows of an execution, in order.

    `before` is the number of events of each process before them. `held` has the messages in each channel, by its name,
    when the rows begin; empty channels are left out. `receipts` are the rows that receive such a message, by channel:
    the first messages of the channel, in their order.
    """

    rows: list[Event]
    before: dict[str, int]
    held: dict[str, Held]
    receipts: dict[str, list[Event]]


def log_window(store: Store, run_id: int, processes: Sequence[str], first_row: int, rows: int) -> LogWindow:
    """The application events of execution `run_id` that lie in `rows` rows from `first_row` on, each with all its rows.

    An event that lies there only in part is left out, and so is an event that a recovery has taken back. Raises
    InputError if there is no table.
    """
    left = WhatIsLeft(store, run_id)
    around = one_execution.window(store, run_id, max(0, first_row - 1), rows + 2)
    own = left.events(_whole_events(around, first_row, rows))
    begin = own[0].row if own else _begin_of_event(store, run_id, around, first_row)
    before = dict.fromkeys(processes, 0) | one_execution.event_counts_before(store, run_id, begin)
    receipts = _receipts_from_before(own, left)
    return LogWindow(own, before, _held(store, run_id, begin, before, receipts, left), receipts)


def _whole_events(around: Sequence[Event], first_row: int, rows: int) -> list[Event]:
    """The application rows of the range whose events lie in it completely; `around` has one more row on each side."""
    inside = range(first_row, first_row + rows)
    events = [row for row in around if row.kind in APPLICATION_KINDS]
    cut_off = {(row.process, row.index) for row in events if row.row not in inside}
    return [row for row in events if row.row in inside and (row.process, row.index) not in cut_off]


def _begin_of_event(store: Store, run_id: int, around: Sequence[Event], first_row: int) -> int:
    """The row `first_row`, or, if it lies within an event, the first row of that event."""
    beside = {row.row: (row.process, row.index) for row in around if row.kind in APPLICATION_KINDS}
    process, index = beside.get(first_row, (None, None))
    if index is None or beside.get(first_row - 1) != (process, index):
        return first_row
    is_one = (field("run_id") == run_id) & (field("process") == process) & (field("index") == index)
    return int(compute.min(store.rows("events").to_table(["row"], is_one)["row"]).as_py())


def _receipts_from_before(rows: Sequence[Event], left: WhatIsLeft) -> dict[str, list[Event]]:
    sent = {row.message_id for row in rows if row.kind in (SEND, COPIED)}
    receives = [
        row for row in rows if row.kind == RECEIVE and row.peer_index is not None and row.message_id not in sent
    ]
    last = {row.message_id: row for row in receives}  # the last receive of each message
    found: dict[str, list[Event]] = {}
    for row in left.receipts([row for row in receives if last[row.message_id] is row]):
        found.setdefault(row.channel or "", []).append(row)
    return found


def _held(
    store: Store, run_id: int, row: int, before: Mapping[str, int], receipts: Mapping[str, Sized], left: WhatIsLeft
) -> dict[str, Held]:
    """The messages that are sent before `row` and not received before it; the rows of `receipts` receive some later."""
    sizes = Counter[str]()
    first = _NO_SENDS
    for sends in _waiting(store, run_id, row, before, left):
        check()
        counted = sends.group_by("channel").aggregate([([], "count_all")]).to_pylist()
        sizes.update({channel["channel"]: channel["count_all"] for channel in counted})
        first = _first_of_each(pyarrow.concat_tables([first, sends]), receipts)
    messages: dict[str, list[int]] = {}
    for name, message in zip(*(first[column].to_pylist() for column in ("channel", "message_id")), strict=True):
        messages.setdefault(name, []).append(message)
    names = _names(store, run_id, first["message_id"].to_pylist())
    return {name: Held(sizes[name], [names[message] for message in own]) for name, own in messages.items()}


def _waiting(
    store: Store, run_id: int, row: int, before: Mapping[str, int], left: WhatIsLeft
) -> Iterator[pyarrow.Table]:
    """Yield the sends of the messages that wait in a channel at `row`, in parts: channel, peer_index, message_id."""
    columns = ["process", "index", *_NO_SENDS.column_names]
    is_sent = (field("run_id") == run_id) & (field("row") < row) & _SENDS
    for rows in store.rows("events").to_batches(columns=columns, filter=is_sent):
        sends = left.sends(rows, row)
        channels = sends["channel"].combine_chunks().dictionary_encode()
        known = [before.get(name.partition("->")[2], 0) for name in channels.dictionary.to_pylist()]
        limit = pyarrow.array(known, pyarrow.int64()).take(channels.indices)
        yield sends.filter(compute.greater(sends["peer_index"], limit).fill_null(True))


def _first_of_each(waiting: pyarrow.Table, receipts: Mapping[str, Sized]) -> pyarrow.Table:
    """For each channel, in the order of receipt, the messages that are received in the window, and FEW more."""
    in_order = waiting.sort_by([(column, "ascending") for column in ("channel", "peer_index", "message_id")])
    channels = in_order["channel"].combine_chunks().dictionary_encode()
    names, number = channels.dictionary.to_pylist(), channels.indices.to_numpy(zero_copy_only=False)
    place = numpy.arange(len(number)) - numpy.searchsorted(number, number)  # in its channel; null, never, is last
    most = numpy.array([len(receipts.get(name, ())) + FEW for name in names], dtype=numpy.int64)
    return in_order.filter(pyarrow.array(place < most[number]))


def _names(store: Store, run_id: int, messages: Sequence[int]) -> dict[int, str]:
    """The names of messages, by their ids."""
    if not messages:
        return {}
    is_one = (field("run_id") == run_id) & _SENDS & field("message_id").isin(list(messages))
    found = store.rows("events").to_table(["message_id", "label", "process", "index"], is_one).to_pylist()
    return {row["message_id"]: row["label"] or label_of(row["process"], row["index"], None) for row in found}
