"""A segment of the live run for the other pages: a scenario for Explore, an event table for Traces."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow

from cluster.replay.following import Follower
from cluster.replay.segment import MOST_LINES, Segment, segment
from pipeline.store.data_root import free_name, new_folder_path
from pipeline.store.folder import Store
from pipeline.store.manifest import TRACE
from pipeline.store.schema import TRACE_TYPES, arrow_schema
from sim import VERSION
from sim.core.errors import InputError
from sim.core.model import (
    APPLICATION_KINDS,
    EVENT_TYPES,
    INTERNAL,
    MARKER,
    MARKER_RECEIVE,
    RECORD,
    RESTORE,
    SEND,
    MessageReference,
)
from sim.core.topology import Topology
from sim.core.workload import counted
from sim.document.scenario import Initiation, Scenario
from sim.exchange.reconstruct import reconstruct
from sim.run.execution import Execution
from sim.run.snapshots import Snapshot, snapshots_of
from sim.theory.surviving import is_gone
from views.live import words
from views.live.beginning import beginning_words, with_states
from views.live.cluster import LiveRun
from views.live.status import short_name
from views.server.budget import run_of

MOST_EVENTS = 1_500  # of a segment that is opened in Explore
WITH_SNAPSHOTS = "chandy_lamport"
JUST_AFTER_S = 1e-6


def scenario_of(run: LiveRun, begin: float, end: float) -> Scenario:
    """The run from `begin` to `end`, in seconds, as a scenario to be opened in Explore. Raises InputError.

    Its messages, and under Chandy-Lamport its snapshots, are those of the run. Its states are too, if the workload can
    begin in them. It leaves out events that a recovery has undone together with all before `begin`.
    """
    own = _segment(run, begin, end)
    if (restored := _restored(own)) > begin:
        own = _segment(run, restored, end, words.TAKEN_BACK)
    events = [row for row in own.execution.events if row.kind in APPLICATION_KINDS]
    if len(events) > MOST_EVENTS:
        raise InputError(words.too_many_events(len(events)))
    with run.lock:
        ledger = _follower(run).ledger
        held, left = ledger.before(own.begin), ledger.at(own.end)
    begun = with_states(_scripted(own, reacts=True), own.execution, held, left) or _scripted(own, reacts=False)
    if own.execution.scenario.algorithm == WITH_SNAPSHOTS:
        begun = _with_snapshots(begun, own.execution, own.begin)
    return replace(begun, story=_story(run, begin, own, begun, beginning_words(held, left, begun, own.begin)))


def _scripted(own: Segment, *, reacts: bool) -> Scenario:
    """The events of the segment as a script. `reacts`: for the workload of the cluster, which may answer by itself."""
    rows = [row._replace(time=max(row.time, own.begin)) for row in own.execution.table]
    script = reconstruct(rows, own.execution.scenario.processes, "live", reacts=reacts)
    if len(script.script) < sum(row.kind in (SEND, INTERNAL) for row in rows):
        return replace(script, title=_title(own), topology=own.execution.scenario.topology)  # answers go by its order
    edges = [*script.topology.channels]  # in an order in which ties keep the order of the run
    edges += [_ends(channel.name) for channel in own.execution.scenario.channels if _ends(channel.name) not in edges]
    return replace(script, title=_title(own), topology=Topology("listed", channels=tuple(edges)))


def _restored(own: Segment) -> float:
    """The end of the last recovery that went back further than the segment, in seconds; 0 if there was none."""
    rows = own.execution.events
    recorded = {(row.process, row.snapshot_id) for row in rows if row.kind == RECORD and row.time >= own.begin}
    restores = [row for row in rows if row.kind == RESTORE and own.begin > 0]
    further = {row.epoch for row in restores if (row.process, row.snapshot_id) not in recorded}
    return max((row.time + JUST_AFTER_S for row in restores if row.epoch in further), default=0.0)


def _ends(channel: str) -> tuple[str, str]:
    source, _, target = channel.partition("->")
    return source, target


def _story(run: LiveRun, begin: float, own: Segment, scenario: Scenario, beginning: str) -> str:
    """The origin of the scenario, its beginning, and the parts of the run that it leaves out."""
    sentences = [words.origin(_title(own), run.form_state.title), beginning]
    if own.begin > begin:
        sentences.append(words.undone_from(begin))
    if own.unsent:
        sentences.append(words.unsent(counted(own.unsent, "receipts")))
    events = own.execution.events
    if any(row.kind == RESTORE for row in events):
        sentences.append(words.SOME_UNDONE)
    left_out = {short_name(row.snapshot_id) for row in events if row.kind == RECORD and row.snapshot_id}
    left_out -= {start.snapshot for start in scenario.snapshots}
    if left_out:
        sentences.append(words.left_out(", ".join(sorted(left_out))))
    return "\n\n".join(sentences)


def _with_snapshots(scenario: Scenario, execution: Execution, begin: float) -> Scenario:
    """The scenario with those snapshots of the run that it takes at the same cut."""
    first = next(row.time for row in execution.events if row.kind in APPLICATION_KINDS and not is_gone(row))
    shift = max(first, begin) - min(line.at for line in scenario.script)
    found = scenario
    for snapshot in snapshots_of(execution):
        begins = min((execution.times[local.step] for local in snapshot.local.values()), default=begin)
        if set(snapshot.local) != set(scenario.processes) or begins < begin:
            continue
        planned = _planned(found, execution, snapshot.id, shift)
        with suppress(InputError):  # its markers would hold back other messages too long
            taken = {own.id: own for own in snapshots_of(run_of(planned))}.get(short_name(snapshot.id))
            if taken is not None and _content(taken, scenario) == _content(snapshot, scenario):
                found = planned
    return found


def _content(snapshot: Snapshot, scenario: Scenario) -> tuple[Any, ...]:
    """The cut of a snapshot, its channel states, and its process states if the scenario has states."""
    has_states = scenario.workload != Scenario.workload
    states = {name: own.state for name, own in snapshot.local.items()} if has_states else None
    bodies = {name: [message.body for message in own] for name, own in snapshot.channels.items() if own}
    return snapshot.frontier, bodies, states


def _planned(scenario: Scenario, execution: Execution, snapshot: str, shift: float) -> Scenario:
    """The scenario with a snapshot that begins at its time in the run, and markers with their delays in the run."""
    rows = [row for row in execution.events if row.snapshot_id == snapshot]
    by_markers, name = {row.step for row in rows if row.kind == MARKER_RECEIVE}, short_name(snapshot)
    starts = [
        Initiation(name, row.process, max(0.0, row.time - shift))
        for row in rows
        if row.kind == RECORD and row.step not in by_markers
    ]
    delays = {
        MessageReference(None, own.channel.name, MARKER, name, 1): own.receive.time - own.send.time
        for own in execution.flights
        if own.is_marker and own.send.snapshot_id == snapshot and own.receive is not None
    }
    return replace(scenario, snapshots=(*scenario.snapshots, *starts), delays={**scenario.delays, **delays})


def keep(run: LiveRun, begin: float, end: float, owner: str | None) -> str:
    """Keep the run from `begin` to `end`, in seconds, as a folder for Traces; gives its name. Raises InputError."""
    own = _segment(run, begin, end)
    processes = own.execution.scenario.processes
    rows = [row for row in own.execution.table if row.process in processes]
    name = free_name(f"live-{own.begin:.0f}-to-{own.end:.0f}s")
    about = {"format": "live", "from": own.begin, "to": own.end, "cluster": run.form_state.title}
    store = Store.create(new_folder_path(name), TRACE, about, owner)
    try:
        renumbered = [row._replace(row=number) for number, row in enumerate(rows)]
        columns = {column: [getattr(row, column) for row in renumbered] for column in EVENT_TYPES}
        store.write_part("events", "events", pyarrow.Table.from_pydict(columns, arrow_schema(EVENT_TYPES)))
        sends = [row for row in rows if row.kind == SEND]
        trace = {
            "run_id": 0, "name": _title(own), "source": "live", "format": "live", "first_line": 1,
            "processes": list(processes), "events": sum(row.kind in APPLICATION_KINDS for row in rows),
            "messages": len(sends), "unreceived": sum(row.peer_index is None for row in sends), "pairing": "given",
            "exact": True, "unknown_channels": [], "gaps": 0, "notes": _notes(own), "problem": None, "version": VERSION,
        }  # fmt: skip
        store.write_part("traces", "traces", pyarrow.Table.from_pylist([trace], arrow_schema(TRACE_TYPES)))
        store.finish()
    except BaseException:
        store.delete()
        raise
    return name


def _notes(own: Segment) -> list[str]:
    """Notes on a log of the segment."""
    sentences = [words.part(own.begin, own.end)]
    if own.unsent:
        sentences.append(words.unsent(counted(own.unsent, "receipts")))
    return sentences


def _follower(run: LiveRun) -> Follower:
    """The logs of the run. Raises InputError if there are none yet."""
    if run.follower is None:
        raise InputError(words.NOT_BEGUN)
    return run.follower


def _segment(run: LiveRun, begin: float, end: float, empty: str = words.NOTHING_HAPPENS) -> Segment:
    """The segment with all its messages. Raises InputError if it has no events (`empty`), or is too long."""
    follower = _follower(run)
    if not 0 <= begin < end:
        raise InputError(words.show_others(empty))
    with run.lock:
        own = segment(follower, begin, end, with_services=False, whole=True)
    if own.begin > begin + 1e-9:
        raise InputError(words.too_many_actions(MOST_LINES))
    if not any(row.kind in APPLICATION_KINDS and row.time >= own.begin for row in own.execution.events):
        raise InputError(words.show_others(empty))
    return own


def _title(own: Segment) -> str:
    return words.title_of_seconds(own.begin, own.end)
