"""Stretches of a live run on other pages: a scenario with its snapshots, and a log."""

from __future__ import annotations

import random
import re

import pytest

from cluster.replay.segment import segment
from pipeline.store.folder import Store
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, COMMITTED, RECOVERY
from sim.document.files import read_toml
from sim.document.writing import dumps
from sim.run.cut_states import states_at_cuts
from sim.run.snapshots import snapshots_of
from tests.views.conftest import StillRun
from views.live.segment import keep, scenario_of
from views.live.status import short_name
from views.server.budget import run_of

pytestmark = pytest.mark.slow


def times(run: StillRun, kind: str) -> list[float]:
    """The times in seconds at which something of a kind happened."""
    assert run.follower is not None
    marks = run.follower.marks
    return [entry.time * run.follower.unit for entry in marks for row in entry.rows if row[2] == kind]


def test_a_segment_is_a_scenario_that_takes_its_snapshot_at_the_same_cut(still_run):
    end = times(still_run, COMMITTED)[0] + 0.02
    scenario = scenario_of(still_run, 0.0, end)
    assert [start.snapshot for start in scenario.snapshots] == ["snap-0001"]
    assert read_toml(dumps(scenario), "live").script == scenario.script, "Explore opens it"
    (snapshot,) = snapshots_of(run_of(scenario))
    assert snapshot.status == "complete"
    assert "Left out" not in scenario.story


def test_any_segment_begins_ends_and_is_cut_as_the_run_was(still_run):
    """It begins with the states and messages of then, and each snapshot has recorded what it has in the run."""
    ledger, end = still_run.follower.ledger, still_run.now
    whole = {short_name(own.id): own for own in snapshots_of(_all_of(still_run))}
    draw, told, began = random.Random(11), set(), 0
    for _ in range(40):
        first, last = sorted(draw.uniform(0, end) for _ in range(2))
        if last - first < 0.1 or not ledger.at(last).is_one_epoch:
            continue
        try:
            scenario = scenario_of(still_run, first, last)
        except InputError as problem:
            assert "a recovery has undone all events in these seconds" in str(problem)
            continue
        execution = run_of(read_toml(dumps(scenario), "live"))
        at = float(re.search(r"begins at (\d+\.\d) s", scenario.story)[1])
        states = states_at_cuts(execution).local
        assert scenario.workload == "bank"
        for process, state in ledger.at(last).states.items():
            assert state in (None, states[process][-1])
        if "has undone all events from" not in scenario.story:
            held = ledger.before(first)
            assert abs(at - first) < 0.06
            count = sum(map(len, held.channels.values()))
            after = next(step.state for step in execution.replay() if step.number == count) if count else None
            if after is not None and None not in held.states.values():
                began += 1
                assert {own.name: own.state for own in after.processes} == held.states
                bodies = {
                    own.name: [m.body for m in after.queues[own.number] if m.kind == "app"]
                    for own in execution.engine.channels
                }
                assert {k: v for k, v in bodies.items() if v} == {
                    k: [m.body for m in v.values()] for k, v in held.channels.items() if v
                }
        for snapshot in snapshots_of(execution):
            told.add(snapshot.id)
            for name, own in snapshot.local.items():
                assert own.state == whole[snapshot.id].local[name].state
    assert began and told, "some begin with messages on their way, and take a snapshot"


def test_where_the_workload_cannot_begin_in_a_state_the_story_says_so(still_run, monkeypatch):
    monkeypatch.setattr("views.live.segment.with_states", lambda *_: None)
    scenario = scenario_of(still_run, 0.1, still_run.now)
    assert scenario.workload == "scripted" and scenario.script
    assert (
        "without the states of the processes at that time: the workload Bank cannot start from these states."
        in scenario.story
    )


def _all_of(run):
    return segment(run.follower, 0.0, run.now, with_services=True, whole=True).execution


def test_a_segment_over_a_recovery_has_the_events_that_remain_and_says_so(still_run):
    scenario = scenario_of(still_run, 0.0, still_run.now)
    assert "A recovery has undone some events." in scenario.story
    assert [start.snapshot for start in scenario.snapshots] == ["snap-0001", "snap-0002"]
    events = [row for row in run_of(scenario).events if row.kind in APPLICATION_KINDS]
    assert all(line.label is None or "(" not in line.label for line in scenario.script), "numbered without gaps"
    assert events


def test_a_snapshot_that_is_not_whole_in_the_segment_is_left_out_in_a_sentence(still_run):
    begin = times(still_run, RECOVERY)[0]
    middle = times(still_run, "record")
    scenario = scenario_of(still_run, 0.0, next(at for at in middle if at < begin) + 1e-6)
    assert not scenario.snapshots
    assert "Left out: snap-0001." in scenario.story


@pytest.mark.parametrize(("begin", "end"), [(5.0, 4.0), (-1.0, 2.0), (900.0, 901.0)])
def test_where_nothing_is_a_sentence_says_so(still_run, begin, end):
    with pytest.raises(InputError, match=r"wait until|show other seconds"):
        scenario_of(still_run, begin, end)


def test_before_it_begins_there_is_nothing_to_take_along():
    with pytest.raises(InputError, match="has not begun"):
        scenario_of(StillRun(None, "starting"), 0.0, 1.0)


def test_too_much_is_refused_in_a_sentence(still_run, monkeypatch):
    monkeypatch.setattr("views.live.segment.MOST_EVENTS", 5)
    with pytest.raises(InputError, match="more than Explore shows of a cluster; show fewer seconds"):
        scenario_of(still_run, 0.0, still_run.now)
    monkeypatch.setattr("cluster.replay.segment.MOST_LINES", 5)
    with pytest.raises(InputError, match="show fewer seconds"):
        scenario_of(still_run, 0.0, still_run.now)


def test_a_segment_is_kept_as_a_log_of_its_owner(still_run, tmp_path, monkeypatch):
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path))
    name = keep(still_run, 0.0, still_run.now, "somebody")
    assert name.startswith("live-0-to-")
    assert (tmp_path / name / "events").is_dir() and Store(tmp_path / name).manifest.owner == "somebody"
