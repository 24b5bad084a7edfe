"""What the browser offers to go back to at a moment: what is valid then, and not what becomes so in its step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from diagrams.browser.scripts import EXPLORE
from diagrams.panels.stored.panel import stored
from tests.cases import each
from tests.diagrams.panels.test_meters import BANK
from tests.diagrams.panels.test_stored import of
from tests.javascript import IN_BOTH

STORED = EXPLORE / "run" / "stored.js"
Run = Callable[..., Any]


def goals(run_module: Run, first: int, until: int, moment: dict[str, Any]) -> list[str]:
    own = of(BANK.replace("HOW", "")).window(first, until)
    steps = [{"time": own.times[step]} for step in range(own.first, own.until + 1)]
    run = {"stored": stored(own), "steps": steps, "first": own.first}
    found: list[str] = run_module("(own, scene, moment) => own.goalsAt(scene, moment)", [STORED], run, moment)
    return found


@pytest.mark.slow
@each(("time", "there"), [(0, []), (6, []), (6.1, ["S1"]), (9, ["S1"]), (50, ["S1"])])
def test_what_is_valid_before_a_time_can_be_gone_back_to(run_module: Run, time: float, there: list[str]) -> None:
    """S1 is valid at 6; a recovery at 6 comes before that."""
    assert goals(run_module, 0, 16, {"step": 0, "time": time}) == there


@IN_BOTH
def test_in_a_window_too(run_module: Run) -> None:
    assert goals(run_module, 9, 12, {"step": 9, "time": 7.5}) == ["S1"]


@pytest.mark.parametrize(("step", "there"), [(6, []), (7, ["S1"])])
def test_without_times_the_step_decides(run_module: Run, step: int, there: list[str]) -> None:
    assert goals(run_module, 0, 16, {"step": step, "time": None}) == there


def test_where_nothing_is_stored_nothing_can_be(run_module: Run) -> None:
    call = "(own, scene) => own.goalsAt(scene, { step: 0, time: 0 })"
    assert run_module(call, [STORED], {"stored": None, "steps": [{"time": 0}], "first": 0}) == []


def test_at_each_time_the_last_step_before_it_decides(run_module: Run) -> None:
    """Each snapshot is valid after one step only, so that what is found tells the step."""
    times = [0, 1, 1, 2, 5]
    snapshots = [{"id": step, "back": [[0, None], [step, {}], [step + 1, None]]} for step in range(1, len(times))]
    scene = {"stored": {"snapshots": snapshots}, "steps": [{"time": time} for time in times], "first": 0}
    call = "(own, scene, asked) => asked.map((time) => own.goalsAt(scene, { step: 3, time }))"
    assert run_module(call, [STORED], scene, [0.5, 1, 1.5, 2, 4, 5, 9, None]) == [[], [], [2], [2], [3], [3], [4], [3]]
