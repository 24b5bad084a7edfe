"""The fate of the numbered records of a dataflow: the numbers lost, delivered twice, or out of order.

A record is followed along the surviving line (sim/theory/surviving.py) from the source that has emitted it to the end
of its way: a sink, or the process that passes it on no more. The outputs that sinks give to the environment are counted
as well, and nothing takes these back.

P. Carbone et al., "State Management in Apache Flink", PVLDB 10(12), 2017: exactly once, at least once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sim.core.model import OUTPUT, RECEIVE, RESTORE, SEND
from sim.run.execution import Execution
from sim.run.snapshots import snapshots_of
from sim.services.storage_words import NAME as STORAGE
from sim.services.uploads import COMMITTED
from sim.theory.surviving import GONE
from sim.workloads.dataflow import HOPS, KEY, NUMBER, SOURCE, TRANSACTIONAL, Dataflow


class Record(NamedTuple):
    """A numbered record: the `number` tells it from the others of its `source`."""

    source: str
    number: int
    key: str


class Counts(NamedTuple):
    """The numbers of records due, lost, delivered once too often, and delivered after a later one of their source and
    key.

    `unfounded`: delivered although the surviving line does not know them.
    """

    expected: int
    lost: int = 0
    duplicated: int = 0
    out_of_order: int = 0
    unfounded: int = 0

    @property
    def is_exactly_once(self) -> bool:
        """Whether each is there once, in order, and nothing else."""
        return self == Counts(self.expected)


class Delivery(NamedTuple):
    """The counts of the records along the surviving line, and of the outputs."""

    records: Counts
    outputs: Counts


def delivery_of(execution: Execution) -> Delivery | None:
    """Return the fate of the records of a run (None: it has no numbered records).

    A record that is in a channel when the run ends is not lost. An output is due as soon as a plain sink has received
    its record; with a transactional sink, as soon as that has heard that a snapshot is valid which contains the
    receipt, or has gone back to one.
    """
    workload = execution.engine.workload
    if not isinstance(workload, Dataflow) or not workload.sink:
        return None
    history = execution.history
    emitted, arrived, at_sinks = set[Record](), dict[str, list[Record]](), dict[str, list[Record]]()
    for process in execution.final.processes:
        own = history.of[process.name]
        bodies = [(event.kind, execution.body_of(event)) for event in own if event.kind in (SEND, RECEIVE)]
        emitted |= {_record(body) for kind, body in bodies if kind == SEND and body[SOURCE] == process.name}
        ends = [_record(body) for kind, body in bodies if kind == RECEIVE and not (process.outgoing and body.get(HOPS))]
        arrived[process.name] = ends
        if not process.outgoing:
            at_sinks[process.name] = ends
    given: dict[str, list[Record]] = {}
    for event in execution.events:
        if event.kind == OUTPUT:
            given.setdefault(event.process, []).append(_record(execution.body_of(event)))
    due = {name: own[: _due(execution, name)] for name, own in at_sinks.items()}
    known = {record for own in at_sinks.values() for record in own}
    return Delivery(
        _counts(emitted, emitted, arrived, _under_way(execution)),
        _counts({record for own in due.values() for record in own}, known, given, ()),
    )


def _record(body: Mapping[str, object]) -> Record:
    return Record(str(body[SOURCE]), int(str(body[NUMBER])), str(body[KEY]))


def _under_way(execution: Execution) -> list[Record]:
    """The records in the channels."""
    engine = execution.engine
    return [_record(own.body) for channel in engine.channels for own in engine.messages_in(execution.final, channel)]


def _due(execution: Execution, sink: str) -> int | None:
    """The number of received records that `sink` should have given by now (None: all)."""
    workload = execution.engine.workload
    assert isinstance(workload, Dataflow)
    if workload.sink != TRANSACTIONAL:
        return None
    told = (own for own in execution.flights if own.is_control and own.channel.name == f"{STORAGE}->{sink}")
    heard = {own.send.snapshot_id for own in told if COMMITTED in own.body and own.receive is not None}
    parts = [own.local[sink] for own in snapshots_of(execution) if own.id in heard and sink in own.local]
    inside = [part.inside for part in parts if part.inside <= GONE]
    restores = (event for event in execution.events if event.kind == RESTORE and event.process == sink)
    inside += [event.index or 0 for event in restores]
    history = execution.history.of[sink]
    return sum(event.kind == RECEIVE for event in history[: max(inside, default=0)])


def _counts(
    expected: set[Record], known: set[Record], there: Mapping[str, Sequence[Record]], under_way: Iterable[Record]
) -> Counts:
    """The counts; `there`: by process, in their order."""
    found = Counter(record for own in there.values() for record in own)
    found.update(under_way)
    late = 0
    for own in there.values():
        last: dict[tuple[str, str], int] = {}
        for source, number, key in dict.fromkeys(own):  # each as it came first
            late += number < last.get((source, key), 0)
            last[source, key] = max(number, last.get((source, key), 0))
    return Counts(
        expected=len(expected),
        lost=len(expected - found.keys()),
        duplicated=found.total() - len(found),
        out_of_order=late,
        unfounded=len(found.keys() - known),
    )
