"""Deadlines: work that has no time left, or that nobody waits for, stops."""

from __future__ import annotations

import time

import pytest

from sim.core.deadline import Deadline, OutOfTime, check, in_time, within
from sim.document import library
from sim.run.execution import run
from tests.waiting import until


def test_without_a_deadline_nothing_stops():
    check()
    assert list(in_time(range(5), every=1)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("deadline", [Deadline(0.0), Deadline(60.0, lambda: False), Deadline(60.0, patience=0.0)])
def test_work_stops_when_its_time_is_spent_or_nobody_waits(deadline):
    with within(deadline), pytest.raises(OutOfTime):
        check()
    check()


def test_items_are_looked_at_now_and_then():
    seen = []
    with within(Deadline(0.0)), pytest.raises(OutOfTime):
        seen += [seen.append(item) for item in in_time(range(100), every=10)]
    assert seen == list(range(9))


def test_a_deadline_within_another_takes_its_place_and_gives_it_back():
    with within(Deadline(0.0)):
        with within(Deadline(60.0)):
            check()
        with pytest.raises(OutOfTime):
            check()


def test_a_run_is_the_same_with_a_deadline(monkeypatch):
    monkeypatch.setattr("sim.core.deadline.EVERY", 3)
    scenario = library.load("lecture")
    with within(Deadline(60.0)):
        assert run(scenario).events == run(scenario, copied=True).events
    with within(Deadline(0.0)), pytest.raises(OutOfTime):
        run(scenario)


def test_a_pause_costs_no_time():
    deadline = Deadline(60.0)
    end = deadline.end
    with deadline.paused():
        begin = time.monotonic()
        until(lambda: time.monotonic() > begin, "a later time")
    assert deadline.end > end
