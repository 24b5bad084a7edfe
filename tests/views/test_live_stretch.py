"""Stretches of a live run on other pages: a scenario with its snapshots, and a log."""

from __future__ import annotations

import pytest

from pipeline.store.folder import Store
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, COMMITTED, RECOVERY
from sim.document.files import read_toml
from sim.document.writing import dumps
from sim.run.snapshots import snapshots_of
from tests.views.conftest import StillRun
from views.budget import run_of
from views.live_stretch import keep, scenario_of

pytestmark = pytest.mark.slow


def times(run: StillRun, kind: str) -> list[float]:
    """The times in seconds at which something of a kind happened."""
    assert run.follower is not None
    marks = run.follower.marks
    return [entry.time * run.follower.unit for entry in marks for row in entry.rows if row[2] == kind]


def test_a_stretch_is_a_scenario_that_takes_its_snapshot_at_the_same_cut(still_run):
    end = times(still_run, COMMITTED)[0] + 0.02
    scenario = scenario_of(still_run, 0.0, end)
    assert [start.snapshot for start in scenario.snapshots] == ["snap-0001"]
    assert read_toml(dumps(scenario), "live").script == scenario.script, "Explore opens it"
    (snapshot,) = snapshots_of(run_of(scenario))
    assert snapshot.status == "complete"
    assert "Left out" not in scenario.story


def test_a_stretch_over_a_recovery_has_the_events_that_remain_and_says_so(still_run):
    scenario = scenario_of(still_run, 0.0, still_run.now)
    assert "A recovery has taken some events back." in scenario.story
    assert [start.snapshot for start in scenario.snapshots] == ["snap-0001", "snap-0002"]
    events = [row for row in run_of(scenario).events if row.kind in APPLICATION_KINDS]
    assert all(line.label is None or "(" not in line.label for line in scenario.script), "numbered without gaps"
    assert events


def test_a_snapshot_that_is_not_whole_in_the_stretch_is_left_out_in_a_sentence(still_run):
    begin = times(still_run, RECOVERY)[0]
    middle = times(still_run, "record")
    scenario = scenario_of(still_run, 0.0, next(at for at in middle if at < begin) + 1e-6)
    assert not scenario.snapshots
    assert "Left out: snap-0001." in scenario.story


@pytest.mark.parametrize(("begin", "end"), [(5.0, 4.0), (-1.0, 2.0), (900.0, 901.0)])
def test_where_nothing_is_a_sentence_says_so(still_run, begin, end):
    with pytest.raises(InputError, match=r"wait until|show others"):
        scenario_of(still_run, begin, end)


def test_before_it_begins_there_is_nothing_to_take_along():
    with pytest.raises(InputError, match="has not begun"):
        scenario_of(StillRun(None, "starting"), 0.0, 1.0)


def test_too_much_is_refused_in_a_sentence(still_run, monkeypatch):
    monkeypatch.setattr("views.live_stretch.MOST_EVENTS", 5)
    with pytest.raises(InputError, match="more than Explore shows of a stretch; show fewer seconds"):
        scenario_of(still_run, 0.0, still_run.now)
    monkeypatch.setattr("cluster.stretch.MOST_LINES", 5)
    with pytest.raises(InputError, match="show fewer seconds"):
        scenario_of(still_run, 0.0, still_run.now)


def test_a_stretch_is_kept_as_a_log_of_its_owner(still_run, tmp_path, monkeypatch):
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path))
    name = keep(still_run, 0.0, still_run.now, "somebody")
    assert name.startswith("live-0-to-")
    assert (tmp_path / name / "events").is_dir() and Store(tmp_path / name).manifest.owner == "somebody"
