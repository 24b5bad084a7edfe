"""The browser's side of the page Compare: moments of several runs, merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from diagrams.browser.scripts import COMPARE
from tests.cases import each
from tests.javascript import IN_BOTH

MERGED = COMPARE / "merged.js"
Run = Callable[..., Any]


def merged(run_module: Run, runs: list[list[float]]) -> tuple[list[Any], list[list[int]]]:
    call = "(module, runs) => { const { moments, steps } = module.merged(runs); return { moments, steps }; }"
    found = run_module(call, [MERGED], runs)
    return found["moments"], found["steps"]


def plainly(runs: list[list[float]]) -> list[list[int]]:
    """The same by its definition: at each (time, rank), the last step of each run that is not after it."""
    own = []
    for times in runs:
        ranks = [sum(times[other] == times[step] for other in range(1, step)) for step in range(len(times))]
        own.append([(float("-inf"), 0) if step == 0 else (times[step], ranks[step]) for step in range(len(times))])
    moments = sorted({moment for steps in own for moment in steps})
    return [[max(step for step, at in enumerate(steps) if at <= moment) for moment in moments] for steps in own]


@pytest.mark.slow
@IN_BOTH
@each(
    "runs",
    [
        [[0.0, 1.0, 2.0], [0.0, 1.5]],
        [[0.0, 0.0, 1.0], [0.0, 2.0, 2.0, 2.0]],
        [[0.0], [0.0, 3.0, 3.0, 4.0], [0.0, 3.0]],
        [[0.0, 1.0, 1.0, 1.0, 5.0], [0.0, 1.0, 1.0, 4.0], [0.0, 0.0, 0.0, 9.0]],
    ],
)
def test_runs_step_together_by_time(run_module: Run, runs: list[list[float]]) -> None:
    moments, steps = merged(run_module, runs)
    assert steps == plainly(runs)
    assert len(moments) == len(steps[0]) and all(
        own[-1] == len(times) - 1 for own, times in zip(steps, runs, strict=True)
    )


def test_steps_of_one_time_come_one_by_one_and_those_of_one_rank_at_once(run_module: Run) -> None:
    _, steps = merged(run_module, [[0.0, 1.0, 1.0], [0.0, 1.0, 2.0]])
    assert steps == [[0, 1, 2, 2], [0, 1, 1, 2]]


def test_nothing_is_merged_to_nothing(run_module: Run) -> None:
    assert merged(run_module, []) == ([], [])


@pytest.mark.slow
@each(("time", "place"), [(-1.0, 0), (0.5, 0), (1.0, 1), (1.7, 2), (9.0, 3)])
def test_the_last_moment_until_a_time(run_module: Run, time: float, place: int) -> None:
    """As an edit changes the moments: the one on show is looked for among the new ones."""
    moments = [[-9e9, 0], [1.0, 0], [1.5, 0], [2.0, 0]]
    assert run_module("(module, all, one) => module.lastUntil(all, one)", [MERGED], moments, [time, 0]) == place
