"""Makes event tables of any size with numpy, for the benchmarks of audits and of logs; the same at every call.

In each run, PROCESSES processes send MESSAGES messages to each other at random times. Delays are exponential, so
channels are not FIFO; one message in a hundred is never received.
"""

from __future__ import annotations

from pathlib import Path

import numpy
import pyarrow
from numpy.typing import NDArray
from pyarrow import parquet

from pipeline.store.folder import Store
from pipeline.store.manifest import TRACE
from pipeline.store.schema import CUT_TYPES, TRACE_TYPES, arrow_schema
from sim.core.model import EVENT_TYPES

PROCESSES = 8
MESSAGES = 1_000  # in a run; each has two events, or one if it is never received
PART = 500  # runs in a file
LOST = 0.01
DURATION, DELAY = 1_000.0, 20.0  # time units; the delay is the mean

Numbers = NDArray[numpy.int64]


def write_events(folder: Path, runs: int) -> int:
    """Writes the table of `runs` runs as parts of `folder`. Returns the number of events."""
    folder.mkdir(parents=True)
    count = 0
    for first in range(0, runs, PART):
        part = pyarrow.concat_tables(events_of(run) for run in range(first, min(first + PART, runs)))
        parquet.write_table(part, folder / f"part-{first:06}.parquet")
        count += part.num_rows
    return count


def write_cuts(file: Path, runs: int) -> None:
    """Writes a cut of each run, in its middle; most are inconsistent, so that there are many witnesses to find."""
    draw = numpy.random.default_rng(0)
    mean = 2 * MESSAGES // PROCESSES
    columns = {
        "run_id": numpy.repeat(numpy.arange(runs), PROCESSES),
        "cut_id": ["middle"] * (runs * PROCESSES),
        "process": _names() * runs,
        "index": draw.integers(mean // 3, 2 * mean // 3, runs * PROCESSES),
    }
    parquet.write_table(pyarrow.table(columns).cast(arrow_schema(CUT_TYPES)), file)


def write_run(folder: Path, messages: int, cuts: int) -> int:
    """Writes one run, and cuts near consistent ones: moments of it, with up to 3 events more or fewer of each process.

    Returns the number of events. The files are as those of `write_events` and `write_cuts`.
    """
    events = events_of(0, messages)
    (folder / "events").mkdir(parents=True)
    parquet.write_table(events, folder / "events" / "part-0.parquet")
    draw = numpy.random.default_rng(0)
    process, index = (events[name].to_pandas().to_numpy() for name in ("process", "index"))
    moments = draw.integers(0, len(process), cuts)
    inside = []
    for name in _names():
        own = numpy.concatenate([[0], numpy.maximum.accumulate(numpy.where(process == name, index, 0))])
        inside.append(numpy.clip(own[moments] + draw.integers(-3, 4, cuts), 0, own[-1]))
    columns = {
        "run_id": numpy.zeros(cuts * PROCESSES, numpy.int64),
        "cut_id": [f"cut-{number}" for number in range(cuts) for _ in _names()],
        "process": _names() * cuts,
        "index": numpy.array(inside).T.ravel(),
    }
    parquet.write_table(pyarrow.table(columns).cast(arrow_schema(CUT_TYPES)), folder / "cuts.parquet")
    return events.num_rows


def write_log(folder: Path, messages: int) -> int:
    """Makes a data folder that holds one execution with so many messages. Returns the number of its events."""
    store = Store.create(folder, TRACE, {"files": ["one.csv"], "format": "csv"})
    events = events_of(0, messages)
    store.write_part("events", "one", events)
    told = {
        "run_id": 0, "name": "one", "source": "one.csv", "format": "csv", "first_line": 1, "processes": _names(),
        "events": events.num_rows, "messages": messages, "unreceived": 2 * messages - events.num_rows,
        "pairing": "given", "exact": True, "unknown_channels": [], "gaps": 0, "notes": [],
    }  # fmt: skip
    store.write_part("traces", "one", pyarrow.Table.from_pylist([told], arrow_schema(TRACE_TYPES)))
    store.finish()
    return events.num_rows


def events_of(run: int, messages: int = MESSAGES) -> pyarrow.Table:
    """The events of run number `run`: EVENT_TYPES. A longer run takes longer, with as many messages on their way."""
    draw = numpy.random.default_rng(run + 1)
    source = draw.integers(0, PROCESSES, messages)
    target = (source + draw.integers(1, PROCESSES, messages)) % PROCESSES
    duration = DURATION * messages / MESSAGES
    sent = numpy.sort(draw.uniform(0, duration, messages))  # messages are numbered in the order of sending
    arrives = numpy.flatnonzero(draw.random(messages) >= LOST)
    received = sent[arrives] + draw.exponential(DELAY, len(arrives))
    time = numpy.concatenate([sent, received])
    order = numpy.argsort(time, kind="stable")
    message = numpy.concatenate([numpy.arange(messages), arrives])[order]
    is_receive = order >= messages
    process = numpy.where(is_receive, target[message], source[message])
    index = _numbered(process)
    return _table(run, time[order], process, index, is_receive, source * PROCESSES + target, message)


def _numbered(process: Numbers) -> Numbers:
    """The index of each event among those of its process."""
    index = numpy.zeros(len(process), numpy.int64)
    for name in range(PROCESSES):
        own = process == name
        index[own] = numpy.arange(1, own.sum() + 1)
    return index


def _partners(index: Numbers, is_receive: NDArray[numpy.bool_], message: Numbers) -> Numbers:
    """The index of each event's partner (0: none)."""
    ends = numpy.zeros((2, message.max() + 1), numpy.int64)
    ends[is_receive.astype(int), message] = index
    return ends[1 - is_receive.astype(int), message]


def _table(
    run: int, time: NDArray[numpy.float64], process: Numbers, index: Numbers, is_receive: NDArray[numpy.bool_],
    channel: Numbers, message: Numbers,
) -> pyarrow.Table:  # fmt: skip
    count = len(time)
    peer = _partners(index, is_receive, message)
    channels = [f"{one}->{other}" for one in _names() for other in _names()]
    columns = {
        "run_id": numpy.full(count, run), "row": numpy.arange(count), "step": numpy.arange(1, count + 1), "time": time,
        "process": _packed(process, _names()), "index": index,
        "kind": _packed(is_receive.astype(int), ["send", "receive"]), "channel": _packed(channel[message], channels),
        "peer_index": pyarrow.array(peer, mask=peer == 0), "message_id": message, "body": _packed(0 * index, ["1"]),
    }  # fmt: skip
    arrays = [columns[name] if name in columns else pyarrow.nulls(count) for name in EVENT_TYPES]
    return pyarrow.table(arrays, list(EVENT_TYPES)).cast(arrow_schema(EVENT_TYPES))


def _packed(codes: Numbers, texts: list[str]) -> pyarrow.DictionaryArray:
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(codes.astype(numpy.int32)), texts)


def _names() -> list[str]:
    return [f"P{number + 1}" for number in range(PROCESSES)]
