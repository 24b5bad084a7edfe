"""Rings, several initiators, overlapping snapshots, a hundred processes."""

from __future__ import annotations

from dataclasses import replace

from sim.core.model import RECORD
from sim.document import library
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from tests.scenarios.tools import recorded_total, run_of
from tests.sim.tools import bodies, only_snapshot, start


def test_two_initiators_start_at_the_same_time_and_share_a_snapshot() -> None:
    execution = run_of("two_initiators")
    begun = {e.process: e.time for e in execution.events if e.kind == RECORD and e.process in ("P1", "P3")}
    assert begun["P1"] == begun["P3"]
    assert only_snapshot(execution).initiators == ("P1", "P3")
    first_heard_from = {
        e.process: (e.channel or "").partition("->")[0]
        for e in reversed(execution.events)
        if e.kind == "marker_receive" and e.process in ("P2", "P4")
    }
    assert first_heard_from == {"P2": "P1", "P4": "P3"}
    assert only_snapshot(execution).markers == len(execution.scenario.channels)


def test_on_a_one_way_ring_only_the_initiators_channel_can_hold_a_message() -> None:
    ring = library.load("ring")
    for at in range(10, 200, 5):
        moved = replace(ring, snapshots=(start("P1", float(at)),))
        assert set(bodies(only_snapshot(run(moved)))) <= {"P6->P1"}
    assert bodies(only_snapshot(run(ring))) == {"P6->P1": ["token"]}


def test_the_overlapping_snapshots_truly_overlap() -> None:
    execution = run_of("overlapping")
    one, two = snapshots_of(execution)
    assert (one.id, two.id) == ("S1", "S2")
    assert one.began is not None and two.began is not None and one.completed is not None
    assert one.began < two.began < one.completed
    first = {
        name: [e.snapshot_id for e in execution.events if (e.process, e.kind) == (name, RECORD)]
        for name in ["P4", "P1"]
    }
    assert first == {"P4": ["S2", "S1"], "P1": ["S1", "S2"]}
    in_one, in_two = ({m.id for m in snapshot.recorded_messages} for snapshot in (one, two))
    assert in_one - in_two and in_two - in_one and in_one & in_two, "either alone, and both"


def test_a_hundred_processes_still_make_a_run_of_a_size_to_draw() -> None:
    execution = run_of("hundred")
    assert len(execution.scenario.processes) == 100
    assert len(execution.scenario.channels) == 180
    assert 600 <= len(execution.events) <= 1500
    assert recorded_total(execution) == 10_000
